"""Blocks, memories, DMA controllers, clocks and accelerators in a device tree."""

from __future__ import annotations

import re
from collections.abc import Iterator

from hwdoc_ingest.device_trees.device_tree_addresses import Region, interrupts, regions
from hwdoc_ingest.device_trees.device_tree_nodes import Cell, DeviceTree, Node
from hwdoc_ingest.device_trees.device_tree_rates import assigned_rate, highest_point
from hwdoc_ingest.device_trees.device_tree_said import Said
from metainfer_core.spec.draft import Candidate

_OSCILLATOR = re.compile(r"osc|xtal|crystal|xin|(?<![a-z])[hl]s[ei](?![a-z])|tcxo|ref-?clk", re.I)
_SRAM = re.compile(r"sram|ocram|scratch|\bitcm|\bdtcm|tcm", re.I)
_ROM = re.compile(r"^(boot-?)?rom\d*$", re.I)
_NPU = re.compile(r"npu|rknn|ethos|\bkpu|nvdla|nna\b", re.I)
_GPU = re.compile(r"gpu|mali|adreno|powervr", re.I)


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


def _memory(node: Node, place: tuple[Region, ...], said: Said) -> list[Candidate]:
    """A node that is memory and no register block: its regions by name, base and size."""
    names = (node.generic_name, *node.labels, *node.texts("compatible"))
    external = "memory" in node.texts("device_type")
    rom = any(_ROM.match(name) for name in (node.generic_name, *node.labels))
    static = any(_SRAM.search(name) for name in (node.generic_name, *node.labels)) or "mmio-sram" in names
    reserved = node.parent is not None and node.parent.name == "reserved-memory"
    controller = "controller" in node.name
    if not place or controller or not (external or rom or static or reserved):
        return []
    candidates = []
    for index, region in enumerate(place):
        found, cell = node.properties["reg"], region.cell
        instance = _memory_name(node, index, len(place), cell)
        condition = "reserved for software" if reserved else _place(region) or _state(node)
        candidates.append(
            said("memory.region.base", region.base, found, cell=cell, instance=instance, condition=condition)
        )
        if region.size is None:
            continue
        candidates.append(
            said("memory.region.size_bytes", region.size, found, cell=cell, instance=instance, condition=condition)
        )
        if rom:
            field = "memory.rom.size_bytes"
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
        if found and found.number is not None:
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


def _oscillator(node: Node, said: Said) -> Iterator[Candidate]:
    found = node.properties.get("clock-frequency")
    if "fixed-clock" not in node.texts("compatible") or found is None or not found.number:
        return
    names = (node.generic_name, *node.labels, *node.texts("clock-output-names"))
    if any(_OSCILLATOR.search(name) for name in names):
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
    models = [name for name in node.texts("compatible") if re.match(r"arm,mali-(?!bifrost|midgard|valhall)", name)]
    if kind == "gpu" and models and compatible:
        model = "-".join(part.capitalize() for part in models[0].partition(",")[2].split("-"))
        yield said("gpu.model", model, compatible, confidence=0.85)


def _controller(node: Node, said: Said) -> Iterator[Candidate]:
    found = node.properties.get("riscv,ndev")
    if found and found.number is not None:
        yield said("interrupts.external_count", found.number, found, instance=node.title, confidence=0.99)
