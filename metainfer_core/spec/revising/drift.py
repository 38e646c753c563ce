"""Drift: measured values that no longer agree with the recorded ones, as after a silent change of microcode."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from metainfer_core.errors import InputError
from metainfer_core.files import read_bytes
from metainfer_core.spec.field_shapes import shape_at
from metainfer_core.spec.files.report import quantities
from metainfer_core.spec.files.spec_reader import value_at
from metainfer_core.spec.files.strict_yaml import BYTES_LIMIT, read_yaml
from metainfer_core.spec.files.yaml_writer import shown
from metainfer_core.spec.hardware_spec import HardwareSpec, Quantity
from metainfer_core.values import Value

TOLERANCE = 0.05
"""How far outside the recorded range a measured value may lie, as a share of the recorded one."""


class Drift(Value):
    """One measured value held against the recorded one."""

    path: str
    recorded: str
    measured: str
    change: float
    """Of the middle values, as a share of the recorded one: 0.18 is 18 % more."""
    drifted: bool
    was_assumed: bool

    @property
    def sentence(self) -> str:
        """The comparison in one line."""
        verdict = "has drifted" if self.drifted else "holds"
        known = "assumed" if self.was_assumed else "recorded"
        return f"{self.path} {verdict}: {known} {self.recorded}, measured {self.measured} ({self.change:+.1%})"


def drift(spec: HardwareSpec, measured: Mapping[str, Quantity], tolerance: float = TOLERANCE) -> tuple[Drift, ...]:
    """Each measured value beside the recorded one, by path.

    Raises:
        InputError: The spec has no value at a measured path.
    """
    recorded = dict(quantities(spec))
    found = []
    for path in sorted(measured):
        if path not in recorded:
            raise InputError(
                f"{spec.name} records no {path}.",
                "A measured value can only be held against a recorded one.",
                "Add the value to the spec, or leave it out of the measurements.",
            )
        known, new = recorded[path], measured[path]
        slack = tolerance * abs(known.nominal)
        found.append(
            Drift(
                path=path,
                recorded=shown(path, known.plain()),
                measured=shown(path, new.plain()),
                change=(new.nominal - known.nominal) / known.nominal if known.nominal else 0.0,
                drifted=not known.low - slack <= new.nominal <= known.high + slack,
                was_assumed=path in spec.assumed,
            )
        )
    return tuple(found)


def read_measured(path: Path) -> dict[str, Quantity]:
    """Measured values in a YAML file: field path to number, text with unit or {min, mean, max, std}."""
    document = read_yaml(read_bytes(path, "measurements", BYTES_LIMIT), str(path))
    if not isinstance(document.data, dict):
        raise InputError(f"{path}: measurements map field paths to values.", fix="Write `path: value` in each line.")
    found: dict[str, Quantity] = {}
    for key, given in document.data.items():
        shape = shape_at(key)
        if shape is None or shape.kind != "quantity":
            raise InputError(
                f"{document.where((key,))}: {key} is no quantity of a spec.",
                fix="Give paths such as memories.dram.bandwidth_gbps.",
            )
        value: dict[str, Any] = value_at(key, given)
        found[key] = Quantity.from_plain(value, str(path))
    return found
