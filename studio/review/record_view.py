"""The record behind a review: whether it is whole, said loudly where it is not, and its events as files."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from review_store.export.review_text import records_csv, records_json_lines
from review_store.record.check_log import LogFault, check_log
from review_store.record.log import EventLog
from studio.files.policies import Review, Subject
from studio.words.plain_words import plain_words
from studio.words.texts import text

SHOWN_FAULTS = 5


def draw_faults(review: Review) -> None:
    """A banner, if anyone changed the record."""
    faults = _faults(str(review.log.path), _stamp(review.log.path), review.log)
    if not faults:
        return
    lines = [f"- {plain_words(each.what)}" for each in faults[:SHOWN_FAULTS]]
    if len(faults) > SHOWN_FAULTS:
        lines.append(f"- {text('home_more', count=len(faults) - SHOWN_FAULTS)}")
    st.error(
        "\n".join([f"**{text('record_broken')}**", *lines, "", text("record_broken_then")]), icon=":material/gpp_bad:"
    )


def draw_record(found: Subject, review: Review) -> None:
    """What the record says about this policy, to take along."""
    popover = st.popover(text("record_open"), width="stretch", key="record_popover", on_change="rerun")
    if popover.open:
        with popover:
            st.caption(text("record_hint", count=len(review.records)))
            name = found.path.stem
            st.download_button(
                text("record_csv"),
                records_csv(review.records),
                f"{name}.review.csv",
                "text/csv",
                key="record_csv",
                on_click="ignore",
            )
            st.download_button(
                text("record_json"), records_json_lines(review.records), f"{name}.review.jsonl",
                "application/x-ndjson", key="record_json", on_click="ignore",
            )  # fmt: skip


def _stamp(path: Path) -> tuple[int, ...]:
    """Another one whenever the files of the store are written to, by whatever program."""
    files = [path, path.with_name(f"{path.name}-wal")]
    return tuple(each.stat().st_mtime_ns if each.exists() else 0 for each in files)


@st.cache_resource(max_entries=4, show_spinner=False)
def _faults(path: str, stamp: tuple[int, ...], _log: EventLog) -> tuple[LogFault, ...]:
    return check_log(_log)
