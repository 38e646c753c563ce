"""The classes of error of `hwdoc-validator`: what each means, why it matters, and how the bad form is written well."""

from __future__ import annotations

from metainfer_core.values import Value


class ErrorClass(Value):
    """One class of error in a spec file."""

    code: str
    """Stable: it never changes its meaning."""
    title: str
    why: str
    """What goes wrong where nobody finds it."""
    bad: str
    """A part of a spec file that has it."""
    good: str
    """The same part, mended."""
    needs_document: bool = False
    """Whether it is found with `--manual` only."""


_CLASSES = (
    ErrorClass(
        code="HW000",
        title="not readable as strict YAML",
        why="A file that two readers understand differently is no record: doubled keys, anchors, tags and merge keys "
        "are refused, and `yes` or `012` stay texts.",
        bad="l2_cache:\n  size_bytes: 512 KiB\n  size_bytes: 1 MiB\n",
        good="l2_cache:\n  size_bytes: 512 KiB\n",
    ),
    ErrorClass(
        code="HW001",
        title="missing required field",
        why="Without a kind nobody knows what a unit is; without a size nothing can be placed in a memory.",
        bad="compute_units:\n  npu: {cores: 2}\nmemories:\n  sram: {kind: sram}\n",
        good="compute_units:\n  npu: {kind: npu, cores: 2}\nmemories:\n  sram: {kind: sram, size_bytes: 256 KiB}\n",
    ),
    ErrorClass(
        code="HW002",
        title="unknown key",
        why="A misspelt key is a value that silently counts for nothing.",
        bad="dma_burst_length: 256\n",
        good="dma: {burst_length_optimal: 256, burst_unit: beats}\n",
    ),
    ErrorClass(
        code="HW003",
        title="wrong type",
        why="A text where a number belongs cannot be computed with.",
        bad="compute_units:\n  cpu: {kind: cpu, cores: four}\n",
        good="compute_units:\n  cpu: {kind: cpu, cores: 4}\n",
    ),
    ErrorClass(
        code="HW004",
        title="missing or unknown unit",
        why="A number as text must say what it counts; a burst counts beats or bytes.",
        bad='memories:\n  sram: {kind: sram, size_bytes: "256"}\n',
        good='memories:\n  sram: {kind: sram, size_bytes: "256 KiB"}\n',
    ),
    ErrorClass(
        code="HW005",
        title="unit of the wrong dimension",
        why="A size in MHz was copied from the wrong row.",
        bad="memories:\n  sram: {kind: sram, size_bytes: 256 MHz}\n",
        good="memories:\n  sram: {kind: sram, size_bytes: 256 KiB}\n",
    ),
    ErrorClass(
        code="HW006",
        title="ambiguous unit",
        why="Kb or KB is off by 8, KB or KiB by 1.024, Gb/s or GB/s by 8.",
        bad="memories:\n  sram: {kind: sram, size_bytes: 256 Kb}\n",
        good="memories:\n  sram: {kind: sram, size_bytes: 256 KiB}\n",
    ),
    ErrorClass(
        code="HW007",
        title="implausible value",
        why="A clock of 1 Hz is a clock of 1 GHz that lost its unit.",
        bad="compute_units:\n  npu: {kind: npu, clock_hz: 1}\n",
        good="compute_units:\n  npu: {kind: npu, clock_hz: 1 GHz}\n",
    ),
    ErrorClass(
        code="HW008",
        title="broken range",
        why="min ≤ mean ≤ max and std ≥ 0 hold for every measurement; where they do not, two numbers were swapped.",
        bad="l1_cache: {latency_cycles: {min: 5, mean: 3, max: 8}}\n",
        good="l1_cache: {latency_cycles: {min: 3, mean: 5, max: 8}}\n",
    ),
    ErrorClass(
        code="HW009",
        title="bare number where a range is needed",
        why="A latency varies; a plan that knows only one number breaks at the other end of the range.",
        bad="l1_cache: {latency_cycles: 3}\n",
        good="l1_cache: {latency_cycles: {mean: 3, std: 0.5, min: 2, max: 5}}\n",
    ),
    ErrorClass(
        code="HW010",
        title="sharing not declared",
        why="512 KiB for each of four cores or for all of them together decides whether a tile fits.",
        bad="l2_cache: {size_bytes: 512 KiB}\n",
        good="l2_cache: {size_bytes: 512 KiB, sharing_mode: shared, shared_by: 4}\n",
    ),
    ErrorClass(
        code="HW011",
        title="hard and soft limits confused",
        why="A law that is taken for a goal damages the chip; a goal that is taken for a law wastes it.",
        bad="power_max_w: {typ: 5, strength: must}\n",
        good="power_max_w: {max: 5, strength: must}\n",
    ),
    ErrorClass(
        code="HW012",
        title="fields contradict each other",
        why="Bandwidth is width times rate, TOPS are MACs times clock times 2, L1 is no larger than L2: one of the two "
        "is wrong.",
        bad="memories:\n  dram: {kind: dram, size_bytes: 1 GiB, width_bits: 32, data_rate_mtps: 3200, "
        "bandwidth_gbps: 25.6}\n",
        good="memories:\n  dram: {kind: dram, size_bytes: 1 GiB, width_bits: 32, data_rate_mtps: 3200, "
        "bandwidth_gbps: 12.8}\n",
    ),
    ErrorClass(
        code="HW013",
        title="alignment not a power of two, or against the line size",
        why="Buffers that share a cache line are written over each other by a DMA.",
        bad="dma: {alignment_bytes: 48}\n",
        good="dma: {alignment_bytes: 64}\n",
    ),
    ErrorClass(
        code="HW014",
        title="contradicts the manual",
        why="The value is not what the quoted words, or other places of the document, say.",
        bad="l2_cache: {size_bytes: 1 MiB}\n"
        'provenance:\n  l2_cache.size_bytes: {source: sheet, page: 2, text: "512KB L2"}\n',
        good="l2_cache: {size_bytes: 512 KiB}\n"
        'provenance:\n  l2_cache.size_bytes: {source: sheet, page: 2, text: "512KB L2"}\n',
        needs_document=True,
    ),
    ErrorClass(
        code="HW015",
        title="not found in the manual, or provenance does not match the page",
        why="A value that nobody can look up is hearsay. Without the document it is checked that each value has a "
        "source or a reason; with it, that the words stand on that page and in that box.",
        bad="l2_cache: {size_bytes: 512 KiB}\n"
        "provenance:\n  l2_cache.size_bytes: {source: no_such_document, page: 2}\n",
        good='l2_cache: {size_bytes: 512 KiB}\nsources:\n  sheet: {title: Data sheet, document_digest: "sha256:'
        + "0" * 64
        + '"}\nprovenance:\n  l2_cache: {source: sheet, page: 2, text: 512KB L2}\n',
    ),
    ErrorClass(
        code="HW016",
        title="stale or missing verification, or file name against version",
        why="Firmware and microcode change silently; one such change cost 18 % until somebody measured again.",
        bad='last_verified_date: "last week"\n',
        good='last_verified_date: "2026-05-31"\nverification_method: read on the page\n'
        'change_log: ["v1.0.0: first version"]\n',
    ),
    ErrorClass(
        code="HW017",
        title="the manual's condition is not carried into the spec",
        why="1.8 GHz at 1.0 V and below 80 °C is no 1.8 GHz anywhere else.",
        bad="power_max_w: {max: 5}\nprovenance:\n"
        '  power_max_w: {source: sheet, page: 2, text: "5 W when it is cooled"}\n',
        good="power_max_w: {max: 5}\nprovenance:\n"
        '  power_max_w: {source: sheet, page: 2, text: "5 W when it is cooled", condition: when it is cooled}\n',
        needs_document=True,
    ),
)
CLASSES: dict[str, ErrorClass] = {each.code: each for each in _CLASSES}
"""Code to class of error. Those that need the document are found by hwdoc_ingest."""
