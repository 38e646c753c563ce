"""Register tables with other header words, and bare digits that may be hexadecimal."""

import pytest
from sheet_readings import read, said


def test_a_header_may_say_the_base_and_the_unit_of_its_numbers(tmp_path):
    table = "Addr Offset (Hex),Register,Width (bits),Reset (Hex)\n0,CTRL,32,3\n10,STAT,16,20\n20,DATA,8,0\n"
    reading = read(tmp_path, table)
    assert said(reading, "register.offset") == [("CTRL", "0x0"), ("STAT", "0x10"), ("DATA", "0x20")]
    assert said(reading, "register.width_bits") == [("CTRL", 32), ("STAT", 16), ("DATA", 8)]
    assert said(reading, "register.reset") == [("CTRL", "0x3"), ("STAT", "0x20"), ("DATA", "0x0")]


@pytest.mark.parametrize(
    ("offsets", "values"),
    [
        ("0 4 8 10 14", ["0x0", "0x4", "0x8", "0x10", "0x14"]),
        ("0 4 8 12 16", ["0x0", "0x4", "0x8", "0xc", "0x10"]),
        ("0 2 4 6 8 10", ["0x0", "0x2", "0x4", "0x6", "0x8", "0xa"]),
        ("0 4 8 C 10", ["0x0", "0x4", "0x8", "0xc", "0x10"]),
    ],
)
def test_bare_offsets_are_hexadecimal_where_only_that_steps_evenly(tmp_path, offsets, values):
    rows = "".join(f"R{at},{offset}\n" for at, offset in enumerate(offsets.split()))
    assert [value for _, value in said(read(tmp_path, f"Register,Offset\n{rows}"), "register.offset")] == values


def test_memory_maps_and_interrupts_in_other_words(tmp_path):
    table = "IP Name,Start Address,End Address\nUART0,0x4000_0000,0x4000_0FFF\nSRAM,0x20000000,0x2000FFFF\n"
    reading = read(tmp_path, table)
    assert said(reading, "mmio.base") == [("UART0", "0x40000000")]
    assert said(reading, "memory.region.size_bytes") == [("SRAM", 65536)]
    lines = read(tmp_path, "Vector No.,Interrupt Source\n16,UART0\n17,SPI0\n")
    assert said(lines, "interrupts.irq") == [("UART0", 16), ("SPI0", 17)]


def test_bare_digits_that_may_be_either_are_left_out_with_a_note(tmp_path):
    reading = read(tmp_path, "Block,Base\nUART0,0x40000000\nSPI0,4001_0000\n")
    assert said(reading, "mmio.base") == [("UART0", "0x40000000")]
    assert reading.notes == ("3, row 3: 4001_0000 of SPI0 may be hexadecimal or decimal.",)


def test_an_address_in_the_whole_chip_is_doubted_as_an_offset(tmp_path):
    (far,) = read(tmp_path, "Register,Address\nCTRL,0x40000000\n").candidates
    assert (far.value, far.confidence, far.condition) == ("0x40000000", 0.6, "an address in the whole chip")
    (near,) = read(tmp_path, "Register,Address\nCTRL,0x40\n").candidates
    assert (near.value, near.confidence, near.condition) == ("0x40", 0.98, None)
