"""Residual sums: those that cost more than they may be worth, and blocks that gradients hardly pass without one."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import onnx_ir as ir

from metainfer_core.actions.action import Reason
from metainfer_core.actions.rewiring import array_of, name_of, only_reader
from metainfer_core.actions.units import NoUnit, unit_for
from metainfer_core.graph.shapes import static_shape
from metainfer_core.policy.structure.change import StructureChange
from metainfer_core.policy.structure.place import Place, Work, change_of

LONGEST_BRANCH = 64
"""Nodes that a shortcut passes by, at most."""
DEEP = 12
"""Layers with weights from which on a model without any shortcut is hard to train (He et al. 2015)."""
LONGEST_BLOCK = 6
"""Nodes that a new shortcut passes by, at most."""
WEIGHTED = ("Conv", "Gemm", "MatMul")
VANISHING = 0.1
"""Of a gradient's power, which a block lets through at most to be given a shortcut."""
HALVING = ("Relu", "LeakyRelu", "PRelu", "Clip", "HardSwish", "Gelu", "Elu", "Mish")
"""Activations with next to no slope for half of what they read."""
POOLS = ("GlobalAveragePool", "GlobalMaxPool", "ReduceMean", "ReduceMax")
HE = "He et al. 2015, Delving Deep into Rectifiers, section 2.2: half of n * Var[w] for each layer with Relu"


class Residual(NamedTuple):
    """A sum of a branch with what the branch began from."""

    add: ir.Node
    branch: ir.Value
    skipped: ir.Value


def residuals(model: ir.Model) -> tuple[Residual, ...]:
    """All sums of two tensors of one shape, of which one is made from the other."""
    return tuple(found for node in model.graph if (found := _residual(node)) is not None)


def wiring_changes(model: ir.Model, place: Place) -> Iterator[StructureChange]:
    """Shortcuts to take out; in deep models without any, some around blocks that gradients hardly pass."""
    found = residuals(model)
    for residual in found:
        yield from _without(place, residual)
    layers = [node for node in model.graph if node.op_type in WEIGHTED and array_of(node.inputs[1]) is not None]
    runs = not isinstance(unit_for(place.spec, "Add", place.data_type, fall_back=False), NoUnit)
    if not found and len(layers) >= DEEP and runs:
        for block in _blocks(model):
            if (share := _gradient_share(block)) <= VANISHING:
                yield from _around(place, block, share)


def _residual(add: ir.Node) -> Residual | None:
    if add.op_type != "Add" or any(value is None or array_of(value) is not None for value in add.inputs):
        return None
    one, other = (value for value in add.inputs if value is not None)
    if one is other or static_shape(one) != static_shape(other):
        return None
    for branch, skipped in ((one, other), (other, one)):
        if _is_layer_of(branch, skipped):
            return Residual(add, branch, skipped)
    return None


def _is_layer_of(value: ir.Value, origin: ir.Value) -> bool:
    """Whether a layer with weights makes `value` of `origin`, in as many steps as a branch has at most.

    A sum of x with what is computed of x alone, such as x + 0.044715 x³ in a Gelu, is no shortcut.
    """
    waiting = [(value, False)]
    seen = set(waiting)
    for _ in range(LONGEST_BRANCH):
        if not waiting:
            break
        below, weighted = waiting.pop(0)
        producer = below.producer()
        if producer is None:
            continue
        weighted = weighted or producer.op_type in WEIGHTED
        for above in producer.inputs:
            if above is origin and weighted:
                return True
            if above is not None and above is not origin and (above, weighted) not in seen:
                seen.add((above, weighted))
                waiting.append((above, weighted))
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
        before = source.producer() if source is not None else None
        pooled = before is not None and before.op_type in POOLS  # a gate, not the way through the model
        if start in taken or start.op_type not in WEIGHTED or source is None or pooled:
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


def _gradient_share(block: tuple[ir.Node, ...]) -> float:
    """Of a gradient's power behind a block, what reaches its input, by the spread of its weights."""
    share = 1.0
    for node in block:
        weight = array_of(node.inputs[1]) if node.op_type in WEIGHTED else None
        if weight is not None:
            if node.op_type == "Conv":
                steps = math.prod(node.attributes.get_ints("strides", ()))
                reads = weight.shape[1] * node.attributes.get_int("group", 1) * steps
            else:
                reads = weight.shape[-1 if node.attributes.get_int("transB", 0) else -2]
            share *= float(np.square(weight.astype(np.float64)).sum()) / reads
        elif node.op_type == "BatchNormalization":
            scale, _, _, variance = (array_of(value) for value in node.inputs[1:5])
            if scale is not None and variance is not None:
                epsilon = node.attributes.get_float("epsilon", 1e-5)
                share *= float(np.mean(scale.astype(np.float64) ** 2 / (variance + epsilon)))
        elif node.op_type in HALVING:
            share /= 2
    return share


def _around(place: Place, block: tuple[ir.Node, ...], passes: float) -> Iterator[StructureChange]:
    first, last = str(block[0].name), str(block[-1].name)
    size = place.nodes[last].output_bytes
    now = place.work(last)
    change = change_of(place.price(now), place.price(now, Work(size / 4, 3 * size)))
    if change is None or place.total_us is None or not place.costs_little(change):
        return
    share = max(change[1], 0.0) / place.total_us
    yield StructureChange(
        change="add_residual",
        grade="needs review",
        nodes=(first, last) if first != last else (first,),
        sentence=f"Train with a shortcut from what {first} reads to what {last} gives.",
        why=(
            Reason(claim=f"About {passes:.1g} of a gradient's power gets back through these layers.", law=HE),
            place.bandwidth(f"{place.unit} runs Add, and the sum would take {share:.1%} of the model's time at most."),
        ),
        risk="What is skipped must be kept until the sum, and both must be quantized with one scale.",
        measure="Accuracy on held-out data, all ranges from the sum on, and the peak of memory.",
        predicted_time_us=change,
        predicted_bytes=place.bytes_as_run(3 * size),
    )
