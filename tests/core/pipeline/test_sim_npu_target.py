"""From a model to a package for the simulated NPU: adapted, compiled, validated, reported; refused without its tile."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest
from npu_bench import chip
from tiny_models import from_text

from metainfer_core import pipeline
from metainfer_core.codegen.package import UNITS, Package, read_package, write_package
from metainfer_core.codegen.validate import validate_package
from metainfer_core.errors import DoesNotFitError, UnsupportedError
from metainfer_core.explain.report_page import report_html, report_text
from metainfer_core.pipeline.steps import Compiled, Prepared, compile_policy, prepare, samples_for
from metainfer_core.policy.objective import Objective
from metainfer_core.policy.policy import Policy
from metainfer_core.values import sha256
from metainfer_core.verify.samples import Samples

TEXT = """
    layers (float[1,8,16,16] x, float[32,8,3,3] w_a, float[32] w_b, float[8,32,1,1] w_c) => (float[1,8,16,16] y) {
        [a] s = Conv <pads = [1, 1, 1, 1]> (x, w_a, w_b)
        [r] t = Relu (s)
        [c] y = Conv (t, w_c)
    }"""
GOAL = Objective(fast=True, min_sqnr_db=-100.0, min_channel_sqnr_db=-100.0)
SPEC = chip(10 * 1024, dma={"max_transfer_bytes": 1024})


@cache
def adapted(folder: Path) -> tuple[Prepared, Samples, Policy]:
    path = folder / "layers.onnx"
    path.write_bytes(from_text(TEXT, 0).SerializeToString())
    prepared = prepare(path)
    samples = samples_for(prepared, None)
    return prepared, samples, pipeline.adapt(prepared, SPEC, samples, samples, GOAL).policy


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Prepared, Samples, Policy, Compiled]:
    prepared, samples, policy = adapted(tmp_path_factory.mktemp("npu"))
    return prepared, samples, policy, compile_policy(prepared, SPEC, policy, "sim-npu", samples.feeds)


def without(policy: Policy, kind: str) -> Policy:
    """The policy with the actions of one kind switched off by a reviewer."""
    lines = [{**line, "override": False} if line["action"] == kind else line for line in policy.plain()["actions"]]
    return Policy.from_plain({**policy.plain(), "actions": lines})


def test_what_was_approved_is_built_and_nothing_breaks_a_law(made) -> None:
    _, _, policy, compiled = made
    assert {line.node_id for line in policy.actions if line.action == "tile"} == {"a", "c"}
    assert (compiled.violations, compiled.differences) == ((), ())
    tiles = [step for step in compiled.realised.steps if step.kernel == "conv2d_int8"]
    assert len(tiles) > 2
    assert all(step.moved.row_bytes <= 1024 for step in compiled.realised.steps if step.moved)


def test_validate_runs_the_program_and_the_simulator_and_says_what_it_cost(made) -> None:
    *_, compiled = made
    validation = validate_package(compiled.package)
    assert validation.equal
    assert validation.faults == ()
    (unit,) = validation.units
    assert (unit.unit, unit.memory) == ("npu", "local")
    assert unit.macs == 16 * 16 * (8 * 9 * 32 + 32 * 8)
    assert unit.bytes_in > unit.bytes_out > 0
    assert unit.total is not None
    assert 0 < unit.total.low <= unit.total.typical <= unit.total.high
    assert "simulated by the spec's figures" in validation.text


def test_a_plan_with_a_mistake_is_told_by_validate(made) -> None:
    *_, compiled = made
    files = dict(compiled.package.files)
    files["plan.json"] = files["plan.json"].replace(
        b'"alignment_bytes":16,"granule_bytes":16', b'"alignment_bytes":64,"granule_bytes":16'
    )
    assert files["plan.json"] != compiled.package.files["plan.json"]
    validation = validate_package(packed(compiled.package, files))
    assert not validation.equal
    assert {fault.kind for fault in validation.faults} == {"unaligned"}
    assert "The simulator stops at step " in validation.text


def packed(package: Package, files: dict[str, bytes]) -> Package:
    manifest = {**package.manifest.plain(), "files": {name: sha256(data) for name, data in files.items()}}
    return read_package(write_package(type(package.manifest).from_plain(manifest), files))


def test_the_report_says_transfers_bytes_and_cycles(made) -> None:
    prepared, samples, policy, compiled = made
    reference = pipeline.adapt(prepared, SPEC, samples, samples, GOAL).reference
    report = pipeline.make_report(prepared, SPEC, policy, compiled, samples, reference)
    assert report.units == compiled.package.units
    assert UNITS in compiled.package.files
    for words in (report_text(report), report_html(report)):
        assert "npu in local: " in words
        assert " transfers, " in words


def test_without_its_tile_the_compile_ends_and_names_it(made) -> None:
    prepared, samples, policy, _ = made
    with pytest.raises(DoesNotFitError, match="Approve the action tile@"):
        compile_policy(prepared, SPEC, without(policy, "tile"), "sim-npu", samples.feeds)


def test_a_tile_on_a_chip_without_local_memory_is_refused(made) -> None:
    prepared, samples, policy, _ = made
    plain = chip(10 * 1024, local_memory=None)
    with pytest.raises(UnsupportedError, match="No unit of the spec has a local memory"):
        compile_policy(prepared, plain, policy, "sim-npu", samples.feeds)


def test_approved_tiles_are_built_on_other_targets_too(made) -> None:
    prepared, samples, policy, _ = made
    compiled = compile_policy(prepared, SPEC, policy, "native-cpu", samples.feeds)
    assert (compiled.violations, compiled.differences) == ((), ())
    assert validate_package(compiled.package).equal
    assert compiled.package.units == ()
