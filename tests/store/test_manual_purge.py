"""Manuals under an agreement: where they lie is chosen, and a purge leaves nothing of them but digests and values."""

import json
import sqlite3
from contextlib import closing

import pytest
from reportlab.pdfgen.canvas import Canvas
from review_maker import CONV_0, POLICY, say

from hwdoc_ingest.ocr.page_image import render_page
from metainfer_core.errors import InputError
from metainfer_core.spec.drafting.draft import SpecDraft
from metainfer_core.spec.drafting.draft_file import read_draft, write_draft
from metainfer_core.spec.files.yaml_file import read_spec
from metainfer_core.values import sha256
from review_store.keeping.manual_files import (
    choose_manual_folder,
    manual_folder,
    manual_with,
    purged_manuals,
    why_absent,
)
from review_store.keeping.manual_purge import purge, traces_of
from review_store.record.check_log import check_log
from review_store.record.log import EventLog

AT = "2026-11-30T12:00:00Z"
SECRET = "Quagmire interconnect of the unreleased Wombat stepping"
QUOTED = "the Wombat buffer holds 512 KiB of memory"
COMMENT = "# checked by ada against the errata\n"
VALUE = 524288
PLACE = {"page": 1, "box": [72, 110, 300, 122]}


@pytest.fixture
def workspace(tmp_path):
    """A workspace in which a manual has been read, drafted, decided about, accepted and looked at."""
    root = tmp_path / "workspace"
    manual = root / "manuals" / "wombat.pdf"
    manual.parent.mkdir(parents=True)
    canvas = Canvas(str(manual), pageCompression=0, invariant=1)
    canvas.drawString(72, 700, SECRET)
    canvas.drawString(72, 680, QUOTED)
    canvas.save()
    data = manual.read_bytes()
    digest = sha256(data)
    hidden = root / ".studio"
    (hidden / "pages" / digest.removeprefix("sha256:")).mkdir(parents=True)
    (hidden / "pages" / digest.removeprefix("sha256:") / "1-144.png").write_bytes(render_page(data, 1, 72))
    (hidden / "quarantine" / "ab12").mkdir(parents=True)
    (hidden / "quarantine" / "ab12" / "wombat.pdf").write_bytes(data)
    (root / "manuals" / ".wombat.pdf.0a0b0c.tmp").write_bytes(data[:-10])
    draft = SpecDraft.from_plain(
        {
            "chip": "wombat",
            "sources": {"m": {"title": "Wombat", "document_digest": digest, "file_name": "wombat.pdf"}},
            "candidates": [
                {
                    "field": "sram.size_bytes",
                    "value": VALUE,
                    "source": "m",
                    "page": 1,
                    "text": QUOTED,
                    "box": [72, 110, 300, 122],
                }
            ],
        },
        "draft",
    )
    (root / "drafts").mkdir()
    (root / "drafts" / "wombat.yaml").write_bytes(write_draft(draft))
    for folder in ("drafts", "growing"):
        (hidden / folder).mkdir()
        (hidden / folder / "x.json").write_bytes(draft.to_json())
    (hidden / "decisions").mkdir()
    (hidden / "decisions" / f"{draft.digest.removeprefix('sha256:')}.jsonl").write_bytes(b'{"kind":"accept"}\n')
    job = hidden / "jobs" / "20261130T000000-00000000"
    job.mkdir(parents=True)
    job.joinpath("order.json").write_text(
        json.dumps({"kind": "ingest", "title": "wombat", "arguments": ["ingest", str(manual), "--chip", "wombat"]})
    )
    job.joinpath("stdout").write_text(json.dumps({"doc": "wombat.pdf", "candidates": [{"text": SECRET + QUOTED}]}))
    other = hidden / "jobs" / "20261130T000001-00000000"
    other.mkdir()
    other.joinpath("order.json").write_text(json.dumps({"kind": "adapt", "title": "x", "arguments": ["adapt"]}))
    (root / "specs").mkdir()
    (root / "specs" / "wombat_v1.0.0.yaml").write_text(
        f"name: wombat\nversion: 1.0.0\n{COMMENT}memories:\n  sram:\n    kind: sram\n    size_bytes: {VALUE}\n"
        f"sources:\n  m:\n    title: Wombat\n    document_digest: {digest}\n    file_name: wombat.pdf\n"
        f"provenance:\n  memories.sram.size_bytes:\n    source: m\n    page: 1\n    box: [72, 110, 300, 122]\n"
        f"    text: {QUOTED}\n"
    )
    log = EventLog(root)
    say(log, POLICY, "bob", CONV_0, "approve")
    log.close()
    with closing(sqlite3.connect(root / "review.db")) as connection:  # words in a page that is no longer used
        connection.execute("PRAGMA secure_delete = OFF")
        connection.execute("CREATE TABLE scratch (words TEXT)")
        connection.executemany("INSERT INTO scratch VALUES (?)", [(SECRET * 40,)] * 50)
        connection.commit()
        connection.execute("DROP TABLE scratch")
        connection.commit()
        connection.execute("PRAGMA wal_checkpoint(PASSIVE)")
    return root


def files_with(root, words):
    """Every file below a folder that holds the words, as UTF-8 or as JSON spells them."""
    return {
        path.relative_to(root).as_posix()
        for path in root.rglob("*")
        if path.is_file() and words.encode() in path.read_bytes()
    }


def digest_in(workspace):
    return read_draft(workspace / "drafts" / "wombat.yaml").sources["m"].document_digest


def test_before_a_purge_the_words_stand_in_all_these_places(workspace):
    """So the tests below can fail."""
    assert files_with(workspace, SECRET) >= {
        "manuals/wombat.pdf",
        "manuals/.wombat.pdf.0a0b0c.tmp",
        ".studio/quarantine/ab12/wombat.pdf",
        ".studio/jobs/20261130T000000-00000000/stdout",
        "review.db",
    }
    assert files_with(workspace, QUOTED) >= {
        "drafts/wombat.yaml",
        "specs/wombat_v1.0.0.yaml",
        ".studio/drafts/x.json",
        ".studio/growing/x.json",
    }


@pytest.mark.parametrize("with_quotations", [False, True])
def test_a_purge_leaves_digests_and_values(workspace, with_quotations):
    digest = digest_in(workspace)
    draft, spec = (read_draft(workspace / "drafts/wombat.yaml"), read_spec(workspace / "specs/wombat_v1.0.0.yaml"))
    done = purge(workspace, traces_of(workspace, digest), with_quotations, "ada", AT)
    assert files_with(workspace, SECRET) == set()
    assert list(workspace.rglob("*.png")) == list(workspace.rglob("*.pdf")) == list(workspace.rglob("*.tmp")) == []
    assert manual_with(workspace, digest) is None
    assert why_absent(workspace, digest).startswith("This document was purged on 2026-11-30T12:00:00Z by ada")
    quoting = {"drafts/wombat.yaml", "specs/wombat_v1.0.0.yaml"}
    assert files_with(workspace, QUOTED) == set(done.still_quoting) == (set() if with_quotations else quoting)
    (purged,) = purged_manuals(workspace)
    assert (purged.document_digest, purged.file_names, purged.quotations) == (digest, ("wombat.pdf",), with_quotations)
    words = {(each.file, each.place): each.words_digest for each in purged.words}
    places = {("drafts/wombat.yaml", "candidate 0"), ("specs/wombat_v1.0.0.yaml", "memories.sram.size_bytes")}
    assert set(words) == (places if with_quotations else set())
    assert set(words.values()) <= {sha256(QUOTED.encode())}
    after_draft = read_draft(workspace / "drafts/wombat.yaml")
    after_spec = read_spec(workspace / "specs/wombat_v1.0.0.yaml")
    assert after_spec.values_digest == spec.values_digest
    assert (
        after_spec.memories["sram"].size_bytes.value == VALUE
        if hasattr(spec.memories["sram"].size_bytes, "value")
        else True
    )
    assert after_spec.provenance["memories.sram.size_bytes"].box == (72, 110, 300, 122)
    assert after_spec.provenance["memories.sram.size_bytes"].text == ("" if with_quotations else QUOTED)
    assert COMMENT in (workspace / "specs/wombat_v1.0.0.yaml").read_text()
    assert after_draft.sources == draft.sources
    assert [(each.field, each.value, each.box) for each in after_draft.candidates] == [
        (each.field, each.value, each.box) for each in draft.candidates
    ]
    decisions = workspace / ".studio" / "decisions" / f"{after_draft.digest.removeprefix('sha256:')}.jsonl"
    assert decisions.read_bytes() == b'{"kind":"accept"}\n'  # what people decided goes with the draft
    assert len(list(decisions.parent.iterdir())) == 1
    assert (workspace / ".studio/jobs/20261130T000001-00000000/order.json").is_file()
    log = EventLog(workspace)
    assert check_log(log) == ()
    assert [type(each.event).__name__ for each in log.records()] == ["Registered", "Approved"]
    log.close()


def test_what_people_wrote_into_the_record_is_named(workspace):
    log = EventLog(workspace)
    say(log, POLICY, "bob", CONV_0, "comment", reason=f"The manual says: {QUOTED}")
    (workspace / "notes.html").write_text(f"{digest_in(workspace)} <img src='data:image/png;base64,AAAA'>")
    done = purge(workspace, traces_of(workspace, digest_in(workspace)), True, "ada", AT)
    assert set(done.still_quoting) <= {"review.db", "review.db-wal"}
    assert done.still_quoting
    assert done.pictures_in == ("notes.html",)
    assert check_log(log) == ()
    log.close()


def test_a_later_purge_takes_the_words_out_too_and_a_third_finds_nothing(workspace):
    digest = digest_in(workspace)
    assert purge(workspace, traces_of(workspace, digest), False, "ada", AT).words_taken_out == 0
    assert purge(workspace, traces_of(workspace, digest), True, "bob", AT).words_taken_out == 2
    (purged,) = purged_manuals(workspace)
    assert (purged.actor, len(purged.words)) == ("bob", 2)
    again = purge(workspace, traces_of(workspace, digest), True, "bob", AT)
    assert (again.removed, again.words_taken_out) == ((), 0)
    assert len(purged_manuals(workspace)[0].words) == 2  # what was written down stays
    with pytest.raises(InputError, match="nothing in"):
        traces_of(workspace, sha256(b"another document"))


def test_other_documents_stay(workspace):
    other = workspace / "manuals" / "other.csv"
    other.write_text("name,size\nsram,512\n")
    purge(workspace, traces_of(workspace, digest_in(workspace)), True, "ada", AT)
    assert manual_with(workspace, sha256(other.read_bytes())) == other


def test_manuals_can_lie_in_a_folder_of_ones_own(workspace, tmp_path):
    vault = tmp_path / "vault"
    with pytest.raises(InputError, match="cannot hold manuals"):
        choose_manual_folder(workspace, vault)
    assert manual_folder(workspace) == workspace / "manuals"
    vault.mkdir()
    choose_manual_folder(workspace, vault)
    (vault / "elsewhere.pdf").write_bytes((workspace / "manuals" / "wombat.pdf").read_bytes())
    digest = digest_in(workspace)
    assert manual_with(workspace, digest) == vault / "elsewhere.pdf"
    purge(workspace, traces_of(workspace, digest), True, "ada", AT)
    assert list(vault.iterdir()) == []
    assert files_with(workspace, SECRET) == set()
    assert choose_manual_folder(workspace, None) == manual_folder(workspace) == workspace / "manuals"


def test_the_commands_show_first_and_purge_on_yes(workspace, tmp_path, monkeypatch, meta_infer):
    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        return meta_infer("workspace", *arguments)

    digest = digest_in(workspace)
    status, out, _ = run("manuals", "--json")
    assert status == 0
    assert json.loads(out)["manuals"]["workspace/manuals/wombat.pdf"] == digest
    status, out, _ = run("purge", "workspace/manuals/wombat.pdf", "--as", "ada", "--json")
    assert (status, len(json.loads(out)["would_remove"])) == (0, 7)
    assert files_with(workspace, SECRET)  # nothing has gone yet
    status, out, _ = run("purge", digest, "--as", "ada", "--quotations", "--yes")
    assert status == 0
    assert "is purged; 2 quotations were taken out." in out
    assert files_with(workspace, SECRET) == files_with(workspace, QUOTED) == set()
    assert "wombat.pdf: purged on" in run("manuals")[1]
    assert run("purge", "nowhere.pdf", "--yes", "--as", "ada")[0] == 2
