"""Writes the pages of docs/reference/ that say what the code says, from the code itself.

    tools/make_reference.py            writes them
    tools/make_reference.py --check    writes nothing; exit status 1 where a page is not as it would be written

One function makes one page; PAGES lists them. What a person must know, but no code says, stands elsewhere in docs/.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import inspect
import io
import json
import os
import sys
import typing
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import typer.main
from chips_page import chips_page
from pydantic_core import PydanticUndefined

from hwdoc_ingest.fields import FIELDS
from metainfer_core import errors
from metainfer_core.actions.action import ActionKind, Obligation
from metainfer_core.actions.catalog import KINDS
from metainfer_core.bundle.schema import signed_schema
from metainfer_core.bundle.statement import APPROVAL_TYPE, RELEASE_TYPE, ApprovalPredicate, ReleasePredicate
from metainfer_core.bundle.trust import TrustFile
from metainfer_core.cli import build_app, validator
from metainfer_core.codegen.catalog import BACKENDS
from metainfer_core.files import write_bytes
from metainfer_core.numerics.signatures import SIGNATURES, Signature
from metainfer_core.spec.checking.error_classes import CLASSES
from metainfer_core.spec.field_shapes import SPEC, Shape
from metainfer_core.spec.quantities import key_unit
from metainfer_core.values import Value

ROOT = Path(__file__).parents[1]
REFERENCE = ROOT / "docs" / "reference"
NOTE = "<!-- Written by tools/make_reference.py (`make docs`); edit the code instead. -->"


# Commands -----------------------------------------------------------------------------------------------------------


def commands_page() -> Iterator[str]:
    yield "# Commands"
    yield "Every command answers `-h`. This is what each of them prints."
    for path, text in help_texts().items():
        yield f"## `{path}`"
        yield f"```text\n{text}\n```"


def help_texts() -> dict[str, str]:
    """Command to what `-h` prints, on a terminal of 80 columns: the whole tree, and the validator."""
    tree = typer.main.get_command(build_app())
    texts = {" ".join(path): _help(tree, path) for path in _paths(tree, ("meta-infer",))}
    output = io.StringIO()
    with contextlib.redirect_stdout(output), contextlib.suppress(SystemExit), _arguments("hwdoc-validator", "-h"):
        validator.main()
    return texts | {"hwdoc-validator": output.getvalue().rstrip()}


def _paths(command: Any, path: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    yield path
    for name, inner in sorted(getattr(command, "commands", {}).items()):
        yield from _paths(inner, (*path, name))


def _help(tree: Any, path: tuple[str, ...]) -> str:
    output = io.StringIO()
    with contextlib.redirect_stdout(output), contextlib.suppress(SystemExit), _arguments(*path, "-h"):
        tree(standalone_mode=False)
    return output.getvalue().rstrip()


@contextlib.contextmanager
def _arguments(*words: str) -> Iterator[None]:
    before, columns = sys.argv, os.environ.get("COLUMNS")
    sys.argv, os.environ["COLUMNS"] = list(words), "80"
    try:
        yield
    finally:
        sys.argv = before
        os.environ.pop("COLUMNS")
        os.environ |= {} if columns is None else {"COLUMNS": columns}


# Action kinds -------------------------------------------------------------------------------------------------------

LAWS = (
    "channel_region",
    "decompositions",
    "half_laws",
    "integer_laws",
    "integer_operators",
    "legality",
    "stored_tensors",
    "units",
)
"""Modules of metainfer_core/actions whose sentences several kinds use."""


def action_kinds_page() -> Iterator[str]:
    yield "# Action kinds"
    yield (
        "In the order in which a policy applies them. The name is the word in the field `action` of a policy file. "
        "Sentences are as the code holds them; `<...>` stands for what is filled in."
    )
    for kind in KINDS:
        yield from _kind(kind)
    yield "## Laws that several kinds share"
    for name in LAWS:
        path = ROOT / "metainfer_core" / "actions" / f"{name}.py"
        sentences = refusal_sentences(path.read_text())
        if sentences:
            yield f"From `metainfer_core/actions/{name}.py`:"
            yield "\n".join(f"- {sentence}" for sentence in sentences)


def _kind(kind: ActionKind) -> Iterator[str]:
    path = Path(inspect.getfile(type(kind)))
    yield f"## `{kind.name}`"
    yield inspect.cleandoc(type(kind).__doc__ or "")
    yield f"`{path.relative_to(ROOT)}`"
    yield f"**Obligation.** {_obligation(kind.obligation)}"
    facts = [
        f"{'changes' if kind.risk.changes_numbers else 'does not change'} numbers",
        f"{'needs' if kind.risk.needs_calibration else 'needs no'} calibration",
        f"{'depends' if kind.risk.device_dependent else 'does not depend'} on the device",
    ]
    yield f"**Risk.** It {', '.join(facts)}."
    rows = [
        f"| `{name}` | {_type(field.annotation)} | {_default(field.default)} | {_line(field.description or '')} |"
        for name, field in kind.Params.model_fields.items()
    ]
    if rows:
        yield "\n".join(["| parameter | type | default | meaning |", "|---|---|---|---|", *rows])
    sentences = refusal_sentences(path.read_text())
    if sentences:
        yield "**It says no with:**"
        yield "\n".join(f"- {sentence}" for sentence in sentences)


def _obligation(obligation: Obligation) -> str:
    if obligation.absolute is None and obligation.relative is None:
        return f"Held against the accuracy budget. {obligation.why}"
    relative, absolute = obligation.relative or 0, obligation.absolute or 0
    if not relative and not absolute:
        return f"Exactly the same outputs. {obligation.why}"
    return f"The same outputs within {absolute:g} + {relative:g} · max|x|. {obligation.why}"


def refusal_sentences(source: str) -> list[str]:
    """The sentences of a module that say why not: reasons of a Refusal or NoUnit, and texts returned as reasons."""
    found: dict[str, None] = {}
    for node in ast.walk(ast.parse(source)):
        names = [ast.unparse(target) for target in node.targets] if isinstance(node, ast.Assign) else []
        if isinstance(node, ast.Assign) and any("reason" in name for name in names):
            found |= _texts(node.value)
        elif isinstance(node, ast.Call) and ast.unparse(node.func) in ("Refusal", "NoUnit"):
            for argument in (*node.args[:1], *(word.value for word in node.keywords if word.arg == "reason")):
                found |= _texts(argument)
        elif isinstance(node, ast.FunctionDef) and node.returns is not None and _gives_reasons(node):
            for inner in ast.walk(node):
                if isinstance(inner, ast.Return) and inner.value is not None:
                    found |= _texts(inner.value)
    return [text for text in found if text.endswith(".") and " " in text]


def _gives_reasons(function: ast.FunctionDef) -> bool:
    """Functions with `| str` or `str | None` give a reason where they find one."""
    returns = ast.unparse(function.returns) if function.returns else ""
    return "str" in returns.split(" | ") and " | " in returns


def _texts(value: ast.expr) -> dict[str, None]:
    if isinstance(value, ast.IfExp):
        return _texts(value.body) | _texts(value.orelse)
    if isinstance(value, ast.Constant) and isinstance(value.value, str):
        return {value.value: None}
    if isinstance(value, ast.JoinedStr):
        parts = [
            str(part.value) if isinstance(part, ast.Constant) else f"`<{ast.unparse(part.value)}>`"
            for part in value.values
        ]
        return {"".join(parts): None}
    return {}


# Backends, errors, kernels ------------------------------------------------------------------------------------------


def backends_page() -> Iterator[str]:
    yield "# Backends"
    yield (
        "What `--target` can name. Other packages add theirs through the entry-point group `metainfer.backends`; see "
        "[how to add a backend](../howto/add_a_backend.md)."
    )
    for backend in BACKENDS:
        yield f"## `{backend.name}`"
        yield f"{backend.summary}."
        yield "\n".join(
            [
                f"- Folder: `{backend.folder.relative_to(ROOT)}`",
                f"- Compiler: `{backend.compiler_prefix}g++` (Debian package `{backend.compiler_package}`)",
                "- Instruction sets, best first: "
                + ", ".join(f"`{each.name}` ({' '.join(each.flags)})" for each in backend.variants),
            ]
        )


def errors_page() -> Iterator[str]:
    yield "# Errors and exit statuses"
    yield "Every error on purpose is one of these classes, split by who must act. An unexpected exception ends with 70."
    rows = [
        f"| `{error.__name__}` | {error.exit_status} | {_line(inspect.getdoc(error) or '').split(' Args:')[0]} |"
        for error in error_classes()
    ]
    yield "\n".join(["| class | exit status | meaning |", "|---|---:|---|", *rows])
    yield (
        "A command ends with 0 where it is done, 1 on a negative verdict (findings, not equal, unsupported, does not "
        "fit), 2 on bad input or usage, 3 where trust is missing, 70 on a defect of ours, 130 when interrupted. With "
        '`--json` the error stands on stdout as `{"error": {"kind", "what", "why", "fix"}}`.'
    )


def error_classes() -> list[type[errors.MetaInferError]]:
    classes = [each for each in vars(errors).values() if isinstance(each, type)]
    return [each for each in classes if issubclass(each, errors.MetaInferError) and each is not errors.MetaInferError]


def kernels_page() -> Iterator[str]:
    yield "# Kernels"
    yield (
        "The C++ functions that a program is made of, in the namespace `mi`. The simulator and every generated program "
        "call the same ones with the same parameters. Arguments in the order of the call, after the parameters."
    )
    by_header: dict[str, list[Signature]] = {}
    for signature in SIGNATURES.values():
        by_header.setdefault(signature.header, []).append(signature)
    for header, signatures in sorted(by_header.items()):
        yield f"## `{header}`"
        rows = [
            f"| `{each.kernel}` | {_arguments_of(each)} | {', '.join(f'`{field.name}`' for field in each.fields)} |"
            for each in sorted(signatures, key=lambda each: each.kernel)
        ]
        yield "\n".join(["| kernel | arguments | parameters |", "|---|---|---|", *rows])


def _arguments_of(signature: Signature) -> str:
    marks = {"input": "", "output": " (out)", "scratch": " (scratch)"}
    return ", ".join(
        f"{argument.c_type} `{argument.name}`{' ...' if argument.is_variadic else ''}{marks[argument.role]}"
        for argument in signature.arguments
    )


# Specs and documents ------------------------------------------------------------------------------------------------


def spec_fields_page() -> Iterator[str]:
    yield "# Fields of a hardware spec"
    yield (
        "`<name>` stands for a name that you choose. A quantity is a number in the unit given, a text with a unit "
        "(`512 KiB`), or a spread `{min, typ, max, std}`, with `strength: must` or `recommended` beside it. What no "
        "document gives stands under `assumed:`, as path to `{value, reason}`. `meta-infer spec schema` prints the "
        "JSON Schema."
    )
    rows = [f"| `{path}` | {kind} | {unit} | {meaning} |" for path, kind, unit, meaning in spec_fields()]
    yield "\n".join(["| path | type | unit | meaning |", "|---|---|---|---|", *rows])


def spec_fields() -> list[tuple[str, str, str, str]]:
    """Path, type, unit and meaning of every place of a spec."""
    return list(_fields(SPEC, ""))


def _fields(shape: Shape, prefix: str) -> Iterator[tuple[str, str, str, str]]:
    described = shape.value_class.model_fields if shape.value_class else {}
    for name, inner in shape.fields().items():
        path, text, stands_for = f"{prefix}{name}", _line(described[name].description or ""), inner
        while inner.kind in ("named", "list") and inner.item is not None:
            path += ".<name>" if inner.kind == "named" else ""
            inner = inner.item
        words = " \\| ".join(map(str, inner.choices)) if inner.kind == "choice" else inner.kind
        words = f"list of {words}" if stands_for.kind == "list" else words
        if inner.kind != "record":
            unit = key_unit(name) if inner.kind in ("quantity", "number", "integer") else None
            yield path, words, unit.name if unit else "", text
        else:
            summary = text or _line(inspect.getdoc(inner.value_class) or "").split(". ")[0]
            yield path, "list of mapping" if stands_for.kind == "list" else "mapping", "", summary
            yield from _fields(inner, f"{path}[]." if stands_for.kind == "list" else f"{path}.")


def validator_page() -> Iterator[str]:
    yield "# Classes of `hwdoc-validator`"
    yield (
        "HW014, HW015 against the page, and HW017 need the document (`--manual DOC`, extra `ingest`); the others need "
        "the spec alone. Exit status 0 where no error was found, 1 with errors (`--strict`: with warnings too), 2 on "
        "bad usage. `--fix` makes the fixes that cannot change what the file means; comments stay. A code never "
        "changes its meaning."
    )
    rows = [f"| [{code}](#{code.lower()}) | {each.title} |" for code, each in CLASSES.items()]
    yield "\n".join(["| code | what is wrong |", "|---|---|", *rows])
    for code, each in CLASSES.items():
        yield f"## {code}"
        yield f"**{each.title[0].upper()}{each.title[1:]}.** {each.why}"
        yield f"Bad:\n\n```yaml\n{each.bad}```\n\nGood:\n\n```yaml\n{each.good}```"


def ingest_fields_page() -> Iterator[str]:
    yield "# Fields that ingest reads"
    yield (
        "The names of `field` in a draft and in `meta-infer ingest --json`, and the base unit of their numbers. "
        "`meta-infer spec accept` gives each its place in a spec; what has none stands under `other`."
    )
    rows = [f"| `{field.name}` | {field.unit or 'text'} | {_line(field.meaning)} |" for field in FIELDS.values()]
    yield "\n".join(["| field | unit | meaning |", "|---|---|---|", *rows])


# Words --------------------------------------------------------------------------------------------------------------


def _line(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _type(annotation: Any) -> str:
    if typing.get_origin(annotation) is typing.Literal:
        return " \\| ".join(f"`{each}`" for each in typing.get_args(annotation))
    text = annotation.__name__ if isinstance(annotation, type) and not typing.get_args(annotation) else str(annotation)
    return f"`{text}`".replace("|", "\\|")


def _default(default: object) -> str:
    return "required" if default is PydanticUndefined else f"`{default}`"


def signed_formats_page() -> Iterator[str]:
    yield "# What is signed"
    yield (
        "A bundle and a reviewer's approval are [DSSE](https://github.com/secure-systems-lab/dsse) envelopes over an "
        "[in-toto](https://github.com/in-toto/attestation) statement, in canonical JSON (RFC 8785). Each bundle holds "
        "the approvals that it rests on, and the policy: whoever builds acts on nothing else. The schemas tell form "
        "alone; `meta-infer verify` tells whether it is trusted."
    )
    for name, (title, kind) in SIGNED.items():
        yield f"## {title}"
        yield f"{_line(kind.__doc__ or '')} [JSON Schema](signed_{name}.schema.json)"
        rows = [
            f"| `{field.alias or key}` | {_line(field.description or '').replace('|', chr(92) + '|')} |"
            for key, field in kind.model_fields.items()
        ]
        yield "\n".join(["| field | meaning |", "|---|---|", *rows])


SIGNED: dict[str, tuple[str, type[Value]]] = {
    "release": (f"Release: predicate `{RELEASE_TYPE}`", ReleasePredicate),
    "approval": (f"Approval: predicate `{APPROVAL_TYPE}`", ApprovalPredicate),
    "trust": ("Trust file", TrustFile),
}
"""Name of a signed format to its title, and the class whose fields are told."""


PAGES: dict[str, Callable[[], Iterator[str]]] = {
    "commands.md": commands_page,
    "action_kinds.md": action_kinds_page,
    "backends.md": backends_page,
    "errors.md": errors_page,
    "kernels.md": kernels_page,
    "spec_fields.md": spec_fields_page,
    "validator.md": validator_page,
    "ingest_fields.md": ingest_fields_page,
    "chips.md": chips_page,
    "signed_formats.md": signed_formats_page,
}


SCHEMAS = {f"signed_{name}.schema.json": name for name in SIGNED}


def page_text(name: str) -> str:
    if name in SCHEMAS:
        return json.dumps(signed_schema(SCHEMAS[name]), indent=1, ensure_ascii=False) + "\n"
    title, *rest = PAGES[name]()
    return "\n\n".join([title, NOTE, *rest]) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="Write nothing; exit status 1 where a page is stale.")
    arguments = parser.parse_args()
    stale = []
    for name in (*PAGES, *SCHEMAS):
        path, text = REFERENCE / name, page_text(name)
        if path.is_file() and path.read_text() == text:
            continue
        stale.append(name)
        if not arguments.check:
            write_bytes(path, text.encode(), "reference page", mode=0o644)
    if arguments.check and stale:
        print(f"Not as the code says: {', '.join(stale)}. Run `make docs`.")
        return 1
    print(
        "\n".join(
            f"{'written' if name in stale else 'unchanged'}: docs/reference/{name}" for name in (*PAGES, *SCHEMAS)
        )
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
