"""Documents of bad faith: each ends in one clear message, and takes no more than it may."""

import os
import socket
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from hwdoc_ingest.intake.intake import Limits, read_safely
from hwdoc_ingest.intake.read_document import kind_of
from hwdoc_ingest.reading import no_progress
from metainfer_core.errors import InputError, MetaInferError

TREE = "/ { #address-cells = <1>; #size-cells = <1>; uart: serial@1000 { reg = <0x1000 0x100>; }; };\n"


def write(folder, name, data):
    path = folder / name
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return path


@pytest.mark.parametrize(
    ("name", "start", "kind"),
    [
        ("a.txt", b"%PDF-1.7\n", "pdf"),
        ("a.bin", b"junk before\n%PDF-1.4\n", "pdf"),
        ("a.pdf", b"<?xml version='1.0'?><!-- x --><device/>", "svd"),
        ("a.pdf", b"\xef\xbb\xbf<device>", "svd"),
        ("a", b"/dts-v1/;\n/ {\n};\n", "device-tree"),
        ("a.csv", b'&uart0 {\n\tstatus = "okay";\n};\n', "device-tree"),
        ("a", b"\xd0\x0d\xfe\xed" + bytes(60), "device-tree-blob"),
        ("a.dts", b"Register,Offset\nA,0x0\n", "table"),
        ("a.dts", "Register\tOffset\n".encode("utf-16"), "table"),
    ],
)
def test_the_kind_stands_in_the_first_bytes(tmp_path, name, start, kind):
    assert kind_of(write(tmp_path, name, start)) == kind


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("a.pdf", b"", "is empty"),
        ("a.pdf", b"\x00" * 5000, "is empty"),
        ("a.pdf", b"MZ\x90\x00\x03" + bytes(100), "this is a Windows program"),
        ("a.pdf", b"\x7fELF" + bytes(100), "this is a Linux program"),
        ("a.xlsx", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(100), "locked with a password"),
        ("a.xlsx", b"PK\x03\x04 and then nothing", "archive is broken"),
        ("a.pdf", b"\x89PNG\r\n\x1a\n", "this is a PNG picture"),
        ("a.svd", b"<html><body/></html>", "outermost element is <html>"),
        ("a.svd", b"<!-- only a comment -->", "outermost element is <>"),
        ("a.dts", b"Dear reader\nthis is a letter.\n", "no device tree, SVD or table"),
        ("a.dts", bytes(range(1, 256)) * 9, "binary file of no known kind"),
    ],
)
def test_what_is_no_document(tmp_path, name, data, message):
    with pytest.raises(InputError) as fault:
        kind_of(write(tmp_path, name, data))
    assert message in str(fault.value)
    assert fault.value.fix


def test_an_archive_that_is_no_workbook(tmp_path):
    path = tmp_path / "a.xlsx"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("word/document.xml", "<document/>")
    with pytest.raises(InputError, match="no workbook"):
        kind_of(path)


@pytest.mark.parametrize("name", ["missing.pdf", ".", "nul\0byte"])
def test_what_is_no_file(tmp_path, name):
    with pytest.raises(InputError):
        read_safely(tmp_path / name, "k", no_progress)


def test_a_file_that_is_too_large(tmp_path):
    path = write(tmp_path, "a.dts", TREE + "\n" * (16 << 20))
    with pytest.raises(InputError, match="too large"):
        kind_of(path)


def test_reading_in_a_child_gives_what_reading_here_gives(tmp_path):
    steps = []
    reading = read_safely(write(tmp_path, "a.dts", TREE), "key", lambda *step: steps.append(step))
    assert [(c.field, c.value, c.source) for c in reading.candidates] == [("mmio.base", "0x1000", "key")]
    assert steps[0] == ("parsing the device tree", 0, 0)


def test_an_error_in_the_child_is_the_same_error_here(tmp_path):
    with pytest.raises(InputError, match=r"a\.dts:2: ") as fault:
        read_safely(write(tmp_path, "a.dts", "/ {\n a = <1 2;\n};"), "k", no_progress)
    assert fault.value.fix == "Give the file as its vendor has it."


def test_too_slow(tmp_path):
    with pytest.raises(InputError, match="takes too long"):
        read_safely(write(tmp_path, "a.dts", TREE), "k", no_progress, Limits(silent_seconds=0.01))


def big_svd(folder):
    register = "<register><name>R</name><addressOffset>0</addressOffset></register>"
    peripheral = f"<peripheral><name>P</name><registers>{register * 300_000}</registers></peripheral>"
    return write(folder, "big.svd", f"<device><peripherals>{peripheral}</peripherals></device>")


def test_too_much_memory(tmp_path):
    with pytest.raises(InputError, match=r"more than the 160 MiB"):
        read_safely(big_svd(tmp_path), "k", no_progress, Limits(memory_bytes=160 << 20))


def test_too_much_computing(tmp_path):
    with pytest.raises(InputError, match="more than 1 s of computing"):
        read_safely(big_svd(tmp_path), "k", no_progress, Limits(cpu_seconds=1))


def test_an_answer_that_is_too_long(tmp_path):
    with pytest.raises(InputError, match="says more than can be taken in"):
        read_safely(write(tmp_path, "a.dts", TREE), "k", no_progress, Limits(answer_bytes=100))


def test_an_interruption_leaves_no_child(tmp_path):
    def interrupt(*_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        read_safely(write(tmp_path, "a.dts", TREE), "k", interrupt)
    assert Path(f"/proc/self/task/{os.getpid()}/children").read_text() == ""


BOMBS = {
    "billion laughs": ("a.svd", '<!DOCTYPE d [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;">]><device>&b;</device>'),
    "external entity": ("a.svd", '<!DOCTYPE d [<!ENTITY a SYSTEM "file:///etc/passwd">]><device>&a;</device>'),
    "deep braces": ("a.dts", "/ {\n" + "a {" * 100_000),
    "deep parentheses": ("a.dts", "/ {\n a = <" + "(" * 100_000 + ">; };"),
    "endless comment": ("a.dts", "/ {\n" + "/*" * 100_000),
    "one huge number": ("a.dts", "/ {\n a = <" + "9" * 1_000_000 + ">; b = [zz]; };"),
    "power": ("a.dts", "#define A (1 << 999999999)\n/ {\n a = <A>; b = <(A << A)>; c = ; };"),
    "macro circle": ("a.dts", "#define A B\n#define B A\n/ {\n a = <A>; c = ; };"),
}


@pytest.mark.parametrize("bomb", BOMBS)
def test_bombs_end_in_one_message(tmp_path, bomb):
    name, text = BOMBS[bomb]
    with pytest.raises(MetaInferError) as fault:
        read_safely(write(tmp_path, name, text), "k", no_progress, Limits(seconds=20, memory_bytes=1 << 30))
    assert type(fault.value) is InputError
    assert len(str(fault.value)) < 1000


CALLS = {
    "Python": "socket.create_connection(('127.0.0.1', {port}), timeout=5)",
    "C": "libc = ctypes.CDLL(None); s = libc.socket(2, 1, 0); "
    "a = struct.pack('<H', 2) + struct.pack('>H', {port}) + bytes((127, 0, 0, 1)) + bytes(8); "
    "sys.exit(0 if libc.connect(s, a, 16) == 0 else 'refused')",
}


def status_of_call(call, port, limited):
    """0 when a process, limited as a reader is or not, reaches a server on this machine."""
    limit = "limit_process(Limits());" if limited else ""
    begin = f"import ctypes, socket, struct, sys; from hwdoc_ingest.intake.intake_child import limit_process; {limit}"
    code = f"from hwdoc_ingest.intake.intake import Limits; {begin} {CALLS[call].format(port=port)}"
    return subprocess.run([sys.executable, "-c", code], stderr=subprocess.DEVNULL, timeout=60).returncode


def can_part_from_the_network():
    return subprocess.run(["unshare", "--user", "--net", "true"], stderr=subprocess.DEVNULL).returncode == 0


@pytest.mark.parametrize("call", CALLS)
def test_a_reader_has_no_network(call):
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        assert status_of_call(call, port, limited=False) == 0
        if call == "Python" or can_part_from_the_network():
            assert status_of_call(call, port, limited=True) != 0


def test_a_zip_named_svd_and_a_picture_named_pdf(tmp_path):
    path = tmp_path / "a.svd"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("device.svd", "<device/>")
    with pytest.raises(InputError, match="zip archive and no workbook"):
        read_safely(path, "k", no_progress)
    with pytest.raises(InputError, match="PNG picture; put it into a PDF"):
        read_safely(write(tmp_path, "a.pdf", b"\x89PNG\r\n\x1a\n" + bytes(99)), "k", no_progress)
