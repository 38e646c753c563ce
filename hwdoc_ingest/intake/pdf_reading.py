"""Reads a PDF: pages to words (text layer or OCR), words to statements, statements to candidates."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from hwdoc_ingest.binding.bind import bind
from hwdoc_ingest.binding.witnesses import evidence
from hwdoc_ingest.intake.so_far import SoFar
from hwdoc_ingest.layout.key_values import read_key_values
from hwdoc_ingest.layout.sections import Outline, body_size, statements
from hwdoc_ingest.layout.table_column import Table
from hwdoc_ingest.layout.tables import PathAt, read_tables
from hwdoc_ingest.ocr.ocr_pages import as_shown, read_page
from hwdoc_ingest.ocr.ocr_spaces import mend_spaces
from hwdoc_ingest.ocr.ocr_spelling import mend_names
from hwdoc_ingest.operators.operator_tables import read_operator_tables
from hwdoc_ingest.page.drawn_bullets import mark_items
from hwdoc_ingest.page.pages import Box, Page, PdfFile
from hwdoc_ingest.page.ruled_columns import ruled_gutter
from hwdoc_ingest.page.text_lines import drop_furniture, right_column, text_lines
from hwdoc_ingest.reading import Found, Progress, Reading, no_progress
from hwdoc_ingest.rules import FIND_RULES, PARAMETERS, QUANTITY_RULES
from hwdoc_ingest.rules.core_names import core_names
from hwdoc_ingest.rules.rule import Tagged
from hwdoc_ingest.statements.chinese_terms import in_english, sentences
from hwdoc_ingest.statements.statement import Statement
from hwdoc_ingest.statements.tagger import RuleTagger, Tagger
from hwdoc_ingest.sureness.best_place import told_by
from hwdoc_ingest.sureness.calibration import Evidence
from hwdoc_ingest.sureness.calibration import shipped as calibrated
from hwdoc_ingest.sureness.confidence import thing, weighed
from hwdoc_ingest.sureness.several_parts import said_of_parts
from metainfer_core.errors import InputError
from metainfer_core.files import MEBIBYTE, read_bytes
from metainfer_core.spec.drafting.draft import Candidate, DraftSource
from metainfer_core.values import sha256


def read_pdf(path: Path, key: str, progress: Progress, found: Found | None = None) -> Reading:
    """All candidates of a PDF file; raises InputError when it is locked, broken or too large."""
    data = read_bytes(path, "PDF", 512 * MEBIBYTE)
    return read_pdf_bytes(data, key, path.name, progress, found=found)


def read_pdf_bytes(
    data: bytes,
    key: str,
    file_name: str,
    progress: Progress,
    tagger: Tagger | None = None,
    found: Found | None = None,
) -> Reading:
    """All candidates of a PDF.

    Args:
        data: The file's bytes.
        key: Key of the document in the draft's sources.
        file_name: Its name, for messages and as its title.
        progress: Called for every page.
        tagger: Marks spans; by rules if not given.
        found: Takes what the pages read so far say, now and then.
    """
    tagger = tagger or RuleTagger(PARAMETERS)
    digest = sha256(data)

    def reading(pages: Sequence[Page], progress: Progress, notes: tuple[str, ...] = ()) -> Reading:
        source = DraftSource(
            title=Path(file_name).stem,
            document_digest=digest,
            file_name=file_name,
            pages=len(pages),
            pages_by_ocr=tuple(page.number for page in pages if page.by_ocr),
        )
        tables = read_operator_tables(pages, key)
        rest = [replace(page, words=(), rulings=()) if page.number in tables.pages else page for page in pages]
        candidates = (*candidates_of(rest, key, tagger, progress), *tables.candidates)
        return Reading(key=key, source=source, candidates=candidates, notes=notes)

    so_far = SoFar(found, lambda pages: reading(pages, no_progress))
    with PdfFile(data, file_name) as file:
        pages, notes = read_pages(file, progress, so_far.pages)
    return reading(pages, progress, notes)


def read_pages(
    file: PdfFile, progress: Progress, so_far: Callable[[Sequence[Page]], None] = lambda _: None
) -> tuple[tuple[Page, ...], tuple[str, ...]]:
    """The words of all pages, and notes on what could not be read; `so_far` is called after each page."""
    pages: list[Page] = []
    notes: list[str] = []
    for number in range(1, file.count + 1):
        page, note = read_page(file, number)
        pages.append(page)
        notes += [note] if note else []
        progress("reading pages", number, file.count)
        so_far(pages)
    if all(page.is_broken for page in pages):
        raise InputError(f"{file.name}: none of its {file.count:,} pages can be read.", notes[0], "Get the file again.")
    return tuple(pages), tuple(notes)


def candidates_of(pages: Sequence[Page], key: str, tagger: Tagger, progress: Progress) -> tuple[Candidate, ...]:
    """What the pages of one document seem to say, each with its chance of being right."""
    calibration = calibrated()
    found = [(each, calibration.chance(known)) for each, known in weighed_candidates(pages, key, progress, tagger)]
    surest: dict[object, float] = {}
    for candidate, chance in found:  # a reading is right at all its places or at none
        surest[thing(candidate)] = max(chance, surest.get(thing(candidate), 0.0))
    return tuple(Candidate(**{**each.__dict__, "confidence": surest[thing(each)]}) for each, _ in found)


def weighed_candidates(
    pages: Sequence[Page], key: str, progress: Progress, tagger: Tagger | None = None
) -> list[tuple[Candidate, Evidence]]:
    """What the pages seem to say, weighed against each other, with what speaks for it."""
    tagger = tagger or RuleTagger(PARAMETERS)
    said = document_statements(drop_furniture(mend_names(mend_spaces(mark_items(pages)))), progress)
    found = [in_english(sentence) for each in said for sentence in sentences(each)]
    cores = core_names(found)
    found = [replace(each, cores=cores) for each in found]
    numbered = {page.number: page for page in pages}
    candidates: list[Candidate] = []
    origins: dict[tuple[object, str, str], Tagged] = {}
    for statement, spans in zip(found, tagger.tag(found), strict=True):
        page, tagged = numbered[statement.page], Tagged(statement, spans)
        for bound in bind(tagged, key, tagger.name, QUANTITY_RULES, FIND_RULES):
            candidate = _on_page(bound, page)
            candidates.append(candidate)
            origins.setdefault((candidate.page, candidate.field, candidate.text), tagged)
    told = said_of_parts(candidates, lambda c: origins[c.page, c.field, c.text])
    kept = weighed(told, lambda c: told_by(origins[c.page, c.field, c.text], c.field))
    said_in = [origins[c.page, c.field, c.text] for c in (each.candidate for each in kept)]
    return list(zip([each.candidate for each in kept], evidence(kept, said_in), strict=True))


def _on_page(candidate: Candidate, page: Page) -> Candidate:
    """The candidate with its box on the page as shown; a scanned page was read straightened."""
    if candidate.box is None or not page.skew:
        return candidate
    left, top, right, bottom = as_shown(candidate.box, page)
    box = round(left, 2), round(top, 2), round(right, 2), round(bottom, 2)
    return Candidate(**{**candidate.__dict__, "box": box})


def document_statements(pages: Sequence[Page], progress: Progress = no_progress) -> list[Statement]:
    """Sentences and table rows of all pages, in the order of the pages."""
    return list(_statements(pages, progress))


def _statements(pages: Sequence[Page], progress: Progress) -> Iterator[Statement]:
    lines_of = [text_lines(page) for page in pages]
    size = body_size([line for lines in lines_of for line in lines])
    outline = Outline()
    open_table: Table | None = None
    for page, lines in zip(pages, lines_of, strict=True):
        progress("reading sentences and tables", page.number, len(pages))
        if not page.matters:
            open_table = None
            for _ in statements(page.number, lines, outline, size, page.by_ocr):
                pass  # its headings stand in the outline then
            continue
        rows, used, open_table = read_tables(page, open_table)
        rest = tuple(word for at, word in enumerate(page.words) if at not in used)
        pairs, paired = read_key_values(replace(page, words=rest))
        prose = replace(page, words=tuple(word for at, word in enumerate(rest) if at not in paired))
        first, marks = outline.path(), list[tuple[Box, tuple[str, ...]]]()
        for statement in statements(page.number, text_lines(prose), outline, size, page.by_ocr):
            box = statement.box(0, len(statement.text))
            marks += [(box, outline.path())] if box else []
            yield statement
        path_at = PathAt(first, marks, right_column(page if ruled_gutter(page) else prose))
        for pair in pairs:
            yield replace(pair, path=(*path_at(pair.box(0, len(pair.text))), *pair.path))
        for row in rows:
            path = (*path_at(row.box(0, len(row.text))), *row.path)
            yield Statement(row.page, row.text, row.words, row.places, path, row.cells, row.by_ocr)
