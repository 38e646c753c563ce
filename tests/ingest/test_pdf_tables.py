"""Tables of small PDFs: Min/Typ/Max by centre, merged cells, stacked values, headers carried over."""

import io

import pytest
from reportlab.pdfgen.canvas import Canvas

from hwdoc_ingest.layout.tables import read_tables
from hwdoc_ingest.page.pages import PdfFile

COLUMNS = {"Parameter": 40, "Symbol": 160, "Min": 240, "Typ": 290, "Max": 340, "Unit": 390}


def table_pdf(draw, pages=1):
    out = io.BytesIO()
    canvas = Canvas(out, pagesize=(450, 300), invariant=1)
    for number in range(pages):
        canvas.setFont("Helvetica", 9)
        draw(canvas, number)
        canvas.showPage()
    canvas.save()
    return out.getvalue()


def header(c, y, columns=COLUMNS):
    for name, x in columns.items():
        c.drawString(x, y, name)


def row(c, y, columns=COLUMNS, **cells):
    for name, text in cells.items():
        middle = columns[name] + c.stringWidth(name, "Helvetica", 9) / 2
        if name in ("Min", "Typ", "Max"):
            c.drawCentredString(middle, y, text)
        else:
            c.drawString(columns[name], y, text)


def rows_of(data):
    found, still_open = [], None
    with PdfFile(data, "t") as file:
        for number in range(1, file.count + 1):
            rows, _, still_open = read_tables(file.page(number), still_open)
            found += rows
    return [{(cell.header, cell.bound): r.cell_text(cell) for cell in r.cells} for r in found]


def test_numbers_stand_under_the_header_that_their_centre_is_under():
    def draw(c, _):
        header(c, 250)
        row(c, 235, Parameter="Supply voltage", Symbol="VDD", Max="18", Unit="V")
        row(c, 220, Parameter="Ambient temperature", Symbol="TA", Min="0", Typ="NA", Max="80", Unit="°C")

    first, second = rows_of(table_pdf(draw))
    assert first == {
        ("Parameter", None): "Supply voltage",
        ("Symbol", None): "VDD",
        ("Max", "max"): "18",
        ("Unit", None): "V",
    }
    assert (second["Min", "min"], second["Typ", "typ"], second["Max", "max"]) == ("0", "NA", "80")


def test_a_value_printed_under_max_in_a_merged_cell_is_not_a_minimum():
    def draw(c, _):
        header(c, 250)
        row(c, 235, Parameter="Supply voltage", Max="18", Unit="V")
        for y in (260, 246, 230):  # the cell spans Min to Max: no upright ruling between them
            c.line(35, y, 420, y)
        for x in (35, 230, 380, 420):
            c.line(x, 230, x, 260)

    (only,) = rows_of(table_pdf(draw))
    assert only["Max", "max"] == "18"
    assert ("Min", "min") not in only


def test_a_cell_merged_over_rows_is_said_of_each():
    def draw(c, _):
        header(c, 250)
        c.drawString(40, 222, "Ambient temperature")
        c.drawCentredString(COLUMNS["Min"] + 8, 222, "-40")
        for y, (part, high) in zip((235, 222, 209), (("A", "105"), ("B", "85"), ("C", "65")), strict=True):
            row(c, y, Symbol=part, Max=high)
        c.drawString(390, 222, "°C")
        for y in (246, 204):
            c.line(35, y, 420, y)
        for y in (232, 219):
            c.line(155, y, 230, y)
            c.line(330, y, 375, y)

    rows = rows_of(table_pdf(draw))
    assert [(r["Symbol", None], r["Min", "min"], r["Max", "max"], r["Unit", None]) for r in rows] == [
        ("A", "-40", "105", "°C"),
        ("B", "-40", "85", "°C"),
        ("C", "-40", "65", "°C"),
    ]


def test_a_word_beside_all_that_is_ruled_is_in_no_merged_cell():
    def draw(c, _):
        header(c, 250)
        for y, name in ((235, "Clock"), (222, "Bus clock"), (209, "Port clock")):
            row(c, y, Parameter=name, Max="20", Unit="MHz")
        c.drawString(430, 222, "see")
        for y in (246, 232, 219, 204):
            c.line(35, y, 420, y)

    rows = rows_of(table_pdf(draw))
    assert [(r["Parameter", None], "see" in str(r.values())) for r in rows] == [
        ("Clock", False),
        ("Bus clock", True),
        ("Port clock", False),
    ]


def words_beside(ruled_to):
    """Whether each row holds the three words that stand right of the last header."""

    def draw(c, _):
        header(c, 250)
        for y, name in ((235, "Clock"), (222, "Bus clock"), (209, "Port clock")):
            row(c, y, Parameter=name, Max="20", Unit="V")
        c.drawString(436, 222, "as a b")
        for y in (246, 232, 219, 204):
            c.line(35, y, ruled_to, y)

    return ["as a b" in str(r.values()) for r in rows_of(table_pdf(draw))]


def test_words_right_of_the_last_header_belong_to_a_table_that_is_ruled_so_far():
    assert words_beside(ruled_to=449) == [False, True, False]
    assert words_beside(ruled_to=420) == [False, False, False]


def test_values_stacked_in_one_cell_are_rows_of_their_own():
    def draw(c, _):
        header(c, 250)
        c.drawString(40, 235, "Supply current:")
        for y, speed, amount in ((222, "16 MHz", "315"), (209, "20 MHz", "360")):
            c.drawString(40, y, speed)
            row(c, y, Max=amount, Unit="mA")
        for y in (246, 200):
            c.line(35, y, 420, y)
        c.line(35, 246, 35, 200)
        c.line(420, 246, 420, 200)

    rows = rows_of(table_pdf(draw))
    assert [(r["Parameter", None], r["Max", "max"]) for r in rows] == [
        ("Supply current: 16 MHz", "315"),
        ("Supply current: 20 MHz", "360"),
    ]


def test_two_triples_under_group_headers_are_told_apart():
    columns = {"Parameter": 30, "Min": 150, "Typ": 190, "Max": 230}

    def draw(c, _):
        c.drawString(180, 262, "-70A")
        c.drawString(320, 262, "-85")
        header(c, 250, columns)
        header(c, 250, {"Min": 290, "Typ": 330, "Max": 370, "Unit": 410})
        c.drawString(30, 235, "Core supply voltage")
        for x, text in ((150, "3.1"), (190, "3.3"), (230, "3.6"), (290, "3.4"), (330, "3.5"), (370, "3.7"), (410, "V")):
            c.drawString(x, 235, text)

    (only,) = rows_of(table_pdf(draw))
    assert only["-70A Max", "max"] == "3.6"
    assert only["-85 Min", "min"] == "3.4"


def test_a_table_goes_on_at_the_head_of_the_next_page_without_its_header():
    def draw(c, number):
        if number == 0:
            header(c, 80)
            for i, y in enumerate((65, 50, 35, 20)):
                row(c, y, Parameter=f"First {i}", Symbol="a", Min="1", Max="2", Unit="V")
        else:
            for i, y in enumerate((280, 265)):
                row(c, y, Parameter=f"Second {i}", Symbol="b", Min="3", Max="4", Unit="V")

    rows = rows_of(table_pdf(draw, pages=2))
    assert [(r["Parameter", None], r["Max", "max"]) for r in rows[-2:]] == [("Second 0", "4"), ("Second 1", "4")]


def test_prose_beside_and_below_is_no_row():
    def draw(c, _):
        header(c, 250)
        row(c, 235, Parameter="Supply voltage", Min="1", Max="2", Unit="V")
        c.drawString(
            40, 195, "The values above were measured on a board with ten layers at room temperature, and not in a case."
        )

    assert len(rows_of(table_pdf(draw))) == 1


@pytest.mark.parametrize("gap", [9, 12, 40])
def test_columns_that_stand_close_are_columns(gap):
    """A typesetter's usual 12 points between columns are less than the gap that parts pieces of a line."""
    cells = [
        ("Module", "Start address", "Size", "Description"),
        ("ITCM_RAM", "0x22020000", "64KB", "data of the first core"),
        ("OTHERRAM", "0x22030000", "96KB", "data of the radio"),
        ("BOOTROM", "0x90000000", "32KB", "what is run first"),
    ]
    out = io.BytesIO()
    canvas = Canvas(out, pagesize=(595, 842), invariant=1)
    canvas.setFont("Helvetica", 10)
    places = [60.0]
    for column in range(3):
        places.append(places[-1] + max(canvas.stringWidth(row[column], "Helvetica", 10) for row in cells) + gap)
    for at, row in enumerate(cells):
        for x, words in zip(places, row, strict=True):
            canvas.drawString(x, 700 - 14 * at, words)
    canvas.save()
    assert [list(each.values()) for each in rows_of(out.getvalue())] == [list(row) for row in cells[1:]]
