"""Sections are found in real binaries of 64 and 32 bits, and broken files end in one error."""

import shutil
import subprocess
from pathlib import Path

import pytest

from metainfer_core.codegen.elf import section
from metainfer_core.errors import InputError

SOURCE = '__attribute__((section(".metainfer"), used)) const char table[8] = "metainf1";\n'


@pytest.fixture(scope="module")
def binary(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    folder = tmp_path_factory.mktemp("elf")
    (folder / "table.c").write_text(SOURCE)
    subprocess.run(["gcc", "-c", "-o", "table.o", "table.c"], cwd=folder, check=True)
    return (folder / "table.o").read_bytes()


def test_a_section_is_found(binary: bytes) -> None:
    assert section(binary, ".metainfer") == b"metainf1"


def test_a_32_bit_file_is_read_too(tmp_path: Path) -> None:
    assembler = shutil.which("as")
    assert assembler is not None
    (tmp_path / "table.s").write_text('.section .metainfer,"a"\n.ascii "metainf1"\n')
    subprocess.run([assembler, "--32", "-o", "table.o", "table.s"], cwd=tmp_path, check=True)
    assert section((tmp_path / "table.o").read_bytes(), ".metainfer") == b"metainf1"


def test_a_missing_section_is_named(binary: bytes) -> None:
    with pytest.raises(InputError, match=r"0 sections named \.other"):
        section(binary, ".other")


@pytest.mark.parametrize("data", [b"", b"\x7fELF", b"MZ" + bytes(100), b"\x7fELF\x02\x02" + bytes(100)])
def test_other_files_are_refused(data: bytes) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        section(data, ".metainfer")


def test_no_cut_or_flipped_byte_ends_in_a_traceback(binary: bytes) -> None:
    for at in range(len(binary)):
        flipped = binary[:at] + bytes([binary[at] ^ 0xFF]) + binary[at + 1 :]
        for broken in (binary[:at], flipped):
            try:
                assert isinstance(section(broken, ".metainfer"), bytes)
            except InputError:
                continue
