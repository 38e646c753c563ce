"""Every law of the checker must catch a planted violation and stay silent on the healthy program."""

import re

import pytest

from metainfer_core.spec.hardware_spec import HardwareSpec
from metainfer_core.verify.check_legal import LAWS, check_legal, unit_runs_operator
from metainfer_core.verify.realised_graph import RealisedGraph

SPEC = HardwareSpec.from_plain(
    {
        "name": "test chip",
        "version": "1.0.0",
        "compute_units": {
            "npu": {
                "kind": "npu",
                "data_types": ["int8"],
                "weight_granularity": ["tensor"],
                "operators": {"supported": ["Conv", "Relu"], "fallback": "cpu"},
            },
            "cpu": {"kind": "cpu"},
        },
        "memories": {
            "sram": {
                "kind": "sram",
                "size_bytes": 4096,
                "alignment_bytes": 64,
                "accessible_by": ["npu"],
                "reserved_bytes": 1024,
            },
            "dram": {"kind": "dram", "size_bytes": 1 << 20, "alignment_bytes": 64},
        },
        "sensitive_layers": ["head"],
    }
)
OPS = {"conv": "Conv", "relu": "Relu", "head": "Gemm", "soft": "Softmax"}


def program(**changes):
    plain = {
        "target": "native-cpu",
        "inputs": ["x"],
        "outputs": ["z"],
        "steps": [
            {
                "kernel": "conv2d_int8",
                "node_ids": ["conv", "relu"],
                "inputs": ["x", "w"],
                "outputs": ["y"],
                "unit": "npu",
            },
            {"kernel": "view", "node_ids": ["flat"], "inputs": ["y"], "outputs": ["v"], "unit": "cpu"},
            {"kernel": "gemm_float32", "node_ids": ["head"], "inputs": ["v"], "outputs": ["z"], "unit": "cpu"},
        ],
        "tensors": [
            tensor("x", "int8", 512, "sram", 0),
            tensor("w", "int8", 64, None, None, is_constant=True, granularity="tensor", symmetric=True),
            tensor("y", "int8", 512, "dram", 0),
            tensor("v", "int8", 512, "dram", 0),
            tensor("z", "float32", 400, "dram", 512),
        ],
        "arenas": {
            "sram": {"size_bytes": 3072, "alignment_bytes": 64},
            "dram": {"size_bytes": 2048, "alignment_bytes": 64},
        },
    }
    for path, value in changes.items():
        part = plain
        *keys, last = [int(key) if key.isdigit() else key for key in path.split("__")]
        for key in keys:
            part = part[key]
        part[last] = value
    return RealisedGraph.from_plain(plain)


def tensor(name, element_type, size, memory, offset, **more):
    base = {"name": name, "element_type": element_type, "shape": [size], "size_bytes": size, "is_constant": False}
    return base | {"memory": memory, "offset_bytes": offset} | more


def test_the_healthy_program_breaks_no_law():
    assert check_legal(program(), SPEC, OPS) == ()


@pytest.mark.parametrize(
    ("changes", "law", "place", "words"),
    [
        ({"steps__0__unit": "tpu"}, "unit_exists", "conv", "The unit is tpu; the spec has"),
        ({"steps__0__node_ids": ["conv", "soft"]}, "unit_runs_operator", "soft", "npu does not run Softmax"),
        ({"tensors__2__element_type": "float32"}, "unit_has_data_type", "conv", "y is float32; npu has int8"),
        ({"tensors__1__granularity": "channel"}, "weight_granularity_allowed", "conv", "scaled by channel; npu"),
        (
            {"tensors__4__element_type": "int8"},
            "sensitive_layers_stay_float",
            "head",
            r"z is int8 \(sensitive_layers\)",
        ),
        (
            {"arenas__sram__size_bytes": 3073},
            "arena_is_a_memory_that_fits",
            "sram",
            "takes 3,073 bytes; 3,072 are free",
        ),
        (
            {"arenas__flash": {"size_bytes": 1, "alignment_bytes": 1}},
            "arena_is_a_memory_that_fits",
            "flash",
            "no memory flash",
        ),
        ({"steps__0__unit": "cpu"}, "unit_reaches_memory", "conv", "x lies in sram, which cpu cannot access"),
        (
            {"tensors__0__offset_bytes": 32},
            "tensor_is_aligned_and_inside",
            "x",
            "starts at 32; sram needs multiples of 64",
        ),
        (
            {"tensors__4__offset_bytes": 1664},
            "tensor_is_aligned_and_inside",
            "z",
            "ends at byte 2,064 of an arena of 2,048",
        ),
        ({"tensors__0__memory": "flash"}, "tensor_is_aligned_and_inside", "x", "for which the program has no arena"),
        ({"tensors__4__offset_bytes": 256}, "live_tensors_do_not_overlap", "y", "shares bytes of dram with z"),
        ({"tensors__3__offset_bytes": 64}, "live_tensors_do_not_overlap", "y", "shares bytes of dram with v"),
    ],
)
def test_a_planted_violation_is_found(changes, law, place, words):
    found = check_legal(program(**changes), SPEC, OPS)
    sentence = next(one.__doc__.splitlines()[0] for one in LAWS if one.__name__ == law)
    matching = [violation for violation in found if violation.law == sentence and violation.place == place]
    assert len(matching) == 1, found
    assert re.search(words, matching[0].reason)


def test_an_output_may_take_over_an_input_that_dies_but_not_beside_it():
    in_place = {"tensors__4__offset_bytes": 0}
    assert check_legal(program(**in_place), SPEC, OPS) == ()
    shifted = {"tensors__4__offset_bytes": 64}
    assert [violation.place for violation in check_legal(program(**shifted), SPEC, OPS)] == ["y", "v"]


def test_moving_what_a_conversion_works_on_runs_no_operator():
    moved = {
        "row_bytes": 512,
        "rows": 1,
        "source_offset": 0,
        "source_stride": 512,
        "target_offset": 0,
        "target_stride": 512,
    }
    transfer = {
        "kernel": "transfer",
        "node_ids": ["soft"],
        "inputs": ["x"],
        "outputs": ["y"],
        "unit": "npu",
        "moved": moved,
    }
    law = str(unit_runs_operator.__doc__).splitlines()[0]
    assert law not in {found.law for found in check_legal(program(steps__0=transfer), SPEC, OPS)}
    computed = {**transfer, "kernel": "conv2d_int8", "moved": None}
    assert law in {found.law for found in check_legal(program(steps__0=computed), SPEC, OPS)}


def test_a_float_that_is_widened_is_laid_out_by_the_unit_that_widens_it():
    law, between = str(unit_runs_operator.__doc__).splitlines()[0], {**OPS, "relu.widen": "Cast"}
    widened = {"kernel": "widen_float16", "node_ids": ["relu.widen"], "inputs": ["y"], "outputs": ["v"], "unit": "npu"}
    laid_out = {**widened, "kernel": "view"}
    steps = program().plain()["steps"]
    both, alone = (program(steps=[*steps[:1], *these, *steps[2:]]) for these in ([widened, laid_out], [laid_out]))
    assert law not in {found.law for found in check_legal(both, SPEC, between)}
    assert law in {found.law for found in check_legal(alone, SPEC, between)}
