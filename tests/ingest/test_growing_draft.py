from pathlib import Path

from hwdoc_ingest.drafting.growing_draft import GrowingDraft
from hwdoc_ingest.reading import Reading
from metainfer_core.spec.drafting.draft import Candidate, DraftSource, SpecDraft


def reading(key: str, *pages: int) -> Reading:
    source = DraftSource(title=key, document_digest="sha256:" + "0" * 64, file_name=f"{key}.pdf")
    found = (Candidate(field="cpu.cores", value=page, source=key, page=page) for page in pages)
    return Reading(key=key, source=source, candidates=tuple(found))


def pages_in(path: Path) -> list[tuple[str, object]]:
    draft = SpecDraft.from_json(path.read_bytes())
    assert draft.chip == "tarn"
    return [(each.source, each.page) for each in draft.candidates]


def test_a_draft_grows_and_a_whole_reading_takes_the_place_of_its_parts(tmp_path: Path) -> None:
    path = tmp_path / "growing" / "tarn.json"
    growing = GrowingDraft("tarn", path)
    growing.found(reading("a", 1))
    assert pages_in(path) == [("a", 1)]
    growing.found(reading("a", 2, 3))
    assert pages_in(path) == [("a", 1), ("a", 2), ("a", 3)]
    growing.read(reading("a", 1, 3))
    growing.found(reading("b", 7))
    assert pages_in(path) == [("a", 1), ("a", 3), ("b", 7)]
    growing.remove()
    growing.remove()
    assert not path.exists()
