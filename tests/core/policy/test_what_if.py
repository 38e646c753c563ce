"""An override's effect is known before it is written: the same figures as the search's, and as the build's."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from action_bench import cpu, spec_of
from tiny_models import from_text

from metainfer_core.codegen.run import execute
from metainfer_core.errors import InputError
from metainfer_core.explain.what_if_words import beside_the_record, what_if_line, what_if_lines
from metainfer_core.numerics.metrics import Effect
from metainfer_core.pipeline import Prepared, adapt, compile_policy, prepare, samples_for
from metainfer_core.pipeline.what_if import measure_overrides
from metainfer_core.policy.objective import Objective, worst_sqnr_db
from metainfer_core.policy.policy import Policy, PolicyAction
from metainfer_core.policy.what_if import WhatIf, changed_ids, content_of
from metainfer_core.spec.hardware_spec import HardwareSpec, Memory
from metainfer_core.verify.effect import effect_of
from metainfer_core.verify.reference import run_reference
from metainfer_core.verify.samples import Samples, random_samples, read_samples, source_of

TEXT = """m (float[1,3,12,12] x, float[8,3,3,3] w_a, float[8] w_bias, float[8,8,3,3] w_b, float[4,8,3,3] w_c)
    => (float[1,4,12,12] y) {
    [first] a = Conv <pads = [1,1,1,1]> (x, w_a, w_bias) [relu] r = Relu (a)
    [second] b = Conv <pads = [1,1,1,1]> (r, w_b) [third] y = Conv <pads = [1,1,1,1]> (b, w_c) }"""
FIRST, SECOND, PLACE = "quantize@first", "quantize@second", "place@x"
SPEC: HardwareSpec = spec_of(
    memories={
        "dram": Memory(kind="dram", size_bytes=1 << 30, bandwidth_gbps={"min": 1, "typ": 2}),
        "sram": Memory(kind="sram", size_bytes=1 << 18, bandwidth_gbps=20),
    },
    units={"cpu": cpu(clock_hz=1e9, macs_per_cycle={"float32": 4, "int8": 16}, launch_overhead_us=0.1)},
)


def with_override(policy: Policy, **overrides: Any) -> Policy:
    """The policy with an override on each action that is named, `quantize__second={...}`."""
    given = {key.replace("__", "@"): value for key, value in overrides.items()}
    lines = [line.plain() | ({"override": given[line.id]} if line.id in given else {}) for line in policy.actions]
    return Policy.from_plain(policy.plain() | {"actions": lines})


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Prepared, Policy, str]:
    """The model, a policy that was really searched for, and the data that both were measured on."""
    folder = tmp_path_factory.mktemp("what_if")
    onnx.save(from_text(TEXT, 3), folder / "model.onnx")
    inputs = np.random.default_rng(1).standard_normal((12, 1, 3, 12, 12)).astype(np.float32)
    np.savez(folder / "data.npz", x=inputs)
    prepared = prepare(folder / "model.onnx")
    samples = samples_for(prepared, str(folder / "data.npz"))
    return prepared, adapt(prepared, SPEC, samples, samples, Objective()).policy, str(folder / "data.npz")


def asked(made: tuple[Prepared, Policy, str], after: Policy, before: Policy | None = None) -> WhatIf:
    prepared, policy, data = made
    return measure_overrides(before or policy, after, prepared, SPEC, None, samples_for(prepared, data))


def line(policy: Policy, action_id: str) -> PolicyAction:
    return next(each for each in policy.actions if each.id == action_id)


def effect(found: Effect | None) -> Effect:
    assert found is not None
    return found


def test_a_planted_bad_override_is_seen_before_it_is_written(made):
    found = asked(made, with_override(made[1], quantize__second={"weight_bits": 4}))
    before, after = found.before, found.after
    alone = worst_sqnr_db(effect(before.alone[SECOND].effect)), worst_sqnr_db(effect(after.alone[SECOND].effect))
    assert alone[0] - alone[1] > 15.0  # four bits fewer are 24 dB of rounding of the weights
    assert worst_sqnr_db(effect(after.together.effect)) < worst_sqnr_db(effect(before.together.effect)) - 10.0
    assert not before.broken
    assert after.broken == (f"y has {worst_sqnr_db(effect(after.together.effect)):.1f} dB; the budget is 20 dB.",)
    assert list(after.alone) == [SECOND]


def test_the_policy_without_it_measures_to_the_bit_as_the_search_did(made):
    found = asked(made, with_override(made[1], quantize__second={"weight_bits": 4}))
    evidence = line(made[1], SECOND).evidence
    assert found.before.alone[SECOND].effect == evidence.alone
    assert found.before.together.effect == evidence.together
    assert beside_the_record(made[1], found) == "Without it, the policy measures exactly as when it was made."


def test_the_policy_with_it_measures_to_the_bit_as_what_is_built_from_it(made):
    prepared, policy, data = made
    overridden = with_override(policy, quantize__second={"weight_bits": 4})
    found, samples = asked(made, overridden), samples_for(prepared, data)
    built = compile_policy(prepared, SPEC, overridden, "native-cpu", samples.feeds)
    assert not built.differences
    outputs = [execute(built.package, feed).outputs for feed in samples.feeds]
    assert effect_of(run_reference(prepared.model, samples.feeds), outputs, samples) == found.after.together.effect


def test_what_is_switched_off_does_nothing_by_itself_and_the_rest_is_measured(made):
    found = asked(made, with_override(made[1], quantize__first=False))
    assert found.after.alone[FIRST].why_not == "It is switched off."
    after = effect(found.after.together.effect)
    assert worst_sqnr_db(after) > worst_sqnr_db(effect(found.before.together.effect))
    before, later = found.before.predicted, found.after.predicted
    assert before is not None
    assert later is not None
    assert later.moved_bytes > before.moved_bytes  # what is float again moves four times the bytes
    assert later.time_us is not None
    assert before.time_us is not None
    assert later.time_us.typical > before.time_us.typical


def test_an_override_of_a_place_moves_no_number_but_the_prediction(made):
    found = asked(made, with_override(made[1], place__x={"memory": {"x": "dram"}}))
    assert found.after.alone[PLACE].why_not == "Actions of this kind move no number."
    assert found.after.together == found.before.together
    assert found.after.predicted != found.before.predicted


def test_an_override_that_cannot_be_done_says_so_in_place_of_a_figure(made):
    found = asked(made, with_override(made[1], quantize__second={"bit_width": 5}))
    assert found.after.together.effect is None
    assert "The action quantize@second is not legal here." in found.after.together.why_not
    assert found.after.alone[SECOND].effect is None
    assert "5" in found.after.alone[SECOND].why_not
    assert found.after.predicted is None


def test_nothing_to_measure_is_refused(made):
    same = with_override(made[1], quantize__second={"bit_width": 8})
    assert changed_ids(made[1], same) == ()
    with pytest.raises(InputError, match="changes nothing"):
        asked(made, same)


def test_the_content_is_what_is_done_and_nothing_else(made):
    policy = made[1]
    tagged = Policy.from_plain(
        policy.plain() | {"actions": [each.plain() | {"review_required": True} for each in policy.actions]}
    )
    assert content_of(tagged) == content_of(policy)
    assert content_of(with_override(policy, quantize__second=False)) != content_of(policy)


def test_overrides_in_force_stand_on_both_sides(made):
    before = with_override(made[1], quantize__first=False)
    found = asked(made, with_override(made[1], quantize__first=False, quantize__second={"weight_bits": 4}), before)
    assert list(found.after.alone) == [SECOND]
    assert found.before.content == content_of(before)
    assert worst_sqnr_db(effect(found.before.together.effect)) > worst_sqnr_db(effect(found.after.together.effect))
    assert beside_the_record(made[1], found) == (
        "The policy's own figures are without the overrides that are in force already."
    )


def test_other_data_is_named(made):
    prepared, policy, _ = made
    after = with_override(policy, quantize__second={"weight_bits": 4})
    found = measure_overrides(policy, after, prepared, SPEC, None, random_samples(prepared.model))
    assert found.data == "8 random inputs, seed 0"
    assert beside_the_record(policy, found) == (
        "The policy's own figures were measured on 12 samples of data.npz, these on 8 random inputs, seed 0."
    )
    bare = Policy.from_plain({"actions": [{"node_id": "second", "action": "quantize"}]})
    assert beside_the_record(bare, found) == "The policy holds no measured figures to compare with."


def test_other_content_of_the_data_shows_in_the_figures(made, tmp_path):
    prepared, policy, _ = made
    np.savez(tmp_path / "data.npz", x=np.random.default_rng(9).standard_normal((12, 1, 3, 12, 12)).astype(np.float32))
    samples: Samples = read_samples(str(tmp_path / "data.npz"), prepared.model)
    after = with_override(policy, quantize__first=False)
    found = measure_overrides(policy, after, prepared, SPEC, None, samples)
    assert found.data == effect(line(policy, SECOND).evidence.together).data
    assert beside_the_record(policy, found).endswith("the data or the program is another.")


def test_sentences_tell_measured_from_predicted(made):
    found = asked(made, with_override(made[1], quantize__first=False))
    lines = what_if_lines(found)
    alone = worst_sqnr_db(effect(found.before.alone[FIRST].effect))
    together = [worst_sqnr_db(effect(side.together.effect)) for side in (found.before, found.after)]
    assert lines[0].startswith("Measured on 12 samples of data.npz")
    assert lines[1] == f"  quantize@first by itself: {alone:.1f} dB → none (it is switched off)"
    assert lines[2] == f"  all actions together: {together[0]:.1f} dB → {together[1]:.1f} dB"
    assert lines[3].startswith("Predicted, not measured: time ")
    assert what_if_line(found, FIRST).startswith(
        f"measured on 12 samples of data.npz: by itself {alone:.1f} dB → none (it is switched off), all actions"
    )


def test_plain_policies_take_their_ranges_from_the_data(made):
    prepared, _, data = made
    plain = Policy.from_plain({"actions": [{"node_id": "second", "action": "quantize", "params": {}}]})
    after = with_override(plain, quantize__second={"weight_bits": 4})
    found = measure_overrides(plain, after, prepared, SPEC, data, samples_for(prepared, data))
    one, other = (worst_sqnr_db(effect(side.together.effect)) for side in (found.before, found.after))
    assert one - other > 15.0
    assert found.before.alone[SECOND].effect is not None
    off = measure_overrides(
        plain, with_override(plain, quantize__second=False), prepared, SPEC, data, samples_for(prepared, data)
    )
    assert off.before.together == found.before.together  # it needs ranges, though nothing does afterwards


@pytest.mark.parametrize(
    ("label", "source"),
    [
        ("12 samples of data.npz", ("data.npz", 12)),
        ("2 samples of a (b).npz (first 2 of 12)", ("a (b).npz", 2)),
        ("8 random inputs, seed 0", None),
        ("first 8 of 12 samples of data.npz", None),
    ],
)
def test_a_label_gives_its_source_back(label, source):
    assert source_of(label) == source


def test_the_label_of_real_samples_gives_its_source_back(made):
    prepared, _, data = made
    assert source_of(read_samples(data, prepared.model, 5).label) == (Path(data).name, 5)
