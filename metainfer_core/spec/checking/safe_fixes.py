"""Makes the fixes that cannot change what a spec file means to say; comments and everything else stay as they are."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from typing import Any

import yaml

from metainfer_core.errors import DefectError
from metainfer_core.spec.checking.validate import validate
from metainfer_core.spec.files.spec_reader import SpecReader
from metainfer_core.spec.files.strict_yaml import read_yaml
from metainfer_core.spec.findings import Finding, Mend

_MOST_ROUNDS = 32
"""A mended key lets what is below it be read, so that more can be mended; specs are at most this deep."""


@dataclass(frozen=True)
class Fixed:
    """A spec file after its safe fixes."""

    data: bytes
    mended: tuple[Finding, ...]
    """What was found and is mended, with the places that it had."""


def fixed(data: bytes, source: str, today: datetime.date) -> Fixed:
    """The bytes of a spec file with every safe fix made; every value that could be read before reads the same."""
    mended: list[Finding] = []
    for _ in range(_MOST_ROUNDS):
        found = [finding for finding in validate(data, source, today) if finding.mend]
        if not found:  # also where it is no YAML at all, so that there are no places to be replaced
            break
        replaced, done = _replaced(data, found)
        if not done:
            break
        if not _says_as_much(_read(data, source), _read(replaced, source)):
            raise DefectError(f"{source}: a fix that was to be safe changes a value; nothing was written.")
        data = replaced
        mended += done
    return Fixed(data, tuple(mended))


def _replaced(data: bytes, found: list[Finding]) -> tuple[bytes, list[Finding]]:
    text = data.decode("utf-8")
    root = yaml.compose(text, Loader=yaml.SafeLoader)
    places: dict[tuple[int, int], tuple[str, Finding]] = {}
    for finding in found:
        node = _node(root, finding.mend) if finding.mend else None
        if finding.mend and node is not None:
            places.setdefault((node.start_mark.index, node.end_mark.index), (finding.mend.text, finding))
    for (start, end), (new, _) in sorted(places.items(), reverse=True):
        text = text[:start] + new + text[end:]
    return text.encode(), [finding for _, finding in places.values()]


def _node(root: yaml.Node | None, mend: Mend) -> yaml.Node | None:
    """The one-line key or value that is to be replaced, or None where the file has it in another form."""
    node = root
    key: yaml.Node | None = None
    for part in mend.place:
        if isinstance(node, yaml.MappingNode):
            pair = next((pair for pair in node.value if pair[0].value == part), None)
            key, node = pair or (None, None)
        elif isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
            key, node = None, node.value[part]
        else:
            return None
    chosen = key if mend.of_key else node
    on_one_line = isinstance(chosen, yaml.ScalarNode) and chosen.start_mark.line == chosen.end_mark.line
    return chosen if on_one_line else None


def _read(data: bytes, source: str) -> Any:
    return SpecReader(read_yaml(data, source)).read()


def _says_as_much(before: Any, after: Any) -> bool:
    """Whether all that was read before is read after, and the same."""
    if isinstance(before, dict) and isinstance(after, dict):
        return all(key in after and _says_as_much(value, after[key]) for key, value in before.items())
    return bool(before == after)
