"""Operators that the unit does not run, where a related one that it runs could be trained in their place."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import onnx_ir as ir

from metainfer_core.actions.activations import SpelledOut
from metainfer_core.actions.rewiring import array_of, nodes_by_id
from metainfer_core.actions.spelled_operators import spelled_operators
from metainfer_core.actions.units import NoUnit, unit_for
from metainfer_core.graph.shapes import static_shape
from metainfer_core.policy.structure.attention import Attention, attention_of
from metainfer_core.policy.structure.change import Grade, StructureChange
from metainfer_core.policy.structure.channels import misses
from metainfer_core.policy.structure.place import Place, Work, change_of

SAFE_ACTIVATIONS = ("LeakyRelu", "PRelu")
"""They differ from Relu by a slope below zero alone."""
REPLACED_ACTIVATIONS = (
    *SAFE_ACTIVATIONS,
    "HardSwish",
    "HardSigmoid",
    "Gelu",
    "Mish",
    "Elu",
    "Celu",
    "Selu",
    "Softplus",
)


class _Swap(NamedTuple):
    """One operator in the place of another."""

    change: str
    now: str
    trained: str
    needs: tuple[str, ...]
    """Operators that the unit must run for it."""
    grade: Grade
    risk: str
    measure: str


_LOST = "Values below zero are lost; the layers around it must learn to do without."
_CURVE = "The curve has another shape, so accuracy may drop, and more in deep models."
_SLOPE = "Values below zero reach the layers behind it, which have never seen any."
_SAMPLE = "Each sample was normalised by itself, and is so no longer: inputs unlike the training data may overflow."
_BATCH = "Statistics are taken anew for each sample, which takes time and, in few bits, precision."
_ACTIVATION = "Accuracy on held-out data, and ranges from this activation on: what was cut at zero may be so no longer."
_NORMAL = "Accuracy on held-out data, also of inputs unlike the training data, and all ranges behind it."
_SWAPS = (
    *(
        _Swap("activation", name, "Relu", ("Relu",), "safe" if name in SAFE_ACTIVATIONS else "needs review",
              _LOST if name in SAFE_ACTIVATIONS else _CURVE, _ACTIVATION)
        for name in REPLACED_ACTIVATIONS
    ),
    _Swap("activation", "Relu", "LeakyRelu", ("LeakyRelu",), "safe", _SLOPE, _ACTIVATION),
    _Swap("normalization", "LayerNormalization", "BatchNormalization", ("Mul", "Add"), "safe", _SAMPLE, _NORMAL),
    _Swap("normalization", "RMSNormalization", "BatchNormalization", ("Mul", "Add"), "needs review", _SAMPLE, _NORMAL),
    _Swap("normalization", "BatchNormalization", "LayerNormalization", ("LayerNormalization",), "safe",
          _BATCH, _NORMAL),
)  # fmt: skip


def operator_changes(model: ir.Model, place: Place) -> Iterator[StructureChange]:
    """Activations and normalizations that the unit lacks; heads of attention whose width misses its multiple."""
    for name, node in nodes_by_id(model).items():
        for swap in _SWAPS:
            if node.op_type == swap.now and _can_be(node, swap) and not _runs(place, swap.now):
                if all(_runs(place, each) for each in swap.needs):
                    yield _swapped(place, (name,), swap, swap.now)
                break
    for spelled in spelled_operators(model):
        yield from _spelled(place, spelled)
    for node in model.graph:
        attention = attention_of(node) if node.op_type == "Softmax" else None
        if attention is not None:
            yield from _heads(place, attention)


def _spelled(place: Place, spelled: SpelledOut) -> Iterator[StructureChange]:
    """Of an operator in several nodes, where the unit runs neither it nor all of them."""
    op_types = [node.op_type for node in spelled.nodes]
    lost = next((each for each in op_types if not _runs(place, each)), None)
    runs_whole = not spelled.lacking and _runs(place, spelled.op_type)
    swap = next((each for each in _SWAPS if each.now == spelled.op_type), None)
    if lost is None or runs_whole or swap is None or not all(_runs(place, each) for each in swap.needs):
        return
    if swap.change == "activation" or spelled.attributes["axis"] == -1:
        yield _swapped(place, tuple(str(node.name) for node in spelled.nodes), swap, lost)


def _runs(place: Place, op_type: str) -> bool:
    return not isinstance(unit_for(place.spec, op_type, place.data_type, fall_back=False), NoUnit)


def _can_be(node: ir.Node, swap: _Swap) -> bool:
    """Normalizations with constants, LayerNormalization over the last axis; no BatchNormalization that folds away."""
    if swap.change == "activation":
        return True
    if any(array_of(value) is None for value in node.inputs[1:] if value is not None) or len(node.outputs) != 1:
        return False
    rank = len(static_shape(node.outputs[0]) or ())
    if node.op_type == "LayerNormalization":
        return rank > 1 and node.attributes.get_int("axis", -1) in (-1, rank - 1)
    before = node.inputs[0].producer() if node.inputs[0] is not None else None
    return rank > 2 and (before is None or before.op_type not in ("Conv", "ConvTranspose"))


def _swapped(place: Place, names: tuple[str, ...], swap: _Swap, lost: str) -> StructureChange:
    """The swap for these nodes, one of which, of type `lost`, the unit does not run."""
    reason = unit_for(place.spec, lost, place.data_type, fall_back=False)
    assert isinstance(reason, NoUnit)
    elsewhere = unit_for(place.spec, lost, "float32")
    works = [place.work(name) for name in names]
    before = None if isinstance(elsewhere, NoUnit) else place.float_price(elsewhere, *works)
    cost = place.nodes[names[-1]]
    after = [Work(cost.output_bytes / 4, cost.moved_bytes) for _ in swap.needs]
    return StructureChange(
        change="activation" if swap.change == "activation" else "normalization",
        grade=swap.grade,
        nodes=names,
        params={"from": swap.now, "to": swap.trained},
        sentence=f"Train with {swap.trained} in place of {swap.now} at {names[0]}.",
        why=(place.because(reason.reason, reason.spec_field),),
        risk=swap.risk,
        measure=swap.measure,
        predicted_time_us=change_of(before, place.price(*after)),
        predicted_bytes=place.bytes_as_run(sum(each.moved for each in after) - sum(each.moved for each in works)),
    )


def _heads(place: Place, attention: Attention) -> Iterator[StructureChange]:
    """Fewer and wider heads, where the width of one is no multiple of what the unit works in."""
    multiple = place.spec.compute_units[place.unit].channel_multiple
    whole = attention.heads * attention.width
    if not multiple or attention.width % multiple == 0:
        return
    wider = [width for width in range(multiple, whole + 1, multiple) if whole % width == 0 and width > attention.width]
    if not wider:
        return
    heads = whole // wider[0]
    before, after = [], []
    for node in attention.nodes:
        if node in attention.splits:
            continue
        now, is_product = place.work(str(node.name)), node in attention.products
        scores = _score_bytes(attention) * (1 if is_product else now.moved / _score_bytes(attention))
        less = scores * (1 - heads / attention.heads)
        share = 1 if is_product else heads / attention.heads
        before.append(now)
        after.append(Work(now.operations * share, max(now.moved - less, 0)))
    yield StructureChange(
        change="heads",
        grade="needs review",
        nodes=tuple(str(node.name) for node in attention.nodes),
        params={"from": attention.heads, "to": heads},
        sentence=f"Train with {heads} in place of {attention.heads} heads of attention at {attention.softmax.name}.",
        why=(misses(place, attention.width, multiple),),
        risk="Fewer heads look at fewer things at once; what each has learnt is mixed with others'.",
        measure="Accuracy on held-out data, by length of input too, and the ranges of scores before the softmax.",
        predicted_time_us=change_of(place.price(*before), place.price(*after)),
        predicted_bytes=place.bytes_as_run(sum(each.moved for each in after) - sum(each.moved for each in before)),
    )


def _score_bytes(attention: Attention) -> float:
    """Bytes of one tensor of scores in float32."""
    total = 4.0
    for extent in static_shape(attention.softmax.outputs[0]) or ():
        total *= extent
    return total
