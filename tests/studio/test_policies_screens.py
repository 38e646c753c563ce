import json
import re
import shlex
import sys
from pathlib import Path

import pytest
from finished import PACKAGE, finished
from fitted import NAME, PATH, fitted
from screens import screen

from metainfer_core.policy.policy import Policy
from metainfer_core.verify.report import BuildReport
from studio.background import jobs
from studio.words.plain_words import plain_words
from studio.words.texts import text


def html(page):
    return "\n".join(each.value for each in page.get("html"))


# Adapt


def searches(workspace):
    """The searches for policies; other jobs read a model whose data is asked for."""
    return [job for job in jobs.jobs(workspace) if job.order.kind == "adapt"]


def test_adapt_says_what_is_missing(tmp_path, monkeypatch):
    page = screen("adapt", tmp_path, monkeypatch)
    assert [each.value for each in page.info] == [text("adapt_no_model")]


def test_adapt_shows_proposals_refusals_and_candidates(tmp_path, monkeypatch):
    policy = fitted(tmp_path, a0="high")
    refusal = {"kind": "quantize", "nodes": ["a", "b"], "reason": "It has no integer form."}
    plain = policy.plain() | {"refusals": [refusal]}
    (tmp_path / PATH).write_bytes(Policy.from_plain(plain).to_json())
    page = screen("adapt", tmp_path, monkeypatch, model="net.onnx", spec="esp32s3@1.0.0")
    shown = html(page)
    assert "▲ 1 high" in shown
    assert shown.count("<tr><td>") == len(policy.candidates)
    assert re.search(r"✓ chosen</b></td><td>int8 on lx7", shown)
    proposed, refused = page.dataframe
    assert len(proposed.value) == 9
    assert proposed.value.iloc[2].tolist()[:3] == ["● low", "Quantize to INT8", "conv_1"]
    assert refused.value.values.tolist() == [["quantize", "a, b", "It has no integer form."]]
    assert "The noise may have at most 1/100 of an output's power: about 10.0% of its size." in [
        each.value for each in page.caption
    ]


def test_adapt_shows_candidates_whose_time_nobody_knows(tmp_path, monkeypatch):
    fitted(tmp_path)
    plain = json.loads((tmp_path / PATH).read_bytes())
    for candidate in plain["candidates"]:
        candidate.pop("predicted_ms", None)
    (tmp_path / PATH).write_bytes(Policy.from_plain(plain).to_json())
    page = screen("adapt", tmp_path, monkeypatch, model="net.onnx", spec="esp32s3@1.0.0")
    assert html(page).count('var(--predicted)">unknown</td>') == len(plain["candidates"])


def test_adapt_starts_the_command_that_its_fields_say(tmp_path, monkeypatch):
    fitted(tmp_path)
    monkeypatch.setattr(jobs, "COMMAND", ("true",))
    page = screen("adapt", tmp_path, monkeypatch, model="net.onnx", spec="esp32s3@1.0.0")
    page.select_slider(key="budget").set_value(30)
    page.number_input(key="goal").set_value(2.5)
    page.toggle(key="alone").set_value(True)
    page.toggle(key="integers").set_value(False)
    page.button(key="start").click().run()
    assert not page.exception
    (job,) = searches(tmp_path)
    assert job.order.subject == "net.onnx"
    assert job.order.arguments == (
        "adapt", "--model", str(tmp_path / "net.onnx"), "--hw-spec", "esp32s3@1.0.0",
        "--calib", str(tmp_path / "calibration.npz"), "--min-sqnr-db", "30", "--search-mode", "balanced",
        "--precision", "float32", "--target-latency-ms", "2.5", "--input-shape", "x=[1,3,8,8]",
        "--output", str(tmp_path / PATH),
    )  # fmt: skip


@pytest.mark.parametrize("thorough", [True, False])
def test_adapt_searches_as_thoroughly_as_the_command_does_unless_told_otherwise(tmp_path, monkeypatch, thorough):
    fitted(tmp_path)
    (tmp_path / PATH).unlink()
    monkeypatch.setattr(jobs, "COMMAND", ("true",))
    page = screen("adapt", tmp_path, monkeypatch, model="net.onnx", spec="esp32s3@1.0.0")
    assert page.toggle(key="alone").value is True
    page.toggle(key="alone").set_value(thorough)
    page.button(key="start").click().run()
    (job,) = searches(tmp_path)
    assert ("--fast-mode" not in job.order.arguments) == thorough


def test_adapt_asks_for_nothing_that_is_under_way(tmp_path, monkeypatch):
    fitted(tmp_path)
    (tmp_path / PATH).unlink()
    assert text("adapt_empty_lead") in html(screen("adapt", tmp_path, monkeypatch, model="net.onnx"))
    monkeypatch.setattr(jobs, "COMMAND", ("sh", "-c", "sleep 60"))
    order = jobs.Order(kind="adapt", title="t", arguments=("adapt",), subject="net.onnx", actor="ada")
    job = jobs.start(order, tmp_path)
    assert text("adapt_empty_lead") not in html(screen("adapt", tmp_path, monkeypatch, model="net.onnx"))
    jobs.cancel(job.id, tmp_path)


# Sign


def test_adapt_starts_nothing_for_another_model_than_was_shown(tmp_path, monkeypatch):
    fitted(tmp_path)
    (tmp_path / "other.onnx").write_bytes((tmp_path / "net.onnx").read_bytes())
    page = screen("adapt", tmp_path, monkeypatch, model="net.onnx", spec="esp32s3@1.0.0")
    monkeypatch.setattr(jobs, "COMMAND", ("true",))
    (tmp_path / "net.onnx").unlink()
    page.button(key="start").click().run()
    assert not page.exception
    assert searches(tmp_path) == []
    assert any("net" in each.value for each in page.warning)
    page.button(key="start").click().run()  # what is shown now is meant
    assert [job.order.subject for job in searches(tmp_path)] == ["other.onnx"]


def test_sign_says_what_blocks_and_how_keys_are_made(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "mine"))
    fitted(tmp_path, a0="high")
    page = screen("sign", tmp_path, monkeypatch, policy=PATH)
    shown = html(page)
    assert "9 of 9 actions block signing." in shown
    assert '<b class="required">! 1 needs three lines</b>' in shown
    assert '<b class="pending">○ 8 open</b>' in shown
    assert "What is signed: 9 actions that fit net.onnx to esp32s3 1.0.0." in shown
    assert page.warning[0].value == text("sign_no_releaser")
    commands = [each.value for each in page.code]
    program = Path(sys.executable).with_name("meta-infer")
    assert program.is_file()
    assert commands[0].startswith(f"{program} keys new ")
    who = commands[0].rsplit(" ", 1)[1]
    assert commands[1].splitlines() == [
        f"{program} keys trust {tmp_path}/mine/meta-infer/keys/{who}.pub \\",
        "  --role reviewer \\",
        "  --role releaser \\",
        f"  --workspace {tmp_path}",
    ]
    public = tmp_path / "mine" / "meta-infer" / "keys" / f"{who}.pub"
    public.parent.mkdir(parents=True)
    public.touch()
    with_key = screen("sign", tmp_path, monkeypatch, policy=PATH)
    assert with_key.warning[0].value == text("sign_key_untrusted")
    assert [each.value for each in with_key.code] == commands[1:]
    assert commands[2].splitlines() == [
        f"{program} sign {tmp_path / PATH} \\",
        f"  --model {tmp_path / 'net.onnx'} \\",
        "  --hw-spec esp32s3@1.0.0 \\",
        f"  --key {who} \\",
        f"  --workspace {tmp_path} \\",
        f"  --output {tmp_path}/bundles/{NAME}_1.bundle",
    ]


def test_commands_are_quoted_and_end_where_the_shell_ends_them(tmp_path, monkeypatch):
    work = tmp_path / "a b; --c $HOME"
    work.mkdir()
    fitted(work)
    page = screen("sign", work, monkeypatch, policy=PATH)
    words = shlex.split([each.value for each in page.code][2].replace("\\\n", " "))
    assert words[1:3] == ["sign", str(work / PATH)]
    assert words[-2:] == ["--output", str(work / f"bundles/{NAME}_1.bundle")]


@pytest.mark.parametrize(
    ("name", "data", "what"),
    [
        ("a.bundle", b"", "empty"),
        ("x.pdf", b"%PDF-1.7", "manual"),
        ("ada.key", b"-----BEGIN ENCRYPTED PRIVATE KEY-----", "key"),
        ("ada.pub", b'{"format": "metainfer.public_key/1", "person": "ada"}', "public_key"),
        ("net.onnx", b"\x08\x08", "model"),
        ("a.bin", b"PK", "package"),
        ("c.npz", b"PK", "data"),
        ("chip.yaml", b"a: 1", "spec"),
        ("renamed.bundle", b'{"actions": []}', "policy"),
        ("README.md", b"# no bundle", "unreadable"),
    ],
)
def test_another_file_is_named_and_the_right_one_asked_for(tmp_path, monkeypatch, name, data, what):
    fitted(tmp_path)
    page = screen("sign", tmp_path, monkeypatch, policy=PATH)
    page.file_uploader(key="dropped").upload(name, data).run()
    assert page.error[0].value.replace("\\", "") == (
        f"{name} is {text(f'dropped_{what}')}, not a signed bundle. Drop {NAME}_1.bundle here: the file that the "
        "command above writes."
    )
    assert [each.value for each in page.warning if each.value == text("dropped_key_then")] == (
        [text("dropped_key_then")] if what == "key" else []
    )
    assert not (tmp_path / "bundles").exists()


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"{", "this is not JSON"),
        (b"{}", "is not signed"),
        (b'{"payloadType": "x", "payload": "", "signatures": []}', "is not signed"),
        (b'{"payloadType": "x", "payload": "", "signatures": 7}', "this is not a signed envelope"),
        (b"\xff\xfe", "is not UTF-8"),
    ],
)
def test_what_is_no_bundle_is_not_kept(tmp_path, monkeypatch, data, said):
    fitted(tmp_path)
    page = screen("sign", tmp_path, monkeypatch, policy=PATH)
    page.file_uploader(key="dropped").upload("a.bundle", data).run()
    assert not page.exception
    assert said in html(page) + "".join(error.value.replace("\\", "") for error in page.error)
    assert not list(tmp_path.rglob("*.bundle"))


def test_sign_says_that_the_rules_have_moved(tmp_path, monkeypatch):
    policy = fitted(tmp_path)
    assert text("sign_other_rules") not in html(screen("sign", tmp_path, monkeypatch, policy=PATH))
    plain = policy.plain() | {"ruleset_digest": "sha256:" + 64 * "0"}
    (tmp_path / PATH).write_bytes(Policy.from_plain(plain).to_json())
    for name in ("sign", "review"):
        page = screen(name, tmp_path, monkeypatch, policy=PATH)
        assert text("sign_other_rules") in html(page)
        (way,) = [each for each in page.get("page_link") if each.label == text("policy_to_adapt")]
        assert way.proto.page.endswith("adapt")
        assert "model=net.onnx" in way.proto.query_string
        assert text("sign_to_review") not in [each.label for each in page.get("page_link")]


# Build report


def test_no_package_teaches(tmp_path, monkeypatch):
    page = screen("report", tmp_path, monkeypatch)
    assert text("report_empty_lead") in html(page)


def test_the_report_says_in_plain_words_what_the_prediction_lacks(tmp_path, monkeypatch):
    finished(tmp_path)
    path = (tmp_path / PACKAGE).with_suffix(".report.json")
    launch = "compute_units.lx7.launch_overhead_us"
    lacks = f"The prediction does without {launch} (launches not counted), which the spec lacks."
    plain = BuildReport.from_json(path.read_bytes()).plain() | {"warnings": [lacks]}
    path.write_bytes(BuildReport.from_plain(plain).to_json())
    shown = html(screen("report", tmp_path, monkeypatch, package=PACKAGE))
    assert "how long starting work on lx7 takes (compute_units.lx7.launch_overhead_us)" in shown
    assert "does without" not in shown


def test_a_report_from_emulation_has_no_times_and_opens(tmp_path, monkeypatch):
    finished(tmp_path)
    path = (tmp_path / PACKAGE).with_suffix(".report.json")
    plain = BuildReport.from_json(path.read_bytes()).plain() | {"target": "aarch64_linux"}
    path.write_bytes(BuildReport.from_plain(plain | {"latency": None}).to_json())
    page = screen("report", tmp_path, monkeypatch, package=PACKAGE)
    assert not page.warning
    assert text("report_no_latency") in html(page)


def test_a_report_that_cannot_be_read_says_why_and_one_that_is_not_there_says_so(tmp_path, monkeypatch):
    finished(tmp_path)
    path = (tmp_path / PACKAGE).with_suffix(".report.json")
    path.write_bytes(b'{"format": "metainfer.report/9"}')
    page = screen("report", tmp_path, monkeypatch, package=PACKAGE)
    assert (len(page.error), len(page.warning)) == (1, 0)
    assert plain_words(path.name) in page.error[0].value
    path.unlink()
    page = screen("report", tmp_path, monkeypatch, package=PACKAGE)
    assert page.warning[0].value == text("report_missing", file=plain_words(path.name))


def test_the_report_tells_how_anyone_verifies_the_package(tmp_path, monkeypatch, meta_infer):
    finished(tmp_path)
    page = screen("report", tmp_path, monkeypatch, package=PACKAGE)
    (command,) = [each.value for each in page.code if "validate" in each.value]
    status, out, _ = meta_infer(*shlex.split(command)[-2:])
    assert status == 0, out


def test_a_package_without_its_report_says_so(tmp_path, monkeypatch):
    (tmp_path / "a.bin").write_bytes(b"x")
    page = screen("report", tmp_path, monkeypatch)
    assert "a\\.report\\.json" in page.warning[0].value


@pytest.mark.parametrize(
    ("name", "query", "asked"),
    [
        ("review", {"policy": "no.policy"}, "no.policy"),
        ("review", {"policy": PATH, "action": "place@nothing"}, "place@nothing"),
        ("sign", {"policy": "../outside.policy"}, "../outside.policy"),
        ("adapt", {"model": "no.onnx", "spec": "esp32s3@1.0.0"}, "no.onnx"),
        ("adapt", {"model": "net.onnx", "spec": "no@1.0.0"}, "no@1.0.0"),
        ("specs", {"spec": "no@1.0.0"}, "no@1.0.0"),
    ],
)
def test_a_link_to_what_is_not_there_says_so_and_shows_what_is(tmp_path, monkeypatch, name, query, asked):
    fitted(tmp_path)
    page = screen(name, tmp_path, monkeypatch, **query)
    said = text("asked_lost", asked=asked)
    assert [each.value.replace("\\", "") for each in page.warning if "which is not here" in each.value] == [said]
