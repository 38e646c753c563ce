"""How data sheets of controllers and application processors phrase what a chip has, and exactly what is read of it."""

import pytest
from phrase_reading import between, one, read, up_to

KB, MB = 1 << 10, 1 << 20
L1I, L1D = "cpu.l1i_cache", "cpu.l1d_cache"

SAID = [
    # Oscillators, PLLs, clocks of buses and cores
    ("Internal 16 MHz factory-trimmed RC (1% accuracy)", "", one("clock.rc_hz", 16e6)),
    ("HSI: 8 MHz internal RC", "", one("clock.rc_fast_hz", 8e6)),
    ("Internal high-speed 64 MHz RC oscillator", "", one("clock.rc_fast_hz", 64e6)),
    ("Free running oscillator (FRO) with 96 MHz output, trimmed to ±2 %", "", one("clock.rc_fast_hz", 96e6)),
    ("32 kHz internal RC oscillator for the watchdog", "", one("clock.rc_hz", 32e3)),
    ("High-speed on-chip oscillator (16/18/20 MHz)", "", set()),
    ("4 to 26 MHz crystal oscillator", "", one("clock.xtal_hz", between(4e6, 26e6))),
    ("3 PLL", "Clocks", one("clock.pll_count", 3)),
    ("seven on-chip phase-locked loops", "", one("clock.pll_count", 7)),
    ("The core may be clocked at no more than 480 MHz", "", one("cpu.clock_hz", up_to(480e6))),
    ("168 MHz/210 DMIPS", "", one("cpu.clock_hz", 168e6) | one("cpu.dhrystone_mips", 210)),
    ("Up to 64 MHz", "Arm Cortex-M33 with TrustZone", one("cpu.clock_hz", up_to(64e6), "Cortex-M33")),
    ("48 MHz", "USB full-speed interface", set()),
    ("IMG BX at up to 594 MHz", "GPU", one("gpu.clock_hz", up_to(594e6))),
    (
        "Mali-G57 MC2 at 850 MHz",
        "Graphics",
        one("gpu.clock_hz", 850e6) | one("gpu.cores", 2) | one("gpu.model", "Mali-G57 MC2"),
    ),
    (
        "AHB clock of up to 100 MHz; APB clock limited to 50 MHz",
        "",
        one("bus.clock_hz", up_to(100e6), "AHB") | one("bus.clock_hz", up_to(50e6), "APB"),
    ),
    ("206 MHz core clock, 103 MHz bus clock", "", one("cpu.clock_hz", 206e6) | one("bus.clock_hz", 103e6)),
    ("The AXI interconnect is clocked at up to 240 MHz", "", one("bus.clock_hz", up_to(240e6), "AXI")),
    ("The AXI bus matrix is 64 bits wide", "", one("bus.width_bits", 64, "AXI")),
    ("The AHB matrices of the D2 and D3 domains have 32-bit data paths", "", one("bus.width_bits", 32, "AHB")),
    # The core
    ("In-order, 8-stage, dual-issue core", "", one("cpu.pipeline_stages", 8) | one("cpu.issue_width", 2)),
    ("The CPU is a 5-stage, in-order processor", "", one("cpu.pipeline_stages", 5)),
    ("A translation lookaside buffer with 32 dual entries serves all accesses", "", one("cpu.tlb.entries", 32)),
    ("24 x 16 general-purpose registers", "", one("cpu.registers", 24)),
    ("118 powerful instructions", "", one("cpu.instructions", 118)),
    ("This is a 64-bit high-performance RISC-V SoC", "", one("cpu.word_bits", 64)),
    ("Execution starts at address 0x0000 0000 after reset", "", one("reset.vector", "0x0")),
    # Caches
    (
        "32KB/16KB L1 I-Cache/D-Cache per CPU",
        "",
        one(f"{L1I}.size_bytes", 32 * KB) | one(f"{L1D}.size_bytes", 16 * KB),
    ),
    (
        "L1 caches are organised as four-way set associative, sixteen bytes per line",
        "",
        {(f"{each}.{what}", count, None) for each in (L1I, L1D) for what, count in (("ways", 4), ("line_bytes", 16))},
    ),
    (
        "Both caches use a line of 32 bytes; the instruction cache is two-way and the data cache four-way",
        "",
        {(f"{L1I}.line_bytes", 32, None), (f"{L1D}.line_bytes", 32, None)}
        | {(f"{L1I}.ways", 2, None), (f"{L1D}.ways", 4, None)},
    ),
    (
        "The L1 program cache is direct-mapped with a 32-byte line; the L1 data cache has 64-byte lines",
        "",
        one(f"{L1I}.ways", 1) | one(f"{L1I}.line_bytes", 32) | one(f"{L1D}.line_bytes", 64),
    ),
    ("The cache is 16 Kbytes", "Instruction cache", one(f"{L1I}.size_bytes", 16 * KB)),
    # Memories
    (
        "Up to 320 KB total SRAM consisting of 32 KB on the code bus, 272 KB on the system bus",
        "",
        one("memory.sram.size_bytes", up_to(320 * KB), "total SRAM"),
    ),
    ("The RAM is divided into 8 slaves of 32 kB each", "", set()),
    ("SRAM2, 128 Kbytes, mapped at 0x3002 0000", "", one("memory.sram.size_bytes", 128 * KB, "SRAM2")),
    ("AXI SRAM sits on the matrix; its size is 512 Kbytes", "", one("memory.sram.size_bytes", 512 * KB)),
    (
        "Instruction TCM occupies 64 Kbytes and the data TCM 128 Kbytes",
        "",
        one("memory.tcm.size_bytes", 64 * KB, "Instruction TCM") | one("memory.tcm.size_bytes", 128 * KB, "data TCM"),
    ),
    ("1 Kbit one-time-programmable memory", "", one("memory.otp.size_bits", 1024)),
    ("peak DRAM bandwidth of 34.1 GB/s", "DRAM", one("memory.dram.bandwidth_Bps", 34.1e9)),
    ("Capacity is 512MB", "Built-in DRAM", one("memory.dram.size_bytes", 512 * MB)),
    (
        "LPDDR4 dual-channel 16-bit",
        "DRAM",
        one("memory.dram.channels", 2) | one("memory.dram.channel_width_bits", 16),
    ),
    (
        "DDR: LPDDR4/DDR4, 32 bits wide",
        "Memory",
        one("memory.dram.types", ("LPDDR4", "DDR4")) | one("memory.dram.bus_width_bits", 32),
    ),
    # Accelerators, DMA, interrupts, pins, supplies
    ("Array of 64 x 64 multiply-accumulate units", "NPU", one("npu.macs", 4096)),
    ("2048 MAC units running at 1.2 GHz", "NPU", one("npu.macs", 2048) | one("npu.clock_hz", 1.2e9)),
    ("512 8-bit MACs per clock cycle", "NPU", one("npu.macs_per_cycle", 512)),
    ("512 KB of dedicated SRAM", "NPU", one("npu.sram.size_bytes", 512 * KB)),
    ("DMA with 57 handshake interfaces", "", one("dma.requests", 57)),
    ("Each of 3 DMA engines provides 10 channels", "", one("dma.controllers", 3) | one("dma.channels", 10)),
    (
        "64 DMA channels, 8 QDMA channels",
        "EDMA3 controller",
        one("dma.channels", 64, "EDMA3") | one("dma.channels", 8, "QDMA"),
    ),
    ("Each channel has a FIFO of 4 words", "DMA controller", set()),
    ("One transfer covers at most 64 KB", "DMA controller", one("dma.max_transfer_bytes", up_to(64 * KB), "DMA")),
    ("NVIC supporting 8 programmable priority levels", "Interrupts", one("interrupts.priority_levels", 8)),
    ("The PLIC takes 136 sources with 7 levels of priority", "Interrupts", one("interrupts.priority_levels", 7)),
    ("Up to 64 General-Purpose Input/Output (GPIO) pins", "", one("gpio.count", up_to(64))),
    ("Ninety-six multiplexed general-purpose pins", "", one("gpio.count", 96)),
    (
        "2.1V to 3.6V, -40°C to +85°C",
        "Operating Conditions",
        one("power.supply_v", between(2.1, 3.6)) | one("thermal.ambient_c", between(-40, 85)),
    ),
    ("-0.3 V to 4.0 V", "Absolute maximum ratings", set()),
    (
        "Up to 169 individually programmable, multiplexed General-Purpose Input/Output (GPIO) pins",
        "",
        one("gpio.count", up_to(169)),
    ),
    (
        "Commercial (0 °C to +70 °C) and industrial (-40 °C to +85 °C) grades",
        "Environment",
        one("thermal.ambient_c", between(0, 70), "Commercial")
        | one("thermal.ambient_c", between(-40, 85), "industrial"),
    ),
    (
        "Junction-to-ambient thermal resistance θJA is 14.2 °C/W on a JEDEC board",
        "",
        one("thermal.resistance_ja_c_per_w", 14.2),
    ),
    ("Ethos microNPU, 256 MACs/cycle", "", one("npu.macs_per_cycle", 256)),
    ("Thirteen peripheral DMA controller (PDC) channels", "", one("dma.channels", 13)),
    ("2 x DMA with 8 channels", "", one("dma.controllers", 2) | one("dma.channels", 8)),
    (
        "16-bit external SDRAM bus at 133 MHz",
        "",
        one("memory.dram.bus_width_bits", 16) | one("memory.dram.clock_hz", 133e6),
    ),
    ("Speed up to 4 Mbit/s with 64 MHz APB clock", "UART", set()),
    ("Up to 16 channels (fs = 48 kHz), adjustable from 8-bit to 32-bit", "I2S", set()),
    ("If the two priorities are different, the higher one wins", "Interrupts", set()),
    (
        "One dual-port 24-channel central DMA Controller (XDMAC)",
        "",
        one("dma.channels", 24, "XDMAC"),
    ),
    ("Two general-purpose 8-stream DMA controllers", "", one("dma.controllers", 2) | one("dma.channels", 8)),
    ("Supports up to 4 channels active simultaneously", "DMA", one("dma.concurrent_channels", up_to(4))),
    ("Operation from a single 2.7- to 3.6-V supply", "", one("power.supply_v", between(2.7, 3.6))),
    ("Low supply voltage range: 3.6 V down to 1.8 V", "", one("power.supply_v", between(1.8, 3.6))),
    ("Thermal design power of 15 W", "", one("power.max_w", 15)),
    (
        "High performance 32-bit 78 MHz ARM Cortex-M33",
        "",
        one("cpu.clock_hz", 78e6, "Cortex-M33") | one("cpu.word_bits", 32),
    ),
    ("MIPS32 24KEc processor running at 580 MHz", "", one("cpu.clock_hz", 580e6)),
    ("CPU frequency 400 MHz, bus frequency 200 MHz", "", one("cpu.clock_hz", 400e6) | one("bus.clock_hz", 200e6)),
    ("On-chip crystal oscillator, 10 to 20 MHz", "", one("clock.xtal_hz", between(10e6, 20e6))),
    (
        "16-KB instruction cache, 16-KB data cache, and 128-KB unified L2",
        "",
        one(f"{L1I}.size_bytes", 16 * KB)
        | one(f"{L1D}.size_bytes", 16 * KB)
        | one("cpu.l2_cache.size_bytes", 128 * KB),
    ),
    ("The microcontroller integrates 1 MB of code flash", "Memory", one("memory.flash.size_bytes", MB)),
    ("SRAM: 2 x 128 KB", "Memory", set()),
    ("Triple-core NPU", "", one("npu.cores", 3)),
    # Chinese
    ("内部 16MHz 工厂校准 RC 振荡器", "", one("clock.rc_hz", 16e6)),
    (
        "高达 512KB 的 SRAM，其中 64KB 为紧耦合 TCMSRAM",
        "",
        one("memory.sram.size_bytes", up_to(512 * KB)) | one("memory.tcm.size_bytes", 64 * KB),
    ),
    ("芯片外接 24MHz 晶体，内部有 5 个 PLL", "", one("clock.xtal_hz", 24e6) | one("clock.pll_count", 5)),
    ("内置 512KB 专用 SRAM", "NPU", one("npu.sram.size_bytes", 512 * KB)),
]


@pytest.mark.parametrize(("text", "above", "expected"), SAID, ids=[text for text, _, _ in SAID])
def test_said(text, above, expected):
    assert read(text, *filter(None, [above])) == expected
