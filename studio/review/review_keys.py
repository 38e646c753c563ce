"""Every key of the review screen, once: what it does, how that is called, and what follows from it."""

from __future__ import annotations

from typing import NamedTuple


class Key(NamedTuple):
    """One of them."""

    key: str
    """As browsers name it."""
    verb: str
    name: str
    """Of the text that says what it does, as it stands on its button."""
    hint: str
    """Of the text that says what follows."""
    shown: str = ""
    """As it is written for people, where that is not the key itself."""

    @property
    def label(self) -> str:
        """As people read it."""
        return self.shown or self.key


KEYS = (
    Key("j", "next", "key_next", "hint_next", "j ↓"),
    Key("k", "previous", "key_previous", "hint_previous", "k ↑"),
    Key("n", "next_open", "key_next_open", "hint_next_open"),
    Key("a", "approve", "key_approve", "hint_approve"),
    Key("l", "approve_again", "key_approve_again", "hint_approve_again"),
    Key("b", "together", "key_together", "hint_together"),
    Key("r", "tag", "key_tag", "hint_tag"),
    Key("o", "override", "key_override", "hint_override"),
    Key("x", "reject", "key_reject", "hint_reject"),
    Key("c", "comment", "key_comment", "hint_comment"),
    Key("u", "undo", "key_undo", "hint_undo"),
    Key("w", "withdraw", "key_withdraw", "hint_withdraw"),
    Key("/", "search", "key_search", "hint_search"),
    Key("Enter", "write", "key_write", "hint_write", "Ctrl+Enter"),
    Key("Escape", "leave", "key_leave", "hint_leave", "Esc"),
    Key("?", "help", "key_help", "hint_help"),
)
"""The component, its help, the buttons and their tooltips take them from here."""
VERBS = ("approve", "approve_again", "tag", "override", "reject", "comment", "undo", "withdraw")
"""What is decided about an action."""


def key_of(verb: str) -> Key:
    """The key of a verb."""
    return next(each for each in KEYS if each.verb == verb)
