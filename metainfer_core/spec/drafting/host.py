"""A first spec of the machine that this runs on, so that the first run needs no manual."""

from __future__ import annotations

import platform
from pathlib import Path
from typing import Any

from metainfer_core.spec.drafting.binding import slug
from metainfer_core.spec.drafting.host_facts import Fact, Host, HostCache, Processor, read_host
from metainfer_core.spec.hardware_spec import HardwareSpec
from metainfer_core.values import sha256

SOURCE = "this_machine"
_LEVELS = {
    (1, "Data"): "l1d_cache", (1, "Instruction"): "l1i_cache", (1, "Unified"): "l1_cache", (2, "Unified"): "l2_cache",
    (3, "Unified"): "l3_cache",
}  # fmt: skip
_VECTOR_BITS = (("avx512f", 512), ("avx2", 256), ("sse2", 128), ("asimd", 128), ("neon", 128))
_DATA_TYPES = (
    ("float16", ("avx512_fp16", "asimdhp", "fphp")),
    ("bfloat16", ("avx512_bf16", "amx_bf16", "bf16")),
)
_ARM_PARTS = {
    f"CPU part: 0x{part}": name
    for part, name in {
        "d03": "Cortex-A53", "d04": "Cortex-A35", "d05": "Cortex-A55", "d07": "Cortex-A57", "d08": "Cortex-A72",
        "d09": "Cortex-A73", "d0a": "Cortex-A75", "d0b": "Cortex-A76", "d0c": "Neoverse-N1", "d0d": "Cortex-A77",
        "d40": "Neoverse-V1", "d41": "Cortex-A78", "d44": "Cortex-X1", "d46": "Cortex-A510", "d47": "Cortex-A710",
        "d48": "Cortex-X2", "d49": "Neoverse-N2",
    }.items()
}  # fmt: skip
"""How Linux numbers Arm's own cores (arch/arm64/include/asm/cputype.h)."""
_MEASURE = "`meta-infer profile --full` measures it."


def host_spec(root: Path = Path("/"), machine: str | None = None) -> HardwareSpec:
    """The spec of the machine whose /proc and /sys lie below `root`.

    What the system tells has a provenance: the file, and its words. What a prediction needs beside it is assumed.

    Args:
        root: Folder that holds `proc` and `sys`.
        machine: Name of the instruction set; None: of this machine.
    """
    return _HostSpec(read_host(root), machine or platform.machine()).spec()


class _HostSpec:
    """One machine on its way to a spec."""

    def __init__(self, host: Host, machine: str) -> None:
        self.host, self.machine = host, machine
        self.tree: dict[str, Any] = {"compute_units": {}, "memories": {"dram": {"kind": "dram"}}, "other": {}}
        self.provenance: dict[str, Any] = {}
        self.assumed: dict[str, str] = {}

    def spec(self) -> HardwareSpec:
        groups = _alike(self.host.processors)
        for index, group in enumerate(groups):
            self._unit("cpu" if len(groups) == 1 else f"cpu{index}", group)
        self._memory()
        name = slug(self.host.board.words if self.host.board else _model(self.host.processors[0])) or "host"
        document = {
            "title": f"What Linux says about this machine ({self.machine})",
            "document_digest": sha256(self.host.text.encode()),
        }
        record = {
            "name": name,
            "version": "1.0.0",
            "verification_method": "read from the running system",
            "assumed": self.assumed,
            "change_log": ["v1.0.0: drafted from the running system"],
            "sources": {SOURCE: document},
            "provenance": self.provenance,
        }
        return HardwareSpec.from_plain(self.tree | record, "the spec of this machine")

    def _told(self, path: str, fact: Fact) -> None:
        self.provenance[path] = {"source": SOURCE, "page": fact.file, "text": _short(fact.words)}

    def _unit(self, name: str, processors: list[Processor]) -> None:
        path, first = f"compute_units.{name}", processors[0]
        unit: dict[str, Any] = {"kind": "cpu", "isa": self.machine}
        self.tree["compute_units"][name] = unit
        self.assumed[f"{path}.isa"] = "The name that the system gives its instruction set."
        if first.model:
            unit["core_type"] = _model(first)
            self._told(f"{path}.core_type", first.model)
        cores = {each.core for each in processors}
        unit["cores"] = len(cores)
        listed = ", ".join(str(each.number) for each in processors)
        counted = Fact("/sys/devices/system/cpu", f"processors {listed} on {len(cores)} cores")
        self._told(f"{path}.cores", counted)
        if len(cores) < len(processors):
            self.tree["other"][f"{name}.threads"] = len(processors)
            self._told(f"other.{name}.threads", counted)
        self._clock(path, unit, first)
        self._arithmetic(path, unit, first)
        for cache in first.caches:
            self._cache(path, unit, cache, processors)

    def _clock(self, path: str, unit: dict[str, Any], processor: Processor) -> None:
        kilohertz = {end: fact for end, fact in processor.clocks.items() if end != "now" and fact.words.isdigit()}
        if kilohertz:
            unit["clock_hz"] = {end: int(fact.words) * 1000.0 for end, fact in kilohertz.items()}
            self._told(f"{path}.clock_hz", kilohertz.get("max") or kilohertz["min"])
        elif "now" in processor.clocks:
            fact = processor.clocks["now"]
            unit["clock_hz"] = {"typ": round(float(fact.words.split()[-1])) * 1e6}
            self._told(f"{path}.clock_hz", fact)

    def _arithmetic(self, path: str, unit: dict[str, Any], processor: Processor) -> None:
        flags = set(processor.flags.words.split()) if processor.flags else set()
        types = ["int8", "uint8", "int16", "int32", "float32"]
        types += [name for name, needed in _DATA_TYPES if flags & set(needed)]
        unit["data_types"] = types
        bits = next((bits for flag, bits in _VECTOR_BITS if flag in flags), None)
        if bits is not None and processor.flags:
            unit["vector_width_bits"] = bits
            flag = next(flag for flag, of_flag in _VECTOR_BITS if of_flag == bits and flag in flags)
            self._told(f"{path}.vector_width_bits", Fact(processor.flags.file, f"flags: ... {flag} ..."))
        lanes = (bits or 32) // 32
        unit["macs_per_cycle"] = {
            "float32": {"min": lanes / 2, "typ": lanes, "max": 2 * lanes},
            "int8": {"min": lanes / 2, "typ": 2 * lanes, "max": 8 * lanes},
        }
        unit["launch_overhead_us"] = {"min": 0.05, "typ": 1, "max": 5}
        self.assumed |= {
            f"{path}.data_types": "What any such processor computes with; float16 and bfloat16 by its flags.",
            f"{path}.macs_per_cycle.float32": f"One multiply-accumulate a cycle in each of {lanes} lanes, half to "
            f"twice that. {_MEASURE}",
            f"{path}.macs_per_cycle.int8": f"Widened products in {lanes} lanes, up to dot-product instructions. "
            f"{_MEASURE}",
            f"{path}.launch_overhead_us": f"A function call to a wake-up of worker threads. {_MEASURE}",
        }

    def _cache(self, path: str, unit: dict[str, Any], cache: HostCache, processors: list[Processor]) -> None:
        level = _LEVELS.get((cache.level, cache.kind))
        if level is None:
            return
        cores_of = {each.number: each.core for each in self.host.processors}
        sharers = len({cores_of.get(number, ("", str(number))) for number in cache.sharers})
        whole = level == "l3_cache" and set(cache.sharers) > {each.number for each in processors}
        place, at = (self.tree, level) if whole else (unit, f"{path}.{level}")
        if level in place:
            return
        found: dict[str, Any] = {}
        size = cache.facts.get("size")
        if size and size.words.endswith("K") and size.words[:-1].isdigit():
            found["size_bytes"] = int(size.words[:-1]) * 1024.0
            self._told(f"{at}.size_bytes", size)
        for key, name in (
            ("line_bytes", "coherency_line_size"), ("ways", "ways_of_associativity"), ("sets", "number_of_sets")
        ):  # fmt: skip
            fact = cache.facts.get(name)
            if fact and fact.words.isdigit() and int(fact.words) > 0:
                found[key] = int(fact.words)
                self._told(f"{at}.{key}", fact)
        if "shared_cpu_list" in cache.facts:
            found["sharing_mode"] = "shared" if sharers > 1 else "per_core"
            self._told(f"{at}.sharing_mode", cache.facts["shared_cpu_list"])
            if sharers > 1:
                found["shared_by"] = sharers
                self._told(f"{at}.shared_by", cache.facts["shared_cpu_list"])
        place[level] = found

    def _memory(self) -> None:
        dram = self.tree["memories"]["dram"]
        if self.host.memory:
            kibibytes = next((word for word in self.host.memory.words.split() if word.isdigit()), "0")
            dram["size_bytes"] = int(kibibytes) * 1024.0
            self._told("memories.dram.size_bytes", self.host.memory)
        dram["bandwidth_gbps"] = {"min": 1, "typ": 10, "max": 100}
        self.assumed["memories.dram.bandwidth_gbps"] = f"Between a small board and a server. {_MEASURE}"
        dram["alignment_bytes"] = 64
        self.assumed["memories.dram.alignment_bytes"] = "The cache line of nearly all such processors."
        for node, fact in self.host.nodes.items():
            self.tree["other"][f"numa.{node}.processors"] = fact.words
            self._told(f"other.numa.{node}.processors", fact)


def _alike(processors: tuple[Processor, ...]) -> list[list[Processor]]:
    """Processors by kind: those of one model, clock and cache size belong together."""
    groups: dict[tuple[Any, ...], list[Processor]] = {}
    for each in processors:
        fastest = each.clocks.get("max")
        sizes = tuple(cache.facts["size"].words for cache in each.caches if "size" in cache.facts and cache.level < 3)
        groups.setdefault((_model(each), fastest.words if fastest else "", sizes), []).append(each)
    return list(groups.values())


def _model(processor: Processor) -> str:
    words = processor.model.words if processor.model else ""
    return _ARM_PARTS.get(words, words.partition(": ")[2] or words)


def _short(words: str) -> str:
    return words if len(words) <= 120 else words[:117] + "..."
