"""The commands as a person gives them, on a real model and a real spec."""

import csv
import io
import json
import os
import sqlite3
import subprocess
import sys

import onnx
import pytest

MODEL = """
<ir_version: 10, opset_import: ["": 21]>
net (float[1,3,8,8] x) => (float[1,4,6,6] y) <float[4,3,3,3] w = {ONES}> {
    c = Conv (x, w)
    y = Relu (c)
}
""".replace("{ONES}", "{" + ", ".join(["0.5"] * 108) + "}")
FUSE, OTHER = "fuse@Conv_0", "keep_float@Conv_0"
JUSTIFIED = ("--why-allowed", "measured", "--accuracy-effect", "none", "--fallback", "keep apart")


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A folder with a model and a plain policy of two actions, and no person, key or workspace yet."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    (tmp_path / "net.onnx").write_bytes(onnx.parser.parse_model(MODEL).SerializeToString())
    actions = [
        {"node_id": "Conv_0", "action": "fuse", "params": {"with": ["Relu_1"], "target_hw": "cortex_a76"}},
        {"node_id": "Conv_0", "action": "keep_float", "params": {}},
    ]
    (tmp_path / "net.policy").write_text(json.dumps({"version": "1.2", "actions": actions}))
    return tmp_path


@pytest.fixture
def run(place, meta_infer):
    """Gives a command in that folder."""
    return meta_infer


@pytest.fixture
def on(run):
    """The same for commands about the policy, on its model and spec."""

    def give(*command):
        return run(*command, "net.policy", "--model", "net.onnx", "--hw-spec", "rk3588")

    return give


def with_passphrase(give, *arguments):
    read_end, write_end = os.pipe()
    os.write(write_end, b"correct horse\n")
    os.close(write_end)
    try:
        return give(*arguments, "--passphrase-fd", str(read_end))
    finally:
        os.close(read_end)


@pytest.fixture
def ada(run):
    """Ada has a key, and the workspace trusts her with everything."""
    assert with_passphrase(run, "keys", "new", "ada")[0] == 0
    assert run("keys", "trust", "config/meta-infer/keys/ada.pub", "--role", "reviewer", "--role", "releaser")[0] == 0


def approve(on, *ids, who="ada"):
    options = [part for each in ids for part in ("--action", each)]
    return on("review", "decide", *options, "--approve", *JUSTIFIED, "--as", who)


def signed(on, run, place):
    assert approve(on, FUSE, OTHER)[0] == 0
    assert with_passphrase(on, "sign", "--key", "ada", "--output", "net.bundle")[0] == 0
    return place / "net.bundle"


def test_from_nothing_to_a_trusted_bundle(on, run, ada, place):
    signed(on, run, place)
    status, out, _ = run("verify", "net.bundle", "--model", "net.onnx", "--hw-spec", "rk3588")
    assert status == 0
    assert out.splitlines()[0] == "net.bundle: trusted"
    assert "Released by ada" in out
    status, out, _ = run("verify", "net.bundle", "--json")
    answer = json.loads(out)
    assert (status, answer["trusted"], answer["reasons"]) == (0, True, [])
    assert answer["reviewers"] == {FUSE: ["ada"], OTHER: ["ada"]}
    assert run("review", "check", "--bundle", "net.bundle")[:2] == (0, "The record is whole: 4 events.\n")


def test_list_and_show(on):
    status, out, _ = on("review", "list", "--json")
    answer = json.loads(out)
    assert status == 0
    assert [(each["id"], each["state"], each["risk"]) for each in answer["actions"]] == [
        (FUSE, "required", "high"),
        (OTHER, "required", "high"),
    ]
    assert answer["counts"] == {"rejected": 0, "required": 2, "outdated": 0, "pending": 0, "approved": 0}
    assert answer["rules_are_current"] is True
    approve(on, FUSE)
    status, out, _ = on("review", "show", "--action", FUSE)
    assert status == 0
    assert "approved. Enough people stand behind it." in out
    assert "why_allowed=measured" in out
    assert on("review", "list")[1].endswith("2 actions: 1 required, 1 approved.\n")


def test_a_comment_of_several_lines_does_not_forge_an_event(on):
    forged = "look at this\n  9 2026-01-01T00:00:00Z ada approved"
    assert on("review", "decide", "--action", FUSE, "--comment", "--reason", forged, "--as", "eve")[0] == 0
    _, out, _ = on("review", "show", "--action", FUSE)
    (line,) = [line for line in out.splitlines() if "ada approved" in line]
    assert "eve commented" in line


def test_unreviewed_actions_block_signing(on, ada, place):
    approve(on, FUSE)
    status, _, err = with_passphrase(on, "sign", "--key", "ada", "--output", "net.bundle")
    assert status == 3
    assert OTHER in err
    assert not (place / "net.bundle").exists()


def test_changed_spec_or_model_outdates(on, run, place):
    approve(on, FUSE, OTHER)
    assert "2 outdated" in run("review", "list", "net.policy", "--model", "net.onnx", "--hw-spec", "rk3399")[1]
    (place / "net.onnx").write_bytes(onnx.parser.parse_model(MODEL.replace("0.5", "0.25")).SerializeToString())
    assert "2 outdated" in on("review", "list")[1]


def test_bundle_is_refused_for_another_model_spec_or_when_touched(on, run, ada, place):
    bundle = signed(on, run, place)
    assert run("verify", "net.bundle", "--hw-spec", "rk3399")[0] == 3
    (place / "net.onnx").write_bytes(onnx.parser.parse_model(MODEL.replace("0.5", "0.25")).SerializeToString())
    status, out, _ = run("verify", "net.bundle", "--model", "net.onnx", "--json")
    assert (status, [each["check"] for each in json.loads(out)["reasons"]]) == (3, ["wrong_model"])
    bundle.write_bytes(bundle.read_bytes().replace(b'"payload":"ey', b'"payload":"fy'))
    assert [each["check"] for each in json.loads(run("verify", "net.bundle", "--json")[1])["reasons"]] == ["tampered"]
    assert "unsigned" in run("verify", "net.policy")[1]


def test_revoked_key(on, run, ada, place):
    signed(on, run, place)
    assert run("keys", "revoke", "ada", "--reason", "stolen")[0] == 0
    status, out, _ = run("verify", "net.bundle")
    assert status == 3
    assert "revoked_key" in out
    assert run("keys", "revoke", "ada", "--reason", "again")[0] == 2
    assert "was revoked at" in run("keys", "list")[1]


def test_reviewer_and_releaser_on_their_own(on, run, ada, place):
    with_passphrase(run, "keys", "new", "bob")
    run("keys", "trust", "config/meta-infer/keys/bob.pub")
    approve(on, FUSE, OTHER, who="bob")
    status, _, err = with_passphrase(on, "sign", "--key", "ada", "--output", "net.bundle")
    assert (status, "--approve-only" in err) == (3, True)
    assert with_passphrase(on, "sign", "--key", "bob", "--approve-only", "--output", "bob.approval")[0] == 0
    assert with_passphrase(on, "sign", "--key", "bob", "--output", "net.bundle")[0] == 3
    assert with_passphrase(on, "sign", "--key", "ada", "--output", "net.bundle")[0] == 0
    status, out, _ = with_passphrase(
        on, "sign", "--key", "ada", "--output", "2.bundle", "--approval", "bob.approval", "--workspace", "workspace"
    )
    assert status == 0
    assert "bob signed for 2" in out
    assert run("verify", "bob.approval", "--json")[0] == 3


def test_override_is_checked_before_it_is_written(on, run):
    give = ("review", "decide", "--action", FUSE, "--reason", "try", "--as", "ada", "--override")
    status, _, err = on(*give, '{"with": ["Nope_7"]}')
    assert status == 2
    assert "not legal" in err
    assert "Nope_7" in err
    assert on(*give, '{"with": []}')[0] == 2
    assert run(*give, '{"with": ["Relu_1"]}', "net.policy")[0] == 2  # no model and spec to check it on
    assert on(*give, "true")[0] == 2
    assert on(*give, '{"a": 1, "a": 2}')[0] == 2
    assert on("review", "list", "--json")[1].count('"override": null') == 2
    assert on(*give, '{"target_hw": "cortex_a55"}')[0] == 0
    assert on(*give, "false")[0] == 0
    assert on("review", "export", "--output", "out.policy")[0] == 0


def test_an_override_stands_beside_what_was_proposed(on):
    decide = ("review", "decide", "--action", FUSE, "--reason", "try", "--as", "ada", "--override")
    assert "override: switched off; effect: measured on 8 random inputs, seed 0: by itself " in on(*decide, "false")[1]
    assert "\n    Override by ada: switched off (try); measured on " in on("review", "list")[1]
    assert 'override: {"target_hw": "cortex_a55"}; effect: measured on' in on(*decide, '{"target_hw": "cortex_a55"}')[1]
    shown = on("review", "show", "--action", FUSE)[1]
    assert '\nOverride by ada: {"target_hw": "cortex_a55"} (try); measured on 8 random inputs' in shown
    assert '"with": ["Relu_1"]' in shown


def test_export_holds_the_override(on, place):
    on("review", "decide", "--action", FUSE, "--override", "false", "--reason", "=HYPERLINK()", "--as", "ada")
    assert on("review", "export", "--output", "out.policy")[0] == 0
    assert json.loads((place / "out.policy").read_text())["actions"][0]["override"] is False
    assert on("review", "export", "--output", "out.jsonl", "--format", "jsonl")[0] == 0
    events = [json.loads(line) for line in (place / "out.jsonl").read_text().splitlines()]
    assert [each["kind"] for each in events] == ["registered", "overridden"]
    assert events[1]["reason"] == "=HYPERLINK()"
    on("review", "export", "--output", "out.csv", "--format", "csv")
    rows = list(csv.DictReader(io.StringIO((place / "out.csv").read_text())))
    assert [(each["actor"], each["event"]) for each in rows] == [("ada", "registered"), ("ada", "overridden")]
    assert on("review", "export", "--output", "x", "--format", "exe")[0] == 2


def test_policy_made_under_other_rules_is_said_in_time(on, ada, place):
    policy = json.loads((place / "net.policy").read_text())
    del policy["version"]
    policy |= {"format": "metainfer.policy/1", "ruleset_digest": "sha256:" + 64 * "0"}
    (place / "net.policy").write_text(json.dumps(policy))
    approve(on, FUSE, OTHER)
    assert "make it anew before it is signed" in on("review", "list")[1]
    status, _, err = with_passphrase(on, "sign", "--key", "ada", "--output", "net.bundle")
    assert (status, "wrong_rules" in err) == (3, True)


def test_batch_of_low_risk_lists_first_and_decides_only_when_told(on, place):
    low = {"level": "low", "facts": []}
    action = {"node_id": "Conv_0", "action": "fuse", "params": {"with": ["Relu_1"]}, "risk": low}
    high = {"node_id": "Relu_1", "action": "fuse", "params": {}, "risk": {"level": "high", "facts": ["big"]}}
    policy = {"format": "metainfer.policy/1", "actions": [action, high]}
    (place / "net.policy").write_text(json.dumps(policy))
    status, out, _ = on("review", "decide", "--all-low-risk", "--approve", "--as", "ada", "--json")
    assert (status, json.loads(out)) == (0, {"would_decide": [FUSE]})
    assert "approved" not in on("review", "list")[1]
    on("review", "decide", "--all-low-risk", "--yes", "--approve", "--as", "ada")
    counts = json.loads(on("review", "list", "--json")[1])["counts"]
    assert (counts["approved"], counts["required"]) == (1, 1)


def test_an_override_is_not_undone_without_being_checked(on, run):
    give = ("review", "decide", "--action", FUSE, "--as", "ada")
    assert on(*give, "--override", "false", "--reason", "off")[0] == 0
    status, _, err = run(*give, "net.policy", "--undo")
    assert (status, "before it is undone" in err) == (2, True)
    assert on(*give, "--undo")[0] == 0


def test_tag_withdraw_reject_comment_undo(on):
    def decide(*options):
        return on("review", "decide", "--action", FUSE, "--as", "ada", *options)

    def state():
        return json.loads(on("review", "show", "--action", FUSE, "--json")[1])["actions"][0]

    approve(on, FUSE)
    assert decide("--tag", "--reason", "why INT8?")[0] == 0
    assert (state()["state"], state()["tag"]) == ("required", {"by": "ada", "reason": "why INT8?"})
    assert decide("--undo")[0] == 0
    assert state()["state"] == "approved"
    assert decide("--reject", "--reason", "no")[0] == 0
    assert state()["state"] == "rejected"
    assert decide("--withdraw")[0] == 0
    assert decide("--comment", "--reason", "hm")[0] == 0
    assert state()["state"] == "required"
    assert [each["kind"] for each in state()["history"]] == [
        "approved",
        "tagged",
        "undone",
        "rejected",
        "withdrawn",
        "commented",
    ]


def test_who_approves_is_told_that_this_answers_what_was_asked(on):
    def decide(*options):
        return on("review", "decide", "--action", FUSE, *options)

    lines = ("--why-allowed", "measured", "--accuracy-effect", "0.1 dB", "--fallback", "float")
    assert decide("--tag", "--reason", "why INT8?", "--as", "ada")[0] == 0
    assert decide("--approve", "--as", "ada")[0] == 2
    answered = f"{FUSE}: the three lines answer the closer look of ada: why INT8?\n"
    assert decide("--approve", *lines, "--as", "bob")[1].endswith(answered)
    assert "answer the closer look" not in decide("--approve", *lines, "--as", "ada")[1]  # it is answered already


def test_feature_09_threads_on_the_command_line(on):
    def decide(*more):
        return on("review", "decide", "--action", FUSE, *more, "--as", "ada")

    assert decide("--comment", "--reason", "which data?")[0] == 0
    assert (
        "commented (text: the calibration set; answers: 2)"
        in decide("--comment", "--answers", "2", "--reason", "the calibration set")[1]
    )
    assert json.loads(on("review", "list", "--json")[1])["actions"][0]["open_comments"] == [2]
    assert "resolved (thread: 2)" in decide("--resolve", "2")[1]
    assert json.loads(on("review", "list", "--json")[1])["actions"][0]["open_comments"] == []
    status, _, error = decide("--resolve", "2")
    assert (status, f"{FUSE}: it has no open comment no. 2." in error) == (2, True)
    assert decide("--resolve", "2", "--approve")[0] == 2


def test_feature_06_diff_on_the_command_line(run, place):
    assert run("review", "diff", "net.policy", "net.policy")[:2] == (0, "No action differs.\n")
    policy = json.loads((place / "net.policy").read_text())
    policy["actions"] = [policy["actions"][0] | {"override": False}]
    (place / "second.policy").write_text(json.dumps(policy))
    status, out, _ = run("review", "diff", "net.policy", "second.policy")
    assert status == 1
    lines = out.splitlines()
    assert [f"{OTHER}: removed" in lines, f"{FUSE}: changed" in lines] == [True, True]
    assert "    It is switched off now." in lines
    found = json.loads(run("review", "diff", "net.policy", "second.policy", "--json")[1])["changes"]
    assert {each["id"]: each["change"] for each in found} == {FUSE: "changed", OTHER: "removed"}


@pytest.mark.parametrize(
    ("options", "what"),
    [
        (["--approve"], "No action is named"),
        (["--action", "nope@x", "--approve"], "no such action"),
        (["--action", FUSE], "No decision is given"),
        (["--action", FUSE, "--approve", "--reject"], "do not go together"),
        (["--action", FUSE, "--approve"], "needs a justification"),
        (["--action", FUSE, "--approve", "--why-allowed", "x"], "not complete"),
        (["--action", FUSE, "--tag"], "needs a reason"),
        (["--action", FUSE, "--tag", "--reason", "x" * 2001], "reason is not right"),
        (["--action", FUSE, "--undo"], "nothing about it"),
        (["--action", FUSE, "--undo", "--approve"], "stands alone"),
        (["--action", FUSE, "--withdraw"], "nothing here to withdraw"),
        (["--action", FUSE, "--approve", *JUSTIFIED, "--as", "Ада"], "cannot be a person's id"),
    ],
)  # fmt: skip
def test_wrong_decisions_are_answered_clearly_and_write_nothing(on, options, what):
    options = options if "--as" in options else [*options, "--as", "ada"]
    status, out, err = on("review", "decide", *options)
    assert (status, out) == (2, "")
    assert what in err
    assert on("review", "list")[1].endswith("2 actions: 2 required.\n")


def test_who_decides_when_nobody_is_named(on, place, monkeypatch):
    subprocess.run(["git", "init", "-q", "."], check=True, timeout=60)
    subprocess.run(["git", "config", "user.email", "Grace.Hopper@Example.org"], check=True, timeout=60)
    status, out, _ = on("review", "decide", "--action", FUSE, "--tag", "--reason", "look")
    assert (status, "grace.hopper@example.org tagged" in out) == (0, True)


def test_policy_without_model_and_spec_is_not_decided(run):
    status, _, err = run("review", "decide", "net.policy", "--action", FUSE, "--approve", *JUSTIFIED, "--as", "ada")
    assert status == 2
    assert "--model and --hw-spec" in err


def test_bundle_in_place_of_a_policy(on, run, ada, place):
    signed(on, run, place)
    status, _, err = run("review", "list", "net.bundle")
    assert status == 2
    assert "signed bundle" in err


def test_keys_are_made_once_and_need_a_passphrase(run, ada, place, monkeypatch):
    assert with_passphrase(run, "keys", "new", "ada")[0] == 2
    status, _, err = run("keys", "new", "bob")
    assert (status, "there is no terminal" in err) == (2, True)
    monkeypatch.setitem(sys.modules, "keyring", None)
    status, _, err = run("keys", "new", "bob", "--keyring")
    assert (status, "no key store" in err) == (1, True)
    assert sorted(path.name for path in (place / "config/meta-infer/keys").iterdir()) == ["ada.key", "ada.pub"]
    assert run("keys", "trust", "config/meta-infer/keys/ada.pub", "--role", "king")[0] == 2
    assert "ada  releaser, reviewer" in run("keys", "list")[1]


def test_wrong_passphrase_and_missing_key(on, ada, monkeypatch):
    approve(on, FUSE, OTHER)
    read_end, write_end = os.pipe()
    os.write(write_end, b"wrong horse\n")
    os.close(write_end)
    status, _, err = on("sign", "--key", "ada", "--output", "x", "--passphrase-fd", str(read_end))
    os.close(read_end)
    assert (status, "cannot be unlocked" in err, "wrong horse" in err) == (2, True, False)
    assert "no such private key" in on("sign", "--key", "bob", "--output", "x", "--passphrase-fd", "0")[2]


def test_feature_10_check_finds_a_changed_row(on, run, place):
    approve(on, FUSE)
    connection = sqlite3.connect(place / "workspace/review.db", isolation_level=None)
    connection.execute("DROP TRIGGER event_is_never_updated")
    connection.execute("UPDATE event SET body = replace(body, 'measured', 'guessed') WHERE seq = 2")
    connection.close()
    status, out, _ = run("review", "check", "--json")
    answer = json.loads(out)
    assert (status, answer["whole"]) == (1, False)
    assert {"seq": 2, "what": "Event 2 was changed: its hash does not fit."} in answer["faults"]


def test_an_end_without_an_override_and_an_export_over_the_trust_file_are_refused(on, ada, place):
    status, _, err = on("review", "decide", "--action", OTHER, "--approve", *JUSTIFIED, "--expires", "2027-06-30")
    assert (status, err.splitlines()[-3]) == (2, "--expires stands alone.")
    trust = place / "workspace" / "trust.json"
    before = trust.read_bytes()
    assert on("review", "export", "--output", "workspace/trust.json")[0] == 2
    assert on("review", "export", "--output", "workspace/review.db")[0] == 2
    assert trust.read_bytes() == before
    assert on("review", "list")[0] == 0
