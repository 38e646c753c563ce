"""A package is the same bytes for the same files, and every way to break one ends in one clear error."""

import io
import zipfile
from collections.abc import Callable

import pytest

from metainfer_core.codegen.package import (
    MANIFEST,
    Manifest,
    Port,
    layers_path,
    read_package,
    vector_path,
    write_package,
)
from metainfer_core.errors import InputError, MetaInferError, NotTrustedError
from metainfer_core.values import sha256

FILES = {
    "bin/model": b"\x7fELF not really",
    "source/Makefile": b"all:\n",
    vector_path(0, "input", 0): b"\0" * 8,
    vector_path(0, "output", 0): b"\1" * 4,
    layers_path(0): b"{}",
}


def manifest(files: dict[str, bytes] = FILES) -> Manifest:
    return Manifest(
        model="tiny",
        target="native-cpu",
        spec="chip 1.0.0",
        development=True,
        review="unreviewed",
        parents={"model": sha256(b"model"), "spec": sha256(b"spec"), "policy": sha256(b"policy")},
        tool_version="0.1.0",
        compiler={"g++": "12.2.0"},
        inputs=(Port(name="x", element_type="float32", shape=(2,)),),
        outputs=(Port(name="y", element_type="float32", shape=(1,)),),
        binary="bin/model",
        variants=("x86_64_v3",),
        vectors=1,
        files={name: sha256(data) for name, data in files.items()},
    )


def package(files: dict[str, bytes] = FILES) -> bytes:
    return write_package(manifest(), files)


def test_what_is_written_is_read() -> None:
    read = read_package(package())
    assert read.manifest == manifest()
    assert read.files == FILES
    assert read.binary == FILES["bin/model"]
    assert read.vector(0) == ({"x": b"\0" * 8}, {"y": b"\1" * 4})
    assert read.digest == sha256(package())


def test_bytes_do_not_depend_on_the_order_of_files() -> None:
    assert package(dict(reversed(FILES.items()))) == package()


def test_entries_have_fixed_dates_and_permissions_and_are_stored() -> None:
    with zipfile.ZipFile(io.BytesIO(package())) as archive:
        entries = archive.infolist()
    assert [entry.filename for entry in entries] == [MANIFEST, *sorted(FILES)]
    assert {entry.date_time for entry in entries} == {(1980, 1, 1, 0, 0, 0)}
    assert {entry.compress_type for entry in entries} == {zipfile.ZIP_STORED}
    modes = {entry.filename: oct(entry.external_attr >> 16) for entry in entries}
    assert modes["bin/model"] == "0o100755"
    assert modes["source/Makefile"] == "0o100644"


def rewritten(
    change: Callable[[zipfile.ZipFile, dict[str, bytes]], None], compression: int = zipfile.ZIP_STORED
) -> bytes:
    files = {MANIFEST: manifest().to_json(), **FILES}
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", compression) as archive:
        change(archive, files)
        for name, data in files.items():
            archive.writestr(name, data)
    return stream.getvalue()


def test_a_changed_file_is_not_trusted() -> None:
    def change(archive: zipfile.ZipFile, files: dict[str, bytes]) -> None:
        files["bin/model"] = b"\x7fELF other code"

    with pytest.raises(NotTrustedError, match="bin/model is another file"):
        read_package(rewritten(change))


def test_a_missing_file_is_named() -> None:
    def change(archive: zipfile.ZipFile, files: dict[str, bytes]) -> None:
        del files["source/Makefile"]

    with pytest.raises(InputError, match="source/Makefile is missing"):
        read_package(rewritten(change))


def test_a_file_that_the_manifest_does_not_name_is_refused() -> None:
    def change(archive: zipfile.ZipFile, files: dict[str, bytes]) -> None:
        files["extra"] = b"?"

    with pytest.raises(InputError, match="extra is not in the manifest"):
        read_package(rewritten(change))


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_doubled_name_is_refused() -> None:
    def change(archive: zipfile.ZipFile, files: dict[str, bytes]) -> None:
        archive.writestr("bin/model", b"the one that another reader would take")

    with pytest.raises(InputError, match="'bin/model' twice"):
        read_package(rewritten(change))


@pytest.mark.parametrize(
    "name", ["../evil", "/etc/passwd", "a/../../b", "a\\b", "source/", "-rf", "a//b", "é", "x" * 300]
)
def test_names_that_could_leave_the_folder_are_refused(name: str) -> None:
    def change(archive: zipfile.ZipFile, files: dict[str, bytes]) -> None:
        files[name] = b""

    with pytest.raises(InputError, match="is not a name that a package uses"):
        read_package(rewritten(change))


def test_a_compressed_bomb_is_refused_before_it_is_unpacked() -> None:
    def change(archive: zipfile.ZipFile, files: dict[str, bytes]) -> None:
        files["source/Makefile"] = bytes(50_000_000)

    with pytest.raises(InputError, match="packages store their files as they are"):
        read_package(rewritten(change, zipfile.ZIP_DEFLATED))


def test_a_manifest_that_names_no_vector_that_is_there_is_refused() -> None:
    files = {name: data for name, data in FILES.items() if "output" not in name}
    data = write_package(manifest(files), files)
    with pytest.raises(InputError, match=r"vectors/000/output_0\.bin is missing"):
        read_package(data)


def test_a_vector_of_another_size_than_the_manifest_says_is_refused() -> None:
    files = FILES | {vector_path(0, "input", 0): b"\0" * 12}
    with pytest.raises(InputError, match=r"input_0\.bin has 12 bytes; the manifest's shape needs 8"):
        read_package(write_package(manifest(files), files))


@pytest.mark.parametrize("number", [-1, 0, 10**9])
def test_a_package_that_proves_nothing_is_refused(number: int) -> None:
    plain = manifest().plain() | {"vectors": number}
    with pytest.raises(InputError, match="vectors is not right"):
        Manifest.from_plain(plain)


@pytest.mark.parametrize("data", [b"", b"PK", b"not a zip at all", bytes(1000), b"\x7fELF"])
def test_other_files_are_not_packages(data: bytes) -> None:
    with pytest.raises(InputError, match="is not a package"):
        read_package(data)


def test_a_zip_without_a_manifest_is_no_package() -> None:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("a", b"")
    with pytest.raises(InputError, match=r"holds no manifest\.json"):
        read_package(stream.getvalue())


def test_no_cut_or_flipped_byte_ends_in_a_traceback() -> None:
    whole = package()
    for at in range(0, len(whole), 7):
        flipped = whole[:at] + bytes([whole[at] ^ 0x55]) + whole[at + 1 :]
        for broken in (whole[:at], flipped):
            try:
                read = read_package(broken)
            except MetaInferError:
                continue
            assert read.files == FILES  # a byte that carries no meaning, such as a date
