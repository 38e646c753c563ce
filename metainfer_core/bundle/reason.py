"""Why something is not trusted: a named check, in words that say what to do."""

from __future__ import annotations

from collections.abc import Sequence

from metainfer_core.errors import MetaInferError, NotTrustedError
from metainfer_core.values import Value


class Reason(Value):
    """One check that failed."""

    check: str
    """One of `CHECKS`."""
    what: str
    why: str = ""
    fix: str = ""
    actions: tuple[str, ...] = ()
    """Ids of the actions that it concerns; empty where it concerns the whole."""


CHECKS: dict[str, str] = {
    "unsigned": "The file is signed.",
    "wrong_type": "What is signed is a release of meta-infer, and not another kind of statement.",
    "unknown_key": "A key of the trust file made the signature.",
    "tampered": "The signature fits the bytes.",
    "revoked_key": "The key that signed is not revoked.",
    "expired_key": "The key that signed is valid now.",
    "role": "The person who signed has the role for it.",
    "scope": "Who signed may do so for this chip and this risk.",
    "malformed": "What is signed keeps to its format.",
    "demo": "People signed it with keys of their own, and not a studio in demo mode for them.",
    "expired": "The bundle and the trust file are valid now.",
    "override_expired": "Every override in it still holds.",
    "audience": "It was made for those who use it here.",
    "tool_version": "The programs that made and check it are not older than the trust file allows.",
    "wrong_model": "It was made for this model.",
    "wrong_spec": "It was made for this hardware spec.",
    "wrong_policy": "The policy is the one that its digests name.",
    "wrong_rules": "It was reviewed under the rule set of this program.",
    "missing_approval": "Every action is approved.",
    "stale_approval": "Every approval is of exactly this model, spec, rule set and action.",
    "review_required": "A dangerous or tagged action has its three-line justification.",
    "own_work": "Where the trust file asks for it, nobody counts for their own work.",
    "quorum": "Enough distinct people, with distinct keys, stand behind it.",
    "downgrade": "It is not older than what was trusted here before.",
    "trust_root": "Those who may change the trust file signed it.",
}
"""Every check by its name, and what holds when it passes."""


def reason_of(error: MetaInferError) -> Reason:
    """An error met while checking, as a reason; one that is not about trust means that the form is wrong."""
    check = error.check if isinstance(error, NotTrustedError) else "malformed"
    return Reason(check=check, what=error.what, why=error.why, fix=error.fix)


def not_trusted(reasons: Sequence[Reason], source: str) -> NotTrustedError:
    """The refusal for these reasons, of which there is at least one."""
    first, more = reasons[0], len(reasons) - 1
    also = f" Also failed: {', '.join(dict.fromkeys(each.check for each in reasons[1:]))}." if more else ""
    return NotTrustedError(
        f"{source}: not trusted ({first.check}). {first.what}", f"{first.why}{also}".strip(), first.fix, first.check
    )


def listed(ids: Sequence[str], most: int = 20) -> str:
    """Ids as a list in a sentence, cut where it gets too long to read."""
    more = len(ids) - most
    return ", ".join(ids[:most]) + (f" and {more} more" if more > 0 else "")
