"""Writes a compile plan out as C++: templates in, files out. Names from the model never become code."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import jinja2

from metainfer_core.codegen.backend import Backend
from metainfer_core.codegen.compile_plan import CompilePlan, weights_image
from metainfer_core.codegen.tables import LOOP, table
from metainfer_core.numerics.laid_out import BLOCKED
from metainfer_core.numerics.program import ELEMENT_BYTES, HALF_FLOATS, Program, Step, bits_of_codes
from metainfer_core.numerics.signatures import Signature, headers, params_initializer, signature
from metainfer_core.numerics.toolchain import KERNEL_FLAGS

HERE = Path(__file__).parent
STEPS_PER_FILE = 8
GUARD_BYTES = 64
"""Bytes after each arena that must stay as they are, where the memory has room for them."""
C_TYPES = {
    "float32": ("float", "%g"),
    "int8": ("int8_t", "%d"),
    "uint8": ("uint8_t", "%u"),
    "int16": ("int16_t", "%d"),
    "int32": ("int32_t", "%d"),
    "int64": ("long long", "%lld"),
    "bool": ("uint8_t", "%u"),
    "float16": ("uint16_t", "%u"),
    "bfloat16": ("uint16_t", "%u"),
    "int4": ("int8_t", "%d"),
    "int6": ("int8_t", "%d"),
}


TAKEN = frozenset({"kernels", "runtime", "validation", "all", "host", "example", "library", "check", "limits", "clean"})
"""Folders beside the program, and goals of its Makefile: no program can have such a name."""


def identifier(model: str) -> str:
    """A C identifier made from the model's name: lower case, at most 60 characters, and free for a file."""
    words = re.sub(r"[^a-z0-9]+", "_", model.lower()).strip("_")[:60].strip("_")
    return words if words[:1].isalpha() and words not in TAKEN else f"model_{words}".rstrip("_")


def sources(plan: CompilePlan, constants: Mapping[str, bytes], backend: Backend, model: str) -> dict[str, bytes]:
    """Every file that is needed to build the program, by path; the same plan gives the same bytes."""
    context = _context(plan, backend, model)
    prefix = context["prefix"]
    environment = _environment(backend)

    def rendered(template: str) -> bytes:
        return environment.get_template(template).render(**context).encode()

    files = {
        f"{prefix}.h": rendered("model.h.jinja"),
        "layout.hpp": rendered("layout.hpp.jinja"),
        "program.cpp": rendered("program.cpp.jinja"),
        "weights.S": rendered("weights.S.jinja"),
        "weights.bin": weights_image(plan, constants),
        "host.cpp": rendered("host.cpp.jinja"),
        "main.c": rendered("main.c.jinja"),
        "Makefile": rendered("Makefile.jinja"),
    }
    for part, steps in context["parts"].items():
        files[f"steps_{part}.cpp"] = (
            environment.get_template("steps.cpp.jinja")
            .render(
                **{**context, "steps": steps, "headers": sorted({signature(step["kernel"]).header for step in steps})}
            )
            .encode()
        )
    files |= {f"kernels/{name}": text.encode() for name, text in headers().items()}
    for part in ("runtime", "validation"):
        for folder in (HERE / part, backend.folder / part):
            files |= {f"{part}/{path.name}": path.read_bytes() for path in sorted(folder.glob("*.?pp"))}
    return files


def _context(plan: CompilePlan, backend: Backend, model: str) -> dict[str, Any]:
    context = table(plan, backend.name, model)
    program = plan.program
    index_of = {location.tensor: index for index, location in enumerate(plan.locations)}
    called = []
    for index, row in enumerate(context["steps"]):
        if row["is_called"]:
            step = program.steps[index]
            asserted = {
                "zero_points": _zero_points(step, index_of),
                "last_axes": _last_axes(step, index_of),
                "loops": [(name, at) for at, name in enumerate(LOOP) if name in step.params],
            }
            called.append({**row, **_call(step, index), **asserted})
    parts = {
        f"{at // STEPS_PER_FILE:03}": called[at : at + STEPS_PER_FILE] for at in range(0, len(called), STEPS_PER_FILE)
    }
    for arena, planned in zip(context["arenas"], plan.arenas, strict=True):
        capacity = planned.problem.capacity_bytes
        has_room = capacity is None or capacity - planned.plan.peak_bytes >= GUARD_BYTES
        arena["guard_bytes"] = GUARD_BYTES if has_room else 0
        arena["section"] = re.sub(r"[^A-Za-z0-9_]", "_", arena["memory"])
    return {
        **context,
        "model": model,
        "prefix": identifier(model),
        "target": backend.name,
        "variants": backend.variants,
        "compiler_prefix": backend.compiler_prefix,
        "kernel_flags": KERNEL_FLAGS,
        "link_flags": backend.link_flags,
        "feeds_units": backend.feeds_units,
        "parts": parts,
        "has_half": any(tensor.element_type in HALF_FLOATS for tensor in program.tensors),
        "has_narrow": any(bits_of_codes(t) < 8 for t in program.tensors if t.constant is None),
        "input_tensors": _ports(program, program.inputs),
        "output_tensors": _ports(program, program.outputs),
        "weights_bytes": plan.weights_bytes,
        "weights_alignment_bytes": plan.weights_alignment_bytes,
    }


def _ports(program: Program, names: Sequence[str]) -> list[dict[str, object]]:
    by_name = {tensor.name: tensor for tensor in program.tensors}
    found: list[dict[str, object]] = []
    for name in names:
        tensor = by_name[name]
        c_type, conversion = C_TYPES[tensor.element_type]
        found.append(
            {
                "name": name,
                "element_type": tensor.element_type,
                "extents": list(tensor.shape),
                "elements": tensor.size_bytes // ELEMENT_BYTES[tensor.element_type],
                "c_type": c_type,
                "format": conversion,
            }
        )
    return found


def _call(step: Step, index: int) -> dict[str, object]:
    """The parameters and arguments of one kernel call as C++ text."""
    described = signature(step.kernel)
    return {
        "params_struct": described.params_struct,
        "params": params_initializer(step),
        "variadic": next((argument.c_type for argument in described.arguments if argument.is_variadic), None),
        "pointers": [f"input<{index}, {at}, {described.inputs[0].c_type}>()" for at in range(len(step.inputs))],
        "arguments": _arguments(described, index),
    }


def _zero_points(step: Step, index_of: Mapping[str, int]) -> list[tuple[str, int]]:
    """Params that are zero points, each with the tensor whose it is."""
    described = signature(step.kernel)
    fields = {field.name for field in described.fields} & set(step.params)
    of_input = {"input_zero_point": 0, "left_zero_point": 0, "right_zero_point": 1}
    found = [(name, index_of[step.inputs[at]]) for name, at in of_input.items() if name in fields]
    has_table = any(
        argument.name == "table" and name for argument, name in zip(described.inputs, step.inputs, strict=False)
    )
    if "output_zero_point" in fields and not has_table:
        found.append(("output_zero_point", index_of[step.outputs[0]]))
    return found


def _last_axes(step: Step, index_of: Mapping[str, int]) -> list[tuple[str, int]]:
    """Params that say how many channels lie together, each with the tensor in which they do."""
    if BLOCKED not in step.kernel:
        return []
    source, result = index_of[step.inputs[0]], index_of[step.outputs[0]]
    if "in_block" in step.params:
        return [("in_block", source), ("out_block", result)]
    return [("block", source), ("block", result)]


def _arguments(described: Signature, index: int) -> list[str]:
    inputs = [
        "pointers" if argument.is_variadic else f"input<{index}, {at}, {argument.c_type}>()"
        for at, argument in enumerate(described.inputs)
    ]
    outputs = [f"output<{index}, {at}, {argument.c_type}>()" for at, argument in enumerate(described.outputs)]
    scratch = [f"scratch<{index}, {one.c_type}>()" for one in described.arguments if one.role == "scratch"]
    return ["params", *inputs, *outputs, *scratch]


def _environment(backend: Backend) -> jinja2.Environment:
    folders = [backend.folder / "codegen", HERE / "templates"]
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(folders),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,  # C++, not HTML; names pass through the two filters
    )
    environment.filters["comment"] = comment
    environment.filters["c_text"] = c_text
    return environment


def comment(words: str) -> str:
    """`words` as it may stand in a comment: nothing that could end the comment or the line."""
    return re.sub(r"[^A-Za-z0-9_.:, @()\[\]+-]", "_", words)[:200]


def c_text(words: str) -> str:
    """A C string literal of the UTF-8 bytes of `words` and a closing NUL."""
    plain = set(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./:,;@()[]{}+-=<>*&!#$%^~| ")
    return '"' + "".join(chr(one) if one in plain else f"\\{one:03o}" for one in words.encode()) + '\\000"'
