"""Every text of the interface, in one table: a key, and its words in each language."""

from __future__ import annotations

import string
from typing import Any

from studio.words.beside import beside
from studio.words.language import Language, language
from studio.words.texts_of_actions import TEXTS_OF_ACTIONS
from studio.words.texts_of_decisions import TEXTS_OF_DECISIONS
from studio.words.texts_of_graphs import TEXTS_OF_GRAPHS
from studio.words.texts_of_keeping import TEXTS_OF_KEEPING
from studio.words.texts_of_manuals import TEXTS_OF_MANUALS
from studio.words.texts_of_policies import TEXTS_OF_POLICIES
from studio.words.texts_of_review import TEXTS_OF_REVIEW
from studio.words.texts_of_signing import TEXTS_OF_SIGNING
from studio.words.texts_of_training import TEXTS_OF_TRAINING
from studio.words.texts_zh import TEXTS_ZH
from studio.words.texts_zh_of_actions import TEXTS_ZH_OF_ACTIONS
from studio.words.texts_zh_of_decisions import TEXTS_ZH_OF_DECISIONS
from studio.words.texts_zh_of_graphs import TEXTS_ZH_OF_GRAPHS
from studio.words.texts_zh_of_keeping import TEXTS_ZH_OF_KEEPING
from studio.words.texts_zh_of_manuals import TEXTS_ZH_OF_MANUALS
from studio.words.texts_zh_of_policies import TEXTS_ZH_OF_POLICIES
from studio.words.texts_zh_of_review import TEXTS_ZH_OF_REVIEW
from studio.words.texts_zh_of_signing import TEXTS_ZH_OF_SIGNING
from studio.words.texts_zh_of_training import TEXTS_ZH_OF_TRAINING

_OF_OTHER_FILES = TEXTS_OF_ACTIONS | TEXTS_OF_MANUALS | TEXTS_OF_POLICIES | TEXTS_OF_SIGNING
_OF_OTHER_FILES |= TEXTS_OF_DECISIONS | TEXTS_OF_GRAPHS | TEXTS_OF_KEEPING
_CHINESE = TEXTS_ZH | TEXTS_ZH_OF_MANUALS | TEXTS_ZH_OF_POLICIES | TEXTS_ZH_OF_DECISIONS | TEXTS_ZH_OF_GRAPHS
_CHINESE |= TEXTS_ZH_OF_KEEPING | TEXTS_ZH_OF_ACTIONS | TEXTS_ZH_OF_SIGNING
_OF_OTHER_FILES |= TEXTS_OF_REVIEW | TEXTS_OF_TRAINING
_CHINESE |= TEXTS_ZH_OF_REVIEW | TEXTS_ZH_OF_TRAINING

_ENGLISH: dict[str, dict[str, str]] = {
    # The frame
    "jobs_running": {"en": "{count} running in the background"},
    "crop_caption": {"en": "{title}, page {page}"},
    "language_label": {"en": "Language of the interface"},
    "page_adapt": {"en": "Adapt"},
    "page_confirm": {"en": "Confirm"},
    "page_home": {"en": "Home"},
    "page_manuals": {"en": "Manuals"},
    "page_model": {"en": "Model"},
    "page_report": {"en": "Build report"},
    "page_review": {"en": "Review"},
    "page_sign": {"en": "Sign"},
    "person_hint": {"en": "Every decision is kept with the name of who took it."},
    "person_label": {"en": "Your id, such as `ada` or `ada@example.org`"},
    "defect": {
        "en": "This screen stopped at a defect of meta-infer. What was written before is safe. Reload the page; if it "
        "stops again, report the last lines of the terminal in which the studio runs."
    },
    "program_updated": {
        "en": "meta-infer was updated while this studio runs, and still works by its old rules: what is signed or "
        "compiled elsewhere would not agree. Stop it in its terminal and start it again; nothing is lost."
    },
    "person_unknown": {"en": "Who are you?"},
    "main_key": {"en": "Alt+M goes to the main button"},
    "upload": {"en": "Upload"},
    "upload_drop": {"en": "Drop here"},
    "upload_many": {"en": "At most {count} MiB each"},
    "upload_one": {"en": "At most {count} MiB"},
    "workspace_label": {"en": "Open another folder"},
    "workspace_place": {"en": "Everything the studio keeps lies in this folder. Nothing leaves this machine."},
    # Words of risks and states
    "mark_approved": {"en": "approved"},
    "mark_outdated": {"en": "outdated"},
    "mark_pending": {"en": "open"},
    "mark_rejected": {"en": "rejected"},
    "mark_required": {"en": "needs three lines"},
    "risk_high": {"en": "high"},
    "risk_low": {"en": "low"},
    "risk_medium": {"en": "medium"},
    # Home
    "do_built": {"en": "Compile"},
    "do_manual": {"en": "Read a manual"},
    "do_policy": {"en": "Adapt"},
    "do_review": {"en": "Review"},
    "do_signed": {"en": "Sign"},
    "do_spec": {"en": "Confirm the draft"},
    "home_empty": {
        "en": "From a chip's manual and a model to a package that people stand behind: read the manual, confirm its "
        "values, adapt the model, review each change, sign, compile. This workspace is empty; begin with any of these."
    },
    "home_lost": {"en": "There is no screen “{screen}”. This is Home; all screens stand on the left."},
    "home_more": {"en": "and {count} more"},
    "home_no_model": {"en": "**Model** · bring in the model that shall run on {chip}"},
    "home_nothing_waits": {"en": "Nothing waits for you."},
    "home_rows": {"en": "Model × chip"},
    "home_sample": {
        "en": "**No manual or model at hand?** The sample is the data sheet of an invented chip, Tarnholt V200, with a "
        "real model that tells which way up a line of text is, and data to calibrate and evaluate it."
    },
    "home_sample_button": {"en": "Lay out the sample"},
    "home_sample_running": {"en": "Drawing text lines for the sample"},
    "home_title": {"en": "Home"},
    "home_unread": {"en": "Read a manual · {count} in the workspace, none read yet"},
    "home_waiting": {"en": "Waiting for you"},
    "no_chip": {"en": "no chip yet"},
    "no_model": {"en": "no model yet"},
    "row_complete": {"en": "Signed and built."},
    "start_manual": {"en": "A manual"},
    "start_manual_hint": {"en": "PDF, register workbook, SVD or device tree: it is read into a draft of values."},
    "start_model": {"en": "A model"},
    "start_model_hint": {"en": "ONNX: its operators, sizes and times on the chip."},
    "server_gone": {"en": "The studio has stopped"},
    "server_gone_what": {
        "en": "Start it again in the terminal; this page then goes on by itself. What was running in the background "
        "goes on meanwhile, and nothing that was written down is lost."
    },
    "spec_keep": {"en": "Keep it"},
    "spec_kept": {"en": "{file} is in the workspace."},
    "spec_upload": {"en": "A spec as YAML; it is checked line by line"},
    "start_shipped": {"en": "{count} {count:chip comes|chips come} with meta-infer"},
    "start_spec": {"en": "A spec file"},
    "start_spec_hint": {"en": "Values of a chip that people have accepted, with where each comes from."},
    "state_blocked": {"en": "not yet"},
    "state_done": {"en": "done"},
    "state_failed": {"en": "failed"},
    "state_next": {"en": "next"},
    "state_running": {"en": "running"},
    "station_built": {"en": "Built"},
    "station_built_blocked": {"en": "Only what is signed is built for use."},
    "station_built_done": {"en": "Built for {target} from the signed bundle."},
    "station_built_earlier": {"en": "A package for {target} stands, built from a bundle that was signed earlier."},
    "station_built_next": {"en": "The signed bundle can be compiled."},
    "station_built_running": {"en": "It is being compiled."},
    "station_built_stale": {"en": "The package was built from an earlier bundle: compile the new one."},
    "station_built_unreviewed": {"en": "There is a development package for {target}, marked unreviewed."},
    "station_failed": {"en": "The last attempt failed: {why}"},
    "station_manual": {"en": "Manual"},
    "station_manual_done": {"en": "Read into {draft}."},
    "station_manual_next": {"en": "Upload a manual of the chip, or take one of the workspace."},
    "station_manual_running": {"en": "It is being read."},
    "station_manual_spec": {"en": "The spec was made elsewhere."},
    "station_policy": {"en": "Policy"},
    "station_policy_done": {"en": "{count} {count:action is|actions are} proposed."},
    "station_policy_next": {"en": "The model can be fitted to the chip."},
    "station_policy_no_model": {"en": "There is no model in the workspace."},
    "station_policy_running": {"en": "Actions are being tried and measured."},
    "station_policy_no_spec": {"en": "The chip has no accepted spec yet."},
    "station_other_rules": {"en": "The rules of this program have changed since: propose it anew."},
    "station_review": {"en": "Review"},
    "station_review_blocked": {"en": "There is no policy to review."},
    "station_review_count": {"en": "{decided} of {total} actions are approved."},
    "station_review_outdated": {"en": "{count} were approved before something changed: look at them again."},
    "station_review_rejected": {"en": "{count} are rejected."},
    "station_signed": {"en": "Signed"},
    "station_signed_blocked": {"en": "Every action must be approved first."},
    "station_signed_done": {"en": "{file} is signed and trusted."},
    "station_signed_demo": {"en": "{file} is signed, as a demo."},
    "station_signed_nobody": {"en": "Every action is approved, but nobody may sign here yet: make a key and trust it."},
    "station_signed_refused": {"en": "{file} is not trusted: {why}"},
    "station_signed_reopened": {
        "en": "{file} was signed, and {count} {count:action was|actions were} opened again since."
    },
    "station_signed_stale": {"en": "{file} holds other decisions than the review does now: sign anew."},
    "station_trust_broken": {"en": "The trust file of this workspace cannot be read: mend it first."},
    "station_signed_next": {"en": "Every action is approved. Next: see whether it can be built, and sign."},
    "station_spec": {"en": "Spec"},
    "station_spec_blocked": {"en": "No manual of this chip has been read."},
    "station_spec_count": {"en": "{decided} of {places} values are decided, {conflicts} conflicts are open."},
    "station_spec_done": {"en": "Version {version} is accepted."},
    "station_spec_next": {"en": "Confirm the values of the draft and save a version."},
    # Jobs
    "job_cancel": {"en": "Cancel"},
    "job_cancelled": {"en": "cancelled"},
    "job_done": {"en": "done"},
    "job_failed": {"en": "failed"},
    "job_left": {"en": "about {time} left"},
    "job_of": {"en": "{done} of {total}"},
    "job_starting": {"en": "starting"},
    "job_waiting_turn": {"en": "waits for its turn"},
} | _OF_OTHER_FILES


TEXTS: dict[str, dict[Language, str]] = {
    key: {"en": words["en"], "zh": _CHINESE[key]} for key, words in _ENGLISH.items()
}


class _Words(string.Formatter):
    """Python's own format, where `{count:action is|actions are}` is the first for one and the second for any other."""

    def format_field(self, value: Any, spec: str) -> str:
        one, bar, other = spec.partition("|")
        if not bar:
            return format(value, spec)
        return one if value == 1 else other


_WORDS = _Words()


def text(key: str, speaks: Language | None = None, **values: object) -> str:
    """The text of `key` with its values filled in, in the window's own language unless another is given.

    KeyError if there is none, so that a gap is found by a test.
    """
    speaks = speaks or language()
    if speaks == "en":
        return _WORDS.format(TEXTS[key][speaks], **values)
    said = ""
    for literal, name, spec, _ in _WORDS.parse(TEXTS[key][speaks]):
        said = beside(said, literal)
        if name is not None:
            said = beside(said, _WORDS.format_field(values[name], spec or ""))
    return said
