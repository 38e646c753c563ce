"""How vendors phrase what a chip has: one sentence each, and exactly what is read out of it."""

import pytest

from hwdoc_ingest.binding.bind import bind
from hwdoc_ingest.page.pages import Word
from hwdoc_ingest.rules import FIND_RULES, PARAMETERS, QUANTITY_RULES
from hwdoc_ingest.rules.rule import Tagged
from hwdoc_ingest.statements.statement import RowCell, row, sentence
from hwdoc_ingest.statements.tagger import RuleTagger
from hwdoc_ingest.sureness.confidence import LEAST

KB, MB, GB, MHZ, GHZ = 1 << 10, 1 << 20, 1 << 30, 1e6, 1e9
TAGGER = RuleTagger(PARAMETERS)


def candidates(text, *path):
    """What is read out of a sentence below headings, leaving out what is likelier wrong."""
    words = [Word(each, (10.0 * i, 0, 10.0 * i + 9, 9), 9, 9) for i, each in enumerate(text.split())]
    statement = sentence(3, words, path or ("Features",), False)
    tagged = Tagged(statement, TAGGER.tag([statement])[0])
    found = bind(tagged, "doc", "rule", QUANTITY_RULES, FIND_RULES)
    return [candidate for candidate in found if candidate.confidence >= LEAST]


def read(text, *path):
    """The candidates of a sentence as (field, value or (min, typ, max), instance)."""
    return {
        (c.field, c.value if c.value is not None else (c.min, c.typ, c.max), c.instance)
        for c in candidates(text, *path)
    }


def conditions(text):
    return [candidate.condition for candidate in candidates(text)]


def up_to(value):
    return (None, None, value)


def between(low, high):
    return (low, None, high)


def one(field, value, instance=None):
    return {(field, value, instance)}


SAID = [
    ("Up to 1 Mbyte of Flash memory", one("memory.flash.size_bytes", up_to(MB))),
    ("Up to 192+4 Kbytes of SRAM including 64-Kbyte of data RAM", one("memory.sram.size_bytes", up_to(196 * KB))),
    ("400 KB of SRAM (16 KB for cache)", one("memory.sram.size_bytes", 400 * KB)),
    ("On-chip SRAM 256 KB, organised as two banks of 128 KB", one("memory.sram.size_bytes", 256 * KB)),
    ("512 KB of tightly coupled memory (TCM)", one("memory.tcm.size_bytes", 512 * KB)),
    ("16-stream DMA controller with FIFOs", one("dma.channels", 16)),
    ("128 KB boot ROM", one("memory.rom.size_bytes", 128 * KB, "boot ROM")),
    ("8 MB PSRAM", one("memory.psram.size_bytes", 8 * MB)),
    ("8 Kbit eFuse", one("memory.otp.size_bits", 8 * KB)),
    ("Up to 4 GB address space", one("memory.address_space_bytes", up_to(4 * GB))),
    ("4 Gbyte, linear address space", one("memory.address_space_bytes", 4 * GB)),
    ("1.8 V to 3.6 V application supply and I/Os", one("power.supply_v", between(1.8, 3.6))),
    ("Single 3.3 V supply", one("power.supply_v", 3.3)),
    ("Operating voltage 1.62 V to 5.5 V", one("power.supply_v", between(1.62, 5.5))),
    ("Typical power consumption 2.5 W", one("power.typ_w", 2.5)),
    ("Maximum power consumption of 7 W", one("power.max_w", up_to(7.0))),
    ("TDP 15 W", one("power.max_w", 15)),
    ("Junction temperature range: -40 to 125 °C", one("thermal.junction_c", between(-40.0, 125.0))),
    ("Storage temperature ... -65 to +150 °C", one("thermal.storage_c", between(-65.0, 150.0))),
    ("Thermal resistance junction-to-ambient 45 °C/W", one("thermal.resistance_ja_c_per_w", 45)),
    ("4-to-26 MHz crystal oscillator", one("clock.xtal_hz", between(4 * MHZ, 26 * MHZ))),
    ("Internal 16 MHz RC oscillator", one("clock.rc_hz", 16 * MHZ)),
    ("Arm® Cortex®-M33 core with TrustZone, 128 MHz",
     one("cpu.clock_hz", 128 * MHZ, "Cortex®-M33")),
    ("2 x Cortex-A35 up to 1.2 GHz",
     one("cpu.cores", 2, "Cortex-A35") | one("cpu.clock_hz", up_to(1.2 * GHZ), "Cortex-A35")),
    ("4x Arm Cortex-A53 @ 1.6GHz, 1x Arm Cortex-M7 @ 750 MHz",
     one("cpu.cores", 4, "Cortex-A53") | one("cpu.clock_hz", 1.6 * GHZ, "Cortex-A53")
     | one("cpu.cores", 1, "Cortex-M7") | one("cpu.clock_hz", 750 * MHZ, "Cortex-M7")),
    ("Four Arm Cortex-R5F MCUs at up to 1.0 GHz",
     one("cpu.cores", 4, "Cortex-R5F") | one("cpu.clock_hz", up_to(GHZ), "Cortex-R5F")),
    ("RV64GCV core at 1.85 GHz", one("cpu.isa", "RV64GCV") | one("cpu.clock_hz", 1.85 * GHZ)),
    ("The processor has a 5-stage pipeline.", one("cpu.pipeline_stages", 5)),
    ("The pipeline is divided into five stages", one("cpu.pipeline_stages", 5)),
    ("Vector length VLEN = 256 bits", one("cpu.vector_width_bits", 256)),
    ("L1 instruction cache: 16 KB, 2-way set-associative, 32-byte line size",
     one("cpu.l1i_cache.size_bytes", 16 * KB) | one("cpu.l1i_cache.ways", 2) | one("cpu.l1i_cache.line_bytes", 32)),
    ("The data cache is 4-way set associative with a line size of 64 bytes.",
     one("cpu.l1d_cache.ways", 4) | one("cpu.l1d_cache.line_bytes", 64)),
    ("The data cache can be configured to use 4 or 8 word cache lines.", one("cpu.l1d_cache.line_words", (4, 8))),
    ("An 8-Kbyte data cache, write through with no write allocate",
     one("cpu.l1d_cache.size_bytes", 8 * KB)
     | one("cpu.l1d_cache.write_policy", "write-through, no write allocate")),
    ("The chip has an instruction cache and a data cache shared by the two CPU cores.",
     one("cpu.l1_cache.shared", True) | one("cpu.cores", 2)),
    ("The instruction cache holds 16 KB", one("cpu.l1i_cache.size_bytes", 16 * KB)),
    ("2 MB L2 cache for the GPU", one("gpu.l2_cache.size_bytes", 2 * MB)),
    ("Core voltage 0.9 V ± 5 %", one("power.supply_v", (0.855, 0.9, 0.945), "Core")),
    ("256 KB L2 cache with ECC", one("cpu.l2_cache.size_bytes", 256 * KB)),
    ("Deep-learning accelerator up to 8 TOPS", one("npu.tops", up_to(8.0))),
    ("AI accelerator with 1 TOPS peak performance", one("npu.tops", 1)),
    ("NPU with 1T computing power", one("npu.tops", 1)),
    ("The core rail needs 0.75 V", {("power.supply_v", 0.75, "core")}),
    ("capable of issuing as many as three instructions per clock", one("cpu.issue_width", 3)),
    ("The chip draws 6 W on average", one("power.typ_w", 6)),
    ("GPU with 2 shader cores running at 800 MHz", one("gpu.cores", 2) | one("gpu.clock_hz", 800000000)),
    ("8-channel DMA controller", one("dma.channels", 8)),
    ("Two DMA controllers with 8 channels each", one("dma.controllers", 2) | one("dma.channels", 8)),
    ("DMA with 5 transmit channels and 5 receive channels", one("dma.channels", 10)),
    ("DMA with five channels for transmitting and another three channels for receiving", one("dma.channels", 8)),
    ("The DMA accesses must be 32- or 64-bit aligned", one("dma.alignment_bytes", (4, 8))),
    ("bursts of up to 16 transfers are supported by the DMA", one("dma.max_burst_beats", up_to(16.0))),
    ("240 external interrupts", one("interrupts.external_count", 240)),
    ("480 shared peripheral interrupts (SPI)", one("interrupts.spi_count", 480)),
    ("82 maskable interrupt channels and 16 priority levels",
     one("interrupts.count", 82) | one("interrupts.priority_levels", 16)),
    ("Up to 114 I/O ports with interrupt capability", one("gpio.count", up_to(114.0))),
    ("20 MIPS per core, 160 MIPS total", one("cpu.mips", 20, "per core") | one("cpu.mips", 160, "total")),
    ("16/32-bit DRAM interface", one("memory.dram.bus_width_bits", (16, 32))),
    ("16-bit/32-bit DRAM interface", one("memory.dram.bus_width_bits", (16, 32))),
    ("DRAM with 32bits/64bits data width", one("memory.dram.bus_width_bits", (32, 64))),
    ("Translation to a 36-bit physical address", one("memory.physical_address_bits", 36)),
    ("54 GPIO pins", one("gpio.count", 54)),
    ("0x2000_0000 - 0x2001_FFFF: Work memory (128 KB)",
     one("memory.region.base", "0x20000000", "Work memory") | one("memory.region.size_bytes", 128 * KB, "Work memory")),
    ("DDR3L/LPDDR4 memory with data rates up to 1600 MT/s",
     one("memory.dram.data_rate_mtps", up_to(1600.0)) | one("memory.dram.types", ("DDR3L", "LPDDR4"))),
    ("Manufactured in 28 nm HKMG", one("chip.process_nm", 28)),
    ("588-pin pin grid array (PGA)", one("chip.package", "588-pin PGA")),
    ("The reset vector is located at 0x0000 0000.", one("reset.vector", "0x0")),
    ("The reset vector address is fixed at H'A000 0000.", one("reset.vector", "0xa0000000")),
    ("After reset the CPU starts from address 0x8000_0000.", one("reset.vector", "0x80000000")),
    ("Write buffer: 8 entries, with up to 16 bytes in each entry",
     one("cpu.write_buffer.entries", 8) | one("cpu.write_buffer.entry_bytes", up_to(16))),
    ("One instruction is issued in each cycle", one("cpu.issue_width", 1)),
    ("A multiply takes 1 to 3 cycles", one("latency.multiplier_cycles", between(1, 3))),
    ("The instruction cache is organized as 512 lines of 32 bytes",
     one("cpu.l1i_cache.lines", 512) | one("cpu.l1i_cache.line_bytes", 32)),
    ("The chip has a vision SoC in 22 nm", one("chip.process_nm", 22)),
    ("3.3-V I/O interface with a 2.0-V core", one("power.supply_v", 3.3, "I/O") | one("power.supply_v", 2, "core")),
    ("All 5 V tolerant I/O pins and 3.3 V inputs", set()),
    ("Management core: RV32IMAC, 300 MHz",
     one("cpu.isa", "RV32IMAC") | one("cpu.clock_hz", 300 * MHZ, "Management core")),
    ("Dual-core RISC-V RV64GC processor, up to 1.0 GHz",
     one("cpu.cores", 2, "RISC-V") | one("cpu.isa", "RV64GC") | one("cpu.clock_hz", up_to(1000 * MHZ))),
    ("System RAM is split: OCRAM 128 KB", one("memory.sram.size_bytes", 128 * KB, "OCRAM")),
    ("DDR3/DDR3L 16-bit up to 1866 Mbps",
     one("memory.dram.types", ("DDR3", "DDR3L")) | one("memory.dram.bus_width_bits", 16)
     | one("memory.dram.data_rate_mtps", up_to(1866))),
    ("64 Kbytes at 0x2000 0000 (SRAM0)",
     one("memory.region.base", "0x20000000", "SRAM0")),
    ("Current consumption (VDD = 3.3 V, 25 °C)", set()),
    ("Bursts of 4, 8 or 16 beats by DMA", one("dma.max_burst_beats", 16)),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), SAID, ids=[text for text, _ in SAID])
def test_said(text, expected):
    assert {each for each in read(text) if each[0] != "cpu.core_type"} == expected


NOT_SAID = [
    "One of the DMA channels is reserved",
    "Two of the channels of the DMA carry audio",
    "SPDIF output with 8 channels",
    "Memory of 128 K words",  # words, not bytes
    "For example, an instruction cache of 64 KB needs twice the area.",
    "Half of the instruction cache (4 KB) can be locked.",
    "167 MHz and 128 MHz operating frequency versions added",  # a former version of the document
    "The older CPU had a 2 KB instruction cache",
    "A future part will have 4 TOPS of NPU performance",
    "See the bus standard: 128-bit system bus specification",
    "An image sensor with a clock frequency of up to 40 MHz is supported",
    "For a CPU clock frequency of 80 MHz the period is 12.5 ns",
    "Output power supply: 1.8 V",
    "Parameters are tested with VDD 5.0 V",
    "VDD = 3.3 V unless otherwise said",
    "Storage temperature 20 to 26 °C",  # a reel of parts
    "Standby power consumption 3 mW",
    "RGB output on 8 I/O pins for VGA",
    "Support maximum 32 bit OTP program operation",
    "External NOR flash of 128 MB",
    "The write-back buffer of the data cache holds one line",
    "bits 7:4 select 16 DMA channels",
    "TBD KB SRAM",
    "The L2 cache controller supports sizes of 128 KB to 8 MB",
    "An external L2 cache of up to 2 MB can be attached",
    "Writes to 0x4000 set the DMA burst length to 4 beats",
    "PLL output of 400 to 800 MHz feeds the CPU",
    "When the CPU runs at 100 MHz the flash needs more time",
    "16 KB of the SRAM is used by the boot ROM",
    "Stack of 4 KB in SRAM",
    "Wait 100 ns after VDD reaches 1.8 V",
    "The evaluation board has 512 MB of DDR3 memory and a 12 V input",
    "The timer has 4 channels and a DMA request",
    "If the junction temperature exceeds 125 °C the chip shuts down",
    "8 TOPS/W efficiency of the NPU",
    "Pin-compatible with the 100-pin LQFP of the KX10",
    "Upper 22 bits of the physical address",  # a field of a register
    "The 20 high-order bits of the physical address",
    "18 RTC GPIO pins",  # a part of all pins
    "The higher 4 KB address space is the non-secure part",
    "Supply voltage 1.8 V/3.3 V",  # which of the two is the chip's?
]


@pytest.mark.parametrize("text", NOT_SAID)
def test_not_said(text):
    assert read(text) == set()


def test_a_block_diagram_yields_to_what_sentences_say():
    drawn = read("512 KB L2 cache", "Block diagram")
    assert drawn == read("512 KB L2 cache") == one("cpu.l2_cache.size_bytes", 512 * KB)


def test_a_value_below_its_label():
    assert read("-55 to 125 °C", "Characteristics", "Storage temperature") == one(
        "thermal.storage_c", between(-55.0, 125.0)
    )
    assert read("-55 to 125 °C", "Characteristics", "Soldering") == set()


def test_a_revision_history_tells_of_no_chip():
    assert read("512 KB L2 cache", "Revision history") == set()


def test_a_condition_is_kept_whether_it_stands_before_or_after_the_value():
    assert conditions("When area optimization is enabled, the pipeline is divided into three stages") == [
        "When area optimization is enabled"
    ]
    assert conditions("Maximum power consumption of 7 W at 85 °C") == ["at 85 °C"]
    assert conditions("The pipeline is divided into three stages") == [None]


def test_what_an_exception_says_holds_only_in_it():
    said = "Reads do not wait, except with small caches when data cache read hits take 2 cycles"
    assert conditions(said) == ["with small caches"]
    assert conditions("Reads do not wait, except in one place. Data cache read hits take 2 cycles") == [None]


def test_a_condition_in_the_name_of_a_rows_parameter():
    def ambient(name):
        return cells(("Conditions",), ("Parameter", name), ("Min", "-25"), ("Max", "85"), ("Unit", "°C"))

    limits = ("thermal.ambient_c", between(-25.0, 85.0))
    assert ambient("Ambient temperature (when the regulator is used)") == {(*limits, "when the regulator is used")}
    assert ambient("Ambient temperature (note 2)") == {(*limits, None)}


def test_a_size_beside_addresses_of_another_size_is_not_settled():
    assert read("0x2000_0000 - 0x2001_FFFF: Work memory (64 KB)") == one(
        "memory.region.base", "0x20000000", "Work memory"
    )


def test_a_condition_above_the_items_that_hold_under_it():
    region = "0x2000_0000 - 0x2001_FFFF: Work memory"
    assert {c.condition for c in candidates(region, "Memory map", "When bank mode is on (CTL.BM = 1)")} == {
        "When bank mode is on (CTL.BM = 1)"
    }
    assert {c.condition for c in candidates(region, "Memory map", "When to use the banks")} == {None}


def test_each_shares_with_cores_only():
    def sharing(text):
        return {candidate.sharing for candidate in candidates(text)}

    assert sharing("64 KB L2 cache for each Cortex-A55") == {"per_core"}
    assert sharing("64 KB L2 cache with 128 bytes for each cache line") == {None}
    assert sharing("Translates addresses of each core to 36-bit physical addresses") == {None}


def cells(path, *pairs):
    """The candidates of a table row as (field, value or bounds, condition); a pair is a header and its cell."""
    bounds = {"Min": "min", "Typ": "typ", "Max": "max"}
    laid = []
    for at, (header, text) in enumerate(pairs):
        left = 200.0 * at
        words = [Word(w, (left + 10 * i, 0, left + 10 * i + 9, 9), 9, 9) for i, w in enumerate(text.split())]
        laid.append(RowCell(tuple(words), header, bounds.get(header)))
    tagged_row = row(3, laid, path, False)
    tagged = Tagged(tagged_row, TAGGER.tag([tagged_row])[0])
    found = [c for c in bind(tagged, "doc", "rule", QUANTITY_RULES, FIND_RULES) if c.confidence >= LEAST]
    return {(c.field, c.value if c.value is not None else (c.min, c.typ, c.max), c.condition) for c in found}


def period(name, caption):
    return cells((caption,), ("Parameter", name), ("Min", "8"), ("Max", "125"), ("Unit", "ns"))


def test_the_clock_of_an_interface_is_not_the_chips():
    assert period("Clock period", "AC characteristics") == {("clock.period_s", between(8e-9, 1.25e-7), None)}
    assert period("RGMII_RX_CLK clock period", "AC characteristics") == set()
    assert period("Clock period", "SMHC HS200 mode input timing") == set()


def test_the_grade_in_a_caption_is_a_condition():
    assert period("Clock period", "AC characteristics (20 MHz)") == {
        ("clock.period_s", between(8e-9, 1.25e-7), "20 MHz")
    }
    assert period("Clock period", "AC characteristics (continued)") == {
        ("clock.period_s", between(8e-9, 1.25e-7), None)
    }


def test_the_supply_of_an_interface_is_not_the_chips():
    def supply(caption):
        return cells((caption,), ("Symbol", "VDD"), ("Min", "2.7"), ("Max", "3.6"), ("Unit", "V"))

    assert supply("Recommended operating conditions") == {("power.supply_v", between(2.7, 3.6), None)}
    assert supply("3.3 V SDIO electrical parameters") == set()


def test_what_a_register_is_for_is_no_condition():
    def offset(description):
        return cells(("Registers",), ("Name", "CH_SR2"), ("Offset", "0x110"), ("Description", description))

    assert offset("Status for channel 2") == {("register.offset", "0x110", None)}
    assert offset("Status when locked") == {("register.offset", "0x110", "when locked")}
