"""How manuals of cores, accelerators and application processors say what they have; all chips are invented."""

import pytest
from phrase_reading import between, one, read, up_to

KB = 1 << 10


def caches(instruction, data, instance=None):
    return one("cpu.l1i_cache.size_bytes", instruction, instance) | one("cpu.l1d_cache.size_bytes", data, instance)


SAID = [
    # Two caches in one breath
    ("24KiB (Instruction) / 48KiB (Data) L1-Cache per core", "CPU", caches(24 * KB, 48 * KB)),
    ("96 KB ICache / DCache", "", caches(96 * KB, 96 * KB)),
    ("64KB/16KB I-cache/D-cache", "", caches(64 * KB, 16 * KB)),
    (
        "The instruction cache of the Q7 has a storage capacity of 6 KB, while the data cache has a capacity of 3 KB.",
        "Cache",
        caches(6 * KB, 3 * KB),
    ),
    # Lines that are told in two ways
    ("The line size is four instructions (16 bytes).", "Instruction Cache", one("cpu.l1i_cache.line_bytes", 16)),
    ("It has a fixed 64-byte (sixteen words) line size.", "Data Cache", one("cpu.l1d_cache.line_bytes", 64)),
    (
        "The write policy is writeback, so a line may wait to be updated.",
        "Data Cache",
        one("cpu.l1d_cache.write_policy", "write-back"),
    ),
    # How many instructions at once
    ("The X6 can keep up by issuing three instructions simultaneously.", "", one("cpu.issue_width", 3)),
    ("In the best case, four instructions are issued each cycle.", "", one("cpu.issue_width", 4)),
    ("It runs six instructions per cycle for up to ten times the speed of a DSP", "", set()),
    # How many cores
    ("2x quad-core CPU clusters on one fabric", "CPU", one("cpu.cores", 8)),
    (
        "three dual-core Cortex-A57 clusters",
        "CPU",
        one("cpu.cores", 6, "Cortex-A57") | one("cpu.core_type", "Cortex-A57"),
    ),
    ("Each cluster contains 2 to 6 cores.", "", one("cpu.cores", between(2, 6))),
    ("Chapter 2 to 6 cores", "", set()),
    ("The SoC contains three 64 bit RV64GCV CPUs.", "", one("cpu.cores", 3) | one("cpu.isa", "RV64GCV")),
    ("six Acme Falcon processor cores", "CPU", one("cpu.cores", 6)),
    ("Up to 12 RISC-V cores", "CPU", one("cpu.cores", up_to(12))),
    # Cores by number
    ("CPU1: RISC-V Core, 24KB I-cache", "", one("cpu.l1i_cache.size_bytes", 24 * KB, "CPU1")),
    (
        "quad Arm Cortex-A55 (1.9GHz) and Arm Cortex-M33 (210MHz)",
        "",
        one("cpu.cores", 4, "Cortex-A55")
        | one("cpu.clock_hz", 1.9e9, "Cortex-A55")
        | one("cpu.clock_hz", 210e6, "Cortex-M33"),
    ),
    # Rates that are written out
    (
        "The DSP delivers up to 900 million floating-point operations per second, 1,200 million instructions a second.",
        "",
        one("cpu.peak_flops", up_to(900e6)) | one("cpu.mips", 1200),
    ),
    ("The NPU performs 3 trillion operations per second.", "", one("npu.tops", 3)),
    ("It does 600 million multiply-accumulate operations per second.", "DSP", set()),
    ("The GPU does 90 billion floating-point operations per second.", "", set()),
    ("120 peak MFLOP/s at 200MHz", "", one("cpu.peak_flops", 120e6)),
    # An efficiency is no rate
    ("3 TOPS per watt", "2x Edge NPU accelerator", set()),
    ("Up to 18 TOPS (INT8)", "AI performance", one("npu.tops", up_to(18))),
]


@pytest.mark.parametrize(("text", "above", "said"), SAID, ids=[text for text, _, _ in SAID])
def test_what_is_said_is_read_and_nothing_else(text, above, said):
    assert read(text, *(("Features", above) if above else ("Features",))) == said


def test_both_translation_buffers_are_told_of():
    text = (
        "The MMU has two 96-entry, two-way translation lookaside buffers (TLBs), one for instructions and one for data."
    )
    assert read(text) >= one("cpu.tlb.entries", 96, "instruction") | one("cpu.tlb.entries", 96, "data")
    assert read("24-entry ITLB / DTLB") >= one("cpu.tlb.entries", 24, "data")
