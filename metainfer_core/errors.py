"""Every error the product raises on purpose, in one tree, split by who must act.

    MetaInferError
    ├ InputError          a file, value or option from outside is wrong         exit 2
    ├ UnsupportedError    understood, but this product cannot do it             exit 1
    ├ DoesNotFitError     right, but larger than what the hardware offers       exit 1
    ├ NotTrustedError     a signature, digest, quorum or approval is missing    exit 3
    ├ ObligationFailed    a rewrite or a build did not keep its promise         exit 1
    └ DefectError         our own mistake                                       exit 70

An expected "no" is a value with a sentence (Refusal, Finding, MemoryFault); an exception means that the
caller cannot go on. A message says what (with value and place), why (the limit; got, expected) and how to mend it.
"""

from __future__ import annotations

from typing import ClassVar


class MetaInferError(Exception):
    """An error that a person can act on.

    Args:
        what: What is wrong, with the offending value and its place (file, line, page, node).
        why: The law or limit that it breaks; what was found and what was expected.
        fix: The next thing to do.
    """

    exit_status: ClassVar[int] = 70

    def __init__(self, what: str, why: str = "", fix: str = "") -> None:
        self.what, self.why, self.fix = what, why, fix
        super().__init__("\n".join(part for part in (what, why, fix) if part))


class InputError(MetaInferError):
    """A file, value or option from outside is wrong."""

    exit_status = 2


class UnsupportedError(MetaInferError):
    """The input is understood, but cannot be handled."""

    exit_status = 1


class DoesNotFitError(MetaInferError):
    """The request is right, but needs more of a resource than there is.

    Args:
        resource: Its name, with the spec field that limits it.
        needed: The amount that the request needs, in `unit`.
        available: The amount there is, in `unit`.
        unit: Unit of both amounts.
        fix: The next thing to do.
        node: That needs too much by itself, whatever else there is; empty where it is all together.
    """

    exit_status = 1

    def __init__(
        self, resource: str, needed: int, available: int, unit: str = "bytes", fix: str = "", node: str = ""
    ) -> None:
        self.resource, self.needed, self.available, self.unit, self.node = resource, needed, available, unit, node
        super().__init__(
            f"{resource} is too small.",
            f"Needed {needed:,} {unit}, available {available:,} {unit}: {needed - available:,} {unit} too many.",
            fix,
        )

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.resource, self.needed, self.available, self.unit, self.fix, self.node)


class NotTrustedError(MetaInferError):
    """What was to be built or run is unsigned, tampered with, stale, expired, revoked or unreviewed.

    Args:
        what: What is not trusted.
        why: What was found and what was expected.
        fix: The next thing to do.
        check: Name of the check that failed, such as `wrong_model`.
    """

    exit_status = 3

    def __init__(self, what: str, why: str = "", fix: str = "", check: str = "") -> None:
        self.check = check
        super().__init__(what, why, fix)

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.what, self.why, self.fix, self.check)


class ObligationFailed(MetaInferError):  # noqa: N818 - named for what happened, as in the glossary
    """A rewrite, a build or an approval did not keep its promise."""

    exit_status = 1


class DefectError(MetaInferError):
    """Our own mistake; the text asks for a report."""

    exit_status = 70
