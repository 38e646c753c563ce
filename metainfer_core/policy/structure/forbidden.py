"""What would suit the unit and is not to be changed: shapes of inputs, and what family of model it is."""

from __future__ import annotations

from collections.abc import Iterator

import onnx_ir as ir

from metainfer_core.actions.action import Reason
from metainfer_core.actions.rewiring import readers
from metainfer_core.actions.units import NoUnit, unit_for
from metainfer_core.graph.shapes import static_shape
from metainfer_core.policy.structure.attention import attention_of
from metainfer_core.policy.structure.change import StructureChange
from metainfer_core.policy.structure.channels import misses
from metainfer_core.policy.structure.place import Place

OF_A_TRANSFORMER = ("MatMul", "Softmax")


def forbidden_changes(model: ir.Model, place: Place) -> Iterator[StructureChange]:
    """Listed with the reason, so that nobody has to find it out again."""
    multiple = place.spec.compute_units[place.unit].channel_multiple
    for value in model.graph.inputs:
        shape = static_shape(value)
        conv = next((each for each in readers(value) if each.op_type == "Conv"), None)
        if multiple and conv is not None and shape is not None and shape[1] % multiple:
            yield StructureChange(
                change="input_shape",
                grade="forbidden",
                nodes=(str(conv.name),),
                params={"from": shape[1]},
                sentence=f"The {shape[1]} channels of the input {value.name} stay as they are.",
                why=(misses(place, shape[1], multiple), Reason(claim="Whoever gives the inputs gives this shape.")),
                risk="Whatever makes the inputs would have to make others.",
                then="Leave it: the unit's unused lanes are the price.",
            )
    yield from _family(model, place)


def _family(model: ir.Model, place: Place) -> Iterator[StructureChange]:
    attention = next((each for each in model.graph if attention_of(each) is not None), None)
    conv = next((each for each in model.graph if each.op_type == "Conv"), None)
    wanted = OF_A_TRANSFORMER if attention is not None else ("Conv",)
    lost = [unit_for(place.spec, op_type, place.data_type, fall_back=False) for op_type in wanted]
    missing = next((each for each in lost if isinstance(each, NoUnit)), None)
    node = attention or conv
    if node is None or missing is None:
        return
    now, other = ("Transformer", "CNN") if attention is not None else ("CNN", "Transformer")
    yield StructureChange(
        change="family",
        grade="forbidden",
        nodes=(str(node.name),),
        params={"from": now, "to": other},
        sentence=f"The model stays a {now}: it is not made a {other}.",
        why=(place.because(missing.reason, missing.spec_field),),
        risk="That would be another model, with nothing of what this one has learnt.",
        then="Choose another model for this unit, or let another unit run these nodes.",
    )
