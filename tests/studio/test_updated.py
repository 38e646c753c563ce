"""A program that is updated under its running server says so: what it says of signing is of old rules."""

import pytest
from fitted import fitted
from screens import screen

from metainfer_core.policy import ruleset
from studio.server import updated
from studio.words.texts import text


@pytest.fixture
def core(tmp_path, monkeypatch):
    """Rules that are a file, taken up."""
    folder = tmp_path / "core"
    (folder / "actions").mkdir(parents=True)
    (folder / "actions" / "fuse.py").write_text("allowed = True\n")
    monkeypatch.setattr(ruleset, "CORE", folder)
    monkeypatch.setattr(ruleset, "RULES", ("actions",))
    for kept in (ruleset.ruleset_digest, updated._changed):
        kept.cache_clear()
    ruleset.ruleset_digest()
    yield folder
    for kept in (ruleset.ruleset_digest, updated._changed):
        kept.cache_clear()


def test_rules_have_changed_once_a_file_of_theirs_says_something_else(core):
    assert not ruleset.rules_have_changed()
    (core / "README").write_text("not a rule")
    assert not ruleset.rules_have_changed()
    (core / "actions" / "fuse.py").write_text("allowed = False\n")
    assert ruleset.rules_have_changed()


def test_the_frame_of_every_screen_says_that_the_program_was_updated(core, tmp_path, monkeypatch):
    work = tmp_path / "w"
    work.mkdir()
    fitted(work)
    said = text("program_updated")
    assert said not in [each.value for each in screen("home", work, monkeypatch).warning]
    (core / "actions" / "tile.py").write_text("allowed = True\n")
    updated._changed.cache_clear()  # some seconds later
    assert said in [each.value for each in screen("home", work, monkeypatch).warning]
