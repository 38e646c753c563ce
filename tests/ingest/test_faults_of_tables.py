"""Faults 19 and 20: values that land in a wrong column of a table, or are sure of one that nobody can tell."""

import itertools
import random

import pytest
from drawn_tables import Cell, Sheet, read_cells, statements_of

from hwdoc_ingest.intake.pdf_reading import read_pdf_bytes
from hwdoc_ingest.reading import no_progress

HEADER = ("Parameter", "Conditions", "Min", "Typ", "Max", "Unit")
WIDTHS = (130, 110, 55, 55, 55, 45)
BOUNDS = ("Min", "Typ", "Max")
PAIRS = [(0, 1), (1, 2), (0, 2)]
ALIGNMENTS = ("left", "centre", "right")
GATE = 0.97


def line(name, conditions, low, middle, high, unit, align="centre"):
    """One row without spans."""
    values = [Cell(each, align=align) for each in (low, middle, high)]
    return [Cell(name), Cell(conditions), *values, Cell(unit)]


def spanning(first, last, text, align):
    """A row whose value stands in one cell over the columns `first` to `last` of Min, Typ and Max."""
    before, after = [Cell("")] * first, [Cell("")] * (2 - last)
    over = Cell(text, columns=last - first + 1, align=align)
    return [Cell("Supply current"), Cell("no load"), *before, over, *after, Cell("mA")]


def spanned_row(first, last, align, header_align="centre", size=9, scale=1.0):
    """The row with the spanning cell as it was read, between two rows without."""
    sheet = Sheet(size=size)
    rows = [
        [Cell(each, align=header_align) for each in HEADER],
        line("Supply voltage", "", "4.5", "5", "16", "V"),
        spanning(first, last, "18", align),
        line("Reset voltage", "", "0.4", "0.5", "1", "V"),
    ]
    sheet.table(20, 40, [width * scale for width in WIDTHS], rows, ruled=True)
    _, read, _ = statements_of(sheet.done())
    cells = read_cells(read)
    assert cells["Parameter"][0] == "Supply current"
    return {bound: cells[bound] for bound in BOUNDS if bound in cells}


LOOKS = list(itertools.product(("left", "centre"), (7, 9), (1.0, 1.15)))


@pytest.mark.parametrize(("header_align", "size", "scale"), LOOKS)
@pytest.mark.parametrize("align", ALIGNMENTS)
@pytest.mark.parametrize(("first", "last"), PAIRS)
def test_fault_19_a_value_over_several_columns(first, last, align, header_align, size, scale):
    found = spanned_row(first, last, align, header_align, size, scale)
    ((column, (words, ambiguous)),) = found.items()
    assert words == "18"
    printed = {"left": BOUNDS[first], "right": BOUNDS[last], "centre": None}[align]
    assert ambiguous or column == printed


@pytest.mark.parametrize("align", ALIGNMENTS)
@pytest.mark.parametrize("column", range(3))
def test_fault_19_a_value_in_a_cell_of_its_own_is_sure(column, align):
    """The doubt is for spans alone: else everything could be called ambiguous."""
    values = ["", "", ""]
    values[column] = "18"
    sheet = Sheet()
    rows = [
        [Cell(each, align="centre") for each in HEADER],
        line("Supply current", "no load", *values, "mA", align=align),
        spanning(0, 2, "7", "centre"),
    ]
    sheet.table(20, 40, WIDTHS, rows, ruled=True)
    cells = read_cells(statements_of(sheet.done())[0])
    assert {bound: cells[bound] for bound in BOUNDS if bound in cells} == {BOUNDS[column]: ("18", False)}


def test_fault_19_a_timer_with_a_limit_over_all_columns():
    """As the sheet of a well-known timer has it: the limit stands in one cell from Min to Max, printed under Max."""
    sheet = Sheet()
    sheet.words(20, 30, "TK556 timer", 14)
    sheet.words(20, 50, "Electrical characteristics", 11)
    rows = [
        [Cell(each, align="centre") for each in ("PARAMETER", "TEST CONDITIONS", "MIN", "TYP", "MAX", "UNIT")],
        line("Supply voltage", "", "4.5", "", "16", "V"),
        [Cell("Supply current", rows=2), Cell("VCC = 5 V"), Cell(""), Cell("3", align="centre"),
         Cell("6", align="centre"), Cell("mA", rows=2)],
        [Cell("VCC = 15 V"), Cell("10", columns=3, align="centre")],
        [Cell("Storage temperature"), Cell(""), Cell("150", columns=3, align="right"), Cell("°C")],
    ]  # fmt: skip
    sheet.table(20, 60, WIDTHS, rows, ruled=True)
    found = read_pdf_bytes(sheet.done(), "k", "tk556.pdf", no_progress).candidates
    said = {each.field: each for each in found if each.field != "power.current_a"}
    assert (said["power.supply_v"].min, said["power.supply_v"].max) == (4.5, 16)
    assert (said["thermal.storage_c"].min, said["thermal.storage_c"].max) == (None, 150)
    currents = {each.typ: each for each in found if each.field == "power.current_a"}
    assert currents[0.003].max == 0.006
    others = [each for each in found if each.field == "power.current_a" and each is not currents[0.003]]
    assert all(each.confidence < currents[0.003].confidence for each in others)


# Twelve shapes ------------------------------------------------------------------------------------------------------

NAMES = (
    "Supply voltage", "Supply current", "Input leakage", "Output low level", "Rise time", "Fall time", "Clock period",
    "Setup time", "Hold time", "Storage temperature", "Reset pulse", "Start-up time", "Drive strength", "Pull-up",
)  # fmt: skip
UNITS = ("V", "mA", "ns", "MHz", "pF", "μA")


class Rows:
    """Invented rows with their truth: header to words, for the columns that hold any."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.names = self.random.sample(NAMES, len(NAMES))

    def row(self, blank=0.3):
        low = round(self.random.uniform(0.1, 40), self.random.choice((0, 1, 2)))
        values = [f"{low:g}", f"{low * 2:g}", f"{low * 3:g}"]
        values = [each if self.random.random() > blank else "" for each in values]
        if not any(values):
            values[2] = f"{low * 3:g}"
        conditions = self.random.choice(("", "no load", "TA = 25 °C", "normal mode"))
        return [self.names.pop(), conditions, *values, self.random.choice(UNITS)]


def truth(row, header=HEADER):
    return {name: words for name, words in zip(header, row, strict=True) if words}


def cells(row, align):
    return [Cell(row[0]), Cell(row[1]), *(Cell(each, align=align) for each in row[2:5]), Cell(row[5])]


def header_cells(align, names=HEADER):
    return [Cell(each, align=align) for each in names]


def plain(rows, sheet, align, ruled=True):
    made = [rows.row() for _ in range(6)]
    sheet.table(20, 40, WIDTHS, [header_cells(align), *(cells(each, align) for each in made)], ruled)
    return [truth(each) for each in made]


def unruled_with_blanks(rows, sheet, align):
    return plain(rows, sheet, align, ruled=False)


def tight_columns(rows, sheet, align):
    made = [rows.row(blank=0.1) for _ in range(6)]
    widths = (95, 68, 32, 32, 32, 30)
    sheet.table(20, 40, widths, [header_cells(align), *(cells(each, align) for each in made)], True)
    return [truth(each) for each in made]


def row_span(rows, sheet, align):
    made, drawn = [], [header_cells(align)]
    for _ in range(3):
        first = rows.row()
        more = [[first[0], f"mode {number}", *rows.row()[2:5], first[5]] for number in (1, 2)]
        rows.names += [first[0]]
        drawn.append([Cell(first[0], rows=2), *cells(more[0], align)[1:5], Cell(first[5], rows=2)])
        drawn.append(cells(more[1], align)[1:5])
        made += more
        rows.names.remove(first[0])
        rows.names = rows.names or list(NAMES)
    sheet.table(20, 40, WIDTHS, drawn, True)
    return [truth(each) for each in made]


def column_span(rows, sheet, align):
    made, drawn = [], [header_cells(align)]
    for number in range(6):
        row = rows.row(blank=0)
        if number % 2:
            row[2:5] = ["", "", row[4]]
            over = Cell(row[4], columns=3, align="right")
            drawn.append([Cell(row[0]), Cell(row[1]), over, Cell(row[5])])
        else:
            drawn.append(cells(row, align))
        made.append(row)
    sheet.table(20, 40, WIDTHS, drawn, True)
    return [truth(each) for each in made]


def header_again(rows, sheet, align):
    made = [rows.row() for _ in range(8)]
    for part in (made[:4], made[4:]):
        sheet.table(20, 300, WIDTHS, [header_cells(align), *(cells(each, align) for each in part)], True)
        if part is made[:4] or part == made[:4]:
            sheet.next_page()
    return [truth(each) for each in made]


def goes_on_without_header(rows, sheet, align):
    made = [rows.row() for _ in range(8)]
    sheet.table(20, 300, WIDTHS, [header_cells(align), *(cells(each, align) for each in made[:4])], True)
    sheet.next_page()
    sheet.table(20, 40, WIDTHS, [cells(each, align) for each in made[4:]], True)
    return [truth(each) for each in made]


def footnote_marks(rows, sheet, align):
    made, drawn = [], [header_cells(align)]
    for number in range(6):
        row = rows.row()
        line_ = cells(row, align)
        at = next(i for i in (2, 3, 4) if row[i])
        if number % 2:
            line_[at] = Cell(row[at], align=align, raised="2")
        made.append(row)
        drawn.append(line_)
    below = sheet.table(20, 40, WIDTHS, drawn, True)
    sheet.words(24, below + 14, "2. Not tested in production.", 7)
    return [truth(each) for each in made]


def cells_of_many_lines(rows, sheet, align):
    made, drawn = [], [header_cells(align)]
    for number in range(5):
        row = rows.row()
        if number % 2:
            row[0] = f"{row[0]} of the\nregulator in sleep"
        drawn.append(cells(row, align))
        made.append([row[0].replace("\n", " "), *row[1:]])
    sheet.table(20, 40, WIDTHS, drawn, True, pitch=13)
    return [truth(each) for each in made]


def header_of_two_lines(rows, sheet, align):
    made = [rows.row() for _ in range(6)]
    names = ("Parameter", "Test\nconditions", "Min.\nvalue", "Typ.\nvalue", "Max.\nvalue", "Unit")
    drawn = [header_cells(align, names), *(cells(each, align) for each in made)]
    sheet.table(20, 40, WIDTHS, drawn, True, pitch=13)
    return [truth(each, [name.replace("\n", " ") for name in names]) for each in made]


def side_by_side(rows, sheet, align):
    names = ("Parameter", "Min", "Max", "Unit")
    made = []
    for left in (15, 290):
        part = [[row[0], row[2], row[4], row[5]] for row in (rows.row(blank=0.1) for _ in range(5))]
        drawn = [[Cell(a), Cell(b, align=align), Cell(c, align=align), Cell(d)] for a, b, c, d in part]
        sheet.table(left, 40, (110, 50, 50, 40), [header_cells(align, names), *drawn], True)
        made += part
    return [truth(each, names) for each in made]


def last_line_near_the_next_cell(rows, sheet, align):
    made = []
    for _ in range(6):
        row = rows.row()
        row[1] = rows.random.choice(("all outputs open, VI = 5 V", "f = 72 MHz, all units on", "after 10 ms of rest"))
        made.append(row)
    widths = (110, 118, 50, 50, 50, 45)
    sheet.table(20, 40, widths, [header_cells(align), *(cells(each, align) for each in made)], True)
    return [truth(each) for each in made]


SHAPES = {
    shape.__name__.replace("_", " "): shape
    for shape in (
        plain, unruled_with_blanks, tight_columns, row_span, column_span, header_again, goes_on_without_header,
        footnote_marks, cells_of_many_lines, header_of_two_lines, side_by_side, last_line_near_the_next_cell,
    )
}  # fmt: skip


def read_as_printed(shape, seed, align, size):
    """How many words of the table there are, and how many were read in their column of their row."""
    sheet = Sheet(size=size)
    expected = SHAPES[shape](Rows(seed), sheet, align)
    read = [read_cells(each) for each in statements_of(sheet.done())]
    total = right = 0
    for wanted in expected:
        own = max(
            read, key=lambda row: sum(row.get(name, ("",))[0] == words for name, words in wanted.items()), default={}
        )
        total += len(wanted)
        right += sum(own.get(name, ("",))[0] == words for name, words in wanted.items())
        if own in read:
            read.remove(own)
    return total, right


def accuracy(shape):
    counts = [
        read_as_printed(shape, seed, align, size)
        for seed in range(3)
        for align in ("left", "centre")
        for size in (7.5, 9)
    ]
    return sum(right for _, right in counts) / sum(total for total, _ in counts)


@pytest.mark.parametrize("shape", SHAPES)
def test_fault_20_words_stand_in_the_columns_that_they_are_printed_in(shape):
    assert accuracy(shape) >= GATE


def test_fault_20_a_shifted_column_would_be_noticed(monkeypatch):
    def shifted(rows, sheet, align):
        return [{**each, "Min": "1000"} for each in plain(rows, sheet, align)]

    monkeypatch.setitem(SHAPES, "shifted", shifted)
    assert accuracy("shifted") < GATE
