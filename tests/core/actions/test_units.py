from __future__ import annotations

from action_bench import cpu, npu, spec_of

from metainfer_core.actions.catalog import KINDS, kind
from metainfer_core.actions.units import NoUnit, describe, home, ranked_units, unit_for
from metainfer_core.spec.hardware_spec import HardwareSpec, Operators


def test_kinds_have_unique_names_in_the_order_of_application() -> None:
    names = [candidate.name for candidate in KINDS]
    assert names == [
        "bind_shape", "cancel_transposes", "fold_pad", "fold_batch_norm", "merge_siblings", "equalise", "decompose",
        "factor_weights", "split", "enlarge_kernel", "split_kernel", "fuse", "pad_channels", "keep_float", "quantize",
        "round_weights", "correct_bias", "half_precision", "store_low_bit", "layout", "unroll",
        "branch_hint", "tile", "prefetch", "place",
    ]  # fmt: skip
    assert [kind(name) for name in names] == list(KINDS)
    assert kind("engrave") is None
    assert all(type(candidate).__doc__ for candidate in KINDS)


def test_the_fastest_unit_of_a_type_is_its_home() -> None:
    units = {
        "slow": cpu(clock_hz=1e9, macs_per_cycle={"int8": 8, "float32": 4}),
        "fast": cpu(clock_hz=2e9, macs_per_cycle={"int8": 8, "float32": 4}),
        "npu": npu(),
    }
    spec = spec_of(units=units)
    assert ranked_units(spec, "int8") == ["npu", "fast", "slow"]
    assert home(spec, "float32") == "fast"
    assert home(spec, "int4") == NoUnit(
        "fast has no int4: compute_units.fast.data_types is int8, float32.", "compute_units.fast.data_types"
    )
    assert isinstance(home(HardwareSpec(name="empty", version="1"), "int8"), NoUnit)


def test_fallbacks_are_followed_by_name_and_never_in_circles() -> None:
    def chain(**fallbacks: str | None) -> HardwareSpec:
        return spec_of(
            units={
                name: npu(data_types=("int8",), operators=Operators(supported=("Conv",), fallback=fallback))
                for name, fallback in fallbacks.items()
            }
        )

    assert unit_for(chain(a="b", b="a"), "Conv", "int8") == "a"
    circle = unit_for(chain(a="b", b="a"), "Relu", "int8")
    assert isinstance(circle, NoUnit)
    assert circle.reason == (
        "a does not run Relu (compute_units.a.operators.supported does not list it), nor does its fallback b."
    )
    lost = unit_for(chain(a="moon"), "Relu", "int8")
    assert lost == NoUnit(
        "The spec has no compute unit named moon (compute_units.a.operators.fallback); it has a.",
        "compute_units.a.operators.fallback",
    )


def test_a_value_of_the_spec_is_told_with_its_mark() -> None:
    spec = spec_of(assumed={"compute_units.cpu.data_types": "No document gives it."})
    assert describe(spec, "compute_units.cpu.data_types") == "int8, float32 (assumed)"
    assert describe(spec, "memories.dram.size_bytes") == "1,073,741,824 bytes"
    assert describe(spec, "memories.moon.size_bytes") is None
