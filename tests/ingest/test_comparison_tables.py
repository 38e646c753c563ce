"""Tables that compare: a column for each part, grade, mode or cache; headers on two lines; columns without a header."""

from __future__ import annotations

import pytest
from drawn_tables import Cell, Sheet

from hwdoc_ingest.intake.pdf_reading import read_pdf_bytes
from hwdoc_ingest.reading import no_progress

MHZ = 1e6
KB = 1024
TEXT = "Maximum CPU clock frequency: 100 MHz, supply voltage 3.3 V, 64 KB SRAM"


def read(title, widths, rows, ruled=True, align="centre"):
    """The candidates of a table, each cell given as text or as a Cell."""
    sheet = Sheet()
    sheet.words(30, 45, title)
    cells = [[each if isinstance(each, Cell) else Cell(each, align=align) for each in row] for row in rows]
    sheet.table(30, 55, widths, cells, ruled)
    sheet.words(30, 380, TEXT)
    sheet.canvas.save()
    return read_pdf_bytes(sheet.out.getvalue(), "doc", "sheet.pdf", no_progress).candidates


def told(candidates, field):
    return {(c.instance, c.value if c.value is not None else c.max) for c in candidates if c.field == field}


@pytest.mark.parametrize("ruled", [True, False])
def test_each_part_has_its_own_value(ruled):
    rows = [
        ["Feature", "QX3120", "QX3140", "QX3160"],
        ["Max. CPU frequency (MHz)", "72", "96", "144"],
        ["Flash (KB)", "128", "256", "512"],
        ["DMA channels", "4", "8", "16"],
    ]
    found = read("Table 2. Feature comparison", (170, 80, 80, 80), rows, ruled)
    assert told(found, "cpu.clock_hz") >= {("QX3120", 72 * MHZ), ("QX3140", 96 * MHZ), ("QX3160", 144 * MHZ)}
    assert told(found, "memory.flash.size_bytes") == {
        ("QX3120", 128 * KB),
        ("QX3140", 256 * KB),
        ("QX3160", 512 * KB),
    }
    assert {(i.split()[-1], v) for i, v in told(found, "dma.channels")} == {
        ("QX3120", 4),
        ("QX3140", 8),
        ("QX3160", 16),
    }


def test_a_value_that_stands_once_is_that_of_all_parts():
    rows = [
        ["Feature", "QX3120", "QX3140"],
        ["Flash (KB)", "128", "256"],
        ["Boot ROM", Cell("32 KB", columns=2, align="centre")],
    ]
    found = read("Table 2. Feature comparison", (170, 100, 100), rows)
    assert {value for _, value in told(found, "memory.rom.size_bytes")} == {32 * KB}
    assert not any("QX" in (instance or "") for instance, _ in told(found, "memory.rom.size_bytes"))


def test_columns_of_caches_tell_which_cache_a_size_is_of():
    rows = [
        ["Parameter", "L1 I-cache", "L1 D-cache"],
        ["Capacity", "32 KiB", "16 KiB"],
        ["Associativity", "2-way", "4-way"],
        ["Line size", "64 bytes", "32 bytes"],
    ]
    found = {(c.field, c.value) for c in read("Table 5. Cache configuration", (140, 100, 100), rows)}
    assert found >= {
        ("cpu.l1i_cache.size_bytes", 32 * KB),
        ("cpu.l1d_cache.size_bytes", 16 * KB),
        ("cpu.l1i_cache.ways", 2),
        ("cpu.l1d_cache.ways", 4),
        ("cpu.l1i_cache.line_bytes", 64),
        ("cpu.l1d_cache.line_bytes", 32),
    }
    assert not {size for field, size in found if field.endswith("cache.size_bytes")} & {64, 32}


def test_modes_are_columns_too():
    rows = [
        ["Mode", "Low", "Medium", "High"],
        ["VDD_CORE (V)", "0.65", "0.72", "0.80"],
        ["Load", "1", "2", "3"],
    ]
    found = read("Table 3. Operating modes", (130, 80, 80, 80), rows, ruled=False)
    assert {("VDD_CORE Low", 0.65), ("VDD_CORE Medium", 0.72), ("VDD_CORE High", 0.8)} == {
        (f"{i.split()[0]} {i.split()[-1]}", v) for i, v in told(found, "power.supply_v") if v < 1
    }


def test_names_left_of_a_header_that_begins_with_its_bounds():
    rows = [
        ["", "MIN", "NOM", "MAX", "UNIT"],
        ["CVDD core supply voltage", "1.14", "1.2", "1.26", "V"],
        ["DVDD I/O supply voltage", "3.14", "3.3", "3.46", "V"],
    ]
    found = read("recommended operating conditions", (200, 60, 60, 60, 60), rows, ruled=False, align="left")
    bounds = {(c.min, c.typ, c.max) for c in found if c.field == "power.supply_v" and c.max}
    assert bounds == {(1.14, 1.2, 1.26), (3.14, 3.3, 3.46)}


def test_conditions_below_a_bound_part_its_numbers():
    rows = [
        [
            Cell("Symbol", rows=2),
            Cell("Mode", rows=2),
            Cell("Typ", columns=2, align="centre"),
            "Max",
            Cell("Unit", rows=2),
        ],
        ["25 °C", "85 °C", "85 °C"],
        ["IDD", "Stop mode", "1.1", "9.8", "22", "mA"],
        ["IDD", "Run mode", "5.2", "5.6", "6.9", "mA"],
    ]
    found = read("Table 9. Supply current", (60, 120, 60, 60, 60, 50), rows)
    currents = {
        ("25" in c.instance, c.typ, c.max) for c in found if c.field == "power.current_a" and "Stop" in c.instance
    }
    assert currents == {(True, 0.0011, None), (False, 0.0098, 0.022)}


def test_grades_that_stand_once_over_their_bounds():
    rows = [
        ["", "", Cell("K Grade", columns=2, align="centre"), Cell("B Grade", columns=2, align="centre"), ""],
        ["Parameter", "Description", "Min", "Max", "Min", "Max", "Unit"],
        ["VDDINT", "Core supply voltage", "1.25", "1.35", "1.14", "1.26", "V"],
        ["TAMB", "Ambient temperature", "0", "70", "-40", "85", "°C"],
    ]
    found = read("Operating conditions", (70, 130, 50, 50, 50, 50, 40), rows, ruled=False)
    supplies = {(c.instance.split(" ")[-2], c.min, c.max) for c in found if c.field == "power.supply_v" and c.max}
    assert supplies == {("K", 1.25, 1.35), ("B", 1.14, 1.26)}
    assert {(c.min, c.max) for c in found if c.field == "thermal.ambient_c"} == {(0, 70), (-40, 85)}


def test_interrupts_beside_addresses_are_read_with_them():
    rows = [
        ["Module", "Start", "End", "IRQ"],
        ["UART0", "0x4000_0000", "0x4000_0FFF", "12"],
        ["I2C1", "0x4000_1000", "0x4000_1FFF", "13"],
    ]
    found = read("Register address map", (100, 100, 100, 60), rows)
    assert told(found, "interrupts.irq") == {("UART0", 12), ("I2C1", 13)}
    assert told(found, "mmio.base") == {("UART0", "0x40000000"), ("I2C1", "0x40001000")}


def named(candidates, field):
    """What is told of something by name; the sheet's foot tells of the chip as a whole."""
    return {(instance, value) for instance, value in told(candidates, field) if instance}


def test_a_row_that_counts_cores_counts_those_of_each_column():
    rows = [
        ["Item", "Big core", "Little core"],
        ["Cores", "2", "4"],
        ["L2 cache", "1 MB, 16-way", "256 KB, 8-way"],
        ["GPU cores", "6", "6"],
    ]
    found = read("Table 4. Configuration", (170, 120, 120), rows)
    assert named(found, "cpu.cores") == {("Big core", 2), ("Little core", 4)}
    assert named(found, "cpu.l2_cache.size_bytes") == {("Big core", 1024 * KB), ("Little core", 256 * KB)}


def test_a_grade_of_speed_heads_a_column_and_the_rows_name_their_bounds():
    rows = [["Mode", "166 MHz", "200 MHz", "Unit"], ["Maximum", "16.5", "19.8", "W"], ["Doze", "1.6", "1.9", "W"]]
    found = read("1.4 Power consumption", (120, 90, 90, 60), rows)
    assert named(found, "power.max_w") >= {("Maximum 166 MHz", 16.5), ("Maximum 200 MHz", 19.8)}


def test_a_group_over_min_and_max_tells_whose_they_are():
    rows = [
        [Cell("Characteristic", rows=2), Cell("166 MHz", columns=2), Cell("200 MHz", columns=2), Cell("Unit", rows=2)],
        ["Min", "Max", "Min", "Max"],
        ["Processor frequency", "80", "166", "80", "200", "MHz"],
        ["SYSCLK frequency", "20", "66", "20", "66", "MHz"],
    ]
    found = read("1.3 AC characteristics", (150, 60, 60, 60, 60, 60), rows)
    assert named(found, "cpu.clock_hz") == {("166 MHz", 166 * MHZ), ("200 MHz", 200 * MHZ)}


def test_units_below_the_headers_are_those_of_the_columns():
    rows = [["Device", "Flash size", "SRAM size"], ["", "KB", "Mbit"], ["QX10", "96", "8"], ["QX20", "192", "16"]]
    found = read("Table 3. Devices", (120, 100, 100), rows)
    assert named(found, "memory.flash.size_bytes") == {("QX10", 96 * KB), ("QX20", 192 * KB)}
    assert named(found, "memory.sram.size_bytes") == {("QX10", 1024 * KB), ("QX20", 2048 * KB)}


def test_whether_a_part_has_something_is_no_part_of_its_name():
    rows = [
        ["Device", "Max. CPU frequency (MHz)", "DMA channels", "USB"],
        ["QX10", "64", "8", "No"],
        ["QX20", "96", "16", "Yes"],
    ]
    found = read("Table 3. Devices", (120, 170, 100, 60), rows)
    assert named(found, "cpu.clock_hz") == {("QX10", 64 * MHZ), ("QX20", 96 * MHZ)}
    assert named(found, "dma.channels") == {("QX10", 8), ("QX20", 16)}


def test_power_in_a_state_is_not_called_the_largest():
    rows = [["State", "Clock (MHz)", "Power (mW)"], ["Idle", "100", "120"], ["Run", "800", "2100"]]
    assert told(read("Power states", (120, 100, 100), rows), "power.max_w") == set()


def test_caches_as_rows_and_caches_as_columns_say_the_same():
    as_rows = [
        ["Cache", "Capacity", "Line size", "Associativity", "Write policy"],
        ["Instruction", "32 Kbytes", "32 bytes", "2-way", "-"],
        ["Data", "16 Kbytes", "64 bytes", "direct-mapped", "write-back"],
        ["Secondary", "2 Mbytes", "128 bytes", "4-way", "write-back"],
    ]
    as_columns = [
        ["", "I-cache", "D-cache", "L2 cache"],
        ["Size", "32 Kbytes", "16 Kbytes", "2 Mbytes"],
        ["Line size", "32 bytes", "64 bytes", "128 bytes"],
        ["Associativity", "2-way", "direct", "4-way"],
        ["Write policy", "-", "write-back", "write-back"],
    ]
    for rows in (as_rows, as_columns):
        found = read("Cache parameters", (120, 90, 90, 90, 90)[: len(rows[0])], rows)
        sizes = [{value for _, value in told(found, f"cpu.{cache}_cache.size_bytes")} for cache in ("l1i", "l1d", "l2")]
        assert sizes == [{32 * KB}, {16 * KB}, {2048 * KB}]
        lines = [{value for _, value in told(found, f"cpu.{cache}_cache.line_bytes")} for cache in ("l1i", "l1d")]
        assert lines == [{32}, {64}]
        ways = [{value for _, value in told(found, f"cpu.{cache}_cache.ways")} for cache in ("l1i", "l1d", "l2")]
        assert ways == [{2}, {1}, {4}]
        assert {value for _, value in told(found, "cpu.l1d_cache.write_policy")} == {"write-back"}


def test_a_row_called_data_in_another_table_is_no_cache():
    rows = [
        ["Memory", "Size", "Line size"],
        ["Instruction", "32 Kbytes", "32 bytes"],
        ["Data", "16 Kbytes", "64 bytes"],
    ]
    assert told(read("Scratch memories", (120, 90, 90), rows), "cpu.l1d_cache.size_bytes") == set()


def test_latencies_stand_below_their_header():
    rows = [
        ["Operation", "Latency", "Repeat"],
        ["Load", "2", "1"],
        ["FP add, double", "4", "1"],
        ["Multiply", "6", "3"],
    ]
    found = read("Instruction latencies", (160, 80, 80), rows)
    assert told(found, "latency.instruction_cycles") == {("Load", 2), ("FP add, double", 4)}
    assert told(found, "latency.multiplier_cycles") == {(None, 6)}
