"""What each kernel takes, read from the kernel headers: one table for the simulator and every code generator.

A kernel is called as `mi::<kernel>(params, argument, ...)` with a plain struct `params` and one pointer an argument, in
the order of `Signature.arguments`. An input that is left out is a null pointer. A variadic input is an array of
pointers. Kernels allocate nothing and call nothing outside their headers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Literal

from metainfer_core.errors import DefectError
from metainfer_core.numerics.program import Step
from metainfer_core.numerics.toolchain import KERNELS

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
    """Name of the params struct, without its namespace."""
    fields: tuple[Field, ...]
    arguments: tuple[Argument, ...]
    """In the order of the call: inputs, outputs, then scratch where there is one."""
    is_elementwise: bool
    """Output 0 may lie exactly over an input of its size: element i is written after it was last read."""

    @property
    def function(self) -> str:
        """Its name in C++."""
        return f"mi::{self.kernel}"

    @property
    def params_struct(self) -> str:
        """The name of its params struct in C++."""
        return f"mi::{self.params}"

    @property
    def inputs(self) -> tuple[Argument, ...]:
        """The inputs, in order; a variadic one is the only one."""
        return tuple(argument for argument in self.arguments if argument.role == "input")

    @property
    def outputs(self) -> tuple[Argument, ...]:
        """The outputs, in order."""
        return tuple(argument for argument in self.arguments if argument.role == "output")

    @property
    def in_place(self) -> tuple[int, ...]:
        """Indices of the inputs whose storage output 0 may take over."""
        return tuple(range(len(self.inputs))) if self.is_elementwise else ()

    @property
    def is_view(self) -> bool:
        """The output is the input's bytes under another shape: nothing is called where the two lie in one place."""
        return self.kernel == "view"


def signature(kernel: str) -> Signature:
    """The signature of one kernel."""
    try:
        return SIGNATURES[kernel]
    except KeyError:
        raise DefectError(f"There is no kernel {kernel}.", fix="Please report this.") from None


def params_initializer(step: Step) -> str:
    """The step's params as the initializer of its params struct in C++; floats in hex, so that no digit is lost."""
    return (
        "{" + ", ".join(_initial(field, step.params.get(field.name)) for field in signature(step.kernel).fields) + "}"
    )


def _initial(field: Field, value: object) -> str:
    if value is None:
        return "{}" if field.length else "0"
    if isinstance(value, tuple | list):
        return "{" + ", ".join(_initial(Field(field.name, field.c_type), item) for item in value) + "}"
    if field.c_type == "float" and isinstance(value, int | float):
        return float(value).hex() + "f"
    return str(value)


def headers() -> Mapping[str, str]:
    """File name and text of every kernel header: what a package carries and a cache key covers."""
    return {path.name: path.read_text(encoding="utf-8") for path in sorted(KERNELS.glob("*.hpp"))}


def scratch_bytes(step: Step) -> int:
    """Working space that a step needs while it runs, at SCRATCH_ALIGNMENT_BYTES; 0: none."""
    return int(step.params.get("scratch_bytes", 0))


def _read_headers() -> dict[str, Signature]:
    """Every kernel by name, in the order of the headers."""
    texts = {name: _expand_macros(_without_comments(text)) for name, text in headers().items()}
    structs = {name: fields for text in texts.values() for name, fields in _structs(text)}
    return {
        kernel: Signature(kernel, header, params, structs[params], arguments, is_elementwise)
        for header, text in texts.items()
        for kernel, params, arguments, is_elementwise in _kernels(text)
    }


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


def _kernels(text: str) -> Iterator[tuple[str, str, tuple[Argument, ...], bool]]:
    for in_place, kernel, params, rest in re.findall(
        r"MI_KERNEL(_IN_PLACE)? void (\w+)\(const (\w+) p,([^)]*)\)", text
    ):
        yield kernel, params, tuple(_argument(part) for part in rest.split(",")), bool(in_place)


def _argument(text: str) -> Argument:
    match = re.fullmatch(r"\s*(const )?(\w+)\*( const\*)? (\w+)\s*", text)
    if match is None:
        raise DefectError(f"A kernel has an argument that cannot be read: {text!r}.")
    role: Role = "input" if match[1] else ("scratch" if match[4] == "scratch" else "output")
    c_type = f"mi::{match[2]}" if match[2][0].isupper() else match[2]  # a type of the kernels' own
    return Argument(match[4], c_type, role, match[3] is not None)


SIGNATURES: Mapping[str, Signature] = _read_headers()
"""Every kernel by name."""
