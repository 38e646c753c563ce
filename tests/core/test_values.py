import pickle
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metainfer_core.errors import DoesNotFitError, InputError, MetaInferError
from metainfer_core.values import FrozenDict, FrozenMap, JsonMap, Value, read_json


class Part(Value):
    name: str
    sizes: tuple[int, ...] = ()


class Whole(Value):
    format: Literal["metainfer.whole/1"] = "metainfer.whole/1"
    parts: FrozenMap[Part] = {}
    params: JsonMap = {}
    note: str | None = None


def test_digest_does_not_depend_on_key_order():
    one = Whole.from_json(b'{"parts":{"a":{"name":"x","sizes":[1,2]}},"params":{"p":1,"q":[true]}}')
    other = Whole.from_json(b'{"params":{"q":[true],"p":1},"parts":{"a":{"sizes":[1,2],"name":"x"}}}')
    assert one == other
    assert one.digest == other.digest
    assert one.to_json() == (
        b'{"format":"metainfer.whole/1","params":{"p":1,"q":[true]},"parts":{"a":{"name":"x","sizes":[1,2]}}}'
    )


def test_a_value_cannot_change():
    whole = Whole.from_json(b'{"params":{"deep":[{"a":1}]},"parts":{"a":{"name":"x"}}}')
    with pytest.raises(TypeError, match="cannot change"):
        whole.params["new"] = 1
    with pytest.raises(TypeError, match="cannot change"):
        whole.params["deep"][0]["a"] = 2
    with pytest.raises(TypeError, match="cannot change"):
        whole.parts.update(b=Part(name="y"))
    assert pickle.loads(pickle.dumps(whole)) == whole
    assert hash(FrozenDict(a=1)) == hash(FrozenDict(a=1))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (b'{"a":1,"a":2}', "key 'a' stands twice"),
        (b'{"a":NaN}', "NaN is not a JSON number"),
        (b'{"a":', "x.json:1:6: this is not JSON"),
        (b"9007199254740993", "would lose digits"),
        (b"\xff", "byte 0 is not UTF-8"),
        (b"[" * 100_000, "nested too deeply"),
        (b"1" * 5000, "too many digits"),
    ],
)
def test_broken_json_is_one_clear_message(text, words):
    with pytest.raises(InputError, match=words):
        read_json(text, "x.json")


def test_a_wrong_field_is_named():
    with pytest.raises(InputError, match=r"w\.json: parts\.a\.sizes\.0 is not right") as caught:
        Whole.from_json(b'{"parts":{"a":{"name":"x","sizes":["1"]}}}', "w.json")
    assert "valid integer" in caught.value.why
    with pytest.raises(InputError, match=r"extra is not right"):
        Whole.from_json(b'{"extra":1}')


json_data = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53) + 1, 2**53 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), inner),
    max_leaves=12,
)


@given(st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), json_data))
def test_json_round_trip(params):
    whole = Whole(params=params)
    again = Whole.from_json(whole.to_json())
    assert again.to_json() == whole.to_json()


def test_does_not_fit_says_by_how_much():
    error = DoesNotFitError("Memory sram (memories.sram.size_bytes)", 1500, 1000, fix="Use a smaller input.")
    assert str(error) == (
        "Memory sram (memories.sram.size_bytes) is too small.\n"
        "Needed 1,500 bytes, available 1,000 bytes: 500 bytes too many.\n"
        "Use a smaller input."
    )
    assert isinstance(pickle.loads(pickle.dumps(error)), DoesNotFitError)
    assert issubclass(DoesNotFitError, MetaInferError)
