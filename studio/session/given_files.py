"""The box for files that people give, in our words: what Streamlit writes into and under it is English."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal, overload

import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from studio.words.texts import text

_component = st.components.v2.component(
    "metainfer_upload_words", js=Path(__file__).with_name("upload_words.js").read_text(encoding="utf-8")
)


@overload
def given_files(
    label: str, key: str, limit_megabytes: int, kinds: Sequence[str], offered: Sequence[str] | None = None,
    many: Literal[False] = False, help_text: str | None = None,
) -> UploadedFile | None: ...  # fmt: skip


@overload
def given_files(
    label: str, key: str, limit_megabytes: int, kinds: Sequence[str], offered: Sequence[str] | None = None,
    *, many: Literal[True], help_text: str | None = None,
) -> list[UploadedFile]: ...  # fmt: skip


def given_files(
    label: str, key: str, limit_megabytes: int, kinds: Sequence[str], offered: Sequence[str] | None = None,
    many: bool = False, help_text: str | None = None,
) -> UploadedFile | list[UploadedFile] | None:  # fmt: skip
    """Draws the box; gives the one file, or all of them where it takes `many`.

    Args:
        label: What is asked for.
        key: Of the box.
        limit_megabytes: The most that one file may have.
        kinds: Endings of names that the line under the box tells; none where every name is taken.
        offered: What the browser offers to choose, where that is not the same.
        many: Whether it takes more than one.
        help_text: What stands behind the question mark.
    """
    with st.container(gap="xxsmall"):
        given: UploadedFile | list[UploadedFile] | None = st.file_uploader(
            label, type=list(offered or kinds) or None, accept_multiple_files=many, max_upload_size=limit_megabytes,
            key=key, help=help_text,
        )  # fmt: skip
        most = text("upload_many" if many else "upload_one", count=limit_megabytes)
        st.caption(" · ".join([most, ", ".join(kinds)] if kinds else [most]))
    return given


def say_what_uploads_say() -> None:
    """Hands over the words within the boxes for files; once for every screen."""
    _component(key="upload_words", data={"button": text("upload"), "drop": text("upload_drop")})
