"""From a parsed spec file to the plain data of a HardwareSpec: units converted, every fault a finding."""

from __future__ import annotations

import difflib
import re
from typing import Any

from metainfer_core.errors import InputError
from metainfer_core.spec.field_shapes import SPEC, Shape, shape_at, unit_key
from metainfer_core.spec.files.aliases import good_form
from metainfer_core.spec.files.strict_yaml import Document, Path
from metainfer_core.spec.findings import Finding, Mend, Severity
from metainfer_core.spec.hardware_spec import Quantity
from metainfer_core.spec.quantities import (
    Fault,
    QuantityError,
    ambiguity,
    key_unit,
    number,
    parse_quantity,
    unambiguous,
)

_CODE_OF_FAULT: dict[Fault, str] = {
    "no_number": "HW003",
    "missing_unit": "HW004",
    "unknown_unit": "HW004",
    "wrong_dimension": "HW005",
    "ambiguous_unit": "HW006",
    "broken_range": "HW008",
}
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_SPREAD = ("min", "typ", "mean", "max", "std", "strength")
_FREE_NAMES = ("provenance", "assumed", "other", "sources")
"""Maps whose keys are paths, document field names or titles."""
_BOOLEANS = {"true": "true", "yes": "true", "on": "true", "false": "false", "no": "false", "off": "false"}
ABSENT = object()
"""What stands in place of a value that was faulty or null."""


class SpecReader:
    """Reads one document; `findings` then holds what is wrong, and `assumed` the reasons of assumed values."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.findings: list[Finding] = []

    def read(self) -> dict[str, Any]:
        """Plain data of a HardwareSpec, as far as it could be read."""
        data = self.document.data
        if not isinstance(data, dict):
            self._find("HW003", (), "A spec is a mapping of keys to values.", "Begin with `name: ...`.")
            return {}
        data = self._without_dotted_keys(data)
        assumed = data.pop("assumed", None)
        found = self._record(SPEC, data, ())
        if assumed is not None:
            found["assumed"] = self._merge_assumed(found, assumed)
        return found

    def _find(
        self,
        code: str,
        path: Path,
        message: str,
        fix: str,
        severity: Severity = "error",
        mend: str = "",
        of_key: bool = False,
    ) -> None:
        """A finding at the place of a path; `mend` is what can safely stand there instead of the value (or key)."""
        mark = self.document.mark(path)
        self.findings.append(
            Finding(
                code=code,
                severity=severity,
                path=".".join(str(part) for part in path),
                line=mark.line,
                column=mark.column,
                message=message,
                fix=fix,
                mend=Mend(place=path, text=mend, of_key=of_key) if mend else None,
            )
        )

    def _without_dotted_keys(self, data: dict[str, Any]) -> dict[str, Any]:
        """`l2_cache.size_bytes: 512 KiB` at the top level means the same as the nested form."""
        plain = {key: value for key, value in data.items() if "." not in key}
        for key in (key for key in data if "." in key):
            if shape_at(key) is None:
                self._unknown_key((key,), key, tuple(SPEC.fields()))
                continue
            self.document.marks[tuple(key.split("."))] = self.document.mark((key,))
            if not _insert(plain, key, data[key]):
                self._find("HW012", (key,), f"{key} stands twice in this file.", "Keep one of the two.")
        return plain

    def _merge_assumed(self, found: dict[str, Any], assumed: object) -> dict[str, str]:
        reasons: dict[str, str] = {}
        if not isinstance(assumed, dict):
            self._find(
                "HW003", ("assumed",), "`assumed` maps paths to {value, reason}.", "Write path: {value, reason}."
            )
            return reasons
        for path, entry in assumed.items():
            here: Path = ("assumed", path)
            shape = shape_at(path)
            reason = entry.get("reason") if isinstance(entry, dict) else None
            if shape is None:
                self._unknown_key(here, path, ())
            elif not isinstance(entry, dict) or set(entry) - {"value", "reason"} or entry.get("value") is None:
                self._find("HW003", here, f"{path}: an assumption is {{value, reason}}.", "Write both, and only both.")
            elif not isinstance(reason, str) or not reason.strip():
                self._find("HW001", here, f"{path} is assumed without a reason.", "Write `reason:`, one honest line.")
            else:
                value = self._value(shape, entry["value"], (*here, "value"), unit_key(path))
                if value is not ABSENT and not _insert(found, path, value):
                    self._find("HW012", here, f"{path} is assumed, but also given as a fact.", "Remove one of the two.")
                reasons[path] = reason
        return reasons

    def _value(self, shape: Shape, data: object, path: Path, key: str) -> Any:
        if data is None:
            return ABSENT
        match shape.kind:
            case "record":
                if isinstance(data, dict):
                    return self._record(shape, data, path)
                return self._wrong_type(path, key, "a mapping", data)
            case "named":
                return self._named(shape, data, path, key)
            case "list":
                return self._list(shape, data, path, key)
            case "quantity":
                return self._quantity(data, path, key)
            case "address":
                return self._address(data, path, key)
            case "integer" | "number":
                return self._number(shape, data, path, key)
            case "boolean":
                return self._boolean(data, path, key)
            case "choice":
                return self._choice(shape, data, path, key)
            case "text":
                return data if isinstance(data, str) else self._wrong_type(path, key, "a text", data)
            case "any":
                return self._any(data, path, key)

    def _any(self, data: object, path: Path, key: str) -> Any:
        """Free data; whole numbers that JSON readers would round are refused."""
        if isinstance(data, dict):
            return {name: self._any(value, (*path, name), name) for name, value in data.items()}
        if isinstance(data, list):
            return [self._any(value, (*path, index), key) for index, value in enumerate(data)]
        if isinstance(data, int) and abs(data) >= 2**53:
            return self._wrong_type(path, key, "a whole number below 2^53, or a text", data)
        return data

    def _record(self, shape: Shape, data: dict[str, Any], path: Path) -> dict[str, Any]:
        fields = shape.fields()
        found: dict[str, Any] = {}
        for key, value in data.items():
            if key not in fields:
                self._unknown_key((*path, key), key, tuple(fields), value, tuple(data))
                continue
            read = self._value(fields[key], value, (*path, key), key)
            if read is not ABSENT:
                found[key] = read
        for key in shape.required():
            if data.get(key) is None:
                place = f" in {'.'.join(map(str, path))}" if path else ""
                self._find("HW001", path, f"The key `{key}` is missing{place}.", f"Add `{key}:`.")
        return found

    def _named(self, shape: Shape, data: object, path: Path, key: str) -> Any:
        if not isinstance(data, dict) or shape.item is None:
            return self._wrong_type(path, key, "a mapping of names", data)
        found = {}
        for name, value in data.items():
            if path[0] not in _FREE_NAMES and not _NAME.fullmatch(name):
                self._find(
                    "HW003",
                    (*path, name),
                    f"{name!r} cannot be a name here.",
                    "Use letters, digits, _ and -, and begin with a letter: field paths are built from names.",
                )
                continue
            # A value inherits the unit of its map's key: macs_per_cycle: {int8: 1024}.
            inherited = key if key_unit(key) and not key_unit(name) else name
            read = self._value(shape.item, value, (*path, name), inherited)
            if read is not ABSENT:
                found[name] = read
        return found

    def _list(self, shape: Shape, data: object, path: Path, key: str) -> Any:
        if not isinstance(data, list) or shape.item is None:
            fix = f"Write {key}: [{data}]." if data else ""
            return self._wrong_type(path, key, "a list", data, fix, _one_item(shape, data))
        read = [self._value(shape.item, value, (*path, index), key) for index, value in enumerate(data)]
        return [value for value in read if value is not ABSENT]

    def _quantity(self, data: object, path: Path, key: str) -> Any:
        if isinstance(data, bool | list):
            return self._wrong_type(path, key, "a number, a text with a unit or {min, typ, max}", data)
        if not isinstance(data, dict):
            quantity = self._quantity_of(data, path, key)
            return ABSENT if quantity is None else quantity.plain()
        spread: dict[str, Any] = {}
        for part, value in data.items():
            here = (*path, part)
            if part not in _SPREAD:
                self._unknown_key(here, part, _SPREAD)
            elif part == "strength":
                if value in ("must", "recommended"):
                    spread[part] = value
                else:
                    self._find("HW003", here, f"strength is {value!r}.", "Write `must` (a law) or `recommended`.")
            elif value is not None:
                quantity = self._quantity_of(value, here, key)
                if quantity is not None and quantity.typ is None:
                    self._find("HW003", here, f"{part} holds a range itself.", "Write one number.")
                elif quantity is not None:
                    name = "typ" if part == "mean" else part
                    if name in spread:
                        self._find("HW012", here, "typ and mean are the same thing here.", "Keep one of the two.")
                    spread[name] = quantity.typ
        return self._checked_spread(spread, path, key)

    def _checked_spread(self, spread: dict[str, Any], path: Path, key: str) -> Any:
        ends = [spread[name] for name in ("min", "typ", "max") if name in spread]
        if not ends:
            self._find("HW003", path, f"{key} holds no number.", "Give min, typ or max.")
            return ABSENT
        if ends != sorted(ends):
            self._find(
                "HW008", path, f"{key}: min ≤ typ (mean) ≤ max does not hold: {ends}.", "Put the three in order."
            )
            return ABSENT
        if spread.get("std", 0) < 0:
            self._find("HW008", path, f"{key}: std is {spread['std']}, but cannot be negative.", "Give it as ≥ 0.")
            return ABSENT
        return spread

    def _quantity_of(self, data: object, path: Path, key: str) -> Quantity | None:
        """One number or text with a unit, in the base unit of `key`; None where it is faulty."""
        if isinstance(data, int | float) and not isinstance(data, bool):
            return Quantity(typ=float(data))
        if not isinstance(data, str):
            self._wrong_type(path, key, "a number or a text with a unit", data)
            return None
        try:
            quantity = parse_quantity(data, key_unit(key))
        except QuantityError as error:
            self._find(_CODE_OF_FAULT[error.fault], path, f"{key}: {error.message}", error.fix)
            return None
        self._doubt(data, path, key)
        return quantity

    def _doubt(self, text: str, path: Path, key: str) -> None:
        doubt, severity, fix = ambiguity(text), "note", "Write KiB, MiB or GiB."
        if not doubt:
            return
        if "8 times" in doubt:
            severity, fix = "error", "Write B for bytes, bit for bits: KiB or Kbit, GB/s or Gbit/s."
        elif "/s" in doubt:
            fix = "Write B/s for bytes, bit/s for bits."
        if severity == "error":
            self._find("HW006", path, f"{key}: {doubt} ({text!r}).", fix)
            return
        clear = unambiguous(text)
        mend = clear if clear and parse_quantity(clear, key_unit(key)) == parse_quantity(text, key_unit(key)) else ""
        self._find("HW006", path, f"{key}: {doubt} ({text!r}).", fix, "note", mend)

    def _number(self, shape: Shape, data: object, path: Path, key: str) -> Any:
        if isinstance(data, str):
            quantity = self._quantity_of(data, path, key)
            if quantity is None:
                return ABSENT
            if quantity.typ is None or quantity.min is not None:
                return self._wrong_type(path, key, "one number, not a range", data)
            data = quantity.typ
        if isinstance(data, bool) or not isinstance(data, int | float):
            return self._wrong_type(path, key, "a number", data)
        if shape.kind == "number":
            return float(data)
        if data != int(data):
            return self._wrong_type(path, key, "a whole number", data)
        if abs(int(data)) >= 2**53:
            return self._wrong_type(path, key, "a whole number below 2^53", data)
        return int(data)

    def _address(self, data: object, path: Path, key: str) -> Any:
        if isinstance(data, str) and re.fullmatch(r"0[xX][0-9a-fA-F][0-9a-fA-F_]{0,40}", data):
            data = int(number(data))
        if isinstance(data, bool) or not isinstance(data, int) or not 0 <= data < 2**64:
            return self._wrong_type(path, key, "an address such as 0xff8c0000", data)
        return hex(data)

    def _choice(self, shape: Shape, data: object, path: Path, key: str) -> Any:
        if data in shape.choices:
            return data
        near = difflib.get_close_matches(str(data).lower(), [str(choice) for choice in shape.choices], 1, 0.6)
        expected = f"one of: {', '.join(str(choice) for choice in shape.choices)}"
        fix = f"Did you mean {near[0]}?" if near else ""
        same = [choice for choice in shape.choices if isinstance(data, str) and str(choice).lower() == data.lower()]
        return self._wrong_type(path, key, expected, data, fix, same[0] if len(same) == 1 else "")

    def _boolean(self, data: object, path: Path, key: str) -> Any:
        if isinstance(data, bool):
            return data
        word = _BOOLEANS.get(data.lower(), "") if isinstance(data, str) else ""
        return self._wrong_type(path, key, "true or false", data, f"Write {word}." if word else "", word)

    def _wrong_type(self, path: Path, key: str, expected: str, data: object, fix: str = "", mend: str = "") -> Any:
        got = str(data) if len(str(data)) < 80 else str(data)[:77] + "..."
        message = f"{key} must be {expected}, not {got!r}."
        self._find("HW003", path, message, fix or f"Write {expected}.", mend=mend)
        return ABSENT

    def _unknown_key(
        self, path: Path, key: str, known: tuple[str, ...], value: object = None, beside: tuple[str, ...] = ()
    ) -> None:
        good = good_form(key, value)
        near = difflib.get_close_matches(key, known, 1, 0.7)
        if good:
            fix = f"Write {good}."
        elif near:
            fix = f"Did you mean `{near[0]}`?"
        else:
            fix = f"Known here: {', '.join(known)}." if known else "Check the path against `meta-infer spec show`."
        same = [name for name in known if name not in beside and _plain_key(name) == _plain_key(key)]
        mend = same[0] if len(same) == 1 and beside else ""
        self._find("HW002", path, f"The key `{key}` is not known.", fix, mend=mend, of_key=True)


def _plain_key(key: str) -> str:
    """A key without case and kind of separator: `Size-Bytes` and `size_bytes` are the same one."""
    return re.sub(r"[-_ ]+", "_", key.strip().lower())


def _one_item(shape: Shape, data: object) -> str:
    """The list that a single word stands for where a list of words is expected, or an empty text."""
    item = shape.item or Shape("any")
    if not isinstance(data, str) or not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", data):
        return ""
    return f"[{data}]" if item.kind == "text" or data in item.choices else ""


def _near_path(path: str) -> str:
    """How to mend a path that a spec does not have: the nearest key at the first part that is not known."""
    near = good_form(path)
    if near:
        return f"Write {near}."
    *parents, key = path.split(".")
    shape = shape_at(".".join(parents)) if parents else SPEC
    if shape is None:
        return _near_path(".".join(parents))
    known = tuple(shape.fields())
    close = difflib.get_close_matches(key, known, 1, 0.7)
    if close:
        return f"Did you mean {'.'.join([*parents, close[0]])}?"
    return f"Known there: {', '.join(known)}." if known else "Check the path against `meta-infer spec show`."


def value_at(path: str, given: object) -> Any:
    """A value that a person gave for a field path, as plain data in the base unit; raises InputError."""
    shape = shape_at(path)
    if shape is None:
        raise InputError(f"A spec has no place {path!r}.", fix=_near_path(path))
    reader = SpecReader(Document(path, given, {}))
    value = reader._value(shape, given, (path,), unit_key(path))
    faults = [finding for finding in reader.findings if finding.severity == "error"]
    if faults or value is ABSENT:
        message = faults[0].message if faults else "No value is given."
        raise InputError(f"{path}: {message}", fix=faults[0].fix if faults else "Give a value.")
    return value


def _insert(tree: dict[str, Any], path: str, value: Any) -> bool:
    """Puts a value at a dotted path; False where something stands there already."""
    *parents, last = path.split(".")
    place = tree
    for part in parents:
        following = place.setdefault(part, {})
        if not isinstance(following, dict):
            return False
        place = following
    if last in place:
        return False
    place[last] = value
    return True
