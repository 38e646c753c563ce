"""What `adapt` offers is built on every target; what no target could build is refused before anybody reviews it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import onnx_ir as ir
import pytest
from npu_bench import chip
from tiny_models import from_text

from metainfer_core import pipeline
from metainfer_core.errors import DoesNotFitError, UnsupportedError
from metainfer_core.pipeline.steps import Prepared, compile_policy, prepare, samples_for
from metainfer_core.policy.objective import Objective
from metainfer_core.policy.policy import Policy
from metainfer_core.policy.search.tools import Refused
from metainfer_core.spec.hardware_spec import HardwareSpec

ROUGH = Objective(fast=True, min_sqnr_db=-100.0, min_channel_sqnr_db=-100.0)
MEAN = """
    net (float[1,8,32,32] x, float[8,8,3,3] w_a, float[16,8,1,1] w_b) => (float[1,16,1,1] y) {
        [small] s = Conv <strides = [4, 4], pads = [1, 1, 1, 1]> (x, w_a)
        [wide] t = Conv (s, w_b)
        [mean] y = GlobalAveragePool (t)
    }"""


def prepared(folder: Path, text: str) -> Prepared:
    path = folder / "net.onnx"
    path.write_bytes(from_text(text, 0).SerializeToString())
    return prepare(path)


def offered(net: Prepared, spec: HardwareSpec) -> Policy:
    samples = samples_for(net, None)
    return pipeline.adapt(net, spec, samples, samples, ROUGH).policy


def test_a_node_that_no_tile_makes_small_enough_leaves_the_unit(tmp_path: Path) -> None:
    net, spec = prepared(tmp_path, MEAN), chip(2048)
    policy = offered(net, spec)
    (kept,) = [line for line in policy.actions if line.action == "keep_float"]
    assert (kept.node_id, kept.params["cause"], kept.params["target_hw"]) == ("small", "not_legal", "cpu")
    assert kept.why[0].claim.startswith("small works on 9,376 bytes at once (x.quantized (8,192 bytes), ")
    assert "local holds 2,048 (memories.local.size_bytes): 7,328 too many. " in kept.why[0].claim
    assert [line.node_id for line in policy.actions if line.action == "quantize"] == ["wide", "mean"]
    assert policy.candidates[0]["integer_nodes"] == 2
    assert policy.actions[0].evidence.together or policy.actions[1].evidence.together
    for target in ("native_cpu", "sim_npu"):
        compiled = compile_policy(net, spec, policy, target, samples_for(net, None).feeds)
        assert (compiled.violations, compiled.differences) == ((), ())


def test_unless_the_search_asks_it_offers_what_is_refused_later(tmp_path: Path, monkeypatch: Any) -> None:
    """The planted mistake: a search that is told of no refusal."""
    net, spec = prepared(tmp_path, MEAN), chip(2048)
    monkeypatch.setattr("metainfer_core.pipeline.steps._refused", lambda adapted, spec: None)
    policy = offered(net, spec)
    assert [line.node_id for line in policy.actions if line.action == "quantize"] == ["small", "wide", "mean"]
    with pytest.raises(DoesNotFitError, match=r"^small: memory "):
        compile_policy(net, spec, policy, "sim_npu", samples_for(net, None).feeds)


def test_what_no_memory_holds_is_refused_before_anybody_reviews_it(tmp_path: Path) -> None:
    tight = chip().plain()
    tight["memories"]["dram"] |= {"size_bytes": {"min": 4096, "max": 1 << 28}, "reserved_bytes": 4096}
    with pytest.raises(DoesNotFitError) as refusal:
        offered(prepared(tmp_path, MEAN), HardwareSpec.from_plain(tight))
    assert refusal.value.available == 0
    assert "and 4,096 are reserved (memories.dram.reserved_bytes)" in refusal.value.fix


def refusing(everywhere: bool, *kinds: str) -> Callable[[ir.Model, HardwareSpec], Refused | None]:
    """A compiler that refuses models with nodes on integers, or all of them."""

    def refused(adapted: ir.Model, spec: HardwareSpec) -> Refused | None:
        is_integer = any(node.op_type == "QuantizeLinear" for node in adapted.graph)
        error = UnsupportedError("The engine has no such kernel.", "It lacks 1 of 2.")
        return Refused(error, everywhere) if is_integer or not kinds else None

    return refused


def test_what_would_be_refused_comes_last_and_says_so(tmp_path: Path, monkeypatch: Any) -> None:
    net, spec = prepared(tmp_path, MEAN), chip()
    monkeypatch.setattr("metainfer_core.pipeline.steps._refused", refusing(False, "integers"))
    best, *others = offered(net, spec).candidates
    assert (best["name"], best["chosen"]) == ("float32", True)
    told = "refused where units are fed by DMA: The engine has no such kernel. It lacks 1 of 2."
    assert {(each["accuracy"], each["refused"]) for each in others} == {(told, True)}
    assert "refused" not in best

    monkeypatch.setattr("metainfer_core.pipeline.steps._refused", refusing(False))
    policy = offered(net, spec)
    assert f"No candidate can be built for all targets; the chosen one is {told}" in policy.warnings

    monkeypatch.setattr("metainfer_core.pipeline.steps._refused", refusing(True))
    with pytest.raises(UnsupportedError, match="no such kernel"):
        offered(net, spec)
