"""Spec files: read strictly into a HardwareSpec, written as a data sheet."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from metainfer_core.errors import InputError
from metainfer_core.files import read_bytes, write_bytes
from metainfer_core.spec.files.spec_reader import SpecReader
from metainfer_core.spec.files.strict_yaml import BYTES_LIMIT, read_yaml, value_from
from metainfer_core.spec.files.yaml_writer import write_spec
from metainfer_core.spec.findings import Finding
from metainfer_core.spec.hardware_spec import HardwareSpec

__all__ = ["named_by_file", "parse_spec", "read_spec", "save_spec", "write_spec"]

_FILE_NAME = re.compile(r"(?P<name>.+)_v(?P<version>\d+\.\d+\.\d+)\.ya?ml")


def read_spec(path: Path) -> HardwareSpec:
    """The spec in a file; raises InputError with line and column of the first fault."""
    data = read_bytes(path, "hardware spec", BYTES_LIMIT)
    return parse_spec(data, str(path))


def parse_spec(data: bytes, source: str) -> HardwareSpec:
    """The spec in the bytes of a file called `source`.

    `name` and `version` may be left to the file's name (`rk3399_npu_v2.3.1.yaml`).
    """
    document = read_yaml(data, source)
    reader = SpecReader(document)
    plain = named_by_file(reader.read(), source)
    faults = [finding for finding in reader.findings if finding.severity == "error" and not _named(finding, plain)]
    if faults:
        first = faults[0]
        more = f"{len(faults) - 1} more faults follow; `hwdoc-validator` lists them." if len(faults) > 1 else ""
        raise InputError(f"{source}:{first.line}:{first.column}: {first.message}", more, first.fix)
    return value_from(document, plain, HardwareSpec)


def named_by_file(plain: dict[str, Any], source: str) -> dict[str, Any]:
    """The data with `name` and `version` taken from the file's name where they are missing."""
    match = _FILE_NAME.fullmatch(Path(source).name)
    return {**(match.groupdict() if match else {}), **plain}


def _named(finding: Finding, plain: dict[str, Any]) -> bool:
    """Whether a missing key was found in the file's name."""
    return finding.code == "HW001" and not finding.path and all(key in plain for key in ("name", "version"))


def save_spec(spec: HardwareSpec, path: Path) -> None:
    """Writes a spec file, whole or not at all."""
    write_bytes(path, write_spec(spec), "hardware spec")
