"""A small draft with a conflict, and the desk that a screen shows."""

import json

from metainfer_core.spec.drafting.draft import Candidate, DraftSource, SpecDraft
from metainfer_core.spec.drafting.draft_file import write_draft

ROM = "memories.boot_rom.size_bytes"
CLOCK = "compute_units.npu.clock_hz"
DMA = "dma.channels"
OTP = "other.memory.otp.size_bits"


def small_draft():
    """Boot ROM with two readings that differ, an NPU's clock, DMA channels, and OTP that no place of a spec fits."""
    return SpecDraft(
        chip="tarn",
        sources={"sheet": DraftSource(title="Sheet", document_digest="sha256:" + "0" * 64, file_name="sheet.pdf")},
        candidates=(
            _read("dma.channels", 8, "count", 0.99, 2, "8 channels"),
            _read("memory.rom.size_bytes", 65536, "B", 0.9, 1, "64 KB boot ROM", 20.0, instance="boot ROM"),
            _read("memory.rom.size_bytes", 131072, "B", 0.7, 2, "boot ROM 128 KB", 40.0, instance="boot ROM"),
            _read("npu.clock_hz", 800000000, "Hz", 0.97, 3, "NPU 200 800 1000 MHz", min=2e8, typ=8e8, max=1e9),
            _read("memory.otp.size_bits", 4096, "bit", 0.5, 1, "4 Kbit"),
        ),
    )


def _read(field, value, unit, confidence, page, text, top=60.0, **other):
    return Candidate(
        field=field,
        value=value,
        unit=unit,
        confidence=confidence,
        page=page,
        text=text,
        box=(10.0, top, 60.0, top + 10),
        source="sheet",
        method="table-rule",
        **other,
    )


def with_draft(workspace):
    """Writes the draft into a workspace; its digest."""
    path = workspace / "drafts" / "tarn.yaml"
    path.parent.mkdir(parents=True)
    path.write_bytes(write_draft(small_draft()))
    return small_draft().digest


def desk(page):
    """What the screen hands to the desk."""
    (element,) = [each for each in page.get("bidi_component") if each.proto.component_name == "confirm_desk"]
    return json.loads(element.proto.json)


def revised_draft():
    """The next revision of the sheet: a page earlier, other ROM and DMA, no clock, a rated power."""
    return SpecDraft(
        chip="tarn",
        sources={"sheet": DraftSource(title="Sheet", document_digest="sha256:" + "1" * 64, file_name="sheet.pdf")},
        candidates=(
            _read("dma.channels", 16, "count", 0.99, 2, "16 channels"),
            _read("memory.rom.size_bytes", 65536, "B", 0.9, 4, "64 KB boot ROM", 20.0, instance="boot ROM"),
            _read("memory.otp.size_bits", 4096, "bit", 0.5, 4, "4 Kbit"),
            _read("power.max_w", 3.5, "W", 0.9, 5, "3.5 W"),
        ),
    )
