"""The page of the chips that the product knows: what their documents give, and what is assumed because none does."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from metainfer_core.spec.files.yaml_file import read_spec
from metainfer_core.spec.hardware_spec import HardwareSpec

HWSPECS = Path(__file__).parents[1] / "hwspecs"


def chips_page() -> Iterator[str]:
    """The reference page, part by part."""
    specs = [read_spec(path) for path in sorted(HWSPECS.glob("*.yaml"))]
    yield "# Chips that are described"
    yield (
        "The specs in `hwspecs/`. Each value from a document names it by digest, with page, box and words, and was "
        "read on that page by eye; each assumption has its reason in the file. A test finds every quoted word on its "
        "page."
    )
    head = "| chip | compute units | memories | from documents | operator rules | assumed |\n|---|---|---|---|---|---|"
    yield "\n".join([head, *(_row(spec) for spec in specs)])
    for spec in specs:
        yield f"## {spec.name} {spec.version}"
        yield "\n".join(f"- {source.title}: `{source.file_name}`" for source in spec.sources.values())
        yield f"**Assumed**: {_listed(spec)}."


def _row(spec: HardwareSpec) -> str:
    units = ", ".join(f"{name} ({unit.kind})" for name, unit in spec.compute_units.items())
    memories = ", ".join(f"{name} ({memory.kind})" for name, memory in spec.memories.items())
    rules = [path for path in spec.provenance if ".operators.rules." in path]
    given = len(spec.provenance) - len(rules)
    name = f"[{spec.name}](#{spec.name}-{spec.version.replace('.', '')})"
    return f"| {name} | {units} | {memories} | {given} | {len(rules) or ''} | {len(spec.assumed)} |"


def _listed(spec: HardwareSpec) -> str:
    return ", ".join(f"`{path}`" for path in sorted(spec.assumed)) or "nothing"
