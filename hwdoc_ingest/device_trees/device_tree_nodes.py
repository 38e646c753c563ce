"""The tree that a device tree describes, whether it came as source or as a blob."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property


@dataclass(frozen=True)
class Cell:
    """One 32-bit (or wider) number of a property."""

    value: int | None
    """None where a macro or reference stands whose number is not known."""
    words: str
    """As written: `0x4000`, `GIC_SPI`, `&gic`."""
    line: int | None
    group: int
    """Which of the property's `<...>` it stands in."""
    comment: str = ""
    """The comment that ends its line."""


@dataclass(frozen=True)
class Property:
    """A property with everything that stands right of its `=`; one without is a flag."""

    name: str
    line: int | None
    words: str = ""
    """The line that it begins on, or all of it when it came from a blob."""
    cells: tuple[Cell, ...] = ()
    texts: tuple[str, ...] = ()
    path: str = ""
    """Path of its node where there are no lines."""

    @property
    def number(self) -> int | None:
        """Its only number, None when there is not exactly one."""
        return self.cells[0].value if len(self.cells) == 1 else None


@dataclass
class Node:
    """A node under construction: nodes of one path are merged as the source goes on."""

    name: str
    parent: Node | None
    line: int | None = None
    labels: list[str] = field(default_factory=list)
    properties: dict[str, Property] = field(default_factory=dict)
    children: dict[str, Node] = field(default_factory=dict)

    def walk(self) -> Iterator[Node]:
        """This node and all below it, in the order of the source."""
        waiting = [self]
        while waiting:
            node = waiting.pop()
            yield node
            waiting.extend(reversed(node.children.values()))

    def texts(self, name: str) -> tuple[str, ...]:
        """The texts of a property, none when it is absent."""
        found = self.properties.get(name)
        return found.texts if found else ()

    def number(self, name: str) -> int | None:
        """The only number of a property, None when it is absent or not known."""
        found = self.properties.get(name)
        return found.number if found else None

    @property
    def path(self) -> str:
        """Its place in the tree, such as `/soc/serial@38000000`."""
        names = []
        node: Node | None = self
        while node is not None and node.parent is not None:
            names.append(node.name)
            node = node.parent
        return "/" + "/".join(reversed(names))

    @property
    def generic_name(self) -> str:
        """Its name without the unit address."""
        return self.name.partition("@")[0]

    @property
    def title(self) -> str:
        """How people call it: its first label, else its name."""
        return self.labels[0] if self.labels else self.name

    @property
    def disabled(self) -> bool:
        """Whether its status takes it out of use."""
        return bool(self.texts("status")) and self.texts("status")[0] not in ("okay", "ok", "reserved")


@dataclass
class DeviceTree:
    """A whole tree with what a reader of it must know."""

    root: Node
    lines: tuple[str, ...] = ()
    """The source, line by line; empty for a blob."""
    notes: list[str] = field(default_factory=list)
    labels: dict[str, Node] = field(default_factory=dict)
    phandles: dict[int, Node] = field(default_factory=dict)

    @cached_property
    def interrupt_controllers(self) -> tuple[Node, ...]:
        """All nodes that take interrupts; asked for when the tree is whole."""
        return tuple(node for node in self.root.walk() if "interrupt-controller" in node.properties)

    def words_at(self, cell_or_property: Cell | Property, whole: Property) -> str:
        """The words of the source line that holds a value."""
        if cell_or_property.line is None or not self.lines:
            return whole.words
        return self.lines[cell_or_property.line - 1].strip()

    def referred(self, cell: Cell) -> Node | None:
        """The node that a cell refers to by label, path or phandle."""
        if cell.words.startswith("&{"):
            return self.at_path(cell.words[2:-1])
        if cell.words.startswith("&"):
            return self.labels.get(cell.words[1:])
        return self.phandles.get(cell.value) if cell.value is not None else None

    def at_path(self, path: str) -> Node | None:
        """The node at a path."""
        node = self.root
        for name in path.strip("/").split("/"):
            if not name:
                continue
            found = node.children.get(name)
            if found is None:
                return None
            node = found
        return node
