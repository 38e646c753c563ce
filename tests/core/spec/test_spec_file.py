from __future__ import annotations

import datetime
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from spec_texts import CLEAN, FILE_NAME

from metainfer_core.errors import InputError
from metainfer_core.spec.checking.validate import validate
from metainfer_core.spec.files.yaml_file import parse_spec, read_spec, save_spec, write_spec
from metainfer_core.spec.hardware_spec import Cache, HardwareSpec, Memory, Provenance, Quantity, Rule
from metainfer_core.spec.revising.diff import leaves
from metainfer_core.spec.revising.edit import edited


def test_the_promised_keys_load_unchanged() -> None:
    text = """\
    l2_cache:
      size_bytes: 524288
      sharing_mode: "shared"
    l1_cache:
      latency_cycles: {mean: 3.2, std: 0.4, min: 2, max: 5}
    dma:
      address_width_bits: 32
      burst_length_optimal: 64
      burst_length_min: 16
      burst_length_max: 256
      burst_unit: bytes
    bandwidth_gbps: 12.8
    reset_vector_address: 0x80000000
    npu_int_support:
      bit_widths: [4, 6, 8]
      channel_wise_quantization: true
    has_fused_bn_relu_instruction: true
    dynamic_rules: [{condition: "input_mean < 60", action: "use_smaller_quant_scale_for_low_light"}]
    sdk_version: "2.3.1"
    """
    spec = parse_spec(text.encode(), "specs/rk3399_npu_v2.3.1.yaml")
    assert (spec.name, spec.version) == ("rk3399_npu", "2.3.1")
    assert spec.l2_cache == Cache(size_bytes=Quantity(typ=524288), sharing_mode="shared")
    assert spec.l1_cache is not None
    assert spec.l1_cache.latency_cycles == Quantity(typ=3.2, std=0.4, min=2, max=5)
    assert spec.dma is not None
    assert (spec.dma.burst_length_min, spec.dma.burst_length_optimal, spec.dma.burst_length_max) == (16, 64, 256)
    assert spec.reset_vector_address == "0x80000000"
    assert spec.npu_int_support is not None
    assert spec.npu_int_support.bit_widths == (4, 6, 8)
    assert spec.has_fused_bn_relu_instruction is True
    assert spec.dynamic_rules == (Rule(condition="input_mean < 60", action="use_smaller_quant_scale_for_low_light"),)


def test_dotted_keys_mean_the_same_as_nested_ones() -> None:
    nested = b"name: a\nversion: 1.0.0\nl2_cache: {size_bytes: 1 MiB, sharing_mode: shared}\n"
    dotted = b"name: a\nversion: 1.0.0\nl2_cache.size_bytes: 1 MiB\nl2_cache.sharing_mode: shared\n"
    assert parse_spec(dotted, "a.yaml") == parse_spec(nested, "a.yaml")


def test_assumed_values_stand_in_their_places_with_the_reason() -> None:
    text = b"""\
name: a
version: 1.0.0
compute_units: {npu: {kind: npu}}
assumed:
  compute_units.npu.macs_per_cycle.int8: {value: "512 MAC/cycle", reason: half of the next model}
"""
    spec = parse_spec(text, "a.yaml")
    assert spec.compute_units["npu"].macs_per_cycle["int8"] == Quantity(typ=512)
    assert spec.assumed == {"compute_units.npu.macs_per_cycle.int8": "half of the next model"}
    assert parse_spec(write_spec(spec), "a.yaml") == spec


@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        ("name: a\nversion: 1.0.0\nl2_cach: {}\n", "a.yaml:3:1", "Did you mean `l2_cache`?"),
        ("name: a\nversion: 1.0.0\nl2_cache:\n  size_bytes: 3 Volt\n", "a.yaml:4:3", "not a known unit"),
        ("name: a\nversion: 1.0.0\nl2_cache:\n  size_bytes: 64 Kb\n", "a.yaml:4:3", "8 times"),
        ("name: a\nversion: 1.0.0\nassumed: {l2_cache.size_bytes: {value: 1}}\n", "a.yaml:3:", "without a reason"),
        ("name: a\nversion: 1.0.0\nassumed: {l2.size: {value: 1, reason: x}}\n", "a.yaml:3:", "is not known"),
        ("name: a\nversion: 1.0.0\ncompute_units: {a.b: {kind: cpu}}\n", "a.yaml:3:", "cannot be a name"),
        ("name: a\nversion: 1.0.0\nreset_vector_address: -4\n", "a.yaml:3:1", "an address such as"),
        ("name: a\nversion: 1.0.0\nl2_cache: {line_bytes: 1.5}\n", "a.yaml:3:", "a whole number"),
        ("version: 1.0.0\n", "a.yaml:1:1", "`name` is missing"),
        ("name: a\nversion: 1.0.0\nother: {x: [18014398509481985]}\n", "a.yaml:3:", "below 2^53"),
        ("name: a\nversion: 1.0.0\nreset_vector_address: 0x_\n", "a.yaml:3:1", "an address such as"),
        ("- a\n", "a.yaml:1:1", "a mapping"),
        ("name: a\nversion: 1.0.0\npower_max_w: {max: 1, min: 2}\n", "a.yaml:3:1", "in order"),
        ("name: a\nversion: 1.0.0\nformat: metainfer.hardware_spec/9\n", "a.yaml:3:1", "metainfer.hardware_spec/1"),
    ],
)
def test_a_fault_is_one_message_with_line_and_mend(text: str, place: str, words: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_spec(text.encode(), "a.yaml")
    assert str(caught.value).startswith(place)
    assert words in str(caught.value)


def test_a_value_that_is_assumed_and_given_is_refused() -> None:
    text = "name: a\nversion: 1.0.0\nbandwidth_gbps: 3\nassumed: {bandwidth_gbps: {value: 4, reason: guess}}\n"
    with pytest.raises(InputError, match="also given as a fact"):
        parse_spec(text.encode(), "a.yaml")


def test_writing_is_deterministic_reads_back_equal_and_ends_with_the_provenance() -> None:
    spec = parse_spec(CLEAN.encode(), FILE_NAME)
    data = write_spec(spec)
    assert parse_spec(data, FILE_NAME) == spec
    assert write_spec(parse_spec(data, FILE_NAME)) == data
    text = data.decode()
    assert text.index("\nmemories:") < text.index("\nsources:") < text.index("\nprovenance:")
    assert "  sram: {kind: sram, size_bytes: 256 KiB, base_address: 0x20000000, alignment_bytes: 64}\n" in text


def test_the_digest_of_the_values_is_not_that_of_the_record_around_them() -> None:
    spec = parse_spec(CLEAN.encode(), FILE_NAME)
    redated = CLEAN.replace("2026-01-31", "2026-02-01").replace("page: 2", "page: 5")
    assert parse_spec(redated.encode(), FILE_NAME).values_digest == spec.values_digest
    changed = CLEAN.replace("size_bytes: 256 KiB", "size_bytes: 128 KiB")
    assert parse_spec(changed.encode(), FILE_NAME).values_digest != spec.values_digest


names = st.from_regex(r"[a-z][a-z0-9_]{0,8}", fullmatch=True)
numbers = st.floats(0, 1e15, allow_nan=False) | st.integers(0, 2**50).map(float)
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)


@st.composite
def spreads(draw: st.DrawFn) -> Quantity:
    low, middle, high = sorted(draw(st.tuples(numbers, numbers, numbers)))
    kept = draw(st.sets(st.sampled_from(["min", "typ", "max"]), min_size=1))
    ends = {"min": low, "typ": middle, "max": high}
    return Quantity(
        **{name: ends[name] for name in kept},
        std=draw(st.none() | numbers),
        strength=draw(st.sampled_from([None, "must", "recommended"])),
    )


@st.composite
def specs(draw: st.DrawFn) -> HardwareSpec:
    memory = st.builds(
        Memory,
        kind=st.sampled_from(["sram", "dram"]),
        size_bytes=st.none() | spreads(),
        base_address=st.none() | st.integers(0, 2**64 - 1).map(hex),
        bandwidth_gbps=st.none() | spreads(),
        types=st.lists(texts, max_size=3).map(tuple),
    )
    memories = draw(st.dictionaries(names, memory, max_size=3))
    assumed = {f"memories.{name}.size_bytes": draw(texts.filter(str.strip)) for name in memories if draw(st.booleans())}
    return HardwareSpec(
        name=draw(texts),
        version=draw(texts),
        memories=memories,
        ambient_c=draw(st.none() | spreads()),
        errata=tuple(draw(st.lists(texts, max_size=3))),
        other=draw(st.dictionaries(texts, texts | st.integers(-(2**50), 2**50), max_size=3)),
        assumed={path: why for path, why in assumed.items() if memories[path.split(".")[1]].size_bytes},
        provenance={"ambient_c": Provenance(source=draw(texts), page=draw(st.none() | st.integers(1, 99) | texts))},
    )


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None, max_examples=60)
@given(specs())
def test_every_spec_survives_its_file(spec: HardwareSpec) -> None:
    assert parse_spec(write_spec(spec), "any_v1.0.0.yaml") == spec


def refusal(data: bytes) -> InputError | None:
    """How a file is refused, or None where it is read."""
    try:
        parse_spec(data, FILE_NAME)
    except InputError as error:
        return error
    return None


pieces = st.sampled_from(["{", "}", "[", ": ", "\n", "\n  ", "0x", "1e400", "-", "&a", "*a", "!!int", "null", "9" * 30])


@settings(deadline=None, max_examples=150)
@given(st.integers(0, len(CLEAN)), st.integers(0, 40), texts | pieces)
def test_any_change_of_a_file_ends_in_a_spec_or_in_a_clear_refusal(start: int, length: int, piece: str) -> None:
    changed = (CLEAN[:start] + piece + CLEAN[start + length :]).encode()
    validate(changed, FILE_NAME, datetime.date(2026, 6, 1))
    refused = refusal(changed)
    assert refused is None or (refused.what.startswith(FILE_NAME) and refused.fix)


def test_an_edit_keeps_comments_order_and_spelling() -> None:
    text = CLEAN.replace("  sram: {kind", "  # the shared one\n  sram: {kind").replace(
        "size_bytes: {max: 2 GiB}", "size_bytes: {max: 2147483648}  # as fitted"
    )
    before = parse_spec(text.encode(), FILE_NAME)
    plain = before.plain()
    plain["dma"]["burst_length_optimal"] = 32
    plain["reset_vector_address"] = "0xffff0000"
    del plain["power_max_w"]
    after = HardwareSpec.from_plain(plain)
    data = edited(text.encode(), after, FILE_NAME).decode()
    assert parse_spec(data.encode(), FILE_NAME) == after
    changed = set(text.splitlines()) ^ set(data.splitlines())
    assert changed == {
        "  burst_length_optimal: 16",
        "  burst_length_optimal: 32",
        "power_max_w: {max: 5 W, strength: must}",
        "reset_vector_address: 0xffff0000",
    }


def test_saving_and_reading_a_file(tmp_path: Path) -> None:
    spec = parse_spec(CLEAN.encode(), FILE_NAME)
    save_spec(spec, tmp_path / FILE_NAME)
    assert read_spec(tmp_path / FILE_NAME) == spec
    with pytest.raises(InputError, match="no such hardware spec"):
        read_spec(tmp_path / "none.yaml")


def test_every_single_value_is_a_leaf_with_its_unit() -> None:
    found = leaves(parse_spec(CLEAN.encode(), FILE_NAME))
    assert found["memories.sram.size_bytes"] == "256 KiB"
    assert found["compute_units.npu.clock_hz"] == "{max: 1 GHz}"
    assert found["compute_units.npu.operators.supported"] == "[Conv, Relu]"
    assert found["l1_cache.latency_cycles"] == "{min: 2, typ: 3, max: 5, std: 0.5}"
