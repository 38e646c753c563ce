"""Frozen, versioned values with canonical bytes and a digest: what every step takes and gives."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from functools import cached_property
from typing import Annotated, Any, NoReturn, Self, TypeVar

import pydantic
import rfc8785

from metainfer_core.errors import InputError


class FrozenDict(dict[Any, Any]):
    """A dict that refuses to change (pydantic's `frozen` does not freeze what a field holds)."""

    def _refuse(self, *_: object, **__: object) -> NoReturn:
        raise TypeError("A value cannot change: build a new one.")

    __setitem__ = __delitem__ = clear = pop = popitem = setdefault = update = __ior__ = _refuse

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (dict(self),)

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(frozenset(self.items()))


def freeze(plain: Any) -> Any:
    """JSON data with dicts as FrozenDict and lists as tuples, all the way down."""
    if isinstance(plain, Mapping):
        return FrozenDict({key: freeze(value) for key, value in plain.items()})
    if isinstance(plain, list | tuple):
        return tuple(freeze(value) for value in plain)
    return plain


T = TypeVar("T")
FrozenMap = Annotated[dict[str, T], pydantic.AfterValidator(FrozenDict)]
"""A mapping field of a value: text keys, any frozen value type."""
JsonMap = Annotated[dict[str, Any], pydantic.AfterValidator(freeze)]
"""A mapping field that holds any JSON data, frozen all the way down."""


class Value(pydantic.BaseModel):
    """Plain data that cannot change. Fields are tuples, never lists; a new value is built, never copied with edits.

    A value that is written to a file has a field `format: Literal["metainfer.<name>/<n>"] = ...`.
    """

    model_config = pydantic.ConfigDict(
        frozen=True,
        extra="forbid",
        strict=True,
        allow_inf_nan=False,
        validate_default=True,
        use_attribute_docstrings=True,
    )

    def plain(self) -> dict[str, Any]:
        """This value as JSON data, without the fields that are None."""
        return self.model_dump(mode="json", exclude_none=True, by_alias=True)

    def to_json(self) -> bytes:
        """Canonical bytes (RFC 8785): same value, same bytes, on every machine."""
        return canonical_json(self.plain())

    @classmethod
    def from_json(cls, data: bytes, source: str = "JSON") -> Self:
        """The value in `data`; raises InputError naming `source` and the field that is wrong."""
        return cls.from_plain(read_json(data, source), source)

    @classmethod
    def from_plain(cls, plain: object, source: str = "JSON") -> Self:
        """The value in parsed JSON data; raises InputError naming `source` and the field that is wrong."""
        try:
            return cls.model_validate_json(json.dumps(plain, ensure_ascii=True))
        except pydantic.ValidationError as error:
            raise InputError(**first_fault(error, source)) from error

    @cached_property
    def digest(self) -> str:
        """`sha256:` and the hex digest of the canonical bytes; made once, for a value never changes."""
        return sha256(self.to_json())


def sha256(data: bytes) -> str:
    """`sha256:` and 64 hex digits."""
    return "sha256:" + hashlib.sha256(data).hexdigest()


def canonical_json(plain: Any) -> bytes:
    """RFC 8785 bytes of JSON data. Integers must fit in 53 bits: larger ones are kept as hex text."""
    return rfc8785.dumps(plain)


def read_json(data: bytes, source: str = "JSON") -> Any:
    """JSON data, strictly: duplicate keys, NaN and Infinity, bad UTF-8 and deep nesting raise InputError."""

    def no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key, value in pairs:
            if key in found:
                raise InputError(
                    f"{source}: the key {key!r} stands twice in one object.",
                    "A reader would keep only one of them, so what it means is not certain.",
                    "Keep one of the two.",
                )
            found[key] = value
        return found

    def no_constant(name: str) -> None:
        raise InputError(f"{source}: {name} is not a JSON number.", fix="Use a finite number.")

    def exact(digits: str) -> int | float:
        number = int(digits)
        if abs(number) < 1 << 53:
            return number
        if len(digits) < 25 and rfc8785.dumps(float(number)) == digits.encode():
            return float(number)  # JSON numbers are doubles (RFC 8785): one of this size is written without a dot
        raise InputError(
            f"{source}: the number {digits[:40]} would lose digits.",
            "A JSON number holds integers up to 2^53.",
            'Write it as hex text, such as "0x20000000000001".',
        )

    try:
        text = data.decode("utf-8")
        return json.loads(text, object_pairs_hook=no_duplicates, parse_constant=no_constant, parse_int=exact)
    except UnicodeDecodeError as error:
        raise InputError(f"{source}: byte {error.start} is not UTF-8.", fix="Save the file as UTF-8 text.") from error
    except json.JSONDecodeError as error:
        raise InputError(
            f"{source}:{error.lineno}:{error.colno}: this is not JSON.", f"{error.msg}.", "Mend the text there."
        ) from error
    except RecursionError as error:
        raise InputError(f"{source}: nested too deeply to be read.", fix="Use a flatter file.") from error
    except ValueError as error:  # Python's own limit on the digits of an integer
        raise InputError(
            f"{source}: a number has too many digits.", str(error), "Use a number of usual size."
        ) from error


def first_fault(error: pydantic.ValidationError, source: str) -> dict[str, str]:
    """The first fault of a validation error as the three parts of a message."""
    faults = error.errors(include_url=False)
    fault = faults[0]
    place = ".".join(str(part) for part in fault["loc"]) or "the whole"
    more = f" ({len(faults) - 1} more faults follow.)" if len(faults) > 1 else ""
    # A rule between fields names those that break it; all of the object behind its sentence would bury it.
    is_between_fields = fault["type"] == "value_error" and isinstance(fault["input"], dict)
    got = "" if fault["type"] == "missing" or is_between_fields else f" Got {fault['input']!r}."[:200]
    return {
        "what": f"{source}: {place} is not right.",
        "why": f"{fault['msg']}.{got}{more}",
        "fix": "Mend this field and try again.",
    }
