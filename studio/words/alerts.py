"""What is said in a box: long names in it lose their middle as they do everywhere, and pointing at one shows the whole.

Streamlit's own boxes show Markdown, which has no place for the whole of a name: one with a long name is drawn by us.
"""

from __future__ import annotations

from typing import Literal

import streamlit as st

from studio.words.long_names import is_long
from studio.words.markup import draw
from studio.words.plain_words import plain_words

How = Literal["success", "warning", "error"]
ICONS: dict[How, str] = {"success": ":material/check:", "warning": ":material/warning:", "error": ":material/error:"}


def draw_alert(how: How, words: str, icon: str = "", then: str = "") -> None:
    """Shows words in a box: a sentence, with a list where more lines follow, and what one can do below that."""
    first, *rest = words.splitlines() or [""]
    if any(map(is_long, words.split())):
        draw("alert", how=how, first=first, rest=rest, then=then)
        return
    boxes = {"success": st.success, "warning": st.warning, "error": st.error}
    parts = [plain_words(first), *(f"- {plain_words(line)}" for line in rest)]
    below = f"\n\n{plain_words(then)}" if then else ""
    boxes[how]("\n".join(parts) + below, icon=icon or ICONS[how])
