"""Gathers what the page of a review shows beside the record: the manuals' pictures, the chain check, the trust file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from metainfer_core.bundle.trust import Time
from metainfer_core.bundle.trust_root import read_trust
from metainfer_core.cli.console import ProgressCallback
from metainfer_core.files import MEBIBYTE
from metainfer_core.spec.hardware_spec import HardwareSpec
from review_store.export.manual_crops import cutter, pictures_of, spots_of
from review_store.export.review_page import Evidence, review_html
from review_store.keeping.manual_files import why_absent
from review_store.record.check_log import check_log
from review_store.record.log import EventLog
from review_store.review.state import ReviewState
from review_store.review.workspace import trust_path

PDF_LIMIT = 512 * MEBIBYTE
NO_CUTTER = "Nothing that is installed draws pages of documents."
NOT_DRAWN = "This place could not be drawn."


def export_page(
    workspace: Path,
    log: EventLog,
    state: ReviewState,
    spec: HardwareSpec,
    find: Callable[[str], Path | None],
    as_of: Time,
    progress: ProgressCallback,
) -> bytes:
    """The page of a review.

    Args:
        workspace: Whose record and trust file it is.
        log: Its record.
        state: The review.
        spec: The hardware that the policy is for.
        find: Gives the document with a digest, where it is at hand.
        as_of: An override that ended before this time is shown as expired.
        progress: Called with each step.
    """
    progress("checking the record", 0, 0)
    faults, head = check_log(log), log.head()
    spots, cut = spots_of(state.policy, spec), cutter()
    documents: dict[str, Path] = {}
    absent: dict[str, str] = {}
    for digest in dict.fromkeys(spot.document_digest for spot in spots):
        path = find(digest)
        if path is None:
            absent[digest] = why_absent(workspace, digest)
        else:
            documents[digest] = path
            absent[digest] = NO_CUTTER if cut is None else NOT_DRAWN
    pictures = {} if cut is None else pictures_of(spots, documents, cut, progress)
    evidence = Evidence(spec, pictures, absent, faults, head, read_trust(trust_path(workspace)))
    return review_html(state, log.records(state.lineage), evidence, as_of)
