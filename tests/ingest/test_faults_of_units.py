"""Fault 21: ranges that are averaged, prefixes that are misread. Two hundred phrases as data sheets print them."""

import pytest

from hwdoc_ingest.statements.number_phrases import find_amounts
from metainfer_core.spec.quantities import UNITS, parse_quantity, unit

K, M, G = 1 << 10, 1 << 20, 1 << 30
"""Of bytes and bits: memory is counted in powers of two; rates and clocks are decimal."""

SIZES = """
64KB bytes 65536 | 64 KB bytes 65536 | 64 Kbytes bytes 65536 | 64 kbytes bytes 65536 | 64-KByte bytes 65536
64 K bytes bytes 65536 | 64 KiB bytes 65536 | 64KiB bytes 65536 | 64 kB bytes 65536 | 64 kilobytes bytes 65536
1 MB bytes 1048576 | 4 MiB bytes 4194304 | 1.5 MB bytes 1572864 | 16 Mbytes bytes 16777216 | 0.5 MB bytes 524288
2 GB bytes 2147483648 | 8 GiB bytes 8589934592 | 1 TB bytes 1099511627776 | 256 B bytes 256 | 512 bytes bytes 512
1,024 bytes bytes 1024 | 128 Mb bits 134217728 | 128 Mbit bits 134217728 | 128 Mbits bits 134217728
4 Kbit bits 4096 | 4 Kbits bits 4096 | 4 Kb bits 4096 | 8 Gb bits 8589934592 | 8 Gbit bits 8589934592
512 bits bits 512 | 32 bit bits 32 | 2 Kibit bits 2048 | 256 Kb bits 262144 | 1 Mb bits 1048576
64 kByte bytes 65536 | 64 KBytes bytes 65536 | 2 Mbyte bytes 2097152 | 10 MBytes bytes 10485760
256 K bytes bytes 262144
1 bit bits 1 | 16 Mibit bits 16777216 | 64-bit bits 64 | 32-bits bits 32 | 20 KB bytes 20480 | 96KB bytes 98304
"""
RATES = """
1.8 GHz frequency 1.8e9 | 800 MHz frequency 8e8 | 32.768 kHz frequency 32768 | 50 Hz frequency 50
1200MHz frequency 1.2e9 | 24 mhz frequency 2.4e7 | 1.2 ghz frequency 1.2e9 | 100 KHz frequency 1e5
3200 MT/s transfer_rate 3.2e9 | 6.4 GT/s transfer_rate 6.4e9 | 2133 MT/s transfer_rate 2.133e9
12.8 GB/s bandwidth 12.8e9 | 480 MB/s bandwidth 4.8e8 | 25.6 GB/s bandwidth 25.6e9 | 10 GiB/s bandwidth 10737418240
1 Gbit/s bandwidth 1.25e8 | 480 Mbit/s bandwidth 6e7 | 5 Gbps bandwidth 6.25e8 | 480 Mbps bandwidth 6e7
6 TOPS operation_rate 6e12 | 0.5 TOPS operation_rate 5e11 | 500 GOPS operation_rate 5e11
32 GFLOPS operation_rate 3.2e10 | 1,200 MHz frequency 1.2e9 | 2.5 Gb/s bandwidth 3.125e8 | 400 kB/s bandwidth 4e5
100 MBytes/s bandwidth 1e8 | 1.5 GHz frequency 1.5e9 | 3.2 Gbit/s bandwidth 4e8
1.2 TFLOPS operation_rate 1.2e12 | 21.7 MFLOPS operation_rate 2.17e7 | 2.3 tops operation_rate 2.3e12
100 GOP/s operation_rate 1e11 | 16 GT/s transfer_rate 1.6e10 | 1 MHz frequency 1e6 | 400 Mbit/s bandwidth 5e7
"""
ELECTRICAL = """
3.3 V voltage 3.3 | 3.3V voltage 3.3 | 900 mV voltage 0.9 | 5 volts voltage 5 | 0.85 V voltage 0.85
12 kV voltage 12000 | 0.3 mA current 3e-4 | 6 ns time 6e-9 | 85 C temperature 85 | 1 V voltage 1 | 3.00 V voltage 3
50 mA current 0.05 | 1.2 A current 1.2 | 14 uA current 1.4e-5 | 14 μA current 1.4e-5 | 14 µA current 1.4e-5
250 nA current 2.5e-7 | 2.4 W power 2.4 | 500 mW power 0.5 | 30 watts power 30 | 10 uW power 1e-5 | 5 μW power 5e-6
85 °C temperature 85 | 85°C temperature 85 | -40 °C temperature -40 | 125 degC temperature 125 | 85℃ temperature 85
47.5 °C/W thermal_resistance 47.5 | 12 K/W thermal_resistance 12 | 7 nm length 7e-9 | 28nm length 2.8e-8
0.18 um length 1.8e-7 | 0.13 μm length 1.3e-7 | 5 microns length 5e-6 | 12 mm length 0.012
10 ns time 1e-8 | 3.4 μs time 3.4e-6 | 3.4 us time 3.4e-6 | 20 ms time 0.02 | 2 s time 2 | 100 ns time 1e-7
4 cycles cycles 4 | 12 clock cycles cycles 12 | 1 cycle cycles 1 | 7 clocks cycles 7 | 16 beats beats 16
"""
RANGES = """
1.62-3.6 V voltage 1.62 3.6 | 1.62 - 3.6 V voltage 1.62 3.6 | 1.62 to 3.6 V voltage 1.62 3.6
1.62 V to 3.6 V voltage 1.62 3.6 | 1.62~3.6V voltage 1.62 3.6 | 1.62V-3.6V voltage 1.62 3.6
1.62…3.6 V voltage 1.62 3.6 | -0.3 V to 4.0 V voltage -0.3 4 | -0.3 to 4.0 V voltage -0.3 4
0.5-1.5 GHz frequency 5e8 1.5e9
-40 to 85 °C temperature -40 85 | -40 °C to +85 °C temperature -40 85 | -40~125°C temperature -40 125
-65 to 150°C temperature -65 150 | 0 to 70 °C temperature 0 70 | -40°C ~ 105°C temperature -40 105
-55…125 °C temperature -55 125 | 2.2-2.4 GHz frequency 2.2e9 2.4e9 | 4 to 16 MHz frequency 4e6 16e6
4-16MHz frequency 4e6 16e6 | 4 MHz to 16 MHz frequency 4e6 16e6 | 100 to 400 kHz frequency 1e5 4e5
2 to 5 cycles cycles 2 5 | 2-5 cycles cycles 2 5 | 10 to 20 ns time 1e-8 2e-8 | 10-20 ns time 1e-8 2e-8
5-10 mA current 0.005 0.01 | 5 to 10 mA current 0.005 0.01 | 0.5 to 1.5 W power 0.5 1.5 | 8-64 KB bytes 8192 65536
8 to 64 KB bytes 8192 65536 | 16KB~128KB bytes 16384 131072 | 1 MB to 4 MB bytes 1048576 4194304
1 to 2 Gbit bits 1073741824 2147483648 | 800 to 1600 MT/s transfer_rate 8e8 1.6e9 | 0.9-1.1V voltage 0.9 1.1
2.5V~5.5V voltage 2.5 5.5 | 1.71 to 1.89 V voltage 1.71 1.89 | 3 至 5 V voltage 3 5
2.1 V min - 2.3 V max voltage 2.1 2.3 | 1.8 V to 3.3 V voltage 1.8 3.3 | 500 mV to 1.1 V voltage 0.5 1.1
100 kHz to 1 MHz frequency 1e5 1e6 | 4 and up to 16 MHz frequency 4e6 16e6
"""
TOLERANCES = """
5V ± 10% voltage 4.5 5 5.5 | 3.3 V ± 5% voltage 3.135 3.3 3.465 | 12±1 cycles cycles 11 12 13
1.8V±0.1V voltage 1.7 1.8 1.9 | 12 ± 1 cycles cycles 11 12 13
24 MHz ± 1% frequency 2.376e7 2.4e7 2.424e7 | 3.3V +/- 10% voltage 2.97 3.3 3.63
"""
LISTS = """
16, 32, 64 KB bytes 16384 32768 65536 | 4, 8, 16 or 512KB bytes 4096 8192 16384 524288 | 8 or 16 bits bits 8 16
16/32 bits bits 16 32 | 1.8V/3.3V voltage 1.8 3.3 | 1.8 V, 2.5 V and 3.3 V voltage 1.8 2.5 3.3
 600, 800 and 1000 MHz frequency 6e8 8e8 1e9 | 16, 32 (in KB) bytes 16384 32768
"""
FORMS = {"single": SIZES + RATES + ELECTRICAL, "range": RANGES, "tolerance": TOLERANCES, "list": LISTS}
LENGTHS = {"single": 1, "range": 2, "tolerance": 3}


def _line(entry, form):
    words = entry.split()
    at = next(i for i in range(len(words) - 1, 0, -1) if words[i].replace("_", "").isalpha() and i < len(words) - 1)
    return " ".join(words[:at]), words[at].replace("_", " "), form, tuple(map(float, words[at + 1 :]))


PHRASES = [
    _line(entry.strip(), form)
    for form, table in FORMS.items()
    for entry in table.replace("\n", "|").split("|")
    if entry.strip()
]
SENTENCES = [
    ("4 MiB L2 cache", (4 * M,), "bytes"),
    ("a 4 MiB L2", (4 * M,), "bytes"),
    ("128 Mb SDRAM", (128 * M,), "bits"),
    ("two banks, 128 Mb each", (128 * M,), "bits"),
    ("512 KB shared L2 cache", (512 * K,), "bytes"),
    ("DDR3-1600 up to 1 GB", (1 * G,), "bytes"),
    ("up to 1.8 GHz", (1.8e9,), "frequency"),
    ("50 mA at 85 °C", (0.05,), "current"),
    ("typically 3.4 μs", (3.4e-6,), "time"),
    ("supply of 1.62-3.6 V", (1.62, 3.6), "voltage"),
    ("VDD from 1.62 V to 3.6 V", (1.62, 3.6), "voltage"),
    ("bus width of 64 bits", (64.0,), "bits"),
]
NO_SIZE = [
    "64K x 16 SRAM array",
    "1 Mohm pull-up",
    "1 MΩ pull-up",
    "10 K ohm resistor",
    "10 kΩ",
    "115.2K baud",
    "64K entries",
]
"""A K or an M that counts no bytes; and a resistance is neither molar nor a size."""


def test_fault_21_the_table_has_its_two_hundred_lines():
    assert len(PHRASES) + len(SENTENCES) + len(NO_SIZE) >= 200
    assert len({phrase for phrase, *_ in PHRASES}) == len(PHRASES)
    assert all(len(values) == LENGTHS[form] for _, _, form, values in PHRASES if form in LENGTHS)


@pytest.mark.parametrize(("phrase", "dimension", "form", "values"), PHRASES, ids=[phrase for phrase, *_ in PHRASES])
def test_fault_21_a_phrase_alone_and_in_a_sentence(phrase, dimension, form, values):
    for text in (phrase, f"It has {phrase}.", f"({phrase})"):
        (amount,) = find_amounts(text)
        assert (amount.form, amount.dimension) == (form, dimension), text
        assert amount.values == pytest.approx(values, rel=1e-9), text


@pytest.mark.parametrize(("text", "values", "dimension"), SENTENCES, ids=[text for text, *_ in SENTENCES])
def test_fault_21_the_first_amount_of_a_sentence(text, values, dimension):
    first = next(each for each in find_amounts(text) if each.unit is not None)
    assert (first.values, first.dimension) == (pytest.approx(values, rel=1e-9), dimension)


@pytest.mark.parametrize("text", NO_SIZE)
def test_fault_21_what_counts_no_bytes_is_no_size(text):
    assert [each for each in find_amounts(text) if each.dimension in ("bytes", "bits")] == []


def test_fault_21_value_and_condition_stay_apart():
    current, temperature = find_amounts("50 mA at 85 °C")
    assert (current.values, current.dimension) == ((0.05,), "current")
    assert (temperature.values, temperature.dimension) == ((85.0,), "temperature")


def test_fault_21_a_size_in_powers_of_ten_has_its_base_on_record():
    """`KB` is read by the base that the table states, and carries the doubt; `KiB` leaves none."""
    for letter, power in (("K", 1), ("M", 2), ("G", 3), ("T", 4)):
        doubted, certain = UNITS[f"{letter}B"], UNITS[f"{letter}iB"]
        assert doubted.factor == certain.factor == 1024**power
        assert f"{1024**power:,} B" in doubted.doubt
        assert f"{1000**power:,} B elsewhere" in doubted.doubt
        assert certain.doubt == ""
    assert parse_quantity("64 KB", unit("B")).typ == 65536
