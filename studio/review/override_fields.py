"""Fields for the parameters of an action kind, made from the kind's own `Params` model."""

from __future__ import annotations

import types
import typing
from collections.abc import Mapping
from functools import partial
from typing import Any, Literal

import streamlit as st

from metainfer_core.actions.catalog import kind
from metainfer_core.policy.policy import PolicyAction
from metainfer_core.spec.hardware_spec import HardwareSpec
from studio.words.action_words import parameter_words, value_words
from studio.words.long_names import shortened
from studio.words.plain_words import plain_words
from studio.words.texts import text


def override_fields(
    action: PolicyAction, spec: HardwareSpec | None, key: str, given: Mapping[str, Any]
) -> tuple[dict[str, Any], bool]:
    """Draws one field for each simple parameter; gives those that differ from the proposal, and whether there are any.

    What was `given` before stands in the fields instead of the proposal.

    Ranges and other tables are not edited here; they stay as proposed.
    """
    found = kind(action.action)
    if found is None:
        return {}, False
    changed: dict[str, Any] = {}
    any_field = False
    for name, info in found.Params.model_fields.items():
        proposed = action.params.get(name, None if info.is_required() else info.get_default(call_default_factory=True))
        drawn = _field(name, info.annotation, given.get(name, proposed), spec, f"{key}_{name}")
        if drawn is None:
            continue
        any_field = True
        if drawn[0] != proposed:
            changed[name] = drawn[0]
    return changed, any_field


def _field(name: str, annotation: Any, proposed: Any, spec: HardwareSpec | None, key: str) -> tuple[Any] | None:
    """The value of the field that was drawn, in a tuple; None where a parameter of this type has no field."""
    label = parameter_words(name)
    keep: Mapping[str, Any] = {"key": key, "persist_state": "page"}
    if typing.get_origin(annotation) is Literal:
        options = list(typing.get_args(annotation))
        at = options.index(proposed) if proposed in options else 0
        return (st.selectbox(label, options, index=at, format_func=partial(value_words, name), **keep),)
    if name == "target_hw" and spec is not None:
        units = list(spec.compute_units)
        return (st.selectbox(label, units, index=units.index(proposed) if proposed in units else None, **keep),)
    if name == "memory" and spec is not None and isinstance(proposed, Mapping):
        return (_memories(proposed, list(spec.memories), keep),)
    if annotation is bool:
        return (st.checkbox(label, value=bool(proposed), **keep),)
    if annotation is int:
        return (int(st.number_input(label, value=int(proposed or 0), step=1, **keep)),)
    if _is_optional(annotation, int):
        value = proposed if isinstance(proposed, int) else None
        return (st.number_input(label, value=value, step=1, placeholder=text("form_not_given"), **keep),)
    if annotation is str or _is_optional(annotation, str):
        return (st.text_input(label, value=str(proposed or ""), **keep) or proposed,)
    return None


def _memories(proposed: Mapping[str, str], memories: list[str], keep: Mapping[str, Any]) -> dict[str, str]:
    """Tensor to memory, a field for each tensor."""
    return {
        tensor: st.selectbox(
            text("form_memory_of", tensor=plain_words(shortened(tensor))),
            memories,
            help=plain_words(tensor) if shortened(tensor) != tensor else None,
            index=memories.index(memory) if memory in memories else 0,
            **{**keep, "key": f"{keep['key']}_{index}"},
        )
        for index, (tensor, memory) in enumerate(proposed.items())
    }


def _is_optional(annotation: Any, kind_of_value: type) -> bool:
    is_union = typing.get_origin(annotation) in (typing.Union, types.UnionType)
    return is_union and set(typing.get_args(annotation)) == {kind_of_value, type(None)}
