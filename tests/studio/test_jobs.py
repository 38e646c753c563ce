import os
import signal
import sys
import time
from types import SimpleNamespace

import pytest

from metainfer_core.errors import InputError
from metainfer_core.files import write_bytes
from studio.background import job as runner
from studio.background import jobs
from studio.background.job_view import _found
from studio.background.jobs import Order, Told


@pytest.fixture
def script(monkeypatch):
    """Lets jobs run a Python text instead of a command of meta-infer."""

    def use(text):
        monkeypatch.setattr(jobs, "COMMAND", (sys.executable, "-c", text))

    return use


def order(**other):
    return Order(**{"kind": "ingest", "title": "Reading a.pdf", "arguments": ("x",)} | other)


def wait_for(workspace, job_id, wanted, seconds=30):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = jobs.job(job_id, workspace)
        if wanted(found):
            return found
        time.sleep(0.02)
    raise AssertionError(f"still {found}")


def test_a_job_gives_its_answer_and_how_long_it_took(tmp_path, script):
    script("import sys, json; print(json.dumps({'said': sys.argv[1:]}))")
    started = jobs.start(order(subject="manuals/a.pdf", actor="ada"), tmp_path)
    done = wait_for(tmp_path, started.id, lambda job: not job.is_open)
    assert (done.state, done.exit_status, done.error) == ("done", 0, None)
    assert done.answer() == {"said": ["x", "--json"]}
    assert (done.order.subject, done.order.actor) == ("manuals/a.pdf", "ada")
    assert 0 < done.seconds < 30


def test_progress_and_time_left_at_the_pace_of_the_step(tmp_path, script):
    script(
        "import sys, json, time\n"
        "for done in (1, 2, 3):\n"
        "    sys.stderr.write(json.dumps({'progress': ['reading pages', done, 40]}) + '\\n'); sys.stderr.flush()\n"
        "    time.sleep(0.25)\n"
        "time.sleep(60)\n"
    )
    started = jobs.start(order(), tmp_path)
    running = wait_for(tmp_path, started.id, lambda job: job.done == 3)
    assert (running.state, running.step, running.total) == ("running", "reading pages", 40)
    assert running.seconds_left > 37 * 0.2 / 3
    cancelled = jobs.cancel(started.id, tmp_path)
    assert (cancelled.state, cancelled.step, cancelled.done) == ("cancelled", "reading pages", 3)


@pytest.mark.parametrize(
    ("done", "total", "begin", "told", "now", "left"),
    [
        (10, 40, 100.0, 120.0, 120.0, 60.0),
        (10, 40, 100.0, 120.0, 150.0, 30.0),  # it runs down while nothing is reported
        (31, 32, 100.0, 162.0, 165.0, None),  # 2 s were said to be left, 3 s ago
        (32, 32, 100.0, 164.0, 164.0, None),
        (0, 32, 100.0, 100.0, 130.0, None),
        (1, 32, 100.0, 100.0, 130.0, None),  # no pace is known yet
    ],
)
def test_time_left_is_dropped_when_it_has_proved_wrong(done, total, begin, told, now, left):
    assert jobs._left(done, total, begin, told, now) == left


def test_the_last_of_many_reports_is_written_though_nothing_follows(tmp_path):
    progress = runner._Progress(tmp_path, time.time())
    for done in range(33):
        progress.say("calibrating", done, 32)
    end = time.monotonic() + 10
    while jobs._plain(tmp_path / "progress.json")["done"] != 32:
        assert time.monotonic() < end, jobs._plain(tmp_path / "progress.json")
        time.sleep(0.02)


def test_cancel_kills_the_whole_group_even_when_it_does_not_listen(tmp_path, script, monkeypatch):
    monkeypatch.setattr(jobs, "_GRACE_SECONDS", 0.3)
    child = tmp_path / "child"
    script(
        "import signal, subprocess, sys, time\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "below = subprocess.Popen([sys.executable, '-c', 'import signal, time; "
        "signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(60)'])\n"
        f"open({str(child)!r}, 'w').write(str(below.pid) + ' ')\n"
        "time.sleep(60)\n"
    )
    started = jobs.start(order(), tmp_path)
    wait_for(tmp_path, started.id, lambda job: child.exists() and child.read_text().endswith(" "))
    below = int(child.read_text())
    assert jobs.cancel(started.id, tmp_path).state == "cancelled"
    end = time.monotonic() + 5
    while _runs(below) and time.monotonic() < end:
        time.sleep(0.02)
    assert not _runs(below)


def _runs(pid):
    try:
        os.kill(pid, 0)
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rsplit(")", 1)[1].split()[0] != "Z"
    except (ProcessLookupError, FileNotFoundError):
        return False


def test_the_error_is_the_commands_own(tmp_path, script):
    script('print(\'{"error": {"kind": "InputError", "what": "W", "why": "Y", "fix": "F"}}\'); exit(2)')
    started = jobs.start(order(), tmp_path)
    failed = wait_for(tmp_path, started.id, lambda job: not job.is_open)
    assert (failed.state, failed.exit_status, failed.error) == ("failed", 2, Told(what="W", why="Y", fix="F"))


def test_a_command_that_breaks_off_tells_its_last_words(tmp_path, script):
    script("import sys; sys.stderr.write('first\\nout of paper\\n'); exit(3)")
    started = jobs.start(order(), tmp_path)
    failed = wait_for(tmp_path, started.id, lambda job: not job.is_open)
    assert failed.error == Told(
        what="This job failed.",
        why="first\nout of paper",
        fix="Mend what it says and start it again.",
    )


def test_a_negative_verdict_is_an_answer(tmp_path, script):
    script("print('{\"findings\": 3}'); exit(1)")
    started = jobs.start(order(), tmp_path)
    done = wait_for(tmp_path, started.id, lambda job: not job.is_open)
    assert (done.state, done.exit_status, done.error, done.answer()) == ("done", 1, None, {"findings": 3})


def test_a_job_that_was_killed_from_outside_says_so(tmp_path, script):
    script("import time; time.sleep(60)")
    started = jobs.start(order(), tmp_path)
    wait_for(tmp_path, started.id, lambda job: job.state == "running")
    os.killpg(int((started.folder / "alive").read_text()), signal.SIGKILL)
    lost = wait_for(tmp_path, started.id, lambda job: not job.is_open)
    assert lost.state == "failed"
    assert lost.error.what == "This job ended without an answer."


def test_a_lost_job_tells_that_the_disk_is_full(tmp_path, script, monkeypatch):
    script("import time; time.sleep(60)")
    started = jobs.start(order(), tmp_path)
    wait_for(tmp_path, started.id, lambda job: job.state == "running")
    os.killpg(int((started.folder / "alive").read_text()), signal.SIGKILL)
    assert wait_for(tmp_path, started.id, lambda job: not job.is_open).error.why == (
        "Its process was killed, or the machine was restarted."
    )
    monkeypatch.setattr(jobs.shutil, "disk_usage", lambda folder: SimpleNamespace(free=4096))
    assert jobs.job(started.id, tmp_path).error.why == "The disk of the workspace is full."


def test_whoever_sees_a_job_sees_one_that_runs_on(tmp_path, script, monkeypatch):
    ran = tmp_path / "ran"
    script(f"import pathlib; pathlib.Path({str(ran)!r}).touch(); print('{{}}')")
    seen = []

    def looks_then_writes(path, data, what):
        seen.append((jobs.jobs(tmp_path), (path.parent / "alive").read_text().isdecimal(), jobs._is_alive(path.parent)))
        write_bytes(path, data, what)

    monkeypatch.setattr(jobs, "write_bytes", looks_then_writes)
    started = jobs.start(order(), tmp_path)
    assert seen == [((), True, True)]
    assert wait_for(tmp_path, started.id, lambda job: not job.is_open).state == "done"
    assert ran.exists()


def test_a_runner_without_an_order_runs_nothing(tmp_path, monkeypatch):
    ran = tmp_path / "ran"
    monkeypatch.setattr(runner, "ORDERED_WITHIN_SECONDS", 0.2)
    before = signal.getsignal(signal.SIGTERM)
    try:
        assert runner.run(tmp_path, [sys.executable, "-c", f"open({str(ran)!r}, 'w')"]) == 128 + signal.SIGTERM
    finally:
        signal.signal(signal.SIGTERM, before)
    assert list(tmp_path.iterdir()) == []


def test_a_job_whose_order_cannot_be_written_is_ended_and_never_seen(tmp_path, script, monkeypatch):
    script("import time; time.sleep(60)")
    groups = []

    def full(path, data, what):
        groups.append(int((path.parent / "alive").read_text()))
        raise InputError("No space.")

    monkeypatch.setattr(jobs, "write_bytes", full)
    with pytest.raises(InputError, match="No space"):
        jobs.start(order(), tmp_path)
    assert jobs.jobs(tmp_path) == ()
    (group,) = groups
    with pytest.raises(ProcessLookupError):
        os.killpg(group, 0)


def test_progress_that_cannot_be_written_stops_no_command(tmp_path):
    (tmp_path / "progress.tmp").mkdir()  # stands for a full disk
    runner._Progress(tmp_path, 0.0).say("reading pages", 1, 2)
    assert not (tmp_path / "progress.json").exists()


def test_more_jobs_than_places_wait_for_their_turn(tmp_path, script):
    go = tmp_path / "go"
    script(f"import pathlib, time\nwhile not pathlib.Path({str(go)!r}).exists(): time.sleep(0.02)\nprint('{{}}')")
    started = [jobs.start(order(title=f"job {number}"), tmp_path) for number in range(3)]
    end = time.monotonic() + 30
    while sum(job.state == "running" for job in jobs.jobs(tmp_path)) < 2 and time.monotonic() < end:
        time.sleep(0.02)
    time.sleep(0.5)
    assert sorted(job.state for job in jobs.jobs(tmp_path)) == ["running", "running", "waiting"]
    go.touch()
    for job in started:
        assert wait_for(tmp_path, job.id, lambda job: not job.is_open).state == "done"


def test_cancelling_what_waits_or_has_ended(tmp_path, script):
    script("print('{}')")
    started = jobs.start(order(), tmp_path)
    wait_for(tmp_path, started.id, lambda job: not job.is_open)
    assert jobs.cancel(started.id, tmp_path).state == "done"


def test_only_ids_of_jobs_are_jobs(tmp_path):
    for name in ("nothing", "../jobs", "", "/etc"):
        with pytest.raises(InputError, match="There is no job"):
            jobs.job(name, tmp_path)


def test_a_real_command(tmp_path):
    started = jobs.start(order(kind="sample", title="Sample", arguments=("sample", str(tmp_path / "s"))), tmp_path)
    done = wait_for(tmp_path, started.id, lambda job: not job.is_open, 120)
    assert done.state == "done", done.error
    assert [name.rsplit("/", 1)[1] for name in done.answer()["files"]][:2] == [
        "tarnholt_v200_datasheet.pdf",
        "text_direction.onnx",
    ]
    again = jobs.start(order(kind="sample", title="Sample", arguments=("sample", str(tmp_path / "s"))), tmp_path)
    failed = wait_for(tmp_path, again.id, lambda job: not job.is_open, 120)
    assert failed.state == "failed"
    assert failed.error.why == "Nothing is overwritten."
    assert [job.id for job in jobs.jobs(tmp_path)] == sorted((started.id, again.id), reverse=True)


def test_a_failed_job_is_not_shown_once_the_same_was_begun_anew(monkeypatch):
    def job(number, state, **about):
        return jobs.Job(str(number), None, order(**about), state)

    found = [
        job(5, "running", subject="b.pdf"),
        job(4, "done", subject="a.pdf"),
        job(3, "failed", subject="a.pdf"),
        job(2, "failed", subject="a.pdf", kind="adapt"),
        job(1, "waiting", subject="b.pdf"),
    ]
    monkeypatch.setattr("studio.background.job_view.jobs", lambda: found)
    assert [each.id for each in _found(("ingest", "adapt"), (), 9)] == ["5", "4", "2", "1"]
    assert [each.id for each in _found(("ingest", "adapt"), ("a.pdf",), 1)] == ["4"]
