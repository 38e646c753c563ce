"""Every text of the interface, in one table. English now; a second column takes the next language."""

from __future__ import annotations

from studio.texts_of_policies import TEXTS_OF_POLICIES

TEXTS: dict[str, dict[str, str]] = {
    # The frame
    "jobs_running": {"en": "{count} running in the background"},
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
    "person_unknown": {"en": "Who are you?"},
    "workspace_label": {"en": "Open another folder"},
    "workspace_place": {"en": "Everything the studio keeps lies in this folder. Nothing leaves this machine."},
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
    "home_more": {"en": "and {count} more"},
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
    "spec_keep": {"en": "Keep it"},
    "spec_kept": {"en": "{file} is in the workspace."},
    "spec_upload": {"en": "A spec as YAML; it is checked line by line"},
    "start_spec": {"en": "A spec file"},
    "start_spec_hint": {"en": "Values of a chip that people have accepted, with where each comes from."},
    "state_blocked": {"en": "not yet"},
    "state_done": {"en": "done"},
    "state_next": {"en": "next"},
    "station_built": {"en": "Built"},
    "station_built_blocked": {"en": "Only what is signed is built for use."},
    "station_built_done": {"en": "Built for {target} from the signed bundle."},
    "station_built_next": {"en": "The signed bundle can be compiled."},
    "station_built_unreviewed": {"en": "There is a development package for {target}, marked unreviewed."},
    "station_manual": {"en": "Manual"},
    "station_manual_done": {"en": "Read into {draft}."},
    "station_manual_next": {"en": "Upload a manual of the chip, or take one of the workspace."},
    "station_manual_spec": {"en": "The spec was made elsewhere."},
    "station_policy": {"en": "Policy"},
    "station_policy_done": {"en": "{count} actions are proposed."},
    "station_policy_next": {"en": "The model can be fitted to the chip."},
    "station_policy_no_model": {"en": "There is no model in the workspace."},
    "station_policy_no_spec": {"en": "The chip has no accepted spec yet."},
    "station_review": {"en": "Review"},
    "station_review_blocked": {"en": "There is no policy to review."},
    "station_review_count": {"en": "{decided} of {total} actions are approved."},
    "station_signed": {"en": "Signed"},
    "station_signed_blocked": {"en": "Every action must be approved first."},
    "station_signed_done": {"en": "{file} is signed and trusted."},
    "station_signed_next": {"en": "Every action is approved: it can be signed."},
    "station_spec": {"en": "Spec"},
    "station_spec_blocked": {"en": "No manual of this chip has been read."},
    "station_spec_count": {"en": "{decided} of {places} values are decided, {conflicts} conflicts are open."},
    "station_spec_done": {"en": "Version {version} is accepted."},
    "station_spec_next": {"en": "Confirm the values of the draft and save a version."},
    # Manuals
    "draft_chip": {"en": "Chip"},
    "draft_confirm": {"en": "Confirm"},
    "draft_confirmed": {"en": "Decided"},
    "draft_conflicts": {"en": "Conflicts"},
    "draft_from": {"en": "Read from"},
    "draft_values": {"en": "Values"},
    "manuals_chip": {"en": "Name of the chip"},
    "manuals_choose": {"en": "or take from the workspace"},
    "manuals_choose_hint": {"en": "Choose one or more"},
    "manuals_drafts": {"en": "Drafts"},
    "manuals_no_drafts": {
        "en": "Nothing has been read yet. A draft lists each value with its page, words and confidence."
    },
    "manuals_none": {"en": "No manual in the workspace yet"},
    "manuals_nothing": {
        "en": "No draft yet. Upload a data sheet above: it is read page by page, in a process of its own, and "
        "every value "
        "that is found keeps the place where it stands. People then confirm them one by one."
    },
    "manuals_read": {"en": "Read"},
    "manuals_upload": {"en": "Upload a chip's documents"},
    "manuals_upload_help": {
        "en": "PDF, register workbook (.xlsx, .csv), CMSIS-SVD or device tree. Nothing opens a file before a "
        "limited process "
        "has read it."
    },
    # Confirm
    "confirm_draft": {"en": "Draft"},
    "confirm_empty": {
        "en": "There is no draft to confirm. Read a chip's manual first: its values then stand here beside the "
        "page that "
        "they come from."
    },
    "confirm_nothing_read": {"en": "No value was found in these documents. {notes}"},
    "confirm_to_manuals": {"en": "Read a manual"},
    "desk_accept": {"en": "Accept"},
    "desk_accept_sure": {"en": "Accept the {count} above {above}"},
    "desk_alternatives": {"en": "Also found in the documents"},
    "desk_alternatives_conflict": {"en": "The documents contradict each other: choose one"},
    "desk_alternatives_mixed": {"en": "The spec has one place for these: choose what it shall hold"},
    "desk_by_accept": {"en": "accepted by {actor}"},
    "desk_by_edit": {"en": "given by {actor}, kept as assumed"},
    "desk_by_reject": {"en": "rejected by {actor}"},
    "desk_by_unknown": {"en": "left unknown by {actor}"},
    "desk_card": {"en": "The current value"},
    "desk_close": {"en": "Close"},
    "desk_conflict": {"en": "{count} readings differ"},
    "desk_decided_meanwhile": {
        "en": "{actor} decided this place in another window meanwhile. What stands now is shown; decide again if "
        "it is wrong."
    },
    "desk_edit": {"en": "Edit"},
    "desk_edit_cancel": {"en": "Cancel"},
    "desk_edit_label": {"en": "Your value of {place}, with its unit"},
    "desk_edit_save": {"en": "Save"},
    "desk_fact_condition": {"en": "Condition"},
    "desk_fact_confidence": {"en": "Confidence"},
    "desk_fact_meaning": {"en": "Meaning"},
    "desk_fact_other": {"en": "no place of its own: kept as {place}"},
    "desk_fact_range": {"en": "Range"},
    "desk_fact_sharing": {"en": "Shared"},
    "desk_fact_source": {"en": "Source"},
    "desk_fact_spec": {"en": "The spec holds"},
    "desk_fact_state": {"en": "Decided"},
    "desk_fact_strength": {"en": "Strength"},
    "desk_foot": {"en": "{decided} of {places} decided · {conflicts} conflicts · {missing} not in the manual"},
    "desk_groups": {"en": "Groups of values"},
    "desk_help": {"en": "Keys"},
    "desk_mark_accept": {"en": "accepted"},
    "desk_mark_conflict": {"en": "conflict"},
    "desk_mark_edit": {"en": "edited"},
    "desk_mark_muted": {"en": "open"},
    "desk_mark_reject": {"en": "rejected"},
    "desk_mark_unknown": {"en": "unknown"},
    "desk_next": {"en": "Next"},
    "desk_not_there": {"en": "not in the manual"},
    "desk_nothing_here": {"en": "Nothing here."},
    "desk_nothing_to_undo": {"en": "There is nothing of yours to take back."},
    "desk_page": {"en": "Page of the document"},
    "desk_page_absent": {
        "en": "The document is not in the workspace any more, so that its page cannot be shown. The draft "
        "quotes:\n\n{text}"
    },
    "desk_page_alt": {"en": "Page {page} of {name}"},
    "desk_page_failed": {"en": "The page cannot be shown: the server did not answer."},
    "desk_page_loading": {"en": "Drawing the page …"},
    "desk_page_missing": {
        "en": "No document that was read gives this value, though a run asks for it. Press e to give it "
        "yourself, u to leave "
        "it unknown, or read a further document of the chip."
    },
    "desk_places": {"en": "Values"},
    "desk_previous": {"en": "Previous"},
    "desk_reject": {"en": "Reject"},
    "desk_said_reject": {"en": "rejected"},
    "desk_said_unknown": {"en": "unknown"},
    "desk_saving": {"en": "saving …"},
    "desk_sure": {"en": "List those above the threshold"},
    "desk_sure_accept": {"en": "Accept those ticked"},
    "desk_sure_title": {"en": "{count} values above {above}, none in conflict"},
    "desk_threshold": {"en": "Confidence above"},
    "desk_undo": {"en": "Undo"},
    "desk_unknown": {"en": "Unknown"},
    "desk_unsure": {"en": "Next unsure"},
    "desk_zoom": {"en": "Zoom"},
    "group_addresses": {"en": "Addresses"},
    "group_all": {"en": "All"},
    "group_compute": {"en": "Compute"},
    "group_conflicts": {"en": "Conflicts"},
    "group_memory": {"en": "Memory"},
    "group_missing": {"en": "Not in the manual"},
    "group_movement": {"en": "Data movement"},
    "group_other": {"en": "Other"},
    "group_power": {"en": "Power"},
    "place_line": {"en": "line {number}"},
    "place_page": {"en": "page {number}"},
    "place_sheet": {"en": "sheet {name}"},
    "save_button": {"en": "Save this version"},
    "save_hint": {
        "en": "{count} accepted or given values of {chip} become a version of its spec, each with its source and "
        "your id."
    },
    "save_no_draft": {"en": "The draft cannot be read."},
    "save_onto": {"en": "Build on"},
    "save_onto_nothing": {"en": "nothing: a new spec"},
    "save_open": {"en": "Save a version"},
    "save_reason": {"en": "Why, for the change log"},
    "save_reason_hint": {"en": "such as: data sheet v1.4"},
    "save_version": {"en": "Version"},
    "saved": {"en": "{file} is saved, with {count} values from documents."},
    "saved_open": {"en": "Left open, because they contradict each other or what stood there: {places}."},
    "sharing_per_core": {"en": "per core"},
    "sharing_shared": {"en": "shared"},
    # Jobs
    "job_cancel": {"en": "Cancel"},
    "job_cancelled": {"en": "cancelled"},
    "job_done": {"en": "done"},
    "job_failed": {"en": "failed"},
    "job_left": {"en": "about {time} left"},
    "job_of": {"en": "{done} of {total}"},
    "job_starting": {"en": "starting"},
    "job_waiting_turn": {"en": "waits for its turn"},
} | TEXTS_OF_POLICIES


def text(key: str, language: str = "en", **values: object) -> str:
    """The text of `key` with its values filled in; KeyError if there is none, so that a gap is found by a test."""
    return TEXTS[key][language].format(**values)
