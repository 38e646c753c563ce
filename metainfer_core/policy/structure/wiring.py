"""Residual sums: those that cost more than they may be worth, and places where one would cost next to nothing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import onnx_ir as ir

from metainfer_core.actions.rewiring import array_of, name_of, only_reader
from metainfer_core.actions.units import NoUnit, unit_for
from metainfer_core.graph.shapes import static_shape
from metainfer_core.policy.structure.change import StructureChange
from metainfer_core.policy.structure.place import Place, Work, change_of

LONGEST_BRANCH = 64
"""Nodes that a shortcut passes by, at most."""
DEEP = 12
"""Layers with weights from which on a model without any shortcut is hard to train (He et al. 2015)."""
MOST_COST = 0.05
"""Of the model's predicted time, which a new shortcut may take at worst."""
LONGEST_BLOCK = 6
"""Nodes that a new shortcut passes by, at most."""
WEIGHTED = ("Conv", "Gemm", "MatMul")


class Residual(NamedTuple):
    """A sum of a branch with what the branch began from."""

    add: ir.Node
    branch: ir.Value
    skipped: ir.Value


def residuals(model: ir.Model) -> tuple[Residual, ...]:
    """All sums of two tensors of one shape, of which one is made from the other."""
    return tuple(found for node in model.graph if (found := _residual(node)) is not None)


def wiring_changes(model: ir.Model, place: Place) -> Iterator[StructureChange]:
    """Shortcuts to take out; in deep models without any, places to put some."""
    found = residuals(model)
    for residual in found:
        yield from _without(place, residual)
    layers = [node for node in model.graph if node.op_type in WEIGHTED and array_of(node.inputs[1]) is not None]
    runs = not isinstance(unit_for(place.spec, "Add", place.data_type, fall_back=False), NoUnit)
    if not found and len(layers) >= DEEP and runs:
        for block in _blocks(model):
            yield from _around(place, block)


def _residual(add: ir.Node) -> Residual | None:
    if add.op_type != "Add" or any(value is None or array_of(value) is not None for value in add.inputs):
        return None
    one, other = (value for value in add.inputs if value is not None)
    if one is other or static_shape(one) != static_shape(other):
        return None
    for branch, skipped in ((one, other), (other, one)):
        if _is_made_from(branch, skipped):
            return Residual(add, branch, skipped)
    return None


def _is_made_from(value: ir.Value, origin: ir.Value) -> bool:
    """Whether `origin` is found on the way up, in as many steps as a branch has at most."""
    seen: set[ir.Value] = {value}
    waiting = [value]
    for _ in range(LONGEST_BRANCH):
        producer = waiting.pop(0).producer() if waiting else None
        for above in producer.inputs if producer is not None else ():
            if above is origin:
                return True
            if above is not None and above not in seen:
                seen.add(above)
                waiting.append(above)
    return False


def _without(place: Place, residual: Residual) -> Iterator[StructureChange]:
    name, before = str(residual.add.name), residual.branch.producer()
    if before is None:
        return
    first, total = place.work(str(before.name)), place.work(name)
    change = change_of(place.price(first, total), place.price(first))
    if not place.is_worth_it(change):
        return
    moved = place.bytes_as_run(total.moved)
    yield StructureChange(
        change="remove_residual",
        grade="needs review",
        nodes=(name,),
        params={"kept": name_of(residual.branch)},
        sentence=f"Train without the shortcut from {name_of(residual.skipped)} to {name}.",
        why=(place.bandwidth(f"The sum moves {moved:,} bytes for one addition a value."),),
        risk="Layers before it learn more slowly without the shortcut; deep models may not train back.",
        measure="Accuracy on held-out data, and all ranges from the sum on, which become smaller.",
        predicted_time_us=change,
        predicted_bytes=-moved,
    )


def _blocks(model: ir.Model) -> Iterator[tuple[ir.Node, ...]]:
    """Runs of nodes, one reading the other, with two layers or more, that give the shape that they read."""
    taken: set[ir.Node] = set()
    for start in model.graph:
        source = start.inputs[0] if start.inputs else None
        if start in taken or start.op_type not in WEIGHTED or source is None:
            continue
        chain, wanted = [start], static_shape(source)
        best: tuple[ir.Node, ...] = ()
        while len(chain) <= LONGEST_BLOCK:
            layers = sum(node.op_type in WEIGHTED for node in chain)
            last = chain[-1]
            if layers >= 2 and static_shape(last.outputs[0]) == wanted and last.op_type not in WEIGHTED:
                best = tuple(chain)
                break
            after = only_reader(last.outputs[0])
            if after is None or after.inputs[0] is not last.outputs[0]:
                break
            chain.append(after)
        if best and wanted is not None and not best[-1].outputs[0].is_graph_output():
            taken.update(best)
            yield best


def _around(place: Place, block: tuple[ir.Node, ...]) -> Iterator[StructureChange]:
    first, last = str(block[0].name), str(block[-1].name)
    size = place.nodes[last].output_bytes
    now = place.work(last)
    change = change_of(place.price(now), place.price(now, Work(size / 4, 3 * size)))
    if change is None or place.total_us is None or change[1] > MOST_COST * place.total_us:
        return
    share = max(change[1], 0.0) / place.total_us
    yield StructureChange(
        change="add_residual",
        grade="needs review",
        nodes=(first, last) if first != last else (first,),
        sentence=f"Train with a shortcut from what {first} reads to what {last} gives.",
        why=(
            place.bandwidth(f"{place.unit} runs Add, and the sum would take {share:.1%} of the model's time at most."),
        ),
        risk="What is skipped must be kept until the sum, and both must be quantized with one scale.",
        measure="Accuracy on held-out data, all ranges from the sum on, and the peak of memory.",
        predicted_time_us=change,
        predicted_bytes=place.bytes_as_run(3 * size),
    )
