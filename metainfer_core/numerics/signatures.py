"""What each kernel takes, read from the kernel headers themselves: one table for the simulator and every code generator.

A kernel is called as `mi::<kernel>(params, argument, ...)` with a plain struct `params` and one pointer an argument, in
the order of `Signature.arguments`. An input that is left out is a null pointer. A variadic input is an array of
pointers. Kernels allocate nothing and call nothing outside their headers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Literal

from metainfer_core.errors import DefectError
from metainfer_core.numerics.program import Step

KERNEL_FOLDER = Path(__file__).parent / "kernels"
SCRATCH_ALIGNMENT_BYTES = 64

Role = Literal["input", "output", "scratch"]


@dataclass(frozen=True)
class Field:
    """One field of a params struct: `c_type name` or `c_type name[length]`."""

    name: str
    c_type: str
    length: int | None = None


@dataclass(frozen=True)
class Argument:
    """One pointer argument; `c_type` is that of an element."""

    name: str
    c_type: str
    role: Role
    is_variadic: bool = False


@dataclass(frozen=True)
class Signature:
    """How one kernel is called."""

    kernel: str
    header: str
    """File name in `numerics/kernels`."""
    params: str
    """Name of the params struct in namespace `mi`."""
    fields: tuple[Field, ...]
    arguments: tuple[Argument, ...]
    """In the order of the call: inputs, outputs, then scratch where there is one."""

    @property
    def inputs(self) -> tuple[Argument, ...]:
        """The inputs, in order; at most one is variadic, and then it is the only one."""
        return tuple(argument for argument in self.arguments if argument.role == "input")

    @property
    def outputs(self) -> tuple[Argument, ...]:
        """The outputs, in order."""
        return tuple(argument for argument in self.arguments if argument.role == "output")


@cache
def signatures() -> Mapping[str, Signature]:
    """Every kernel by name, in the order of the headers."""
    found: dict[str, Signature] = {}
    for path in sorted(KERNEL_FOLDER.glob("*.hpp")):
        text = _expand_macros(_without_comments(path.read_text(encoding="utf-8")))
        structs = dict(_structs(text))
        for kernel, params, arguments in _kernels(text):
            if params not in structs:  # declared in a header that this one includes
                structs |= {name: fields for other in KERNEL_FOLDER.glob("*.hpp") for name, fields in _file(other)}
            found[kernel] = Signature(kernel, path.name, params, structs[params], arguments)
    return found


def signature(kernel: str) -> Signature:
    """The signature of one kernel."""
    try:
        return signatures()[kernel]
    except KeyError:
        raise DefectError(f"There is no kernel {kernel}.", fix="Please report this.") from None


def headers() -> Mapping[str, str]:
    """File name and text of every kernel header: what a package carries and a cache key covers."""
    return {path.name: path.read_text(encoding="utf-8") for path in sorted(KERNEL_FOLDER.glob("*.hpp"))}


def scratch_bytes(step: Step) -> int:
    """Working space that a step needs while it runs, at SCRATCH_ALIGNMENT_BYTES; 0: none."""
    return int(step.params.get("scratch_bytes", 0))


def _file(path: Path) -> Iterator[tuple[str, tuple[Field, ...]]]:
    return _structs(_without_comments(path.read_text(encoding="utf-8")))


def _without_comments(text: str) -> str:
    return re.sub(r"//[^\n]*", "", text).replace("\\\n", " ")


def _expand_macros(text: str) -> str:
    """Replaces each use of a macro that declares kernels by its body (`name##_x` pastes)."""
    for name, names, body in re.findall(r"^#define (MI_\w+)\(([^)]*)\)(.*MI_KERNEL.*)$", text, re.MULTILINE):
        parameters = [part.strip() for part in names.split(",")]
        for use in re.findall(rf"^{name}\((.*)\)$", text, re.MULTILINE):
            values = [part.strip() for part in use.split(",", len(parameters) - 1)]
            arguments = dict(zip(parameters, values, strict=True))
            text += "\n" + re.sub(r"\b\w+\b", partial(_substitute, arguments), body).replace("##", "")
        text = re.sub(rf"^#define {name}\(.*$", "", text, flags=re.MULTILINE)
    return text


def _substitute(arguments: Mapping[str, str], match: re.Match[str]) -> str:
    return arguments.get(match[0], match[0])


def _structs(text: str) -> Iterator[tuple[str, tuple[Field, ...]]]:
    for name, body in re.findall(r"struct (\w+Params) \{(.*?)\};", text, re.DOTALL):
        fields: list[Field] = []
        for c_type, names in re.findall(r"(int32_t|float) ([^;]*);", body):
            for field in names.split(","):
                match = re.fullmatch(r"\s*(\w+)(?:\[(\d+)\])?\s*", field)
                if match is None:
                    raise DefectError(f"The params struct {name} has a field that cannot be read: {field!r}.")
                fields.append(Field(match[1], c_type, int(match[2]) if match[2] else None))
        yield name, tuple(fields)


def _kernels(text: str) -> Iterator[tuple[str, str, tuple[Argument, ...]]]:
    for kernel, params, rest in re.findall(r"MI_KERNEL void (\w+)\(const (\w+)& p,([^)]*)\)", text):
        yield kernel, params, tuple(_argument(part) for part in rest.split(","))


def _argument(text: str) -> Argument:
    match = re.fullmatch(r"\s*(const )?(\w+)\*( const\*)? (\w+)\s*", text)
    if match is None:
        raise DefectError(f"A kernel has an argument that cannot be read: {text!r}.")
    role: Role = "input" if match[1] else ("scratch" if match[4] == "scratch" else "output")
    return Argument(match[4], match[2], role, match[3] is not None)
