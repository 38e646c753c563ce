"""Whole documents in house styles that no rule was written for: found, wrong, and what must not be read out of them."""

import pytest
from invented_sheets import SHEETS

from hwdoc_ingest.fields import candidate_json
from hwdoc_ingest.intake.pdf_reading import read_pdf_bytes
from hwdoc_ingest.judging.scoring import judge
from hwdoc_ingest.reading import no_progress


@pytest.fixture(scope="module", params=sorted(SHEETS))
def read(request):
    data, facts = SHEETS[request.param]()
    reading = read_pdf_bytes(data, "doc", f"{request.param}.pdf", no_progress)
    return request.param, facts, [candidate_json(candidate) for candidate in reading.candidates]


def test_facts_are_found_and_nothing_is_wrong(read):
    _, facts, candidates = read
    judgement = judge(candidates, facts)
    missed = [fact["field"] for at, fact in enumerate(facts) if at not in judgement.found]
    wrong = [(candidates[at]["field"], candidates[at].get("value")) for at, _ in judgement.wrong]
    assert (missed, wrong) == ([], [])


def test_every_value_stands_in_the_words_it_is_quoted_from(read):
    _, _, candidates = read
    assert candidates
    for candidate in candidates:
        assert candidate["text"].strip()
        assert len(candidate["box"]) == 4


@pytest.mark.parametrize(
    ("name", "field", "value"),
    [
        ("brief", "npu.tops", 1.2),  # of an earlier member of the family
        ("brief", "power.supply_v", 5),  # of a kit
        ("brief", "memory.dram.max_size_bytes", 4 << 30),
        ("manual", "memory.sram.size_bytes", 64 << 10),  # told in the revision history
        ("manual", "cpu.l1i_cache.size_bytes", 64 << 10),  # an example
        ("manual", "cpu.l1d_cache.size_bytes", 4 << 10),  # a half
        ("manual", "dma.channels", 4),  # a status register
        ("electrical", "thermal.storage_c", 20),  # a reel in its dry pack
        ("electrical", "power.supply_v", 4),  # an absolute maximum
        ("soft_core", "cpu.l1i_cache.size_bytes", 2 << 10),  # of an older core
        ("soft_core", "cpu.l1i_cache.size_bytes", 321 << 10),  # a footnote mark is no digit
    ],
)
def test_decoys_are_not_read(name, field, value):
    data, _ = SHEETS[name]()
    for candidate in read_pdf_bytes(data, "doc", name, no_progress).candidates:
        said = candidate.value if isinstance(candidate.value, tuple) else (candidate.value,)
        if candidate.field == field:
            assert value not in (*said, candidate.min, candidate.max)
