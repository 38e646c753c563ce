"""`meta-infer spec matrix`: what is known to work, fail or hurt on a chip."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from metainfer_core.cli import console, streams
from metainfer_core.errors import InputError, MetaInferError
from metainfer_core.files import read_bytes
from metainfer_core.spec import library

EXAMPLE = "Example: meta-infer spec matrix rk3588 --packages builds"
_MARKS = {"works": "works  ", "stated": "stated ", "limited": "limited", "hurts": "HURTS  ", "fails": "FAILS  "}


def matrix(
    spec: Annotated[
        str, typer.Argument(metavar="SPEC", help="Path of a spec file, or its name: rk3588, rk3588@1.0.0.")
    ],
    packages: Annotated[
        Path | None, typer.Option("--packages", metavar="DIR", help="Folder of packages: each adds what it proves.")
    ] = None,
    json: console.Json = False,
) -> None:
    """Shows which operators, chains and actions work, fail or hurt on each unit of a chip, and how that is known."""
    # Loaded only now: packages bring the graph and its libraries, which other commands on specs do not need.
    from metainfer_core.codegen.package import SIZE_LIMIT_BYTES, read_package
    from metainfer_core.pipeline.compatibility import built_for, compatibility, proof_of

    found = library.load(spec)
    read = []
    if packages is not None:
        if not packages.is_dir():
            raise InputError(f"{packages}: there is no such folder.", fix="Give the folder of packages.")
        for path in sorted(path for path in packages.rglob("*.bin") if path.is_file()):
            try:
                package = read_package(read_bytes(path, "package", SIZE_LIMIT_BYTES), str(path))
                read.append((path.relative_to(packages).as_posix(), proof_of(package, str(path))))
            except MetaInferError as error:
                streams.tell(str(error))
    rows = compatibility(found, built_for(found, read))
    widths = [max((len(getattr(row, column)) for row in rows), default=0) for column in ("unit", "subject")]
    lines = []
    for row in rows:
        about = f"{row.unit:{widths[0]}}  {row.subject:{widths[1]}}  {_MARKS[row.verdict]}"
        lines.append(f"{about}  {row.evidence} {row.instead}".rstrip())
    nothing = f"Nothing is known of {found.name} {found.version}: its spec lists no operators."
    data_rows = [row.plain() for row in rows]
    console.emit(json, {"name": found.name, "version": found.version, "rows": data_rows}, "\n".join(lines) or nothing)
