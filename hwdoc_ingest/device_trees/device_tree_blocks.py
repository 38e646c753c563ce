"""Blocks, memories, DMA controllers, clocks and accelerators in a device tree."""

from __future__ import annotations

import re
from collections.abc import Iterator

from hwdoc_ingest.device_trees.device_tree_addresses import Region, interrupts, regions
from hwdoc_ingest.device_trees.device_tree_nodes import Cell, DeviceTree, Node
from hwdoc_ingest.device_trees.device_tree_rates import assigned_rate, highest_point
from hwdoc_ingest.device_trees.device_tree_said import Said
from metainfer_core.spec.drafting.draft import Candidate

_OSCILLATOR = re.compile(
    r"osc|x?tal|crystal|xin|(?<![a-z])[hl]se(?![a-z])|(?<![a-z])xo(?![a-z])|(?<![a-z])cki[hl]|[hl]fxo|tcxo|ref-?clk",
    re.I,
)
_RC_OSCILLATOR = re.compile(
    r"(?<![a-z])([hlm]si|[fs]?irc|irc|rc|lprc|[hl]frc|[hl]frco|fro|frosc|lposc|iosc)(?![a-z])|internal-osc|rc[-_]?osc"
    r"|(?<![a-z])rc[-_]?(fast|slow)",
    re.I,
)
"""Names of oscillators inside the chip, which need no crystal."""
_OWN_BINDING = re.compile(r"-[hl]s[ei]-clock$")
"""How Zephyr names an oscillator that is more than a fixed clock."""
_FAST = 1_000_000
"""Hertz from which such an oscillator is the fast one."""
_SRAM = re.compile(r"sram|ocram|scratch", re.I)
_TCM = re.compile(r"(?<![a-z])[idab]?tcm", re.I)
_CCM = re.compile(r"ccm\d*$", re.I)
"""Core coupled memory, where the node is surely memory: elsewhere a clock controller."""
_MEMORY_PORT = re.compile(r"[abid]?tcm\d?|(l[12][pd]?)?s?ram\d?|l[12][pd]ram", re.I)
"""Names in `reg-names` of the memories that a processor in the chip shows at an address."""
_ROM = re.compile(r"^(boot-?)?rom\d*$", re.I)
_NPU = re.compile(r"(npu|rknn|ethosu?|kpu|nvdla|nna)[\d_]*", re.I)
_GPU = re.compile(r"(gpu|mali|adreno|powervr)[\d_]*", re.I)
_MODELS = (
    ("gpu", re.compile(r"arm,(mali-(?!bifrost|midgard|valhall).+)"), "-"),
    ("gpu", re.compile(r"qcom,(adreno-\d+)(\.\d+)?"), " "),
    ("gpu", re.compile(r"img,(powervr-[a-z]+\d+)"), " "),
    ("npu", re.compile(r"arm,(ethos-[a-z]\d+)"), "-"),
)
"""What `compatible` calls a model, and how its parts are joined in its name."""


def block_candidates(node: Node, tree: DeviceTree, said: Said) -> Iterator[Candidate]:
    """All that one node says about the block it stands for."""
    place = regions(node)
    memory = _memory(node, place, said)
    if memory:
        yield from memory
    else:
        yield from _registers(node, place, said)
    yield from _interrupts(node, tree, said)
    yield from _dma(node, said)
    yield from _flash(node, said)
    yield from _oscillator(node, said)
    yield from _accelerator(node, tree, said)
    yield from _controller(node, said)


def _state(node: Node) -> str:
    return "disabled in this file" if node.disabled else ""


def _place(region: Region) -> str:
    return f"address on {region.on_bus}, which stands in another file" if region.on_bus else ""


def _registers(node: Node, place: tuple[Region, ...], said: Said) -> Iterator[Candidate]:
    names = node.texts("reg-names")
    for index, region in enumerate(place):
        further = f" ({names[index]})" if index < len(names) else f" (reg {index + 1})"
        instance = node.title + further if index else node.title
        found = node.properties["reg"]
        condition = "; ".join(part for part in (_place(region), _state(node)) if part)
        confidence = 0.7 if region.on_bus else 0.99
        yield said(
            "mmio.base",
            region.base,
            found,
            cell=region.cell,
            instance=instance,
            condition=condition,
            confidence=confidence,
        )
        if region.size and index < len(names) and _MEMORY_PORT.fullmatch(names[index]):
            field = "memory.tcm.size_bytes" if _TCM.search(names[index]) else "memory.sram.size_bytes"
            memory = f"{node.title} ({names[index]})"
            yield said(field, region.size, found, cell=region.cell, instance=memory, condition=_state(node))


def _memory(node: Node, place: tuple[Region, ...], said: Said) -> list[Candidate]:
    """A node that is memory and no register block: its regions by name, base and size."""
    names = (node.generic_name, *node.labels, *node.texts("compatible"))
    external = "memory" in node.texts("device_type")
    rom = any(_ROM.match(name) for name in (node.generic_name, *node.labels))
    region_of_zephyr = "zephyr,memory-region" in names
    tight = any(_TCM.search(name) or (region_of_zephyr and _CCM.match(name)) for name in names)
    static = tight or any(_SRAM.search(name) for name in (node.generic_name, *node.labels)) or "mmio-sram" in names
    whole = node.parent if node.parent and "mmio-sram" in node.parent.texts("compatible") else None
    reserved = node.parent is not None and node.parent.name == "reserved-memory"
    controller = "controller" in node.name
    if not place or controller or not (external or rom or static or reserved or region_of_zephyr):
        return []
    candidates = []
    for index, region in enumerate(place):
        found, cell = node.properties["reg"], region.cell
        instance = _memory_name(node, index, len(place), cell)
        part = f"part of {whole.title}" if whole else ""
        condition = "reserved for software" if reserved else part or _place(region) or _state(node)
        sure = 0.7 if region.on_bus else 0.9
        candidates.append(
            said(
                "memory.region.base",
                region.base,
                found,
                cell=cell,
                instance=instance,
                condition=condition,
                confidence=sure,
            )
        )
        if not region.size:  # a size of 0 is a place that the boot loader fills in
            continue
        candidates.append(
            said("memory.region.size_bytes", region.size, found, cell=cell, instance=instance, condition=condition)
        )
        if whole:  # its bytes are counted with the whole
            continue
        if rom:
            field = "memory.rom.size_bytes"
        elif tight:
            field = "memory.tcm.size_bytes"
        elif static or _SRAM.search(instance):
            field = "memory.sram.size_bytes"
        elif external:
            field = "memory.dram.size_bytes"
        else:
            continue
        candidates.append(said(field, region.size, found, cell=cell, instance=instance, condition=condition))
    return candidates


def _memory_name(node: Node, index: int, count: int, cell: Cell) -> str:
    """The region's own name: from the comment on its line where several regions have one, else the node's."""
    if count > 1:
        word = re.match(r"[A-Za-z][\w-]*", cell.comment)
        return word[0] if word else f"{node.title} ({index + 1})"
    return node.title


def _interrupts(node: Node, tree: DeviceTree, said: Said) -> Iterator[Candidate]:
    found = node.properties.get("interrupts-extended") or node.properties.get("interrupts")
    for index, interrupt in enumerate(interrupts(node, tree)):
        if found is None:
            return
        further = f" ({interrupt.name})" if interrupt.name else f" (interrupt {index + 1})" if index else ""
        condition = "; ".join(part for part in (interrupt.numbering, _state(node)) if part)
        yield said(
            "interrupts.irq",
            interrupt.number,
            found,
            cell=interrupt.cell,
            instance=node.title + further,
            condition=condition,
            confidence=interrupt.sureness,
        )


def _dma(node: Node, said: Said) -> Iterator[Candidate]:
    if "#dma-cells" not in node.properties and not node.generic_name.startswith("dma"):
        return
    for names, field in (
        (("dma-channels", "#dma-channels"), "dma.channels"),
        (("dma-requests", "#dma-requests"), "dma.requests"),
        (("snps,axi-max-burst-len",), "dma.max_burst_beats"),
    ):
        found = next((node.properties[name] for name in names if name in node.properties), None)
        if found and found.number:
            yield said(field, found.number, found, instance=node.title, condition=_state(node), confidence=0.99)
    yield from _dma_width(node, said)
    sizes = node.properties.get("snps,block-size")
    if sizes and sizes.cells and len({cell.value for cell in sizes.cells}) == 1 and sizes.cells[0].value:
        yield said("dma.max_block_beats", sizes.cells[0].value, sizes, instance=node.title)


def _dma_width(node: Node, said: Said) -> Iterator[Candidate]:
    """Data width: the DesignWare bindings give the logarithm of the bytes, a later one plain bytes."""
    for name, encoded in (("snps,data-width", True), ("data_width", True), ("data-width", False)):
        found = node.properties.get(name)
        numbers = {cell.value for cell in found.cells} if found else set()
        number = next(iter(numbers)) if len(numbers) == 1 else None
        if found is None or number is None or not 0 <= number <= (16 if encoded else 1024):
            continue
        bits = 8 << number if encoded else 8 * number
        meaning = f"encoded: 2^{number} bytes" if encoded else f"{number} bytes"
        yield said("dma.data_width_bits", bits, found, instance=node.title, condition=meaning, confidence=0.95)
        return


def _flash(node: Node, said: Said) -> Iterator[Candidate]:
    """Flash in the chip; its address is often one of its controller, but its size is the same everywhere."""
    found = node.properties.get("reg")
    if "soc-nv-flash" not in node.texts("compatible") or found is None or len(found.cells) != 2:
        return
    size = found.cells[1]
    if size.value:
        yield said("memory.flash.size_bytes", size.value, found, cell=size, instance=node.title)


def _oscillator(node: Node, said: Said) -> Iterator[Candidate]:
    found = node.properties.get("clock-frequency")
    kinds = node.texts("compatible")
    if not any(kind == "fixed-clock" or _OWN_BINDING.search(kind) for kind in kinds) or not found or not found.number:
        return
    names = (node.generic_name, *node.labels, *node.texts("clock-output-names"), *node.texts("compatible"))
    if any(_RC_OSCILLATOR.search(name) for name in names):
        field = "clock.rc_fast_hz" if found.number >= _FAST else "clock.rc_hz"
        yield said(field, found.number, found, instance=node.title, confidence=0.9)
    elif any(_OSCILLATOR.search(name) for name in names):
        yield said("clock.xtal_hz", found.number, found, instance=node.title, confidence=0.9)


def _kind(node: Node) -> str | None:
    """`npu` or `gpu`, by the name of the node and, for what is no helper block, by `compatible`."""
    if not node.texts("compatible"):
        return None
    for kind, pattern in (("npu", _NPU), ("gpu", _GPU)):
        if node.generic_name == kind or (node.parent and node.labels and pattern.fullmatch(node.labels[0])):
            return kind
    return None


def _accelerator(node: Node, tree: DeviceTree, said: Said) -> Iterator[Candidate]:
    kind = _kind(node)
    if kind is None:
        return
    rate = assigned_rate(node)
    if rate:
        found, cell = rate
        condition = "rate that software assigns at boot, not the maximum"
        yield said(
            f"{kind}.clock_hz", cell.value, found, cell=cell, instance=node.title, condition=condition, confidence=0.5
        )
    highest = highest_point(node, tree)
    if highest:
        yield said(
            f"{kind}.clock_hz",
            None,
            highest.found,
            cell=highest.cell,
            instance=node.title,
            maximum=highest.rate_hz,
            condition=f"highest operating point of {highest.table}",
        )
    compatible = node.properties.get("compatible")
    model = next(filter(None, (_model(kind, name) for name in node.texts("compatible"))), "")
    if model and compatible:
        yield said(f"{kind}.model", model, compatible, confidence=0.85)


def _model(kind: str, compatible: str) -> str:
    for of, pattern, joint in _MODELS:
        match = pattern.fullmatch(compatible)
        if of == kind and match:
            return joint.join(_written(part) for part in match[1].split("-"))
    return ""


def _written(part: str) -> str:
    """A part of a model's name as its maker writes it: `sgx544` is SGX544."""
    if part == "powervr":
        return "PowerVR"
    return part.upper() if any(letter.isdigit() for letter in part) else part.capitalize()


def _controller(node: Node, said: Said) -> Iterator[Candidate]:
    found = node.properties.get("riscv,ndev")
    if found and found.number is not None:
        yield said("interrupts.external_count", found.number, found, instance=node.title, confidence=0.99)
    bits = node.properties.get("arm,num-irq-priority-bits")
    if bits and bits.number and bits.number <= 8:
        condition = f"derived: 2^{bits.number}"
        yield said("interrupts.priority_levels", 1 << bits.number, bits, instance=node.title, condition=condition)
    if "interrupt-controller" not in node.properties:
        return
    lines = next((each for name, each in sorted(node.properties.items()) if name.endswith("nr-irqs")), None)
    if lines and lines.number:
        yield said("interrupts.count", lines.number, lines, instance=node.title, confidence=0.9)
