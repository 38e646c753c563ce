import resource

import pytest
from drafts import with_draft
from screens import screen

from metainfer_core.errors import InputError
from studio.drafts.decision_log import Decision, log_path, read_log, writing

DRAFT = "sha256:" + "1" * 64


def decision(number):
    return Decision(kind="reject", places=(f"place {number}",), actor="ada", at="now", window="w", number=number)


def test_a_full_disk_is_told_and_leaves_no_part_of_a_line(tmp_path):
    with writing(DRAFT, tmp_path) as record:
        record.append(decision(1))
    path = log_path(DRAFT, tmp_path)
    before = path.read_bytes()
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + 10, hard))  # ten bytes of the next line still fit
    try:
        with pytest.raises(InputError) as told, writing(DRAFT, tmp_path) as record:
            record.append(decision(2))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert str(told.value) == (
        "What you decided is not saved.\nNo space left on device.\n"
        "Free the disk or make the workspace writable; this window keeps what you decided and sends it again."
    )
    assert path.read_bytes() == before
    with writing(DRAFT, tmp_path) as record:
        record.append(decision(2))
    assert [each.decision.number for each in read_log(DRAFT, tmp_path)] == [1, 2]


def test_a_record_that_cannot_be_opened_is_told(tmp_path):
    log_path(DRAFT, tmp_path).parent.parent.mkdir(parents=True)
    log_path(DRAFT, tmp_path).parent.write_text("a file where the folder belongs")
    with pytest.raises(InputError, match=r"^What you decided is not saved\.\nFile exists\."), writing(DRAFT, tmp_path):
        pass


def test_the_screen_says_what_was_not_saved(tmp_path, monkeypatch):
    with_draft(tmp_path)
    page = screen("confirm", tmp_path, monkeypatch, draft="drafts/tarn.yaml")
    assert [each.value for each in page.error] == []
    page.session_state["desk_failed"] = "What you decided is not saved."
    assert [each.value for each in page.run().error] == ["What you decided is not saved."]
