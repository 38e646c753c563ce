"""Options of commands as the forms of the studio call them: who reads an error here has fields, not a command line."""

from __future__ import annotations

import re

from studio.words.texts import text

_SHAPES = {"--input-shape": "adapt_shapes"}
_OF_ADAPT = _SHAPES | {"--calib": "adapt_calibration", "--eval": "adapt_evaluation"}
FIELDS: dict[str, dict[str, str]] = {"adapt": _OF_ADAPT, "model": _SHAPES}
"""Kind of a job to the options that its form has, each with the text that is its field's label."""
_OPTION = re.compile(r'(?:meta-infer [a-z-]+ )?(?P<option>--[a-z][a-z-]*)(?: "(?P<value>[^"]*)"| \.\.\.)?')


def with_field_names(sentence: str, kind: str) -> str:
    """A sentence of a command, such as how to mend an error, with the labels of the fields for its options.

    Args:
        sentence: What the command said.
        kind: Of the job that ran it; options that its form does not have stay as they are.
    """
    labels = FIELDS.get(kind, {})

    def named(found: re.Match[str]) -> str:
        if found["option"] not in labels:
            return found[0]
        field = text(labels[found["option"]])
        if found["value"]:
            return text("value_in_field", value=found["value"], field=field)
        return text("field", field=field)

    return _OPTION.sub(named, sentence)
