"""How data sheets of microcontrollers say what a chip has, and exactly what is read of it; all chips are invented."""

import pytest
from phrase_reading import between, one, read, up_to

KB, MB = 1 << 10, 1 << 20

SAID = [
    # Oscillators: how true one is, is no range; what it provides
    ("Internal 40-kHz slow oscillator with ±5% accuracy", "", one("clock.rc_hz", 40e3)),
    ("12 MHz on-chip oscillator trimmed to ±2 %", "", one("clock.rc_hz", 12e6)),
    ("The FRC oscillator provides a nominal 9 MHz clock.", "", one("clock.rc_hz", 9e6)),
    ("The LSI clock has a frequency of around 37 kHz", "", one("clock.rc_hz", 37e3)),
    ("36 MHz Internal Reference Clock", "", one("clock.rc_hz", 36e6)),
    (
        "On-chip integrated oscillator works with an external crystal from 2 MHz to 20 MHz",
        "",
        one("clock.xtal_hz", between(2e6, 20e6)),
    ),
    # The chip's clock where no core is named
    ("DC to 90 MHz operation", "", one("cpu.clock_hz", up_to(90e6))),
    ("Speed: 0 - 24 MHz", "", one("cpu.clock_hz", up_to(24e6))),
    ("0 - 6MHz@2.0 - 5.5V", "Speed grades", set()),
    ("Up to 24 MIPS throughput at 24 MHz", "", one("cpu.mips", up_to(24)) | one("cpu.clock_hz", up_to(24e6))),
    ("They operate at a frequency of up to 150 MHz.", "General description", one("cpu.clock_hz", up_to(150e6))),
    ("It operates at up to 50 MHz.", "SPI", set()),
    # Supplies below their heading
    ("Voltage range: 1.65 to 3.6 V", "Operating characteristics", one("power.supply_v", between(1.65, 3.6))),
    ("Flash write voltage range: 1.65 to 3.6 V", "Operating characteristics", set()),
    ("2.0 - 5.5V", "Operating Voltages", one("power.supply_v", between(2.0, 5.5))),
]


@pytest.mark.parametrize(("text", "above", "expected"), SAID, ids=[text for text, _, _ in SAID])
def test_said(text, above, expected):
    assert read(text, *filter(None, [above])) == expected
