from __future__ import annotations

from typing import Any

import pytest

from metainfer_core.errors import InputError
from metainfer_core.spec.files.strict_yaml import DEPTH_LIMIT, read_yaml


def read(text: str) -> Any:
    return read_yaml(text.encode(), "x.yaml").data


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a: yes", "yes"),
        ("a: 012", 12),
        ("a: 2024-01-01", "2024-01-01"),
        ("a: 12:30", "12:30"),
        ("a: 0x1F", 31),
        ("a: 1e3", 1000.0),
        ("a: .5", 0.5),
        ("a: ~", None),
        ("a: true", True),
        ('a: "12"', "12"),
        ("a: 1.2.3", "1.2.3"),
        ("a: .inf", ".inf"),
        ("a: |\n  12\n", "12\n"),
    ],
)
def test_scalars_are_those_of_yaml_1_2(text: str, value: object) -> None:
    found = read(text)["a"]
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        ("a: 1\nb:\n  c: 1\n  c: 2\n", "x.yaml:4:3", "'c' stands twice"),
        ("a: &x 1\nb: *x\n", "x.yaml:1:4", "anchors and aliases"),
        ("a: !!python/object:os.system x\n", "x.yaml:1:4", "the tag"),
        ("a: 1\n---\nb: 2\n", "x.yaml:2:1", "second document"),
        ("a: [1, 2\n", "x.yaml:2:1", "not YAML"),
        ("? [a, b]\n: 1\n", "x.yaml:1:3", "a key must be a text"),
        ("a: 1e999\n", "x.yaml:1:4", "larger than any number"),
        ("a: " + "9" * 399 + "\n", "x.yaml:1:4", "larger than any number"),
        ("a: " + "[" * (DEPTH_LIMIT + 1) + "]" * (DEPTH_LIMIT + 1), "x.yaml:1:", "nested too deeply"),
        ("<<: {a: 1}\n", "x.yaml:1:1", "merge keys"),
    ],
)
def test_what_could_be_read_in_two_ways_is_refused_with_its_place(text: str, place: str, words: str) -> None:
    with pytest.raises(InputError) as caught:
        read(text)
    assert str(caught.value).startswith(place)
    assert words in str(caught.value)


@pytest.mark.parametrize("data", [b"", b"\xff\xfe", b"# only a comment\n", b"a: \x00\n"])
def test_files_that_are_no_yaml_text_are_refused(data: bytes) -> None:
    with pytest.raises(InputError):
        read_yaml(data, "x.yaml")


def test_marks_are_the_places_of_the_keys() -> None:
    document = read_yaml(b"a: 1\nb:\n  - c: 0x10\n", "x.yaml")
    assert document.where(("b", 0, "c")) == "x.yaml:3:5"
    assert document.where(("b", 0, "c", "not there")) == "x.yaml:3:5"
    assert document.hex_at == {("b", 0, "c")}


def test_a_file_of_countless_values_is_not_built() -> None:
    with pytest.raises(InputError, match="too many values"):
        read_yaml(b"[" + b"1," * 100_000 + b"1]", "x.yaml", limit_bytes=1 << 20)


def test_a_file_above_the_limit_is_not_parsed() -> None:
    with pytest.raises(InputError, match="too large"):
        read_yaml(b"a: " + b"x" * 100, "x.yaml", limit_bytes=50)
