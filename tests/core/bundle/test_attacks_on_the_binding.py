"""Attacks 17 to 30: on what was signed for what, by whom, and on the files beside it."""

import json
import os
import shutil
import sys
from pathlib import Path

import numpy as np
import onnx
import onnx.parser
import pytest
import typer
from attack_rig import EXPECTED, OTHER, TRUST, checks, signed_anew
from bundle_maker import (
    ACTIONS,
    MODEL,
    RULES,
    SPEC,
    action,
    approval,
    approved,
    bundle,
    person,
    policy,
    statement,
    trust_file,
    trusted_key,
)
from onnx import numpy_helper

from metainfer_core import pipeline
from metainfer_core.bundle.case import Expected
from metainfer_core.bundle.signed_bundle import inspect_bundle
from metainfer_core.bundle.statement import SignedAction, SignedOverride, subjects
from metainfer_core.bundle.trust import Person, Quorum, TrustFile
from metainfer_core.cli import build_commands, console
from metainfer_core.errors import InputError, NotTrustedError
from metainfer_core.graph.files.load import load_model
from metainfer_core.policy.policy import Policy, PolicyAction
from metainfer_core.policy.ruleset import ruleset_digest
from metainfer_core.spec.hardware_spec import HardwareSpec

ROOT = Path(__file__).parents[3]
NET = "net (float[1,4] x) => (float[1,4] y) { y = MatMul (x, w) }"


def write_net(folder, seed=0, location=None):
    """A model with 16 weights, in the file or beside it at `location`."""
    proto = onnx.parser.parse_model(f'<ir_version: 10, opset_import: ["": 21]> {NET}')
    weights = np.random.default_rng(seed).normal(size=(4, 4)).astype(np.float32)
    tensor = numpy_helper.from_array(weights, "w")
    if location is not None:
        (folder / os.path.basename(location)).write_bytes(weights.tobytes())
        tensor.ClearField("raw_data")
        tensor.data_location = onnx.TensorProto.EXTERNAL
        tensor.external_data.add(key="location", value=location)
    proto.graph.initializer.append(tensor)
    (folder / "net.onnx").write_bytes(proto.SerializeToString())
    return folder / "net.onnx"


def for_model(path):
    return Expected(load_model(path).digest, SPEC, RULES)


def bound_to(path):
    digest = load_model(path).digest
    given = policy(model_digest=digest)
    return bundle([approval("bob", *ACTIONS, model=digest)], of=given, model=digest)


def test_attack_17_same_graph_with_other_weights(tmp_path):
    data = bound_to(write_net(tmp_path))
    assert checks(data, expected=for_model(tmp_path / "net.onnx")) == []
    assert checks(data, expected=for_model(write_net(tmp_path, seed=1))) == ["wrong_model"]


def test_attack_18_only_the_external_data_changed(tmp_path):
    data = bound_to(write_net(tmp_path, location="w.bin"))
    assert checks(data, expected=for_model(tmp_path / "net.onnx")) == []
    weights = bytearray((tmp_path / "w.bin").read_bytes())
    weights[5] ^= 1
    (tmp_path / "w.bin").write_bytes(weights)
    assert checks(data, expected=for_model(tmp_path / "net.onnx")) == ["wrong_model"]


def test_attack_19_spec_with_the_same_name_and_another_number():
    def chip(bytes_):
        memories = {"dram": {"kind": "dram", "size_bytes": bytes_}}
        cpu = {"cpu": {"kind": "cpu", "data_types": ["float32"]}}
        return HardwareSpec.from_plain({"name": "chip", "version": "1.0.0", "compute_units": cpu, "memories": memories})

    signed, given = chip(1 << 20), chip(1 << 21)
    of = policy(spec_digest=signed.values_digest)
    data = bundle([approval("bob", *ACTIONS, spec=signed.values_digest)], of=of, spec=signed.values_digest)
    assert checks(data, expected=Expected(MODEL, signed.values_digest, RULES)) == []
    assert checks(data, expected=Expected(MODEL, given.values_digest, RULES)) == ["wrong_spec"]
    assert checks(bundle(chip="other"), expected=EXPECTED) == ["wrong_spec"]


def test_attack_20_action_edited_after_its_approval():
    edited = policy(ACTIONS[0], ACTIONS[1], action("add_2", "high", "fuse", override={"bit_width": 4}))
    reasons = inspect_bundle(bundle([approval("bob", *ACTIONS)], of=edited), TRUST, "2026-11-29T12:00:00Z", EXPECTED)
    assert [(each.check, each.actions) for each in reasons.reasons] == [("stale_approval", ("fuse@add_2",))]
    renumbered = policy(*(PolicyAction.from_plain(each.plain() | {"params": {"bit_width": 4}}) for each in ACTIONS))
    assert checks(bundle([approval("bob", *ACTIONS)], of=renumbered)) == ["stale_approval"]


def test_attack_21_actions_reordered():
    """Order decides what is built: the list that is signed has the policy's own order."""
    listing = statement().predicate.actions
    assert checks(bundle(of=policy(*reversed(ACTIONS)), actions=listing)) == ["wrong_policy"]
    assert checks(signed_anew(lambda plain: plain["predicate"]["policy"]["actions"].reverse())) == [
        "wrong_policy",
        "wrong_policy",
    ]


def test_attack_22_override_added_after_the_approvals():
    off = policy(action("conv_0", override=False), *ACTIONS[1:])
    assert checks(bundle([approval("bob", *ACTIONS)], of=off)) == ["stale_approval"]
    clipped = policy(action("conv_0", zero_point_clip=True), *ACTIONS[1:])
    assert checks(bundle([approval("bob", *ACTIONS)], of=clipped)) == ["stale_approval"]


@pytest.mark.parametrize("other", ["model", "spec", "rules"])
def test_attack_23_approval_copied_from_another_revision_or_target(other):
    assert checks(bundle([approval("bob", *ACTIONS, **{other: OTHER})])) == ["stale_approval"]
    elsewhere = policy(action("conv_9"))
    assert checks(bundle([approval("bob", *ACTIONS)], of=elsewhere)) == ["missing_approval"]


def test_attack_24_one_dangerous_action_without_its_quorum():
    two = trust_file(quorum=Quorum(high=2))
    reasons = inspect_bundle(bundle([approval("bob", *ACTIONS)]), two, "2026-11-29T12:00:00Z", EXPECTED).reasons
    assert [(each.check, each.actions) for each in reasons] == [("quorum", ("fuse@add_2",))]
    assert checks(bundle([approval("bob", *ACTIONS), approval("bob", *ACTIONS)]), two) == ["quorum"]
    assert checks(bundle([approval("bob", *ACTIONS), approval("eve", ACTIONS[2])]), two) == []
    rated_down = policy(action("conv_0", "low"))
    seen_high = [approval("bob", approved(rated_down.actions[0], risk="high"))]
    assert checks(bundle(seen_high, of=rated_down), two) == ["quorum"]


def test_attack_25_author_approves_their_own_work():
    strict = trust_file(authors_may_approve=False)
    assert checks(bundle(authors=("bob",)), strict) == ["own_work"]
    assert checks(bundle([approval("eve", *ACTIONS)], authors=("bob",)), strict) == []
    lenient = inspect_bundle(bundle(authors=("bob",)), TRUST, "2026-11-29T12:00:00Z", EXPECTED).verified
    assert "Authors may approve their own work here (trust file)." in lenient.sentences


def limited(name, *roles, **scope):
    return Person(id=name, roles=roles or ("reviewer",), keys=(trusted_key(name),), **scope)


def test_attack_26_reviewer_outside_their_role_or_scope():
    ada = person("ada", "reviewer", "releaser")
    assert checks(bundle(), trust_file(ada, person("bob", "releaser"))) == ["role"]
    assert checks(bundle(signers=("bob",))) == ["role"]
    assert checks(bundle(chip="chip"), trust_file(ada, limited("bob", chips=("other",)))) == ["scope"]
    assert checks(bundle(chip="chip"), trust_file(ada, limited("bob", chips=("chip", "other")))) == []
    assert checks(bundle(), trust_file(ada, limited("bob", chips=("chip",)))) == ["scope"]  # it names no chip
    medium = trust_file(ada, limited("bob", max_risk="medium"))
    reasons = inspect_bundle(bundle(), medium, "2026-11-29T12:00:00Z", EXPECTED).reasons
    assert [(each.check, each.actions) for each in reasons] == [("scope", ("fuse@add_2",))]
    assert checks(bundle(chip="chip"), trust_file(limited("ada", "releaser", chips=("x",)), person("bob"))) == ["scope"]


@pytest.mark.parametrize("name", ["аda", "ada\u200b", "ad\u00e1", "ada\u0301", "\u202eada", "Ada", "ada "])
def test_attack_27_names_that_look_alike(name):
    with pytest.raises(InputError, match=r"people\.0\.id"):
        TrustFile.from_plain({"people": [{"id": name, "roles": []}]}, "trust.json")
    assert checks(signed_anew(lambda plain: plain["predicate"]["actions"][0].update(authors=[name]))) == ["malformed"]


def test_attack_27_nodes_whose_names_differ_only_in_their_spelling(tmp_path):
    """NFC and NFD are two ids, and what turns the direction of text cannot be a name at all."""
    composed, decomposed = action("caf\u00e9"), action("cafe\u0301")
    assert composed.content_digest != decomposed.content_digest
    assert checks(bundle([approval("bob", composed)], of=policy(decomposed))) == ["missing_approval"]
    path = write_net(tmp_path)
    proto = onnx.load(path)
    proto.graph.node[0].name = "conv\u202e0"
    path.write_bytes(proto.SerializeToString())
    with pytest.raises(InputError, match="the name"):
        load_model(path)


@pytest.mark.parametrize("location", ["../w.bin", "sub/../../w.bin", "/etc/hostname", "..\\w.bin", "sub/../../../x"])
def test_attack_28_external_data_outside_the_folder(tmp_path, location):
    """Refused before anything outside is opened."""
    (tmp_path / "inner").mkdir()
    path = write_net(tmp_path / "inner", location="w.bin")
    proto = onnx.load(path, load_external_data=False)
    proto.graph.initializer[0].external_data[0].value = location
    path.write_bytes(proto.SerializeToString())
    shutil.copy(tmp_path / "inner" / "w.bin", tmp_path / "w.bin")
    refusal, opened = refused_model(path)
    assert refusal.exit_status == 2
    assert repr(location) in refusal.what
    assert opened == {str(path)}


def refused_model(path):
    """Why a model is refused, and every file outside of the program that was opened for that."""
    opened = set()
    watch = {"on": True}
    program = (sys.prefix, sys.base_prefix, str(ROOT), "/proc", "/dev", "/usr/lib")

    def hook(event, arguments):
        if event == "open" and watch["on"] and isinstance(arguments[0], str | bytes | os.PathLike):
            opened.add(os.path.realpath(os.fsdecode(arguments[0])))

    sys.addaudithook(hook)
    try:
        with pytest.raises(InputError) as refusal:
            load_model(path)
    finally:
        watch["on"] = False
    return refusal.value, {each for each in opened if not each.startswith(program)}


def test_attack_28_external_data_that_is_a_link(tmp_path):
    path = write_net(tmp_path, location="w.bin")
    (tmp_path / "w.bin").rename(tmp_path / "elsewhere.bin")
    (tmp_path / "w.bin").symlink_to(tmp_path / "elsewhere.bin")
    with pytest.raises(InputError, match="symbolic link") as refusal:
        load_model(path)
    assert refusal.value.exit_status == 2


def test_attack_28_external_data_in_a_folder_that_is_a_link(tmp_path):
    (tmp_path / "inner").mkdir()
    (tmp_path / "outside").mkdir()
    path = write_net(tmp_path / "inner", location="sub/w.bin")
    (tmp_path / "inner" / "w.bin").rename(tmp_path / "outside" / "w.bin")
    (tmp_path / "inner" / "sub").symlink_to(tmp_path / "outside")
    with pytest.raises(InputError, match="link") as refusal:
        load_model(path)
    assert refusal.value.exit_status == 2


def test_attack_29_file_beside_the_model_that_is_not_part_of_it(tmp_path):
    """What the model does not name is never read; what it names more than was signed changes its digest."""
    path = write_net(tmp_path, location="w.bin")
    data = bound_to(path)
    (tmp_path / "more.bin").write_bytes(b"more")
    assert checks(data, expected=for_model(path)) == []
    proto = onnx.load(path, load_external_data=False)
    tensor = proto.graph.initializer.add()
    tensor.CopyFrom(proto.graph.initializer[0])
    tensor.name = "unused"
    tensor.dims[:] = [1]
    tensor.external_data[0].value = "more.bin"
    path.write_bytes(proto.SerializeToString())
    assert checks(data, expected=for_model(path)) == ["wrong_model"]


@pytest.mark.parametrize("location", [None, "w.bin"], ids=["one file", "external data"])
def test_attack_30_model_replaced_between_check_and_compile(tmp_path, monkeypatch, capsys, location):
    """The file is exchanged right after its digest was checked: what was read last is what must have been signed."""
    path = write_net(tmp_path, location=location)
    digest = load_model(path).digest
    chip = {
        "name": "chip",
        "version": "1.0.0",
        "compute_units": {"cpu": {"kind": "cpu", "data_types": ["float32", "int8"]}},
        "memories": {"dram": {"kind": "dram", "size_bytes": 1 << 20}},
    }
    (tmp_path / "chip.yaml").write_text(json.dumps(chip))
    spec, rules = HardwareSpec.from_plain(chip).values_digest, ruleset_digest()
    of = Policy(actions=(), name="net", model_digest=digest, spec_digest=spec, ruleset_digest=rules)
    subject = subjects(model=digest, spec=spec, policy=of.digest)
    times = {"created": "2026-01-01T00:00:00Z", "expires": "2126-01-01T00:00:00Z"}
    data = bundle([], of=of, subject=subject, ruleset_digest=rules, chip="chip", **times)
    (tmp_path / "net.bundle").write_bytes(data)
    (tmp_path / "trust.json").write_bytes(TRUST.to_json())
    prepare = pipeline.prepare

    def exchanged(*arguments, **more):
        write_net(tmp_path, seed=1, location=location)
        return prepare(*arguments, **more)

    monkeypatch.setattr(pipeline, "prepare", exchanged)
    words = ["compile", "--model", "net.onnx", "--policy", "net.bundle", "--hw-spec", "chip.yaml"]
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["meta-infer", *words, "--trust", "trust.json", "--output", "net.bin", "--json"])
    app = typer.Typer()
    build_commands.commands(app)
    with pytest.raises(SystemExit) as end:
        console.run(app)
    assert end.value.code == NotTrustedError.exit_status == 3
    assert json.loads(capsys.readouterr().out)["error"]["check"] == "wrong_model"
    assert not (tmp_path / "net.bin").exists()


@pytest.mark.parametrize("location", [None, "w.bin"], ids=["one file", "external data"])
def test_attack_30_model_replaced_after_it_was_read(tmp_path, location):
    """Nothing is read a second time: what is built is what the digest was made of."""
    path = write_net(tmp_path, location=location)
    prepared = pipeline.prepare(path)
    before = {name: value.const_value.numpy().copy() for name, value in prepared.model.graph.initializers.items()}
    write_net(tmp_path, seed=1, location=location)
    if location is not None:
        (tmp_path / location).write_bytes(bytes(64))
    assert before
    for name, value in prepared.model.graph.initializers.items():
        assert np.array_equal(value.const_value.numpy(), before[name])
    assert prepared.digest != load_model(path).digest


def test_override_that_expired_is_refused_and_one_that_holds_is_told():
    note = SignedOverride(author="eve", reason="too coarse", at="2026-11-29T12:00:00Z", expires="2026-12-31T23:59:59Z")
    off = policy(action("conv_0", override=False))
    listing = (SignedAction(id=off.actions[0].id, content_digest=off.actions[0].content_digest, override=note),)
    data = bundle(of=off, actions=listing)
    assert checks(data, now="2026-12-31T23:59:59Z") == []
    assert checks(data, now="2027-01-01T00:00:00Z") == ["override_expired"]
    told = inspect_bundle(data, TRUST, "2026-11-29T12:00:00Z", EXPECTED).verified.sentences
    assert told[2] == ("1 action is not as proposed: quantize@conv_0 (by eve until 2026-12-31T23:59:59Z: too coarse).")


@pytest.mark.parametrize("name", ["../x", "/x", "..\\x", "a/../../x", "", ".", ".."])
def test_fault_25_names_of_data_files_that_lead_elsewhere(tmp_path, name):
    """Refused whether or not there is such a file, so that nothing outside decides what is read."""
    (tmp_path / "inner").mkdir()
    path = write_net(tmp_path / "inner", location="w.bin")
    proto = onnx.load(path, load_external_data=False)
    proto.graph.initializer[0].external_data[0].value = name
    path.write_bytes(proto.SerializeToString())
    refusal, opened = refused_model(path)
    assert refusal.exit_status == 2
    assert repr(name) in refusal.what
    assert opened == {str(path)}


def test_fault_25_names_that_differ_in_their_case_are_two_files(tmp_path):
    """Where a file system takes them for one, the other file's bytes are read, and the digest is another."""
    path = write_net(tmp_path, location="w.bin")
    digest = load_model(path).digest
    proto = onnx.load(path, load_external_data=False)
    proto.graph.initializer[0].external_data[0].value = "W.bin"
    path.write_bytes(proto.SerializeToString())
    refusal, opened = refused_model(path)
    assert "W.bin" in refusal.what
    assert opened == {str(path)}
    (tmp_path / "W.bin").write_bytes((tmp_path / "w.bin").read_bytes())
    assert load_model(path).digest != digest
