"""Tables as vendors set them: shaded in place of rulings, heads of several rows, values that are said in words."""

from __future__ import annotations

import pytest
from drawn_tables import Cell, Sheet

from hwdoc_ingest.intake.pdf_reading import read_pdf_bytes
from hwdoc_ingest.reading import no_progress

KB = 1024
MHZ = 1e6
TEXT = "Maximum CPU clock frequency: 100 MHz, supply voltage 3.3 V"


def read(title, widths, rows, ruled=True, shaded=False):
    """The candidates of a table; in a shaded one every second row has a grey ground and nothing is ruled."""
    sheet = Sheet()
    sheet.words(30, 45, title)
    for at in range(1, len(rows), 2) if shaded else ():
        sheet.canvas.setFillGray(0.9)
        sheet.canvas.rect(30, sheet.height - 55 - 16 * (at + 1), sum(widths), 16, stroke=0, fill=1)
        sheet.canvas.setFillGray(0)
    cells = [[each if isinstance(each, Cell) else Cell(each, align="centre") for each in row] for row in rows]
    sheet.table(30, 55, widths, cells, ruled and not shaded)
    sheet.words(30, 380, TEXT)
    return read_pdf_bytes(sheet.done(), "doc", "sheet.pdf", no_progress).candidates


def told(candidates, field):
    return {
        (c.instance, c.min, c.value if c.value is not None else c.typ, c.max) for c in candidates if c.field == field
    }


@pytest.mark.parametrize("shaded", [True, False])
def test_shading_of_every_second_row_ends_no_table(shaded):
    rows = [
        ["Feature", "QX3120", "QX3140", "QX3160"],
        ["Flash (KB)", "128", "256", "512"],
        ["SRAM (KB)", "16", "32", "48"],
        ["DMA channels", "4", "8", "16"],
        ["GPIOs", "20", "36", "52"],
    ]
    found = read("Table 2. Feature comparison", (170, 80, 80, 80), rows, shaded=shaded)
    assert {value for _, _, value, _ in told(found, "memory.flash.size_bytes")} == {128 * KB, 256 * KB, 512 * KB}
    assert ("QX3160", None, 48 * KB, None) in told(found, "memory.sram.size_bytes")
    assert ("QX3160", None, 52, None) in told(found, "gpio.count")


def test_a_part_number_that_ends_like_a_current_is_a_header():
    rows = [
        ["Model", "QX3120A", "QX3140A"],
        ["Flash", "128 KB", "256 KB"],
        ["GPIOs", "20", "36"],
    ]
    found = read("Table 2. Products", (170, 100, 100), rows, ruled=False)
    assert told(found, "memory.flash.size_bytes") == {
        ("QX3120A", None, 128 * KB, None),
        ("QX3140A", None, 256 * KB, None),
    }


HEAD = [
    [Cell("Symbol", rows=2, align="centre"), Cell("Parameter", rows=2, align="centre")]
    + [Cell(each, columns=3, align="centre") for each in ("Nominal drive", "Overdrive")]
    + [Cell("Unit", rows=2, align="centre")],
    ["Min", "Typ", "Max", "Min", "Typ", "Max"],
]


def test_heads_of_merged_cells_stand_over_their_columns():
    rows = [
        *HEAD,
        ["VDD_CORE", "Core supply voltage", "0.72", "0.80", "0.88", "0.81", "0.90", "0.99", "V"],
        ["fCPU", "CPU clock frequency", "-", "-", "800", "-", "-", "1200", "MHz"],
    ]
    found = read("Recommended operating conditions", (70, 120, 40, 40, 40, 40, 40, 40, 50), rows)
    supplies = {(low, typ, high) for i, low, typ, high in told(found, "power.supply_v") if i and "VDD_CORE" in i}
    assert supplies == {(0.72, 0.8, 0.88), (0.81, 0.9, 0.99)}
    clocks = {(i.split()[-2:][-1], high) for i, _, _, high in told(found, "cpu.clock_hz") if i}
    assert clocks == {("drive", 800 * MHZ), ("Overdrive", 1200 * MHZ)}


def test_what_is_the_same_in_both_modes_is_said_of_neither():
    row = ["TA", "Ambient temperature", "-40", "25", "85", "-40", "25", "85", "°C"]
    found = read("Recommended operating conditions", (70, 120, 40, 40, 40, 40, 40, 40, 50), [*HEAD, row])
    assert told(found, "thermal.ambient_c") == {(None, -40, 25, 85)}


def test_a_value_that_is_called_typical_in_its_cell_heads_no_table():
    rows = [
        ["Item", "Value"],
        ["Power consumption", "Typ. 900 mW"],
        ["On-chip SRAM", "2 x 512 KB SRAM"],
        ["Flash", "8 x 64 KB"],
    ]
    found = read("Table 3. Key data", (150, 150), rows)
    assert told(found, "power.typ_w") == {(None, None, 0.9, None)}
    assert told(found, "power.max_w") == set()
    assert (None, None, 1024 * KB, None) in told(found, "memory.sram.size_bytes")
    assert (None, None, 512 * KB, None) not in told(found, "memory.sram.size_bytes")
    assert told(found, "memory.flash.size_bytes") == {(None, None, 512 * KB, None)}


def test_the_clock_of_a_bus_is_not_the_processors():
    rows = [
        ["Interface", "Protocol", "Data width", "Max. clock"],
        ["Instruction fetch", "AXI4", "64 bits", "500 MHz"],
        ["Peripheral port", "AHB-Lite", "32 bits", "250 MHz"],
    ]
    found = read("Bus interfaces", (120, 80, 80, 80), rows)
    assert {(i, value) for i, _, value, _ in told(found, "bus.width_bits")} == {
        ("Instruction fetch", 64),
        ("Peripheral port", 32),
    }
    assert {high for *_, high in told(found, "cpu.clock_hz")} <= {100 * MHZ}


def test_a_full_row_of_words_is_no_part_of_its_neighbour():
    rows = [
        ["Model", "QX3120", "QX3140"],
        ["Flash", "128 KB", "256 KB"],
        ["Package", "LQFP48", "LQFP64"],
        ["Supply voltage", "1.8 to 3.6 V", ""],
    ]
    found = read("Table 2. Products", (170, 100, 100), rows, ruled=False)
    assert (None, 1.8, None, 3.6) in told(found, "power.supply_v")
    assert {i for i, low, _, _ in told(found, "power.supply_v") if low == 1.8} == {None}


def test_lines_of_caches_are_counted_in_the_unit_of_their_header():
    rows = [
        ["Cache", "Size", "Associativity", "Line size (bytes)"],
        ["L1 instruction", "32 KB", "4-way", "64"],
        ["L2 unified", "512 KB", "16-way", "128"],
    ]
    found = read("Table 4. Cache parameters", (120, 80, 80, 100), rows)
    assert {value for _, _, value, _ in told(found, "cpu.l1i_cache.line_bytes")} == {64}
    assert {value for _, _, value, _ in told(found, "cpu.l2_cache.line_bytes")} == {128}
    assert {value for _, _, value, _ in told(found, "cpu.l2_cache.size_bytes")} == {512 * KB}


@pytest.mark.parametrize("text", ["Table 3 DMA controllers of the chip", "Table 1-2 DMA channels of DMA1"])
def test_the_number_of_a_table_counts_nothing(text):
    sheet = Sheet()
    sheet.words(30, 45, text)
    sheet.words(30, 380, TEXT)
    found = read_pdf_bytes(sheet.done(), "doc", "sheet.pdf", no_progress).candidates
    assert [c.field for c in found if c.field.startswith("dma.")] == []


def test_part_numbers_head_a_table_whose_names_have_no_header():
    rows = [
        ["", "QX847VE", "QX847ZI"],
        ["Data cache", "16 Kbytes", "32 Kbytes"],
        ["Maximum CPU frequency", "400 MHz", "480 MHz"],
    ]
    found = read("Device options", (170, 110, 110), rows)
    assert {(i, value) for i, _, value, _ in told(found, "cpu.l1d_cache.size_bytes")} == {
        ("QX847VE", 16 * KB),
        ("QX847ZI", 32 * KB),
    }
    assert ("QX847ZI", 480 * MHZ) in {(i.split()[-1], most) for i, *_, most in told(found, "cpu.clock_hz") if i}


def test_numbers_of_interrupts_stand_left_of_their_sources():
    rows = [["IRQ numbers", "Peripheral"], ["1", "L2 cache controller"], ["5", "UART 0"], ["6", "QSPI 0"]]
    found = read("Table 11. Interrupt source mapping", (120, 160), [[Cell(each) for each in row] for row in rows])
    assert {(c.instance, c.value) for c in found if c.field == "interrupts.irq"} >= {("UART 0", 5), ("QSPI 0", 6)}


def test_addresses_of_forty_bits_are_written_in_groups():
    rows = [
        ["Base", "Top", "Attr.", "Description"],
        ["0x00_0200_0000", "0x00_0200_FFFF", "RW", "CLINT"],
        ["0x00_8000_0000", "0x0F_FFFF_FFFF", "RWX", "DDR memory"],
    ]
    found = read("Table 9. Memory map", (110, 110, 50, 120), rows)
    assert {(c.field, c.instance, c.value) for c in found if c.field.endswith(".base")} == {
        ("mmio.base", "CLINT", "0x2000000"),
        ("memory.region.base", "DDR memory", "0x80000000"),
    }


def test_a_row_of_one_cache_alone_is_told_by_its_header():
    rows = [
        ["Item", "Instruction Cache", "Operand Cache"],
        ["Capacity", "8 KB", "16 KB"],
        ["Line size", "32 bytes", "64 bytes"],
        ["Write method", "", "Copy-back/write-through"],
    ]
    found = read("Table 4.1 Cache Features", (100, 120, 140), rows)
    assert told(found, "cpu.l1d_cache.write_policy") == {(None, None, "copy-back/write-through", None)}
    assert {value for _, _, value, _ in told(found, "cpu.l1d_cache.line_bytes")} == {64}


def test_what_is_above_a_chips_own_memories_is_no_name_of_one():
    sheet = Sheet()
    sheet.words(30, 45, "QX32-S3's internal memory includes:")
    sheet.words(42, 60, "\u2022 512 KB on-chip SRAM")
    sheet.words(30, 380, TEXT)
    found = read_pdf_bytes(sheet.done(), "doc", "sheet.pdf", no_progress).candidates
    assert told(found, "memory.sram.size_bytes") == {(None, None, 512 * KB, None)}


def test_two_sizes_of_a_diagram_yield_to_one_that_is_named():
    sheet = Sheet()
    sheet.words(30, 45, "512KB L2 cache for each Cortex-A76")
    sheet.words(30, 120, "System register 2MB L2 Cache 256KB L2 Cache")
    sheet.words(30, 380, TEXT)
    found = read_pdf_bytes(sheet.done(), "doc", "sheet.pdf", no_progress).candidates
    assert told(found, "cpu.l2_cache.size_bytes") == {("Cortex-A76", None, 512 * KB, None)}


def test_a_row_of_a_cluster_tells_its_caches_and_its_clock():
    rows = [
        ["Cluster", "Cores", "Max. frequency", "L1 I-cache", "L2 cache"],
        ["Cortex-A76", "4", "2.2 GHz", "64 KB", "512 KB"],
        ["Cortex-A55", "2", "1.8 GHz", "32 KB", "128 KB"],
    ]
    found = read("Table 3-6. Clusters", (100, 60, 100, 80, 80), rows)
    assert {(i, v) for i, _, v, _ in told(found, "cpu.cores")} == {("Cortex-A76", 4), ("Cortex-A55", 2)}
    assert {(i, m) for i, _, _, m in told(found, "cpu.clock_hz") if i} == {
        ("Cortex-A76", 2200 * MHZ),
        ("Cortex-A55", 1800 * MHZ),
    }
    assert {(i, v) for i, _, v, _ in told(found, "cpu.l2_cache.size_bytes")} == {
        ("Cortex-A76", 512 * KB),
        ("Cortex-A55", 128 * KB),
    }


def test_a_row_of_a_memory_tells_more_than_its_largest_rate():
    rows = [
        ["DRAM type", "Data bus width", "Max. data rate", "Channels"],
        ["LPDDR4X", "64 bits", "4266 MT/s", "4"],
        ["DDR4", "32 bits", "3200 MT/s", "1"],
    ]
    found = read("Table 3-4. Supported DRAM configurations", (80, 100, 100, 80), rows)
    assert {(i, v) for i, _, v, _ in told(found, "memory.dram.bus_width_bits")} == {("LPDDR4X", 64), ("DDR4", 32)}
    assert {(i, m) for i, _, _, m in told(found, "memory.dram.data_rate_mtps")} == {("LPDDR4X", 4266), ("DDR4", 3200)}


def test_the_row_of_a_table_that_was_not_seen_gives_no_part_s_value():
    sheet = Sheet()
    sheet.words(30, 45, "SRAM 20KB 32KB 128KB")
    sheet.words(30, 90, "On-chip ROM: 16KB")
    sheet.words(30, 380, TEXT)
    found = read_pdf_bytes(sheet.done(), "doc", "sheet.pdf", no_progress).candidates
    assert told(found, "memory.sram.size_bytes") == set()
    assert {value for _, _, value, _ in told(found, "memory.rom.size_bytes")} == {16 * KB}


def test_a_supply_that_was_measured_at_is_no_supply_and_a_note_no_name():
    rows = [
        ["Parameter", "Min", "Typ", "Max", "Unit", "Notes"],
        ["Supply voltage", "1.71", "3.0", "3.8", "V", "DC-DC on"],
    ]
    found = read("Table 3: Current consumption at VDD = 3.0 V", (140, 50, 50, 50, 50, 80), rows)
    assert told(found, "power.supply_v") == {(None, 1.71, 3.0, 3.8), (None, None, 3.3, None)}


@pytest.mark.parametrize(("last", "blocks"), [("Default", set()), ("Description", {"GPIOEN", "PADCFG0"})])
def test_a_register_at_its_full_address_is_no_block(last, blocks):
    rows = [
        ["Name", "Base address", "Size", "Access", last],
        ["GPIOEN", "0x1A10101C", "32", "R/W", "0x0000"],
        ["PADCFG0", "0x1A101020", "32", "R/W", "0x0000"],
    ]
    found = read("Table 8. Memory map", (100, 100, 50, 60, 80), rows)
    assert {c.instance for c in found if c.field == "mmio.base"} == blocks


@pytest.mark.parametrize(
    ("names", "held", "entered"),
    [
        (("Trap cause register", "Event register"), "Reset", set()),
        (("Trap cause register", "Event register"), "Initial Value*1", set()),
        (("Trap cause register", "Event register"), "Priority", set()),
        (("Illegal instruction", "Data error"), "Initial Value", set()),
        (("Illegal instruction", "Data error"), "Priority", {"Illegal instruction", "Data error"}),
    ],
)
def test_a_register_about_exceptions_is_no_vector(names, held, entered):
    rows = [["Name", held, "Address"], [names[0], "1", "0xFF000120"], [names[1], "2", "0xFF000124"]]
    found = read("Table 5. Exceptions", (140, 90, 100), rows)
    assert {c.instance for c in found if c.field == "interrupts.vector"} == entered


@pytest.mark.parametrize(
    ("title", "headers", "blocks"),
    [
        ("Table 6. Ranges of numbers", ("Type", "Single precision", "Double precision"), set()),
        ("Table 6. Instructions", ("Type", "Opcode", "Mask"), set()),
        ("Table 6. Memory map", ("Type", "From", "To"), {"Positive large", "Negative large"}),
        ("Table 6. Address encoding", ("Type", "From", "To"), {"Positive large", "Negative large"}),
    ],
)
def test_bits_of_numbers_are_no_addresses(title, headers, blocks):
    rows = [
        list(headers),
        ["Positive large", "0x7F800000", "0x7FF00000"],
        ["Negative large", "0xA0800000", "0xFFF00000"],
    ]
    found = read(title, (120, 110, 110), rows)
    assert {c.instance for c in found if c.field == "mmio.base"} == blocks


@pytest.mark.parametrize(
    ("name", "blocks"), [("Store buffer", {"Store buffer"}), ("Address", set()), ("Addresses", set())]
)
def test_what_a_row_says_of_a_thing_is_not_its_name(name, blocks):
    rows = [
        ["Item", "Store queues"],
        ["Capacity", "64 bytes"],
        [name, "0xE0000000 to 0xE3FFFFFF"],
        ["Access", "Write only"],
    ]
    found = read("Table 4. Caches", (120, 200), rows)
    assert {c.instance for c in found if c.field == "mmio.base"} == blocks


def test_a_module_of_memory_is_not_the_chips():
    sheet = Sheet()
    sheet.words(30, 45, "32 MB DRAM SIMM module")
    sheet.words(30, 380, TEXT)
    found = read_pdf_bytes(sheet.done(), "doc", "sheet.pdf", no_progress).candidates
    assert told(found, "memory.dram.size_bytes") == set()
