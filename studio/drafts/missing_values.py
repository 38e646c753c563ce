"""What a spec lacks for predicting the time on the chip: said in plain words, and given there and then."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import streamlit as st

from metainfer_core.errors import InputError, MetaInferError
from metainfer_core.policy.policy import Policy
from metainfer_core.spec.drafting.accept import value_in
from metainfer_core.spec.drafting.draft import SpecDraft
from metainfer_core.spec.hardware_spec import HardwareSpec
from metainfer_core.spec.library import default_folder, find
from studio.drafts.draft_state import Standing
from studio.drafts.save_spec import Saved, next_version, save_version, versions_of
from studio.files.policies import SpecChoice
from studio.session.choices import short_reference
from studio.session.session import person
from studio.words.plain_words import error_words, plain_words
from studio.words.texts import text

_LACKS = re.compile(r"The prediction does without (?P<what>.+), which the spec lacks\.")
_NO_TIME = "The time on the chip cannot be predicted; "
_EXAMPLES = {
    "bandwidth_gbps": "12.8 GB/s",
    "clock_hz": "800 MHz",
    "latency_cycles": "120",
    "launch_overhead_us": "20 us",
    "macs_per_cycle": "256",
}
"""Key of a value that can be given to an example of it, with its unit where it has one of its own."""


def missing_values(warnings: Sequence[str]) -> tuple[str, ...]:
    """What the warnings of a policy say that the prediction does without: field paths, and words where it is none."""
    found = next(filter(None, map(_LACKS.fullmatch, warnings)), None)
    return tuple(each.partition(" (")[0] for each in found["what"].split(", ")) if found else ()


def told_plainly(warnings: Sequence[str]) -> list[str]:
    """The warnings of a policy, with one sentence in plain words in place of those about what the spec lacks."""
    missing = missing_values(warnings)
    if not missing:
        return list(warnings)
    has_no_time = any(each.startswith(_NO_TIME) for each in warnings)
    what = "; ".join(phrase(each) for each in missing)
    said = text("missing_no_time" if has_no_time else "missing_in_part", what=what)
    return [said, *(each for each in warnings if not _LACKS.fullmatch(each) and not each.startswith(_NO_TIME))]


def phrase(path: str) -> str:
    """`how long starting work on npu takes (compute_units.npu.launch_overhead_us)`."""
    key = _key(path)
    if key is None:
        return path
    parts = path.split(".")
    return text(f"missing_{key}", unit=parts[1], data_type=parts[-1], path=path)


def to_be_given(policy: Policy, spec: HardwareSpec) -> tuple[str, ...]:
    """The missing values that people can give and that this spec does not say either."""
    plain = spec.plain()
    return tuple(path for path in missing_values(policy.warnings) if _key(path) and value_in(plain, path) is None)


def save_given(choice: SpecChoice, given: Mapping[str, str], by: str, reason: str) -> Saved:
    """Writes the next version of a spec with these values, kept as assumed; nothing is overwritten.

    Raises:
        InputError: Nothing or no reason is given, a value does not fit its field, or it is not known who gives it.
    """
    filled = {path: words.strip() for path, words in given.items() if words.strip()}
    if not filled:
        raise InputError("No value is given.", fix="Fill in one field at least; what you leave empty stays unknown.")
    if not reason.strip():
        raise InputError("No reason is given.", "A value without a document is assumed.", "Say where you have it from.")
    name = choice.spec.name
    if Path(name).name != name:
        raise InputError(f"{name!r} cannot be the name of a file.", fix="Give the spec another name in its file.")
    stands = {path: Standing("edit", 0, by, given=words) for path, words in filled.items()}
    why = reason.strip()
    return save_version(SpecDraft(chip=name), stands, by, _next(choice.spec), why, _path(choice), given_from=why)


def draw_missing(policy: Policy, choice: SpecChoice) -> None:
    """A field for each value that is missing; saved, they make a new version of the spec, which is chosen then."""
    if not missing_values(policy.warnings):
        return
    paths = to_be_given(policy, choice.spec)
    if not paths:
        if any(_key(path) for path in missing_values(policy.warnings)):
            st.info(text("missing_given"), icon=":material/check:")
        return
    with st.expander(text("missing_give"), icon=":material/edit:"), st.form("missing", border=False):
        given = {
            path: st.text_input(
                plain_words(_capital(phrase(path))), key=f"missing-{path}", max_chars=80,
                placeholder=text("missing_example", example=_EXAMPLES[_key(path) or ""]),
            )
            for path in paths
        }  # fmt: skip
        reason = st.text_input(
            text("missing_reason"), key="missing_reason", max_chars=200, placeholder=text("missing_reason_example")
        )
        if not st.form_submit_button(text("missing_save", version=_next(choice.spec)), key="missing_save"):
            return
    try:
        saved = save_given(choice, given, person(), reason)
    except MetaInferError as error:
        st.error(error_words(error))
        return
    st.query_params["spec"] = short_reference(str(saved.path))
    st.rerun()


def _capital(words: str) -> str:
    return words[:1].upper() + words[1:]


def _key(path: str) -> str | None:
    """The key that tells what a value is, or None where it cannot be given in one field."""
    found = re.fullmatch(r"(?:compute_units|memories)\.[^.]+\.(\w+)(?:\.\w+)?", path)
    return found[1] if found and found[1] in _EXAMPLES else None


def _next(spec: HardwareSpec) -> str:
    """The version after this one and all of the workspace."""
    after = [next_version(versions_of(spec.name))]
    if re.fullmatch(r"\d{1,9}\.\d{1,9}\.\d{1,9}", spec.version):
        major, minor, _ = spec.version.split(".")
        after.append(f"{major}.{int(minor) + 1}.0")
    return max(after, key=lambda version: [int(part) for part in version.split(".")])


def _path(choice: SpecChoice) -> Path:
    path = Path(choice.reference)
    return path if path.is_absolute() else find(choice.reference, default_folder()).path
