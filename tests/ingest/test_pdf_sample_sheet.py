"""What the data sheet that comes with the package gives: DMA limits, latencies, memory map, power and operators."""

import pytest

from hwdoc_ingest.intake.pdf_reading import read_pdf_bytes
from hwdoc_ingest.reading import no_progress
from hwdoc_ingest.sample.command import sample_files

SHEET = "tarnholt_v200_datasheet.pdf"


@pytest.fixture(scope="module")
def said():
    candidates = read_pdf_bytes(sample_files()[SHEET], "sheet", SHEET, no_progress).candidates
    return {(c.field, c.instance or ""): c for c in candidates}


@pytest.mark.parametrize(
    ("field", "instance", "value", "bounds"),
    [
        ("dma.max_burst_beats", "", None, (1, None, 16)),
        ("dma.alignment_bytes", "", 64, (None, None, None)),
        ("dma.max_transfer_bytes", "DMA", 65536, (None, None, None)),
        ("dma.data_width_bits", "", 64, (None, None, None)),
        ("cpu.l1d_cache.hit_latency_cycles", "", 3, (2, 3, 3)),
        ("latency.memory_read_cycles", "", 85, (60, 85, 140)),
        ("memory.region.base", "NPU SRAM", "0x18000000", (None, None, None)),
        ("memory.region.size_bytes", "System SRAM", 1 << 20, (None, None, None)),
        ("memory.region.base", "LPDDR4", "0x80000000", (None, None, None)),
        ("mmio.base", "DMA controller", "0x20010000", (None, None, None)),
        ("power.typ_w", "Inference, CPU and NPU at 1.0 GHz", 1.2, (None, 1.2, None)),
        ("power.max_w", "Inference, CPU and NPU at 1.0 GHz", None, (None, None, 2.5)),
        ("thermal.ambient_c", "", None, (-40, 25, 85)),
    ],
)
def test_value(said, field, instance, value, bounds):
    found = said[field, instance]
    assert (found.value, (found.min, found.typ, found.max)) == (value, bounds)


def test_blocks_are_named_by_their_own_column(said):
    names = {instance for field, instance in said if field in ("mmio.base", "memory.region.base")}
    assert names == {
        "Boot ROM", "System SRAM", "NPU SRAM", "UART0", "DMA controller", "NPU registers", "LPDDR4",
    }  # fmt: skip


def test_operators(said):
    operators = said["npu.operators", ""].value
    assert {"Conv", "Gemm", "Add", "MaxPool", "Slice"} <= set(operators)
    assert not {"Softmax", "LayerNormalization", "LSTM"} & set(operators)  # said to be missing
