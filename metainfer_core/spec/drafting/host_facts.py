"""What Linux says about the machine it runs on: processors, caches, NUMA nodes, memory. Nothing is decided here."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from metainfer_core.errors import InputError, UnsupportedError

MOST_PROCESSORS = 4096
_CPU = "sys/devices/system/cpu"
_NODE = "sys/devices/system/node"


@dataclass(frozen=True)
class Fact:
    """One thing that a file of the system says."""

    file: str
    """Its path, from the root."""
    words: str


@dataclass(frozen=True)
class HostCache:
    """One cache, as a processor sees it."""

    level: int
    kind: str
    """`Data`, `Instruction` or `Unified`."""
    facts: dict[str, Fact]
    """By the name of the file: size, ways_of_associativity, ..."""
    sharers: tuple[int, ...]


@dataclass(frozen=True)
class Processor:
    """One processor that programs can run on."""

    number: int
    model: Fact | None
    flags: Fact | None
    core: tuple[str, str]
    """Package and core that it belongs to; two threads of one core have the same."""
    clocks: dict[str, Fact]
    """`max` and `min` in kHz, or `now` in MHz."""
    caches: tuple[HostCache, ...]


@dataclass(frozen=True)
class Host:
    """One machine."""

    processors: tuple[Processor, ...]
    memory: Fact | None
    nodes: dict[str, Fact]
    """NUMA node to the list of its processors."""
    board: Fact | None

    @property
    def text(self) -> str:
        """All that was read, a line each, in a fixed order: the document that values are traced to."""
        found = [self.memory, self.board, *self.nodes.values()]
        for each in self.processors:
            found += [each.model, each.flags, *each.clocks.values()]
            found += [fact for cache in each.caches for fact in cache.facts.values()]
        return "".join(f"{fact.file}: {fact.words}\n" for fact in dict.fromkeys(fact for fact in found if fact))


def read_host(root: Path = Path("/")) -> Host:
    """The machine whose /proc and /sys lie below `root`; raises UnsupportedError where they tell no processor."""
    described = _cpuinfo(root)
    numbers = _online(root) or tuple(sorted(described))
    if not numbers:
        raise UnsupportedError(
            "This system tells nothing about its processors.",
            f"{root / 'proc/cpuinfo'} and {root / _CPU} are missing or empty.",
            "Run on Linux, or write the spec from the machine's documents.",
        )
    nodes = {name: _fact(root, f"{_NODE}/{name}/cpulist") for name in _names(root, _NODE, r"node\d+")}
    return Host(
        processors=tuple(_processor(root, number, described.get(number, {})) for number in numbers[:MOST_PROCESSORS]),
        memory=_line(root, "proc/meminfo", "MemTotal:"),
        nodes={name: fact for name, fact in nodes.items() if fact},
        board=_fact(root, "proc/device-tree/model"),
    )


def numbers_of(text: str) -> tuple[int, ...]:
    """`0-3,8` as its numbers; an InputError where it is no such list."""
    found: list[int] = []
    for part in text.strip().split(","):
        match = re.fullmatch(r"(\d{1,6})(?:-(\d{1,6}))?", part.strip())
        if match is None or int(match[2] or match[1]) - int(match[1]) > MOST_PROCESSORS:
            raise InputError(f"{text!r} is no list of processors.", fix="Report it with the name of the system.")
        found += range(int(match[1]), int(match[2] or match[1]) + 1)
    return tuple(found)


def _processor(root: Path, number: int, described: dict[str, Fact]) -> Processor:
    place = f"{_CPU}/cpu{number}"
    package, core = (_fact(root, f"{place}/topology/{name}") for name in ("physical_package_id", "core_id"))
    clocks = {end: _fact(root, f"{place}/cpufreq/cpuinfo_{end}_freq") for end in ("min", "max")}
    clocks["now"] = described.get("cpu MHz")
    caches = (_cache(root, f"{place}/cache/{name}", number) for name in _names(root, f"{place}/cache", r"index\d+"))
    part = described.get("model name") or described.get("CPU part") or described.get("uarch")
    return Processor(
        number=number,
        model=part or _fact(root, f"{place}/of_node/compatible"),
        flags=described.get("flags") or described.get("Features") or described.get("isa"),
        core=(package.words if package else "0", core.words if core else str(number)),
        clocks={name: fact for name, fact in clocks.items() if fact},
        caches=tuple(cache for cache in caches if cache),
    )


def _cache(root: Path, place: str, number: int) -> HostCache | None:
    level, kind = _fact(root, f"{place}/level"), _fact(root, f"{place}/type")
    if level is None or kind is None or not level.words.isdigit():
        return None
    names = ("size", "coherency_line_size", "ways_of_associativity", "number_of_sets", "shared_cpu_list")
    facts = {name: fact for name in names if (fact := _fact(root, f"{place}/{name}"))}
    shared = facts.get("shared_cpu_list")
    return HostCache(int(level.words), kind.words, facts, numbers_of(shared.words) if shared else (number,))


def _cpuinfo(root: Path) -> dict[int, dict[str, Fact]]:
    found: dict[int, dict[str, Fact]] = {}
    number = 0
    for line in _text(root / "proc/cpuinfo").splitlines():
        key, colon, words = (part.strip() for part in line.partition(":"))
        if key == "processor" and words.isdigit():
            number = int(words)
            found[number] = {}
        elif colon and number in found:
            found[number][key] = Fact("/proc/cpuinfo", f"{key}: {words}")
    return found


def _online(root: Path) -> tuple[int, ...]:
    fact = _fact(root, f"{_CPU}/online")
    return numbers_of(fact.words) if fact else ()


def _line(root: Path, file: str, beginning: str) -> Fact | None:
    found = (line for line in _text(root / file).splitlines() if line.startswith(beginning))
    line = next(found, None)
    return Fact(f"/{file}", " ".join(line.split())) if line else None


def _fact(root: Path, file: str) -> Fact | None:
    words = " ".join(_text(root / file).replace("\x00", " ").split())
    return Fact(f"/{file}", words) if words else None


def _names(root: Path, folder: str, pattern: str) -> list[str]:
    place = root / folder
    names = [entry.name for entry in place.iterdir()] if place.is_dir() else []
    matching = [name for name in names if re.fullmatch(pattern, name)]
    return sorted(matching, key=lambda name: int(re.sub(r"\D", "", name)))


def _text(path: Path) -> str:
    """A small file of the system, or an empty text where it is missing or not for everybody."""
    try:
        with path.open("rb") as file:
            return file.read(1 << 22).decode("utf-8", "replace")
    except OSError:
        return ""
