"""Lists of specifications: a value behind a word or two, which elsewhere would say too little."""

import pytest
from phrase_reading import between, one, read, up_to

SAID = [
    ("Clock: 90 MHz", "Specifications", one("cpu.clock_hz", 90e6)),
    ("Frequency: up to 90 MHz", "Data sheet", one("cpu.clock_hz", up_to(90e6))),
    ("Max. frequency: 90 MHz", "Key facts", one("cpu.clock_hz", up_to(90e6))),
    ("Clock speed: 30 to 90 MHz", "Specifications", one("cpu.clock_hz", between(30e6, 90e6))),
    ("Clock: 90 MHz", "SPI specifications", set()),
    ("Clock: 90 MHz", "Reset", set()),
    ("Clock: 90 MHz input from the camera", "Specifications", set()),
    ("Voltage: 1.4 V", "Specifications", one("power.supply_v", 1.4)),
    ("Voltage range: 1.4 - 1.6 V", "Specifications", one("power.supply_v", between(1.4, 1.6))),
    ("Voltage: 1.4 V", "Analog specifications", set()),
    ("Cores: 6", "Specifications", one("cpu.cores", 6)),
    ("Number of cores: 3", "CPU", one("cpu.cores", 3)),
    ("Cores: 6", "GPU", set()),
    ("Pipeline depth: 9", "Processor", one("cpu.pipeline_stages", 9)),
    ("Registers: 24", "Core", one("cpu.registers", 24)),
    ("Registers: 24", "Timers", set()),
    ("Transistor count: 640,000", "Specifications", one("chip.transistors", 640_000)),
    ("Die size: 5 mm x 8 mm", "Specifications", one("chip.die_cm2", 0.4)),
    ("Instruction set: RV32IMAC", "Core", one("cpu.isa", "RV32IMAC")),
    ("Architecture: RV64IMAC", "Core", one("cpu.isa", "RV64IMAC")),
]


@pytest.mark.parametrize(("text", "above", "facts"), SAID)
def test_a_short_label_says_what_it_says(text, above, facts):
    assert read(text, above) == facts
