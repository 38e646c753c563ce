"""Before any training: what may be made, what the data is parted into, rounding, the state of a stopped run."""

from dataclasses import replace

import numpy as np
import onnx.parser
import pytest

from fine_tuning import fine_tune
from fine_tuning.accepted import accepted, trained_lines
from fine_tuning.checkpoint import Checkpoint, read_checkpoint, write_checkpoint
from fine_tuning.rounding import roundings
from fine_tuning.split import split
from metainfer_core.actions.action import Reason
from metainfer_core.actions.rewiring import nodes_by_id, numbers_of
from metainfer_core.errors import InputError, NotTrustedError, UnsupportedError
from metainfer_core.graph.files.load import import_model
from metainfer_core.policy.apply import apply_line
from metainfer_core.policy.policy import Policy, PolicyAction
from metainfer_core.policy.structure.change import StructureChange
from metainfer_core.spec.library import load
from metainfer_core.verify.reference import run_every_tensor
from metainfer_core.verify.samples import Samples


def proposal(name, grade):
    why = (Reason(claim="The shape must stay."),)
    return StructureChange(change="kernel", grade=grade, nodes=(name,), sentence="", why=why, risk="It may miss.")


POLICY = Policy(
    actions=(
        PolicyAction(node_id="a", action="store_low_bit", params={"bits": 4}),
        PolicyAction(node_id="b", action="factor_weights", params={"rank": 2}, override=False),
        PolicyAction(node_id="c", action="tile"),
    ),
    structure_changes=(proposal("s", "safe"), proposal("r", "needs review"), proposal("f", "forbidden")),
)


def test_the_three_classes_are_enforced():
    assert [each.id for each in accepted(POLICY, ("kernel@s", "kernel@s"), None, "p")] == ["kernel@s"]
    assert [each.id for each in accepted(POLICY, ("kernel@r",), "ada", "p")] == ["kernel@r"]
    with pytest.raises(NotTrustedError, match="needs review") as refused:
        accepted(POLICY, ("kernel@r",), None, "p")
    assert refused.value.exit_status == 3
    with pytest.raises(UnsupportedError, match=r"kernel@f is forbidden.\nThe shape must stay. It may miss."):
        accepted(POLICY, ("kernel@f",), "ada", "p")
    with pytest.raises(InputError, match=r"no structure change kernel@x.\nProposed: kernel@s, kernel@r."):
        accepted(POLICY, ("kernel@x",), "ada", "p")


def test_actions_that_are_on_are_trained_with_and_nothing_is_no_training():
    assert [line.id for line in trained_lines(POLICY, (), "p")] == ["store_low_bit@a"]
    bare = Policy(actions=(), structure_changes=POLICY.structure_changes)
    with pytest.raises(InputError, match=r"Structure changes: kernel@s, kernel@r.\nName a change with --change"):
        trained_lines(bare, (), "p")


def samples(count, first=0):
    feeds = tuple({"x": np.full((1, 2), first + place, np.float32)} for place in range(count))
    return Samples(feeds, f"{count} samples of d.npz", f"sha256:{count}", False, np.arange(count))


def test_the_three_parts_of_the_data_share_nothing():
    parts = split(samples(50), None, seed=1)
    held = {float(feed["x"][0, 0]) for feed in parts.held_out.feeds}
    assert (len(parts.trained), len(parts.deciding), len(held)) == (30, 10, 10)
    assert held | set(parts.trained) | set(parts.deciding) == set(range(50))
    assert [int(label) for label in parts.held_out.labels] == [int(feed["x"][0, 0]) for feed in parts.held_out.feeds]
    assert split(samples(50), None, seed=1).digest == parts.digest
    assert split(samples(50), None, seed=2).trained != parts.trained
    apart = split(samples(50), samples(5, first=100), seed=1)
    assert (len(apart.trained), apart.held_out.label) == (40, "5 samples of d.npz")


def test_too_little_data_and_held_out_samples_that_are_trained_on_are_refused():
    with pytest.raises(InputError, match=r"There are 19 samples"):
        split(samples(19), None, seed=0)
    with pytest.raises(InputError, match=r"2 of the 4 held-out samples"):
        split(samples(50), samples(4, first=48), seed=0)


def two_layers():
    first, second = np.random.default_rng(0).standard_normal((2, 8 * 12))
    numbers = [", ".join(f"{value:.4f}" for value in row) for row in (first, second)]
    text = """<ir_version: 8, opset_import: ["" : 17]>
    two (float[1,12] x) => (float[1,12] y) <float[12,8] w_first = {%s}, float[12,8] w_second = {%s}> {
        [first] a = MatMul (x, w_first)
        [second] y = Gemm <transB = 1> (a, w_second)
    }"""
    return import_model(onnx.parser.parse_model(text % tuple(numbers)).SerializeToString(), "two").model


@pytest.mark.parametrize(
    "params",
    [
        {"bits": 4, "scheme": "group_wise", "group_size": 5, "symmetric": False},
        {"bits": 6, "scheme": "channel_wise"},
        {"bits": 4, "scheme": "tensor_wise", "symmetric": False},
    ],
)
def test_training_sees_the_numbers_that_the_built_model_computes_with(params):
    model = two_layers()
    lines = [PolicyAction(node_id=name, action="store_low_bit", params=params) for name in ("first", "second")]
    built = model.clone()
    for line in lines:
        apply_line(built, load("rk3588"), line, None)
    (tensors,) = run_every_tensor(built, [{"x": np.zeros((1, 12), np.float32)}])
    for name, rounding in roundings(model, lines).items():
        weight = numbers_of(model.graph.initializers[name])
        node = next(str(n.name) for n in model.graph if any(v is not None and v.name == name for v in n.inputs))
        stored = tensors[str(nodes_by_id(built)[node].inputs[1].name)]
        np.testing.assert_array_equal(rounding(weight), stored)
        assert np.abs(stored - weight).max() > 0


def state(**changes):
    arrays = {"w": np.arange(6, dtype=np.float32).reshape(2, 3)}
    numbers = {"step": 75, "best_step": 50, "first_loss": 0.5, "best_loss": 0.25, "learning_rate": 5e-4}
    whole = Checkpoint(arrays, arrays, arrays, arrays, **numbers, waited=1, halved=0, restarted=25)
    return replace(whole, **changes)


def test_a_stopped_run_is_read_back_and_another_ones_state_is_refused(tmp_path):
    path = tmp_path / "m.checkpoint.npz"
    weights = {"w": np.zeros((2, 3), np.float32)}
    assert read_checkpoint(path, "task", weights) is None
    write_checkpoint(path, "task", state())
    found = read_checkpoint(path, "task", weights)
    assert (found.step, found.best_loss, found.waited, found.restarted) == (75, 0.25, 1, 25)
    np.testing.assert_array_equal(found.second_moment["w"], state().now["w"])
    with pytest.raises(InputError, match="state of another training"):
        read_checkpoint(path, "other task", weights)
    with pytest.raises(InputError, match="damaged"):
        read_checkpoint(path, "task", {"w": np.zeros((3, 2), np.float32)})
    write_checkpoint(path, "task", state(best_loss=float("nan")))
    with pytest.raises(InputError, match="damaged"):
        read_checkpoint(path, "task", weights)
    path.write_bytes(b"no archive")
    with pytest.raises(InputError, match=r"not a \.npz file"):
        read_checkpoint(path, "task", weights)


def test_without_pytorch_the_extra_is_named(meta_infer, monkeypatch, tmp_path):
    monkeypatch.setattr(fine_tune.importlib.util, "find_spec", lambda name: None)
    data, policy = tmp_path / "d.npz", tmp_path / "m.policy"
    for path in (data, policy):
        path.write_bytes(b"")
    command = ["fine-tune", "--model", "m.onnx", "--policy", policy, "--hw-spec", "rk3588", "--data", data]
    status, _, err = meta_infer(*map(str, command), "--output", str(tmp_path / "new.onnx"))
    assert status == 2
    assert 'pip install "meta-infer[torch]"' in err
    assert not (tmp_path / "new.onnx").exists()
