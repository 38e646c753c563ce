from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metainfer_core.spec.hardware_spec import Quantity
from metainfer_core.spec.quantities import (
    UNITS,
    QuantityError,
    ambiguity,
    format_quantity,
    key_unit,
    number,
    parse_quantity,
    unit,
)


@pytest.mark.parametrize(
    ("text", "base", "expected"),
    [
        ("512 KiB", "B", {"typ": 524288}),
        ("32KB", "B", {"typ": 32768}),
        ("32kB", "B", {"typ": 32768}),
        ("16-KByte", "B", {"typ": 16384}),
        ("64 K bytes", "B", {"typ": 65536}),
        ("8-kbyte", "B", {"typ": 8192}),
        ("4 Kbit", "B", {"typ": 512}),
        ("3 MB", "B", {"typ": 3145728}),
        ("2.2-2.4 GHz", "Hz", {"min": 2.2e9, "max": 2.4e9}),
        ("up to 240 MHz", "Hz", {"max": 2.4e8}),
        ("≥ 100 kHz", "Hz", {"min": 1e5}),
        ("12±1 cycles", "cycles", {"min": 11, "typ": 12, "max": 13}),
        ("from 8 to 23 cycles", "cycles", {"min": 8, "max": 23}),
        ("3.3 V ± 5 %", "V", {"min": 3.135, "typ": 3.3, "max": 3.465}),
        ("2.2-2.4 V", "V", {"min": 2.2, "max": 2.4}),
        ("-40 ~ 85 °C", "degC", {"min": -40, "max": 85}),
        ("–40∼125℃", "degC", {"min": -40, "max": 125}),
        ("212 °F", "degC", {"typ": 100}),
        ("25.6 GB/s", "GB/s", {"typ": 25.6}),
        ("204.8 Gbit/s", "GB/s", {"typ": 25.6}),
        ("512 MiB/s", "GB/s", {"typ": 0.536870912}),
        ("6TOPs", "TOPS", {"typ": 6}),
        ("38.4 GFLOPS", "TOPS", {"typ": 0.0384}),
        ("1866 MT/s", "MT/s", {"typ": 1866}),
        ("350 mA", "A", {"typ": 0.35}),
        ("35 µs", "us", {"typ": 35}),
        ("1,920 MHz", "Hz", {"typ": 1.92e9}),
        ("0x8000 B", "B", {"typ": 32768}),
    ],
)
def test_a_text_becomes_the_base_unit_and_a_range_stays_a_range(
    text: str, base: str, expected: dict[str, float]
) -> None:
    assert parse_quantity(text, UNITS[base]) == Quantity(**expected)


@pytest.mark.parametrize(
    ("text", "base", "fault"),
    [
        ("fast", "Hz", "no_number"),
        ("", "B", "no_number"),
        ("12", "B", "missing_unit"),
        ("12 bananas", "B", "unknown_unit"),
        ("12 mhz", "Hz", "unknown_unit"),
        ("5 W", "V", "wrong_dimension"),
        ("5 MHz", "B", "wrong_dimension"),
        ("64 bit/s", "B", "wrong_dimension"),
        ("20-10 V", "V", "broken_range"),
        ("9" * 300, "B", "no_number"),
    ],
)
def test_what_is_no_quantity_is_told_by_kind(text: str, base: str, fault: str) -> None:
    with pytest.raises(QuantityError) as caught:
        parse_quantity(text, UNITS[base])
    assert caught.value.fault == fault


def test_milli_and_mega_bit_and_byte_are_told_apart_by_case() -> None:
    assert UNITS["mW"].factor * 1000 == UNITS["W"].factor
    assert UNITS["MB"].factor == 8 * UNITS["Mbit"].factor == 2**20
    assert unit("MW") is None


@pytest.mark.parametrize(
    ("text", "words"),
    [("64 KB", "1,000 B elsewhere"), ("64 Kb", "8 times"), ("10 Gbps", "8 times"), ("64K", "alone"), ("64 KiB", "")],
)
def test_a_unit_that_may_be_misread_says_how(text: str, words: str) -> None:
    assert words in ambiguity(text)
    assert bool(ambiguity(text)) == bool(words)


def test_keys_tell_their_unit_and_a_kernel_width_is_no_power() -> None:
    names = {
        key: (found.name if (found := key_unit(key)) else None) for key in ("kernel_w", "power_max_w", "line_bytes")
    }
    assert names == {"kernel_w": None, "power_max_w": "W", "line_bytes": "B"}


def test_printed_numbers_are_exact() -> None:
    assert [number(text) for text in ("0x0004_0000", "−40", "1e3", ".5")] == [262144, -40, 1000, number("0.5")]


@given(st.sampled_from(sorted(UNITS)), st.integers(min_value=-(10**6), max_value=10**6))
def test_every_unit_of_the_table_is_read_in_its_own_base(spelling: str, count: int) -> None:
    base = UNITS[spelling]
    assert parse_quantity(f"{count} {spelling}", base) == Quantity(typ=float(count))


@given(st.sampled_from(["B", "Hz", "cycles", "GB/s", "W", "degC"]), st.floats(0, 1e15) | st.integers(0, 2**50))
def test_what_is_written_is_read_back_exactly(base: str, value: float) -> None:
    written = format_quantity(float(value), UNITS[base])
    read = parse_quantity(written, UNITS[base]).typ if isinstance(written, str) else written
    assert read == value
