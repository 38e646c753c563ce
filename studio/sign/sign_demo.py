"""Signing on screen in the demo mode, so that a first look has an end."""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta

import streamlit as st

from metainfer_core.bundle.trust import TrustFile, time_text
from metainfer_core.errors import InputError, MetaInferError
from metainfer_core.files import pending
from metainfer_core.policy.policy import Policy
from metainfer_core.policy.ruleset import ruleset_digest
from review_store.review.workspace import now, trust_path
from review_store.signing.demo import DemoKeys, refuse_demo, sign_demo
from studio.files.policies import Review, Subject, review_of, reviewed
from studio.files.workspace import workspace_folder
from studio.review.buildable import Checked
from studio.session.demo_mode import demo_mode
from studio.session.session import person
from studio.sign.signing_view import blocking, bundle_to_write
from studio.words.plain_words import error_words, plain_words
from studio.words.texts import text

VALID = timedelta(days=7)
_KEYS = DemoKeys()
"""Of this server; they end with it."""
_signing = threading.Lock()
"""Held while a bundle gets its number and its name, so that two windows do not write one file."""


def signs_here(trust: TrustFile) -> bool:
    """Whether the demo signs in this workspace; says why not where it is on and does not."""
    if not demo_mode():
        return False
    try:
        refuse_demo(trust, trust_path(workspace_folder()).name)
    except MetaInferError as error:
        st.info(error_words(error), icon=":material/key:")
        return False
    st.warning(text("demo_banner"), icon=":material/science:")
    return True


def draw_demo(found: Subject, review: Review, checked: Checked) -> None:
    """The button that signs, where everything is approved and can be built."""
    st.subheader(text("demo_how"))
    st.markdown(text("demo_hint", person=plain_words(person() or text("unknown"))))
    ready = not blocking(review.state) and checked.word == "can" and bool(person())
    if st.button(text("demo_sign"), type="primary", key="demo_sign", disabled=not ready):
        try:
            sign_here(found, review)
        except MetaInferError as error:
            st.error(error_words(error))
            return
        st.rerun()
    if not ready:
        st.caption(text("demo_not_ready"))


def sign_here(found: Subject, review: Review) -> None:
    """Signs what `review` shows, into a bundle of its own; refuses where somebody decided meanwhile."""
    checked = reviewed(review).digest

    def unchanged(policy: Policy) -> None:
        if policy.digest != checked:
            raise InputError("Somebody decided about this policy meanwhile.", fix="Look at it again, then sign.")

    with _signing:
        path = bundle_to_write(found, review_of(found).state)
        with pending(path, "bundle") as file:
            sign_demo(
                review.log,
                found.policy,
                trust_path(workspace_folder()),
                _KEYS,
                person(),
                now(),
                time_text(datetime.now(UTC) + VALID),
                ruleset_digest(),
                unchanged,
                found.spec.spec.name if found.spec else "",
                file,
            )
