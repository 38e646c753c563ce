"""One table: the field names that documents are read into, beside the paths where a spec keeps them.

A path with `{unit}` or `{memory}` is completed by the candidate's `instance` ("Cortex-A76", "RTC FAST"), `{type}` by
the data type in its condition. A document field without a path is kept in the spec's `other`.
"""

from __future__ import annotations

FIELDS: dict[str, str] = {
    "chip.process_nm": "process_nm",
    "cpu.core_type": "compute_units.{cpu}.core_type",
    "cpu.isa": "compute_units.{cpu}.isa",
    "cpu.word_bits": "compute_units.{cpu}.word_bits",
    "cpu.cores": "compute_units.{cpu}.cores",
    "cpu.clock_hz": "compute_units.{cpu}.clock_hz",
    "cpu.vector_width_bits": "compute_units.{cpu}.vector_width_bits",
    "cpu.registers": "compute_units.{cpu}.registers",
    "cpu.pipeline_stages": "compute_units.{cpu}.pipeline_stages",
    "cpu.issue_width": "compute_units.{cpu}.issue_width",
    "cpu.l1_cache.shared": "compute_units.{cpu}.l1_cache.sharing_mode",
    "cpu.l1i_cache.size_bytes": "compute_units.{cpu}.l1i_cache.size_bytes",
    "cpu.l1i_cache.line_bytes": "compute_units.{cpu}.l1i_cache.line_bytes",
    "cpu.l1i_cache.ways": "compute_units.{cpu}.l1i_cache.ways",
    "cpu.l1i_cache.sets": "compute_units.{cpu}.l1i_cache.sets",
    "cpu.l1d_cache.size_bytes": "compute_units.{cpu}.l1d_cache.size_bytes",
    "cpu.l1d_cache.line_bytes": "compute_units.{cpu}.l1d_cache.line_bytes",
    "cpu.l1d_cache.ways": "compute_units.{cpu}.l1d_cache.ways",
    "cpu.l1d_cache.sets": "compute_units.{cpu}.l1d_cache.sets",
    "cpu.l1d_cache.write_policy": "compute_units.{cpu}.l1d_cache.write_policy",
    "cpu.l1d_cache.hit_latency_cycles": "compute_units.{cpu}.l1d_cache.latency_cycles",
    "cpu.l2_cache.size_bytes": "compute_units.{cpu}.l2_cache.size_bytes",
    "cpu.l2_cache.line_bytes": "compute_units.{cpu}.l2_cache.line_bytes",
    "cpu.l2_cache.ways": "compute_units.{cpu}.l2_cache.ways",
    "cpu.l2_cache.bandwidth_Bps": "compute_units.{cpu}.l2_cache.bandwidth_gbps",
    "cpu.l3_cache.size_bytes": "l3_cache.size_bytes",
    "cpu.l3_cache.line_bytes": "l3_cache.line_bytes",
    "cpu.l3_cache.ways": "l3_cache.ways",
    "npu.model": "compute_units.{npu}.model",
    "npu.cores": "compute_units.{npu}.cores",
    "npu.clock_hz": "compute_units.{npu}.clock_hz",
    "npu.macs_per_cycle": "compute_units.{npu}.macs_per_cycle.{type}",
    "npu.tops": "compute_units.{npu}.tops",
    "npu.data_types": "compute_units.{npu}.data_types",
    "npu.frameworks": "compute_units.{npu}.frameworks",
    "npu.operators": "compute_units.{npu}.operators.supported",
    "npu.sram.size_bytes": "memories.npu_sram.size_bytes",
    "gpu.model": "compute_units.{gpu}.model",
    "gpu.cores": "compute_units.{gpu}.cores",
    "gpu.clock_hz": "compute_units.{gpu}.clock_hz",
    "gpu.l2_cache.size_bytes": "compute_units.{gpu}.l2_cache.size_bytes",
    "dsp.model": "compute_units.{dsp}.model",
    "dsp.l1i_cache.size_bytes": "compute_units.{dsp}.l1i_cache.size_bytes",
    "dsp.l1d_cache.size_bytes": "compute_units.{dsp}.l1d_cache.size_bytes",
    "memory.sram.size_bytes": "memories.{sram}.size_bytes",
    "memory.tcm.size_bytes": "memories.{tcm}.size_bytes",
    "memory.rom.size_bytes": "memories.{rom}.size_bytes",
    "memory.flash.size_bytes": "memories.{flash}.size_bytes",
    "memory.psram.size_bytes": "memories.{psram}.size_bytes",
    "memory.dram.size_bytes": "memories.dram.size_bytes",
    "memory.dram.max_size_bytes": "memories.dram.size_bytes",
    "memory.dram.types": "memories.dram.types",
    "memory.dram.channels": "memories.dram.channels",
    "memory.dram.channel_width_bits": "memories.dram.channel_width_bits",
    "memory.dram.bus_width_bits": "memories.dram.width_bits",
    "memory.dram.clock_hz": "memories.dram.clock_hz",
    "memory.dram.data_rate_mtps": "memories.dram.data_rate_mtps",
    "memory.dram.bandwidth_Bps": "memories.dram.bandwidth_gbps",
    "memory.bandwidth_Bps": "bandwidth_gbps",
    "dma.controllers": "dma.controllers",
    "dma.channels": "dma.channels",
    "dma.requests": "dma.requests",
    "dma.data_width_bits": "dma.data_width_bits",
    "dma.max_burst_beats": "dma.burst_length_max",
    "dma.max_transfer_bytes": "dma.max_transfer_bytes",
    "dma.alignment_bytes": "dma.alignment_bytes",
    "reset.vector": "reset_vector_address",
    "mmio.base": "mmio_bases.{block}",
    "interrupts.irq": "interrupts.{block}",
    "power.max_w": "power_max_w",
    "power.typ_w": "power_typ_w",
    "power.supply_v": "supply_v",
    "clock.xtal_hz": "xtal_hz",
    "thermal.ambient_c": "ambient_c",
    "thermal.case_c": "case_c",
    "thermal.junction_c": "junction_c",
    "thermal.storage_c": "storage_c",
}
"""Document field to spec path."""

BAD_FORMS: dict[str, str] = {
    "l1_latency_cycles": "l1_cache: {latency_cycles: {mean: {value}, std: ..., min: ..., max: ...}}",
    "l2_latency_cycles": "l2_cache: {latency_cycles: {mean: {value}, std: ..., min: ..., max: ...}}",
    "l3_latency_cycles": "l3_cache: {latency_cycles: {mean: {value}, std: ..., min: ..., max: ...}}",
    "l1_cache_size": "l1_cache: {size_bytes: {value}, sharing_mode: ...}",
    "l2_cache_size": "l2_cache: {size_bytes: {value}, sharing_mode: ...}",
    "l3_cache_size": "l3_cache: {size_bytes: {value}, sharing_mode: ...}",
    "dma_burst_length": "dma: {burst_length_optimal: {value}, burst_length_max: ..., burst_unit: beats}",
    "burst_length": "burst_length_optimal (a goal), burst_length_min and _max (laws), and burst_unit",
    "dma_address_width": "dma: {address_width_bits: {value}}",
    "memory_bandwidth": "bandwidth_gbps: {value} (10^9 bytes a second)",
    "bandwidth": "bandwidth_gbps: {value} (10^9 bytes a second)",
    "latency": "latency_cycles: {mean: {value}, std: ..., min: ..., max: ...}",
    "size": "size_bytes: {value}",
    "clock": "clock_hz: {value}",
    "frequency": "clock_hz: {value}",
    "mean_cycles": "latency_cycles: {mean: {value}}",
    "reset_vector": "reset_vector_address: 0x...",
    "shared": "sharing_mode: shared",
}
"""A key that people write, and the form that says what it means."""


def good_form(key: str, value: object = None) -> str:
    """What to write instead of a key that is known to be a bad form or a document's field name, or an empty text."""
    given = str(value) if isinstance(value, int | float | str) and len(str(value)) < 40 else "..."
    if key in BAD_FORMS:
        return BAD_FORMS[key].replace("{value}", given)
    return FIELDS.get(key, "").replace("{", "<").replace("}", ">")
