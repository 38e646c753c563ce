"""Layouts that misled the reading: narrow columns, dot leaders, headers of unusual words, labels beside values."""

from invented_sheets import Paper

from hwdoc_ingest.intake.pdf_reading import read_pdf_bytes
from hwdoc_ingest.reading import no_progress


def said(paper):
    return {
        (c.field, c.instance, c.value if c.value is not None else (c.min, c.max))
        for c in read_pdf_bytes(paper.done(), "doc", "sheet.pdf", no_progress).candidates
    }


def test_a_narrow_column_beside_text_and_a_figure_is_read_apart():
    paper = Paper(9)
    left = [
        "The core fetches four instructions in each cycle and holds what it",
        "cannot issue at once in a queue. Results are written in order, and",
        "a store waits until its address is known. The instruction cache of",
        "32 KB is filled line by line, and its lines are never locked by the",
        "software. The data cache holds 16 KB and writes whole lines back to",
        "memory when they are needed for other data than they hold now.",
    ]
    right = [
        "For more about what it costs, ask",
        "the office that is nearest to you or",
        "write to the address below with the",
        "name of your firm. The next member",
        "of the family is told about there; it",
        "has a 64 KB L2 cache beside these.",
    ]
    for words, beside in zip(left, right, strict=True):
        paper.text(390, beside)
        paper.line(50, words)
    paper.y += 40
    for x in (60, 150, 240):
        paper.text(x, "Unit")
    paper.y += 30
    paper.text(70, "Queue")
    assert {each for each in said(paper) if "cache" in each[0]} == {
        ("cpu.l1i_cache.size_bytes", None, 32768),
        ("cpu.l1d_cache.size_bytes", None, 16384),
    }  # the cache of the next member is not this chip's


def test_the_items_of_an_example_are_not_what_the_chip_has():
    def listed(lead):
        paper = Paper()
        paper.heading("System")
        paper.line(50, lead)
        for item in ("2 KB boot ROM", "256 bytes of SRAM"):
            paper.line(60, f"• {item}")
        paper.line(50, "The chip has a 4 KB boot ROM of its own.")
        return {(field, value) for field, _, value in said(paper)}

    assert listed("For example, a system of three chips has the following:") == {("memory.rom.size_bytes", 4096)}
    assert ("memory.sram.size_bytes", 256) in listed("The chip has the following:")


def test_dots_between_a_name_and_its_value_end_no_sentence():
    paper = Paper()
    paper.heading("Limits")
    for name, value in (("Storage temperature", "-65 to 150 °C"), ("Power dissipation", "1.5 W")):
        paper.text(50, name)
        for i in range(8):
            paper.text(170 + 6 * i, ".")
        paper.line(225, value)
    assert said(paper) == {
        ("thermal.storage_c", None, (-65.0, 150.0)),
        ("power.max_w", None, 1.5),
    }


def test_rows_of_names_and_values_stay_apart():
    paper = Paper()
    paper.heading("Characteristics")
    for name, value in (
        ("Process", "180 nm CMOS"),
        ("Package", "144-pin LQFP"),
        ("Core supply", "VDD = 1.8 V min - 2.0 V max"),
        ("Ambient temperature", "0 to 70 °C"),
    ):
        paper.text(50, name)
        paper.line(240, value)
    assert said(paper) == {
        ("chip.process_nm", None, 180),
        ("chip.package", None, "144-pin LQFP"),
        ("power.supply_v", "VDD", (1.8, 2.0)),
        ("thermal.ambient_c", None, (0.0, 70.0)),
    }


def test_a_header_below_a_caption_may_have_unusual_words():
    paper = Paper()
    paper.line(50, "Table 3. Interrupts and where they lead", bold=True)
    paper.y += 6
    paper.columns((50, 130, 220, 360), [
        ("Name", "Priority", "Address when it occurs", "Trigger kind"),
        ("TRAP", "1", "24H", "rising edge"),
        ("RST 7.5", "2", "3CH", "rising edge"),
        ("INTR", "3", "See note", "high level"),
    ])  # fmt: skip
    assert said(paper) == {
        ("interrupts.vector", "TRAP", "0x24"),
        ("interrupts.vector", "RST 7.5", "0x3c"),
    }


def test_a_footnote_mark_on_a_group_is_no_part_number():
    paper = Paper()
    paper.heading("A.C. characteristics")
    paper.text(262, "KX85 [2]", bold=True, size=9)
    paper.text(362, "KX85-2 [2]", bold=True, size=9)
    paper.y += 13
    paper.columns((50, 110, 250, 290, 350, 390, 450), [
        ("Symbol", "Parameter", "Min", "Max", "Min", "Max", "Unit"),
        ("tCYC", "Clock period", "320", "2000", "200", "2000", "ns"),
    ])  # fmt: skip
    found = {(field, instance) for field, instance, _ in said(paper)}
    assert found == {("clock.period_s", "tCYC KX85"), ("clock.period_s", "tCYC KX85-2")}


def test_a_row_of_a_register_table_tells_nothing_of_the_chip():
    paper = Paper()
    paper.line(50, "Table 9. Registers of the DMA", bold=True)
    paper.y += 8
    paper.ruled((50, 160, 220, 270, 540), [
        ("Name", "Offset", "Access", "Description"),
        ("DMA_MODE", "0x10", "R/W", "4 channels, burst of 16, 64 KB of SRAM"),
    ])  # fmt: skip
    assert said(paper) == {("register.offset", "DMA_MODE", "0x10")}


def test_a_sentence_that_is_broken_off_by_a_column_goes_on_in_the_next_and_an_item_at_the_end_of_its_line():
    paper = Paper(9)
    left = [
        "The core fetches four words at a time and",
        "keeps what it cannot use yet in its queue.",
        "Stores wait there until nothing that was",
        "read before them can fail any more. What is",
        "shared with others is never kept for long,",
        "and whoever asks for it gets it in the next",
        "cycle. Loads may overtake them, as long as",
        "they are not for the same word of memory.",
        "A line of it stays until another one comes,",
        "and each one of them has 96 KiB of tightly",
    ]
    right = [
        "coupled memory of its own beside that, in",
        "which nothing is ever moved by hardware. All",
        "that is kept there has to be put there by",
        "software, word by word or by the mover that",
        "belongs to the cluster. It can be read from",
        "outside, too, though that takes far longer.",
        "Its words are guarded by parity, and what is",
        "wrong is told to the core by an exception.",
        "• The MMU has one large, fully associative",
        "  TLB with 96 entries",
    ]
    for words, beside in zip(left, right, strict=True):
        paper.text(310, beside)
        paper.line(50, words)
    assert said(paper) == {("memory.tcm.size_bytes", None, 96 << 10), ("cpu.tlb.entries", "TLB", 96)}
