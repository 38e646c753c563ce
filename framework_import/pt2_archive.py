"""The archive of `torch.export.save`, with nothing left in it that PyTorch would run or unpickle.

`torch.export.load` falls back to plain pickle, evaluates expressions of sizes with `sympify`, looks operators up by a
dotted path through the whole of torch, and turns names into Python source. So what it is given is an archive made anew:
plain tensors and a checked graph; example inputs, guards, metadata, extra files and compiled code stay behind.
"""

from __future__ import annotations

import ast
import io
import json
import re
import zipfile
from typing import Any

from metainfer_core.errors import InputError, MetaInferError, UnsupportedError

UNPACKED_LIMIT_BYTES = 8 << 30
GRAPH_LIMIT_BYTES = 256 << 20
DEPTH_LIMIT = 100

HOW_TO_SAVE = (
    "Save it with PyTorch 2.13: torch.export.save(torch.export.export(model.eval(), example_inputs), 'model.pt2')."
)

_OPERATOR = re.compile(
    r"torch\.ops\.aten\.(?!(?:from_file|save)\.)\w+\.\w+"
    r"|torch\.ops\.higher_order\.(?:cond|while_loop|scan|map_impl|wrap_with_set_grad_enabled)"
    r"|torch\.sym_(?:float|int|ite|max|min|not|sqrt|sum)"
    r"|_operator\.(?:add|and_|eq|floordiv|ge|getitem|gt|le|lt|mod|mul|ne|neg|or_|pos|pow|sub|truediv)"
    r"|math\.(?:ceil|floor|pow|sqrt|trunc)"
)
_TEXT = re.compile(r"[\w.]*")
_ARGUMENT = re.compile(r"[\w .,>+-]{0,80}")
"""Such as `tanh`, `reflect` or an equation of einsum; a path has no place here."""
_SYMBOL = re.compile(r"[a-z]+_?\d+")
_NUMBER = re.compile(r"-?\d{1,30}(?:\.\d{1,30})?")
_SIZE_FUNCTIONS = {
    "Symbol", "Integer", "Float", "Rational", "Add", "Mul", "Pow", "Max", "Min", "Mod", "And", "Or", "Not",
    "Eq", "Ne", "Lt", "Le", "Gt", "Ge", "Equality", "Unequality", "StrictLessThan", "LessThan",
    "StrictGreaterThan", "GreaterThan", "Piecewise", "ExprCondPair", "FloorDiv", "ModularIndexing", "Where",
    "PythonMod", "CleanDiv", "CeilToInt", "FloorToInt", "CeilDiv", "PowByNatural", "FloatPow", "FloatTrueDiv",
    "IntTrueDiv", "TruncToInt", "TruncToFloat", "RoundToInt", "ToFloat", "Identity",
}  # fmt: skip
_SIZE_NODES = (
    ast.Expression, ast.Call, ast.keyword, ast.Name, ast.Load, ast.Constant, ast.Tuple, ast.BinOp, ast.UnaryOp,
    ast.Compare, ast.operator, ast.unaryop, ast.cmpop,
)  # fmt: skip
_TREE_TYPE = re.compile(r"builtins\.(?:tuple|list|dict)|collections\.OrderedDict")


def cleaned(data: bytes, source: str) -> bytes:
    """The archive in `data` with no more than what a graph and its weights need; `source` names it in messages.

    Raises:
        InputError: It is no such archive, or holds what could run when it is read.
        UnsupportedError: It is one that cannot be read without unpickling.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return _made_anew(archive, source)
    except MetaInferError:
        raise
    except RecursionError as error:
        raise InputError(f"{source}: the graph is nested too deeply.", fix=HOW_TO_SAVE) from error
    except Exception as error:  # zip, zlib, JSON and missing keys: each fails with a class of its own
        why = f"{type(error).__name__}: {str(error) or 'it is broken'}."
        raise InputError(f"{source}: this is not an exported program of PyTorch.", why, HOW_TO_SAVE) from error


def _made_anew(archive: zipfile.ZipFile, source: str) -> bytes:
    entries = {each.filename.partition("/")[2]: each for each in archive.infolist()}
    if sum(each.file_size for each in archive.infolist()) > UNPACKED_LIMIT_BYTES:
        raise InputError(
            f"{source}: the archive is too large.",
            f"It takes more than {UNPACKED_LIMIT_BYTES:,} bytes unpacked.",
            "Give a smaller model.",
        )
    graphs = [name for name in entries if re.fullmatch(r"models/\w+\.json", name)]
    if not graphs:
        raise UnsupportedError(
            f"{source}: this is not an archive that can be read safely.",
            f"{_what_it_is(entries)} What is pickled can run code when it is read, so it is never loaded.",
            HOW_TO_SAVE,
        )
    if len(graphs) > 1:
        raise UnsupportedError(
            f"{source}: there are {len(graphs)} programs in it.", "One was expected.", "Save each in a file of its own."
        )
    name = graphs[0].removeprefix("models/").removesuffix(".json")
    graph = _json(archive, entries, graphs[0], source)
    _check(graph, source)
    kept: dict[str, bytes] = {graphs[0]: json.dumps(_without_what_runs(graph)).encode()}
    for folder, kind in (("data/weights", "weights"), ("data/constants", "constants")):
        config = f"{folder}/{name}_{kind}_config.json"
        payload = _json(archive, entries, config, source)
        _check(payload, source)
        kept[config] = json.dumps(payload).encode()
        for tensor, entry in payload["config"].items():
            path = str(entry["path_name"])
            if entry["use_pickle"] or not re.fullmatch(r"(?:weight|tensor)_\d+", path):
                raise UnsupportedError(
                    f"{source}: {tensor!r} in it is pickled.",
                    "What is pickled can run code when it is read, so it is never loaded.",
                    "Turn it into a plain tensor (a parameter or a buffer of the module), and export again.",
                )
            kept[f"{folder}/{path}"] = archive.read(entries[f"{folder}/{path}"])
    kept[f"data/sample_inputs/{name}.pt"] = b""
    kept["byteorder"] = archive.read(entries["byteorder"]) if "byteorder" in entries else b"little"
    kept |= {"archive_format": b"pt2", "archive_version": b"0", ".data/version": b"3\n"}
    return _packed(kept)


def _json(archive: zipfile.ZipFile, entries: dict[str, zipfile.ZipInfo], name: str, source: str) -> Any:
    if entries[name].file_size > GRAPH_LIMIT_BYTES:
        raise InputError(f"{source}: {name} in it has {entries[name].file_size:,} bytes.", fix="Give a smaller model.")
    return json.loads(archive.read(entries[name]))


def _packed(files: dict[str, bytes]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_STORED) as archive:
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(f"model/{name}"), content)
    return packed.getvalue()


def _what_it_is(entries: dict[str, zipfile.ZipInfo]) -> str:
    if "constants.pkl" in entries or any(name.startswith("code/") for name in entries):
        return "It is a TorchScript program (torch.jit.save), whose data is pickled."
    if "data.pkl" in entries:
        return "It was written by torch.save, which pickles."
    if any(name.startswith("serialized_") for name in entries):
        return "It was written by an older PyTorch, which pickled the weights."
    return "It holds no program of torch.export."


def _without_what_runs(graph: Any) -> Any:
    """The program without guards (Python source) and without metadata (where each node came from)."""

    def bare(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: {} if key == "metadata" else bare(each) for key, each in value.items()}
        return [bare(each) for each in value] if isinstance(value, list) else value

    return {**bare(graph), "guards_code": []}


def _check(value: Any, source: str, key: str = "", depth: int = 0) -> None:
    """Refuses each text that is not plainly a name, a known operator, a size or a small argument.

    Raises:
        InputError: Names the text and where it stands.
    """
    if depth > DEPTH_LIMIT:
        raise InputError(f"{source}: the graph is nested too deeply.", fix=HOW_TO_SAVE)
    if isinstance(value, dict):
        for inner, each in value.items():
            if inner in ("metadata", "guards_code", "torch_version"):
                continue  # never read, or left behind
            _refuse_unless(bool(_TEXT.fullmatch(inner)) or _is_size(inner), source, "a name", inner)
            _check(each, source, inner, depth + 1)
    elif isinstance(value, list):
        for each in value:
            _check(each, source, key, depth + 1)
    elif isinstance(value, str):
        if key == "target":
            _refuse_unless(bool(_OPERATOR.fullmatch(value)), source, "an operator", value)
        elif key == "expr_str":
            _refuse_unless(_is_size(value), source, "a size", value)
        elif key in ("as_string", "as_strings"):
            _refuse_unless(bool(_ARGUMENT.fullmatch(value)), source, "an argument", value)
        elif key in ("in_spec", "out_spec"):
            _refuse_unless(_is_tree(json.loads(value)), source, "a structure of inputs or outputs", value)
        else:
            _refuse_unless(bool(_TEXT.fullmatch(value)), source, "a name", value)


def _is_size(text: str) -> bool:
    """An expression of sizes such as `2*s77 + 1` or `Symbol('s77', integer=True)`, and no other Python.

    `sympify`, which reads it, would run whatever it is.
    """
    try:
        nodes = list(ast.walk(ast.parse(text.strip(), mode="eval")))
    except (SyntaxError, ValueError):
        return False
    called = {id(each.func) for each in nodes if isinstance(each, ast.Call)}
    for each in nodes:
        match each:
            case ast.Name(id=name) if id(each) in called:
                fine = name in _SIZE_FUNCTIONS
            case ast.Name(id=name):
                fine = name in ("oo", "int_oo") or bool(_SYMBOL.fullmatch(name))
            case ast.Constant(value=str(symbol)):
                fine = bool(_SYMBOL.fullmatch(symbol) or _NUMBER.fullmatch(symbol))
            case ast.Call():
                fine = isinstance(each.func, ast.Name)
            case _:
                fine = isinstance(each, _SIZE_NODES)
        if not fine:
            return False
    return True


def _is_tree(spec: Any) -> bool:
    """Tuples, lists and dictionaries of tensors, as `treespec_dumps` writes them."""
    return isinstance(spec, list) and len(spec) == 2 and spec[0] == 1 and _is_branch(spec[1])


def _is_branch(spec: Any) -> bool:
    kind, context = spec["type"], spec["context"]
    known = kind is None or bool(_TREE_TYPE.fullmatch(kind))
    keys = json.loads(context) if context is not None else None
    plain = keys is None or (isinstance(keys, list) and all(bool(_TEXT.fullmatch(str(each))) for each in keys))
    return known and plain and all(_is_branch(each) for each in spec["children_spec"])


def _refuse_unless(fine: bool, source: str, kind: str, text: str) -> None:
    if not fine:
        raise InputError(
            f"{source}: {text[:100]!r} in its graph cannot be taken in as {kind}.",
            "PyTorch would look it up or run it; only operators of ATen, sizes and plain names are let through.",
            HOW_TO_SAVE,
        )
