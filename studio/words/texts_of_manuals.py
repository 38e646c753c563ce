"""Texts of the screens that make specs: Manuals, Confirm, Specs."""

from __future__ import annotations

TEXTS_OF_MANUALS: dict[str, dict[str, str]] = {
    # Manuals
    "corrections_help": {
        "en": "What you rejected or gave instead, with the words of the page, as examples that the reader can be "
        "trained with: python -m hwdoc_ingest.train --corrections FILE"
    },
    "corrections_write": {"en": "Write down the {count} corrections, to train the reader"},
    "corrections_written": {"en": "{file} in the workspace holds {count} corrections."},
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
    "manuals_look": {"en": "Look at {chip} while it is read: {count} values so far"},
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
    "manuals_read_first": {"en": "Give a document first: upload one, or take one of the workspace."},
    "manuals_look_later": {"en": "{chip} is being read; nothing was found yet."},
    "manuals_upload": {"en": "Upload a chip's documents"},
    "manuals_upload_help": {
        "en": "PDF, register workbook (.xlsx, .csv), CMSIS-SVD or device tree. Nothing opens a file before a "
        "limited process "
        "has read it."
    },
    "unread": {"en": "Uploaded, not read"},
    "unread_again": {"en": "Read it again"},
    "unread_discard": {"en": "Discard"},
    "unread_hint": {"en": "Kept apart until it has been read. It need not be uploaded again."},
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
    "desk_sure_lower": {"en": "None above {above}: look lower"},
    "desk_accept_sure": {"en": "Accept the {count} above {above}"},
    "desk_alternatives": {"en": "Also found in the documents"},
    "desk_alternatives_conflict": {"en": "These readings contradict each other: choose one"},
    "desk_alternatives_mixed": {
        "en": "The spec has one place for these: choose what stands there. Each is also kept under its own name"
    },
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
    "desk_foot": {"en": "{decided} of {places} confirmed · conflicts: {conflicts} · not in the manual: {missing}"},
    "desk_foot_done": {"en": "All that was read is decided. Next: Save a version, at the top."},
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
    "desk_nothing_open": {"en": "Nothing open is above {above}."},
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
    "desk_sure": {"en": "List those above the threshold, to accept them together"},
    "desk_sure_accept": {"en": "Accept those ticked"},
    "desk_sure_title": {"en": "{count} above {above}, none in conflict"},
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
    "save_left": {"en": "{count} values that nobody has decided are left out; they can follow in a later version."},
    "save_onto": {"en": "Build on"},
    "save_onto_nothing": {"en": "nothing: a new spec"},
    "save_open": {"en": "Save a version"},
    "save_reason": {"en": "Why, for the change log"},
    "save_reason_hint": {"en": "such as: data sheet v1.4"},
    "save_version": {"en": "Version"},
    "saved": {"en": "{file} is saved, with {count} accepted or given values."},
    "save_nothing": {"en": "No value is accepted or given yet: press a on one that is right."},
    "saved_adapt": {"en": "Next: fit a model to it"},
    "saved_look": {"en": "Look at the spec"},
    "saved_open": {"en": "Left open, because they contradict each other or what stood there: {places}."},
    "sharing_per_core": {"en": "per core"},
    "sharing_shared": {"en": "shared"},
    "desk_carry": {"en": "Carry over"},
    "desk_carry_hint": {
        "en": "Each was confirmed before, and the documents of this draft say the same. Accepted, each gets its place "
        "in these documents. Untick what shall be asked again."
    },
    "desk_carry_open": {"en": "Carry over the {count} of {name}"},
    "desk_carry_title": {"en": "{count} values of {name}, found again unchanged"},
    "desk_choose": {"en": "Choose that reading"},
    "desk_edit_any_word": {"en": "a word or a name"},
    "desk_edit_example": {"en": "such as {example}"},
    "desk_edit_example_unit": {"en": "such as {example}; kept in {unit}"},
    "desk_edit_holds": {"en": "The spec will hold {value}"},
    "desk_growing": {"en": "{count} values so far; they can be decided when all has been read"},
    "desk_label": {"en": "Confirm the draft"},
    "desk_loading": {"en": "Fetching the values …"},
    "desk_mark_changed": {"en": "changed"},
    "desk_mixed": {"en": "one of {count}"},
    "desk_page_vanished": {
        "en": "No document of this draft gives this value any more. Press e to give it yourself, u to take it out of "
        "the spec; undecided, it stays as it was."
    },
    "desk_someone": {"en": "someone"},
    "desk_vanished": {"en": "not found any more"},
    "desk_was_differs": {"en": "Was {was} in {name}: the documents say something else now."},
    "desk_was_same": {"en": "Was {was} in {name}, and is found again."},
    "desk_was_vanished": {"en": "Was {was} in {name}: these documents do not give it."},
    "group_changed": {"en": "Changed"},
    "strength_must": {"en": "must (a law)"},
    "strength_recommended": {"en": "recommended (a goal)"},
    # Specs
    "page_specs": {"en": "Specs"},
    "spec_affected": {"en": "Used by"},
    "spec_all": {"en": "All specs"},
    "spec_assumed": {"en": "Assumed: {reason}"},
    "spec_bound": {
        "en": "Made for {label}: {names}. Their actions stay as they are; for the other version they are adapted anew."
    },
    "spec_checked": {"en": "Last check"},
    "spec_checked_days": {"en": "{days} {days:day|days} ago"},
    "spec_checked_never": {"en": "not told"},
    "spec_checked_today": {"en": "today"},
    "spec_chip": {"en": "Chip"},
    "spec_choose_field": {"en": "Click on a row to see where the value stands in its document."},
    "spec_clean": {"en": "The validator finds nothing."},
    "spec_compare": {"en": "Compare"},
    "spec_matrix": {"en": "What works"},
    "spec_matrix_hint": {
        "en": "What the spec states, what people ran into, and what packages of this workspace prove. A package is "
        "written only if what was built equals what was approved."
    },
    "spec_matrix_none": {"en": "Nothing is known yet: the spec lists no operators, and no package was built for it."},
    "spec_verdict": {"en": "State"},
    "spec_verdict_fails": {"en": "fails"},
    "spec_verdict_hurts": {"en": "hurts"},
    "spec_verdict_limited": {"en": "within limits"},
    "spec_verdict_stated": {"en": "stated"},
    "spec_verdict_works": {"en": "works"},
    "spec_subject": {"en": "Operator or action"},
    "spec_unit": {"en": "Unit"},
    "spec_evidence": {"en": "How it is known"},
    "spec_compare_with": {"en": "Compare with"},
    "spec_confidence": {"en": "Confidence"},
    "spec_field": {"en": "Field"},
    "spec_fields": {"en": "Fields"},
    "spec_file": {"en": "File"},
    "spec_find": {"en": "Find a field"},
    "spec_finding_fix": {"en": "To mend it: {fix}"},
    "spec_finding_line": {"en": "line {line}"},
    "spec_findings": {"en": "Findings"},
    "spec_findings_counted": {"en": "{errors} errors, {warnings} warnings"},
    "spec_findings_none": {"en": "clean"},
    "spec_value_assumed": {"en": "{value} (assumed)"},
    "spec_never_checked": {"en": "It is not told when the values were last checked: last_verified_date is missing."},
    "spec_no_changes": {"en": "No value differs."},
    "spec_no_page": {"en": "The page cannot be shown: its document is not in the workspace, or no box was kept."},
    "spec_none": {"en": "No spec yet: confirm a draft and save a version, or keep a spec file on the home screen."},
    "spec_one_version": {"en": "There is no other spec to compare with."},
    "spec_open": {"en": "Open a spec"},
    "spec_people": {"en": "Accepted by"},
    "spec_picture": {"en": "Blocks of {name}: units, memories and what is known of the links between them"},
    "spec_picture_hint": {"en": "Press a box for its fields. The dashed line is the chip's edge."},
    "spec_says": {"en": "{label} says"},
    "spec_source": {"en": "From"},
    "spec_stale": {"en": "Stale: the values were last checked more than a year ago."},
    "spec_state": {"en": "Validator"},
    "spec_used": {"en": "Policies"},
    "spec_value": {"en": "Value"},
    "spec_values": {"en": "Values"},
    "spec_version": {"en": "Version"},
}
