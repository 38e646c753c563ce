"""What may be typed for a place that nothing was read for: the unit that its value is kept in, and an example."""

from __future__ import annotations

from hwdoc_ingest.fields import FIELDS
from metainfer_core.spec.field_shapes import Kind, Shape, shape_at, unit_key
from metainfer_core.spec.quantities import key_unit

_BY_UNIT = {
    "B": "512 KiB",
    "bit": "128 bit",
    "Hz": "800 MHz",
    "GB/s": "12.8 GB/s",
    "B/s": "12.8 GB/s",
    "MT/s": "3200 MT/s",
    "MAC/cycle": "512 MAC/cycle",
    "TOPS": "4 TOPS",
    "cycles": "12 cycles",
    "s": "2 ms",
    "ms": "2 ms",
    "us": "5 us",
    "ns": "40 ns",
    "nm": "22 nm",
    "W": "2.5 W",
    "V": "1.8 V",
    "A": "0.5 A",
    "degC": "85 degC",
    "cm2": "0.8 cm²",
    "addr": "0x1000_0000",
    "count": "4",
}
_BY_KIND: dict[Kind, str] = {
    "address": "0x1000_0000",
    "integer": "4",
    "number": "1.5",
    "boolean": "true",
    "quantity": "4",
}
_BY_FIELD = {
    "cpu.isa": "rv64gc",
    "npu.data_types": "[int8, int16]",
    "npu.operators": "[Conv, Relu]",
    "cpu.l1d_cache.line_bytes": "64 B",
    "dma.alignment_bytes": "64 B",
}
"""Where neither the unit nor the kind of value gives a good one."""
_AS_WRITTEN = {"addr": "", "count": "", "irq": "", "rel": "", "ratio": "", "cm2": "cm²"}
"""Units of document fields that are written otherwise, or not at all."""


def example(key: str, field: str) -> dict[str, str]:
    """Of a place: `unit`, as it is kept, empty where it has none, and `example`, empty where any word will do.

    Args:
        key: Its path in the spec, or in `other`.
        field: Name of the document field.
    """
    shape = None if key.startswith("other.") else shape_at(key)
    if shape is None or shape.kind == "any":
        known = FIELDS[field].unit if field in FIELDS else None
        return {"unit": _AS_WRITTEN.get(known or "", known or ""), "example": _BY_UNIT.get(known or "", "")}
    base = key_unit(unit_key(key))
    name = base.name if base and shape.kind in ("quantity", "number", "integer") else ""
    return {"unit": name, "example": _BY_FIELD.get(field) or _BY_UNIT.get(name) or _of_shape(shape)}


def _of_shape(shape: Shape) -> str:
    if shape.kind == "choice":
        return str(shape.choices[0])
    return _BY_KIND.get(shape.kind, "")
