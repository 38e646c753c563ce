"""The demo mode on screen: a first look ends with a bundle and no key; nothing else takes that for more than a demo."""

import json
import os
import socket
import subprocess
import sys
import threading
import time

import pytest
import typer
from finished import approve_all, decided
from fitted import NAME, PATH, fitted
from screens import ROOT, screen

from metainfer_core.bundle.signed_bundle import open_bundle
from metainfer_core.bundle.trust_root import read_trust
from metainfer_core.errors import InputError, NotTrustedError
from metainfer_core.files import pending
from review_store.review.workspace import now
from review_store.signing.demo import DemoKeys, sign_demo
from review_store.signing.keys import new_key, public_key_file
from review_store.signing.trust_edit import with_key
from studio.background import jobs
from studio.cli import commands as studio_commands
from studio.files.policies import review_of, subject
from studio.home.stations import rows
from studio.session.demo_mode import VARIABLE
from studio.sign.sign_demo import sign_here
from studio.words.texts import text

BUNDLE = f"bundles/{NAME}_1.bundle"


def html(page):
    return "\n".join(each.value for each in page.get("html"))


def ended(folder):
    end = time.monotonic() + 300
    while any(job.is_open for job in jobs.jobs(folder)) and time.monotonic() < end:
        time.sleep(0.1)


def command(*words):
    """Exit status and answer of a command."""
    done = subprocess.run(
        [sys.executable, "-m", "metainfer_core", *map(str, words), "--json"],
        cwd=ROOT,
        env={name: value for name, value in os.environ.items() if name != VARIABLE},
        capture_output=True,
        timeout=300,
        check=False,
    )
    return done.returncode, json.loads(done.stdout or b"{}")


def demo(work):
    """Signs as the screen does, without it."""
    approve_all(work)
    found = subject(work / PATH)
    with pending(work / BUNDLE, "bundle") as file:
        sign_demo(review_of(found).log, found.policy, work / "trust.json", DemoKeys(), "ada", now(),
                  "2126-01-01T00:00:00Z", file=file)  # fmt: skip


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@pytest.fixture
def main(monkeypatch):
    """The command `studio`, which leads to no server here."""
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr("studio.cli.announce", lambda port: ())
    app = typer.Typer()
    studio_commands(app)
    return app.registered_commands[0]


@pytest.fixture
def work(tmp_path, monkeypatch):
    monkeypatch.setenv("METAINFER_WORKSPACE", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path.parent / "config"))
    fitted(tmp_path)
    return tmp_path


@pytest.fixture
def shown(work, monkeypatch):
    """The sign screen of a studio in demo mode."""
    monkeypatch.setenv(VARIABLE, "on")
    return lambda: screen("sign", work, monkeypatch, policy=PATH)


def test_the_screen_alone_leads_to_a_signed_bundle(work, shown):
    page = shown()
    assert page.warning[0].value == text("demo_banner")
    assert page.button(key="demo_sign").disabled
    approve_all(work)
    shown()
    ended(work)
    page = shown()
    assert not page.button(key="demo_sign").disabled
    page.button(key="demo_sign").click().run()
    assert not page.exception
    assert not page.error
    assert (work / BUNDLE).is_file()
    assert text("bundle_demo") in html(page)
    assert text("bundle_trusted") not in html(page)
    assert page.button(key=f"compile_{BUNDLE}").label == text("compile_start")
    people = read_trust(work / "trust.json").people
    assert {key.demo for person in people for key in person.keys} == {True}
    assert "ada" in {person.id for person in people}

    verify = ("verify", work / BUNDLE, "--trust", work / "trust.json")
    status, answer = command(*verify)
    assert (status, answer["trusted"], [each["check"] for each in answer["reasons"]]) == (3, False, ["demo"])
    status, answer = command(*verify, "--allow-demo")
    assert (status, answer["demo"], answer["releasers"]) == (0, True, [next(p.id for p in people if p.id != "ada")])


def test_a_studio_that_is_not_a_demo_does_not_take_its_bundles(work, shown, monkeypatch):
    demo(work)
    monkeypatch.setenv(VARIABLE, "")
    page = screen("sign", work, monkeypatch, policy=PATH)
    assert text("bundle_refused") in html(page)
    assert "a studio signed it with keys of its own" in html(page)
    assert text("sign_no_releaser") in [each.value for each in page.warning]
    assert text("demo_banner") not in [each.value for each in page.warning]
    assert not [each for each in page.button if each.key in ("demo_sign", f"compile_{BUNDLE}")]


def test_two_windows_that_sign_at_once_make_two_bundles(work, monkeypatch):
    approve_all(work)
    monkeypatch.setattr("studio.sign.sign_demo.person", lambda: "ada")
    found = subject(work / PATH)
    seen_by_both = review_of(found)
    pressed = [threading.Thread(target=sign_here, args=(found, seen_by_both)) for _ in range(2)]
    for each in pressed:
        each.start()
    for each in pressed:
        each.join(60)
    trust = read_trust(work / "trust.json")
    opened = [
        open_bundle((work / f"bundles/{NAME}_{serial}.bundle").read_bytes(), trust, now(), demo_allowed=True)
        for serial in (1, 2)
    ]
    assert [each.statement.predicate.serial for each in opened] == [1, 2]


def test_what_was_decided_meanwhile_is_looked_at_first(work, monkeypatch):
    approve_all(work)
    monkeypatch.setattr("studio.sign.sign_demo.person", lambda: "ada")
    found = subject(work / PATH)
    seen = review_of(found)
    decided(work, [seen.state.actions[0].id], "tag", reason="look")
    approve_all(work)
    with pytest.raises(InputError, match="decided about this policy meanwhile"):
        sign_here(found, seen)
    assert not (work / BUNDLE).exists()


def test_the_station_calls_it_a_demo_too(work, monkeypatch):
    demo(work)

    def signed():
        (row,) = rows(work)
        (station,) = [each for each in row.stations if each.name == "signed"]
        return station.state, station.sentence

    monkeypatch.setenv(VARIABLE, "on")
    assert signed() == ("done", text("station_signed_demo", file=BUNDLE))
    monkeypatch.setenv(VARIABLE, "")
    assert signed() == ("next", text("station_signed_nobody"))


def test_what_is_compiled_of_a_demo_is_asked_for_as_a_demo(work, shown, monkeypatch):
    demo(work)
    monkeypatch.setattr(jobs, "COMMAND", ("true",))
    shown().button(key=f"compile_{BUNDLE}").click().run()
    (job,) = [each for each in jobs.jobs(work) if each.order.kind == "compile"]
    assert "--allow-demo" in job.order.arguments


def test_where_people_have_keys_the_demo_says_that_it_does_not_sign(work, shown, main):
    approve_all(work)
    trust = with_key(read_trust(work / "trust.json"), public_key_file("bob", new_key()), ("reviewer", "releaser"))
    (work / "trust.json").write_bytes(trust.to_json())
    page = shown()
    assert "people sign with keys of their own, so the demo does not sign here" in page.info[0].value
    assert not [each for each in page.button if each.key == "demo_sign"]
    with pytest.raises(NotTrustedError, match="keys of their own"):
        main.callback(port=free_port(), workspace=work, with_sample=False, window=False, demo=True)


def test_without_the_switch_there_is_no_demo_whatever_the_environment_says(work, main, monkeypatch):
    monkeypatch.setenv(VARIABLE, "on")
    started = []
    monkeypatch.setattr(os, "execv", lambda *words: started.append(dict(os.environ)[VARIABLE]))
    for is_on in (False, True):
        main.callback(port=free_port(), workspace=work, with_sample=False, window=False, demo=is_on)
    assert started == ["", "on"]
    monkeypatch.setenv(VARIABLE, started[0])
    page = screen("sign", work, monkeypatch, policy=PATH)
    assert not [each for each in page.button if each.key == "demo_sign"]
    assert text("demo_banner") not in [each.value for each in page.warning]
