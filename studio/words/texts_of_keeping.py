"""Texts of keeping a workspace: a review to take along, retrained weights, where manuals lie, backups."""

from __future__ import annotations

TEXTS_OF_KEEPING: dict[str, dict[str, str]] = {
    # A review as one page
    "record_page": {"en": "Save as one page"},
    "record_page_hint": {
        "en": "The whole review as one HTML file: every action with its reasons, the places in the manual as "
        "pictures, verdicts and history. It asks nothing of any other place, and prints well."
    },
    "record_page_no_spec": {"en": "The page needs the chip's spec, which is not in the workspace."},
    # Retrained weights
    "carry_open": {"en": "Confirm {count} that stayed as they were"},
    "carry_hint": {
        "en": "You approved these before the weights were trained anew. Parameters and risk are the same, and the "
        "effect, measured anew, stayed within its spread. Each stands here by name."
    },
    "carry_none": {"en": "None of what you approved before stayed as it was: each is looked at by itself."},
    "carry_others": {"en": "{count} are looked at one by one"},
    "column_changed": {"en": "What changed"},
    "reapply_open": {"en": "Take a policy over to retrained weights"},
    "reapply_hint": {
        "en": "If this model is the one of an earlier policy with other weights: the same actions are done again, and "
        "all effects are measured anew. The review goes on; every approval is outdated at first."
    },
    "reapply_policy": {"en": "Policy of the earlier weights"},
    "reapply_start": {"en": "Take it over"},
    "reapply_title": {"en": "{policy}, taken over to {model}"},
    "reapply_review": {"en": "Review what was taken over: {policy}"},
    # Manuals
    "keep_manuals": {"en": "Where manuals are kept"},
    "keep_manuals_at": {"en": "Manuals lie in this folder. What is uploaded goes there too."},
    "keep_manuals_other": {"en": "Another folder, such as an encrypted disk; empty: that of the workspace"},
    "keep_manuals_set": {"en": "Keep them there"},
    "keep_purge": {"en": "Purge a manual"},
    "keep_purge_hint": {
        "en": "The document, pictures of its pages and all copies go for good. Values, digests and what people decided "
        "stay. Backups and files that you exported are not touched."
    },
    "keep_purge_words": {"en": "Also take out the words that drafts and specs quote"},
    "keep_purge_do": {"en": "Purge it: {count} files and folders"},
    "keep_purge_done": {"en": "{name} is purged."},
    "keep_purge_left": {"en": "Words or pictures of it are still in: {names}. Look at these yourself."},
    "keep_purged": {"en": "{name} was purged on {day} by {person}"},
    "desk_page_purged": {
        "en": "The document was purged: its page can no longer be shown. Digest, value and box stay.\n\n{text}"
    },
    "spec_page_purged": {"en": "The document was purged: its page can no longer be shown. Value and digest stay."},
    # Backups
    "backup_where": {"en": "File to write, best on another disk"},
    "backup_do": {"en": "Save"},
    "backup_title": {"en": "Backup to {file}"},
    "backup_hint": {
        "en": "Back up: all work in one file, while others go on. `meta-infer workspace restore` brings it back."
    },
}
