"""How the last deeds ended, for one window: kept as what was meant, put into words in the language of the moment.

That something was done is said until the next deed. What failed is said until its own action is dealt with again: the
keys may be three actions ahead by then. Each goes at once where someone closes it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import streamlit as st

from studio.words.alerts import draw_alert
from studio.words.texts import text

MANY = ""
"""What a notice is about where a deed was about many actions at once."""


@dataclass(frozen=True)
class Notice:
    """One of them."""

    how: Literal["success", "error", "conflict"]
    words: Callable[[], str]
    """Gives the words; a conflict has a line for each thing that others did."""


class Notices:
    """Action id, or `MANY`, to how the last deed about it ended."""

    def __init__(self) -> None:
        self._said: dict[str, Notice] = {}

    def begin(self, about: str) -> None:
        """A deed begins: what was said about it goes, and that others were done."""
        for key, notice in list(self._said.items()):
            if key in (about, MANY) or notice.how == "success":
                self.close(key)

    def say(self, about: str, how: Literal["success", "error", "conflict"], words: Callable[[], str]) -> None:
        """Says how a deed ended."""
        self._said[about] = Notice(how, words)

    def about(self, about: str) -> Notice | None:
        """What is said now."""
        return self._said.get(about)

    def refused(self) -> tuple[str, ...]:
        """The actions whose last deed was not written, the latest first."""
        return tuple(each for each, notice in reversed(self._said.items()) if each != MANY and notice.how != "success")

    def close(self, about: str) -> None:
        """Somebody has read it."""
        self._said.pop(about, None)


def draw_notice(notices: Notices, about: str, place: str) -> None:
    """Shows what is said about an action, or about many, with a button that closes it; `place` tells two apart."""
    notice = notices.about(about)
    if notice is None:
        return
    with st.container(horizontal=True, gap="xxsmall", vertical_alignment="center", key=f"notice_{place}"):
        if notice.how == "conflict":
            title = text("conflict_title" if about != MANY else "bulk_conflict")
            then = text("conflict_then") if about != MANY else ""
            draw_alert("warning", f"{title}\n{notice.words()}", ":material/group:", then)
        else:
            draw_alert(notice.how, notice.words())
        st.button(
            "", key=f"close_{place}", icon=":material/close:", type="tertiary", help=text("notice_close"),
            on_click=notices.close, args=(about,),
        )  # fmt: skip
