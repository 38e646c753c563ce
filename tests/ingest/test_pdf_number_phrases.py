"""Number phrases as data sheets print them."""

import pytest

from hwdoc_ingest.statements.number_phrases import find_amounts


def phrases(text):
    return [(text[a.start : a.end], a.values, a.form, a.dimension) for a in find_amounts(text)]


@pytest.mark.parametrize(
    ("text", "values", "form", "dimension"),
    [
        ("64KB L1 cache", (65536.0,), "single", "bytes"),
        ("a 16-KByte cache", (16384.0,), "single", "bytes"),
        ("8 kbytes, direct mapping", (8192.0,), "single", "bytes"),
        ("64 K bytes of memory", (65536.0,), "single", "bytes"),
        ("4 Kbit eFuse", (4096.0,), "single", "bits"),
        ("32bits/64bits data width", (32.0, 64.0), "list", "bits"),
        ("64K/64K L1 I/D cache", (65536.0,), "single", "bytes"),
        ("16 or 32bits data width", (16.0, 32.0), "list", "bits"),
        ("sizes (4, 8, 16 or 512KB)", (4096.0, 8192.0, 16384.0, 524288.0), "list", "bytes"),
        ("16, 32, 64 (in KB)", (16384.0, 32768.0, 65536.0), "list", "bytes"),
        ("16 KB (one bank) or 32 KB (two banks)", (16384.0, 32768.0), "list", "bytes"),
        ("2.2-2.4 GHz", (2.2e9, 2.4e9), "range", "frequency"),
        ("-40~125°C", (-40.0, 125.0), "range", "temperature"),
        ("0°C to +70°C", (0.0, 70.0), "range", "temperature"),
        ("2.1 V min - 2.3 V max", (2.1, 2.3), "range", "voltage"),
        ("5V ± 10%", (4.5, 5.0, 5.5), "tolerance", "voltage"),
        ("3.4 μs latency", (3.4e-6,), "single", "time"),
        ("up to 6TOPs", (6e12,), "single", "operation rate"),
        ("21.7 MFlops peak", (21.7e6,), "single", "operation rate"),
        ("four-way set associative", (4,), "single", "count"),
        ("32K 指令缓存", (32768.0,), "single", "bytes"),
        ("integrates48KB", (49152.0,), "single", "bytes"),
    ],
)
def test_reads(text, values, form, dimension):
    first = find_amounts(text)[0]
    assert (first.form, first.dimension) == (form, dimension)
    assert first.values == pytest.approx(values, rel=1e-12)


def test_several_in_one_sentence_stay_apart():
    assert [values for _, values, *_ in phrases("64KB L1 cache, 64KB data cache and 512KB L2 cache")] == [
        (65536.0,),
        (65536.0,),
        (524288.0,),
    ]


def test_fahrenheit_is_not_taken_for_celsius():
    assert [round(v) for a in find_amounts("100°C (212°F)") for v in a.values] == [100, 100]


@pytest.mark.parametrize("text", ["see Table 14", "Section 2.7 says", "Rev 1.4", "Figure 3"])
def test_numbers_of_tables_and_sections_are_no_amounts(text):
    assert find_amounts(text) == ()


def test_a_number_in_a_name_is_no_amount():
    assert [a for a in find_amounts("Cortex-A76 and VDD3P3_CPU and DDR3L") if a.unit] == []
