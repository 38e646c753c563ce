"""Documents of several cores: each value is of the core that the document means, by the short name it gives it."""

from dataclasses import replace

from phrase_reading import between, one, read, spoken, up_to

from hwdoc_ingest.binding.bind import bind
from hwdoc_ingest.rules import FIND_RULES, PARAMETERS, QUANTITY_RULES
from hwdoc_ingest.rules.core_names import core_names
from hwdoc_ingest.rules.rule import Tagged
from hwdoc_ingest.statements.chinese_terms import in_english
from hwdoc_ingest.statements.tagger import RuleTagger

KB = 1024
L1I, L1D = "cpu.l1i_cache.size_bytes", "cpu.l1d_cache.size_bytes"


def read_all(*texts):
    """What a document of some sentences says, as (field, value, instance)."""
    said = [in_english(spoken(text, "Features")) for text in texts]
    cores, tagger = core_names(said), RuleTagger(PARAMETERS)
    known = [replace(each, cores=cores) for each in said]
    tagged = [Tagged(each, spans) for each, spans in zip(known, tagger.tag(known), strict=True)]
    found = [each for one in tagged for each in bind(one, "doc", "rule", QUANTITY_RULES, FIND_RULES)]
    return {(c.field, c.value if c.value is not None else (c.min, c.typ, c.max), c.instance) for c in found}


def test_a_short_name_that_the_document_gives_a_core_is_its_own_everywhere():
    said = read_all(
        "Two cores: A1 (RV32IMC, up to 240 MHz), LP (RV32EC, up to 40 MHz)",
        "A1 has a 16 KB instruction cache and an 8 KB data cache",
        "LP: 4 KB instruction cache",
    )
    assert one("cpu.clock_hz", up_to(240e6), "A1") | one("cpu.clock_hz", up_to(40e6), "LP") <= said
    assert one(L1I, 16 * KB, "A1") | one(L1D, 8 * KB, "A1") | one(L1I, 4 * KB, "LP") <= said


def test_chinese_sentences_name_cores_so_too():
    said = read_all("M0（RV32IMC，最高 320MHz），D0（RV64GC，最高 480MHz）", "D0 含 32KB 指令 cache 与 64KB 数据 cache")
    assert one(L1I, 32 * KB, "D0") | one(L1D, 64 * KB, "D0") <= said
    assert one("cpu.clock_hz", up_to(320e6), "M0") | one("cpu.clock_hz", up_to(480e6), "D0") <= said


def test_what_no_sentence_calls_a_core_is_none():
    assert core_names([spoken("USB3 controller, DDR4 interface, L2 processor cache, GPIO (P0)")]) == ()
    assert core_names([spoken("M4 core"), spoken("The subsystem has a RISC-V CPU (E2)")]) == ("M4", "E2")


def test_numbers_of_headings_and_figures_count_no_cores():
    assert not any(field == "cpu.cores" for field, *_ in read("Figure 3 Cortex-A53 platform"))
    assert not any(field == "cpu.cores" for field, *_ in read("See section 2.1 Cortex-A53 memory map"))
    assert one("cpu.cores", 3, "Cortex-A53") <= read("3 Cortex-A53 cores")


def test_the_count_may_stand_behind_the_name():
    for text in (
        "Cortex-A7 dual-core @ 1.1 GHz",
        "Cortex-A7 MP2 CPU",
        "CPU: Cortex-A7 x2",
        "ARM Cortex-A7 双核@1.1GHz",
    ):
        assert one("cpu.cores", 2, "Cortex-A7") <= read(text), text
    assert {
        value for field, value, _ in read("dual-core Cortex-A7 and quad-core Cortex-A55") if field == "cpu.cores"
    } == {
        2,
        4,
    }


def test_channels_are_told_for_each_controller():
    channels = {
        (value, whose) for field, value, whose in read("20 DMA channels (DMA0 and DMA2 each have 8, DMA1 has 4)")
    }
    assert {(8, "DMA0"), (8, "DMA2"), (4, "DMA1")} <= channels
    chinese = read("20 个专用 DMA 通道（DMA0 和 DMA2 分别有 8 个，DMA1 有 4 个）")
    assert one("dma.channels", 8, "DMA0") | one("dma.channels", 4, "DMA1") <= chinese
    assert not any(f == "dma.channels" for f, *_ in read("48 events, each of which can trigger any DMA channel"))
    assert one("dma.controllers", 2) <= read("Two eDMA controllers with 32 channels each")
    assert one("dma.requests", 48) <= read("The DMA handles 48 events, each of which can trigger any channel")


def test_stages_that_are_a_range_are_no_single_number():
    assert not any(
        value == 12 for field, value, _ in read("采用9～12级超标量流水线架构") if field == "cpu.pipeline_stages"
    )
    assert one("cpu.pipeline_stages", 5) <= read("采用5级单发射顺序执行流水线")


def test_sizes_written_as_a_product_or_a_pair():
    assert read("256 x 32 bits eFuse") == one("memory.otp.size_bits", 8192)
    assert not any(field == "memory.otp.size_bits" for field, *_ in read("a register file of 256 x 32 bits"))
    pair = read("1 MB/256 KB flash/SRAM")
    assert pair == one("memory.flash.size_bytes", 1 << 20) | one("memory.sram.size_bytes", 256 * KB)


def test_ranges_are_of_the_grade_that_follows_them():
    said = read("A case temperature range of 0° to +85° C for commercial, and -40° to +85° C for industrial devices")
    assert said == one("thermal.case_c", between(0, 85), "commercial") | one(
        "thermal.case_c", between(-40, 85), "industrial"
    )


def test_a_size_with_its_own_name_is_not_what_stands_above_it():
    assert not any(field == "memory.sram.size_bytes" for field, *_ in read("512 bytes OTP", "Features", "On-chip SRAM"))
    assert one("memory.sram.size_bytes", 512 * KB) <= {
        (field, value, None) for field, value, _ in read("512 KB", "Features", "On-chip SRAM")
    }
