"""How data sheets of microcontrollers say what a chip has, and exactly what is read of it; all chips are invented."""

import pytest
from phrase_reading import between, one, read, up_to

KB, MB = 1 << 10, 1 << 20

SAID = [
    # Oscillators: how true one is, is no range; what it provides
    ("Internal 40-kHz slow oscillator with ±5% accuracy", "", one("clock.rc_hz", 40e3)),
    ("12 MHz on-chip oscillator trimmed to ±2 %", "", one("clock.rc_hz", 12e6)),
    ("The FRC oscillator provides a nominal 9 MHz clock.", "", one("clock.rc_hz", 9e6)),
    ("The LSI clock has a frequency of around 37 kHz", "", one("clock.rc_hz", 37e3)),
    ("36 MHz Internal Reference Clock", "", one("clock.rc_hz", 36e6)),
    (
        "On-chip integrated oscillator works with an external crystal from 2 MHz to 20 MHz",
        "",
        one("clock.xtal_hz", between(2e6, 20e6)),
    ),
    # The chip's clock where no core is named
    ("DC to 90 MHz operation", "", one("cpu.clock_hz", up_to(90e6))),
    ("Speed: 0 - 24 MHz", "", one("cpu.clock_hz", up_to(24e6))),
    ("0 - 6MHz@2.0 - 5.5V", "Speed grades", set()),
    ("Up to 24 MIPS throughput at 24 MHz", "", one("cpu.mips", up_to(24)) | one("cpu.clock_hz", up_to(24e6))),
    ("They operate at a frequency of up to 150 MHz.", "General description", one("cpu.clock_hz", up_to(150e6))),
    ("It operates at up to 50 MHz.", "SPI", set()),
    # Supplies below their heading
    ("Voltage range: 1.65 to 3.6 V", "Operating characteristics", one("power.supply_v", between(1.65, 3.6))),
    ("Flash write voltage range: 1.65 to 3.6 V", "Operating characteristics", set()),
    ("2.0 - 5.5V", "Operating Voltages", one("power.supply_v", between(2.0, 5.5))),
    # DMA: how many controllers, channels of each, and of all together
    (
        "14 independently configurable channels: 8 channels for DMA1 and 6 channels for DMA2",
        "DMA",
        one("dma.channels", 14) | one("dma.channels", 8, "DMA1") | one("dma.channels", 6, "DMA2"),
    ),
    (
        "The chip has two general-purpose dual-port DMAs (DMA1 and DMA2) with 6 streams each.",
        "DMA",
        one("dma.controllers", 2) | one("dma.channels", 6),
    ),
    (
        "3 groups of 6-channel general-purpose DMA controllers",
        "",
        one("dma.controllers", 3) | one("dma.channels", 6),
    ),
    (
        "There are two DMA controllers: DMA-0 with 24 channels, and DMA-1 with 4 channels.",
        "",
        one("dma.controllers", 2) | one("dma.channels", 24, "DMA-0") | one("dma.channels", 4, "DMA-1"),
    ),
    ("One channel per direction of a peripheral: 18 channels", "DMA", one("dma.channels", 18, "DMA")),
    ("Programmable burst length up to 8", "DMA", one("dma.max_burst_beats", up_to(8))),
    # Interrupts
    ("Up to 19 external interrupt pins available.", "", one("interrupts.external_count", up_to(19))),
    (
        "Peripheral function interrupts: 190 sources; external interrupts: 12 (pins IRQ0 to IRQ11)",
        "Interrupt controller",
        one("interrupts.count", 190) | one("interrupts.external_count", 12),
    ),
    ("8 levels specifiable for the order of priority", "Interrupt", one("interrupts.priority_levels", 8)),
    ("38 peripheral interrupts", "", one("interrupts.count", 38)),
    # Flash: what is beside it is not part of it, and data flash is no program memory
    ("2 MB flash memory with cache", "Memory", one("memory.flash.size_bytes", 2 * MB)),
    (
        "768 KB on-chip Flash Memory with 8 KB instruction cache",
        "Memory",
        one("memory.flash.size_bytes", 768 * KB) | one("cpu.l1i_cache.size_bytes", 8 * KB),
    ),
    ("16 Kbytes, rewritten up to 100,000 times", "On-chip data flash memory", set()),
    # A parenthesis after a size: its parts, or what it is in another setting; and `plus`
    (
        "On-chip SRAM of 192 KB (128 KB system RAM + 64 KB retention RAM)",
        "",
        one("memory.sram.size_bytes", 192 * KB, "system RAM"),
    ),
    ("2MB internal SRAM (1792kB ECC on)", "", one("memory.sram.size_bytes", 2 * MB, "internal SRAM")),
    ("高达 64 K 字节的 SRAM（可扩展至 128 K 字节）", "", one("memory.sram.size_bytes", up_to(64 * KB))),
    (
        "The devices feature 8 Kbytes of backup SRAM plus 96 Kbytes of system SRAM.",
        "",
        one("memory.sram.size_bytes", 8 * KB, "backup SRAM") | one("memory.sram.size_bytes", 96 * KB, "system SRAM"),
    ),
    ("The device has 1 MB of flash memory organized in two banks of 512 KB", "", one("memory.flash.size_bytes", MB)),
    # Chapters of manuals
    ("The HSI RC oscillators can be used as 12 MHz system clock.", "RCC", one("clock.rc_fast_hz", 12e6)),
    ("derived from the Precision Oscillator (PIRC) at 24 MHz ± 1%", "", set()),
    ("8 streams for each DMA controller, up to 4 channels (requests) per stream", "DMA", one("dma.channels", 8, "DMA")),
    ("Each stream can have up to 4 channels (requests) in total.", "DMA", set()),
    (
        "The engine has 24 virtual DMA channels and supports 40 DMA events",
        "",
        one("dma.channels", 24) | one("dma.requests", 40),
    ),
    ("The transfer block size is up to 32 Kbytes", "MDMA", one("dma.max_transfer_bytes", up_to(32 * KB), "MDMA")),
    ("The interrupt controller accepts 48 peripheral sources.", "", one("interrupts.count", 48)),
    ("CCM (core coupled memory) mapped at address 0x2000 0000", "", one("memory.region.base", "0x20000000", "CCM")),
    ("After reset the CPU fetches the top-of-stack value from address 0x0010 0000.", "", set()),
    # A label before a value: the mode of a current, the grade of a range
    ("STOP: 52 µA at 32 kHz", "", one("power.current_a", 52e-6, "STOP")),
    (
        "Power-save Mode: 0.8μA (including a 32 kHz RTC)",
        "",
        one("power.current_a", 0.8e-6, "Power-save Mode including a 32 kHz RTC"),
    ),
    ("EM2 current: less than 2 µA", "Low energy", one("power.current_a", up_to(2e-6), "EM2")),
    ("Stop: 20 mA sink", "", set()),
    (
        "G-version: -40°C to +105°C",
        "Operating temperature range",
        one("thermal.ambient_c", between(-40, 105), "G-version"),
    ),
    # What is each pin's, an interface's, an event's or inside the core
    ("The largest current consumption is 120 mA", "Power", one("power.current_a", 0.12)),
    ("The largest current consumption of each I/O pin is 8 mA", "Power", set()),
    ("The largest current consumption per GPIO is 8 mA", "Power", set()),
    ("Each descriptor can transfer up to 8 KB of data", "MDMA", one("dma.max_transfer_bytes", up_to(8 * KB), "MDMA")),
    ("DMA with descriptors: each descriptor can transfer up to 8 KB of data", "GMAC", set()),
    ("DMA with descriptors: each descriptor can transfer up to 8 KB of data", "USB 2.0 OTG", set()),
    ("12 DMA events", "MDMA", one("dma.requests", 12, "MDMA")),
    ("12 DMA events", "Event controller", set()),
    ("16-bit internal data bus", "", one("bus.width_bits", 16, "internal data bus")),
    ("16-bit data bus", "", one("bus.width_bits", 16)),
    ("Speed: 0 to 24 MHz", "Features", one("cpu.clock_hz", up_to(24e6))),
    ("Output frequency: 0 to 24 MHz", "Features", set()),
    ("Speed: 0 to 24 MHz", "Eight PWM channels", set()),
    ("Sixteen 32-bit general-purpose registers", "Features", one("cpu.registers", 16)),
    ("Sixteen 32-bit general-purpose registers", "ULP-RISC-V features", one("cpu.registers", 16, "ULP-RISC-V")),
    ("The core has 256-bit vectors", "CPU", one("cpu.vector_width_bits", 256)),
    ("The vector table holds 32-bit vectors", "CPU", set()),
    ("GPIO 108", "Features", one("gpio.count", 108)),
    ("GPIO 108", "Table of Contents", set()),
    (
        "166-MHz (333-MHz data rate) memory",
        "",
        one("memory.dram.clock_hz", 166e6) | one("memory.dram.data_rate_mtps", 333),
    ),
    ("166-MHz (333-MHz data rate) burst SRAMs", "", set()),
    ("DMA controller 0x4000_1000 to 0x4000_1FFF", "", one("mmio.base", "0x40001000", "DMA controller")),
    ("Note: Access to area 0x4000_1000 to 0x4000_1FFF in user mode will cause an error.", "", set()),
    ("The data bus is 64 bits wide", "DDR interface", one("memory.dram.bus_width_bits", 64)),
    ("If the data bus is less than 64 bits wide, the other bits are zero.", "DDR interface", set()),
    # A supply said twice; pins that bear more are another matter
    (
        "CPU operating voltage range of 2.7 V to 3.3 V (3.0 V ± 10 %) with 5 V tolerant I/O pads.",
        "",
        one("power.supply_v", (2.7, 3.0, 3.3)),
    ),
    ("Single 3.0 V (2.1 V to 3.3 V) power supply", "", one("power.supply_v", (2.1, 3.0, 3.3))),
    # A fast and a slow crystal
    ("4 to 24 MHz and 32 kHz crystal oscillator", "", one("clock.xtal_hz", between(4e6, 24e6))),
    ("32 MHz crystal and 32.768 kHz crystal", "", one("clock.xtal_hz", 32e6)),
    # One-time programmable bytes; buses by their domain
    ("One-time programmable (OTP): 256 bytes for user data", "Flash", one("memory.otp.size_bits", 2048)),
    (
        "The maximum allowed frequency of the high-speed APB2 domain is 90 MHz.",
        "",
        one("bus.clock_hz", up_to(90e6), "APB2"),
    ),
    ("A 32-bit multi-layer AHB bus matrix connects them", "", one("bus.width_bits", 32)),
    # What is of one memory among several, and what is outside
    (
        "80 KB of data RAM and 24 KB of code RAM",
        "Memory",
        one("memory.sram.size_bytes", 80 * KB, "data RAM") | one("memory.sram.size_bytes", 24 * KB, "code RAM"),
    ),
    ("The 512 KB flash consists of 64 sectors of 8 KB", "Memory", one("memory.flash.size_bytes", 512 * KB)),
    (
        "Code runs from external QSPI flash of up to 32 MB.",
        "Memory",
        one("memory.external.max_size_bytes", up_to(32 * MB)),
    ),
    ("Supports external flash up to 64 Mbit", "Memory", one("memory.external.max_size_bytes", up_to(8 * MB))),
    ("The AHB peripherals are located at 0x6000_0000 to 0x6000_FFFF", "Memory", set()),
    ("INCR4 and INCR8 bursts", "DMA", one("dma.max_burst_beats", 8)),
    ("Two on-chip PLLs and a 25 MHz crystal oscillator", "", one("clock.pll_count", 2) | one("clock.xtal_hz", 25e6)),
    ("Each of the 44 interrupt sources can be masked", "", one("interrupts.count", 44)),
    ("AHB maximum clock frequency is 96 MHz", "", one("bus.clock_hz", up_to(96e6), "AHB")),
    ("Generates 24 peripheral interrupts to CPU0 and 24 peripheral interrupts to CPU1 as output.", "", set()),
    # Chinese
    ("IRC32K 时钟频率约为 32kHz", "时钟", one("clock.rc_hz", 32e3)),
    ("AHB 域的最大频率为 96MHz", "时钟", one("bus.clock_hz", up_to(96e6), "AHB")),
    (
        "6 通道用于 DMA0 控制器，4 通道用于 DMA1 控制器",
        "DMA",
        one("dma.channels", 6, "DMA0") | one("dma.channels", 4, "DMA1"),
    ),
    (
        "DMAC 具有 4 个通道，最多 24 个硬件握手接口",
        "DMA",
        one("dma.channels", 4, "DMAC") | one("dma.requests", up_to(24), "DMAC"),
    ),
    ("单个链表节点最大可传输 32KB 数据", "DMA", one("dma.max_transfer_bytes", up_to(32 * KB), "DMA")),
    ("芯片上电后从 ROM 地址 0x10000000 启动", "复位", one("reset.vector", "0x10000000")),
    ("下电模式：0.4uA", "功耗", one("power.current_a", 0.4e-6, "下电模式")),
    # Two bounds of one value
    (
        "Typical core frequency 300 MHz, maximum 450 MHz",
        "",
        one("cpu.clock_hz", (None, 300e6, None)) | one("cpu.clock_hz", up_to(450e6)),
    ),
    (
        "标称主频 300MHz，最高可达 450MHz",
        "CPU",
        one("cpu.clock_hz", (None, 300e6, None)) | one("cpu.clock_hz", up_to(450e6)),
    ),
    ("Typical power consumption 1.5 W", "", one("power.typ_w", 1.5)),
    (
        "The HSI clock is generated from an internal 12 MHz RC oscillator and can be used as PLL input.",
        "HSI clock",
        one("clock.rc_fast_hz", 12e6),
    ),
    ("The clock frequency is around 37 kHz.", "7.2.5 LSI clock", one("clock.rc_hz", 37e3)),
    ("The clock frequency is around 37 MHz.", "SPI clock", set()),
    ("32.768 kHz +/-250 ppm RC oscillator", "", one("clock.rc_hz", 32768)),
    # A memory of one block, and what is kept, are not the chip's memory
    ("96KB of ultra-low leakage SRAM.", "", one("memory.sram.size_bytes", 96 * KB, "leakage SRAM")),
    ("512-KB SRAM with power and data retention control", "", one("memory.sram.size_bytes", 512 * KB)),
    ("Deep sleep current of 6 µA with 32-KB SRAM retention", "", one("power.current_a", 6e-6, "Deep sleep")),
    (
        "Up to 6.5 MB SRAM with optional retention in 256 KB increments",
        "",
        one("memory.sram.size_bytes", up_to(6815744)),
    ),
    ("256 kB Tightly Coupled RAM", "", one("memory.tcm.size_bytes", 256 * KB)),
    # Supplies and clocks in feature lists
    ("Low-Power 1.8-V to 3.3-V Operation", "Features", one("power.supply_v", between(1.8, 3.3))),
    ("Wide supply voltage range from 3.4 V Down to 1.9 V", "", one("power.supply_v", between(1.9, 3.4))),
    ("5 μA/MHz executing from flash (3.0 V, 25 °C)", "", set()),
    ("The XQ4700 can run up to 130MHz.", "System overview", one("cpu.clock_hz", up_to(130e6))),
    ("3× PLLs (1 for the system clock, 2 for kernel clocks)", "", one("clock.pll_count", 3)),
    ("Two General Purpose DMA with up-to 10 channels", "", one("dma.controllers", 2) | one("dma.channels", 10)),
    # What is told of together
    (
        "Internal 12 MHz factory-trimmed RC and external 4 to 20 MHz crystal oscillator",
        "",
        one("clock.rc_hz", 12e6) | one("clock.xtal_hz", between(4e6, 20e6)),
    ),
    ("12 channels DMA controller and each channel can be configured", "", one("dma.channels", 12)),
    ("2x6-stream DMA (FIFO + burst)", "", one("dma.controllers", 2) | one("dma.channels", 6)),
    ("The two LPDMA instances each have 4 channels.", "", one("dma.controllers", 2) | one("dma.channels", 4, "LPDMA")),
    ("160MHz AHB, 80MHz APB", "", one("bus.clock_hz", 160e6, "AHB") | one("bus.clock_hz", 80e6, "APB")),
    (
        "Wide operating range: 1.75–2.1 V, –20 to 70°C",
        "",
        one("power.supply_v", between(1.75, 2.1)) | one("thermal.ambient_c", between(-20, 70)),
    ),
    ("ARM Cortex-M0+ CPU", "", one("cpu.core_type", "ARM Cortex-M0+")),
    ("ARM Cortex-M4F processor", "", one("cpu.core_type", "ARM Cortex-M4F")),
]


@pytest.mark.parametrize(("text", "above", "expected"), SAID, ids=[text for text, _, _ in SAID])
def test_said(text, above, expected):
    assert read(text, *filter(None, [above])) == expected
