"""One fact at two places is one reading, shown where the document is about it."""

from hwdoc_ingest.rules.rule import Tagged
from hwdoc_ingest.statements.statement import Statement
from hwdoc_ingest.sureness.best_place import told_by
from hwdoc_ingest.sureness.confidence import weighed
from metainfer_core.spec.drafting.draft import Candidate


def said(field, value=None, page=1, confidence=0.9, **more):
    defaults = {"text": f"{field} {value} {page}", "method": "sentence-rule", "source": "d"}
    return Candidate(field=field, value=value, page=page, confidence=confidence, **defaults | more)


def readings(*candidates):
    return sorted(
        {(w.candidate.instance, w.candidate.value, w.candidate.max, w.places) for w in weighed(candidates)}, key=str
    )


def test_a_number_without_a_name_is_said_of_the_one_that_has_it():
    clock = said("cpu.clock_hz", 1e9, instance="EH1"), said("cpu.clock_hz", 1e9, page=59)
    assert readings(*clock) == [("EH1", 1e9, None, 2)]


def test_a_number_that_two_things_have_stays_without_a_name():
    cores = [
        said("cpu.cores", 4, instance="A76"),
        said("cpu.cores", 4, page=2, instance="A55"),
        said("cpu.cores", 4, page=3),
    ]
    assert readings(*cores) == [("A55", 4, None, 1), ("A76", 4, None, 1), (None, 4, None, 1)]


def test_what_contradicts_itself_without_a_name_is_given_none():
    l2 = [
        said("cpu.l2_cache.size_bytes", 512, instance="A76"),
        *(said("cpu.l2_cache.size_bytes", n, page=9) for n in (512, 2048)),
    ]
    assert {(w.candidate.instance, w.candidate.value, w.contested) for w in weighed(l2)} == {
        ("A76", 512, False),
        (None, 512, True),
        (None, 2048, True),
    }


def test_the_size_of_a_memory_and_a_supply_keep_standing_for_the_whole_chip():
    rail = said("power.supply_v", 3.3, instance="VDDIO"), said("power.supply_v", 3.3, page=2)
    assert readings(*rail) == [("VDDIO", 3.3, None, 1), (None, 3.3, None, 1)]


def test_a_number_is_the_largest_where_another_place_says_so():
    assert readings(said("cpu.clock_hz", 240e6), said("cpu.clock_hz", max=240e6, page=2)) == [(None, None, 240e6, 2)]
    two = [
        said("cpu.clock_hz", max=240e6, page=2),
        said("cpu.clock_hz", min=1e6, max=300e6, page=3),
        said("cpu.clock_hz", 240e6),
    ]
    assert (None, None, 240e6, 2) in readings(*two)


def test_a_list_that_another_place_gives_in_full_is_left_out():
    types = said("npu.data_types", ("INT8", "FP16")), said("npu.data_types", ("INT8", "FP16", "BF16"), page=2)
    assert readings(*types) == [(None, ("INT8", "FP16", "BF16"), None, 1)]
    other = said("npu.data_types", ("INT8", "INT4")), said("npu.data_types", ("INT8", "FP16", "BF16"), page=2)
    assert len(readings(*other)) == 2


def test_a_size_that_two_units_could_own_is_left_out_where_the_document_tells_it_elsewhere():
    both = [
        said(f"{unit}.l2_cache.size_bytes", n, page=16, text="(4x256KB L2 Cache) 2D")
        for unit, n in (("cpu", 262144), ("gpu", 1 << 20))
    ]
    assert len(readings(*both)) == 2
    told = said("cpu.l2_cache.size_bytes", 524288, page=6, confidence=0.95)
    assert (None, 262144, None, 1) not in readings(*both, told)


def test_the_section_about_a_thing_is_shown_before_a_table_a_feature_and_a_diagram():
    def place(*path, cells=()):
        return Tagged(Statement(2, "8 KB cache", (), (), path, cells, False), ())

    ranks = [
        told_by(place("3.1 Caches"), "cpu.l1d_cache.size_bytes"),
        told_by(place("1.2 Features"), "cpu.l1d_cache.size_bytes"),
        told_by(place("9 Debugging"), "cpu.l1d_cache.size_bytes"),
        told_by(place("Block diagram", "Caches"), "cpu.l1d_cache.size_bytes"),
    ]
    assert ranks == [3, 1, 0, -1]


def test_a_reading_is_shown_first_at_its_best_place():
    front, body = said("dma.channels", 8, page=1), said("dma.channels", 8, page=30, confidence=0.8)
    pages = [w.candidate.page for w in weighed([front, body], lambda c: 3 if c.page == 30 else 1)]
    assert pages == [30, 1]
    assert [w.candidate.confidence for w in weighed([front, body], lambda c: 0)] == [0.975, 0.975]


def test_a_name_that_says_its_kind_as_well_is_the_same_name():
    cores = [said("cpu.cores", 2, page=25, instance="32-bit LX7"), said("cpu.cores", 2, page=26, instance="LX7")]
    assert readings(*cores, said("cpu.cores", 2, page=3)) == [("LX7", 2, None, 3)]
