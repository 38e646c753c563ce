"""A small spec without any fault, for tests to plant mistakes in."""

from __future__ import annotations

CLEAN = """\
name: tiny
version: 1.0.0
last_verified_date: "2026-01-31"
verification_method: read on the page
compute_units:
  npu:
    kind: npu
    cores: 2
    clock_hz: {max: 1 GHz}
    data_types: [int8, int16]
    macs_per_cycle: {int8: 256}
    tops: {max: 1}
    operators: {supported: [Conv, Relu], fallback: cpu}
    local_memory: sram
  cpu:
    kind: cpu
    cores: 4
    l1d_cache: {size_bytes: 32 KiB, line_bytes: 64, sets: 128, ways: 4, sharing_mode: per_core}
    l2_cache: {size_bytes: 512 KiB, line_bytes: 64, sharing_mode: shared, shared_by: 4}
memories:
  sram: {kind: sram, size_bytes: 256 KiB, alignment_bytes: 64, base_address: 0x20000000}
  dram:
    kind: dram
    size_bytes: {max: 2 GiB}
    channels: 2
    channel_width_bits: 16
    width_bits: 32
    data_rate_mtps: 3200
    bandwidth_gbps: 12.8
    latency_cycles: {mean: 120, std: 5, min: 100, max: 180}
l1_cache:
  latency_cycles: {mean: 3, std: 0.5, min: 2, max: 5}
l2_cache:
  size_bytes: 512 KiB
  sharing_mode: shared
dma:
  burst_length_min: 1
  burst_length_optimal: 16
  burst_length_max: 64
  burst_unit: beats
  alignment_bytes: 64
power_max_w: {max: 5 W, strength: must}
npu_int_support: {bit_widths: [8, 16], channel_wise_quantization: true}
change_log: ["v1.0.0: first version"]
sources:
  sheet: {title: Tiny, document_digest: "sha256:%s"}
provenance:
  compute_units: {source: sheet, page: 1}
  memories: {source: sheet, page: 2}
  l1_cache: {source: sheet, page: 2}
  l2_cache: {source: sheet, page: 2}
  dma: {source: sheet, page: 3}
  power_max_w: {source: sheet, page: 3, text: must not exceed 5 W}
  npu_int_support: {source: sheet, page: 3}
""" % ("0" * 64)
FILE_NAME = "tiny_v1.0.0.yaml"


def line_of(text: str, words: str) -> int:
    """The 1-based line in which `words` first stand."""
    return next(number for number, line in enumerate(text.splitlines(), 1) if words in line)
