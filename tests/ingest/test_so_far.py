from pathlib import Path

import pytest

from hwdoc_ingest.intake import so_far
from hwdoc_ingest.intake.pdf_reading import read_pdf_bytes
from hwdoc_ingest.reading import no_progress
from hwdoc_ingest.sample.command import DATASHEET, sample_files


def test_every_page_is_handed_out_once_while_the_rest_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(so_far, "FIRST_AFTER_SECONDS", 0.0)
    monkeypatch.setattr(so_far, "SHARE", float("inf"))
    parts = []
    data = sample_files()[DATASHEET]
    whole = read_pdf_bytes(data, "sheet", Path(DATASHEET).name, no_progress, found=parts.append)
    assert len(parts) == whole.source.pages > 2
    assert [part.source.document_digest for part in parts] == [whole.source.document_digest] * len(parts)
    pages = [{candidate.page for candidate in part.candidates} for part in parts]
    assert all(found <= {number} for number, found in enumerate(pages, start=1))
    early = {(each.field, each.value, each.page, each.box) for part in parts for each in part.candidates}
    late = {(each.field, each.value, each.page, each.box) for each in whole.candidates}
    assert len(early & late) > 0.8 * len(late)


def test_a_document_that_is_read_at_once_is_not_read_twice() -> None:
    parts = []
    handed = so_far.SoFar(parts.append, lambda pages: pytest.fail(f"{len(pages)} pages were read early"))
    handed.pages([])
    assert parts == []
