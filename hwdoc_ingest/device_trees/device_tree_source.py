"""Parses device tree source (.dts, .dtsi): one file alone, with what it includes reported as missing.

The language is that of the Devicetree Specification v0.4, chapter 6, and the C preprocessor lines that the sources of
Linux and U-Boot carry. Macros that the file itself defines are evaluated, and those for sizes and rates that every tree
of Zephyr uses (its mem.h and freq.h); others stay words without a number.
"""

from __future__ import annotations

import bisect
import re
from pathlib import Path

from hwdoc_ingest.device_trees.c_expression import Macro, evaluate, read_macro
from hwdoc_ingest.device_trees.device_tree_nodes import Cell, DeviceTree, Node, Property
from metainfer_core.errors import InputError

MAX_DEPTH = 64
MAX_LABELS_AND_CELLS = 4_000_000

_PREPROCESSOR = re.compile(
    r"^[ \t]*#[ \t]*(include|define|undef|ifdef|ifndef|if|elif|else|endif|error|warning|pragma|line)\b"
    r"((?:[^\n\\]|\\\r?\n|\\.)*)",
    re.M,
)
_COMMENT_OR_TEXT = re.compile(r'"(?:\\.|[^"\\])*"|/\*.*?(?:\*/|\Z)|//[^\n]*', re.S)
_SPACE = re.compile(r"\s*")
_LABEL = re.compile(r"([A-Za-z_]\w*)\s*:(?!:)")
_NAME = re.compile(r"&\{[^}\n]*\}|&[A-Za-z_]\w*|[\w,.+*#?@-]+|/(?=\s*\{)")
_DIRECTIVE = re.compile(r"/([a-z0-9-]+)/")
_TEXT = re.compile(r'"((?:\\.|[^"\\])*)"')
_REFERENCE = re.compile(r"&\{[^}\n]*\}|&[A-Za-z_]\w*")
_CELL = re.compile(r"&\{[^}\n]*\}|&[A-Za-z_]\w*|'(?:\\.|[^'\\])'|[\w][\w,.#-]*|\(")
_MACRO = re.compile(r"[A-Za-z_]\w*")
_BYTES = re.compile(r"\[[0-9A-Fa-f\s]*\]")
_ESCAPE = re.compile(r"\\(.)", re.S)
_SIZES_AND_RATES = {
    name: Macro(name, ("x",), f"((x) * {factor})")
    for name, factor in (
        ("DT_SIZE_K", 1 << 10),
        ("DT_SIZE_M", 1 << 20),
        ("DT_SIZE_G", 1 << 30),
        ("DT_FREQ_K", 1_000),
        ("DT_FREQ_M", 1_000_000),
    )
}


def parse_source(text: str, path: Path) -> DeviceTree:
    """The tree in `text`; raises InputError with the line that cannot be read. `path` only names it in messages."""
    return _Parser(text, path).parse()


class _Parser:
    """A recursive-descent parser; `self.at` is the place that it has reached."""

    def __init__(self, text: str, path: Path) -> None:
        self.path = path
        self.macros: dict[str, Macro] = dict(_SIZES_AND_RATES)
        self.notes: list[str] = []
        self.comments: dict[int, str] = {}
        self.line_starts = [0, *(match.end() for match in re.finditer("\n", text))]
        self.lines = tuple(text.split("\n"))
        self.text = self._without_preprocessor(self._without_comments(text))
        self.at = 0
        self.parts = 0
        self.tree = DeviceTree(Node("", None, 1), self.lines, self.notes)

    def parse(self) -> DeviceTree:
        while self._skip() < len(self.text):
            self._statement(self.tree.root, depth=0)
        return self.tree

    def _without_comments(self, text: str) -> str:
        def blank(match: re.Match[str]) -> str:
            found = match[0]
            if found.startswith('"'):
                return found
            comment = found.removeprefix("/*").removeprefix("//").removesuffix("*/").strip()
            if "\n" not in found and comment:
                self.comments[self._line(match.start())] = comment[:200]
            return re.sub(r"[^\n]", " ", found)

        return _COMMENT_OR_TEXT.sub(blank, text)

    def _without_preprocessor(self, text: str) -> str:
        switched_off: list[bool] = []  # one entry for each #if that is open

        def blank(match: re.Match[str]) -> str:
            word, rest = match[1], re.sub(r"\\\r?\n", " ", match[2]).strip()
            if word == "include":
                self.notes.append(
                    f"line {self._line(match.start(1))}: {rest} is included, but not part of this document."
                )
            elif word == "define" and not any(switched_off):
                macro = read_macro(rest)
                if macro:
                    self.macros[macro.name] = macro
            elif word in ("if", "ifdef", "ifndef"):
                switched_off.append(word == "if" and rest == "0")
                if not switched_off[-1]:
                    place = self._line(match.start(1))
                    self.notes.append(
                        f"line {place}: #{word} {rest[:60]} is not decided here: both branches were read."
                    )
            elif word in ("else", "elif") and switched_off:
                switched_off[-1] = False
            elif word == "endif" and switched_off:
                switched_off.pop()
            return re.sub(r"[^\n]", " ", match[0])

        pieces, end = [], 0
        for match in _PREPROCESSOR.finditer(text):
            between = text[end : match.start()]
            pieces.append(re.sub(r"[^\n]", " ", between) if any(switched_off) else between)
            pieces.append(blank(match))
            end = match.end()
        return re.sub(r"\\(?=[ \t]*\n)", " ", "".join([*pieces, text[end:]]))

    def _line(self, offset: int) -> int:
        return bisect.bisect_right(self.line_starts, offset)

    def _fault(self, why: str) -> InputError:
        line = self._line(min(self.at, max(0, len(self.text) - 1)))
        seen = self.text[self.at : self.at + 30].split("\n")[0].strip()
        got = f"Got {seen!r}." if seen else "The line or the file ends there."
        return InputError(
            f"{self.path}:{line}: this is no device tree source.", f"{why} {got}", "Give the file as its vendor has it."
        )

    def _skip(self) -> int:
        match = _SPACE.match(self.text, self.at)
        self.at = match.end() if match else self.at
        return self.at

    def _take(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        self._skip()
        match = pattern.match(self.text, self.at)
        if match:
            self.at = match.end()
            self.parts += 1
            if self.parts > MAX_LABELS_AND_CELLS:
                raise self._fault(f"It has more than {MAX_LABELS_AND_CELLS:,} parts.")
        return match

    def _takes(self, mark: str) -> bool:
        self._skip()
        if not self.text.startswith(mark, self.at):
            return False
        self.at += len(mark)
        return True

    def _expect(self, mark: str) -> None:
        if not self._takes(mark):
            raise self._fault(f"{mark!r} was expected.")

    def _statement(self, node: Node, depth: int) -> None:
        """One node, property, directive or lone `;` inside `node`."""
        if self._takes(";"):
            return
        directive = self._take(_DIRECTIVE)
        if directive:
            self._directive(directive[1], node)
            return
        labels = []
        while True:
            self._skip()
            begin = self.at
            if label := self._take(_LABEL):
                labels.append(label[1])
                continue
            name = self._take(_NAME)
            if not name:
                raise self._fault("A node, a property or '}' was expected.")
            if self._takes("("):  # a macro that stands for a label, a name or a whole statement
                self._balanced()
                if self._takes(":"):
                    continue
            break
        words = self.text[begin : self.at].strip()
        if self._takes("{"):
            self._body(self._opened(node, words, labels, self._line(begin)), depth + 1)
        elif words != name[0] and not self.text.startswith("=", self._skip()):
            self.notes.append(f"line {self._line(begin)}: {words[:60]} is a macro that is not known here.")
            self._takes(";")
        else:
            self._property(node, words, begin)

    def _body(self, node: Node, depth: int) -> None:
        if depth > MAX_DEPTH:
            raise self._fault(f"Nodes are nested more than {MAX_DEPTH} deep.")
        while not self._takes("}"):
            if self._skip() >= len(self.text):
                raise self._fault(f"The node {node.path} is not closed by '}}'.")
            self._statement(node, depth)
        self._expect(";")

    def _opened(self, parent: Node, name: str, labels: list[str], line: int) -> Node:
        """The node that `name` opens: the one that stands there already, else a new one."""
        if name == "/":
            node = self.tree.root
        elif name.startswith("&"):
            found = self.tree.referred(Cell(None, name, line, 0))
            if found is None:  # it stands in another file: kept under its label, outside of any bus
                found = self.tree.root.children.setdefault(name, Node(name, self.tree.root, line, [name.strip("&{}")]))
                self.tree.labels[name.strip("&{}")] = found
            node = found
        else:
            node = parent.children.setdefault(name, Node(name, parent, line))
        for label in labels:
            node.labels.append(label)
            self.tree.labels[label] = node
        return node

    def _directive(self, word: str, node: Node) -> None:
        line = self._line(self.at)
        if word in ("dts-v1", "plugin"):
            self._expect(";")
            if word == "plugin":
                self.notes.append(
                    f"line {line}: an overlay: it adds to a device tree that is not part of this document."
                )
        elif word == "include":
            name = self._take(_TEXT)
            self.notes.append(
                f"line {line}: {name[0] if name else 'a file'} is included, but not part of this document."
            )
            self._takes(";")
        elif word == "delete-node":
            name = self._take(_NAME)
            doomed = self._child_or_reference(node, name[0]) if name else None
            if doomed is not None and doomed.parent is not None:
                doomed.parent.children.pop(doomed.name, None)
            self._expect(";")
        elif word == "delete-property":
            name = self._take(_NAME)
            if name:
                node.properties.pop(name[0], None)
            self._expect(";")
        elif word == "memreserve":
            while not self._takes(";"):
                if not self._take(_CELL):
                    raise self._fault("A number or ';' was expected.")
        elif word != "omit-if-no-ref":
            raise self._fault(f"/{word}/ is no directive.")

    def _child_or_reference(self, node: Node, name: str) -> Node | None:
        return self.tree.referred(Cell(None, name, None, 0)) if name.startswith("&") else node.children.get(name)

    def _property(self, node: Node, name: str, begin: int) -> None:
        cells: list[Cell] = []
        texts: list[str] = []
        group = 0
        if self._takes("="):
            while True:
                while self._take(_LABEL):
                    pass
                if directive := self._take(_DIRECTIVE):
                    self._value_directive(directive[1])
                if self._takes("<"):
                    self._cells(cells, group)
                    group += 1
                elif text := self._take(_TEXT):
                    texts.append(_ESCAPE.sub(r"\1", text[1]))
                elif reference := self._take(_REFERENCE):
                    texts.append(reference[0])
                elif macro := self._take(_MACRO):  # it stands for a text or a whole value
                    if self._takes("("):
                        self._balanced()
                    elif self.text.startswith('"', self._skip()):
                        continue
                    self.notes.append(f"line {self._line(begin)}: {macro[0]} in {name} is defined elsewhere.")
                elif not self._take(_BYTES) and not (directive and directive[1] == "incbin"):
                    raise self._fault(f"A value of the property {name!r} was expected.")
                if not self._takes(","):
                    break
        line = self._line(begin)
        self._expect(";")
        words = self.lines[line - 1].strip()
        node.properties[name] = Property(name, line, words, tuple(cells), tuple(texts))

    def _value_directive(self, word: str) -> None:
        """`/bits/ 64` before cells (numbers keep their value at any width), or `/incbin/("file")`."""
        if word == "bits":
            self._take(_CELL)
        elif word == "incbin":
            self._expect("(")
            self._balanced()
        else:
            raise self._fault(f"/{word}/ is no value.")

    def _cells(self, cells: list[Cell], group: int) -> None:
        while not self._takes(">"):
            while self._take(_LABEL):
                pass
            self._skip()
            begin = self.at
            word = self._take(_CELL)
            if not word:
                raise self._fault("A number, a reference or '>' was expected.")
            if word[0] == "(" or (word[0][0].isalpha() and self.text.startswith("(", self.at)):
                if word[0] != "(":
                    self.at += 1
                self._balanced()
            words = self.text[begin : self.at]
            line = self._line(begin)
            value = None if words.startswith("&") else evaluate(words, self.macros)
            cells.append(Cell(value, words, line, group, self.comments.get(line, "")))

    def _balanced(self) -> None:
        """Goes behind the `)` of a `(` that was just taken."""
        depth = 1
        while depth:
            mark = re.compile(r"[()]|\"(?:\\.|[^\"\\])*\"").search(self.text, self.at, self.at + 2000)
            if not mark:
                raise self._fault("')' was expected.")
            depth += {"(": 1, ")": -1}.get(mark[0], 0)
            self.at = mark.end()
