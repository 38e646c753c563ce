"""A workspace in which one small model has gone the whole way: read, accepted, adapted, reviewed, signed, built."""

import functools
import shutil
import tempfile
from pathlib import Path

from commands import command
from drafts import with_draft
from fitted import NAME, PATH, fitted

from metainfer_core.bundle.statement import Justification
from metainfer_core.bundle.trust import TrustFile
from metainfer_core.spec.files.yaml_file import save_spec
from metainfer_core.spec.library import load
from review_store.record.log import EventLog
from review_store.review.decide import Decision, current_state, decide
from review_store.review.workspace import now, read_policy

SPEC, BUNDLE, PACKAGE = "specs/esp32s3_v1.0.0.yaml", f"bundles/{NAME}_1.bundle", f"packages/{NAME}_1.bin"
LINES = {"why_allowed": "the numbers stay", "accuracy_effect": "none measured", "fallback": "switch it off"}


@functools.cache
def _built():
    folder = Path(tempfile.mkdtemp(prefix="metainfer-studio-"))
    work, keys = folder / "w", {"XDG_CONFIG_HOME": str(folder / "keys")}
    work.mkdir()
    fitted(work, a0="high", a1="medium")
    with_draft(work)
    (work / "specs").mkdir()
    save_spec(load("esp32s3"), work / SPEC)
    approve_all(work)
    key = command(["keys", "new", "ada"], folder, True, **keys)["public_key"]
    command(["keys", "trust", key, "--role", "reviewer", "--role", "releaser", "--workspace", work], folder)
    bound = ["--model", work / "net.onnx", "--hw-spec", work / SPEC]
    for name in ("bundles", "packages"):
        (work / name).mkdir()
    signed = ["sign", work / PATH, *bound, "--key", "ada", "--workspace", work, "--output", work / BUNDLE]
    command(signed, folder, True, **keys)
    command(["compile", *bound, "--policy", work / BUNDLE, "--trust", work / "trust.json", "--eval",
             work / "calibration.npz", "--output", work / PACKAGE], folder, **keys)  # fmt: skip
    return work


def approve_all(workspace, person="ada"):
    """Approves every action of the policy, with the three lines."""
    decided(workspace, [], "approve", person, Justification.from_plain(LINES, "test"))


def decided(workspace, action_ids, verdict, person="ada", justification=None, reason="", path=PATH):
    """Writes a decision about actions (all of them, if none is named), as the command does."""
    log, policy = EventLog(workspace), read_policy(workspace / path, None, None)
    state = current_state(log, policy, TrustFile())
    ids = tuple(action_ids) or tuple(each.id for each in state.actions)
    decide(log, state, Decision(person, ids, (verdict,), justification=justification, reason=reason), now(), None)
    log.close()


def finished(workspace):
    """Fills a workspace."""
    shutil.copytree(_built(), workspace, dirs_exist_ok=True)
