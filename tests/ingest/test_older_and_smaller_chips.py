"""How sheets of older processors, small controllers and cores say what they have; all chips are invented."""

import pytest
from phrase_reading import between, one, read

KB, MB = 1 << 10, 1 << 20

SAID = [
    # What is counted in millions, and how large the die is
    (
        "It retires 250 million instructions per second with 3.4 million transistors on a 96 mm2 die.",
        "",
        one("cpu.mips", 250) | one("chip.transistors", 3_400_000) | one("chip.die_cm2", 0.96),
    ),
    ("2.1 million gates", "Transistors", set()),
    ("4.8 million", "Transistor count", one("chip.transistors", 4_800_000)),
    ("Die size: 6.1 mm x 9.0 mm (55 mm2)", "", one("chip.die_cm2", 0.55)),
    ("Package: 304-pin ceramic PGA, pin-compatible with the X30", "", one("chip.package", "304-pin ceramic PGA")),
    # Pipelines of several kinds: the core's is that of the integers
    (
        "The X41 has a six-stage integer pipeline and a nine-stage floating-point pipeline.",
        "",
        one("cpu.pipeline_stages", 6),
    ),
    (
        "The pipeline is six-stage integer and seven-stage memory, both fully interlocked.",
        "Core",
        one("cpu.pipeline_stages", 6),
    ),
    # A policy before the name of its cache; a small cache beside the main one
    (
        "Write-back or write-through data cache, page by page",
        "Caches",
        one("cpu.l1d_cache.write_policy", "write-back/write-through"),
    ),
    ("A 1-Kbyte mini-instruction cache serves the debugger.", "Instruction cache", set()),
    (
        "The core has a 16-way set associative data cache and a small 2-way set associative mini-data cache.",
        "",
        one("cpu.l1d_cache.ways", 16),
    ),
    # Oscillators of the chip's own
    ("Internal 2- to 24-MHz oscillator with ±2% accuracy", "Clocks", one("clock.rc_fast_hz", between(2e6, 24e6))),
    ("Internal RC 20 MHz oscillator", "Clocks", one("clock.rc_hz", 20e6)),
    # Many cores
    (
        "A 288-core RISC-V system for stencil codes",
        "",
        one("cpu.cores", 288, "RISC-V"),
    ),
    ("The chip adds four 64-bit host cores.", "", one("cpu.cores", 4, "host")),
    ("Performance | 3× Cortex-A78", "", one("cpu.cores", 3, "Cortex-A78")),
    # Buses with an adjective
    (
        "The cluster has a 32-bit peripheral AXI bus and a 256-bit wide AXI bus.",
        "",
        one("bus.width_bits", 32, "peripheral AXI") | one("bus.width_bits", 256, "AXI"),
    ),
    # Accelerators by the name of their design
    (
        "Arm® Ethos™-U55 NPU with 128 KB buffer",
        "NPU",
        one("npu.model", "Ethos-U55") | one("npu.sram.size_bytes", 128 * KB),
    ),
    ("xQ Proton NPU up to 300 MHz", "", one("npu.model", "xQ Proton") | one("npu.clock_hz", (None, None, 300e6))),
    ("Twice as fast as Ethos-U55, compared at 100 MHz", "NPU", set()),
    ("The Q5 NPU comes in two versions of 128 and 512 MACs/cycle.", "", one("npu.macs_per_cycle", (128, 512))),
    # A memory that only the heading names
    ("It provides 64 Kbit of storage space.", "One-time programmable memory (OTP)", one("memory.otp.size_bits", 65536)),
    ("具有64Kbit的存储空间", "一次性可编程存储器 (OTP)", one("memory.otp.size_bits", 65536)),
    ("It keeps 512 bits of storage for keys.", "OTP", set()),
    ("The storage capacity is 24 KB.", "Boot ROM", one("memory.rom.size_bytes", 24 * KB)),
    ("8 MB or 16 MB PSRAM inside the package", "Memory", one("memory.psram.size_bytes", (8 * MB, 16 * MB))),
    # A unit that is told is no size; what is said roughly is typical; a label may end in a dash
    ("It holds 6 MB of SRAM (1 MB = 1024 KB).", "Memory", one("memory.sram.size_bytes", 6 * MB)),
    ("Power: approximately 12 W total dissipation", "", one("power.typ_w", 12)),
    (
        "Radio core - Arm M33 core clocked at 180 MHz",
        "Specifications",
        one("cpu.clock_hz", 180e6, "Radio core M33 core"),
    ),
    (
        "Arm Cortex-M33 up to 180 MHz",
        "Sense compute subsystem:",
        one("cpu.clock_hz", (None, None, 180e6), "Sense compute subsystem Cortex-M33"),
    ),
    # What a controller has is no matter of a flash controller; a bank is no whole memory
    (
        "384 KB Flash and 96 KB SRAM",
        "Dual-core microcontroller",
        one("memory.flash.size_bytes", 384 * KB) | one("memory.sram.size_bytes", 96 * KB),
    ),
    ("384 KB flash", "Flash controller", set()),
    ("TCM interface in three settings (off, 2 x 16 KB, 2 x 48 KB)", "", set()),
    ("The part does 4.08 CoreMark/MHz on its Cortex-M7.", "", one("cpu.core_type", "Cortex-M7")),
    # Caches
    (
        "On-chip caches: 6K instruction, 4K data",
        "",
        one("cpu.l1i_cache.size_bytes", 6 * KB) | one("cpu.l1d_cache.size_bytes", 4 * KB),
    ),
    (
        "Physical caches of 6 kB each for instruction and data reside on the chip.",
        "",
        one("cpu.l1i_cache.size_bytes", 6 * KB) | one("cpu.l1d_cache.size_bytes", 6 * KB),
    ),
    (
        "The IX is direct-mapped, whereas the L1D cache is 4-way associative.",
        "",
        one("cpu.l1d_cache.ways", 4),
    ),
    # Processes, registers, clusters, channels
    ("It has a minimum transistor size of 0.6 micron.", "", one("chip.process_nm", 600)),
    ("Built with a 0.3-micron, four-layer metal process", "", one("chip.process_nm", 300)),
    ("24 general purpose working registers", "", one("cpu.registers", 24)),
    ("The cluster contains six identical cores.", "Cluster", one("cpu.cores", 6, "cluster")),
    ("The number of channels can be configured from 2 to 12.", "DMA", one("dma.channels", between(2, 12), "DMA")),
    ("Up to 2.5-V internal ADC reference", "Analog", set()),
    ("Temperature range: -20 to 60 °C", "Specifications", one("thermal.ambient_c", between(-20, 60))),
    # A clock before what runs at it; the clocks that a chip is sold at
    ("Operating at 90 MHz, the X6713 does much work.", "Core", one("cpu.clock_hz", 90e6)),
    ("Available at 30, 45 and 60 MHz", "X50 microprocessor", one("cpu.clock_hz", (30e6, 45e6, 60e6))),
    ("at its first clock rate of 45 MHz", "X50 processor", one("cpu.clock_hz", 45e6, "X50 processor")),
    # Rates and supplies
    ("The system reaches a peak performance of 320 GFlop/s.", "", one("cpu.peak_flops", 320e9)),
    ("All parts take core voltages ranging from 0.9 to 1.2 volts.", "", one("power.supply_v", between(0.9, 1.2))),
]


@pytest.mark.parametrize(("text", "above", "facts"), SAID)
def test_a_statement_says_what_it_says(text, above, facts):
    assert read(text, *(part for part in (above,) if part)) == facts
