"""Backup and restore: whole, the same bytes, safe against hostile files, and never silently an older record."""

import json
import shutil
import sqlite3
import subprocess
import sys
import threading
import zipfile
from pathlib import Path

import pytest
from review_maker import ADD_2, AT, CONV_0, CONV_1, POLICY, TRUST, UNTIL, approve_all, private_key, say

from metainfer_core.bundle.statement import LogHead
from metainfer_core.errors import InputError, NotTrustedError
from metainfer_core.values import sha256
from review_store.keeping.backup import back_up
from review_store.keeping.backup_file import MANIFEST, names_fault, read_manifest
from review_store.keeping.restore import Witness, restore
from review_store.keeping.upgrade import upgrade
from review_store.keeping.workspace_state import state_of
from review_store.record.check_log import check_log
from review_store.record.events import Commented
from review_store.record.log import EventLog
from review_store.signing.signing import release

PLAIN = {
    "manuals/手册.pdf": b"%PDF-1.4 a manual",
    "models/net.onnx": b"weights" * 1000,
    "trust.json": TRUST.to_json(),
    ".studio/decisions/ab.jsonl": b'{"kind":"accept"}\n',
    ".studio/typed/x/y/z.json": b"{}",
    ".studio/jobs/1/order.json": b"{}",
    ".studio/jobs/1/end.json": b"{}",
}
CACHES = {
    ".studio/pages/ab/1-144.png": b"picture",
    ".studio/drafts/x.json": b"{}",
    ".studio/quarantine/ab/x.pdf": b"unread",
    ".studio/jobs/2/order.json": b"{}",
    ".git/config": b"",
    "models/.net.onnx.0a.tmp": b"",
}


@pytest.fixture
def workspace(tmp_path):
    root = tmp_path / "workspace"
    for name, data in (PLAIN | CACHES).items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(data)
    log = EventLog(root)
    say(log, POLICY, "bob", CONV_0, "approve")
    log.close()
    return root


def events(root):
    log = EventLog(root)
    assert check_log(log) == ()
    found = [(each.seq, each.hash) for each in log.records()]
    log.close()
    return found


def test_everything_but_what_can_be_made_again_comes_back(workspace, tmp_path):
    made = back_up(workspace, tmp_path / "w.backup")
    assert made.left_out == made.faults == ()
    done = restore(tmp_path / "w.backup", tmp_path / "again")
    assert (done.moved_aside, done.lost) == (None, ())
    again = tmp_path / "again"
    there = {path.relative_to(again).as_posix() for path in again.rglob("*") if path.is_file()}
    assert there - {"review.db-wal", "review.db-shm"} == {*PLAIN, "review.db", "review.checkpoints"}
    assert all((again / name).read_bytes() == data for name, data in PLAIN.items())
    assert events(tmp_path / "again") == events(workspace)
    assert len(events(workspace)) == 2
    assert list(tmp_path.glob(".*")) == []  # nothing half-done is left beside


def test_the_same_workspace_gives_the_same_bytes_wherever_it_lies(workspace, tmp_path):
    back_up(workspace, tmp_path / "1.backup")
    shutil.copytree(workspace, tmp_path / "elsewhere" / "w")
    back_up(tmp_path / "elsewhere" / "w", tmp_path / "2.backup")
    assert (tmp_path / "1.backup").read_bytes() == (tmp_path / "2.backup").read_bytes()
    restore(tmp_path / "1.backup", tmp_path / "third")
    back_up(tmp_path / "third", tmp_path / "3.backup")
    assert (tmp_path / "1.backup").read_bytes() == (tmp_path / "3.backup").read_bytes()
    (workspace / "models" / "net.onnx").write_bytes(b"other")
    back_up(workspace, tmp_path / "4.backup")
    assert (tmp_path / "1.backup").read_bytes() != (tmp_path / "4.backup").read_bytes()


def test_without_manuals_and_links(workspace, tmp_path):
    (workspace / "models" / "link.onnx").symlink_to("/etc/passwd")
    made = back_up(workspace, tmp_path / "w.backup", with_manuals=False)
    assert made.left_out == ("models/link.onnx",)
    names = set(read_manifest(tmp_path / "w.backup").files)
    assert names == {*PLAIN, "review.db", "review.checkpoints"} - {"manuals/手册.pdf"}
    with pytest.raises(InputError, match="cannot lie in the workspace"):
        back_up(workspace, workspace / "w.backup")


def test_backups_while_two_people_write_hold_every_decision_up_to_one_moment(workspace, tmp_path):
    stop, written = threading.Event(), []

    def write(who):
        log = EventLog(workspace)
        while not stop.is_set():
            (record,) = log.append("p", [Commented(actor=who, at=AT, action="a", text="x")])
            written.append(record.seq)
        log.close()

    threads = [threading.Thread(target=write, args=(who,)) for who in ("ada", "bob")]
    for each in threads:
        each.start()
    ends = []
    try:
        for number in range(6):
            before = len(written)
            made = back_up(workspace, tmp_path / f"{number}.backup")
            assert made.faults == ()
            assert made.manifest.record.seq >= before
            ends.append(made.manifest.record.seq)
    finally:
        stop.set()
        for each in threads:
            each.join()
    assert ends == sorted(ends)
    assert ends[-1] > ends[0]
    everything = events(workspace)
    for number, end in enumerate(ends):
        restore(tmp_path / f"{number}.backup", tmp_path / f"r{number}")
        assert events(tmp_path / f"r{number}") == everything[:end]


def test_restore_never_overwrites_and_moves_aside_only_when_told(workspace, tmp_path):
    (workspace / "trust.seen.json").write_bytes(b'{"changes": 3}')
    back_up(workspace, tmp_path / "w.backup")
    before = sorted(workspace.rglob("*"))
    with pytest.raises(InputError, match="something stands here already"):
        restore(tmp_path / "w.backup", workspace)
    assert sorted(workspace.rglob("*")) == before
    (workspace / "models" / "new.onnx").write_bytes(b"new")
    (workspace / "trust.seen.json").write_bytes(b'{"changes": 9}')
    done = restore(tmp_path / "w.backup", workspace, replace=True)
    assert done.moved_aside == tmp_path / "workspace.before-restore-1"
    assert (done.moved_aside / "models" / "new.onnx").read_bytes() == b"new"
    assert not (workspace / "models" / "new.onnx").exists()
    assert (workspace / "trust.seen.json").read_bytes() == b'{"changes": 9}'  # a backup makes nobody forget
    empty = tmp_path / "empty"
    empty.mkdir()
    restore(tmp_path / "w.backup", empty)
    assert events(empty) == events(workspace)


def test_an_old_backup_is_named_before_it_rolls_the_record_back(workspace, tmp_path):
    back_up(workspace, tmp_path / "old.backup")
    log = EventLog(workspace)
    say(log, POLICY, "eve", CONV_1, "reject", reason="No")
    say(log, POLICY, "ada", ADD_2, "tag", reason="Look")
    log.close()
    with pytest.raises(NotTrustedError) as caught:
        restore(tmp_path / "old.backup", workspace, replace=True)
    assert caught.value.check == "rollback"
    assert "ends at event 2, the record here at event 4: 2 events would be gone, the first by eve" in caught.value.why
    assert len(events(workspace)) == 4
    done = restore(tmp_path / "old.backup", workspace, replace=True, roll_back=True)
    assert len(done.lost) == 1
    assert len(events(workspace)) == 2
    assert len(events(done.moved_aside)) == 4


def test_a_backup_of_another_record_is_named(workspace, tmp_path):
    log = EventLog(tmp_path / "other")
    say(log, POLICY, "eve", CONV_0, "approve")
    log.close()
    back_up(tmp_path / "other", tmp_path / "other.backup")
    with pytest.raises(NotTrustedError, match="roll the record") as caught:
        restore(tmp_path / "other.backup", workspace, replace=True)
    assert "event 1 is not the one that stands here" in caught.value.why


def test_a_signed_bundle_bears_witness_where_everything_else_is_gone(workspace, tmp_path):
    back_up(workspace, tmp_path / "old.backup")
    log = EventLog(workspace)
    approve_all(log, POLICY, "ada")
    made = release(log, POLICY, TRUST, private_key("ada"), AT, UNTIL)
    log.close()
    head = made.verified.statement.predicate.review_log
    shutil.rmtree(workspace)

    def witnesses(unpacked):
        return [Witness("net.bundle", head)]

    with pytest.raises(NotTrustedError, match="roll the record") as caught:
        restore(tmp_path / "old.backup", workspace, witnesses=witnesses)
    assert caught.value.why == f"net.bundle names event {head.seq}; the backup ends at event 2."
    assert not workspace.exists()
    forged = LogHead(seq=2, hash=sha256(b"another"))
    with pytest.raises(NotTrustedError, match="roll the record"):
        restore(tmp_path / "old.backup", workspace, witnesses=lambda unpacked: [Witness("x", forged)])
    restore(tmp_path / "old.backup", workspace)


def test_a_workspace_that_is_open_is_not_moved_away_under_its_users(workspace, tmp_path):
    back_up(workspace, tmp_path / "w.backup")
    log = EventLog(workspace)
    log.head()
    with pytest.raises(InputError, match="a program works in this workspace"):
        restore(tmp_path / "w.backup", workspace, replace=True)
    say(log, POLICY, "eve", CONV_1, "approve")
    log.close()
    assert len(events(workspace)) == 3


def repacked(path, change):
    """The backup with its entries changed: name to (bytes, how it is stored, what kind of file it is)."""
    with zipfile.ZipFile(path) as archive:
        entries = {name: (archive.read(name), zipfile.ZIP_STORED, 0o100644) for name in archive.namelist()}
    listed = change(entries) or list(entries.items())
    with zipfile.ZipFile(path, "w") as archive:
        for name, (data, method, mode) in listed:
            entry = zipfile.ZipInfo(name)
            entry.external_attr = mode << 16
            archive.writestr(entry, data, method)


def added(name, data=b"x", method=zipfile.ZIP_STORED, mode=0o100644):
    """A change that adds an entry and names it in the manifest, as an attacker would."""

    def change(entries):
        manifest = json.loads(entries[MANIFEST][0])
        manifest["files"][name] = sha256(data)
        entries[name] = (data, method, mode)
        entries[MANIFEST] = (json.dumps(manifest).encode(), zipfile.ZIP_STORED, 0o100644)

    return change


def without(name):
    def change(entries):
        del entries[name]

    return change


def replaced(name, data):
    def change(entries):
        entries[name] = (data, zipfile.ZIP_STORED, 0o100644)

    return change


HOSTILE = {
    "parent": (added("../outside.txt"), "does not stay in the workspace"),
    "deep parent": (added("models/../../outside.txt"), "does not stay in the workspace"),
    "absolute": (added("/outside.txt"), "does not stay in the workspace"),
    "drive": (added("C:/outside.txt"), "does not stay in the workspace"),
    "backslash": (added("models\\..\\..\\outside.txt"), "does not stay in the workspace"),
    "empty part": (added("models//x"), "does not stay in the workspace"),
    "folder": (added("models/x/"), "does not stay in the workspace"),
    "control": (added("models/a\nb"), "does not stay in the workspace"),
    "hidden": (added(".ssh/authorized_keys"), "is hidden"),
    "hidden below": (added("models/.git/hooks/post-checkout"), "is hidden"),
    "link": (added("models/link", b"/etc/passwd", mode=0o120777), "is a link, a folder or a device"),
    "device": (added("models/dev", b"", mode=0o020666), "is a link, a folder or a device"),
    "bomb": (added("models/bomb", bytes(50_000_000), zipfile.ZIP_DEFLATED), "is compressed or encrypted"),
    "case": (added("Trust.json"), "are one file on some systems"),
    "file and folder": (added("trust.json/x"), "is a file and a folder"),
    "missing": (without("models/net.onnx"), "models/net.onnx is missing"),
    "no manifest": (without(MANIFEST), "holds no metainfer_backup.json"),
    "manifest is no JSON": (replaced(MANIFEST, b"{"), "metainfer_backup.json"),
    "unnamed": (replaced("models/extra", b"x"), "models/extra is not in its manifest"),
    "changed": (replaced("models/net.onnx", b"changed"), "Its digest is"),
    "changed record": (replaced("review.db", b"SQLite format 3\0"), "Its digest is"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_backups_are_refused_and_touch_nothing(workspace, tmp_path, name):
    change, why = HOSTILE[name]
    back_up(workspace, tmp_path / "w.backup")
    repacked(tmp_path / "w.backup", change)
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises((InputError, NotTrustedError)) as caught:
        restore(tmp_path / "w.backup", tmp_path / "again")
    assert why in f"{caught.value.what} {caught.value.why}"
    assert sorted(tmp_path.rglob("*")) == before


def test_the_same_name_twice_or_spelled_twice_is_refused():
    assert "one file on some systems" in names_fault(["manuals/\u00c5.pdf", "manuals/\u0041\u030a.pdf"])
    assert "one file on some systems" in names_fault(["a", "a"])
    assert names_fault(["manuals/\u00c5.pdf", "models/a", ".studio/typed/x"]) is None


def test_cut_off_or_foreign_files_are_no_backup(workspace, tmp_path):
    path = tmp_path / "w.backup"
    back_up(workspace, path)
    whole = path.read_bytes()
    for data in (whole[: len(whole) // 2], whole[:-10], b"", b"PK\x03\x04" + bytes(100), b"x" * 1000):
        path.write_bytes(data)
        with pytest.raises(InputError, match="no backup"):
            restore(path, tmp_path / "again")
        assert not (tmp_path / "again").exists()


def test_a_record_that_was_edited_in_the_backup_is_refused(workspace, tmp_path):
    """Even where the manifest was made to fit."""
    copy = tmp_path / "copy"
    shutil.copytree(workspace, copy)
    with sqlite3.connect(copy / "review.db") as connection:
        connection.execute("DROP TRIGGER event_is_never_updated")
        connection.execute("UPDATE event SET body = replace(body, 'bob', 'eve')")
    connection.close()
    made = back_up(copy, tmp_path / "edited.backup")
    assert "Event 1 was changed: its hash does not fit." in [each.what for each in made.faults]
    with pytest.raises(NotTrustedError, match="not whole"):
        restore(tmp_path / "edited.backup", tmp_path / "again")


def test_nothing_is_upgraded_twice_and_the_old_form_is_kept(workspace, tmp_path):
    assert upgrade(workspace).backup is None
    old = tmp_path / "old"
    old.mkdir()
    sqlite3.connect(old / "review.db").close()  # as it is left where the very first start was interrupted
    (old / "review.db").write_bytes(b"")
    done = upgrade(old)
    assert (done.before, done.after) == (None, "0001")
    assert done.backup == tmp_path / "old.before-upgrade-1.backup"
    assert upgrade(old).backup is None
    with sqlite3.connect(old / "review.db") as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    connection.close()
    with pytest.raises(InputError, match="does not know"):
        upgrade(old)


def test_check_names_what_cannot_be_relied_on(workspace):
    found = state_of(workspace)
    assert (found.faults, found.notes, found.events) == ((), (), 2)
    (workspace / "broken.policy").write_text("{")
    (workspace / "specs").mkdir()
    (workspace / "specs" / "chip_v1.0.0.yaml").write_text(
        "name: chip\nversion: 1.0.0\nmemories:\n  sram:\n    kind: sram\n    size_bytes: 1024\n"
        f"sources:\n  m:\n    title: Manual\n    document_digest: {sha256(b'gone')}\n"
        "provenance:\n  memories.sram.size_bytes:\n    source: m\n    page: 1\n"
    )
    (workspace / "review.checkpoints").unlink()
    found = state_of(workspace)
    assert any("broken.policy" in each for each in found.faults)
    assert any("the file of checkpoints is missing" in each for each in found.faults)
    assert found.notes == (f"Manual: the document ({sha256(b'gone')}) is not at hand, so its pages cannot be shown.",)


def test_the_commands(workspace, tmp_path, monkeypatch, meta_infer):
    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        return meta_infer("workspace", *arguments)

    status, out, _ = run("backup", "w.backup", "--json")
    assert (status, json.loads(out)["record"]["seq"]) == (0, 2)
    assert Path("w.backup").stat().st_mode & 0o777 == 0o600
    assert run("backup", "w.backup")[0] == 2  # never over an older one
    assert run("restore", "w.backup")[0] == 2
    status, out, _ = run("restore", "w.backup", "--workspace", "again")
    assert (status, "--bundle" in out) == (0, True)
    log = EventLog(workspace)
    say(log, POLICY, "eve", CONV_1, "approve")
    log.close()
    assert run("restore", "w.backup", "--replace")[0] == 3
    assert run("restore", "w.backup", "--replace", "--roll-back")[0] == 0
    assert run("check")[0] == 0
    assert run("upgrade", "--json")[1] == '{"before": "0001", "after": "0001", "backup": null}\n'
    assert run("check", "--workspace", "nowhere")[0] == 2


def test_a_backup_that_is_killed_leaves_no_file_in_its_place(workspace, tmp_path):
    code = (
        "import os, sys\n"
        "from pathlib import Path\n"
        "from review_store.keeping import backup\n"
        "backup._settle = lambda *paths: os._exit(9)\n"
        "backup.back_up(Path(sys.argv[1]), Path(sys.argv[2]))\n"
    )
    output = tmp_path / "w.backup"
    done = subprocess.run([sys.executable, "-c", code, workspace, output], timeout=120, check=False)
    assert done.returncode == 9
    assert not output.exists()
    back_up(workspace, output)
    assert len(events(workspace)) == 2
