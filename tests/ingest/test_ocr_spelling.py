"""Misread glyphs are mended only where a quantity can be meant in one way; else they are left, or doubted."""

import pytest

from hwdoc_ingest.ocr.ocr_spelling import DOUBTED, MENDED, mend_quantities
from hwdoc_ingest.page.pages import Word


def words(text):
    return [Word(t, (10.0 * i, 0.0, 10.0 * i + 9, 9.0), 9.0, 8.0, sure=0.96) for i, t in enumerate(text.split())]


def mended(text):
    return " ".join(word.text for word in mend_quantities(words(text)))


@pytest.mark.parametrize(
    ("seen", "meant"),
    [
        ("24MH2", "24MHz"),
        ("1.8 GHZ,", "1.8 GHz,"),
        ("400KHZ", "400kHz"),
        ("1O0MHz", "100MHz"),
        ("l28KB", "128KB"),
        ("5I2KB.", "512KB."),
        ("(6S536 bytes)", "(6S536 bytes)"),
        ("6S536bytes", "65536bytes"),
        ("150 rnA", "150 mA"),
        ("0xFFOO_0000", "0xFF00_0000"),
        ("OxlF", "0x1F"),
        ("-65°°C to +150°°C", "-65°C to +150°C"),
        ("Dissipation . . . . 1.5 Watt", "Dissipation .... 1.5 Watt"),
        ("Temperature . . .-65°C", "Temperature .... -65°C"),
    ],
)
def test_what_can_only_be_meant_in_one_way_is_mended(seen, meant):
    assert mended(seen) == meant


@pytest.mark.parametrize(
    "text",
    [
        "I2S IO SOS LOS OSI 5S S3V A0 VIO",
        "MHZ is written so in a title",
        "the unit H2 of chapter 3",
        "32 KB and 32 Kb and 4 Mbit",
        "10 ms or 10 Ms",
        "3.3V .5V 0.9V 5V",
        "OOKB lOOMHz",
        "Features. It has a cache.",
    ],
)
def test_what_may_be_meant_otherwise_is_left(text):
    assert mended(text) == text
    assert all(word.sure == 0.96 for word in mend_quantities(words(text)))


def test_a_mended_word_is_less_sure_and_a_lost_point_is_doubted():
    mhz, plain = mend_quantities(words("24MH2 24MHz"))
    assert (mhz.sure, plain.sure) == (0.96 * MENDED, 0.96)
    (lost,) = mend_quantities(words("09V"))
    assert (lost.text, lost.sure) == ("09V", DOUBTED)


def test_a_leader_reaches_from_its_first_dot_to_its_last():
    leader = mend_quantities(words("Power . . . 1.5"))[1]
    assert (leader.text, leader.box) == ("....", (10.0, 0.0, 39.0, 9.0))
