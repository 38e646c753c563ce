"""Labelled files for a file-type classifier: files of this machine whose type their name or their first bytes tell.

The label is what a person would call the file by its extension, or by the magic number where a format has one. The
bytes are taken as the model's own package documents it: the first 1024 after leading white space, the last 1024 before
trailing white space, of at most 4096 at either end, padded with 256.
"""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

HALF, BLOCK, PADDING = 1024, 4096, 256
LEAST_BYTES = 32

LABELS: dict[str, str] = {
    **dict.fromkeys((".py", ".pyi"), "python"),
    **dict.fromkeys((".pl", ".pm"), "perl"),
    **dict.fromkeys((".yaml", ".yml"), "yaml"),
    **dict.fromkeys((".cpp", ".cc", ".hpp", ".cxx"), "cpp"),
    **dict.fromkeys((".f", ".f90", ".for"), "fortran"),
    **dict.fromkeys((".diff", ".patch"), "diff"),
    **dict.fromkeys((".html", ".htm"), "html"),
    **dict.fromkeys((".jpg", ".jpeg"), "jpeg"),
    **dict.fromkeys((".el", ".lisp", ".lsp"), "lisp"),
    **dict.fromkeys((".js", ".mjs"), "javascript"),
    ".bat": "batch", ".bib": "bib", ".c": "c", ".clj": "clojure", ".cmake": "cmake", ".cs": "cs", ".css": "css",
    ".csv": "csv", ".dart": "dart", ".awk": "awk", ".erl": "erlang", ".go": "go", ".gradle": "gradle",
    ".groovy": "groovy", ".hs": "haskell", ".ini": "ini", ".ipynb": "ipynb", ".java": "java", ".jinja": "jinja",
    ".jl": "julia", ".json": "json", ".jsonl": "jsonl", ".kt": "kotlin", ".tex": "latex", ".lua": "lua", ".m4": "m4",
    ".md": "markdown", ".ml": "ocaml", ".onnx": "onnx", ".php": "php", ".po": "po", ".proto": "proto",
    ".ps1": "powershell", ".r": "r", ".rb": "ruby", ".rs": "rust", ".rst": "rst", ".rtf": "rtf", ".scala": "scala",
    ".scss": "scss", ".sh": "shell", ".sql": "sql", ".srt": "srt", ".svg": "svg", ".swift": "swift", ".tcl": "tcl",
    ".toml": "toml", ".ts": "typescript", ".v": "verilog", ".vhd": "vhdl", ".vue": "vue",
    ".wasm": "wasm", ".xml": "xml", ".zig": "zig", ".npz": "npz", ".pcap": "pcap", ".tga": "tga", ".icns": "icns",
    ".docx": "docx", ".xlsx": "xlsx", ".pptx": "pptx", ".jar": "jar", ".epub": "epub", ".odt": "odt", ".s": "asm",
    ".parquet": "parquet", ".h5": "h5", ".pyc": "pythonbytecode", ".sgml": "sgml", ".pickle": "pickle",
}  # fmt: skip
MAGIC: dict[bytes, str] = {
    b"\x7fELF": "elf", b"\x89PNG\r\n": "png", b"GIF8": "gif", b"%PDF-": "pdf", b"\x1f\x8b": "gzip", b"BZh": "bzip",
    b"\xfd7zXZ": "xz", b"wOF2": "woff2", b"wOFF": "woff", b"OTTO": "otf", b"\x00\x01\x00\x00\x00": "ttf",
    b"SQLite format 3": "sqlite", b"\x93NUMPY": "npy", b"!<arch>\ndebian": "deb", b"\xca\xfe\xba\xbe": "javabytecode",
    b"OggS": "ogg", b"fLaC": "flac", b"\x00asm": "wasm", b"MThd": "midi", b"7z\xbc\xaf": "sevenzip", b"BM": "bmp",
    b"II*\x00": "tiff", b"MM\x00*": "tiff", b"%!PS": "postscript", b"\x00\x00\x01\x00": "ico",
}  # fmt: skip
PEM = (b"-----BEGIN ",)
ROOTS = ("/usr", "/etc", "/var/lib", "/opt", "/home", "/root")


def typed_files(names: Sequence[str], most: int, seed: int) -> Iterator[tuple[np.ndarray, int]]:
    """The model's input [2048] of int32 and the index of its label in `names`; no content comes twice.

    Args:
        names: The labels of the model, in the order of its output.
        most: How many files of one label are taken.
        seed: Of the order in which files are looked at.
    """
    index = {name: place for place, name in enumerate(names)}
    paths = [path for root in ROOTS for path in _files(Path(root))]
    taken: Counter[str] = Counter()
    seen: set[bytes] = set()
    for place in np.random.default_rng(seed).permutation(len(paths)):
        path = paths[place]
        try:
            with path.open("rb") as file:
                head = file.read(BLOCK)
                file.seek(max(0, os.fstat(file.fileno()).st_size - BLOCK))
                tail = file.read(BLOCK)
        except OSError:
            continue
        label = _label(path, head)
        if label not in index or taken[label] >= most or len(head.strip()) < LEAST_BYTES:
            continue
        features = _features(head, tail)
        digest = hashlib.sha256(features.tobytes()).digest()
        if digest not in seen:
            seen.add(digest)
            taken[label] += 1
            yield features, index[label]


def _files(root: Path) -> Iterator[Path]:
    for folder, inside, files in os.walk(root):
        inside.sort()
        for name in sorted(files):
            path = Path(folder, name)
            if not path.is_symlink() and path.is_file():
                yield path


def _label(path: Path, head: bytes) -> str:
    if head.startswith(PEM):
        return "pem"
    magic = next((label for start, label in MAGIC.items() if head.startswith(start)), None)
    if magic is not None:
        return magic
    by_name = LABELS.get(path.suffix.lower(), "")
    if by_name == "xml" and b"<svg" in head:
        return "svg"
    return "makefile" if path.name in ("Makefile", "GNUmakefile") else by_name


def _features(head: bytes, tail: bytes) -> np.ndarray:
    first = np.frombuffer(head.lstrip()[:HALF], np.uint8)
    last = np.frombuffer(tail.rstrip()[-HALF:], np.uint8)
    found = np.full(2 * HALF, PADDING, np.int32)
    found[: len(first)] = first
    found[len(found) - len(last) :] = last
    return found
