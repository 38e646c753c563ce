"""What was approved against what was built, node by node, in both directions. It knows no planner and no lowering.

Forward: each approved action is found in the realised graph. Backward: nothing in the realised graph lowers a
precision or fuses nodes without an approved action.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from metainfer_core.actions.action import Action
from metainfer_core.codegen.built import CONVERSIONS, Built, difference
from metainfer_core.codegen.channel_differences import finer_differences
from metainfer_core.codegen.layout_differences import not_laid_out, unapproved_layouts
from metainfer_core.codegen.loop_differences import not_written_out, unapproved_loops
from metainfer_core.codegen.part_differences import (
    kernel_not_in_parts,
    not_enlarged,
    not_in_factors,
    not_in_parts,
    padded_differently,
)
from metainfer_core.codegen.staging_differences import not_early, not_tiled, unapproved_staging
from metainfer_core.figures import told_apart
from metainfer_core.verify.realised_graph import RealisedGraph, RealisedStep, RealisedTensor
from metainfer_core.verify.report import Difference
from metainfer_core.verify.unlaid import unlaid
from metainfer_core.verify.unstaged import unstaged

WEIGHTED = ("Conv", "ConvTranspose", "Gemm", "MatMul")
JOINING = ("fuse", "fold_batch_norm", "fold_pad", "cancel_transposes", "merge_siblings")
"""Kinds that let one step compute several nodes."""
REPLACING = ("decompose", "factor_weights", "split", "split_kernel", "merge_siblings")
"""Kinds that put new nodes in the place of some; the names of the pieces begin with the first one's name and a dot."""
UNIT_CHOOSING = ("fuse", "quantize", "half_precision", "store_low_bit", "keep_float", "decompose")
"""Kinds whose `target_hw` is the unit that runs their nodes; of several actions on a node the last one decides."""
FORMS = ("", ".quantized", ".dequantized", ".int8")
"""What a tensor's name may end in when it is stored in another form."""
WEIGHT_TYPES = {4: "int4", 6: "int6", 8: "int8"}
"""Bits of a weight's code to the type of a tensor of weights."""
SCALE_TOLERANCE = 0.02


def differences(
    actions: Sequence[Action], realised: RealisedGraph, op_types: Mapping[str, str]
) -> tuple[Difference, ...]:
    """Everything in which the built program is not what was approved; empty if it is exactly that.

    Args:
        actions: The approved actions as they are to be done, without those that are switched off.
        realised: Read back from the built binary.
        op_types: Node id to operator type, of the preprocessed model that the actions were approved for.
    """
    laid = unstaged(realised)
    whole = unlaid(laid)
    padded = {action.nodes[0]: action.params["padded"] for action in actions if action.kind == "pad_channels"}
    built = Built(whole, {tensor.name: tensor for tensor in whole.tensors}, op_types, padded, realised, laid)
    forward = [found for action in actions for found in _unrealised(action, built)]
    backward = (
        _uncovered(actions, built),
        _unapproved_precision(actions, built),
        _unapproved_half(actions, built),
        _unapproved_packing(actions, built),
        _unapproved_fusion(actions, built),
        unapproved_staging(actions, realised),
        unapproved_layouts(actions, laid),
        unapproved_loops(actions, realised),
    )
    return (*forward, *_on_another_unit(actions, built), *(found for check in backward for found in check))


def _unrealised(action: Action, built: Built) -> Iterator[Difference]:
    check = CHECKS.get(action.kind)
    if check is None:
        yield difference(action, action.nodes[0], action.kind, "no check knows this kind of action")
    else:
        yield from check(action, built)


def _members(action: Action) -> tuple[str, ...]:
    """The nodes of an action, those included that a plain policy names in `with`."""
    return tuple(dict.fromkeys((*action.nodes, *action.params.get("with", ()))))


def _in_one_step(action: Action, built: Built) -> Iterator[Difference]:
    """All nodes of the action are computed by one call."""
    members = _members(action)
    if not built.steps(members[0]):
        yield difference(action, members[0], "computed", "no step computes it")
    for node in members[1:]:
        with_first = [step for step in built.steps(node) if action.nodes[0] in step.node_ids]
        if not with_first:
            kernels = ", ".join(step.kernel for step in built.steps(node)) or "nothing"
            yield difference(action, node, f"computed in one step with {action.nodes[0]}", f"computed by {kernels}")


def _cancelled(action: Action, built: Built) -> Iterator[Difference]:
    """The last Transpose moves nothing on its own: it is gone, or is one with the first."""
    first, last = action.nodes[0], action.nodes[-1]
    for step in built.steps(last):
        if first not in step.node_ids:
            yield difference(action, last, f"cancelled, or one with {first}", f"computed by {step.kernel}")


def _quantized(action: Action, built: Built) -> Iterator[Difference]:
    """Each node runs on 8-bit integers, scaled as finely, as symmetrically and over the range that was approved."""
    for node in action.nodes:
        steps = [step for step in built.steps(node) if not step.kernel.startswith(CONVERSIONS)]
        if not steps:
            yield difference(action, node, "a step on integers", "no step computes it")
        for step in steps:
            bits = action.params.get("bit_width", 8)
            kinds = ("int8", "uint8") if bits == 8 else (f"int{bits}",)
            other = [t for t in built.activations(step) if t.granularity is None or t.element_type not in kinds]
            if other:
                got = f"{step.kernel} on {other[0].element_type} ({other[0].name})"
                yield difference(action, node, f"an {kinds[0].upper()} step", got)
                continue
            yield from _scaled_as_approved(action, node, step, built)


def _scaled_as_approved(action: Action, node: str, step: RealisedStep, built: Built) -> Iterator[Difference]:
    wanted = "channel" if action.params.get("scheme", "channel_wise") == "channel_wise" else "tensor"
    outputs = [built.tensors[name] for name in step.outputs if name]
    if built.op_types.get(node) in WEIGHTED:
        axis = 1 if "Conv" in built.op_types[node] else -1
        is_single = bool(outputs) and len(outputs[0].shape) > 1 and outputs[0].shape[axis] == 1
        for tensor in (one for one in built.constants(step) if one.element_type in WEIGHT_TYPES.values()):
            if tensor.granularity not in (None, wanted) and not is_single:
                yield difference(action, node, f"weights scaled by {wanted}", f"{tensor.name} by {tensor.granularity}")
            if tensor.symmetric is False:
                yield difference(action, node, "weights with zero point 0", f"{tensor.name} has another zero point")
            due = _weight_type(action)
            if tensor.granularity is not None and tensor.element_type != due:
                yield difference(action, node, f"weights of {due}", f"{tensor.name} of {tensor.element_type}")
    inherited = {(tensor.scales, tensor.zero_points) for tensor in built.activations(step) if tensor not in outputs}
    for tensor in outputs:
        if (tensor.scales, tensor.zero_points) in inherited:
            continue  # what moves values keeps the scale of its input, which another action decided
        if action.params.get("symmetric") and not tensor.symmetric:
            yield difference(
                action, node, "activations with zero point 0", f"{tensor.name} has {tensor.zero_points[0]}"
            )
        yield from _range_as_approved(action, node, tensor)
    for approved, got in finer_differences(action, node, step, built.activations(step)):
        yield difference(action, node, approved, got)


def _weight_type(action: Action) -> str:
    """The type that weights of an action have: codes of 4 and 6 bits are told apart, other widths are INT8."""
    bits = action.params.get("weight_bits") or min(int(action.params.get("bit_width", 8)), 8)
    return WEIGHT_TYPES.get(max(int(bits), 4), "int8")


def _range_as_approved(action: Action, node: str, tensor: RealisedTensor) -> Iterator[Difference]:
    ranges = action.params.get("ranges", {})
    span = ranges.get(tensor.name, ranges.get(tensor.name.removesuffix(".quantized")))
    if span is None or len(tensor.scales) != 1:
        return
    low, high = min(0.0, *span), max(0.0, *span)
    codes = 1 << int(action.params.get("bit_width", 8))
    steps = float(codes - 2 if action.params.get("symmetric") else codes - 1)
    width = 2 * max(-low, high) if action.params.get("symmetric") else high - low
    if width > 0 and abs(tensor.scales[0] * steps / width - 1) > SCALE_TOLERANCE:
        needed, scale = told_apart(width / steps, tensor.scales[0], ".4g")
        approved = f"{tensor.name} over [{low:g}, {high:g}]: a scale of {needed}"
        yield difference(action, node, approved, f"a scale of {scale}")


def _on_integers(action: Action, built: Built) -> Iterator[Difference]:
    """The layer runs on integers: only there its rounding can be mended."""
    for node in action.nodes:
        steps = [step for step in built.steps(node) if not step.kernel.startswith(CONVERSIONS)]
        if not steps or not all(built.is_quantized(step) for step in steps):
            kernels = ", ".join(step.kernel for step in steps) or "no step"
            yield difference(action, node, "a step on integers", f"computed by {kernels}")


def _float(action: Action, built: Built) -> Iterator[Difference]:
    """Each node runs on floats."""
    for node in action.nodes:
        steps = built.steps(node)
        if not steps:
            yield difference(action, node, "a float32 step", "no step computes it")
        for step in steps:
            narrow = [tensor for tensor in built.activations(step) if tensor.granularity or _is_half(tensor)]
            if narrow and not step.kernel.startswith(CONVERSIONS):
                got = f"{step.kernel} on {narrow[0].element_type} ({narrow[0].name})"
                yield difference(action, node, "a float32 step", got)


def _half(action: Action, built: Built) -> Iterator[Difference]:
    """Each node runs on the approved 16-bit floats, and on nothing wider."""
    wanted = action.params.get("format", "float16")
    for node in action.nodes:
        steps = [step for step in built.steps(node) if not step.kernel.startswith(CONVERSIONS)]
        if not steps:
            yield difference(action, node, f"a {wanted} step", "no step computes it")
        for step in steps:
            floats = [tensor for tensor in built.activations(step) if "float" in tensor.element_type]
            other = [tensor for tensor in floats if tensor.element_type != wanted]
            if other or not floats:
                got = f"{step.kernel} on {other[0].element_type} ({other[0].name})" if other else step.kernel
                yield difference(action, node, f"a {wanted} step", got)


def _packed(action: Action, built: Built) -> Iterator[Difference]:
    """The node's kernel unpacks weights of as many bits as were approved."""
    node, bits = action.nodes[0], action.params.get("bits", 4)
    steps = [step for step in built.steps(node) if not step.kernel.startswith(CONVERSIONS)]
    if not any(step.kernel.endswith(f"_int{bits}") for step in steps):
        kernels = ", ".join(step.kernel for step in steps) or "nothing"
        yield difference(action, node, f"weights of {bits} bits", f"computed by {kernels}")


def _is_half(tensor: RealisedTensor) -> bool:
    return tensor.element_type in ("float16", "bfloat16")


def _covered(action: Action, built: Built) -> Iterator[Difference]:
    """Each node is computed, by whatever replaces it."""
    for node in action.nodes:
        if not built.steps(node):
            yield difference(action, node, action.kind, "no step computes it")


def _bound(action: Action, built: Built) -> Iterator[Difference]:
    """The input has the approved shape."""
    name = str(action.params.get("input", action.nodes[0]))
    shape = tuple(action.params["shape"])
    tensor = built.tensors.get(name)
    if tensor is None or name not in built.graph.inputs:
        yield difference(action, name, f"an input of shape {list(shape)}", "no such input")
    elif tensor.shape != shape:
        yield difference(action, name, f"an input of shape {list(shape)}", f"shape {list(tensor.shape)}")


def _placed(action: Action, built: Built) -> Iterator[Difference]:
    """Each tensor, in every form in which it is stored, lies in the approved memory."""
    for name, memory in action.params["memory"].items():
        stored = [built.tensors[name + form] for form in FORMS if name + form in built.tensors]
        if not stored:
            yield difference(action, action.nodes[0], f"{name} in {memory}", f"{name} is not stored")
        for tensor in stored:
            if tensor.memory != memory:
                got = f"{tensor.name} in {tensor.memory or 'the weights'}"
                yield difference(action, action.nodes[0], f"{name} in {memory}", got)


def _as_one(action: Action, built: Built) -> Iterator[Difference]:
    """One call with weights computes all the layers, and whatever computes one of their activations computes all."""
    weighted = [node for node in action.nodes if built.op_types.get(node) in WEIGHTED]
    for node in weighted:
        layers = [step for step in built.steps(node) if built.constants(step)]
        if len(layers) != 1 or not set(weighted) <= set(layers[0].node_ids):
            kernels = ", ".join(step.kernel for step in layers) or "nothing"
            yield difference(action, node, f"one layer of {', '.join(weighted)}", f"computed by {kernels}")
    activations = [node for node in action.nodes if node not in weighted]
    for node in activations:
        steps = built.steps(node)
        if not steps or any(not set(activations) <= set(step.node_ids) for step in steps):
            kernels = ", ".join(step.kernel for step in steps) or "nothing"
            yield difference(action, node, f"one step of {', '.join(activations)}", f"computed by {kernels}")


CHECKS: dict[str, Callable[[Action, Built], Iterator[Difference]]] = {
    "fold_batch_norm": _in_one_step,
    "fold_pad": _in_one_step,
    "cancel_transposes": _cancelled,
    "fuse": _in_one_step,
    "quantize": _quantized,
    "round_weights": _on_integers,
    "correct_bias": _on_integers,
    "half_precision": _half,
    "store_low_bit": _packed,
    "keep_float": _float,
    "decompose": _covered,
    "factor_weights": not_in_factors,
    "split": not_in_parts,
    "split_kernel": kernel_not_in_parts,
    "enlarge_kernel": not_enlarged,
    "merge_siblings": _as_one,
    "equalise": _covered,
    "bind_shape": _bound,
    "place": _placed,
    "pad_channels": padded_differently,
    "layout": lambda action, built: not_laid_out(action, built.laid),
    "unroll": lambda action, built: not_written_out(action, built.staged),
    "branch_hint": lambda action, built: not_written_out(action, built.staged),
    "tile": lambda action, built: not_tiled(action, built.staged),
    "prefetch": lambda action, built: not_early(action, built.staged),
}


def _on_another_unit(actions: Sequence[Action], built: Built) -> Iterator[Difference]:
    """Each node runs on the compute unit that was approved for it."""
    approved: dict[str, Action] = {}
    for action in actions:
        if action.kind in UNIT_CHOOSING and action.params.get("target_hw"):
            approved.update({node: action for node in _members(action)})
    for node, action in approved.items():
        for step in built.steps(node):
            if step.unit != action.params["target_hw"] and step.kernel != "view":
                yield difference(action, node, f"on {action.params['target_hw']}", f"{step.kernel} on {step.unit}")


def _uncovered(actions: Sequence[Action], built: Built) -> Iterator[Difference]:
    """No node of the model is lost, and no step computes something that the model does not have."""
    covered = {node for step in built.graph.steps for node in step.node_ids}
    cancelled = (action.nodes for action in actions if action.kind == "cancel_transposes")
    covered |= {node for nodes in cancelled if len(nodes) == 2 for node in nodes}  # nothing between them bears the two
    for node, op_type in built.op_types.items():
        if node not in covered:
            yield Difference(node_id=node, approved=f"{op_type} is computed", realised="no step computes it")
    for step in built.graph.steps:
        is_known = any(node in built.op_types for node in step.node_ids)
        if not is_known and not step.kernel.startswith(CONVERSIONS):
            place = step.node_ids[0] if step.node_ids else step.kernel
            yield Difference(node_id=place, approved="nothing", realised=f"a step {step.kernel}")


def _unapproved_precision(actions: Sequence[Action], built: Built) -> Iterator[Difference]:
    """No node runs on quantized values unless an action, or the model itself, says so."""
    if any(op_type in ("QuantizeLinear", "DynamicQuantizeLinear") for op_type in built.op_types.values()):
        return
    approved = _reached("quantize", actions, built)
    for step in built.graph.steps:
        is_rounded = built.is_quantized(step) and not built.only_moves(step)
        for node in step.node_ids:
            if node in built.op_types and node not in approved and is_rounded:
                yield Difference(node_id=node, approved="float32", realised=f"{step.kernel} on quantized values")


def _unapproved_half(actions: Sequence[Action], built: Built) -> Iterator[Difference]:
    """No node runs on 16-bit floats unless an action, or the model itself, says so."""
    if "Cast" in built.op_types.values() or any(_is_half(built.tensors[name]) for name in built.graph.inputs):
        return  # the model may hold them itself
    approved = _reached("half_precision", actions, built)
    for step in built.graph.steps:
        narrow = next((tensor for tensor in built.activations(step) if _is_half(tensor)), None)
        if narrow is None or step.kernel.startswith(CONVERSIONS):
            continue
        for node in step.node_ids:
            if node in built.op_types and node not in approved:
                yield Difference(node_id=node, approved="float32", realised=f"{step.kernel} on {narrow.element_type}")


def _reached(kind: str, actions: Sequence[Action], built: Built) -> set[str]:
    """Nodes that the actions of a kind are about: named, in pieces that are named, or joined with one of these."""
    named = {node for action in actions if action.kind == kind for node in action.nodes}
    named |= _wholes(named, actions)
    groups = _joined(actions, built)
    return named.union(*(groups[node] for node in named if node in groups))


def _unapproved_packing(actions: Sequence[Action], built: Built) -> Iterator[Difference]:
    """No node's weights are stored in few bits unless an action says so."""
    approved = {action.nodes[0] for action in actions if action.kind == "store_low_bit"}
    approved |= _wholes(approved, actions)
    for step in built.graph.steps:
        nodes = [node for node in step.node_ids if node in built.op_types]
        if step.kernel.endswith(("_int4", "_int6")) and nodes and not approved.intersection(nodes):
            yield Difference(node_id=nodes[0], approved="weights in float32", realised=f"computed by {step.kernel}")


def _unapproved_fusion(actions: Sequence[Action], built: Built) -> Iterator[Difference]:
    """No step computes several nodes that no approved actions join."""
    groups = _joined(actions, built)
    for step in built.graph.steps:
        known = [node for node in step.node_ids if node in built.op_types]
        for node in known[1:]:
            if node not in groups[known[0]] and step.kernel != "view":
                got = f"one step {step.kernel} with {known[0]}"
                yield Difference(node_id=node, approved="a step of its own", realised=got)


def _joined(actions: Sequence[Action], built: Built) -> dict[str, set[str]]:
    """Each node with all those that approved actions let one step compute together with it."""
    groups = {node: {node} for node in built.op_types}
    for action in actions:
        if action.kind not in JOINING:
            continue
        # the node before the last Transpose bears what cancelled, the others between stay alone
        around = (action.nodes[0], *action.nodes[-2:])
        members = set(around if action.kind == "cancel_transposes" else _members(action))
        members |= _wholes(members, actions)
        if action.kind == "fold_batch_norm" and len(members) == 1:  # a plain policy names the convolution alone
            beside = {node for step in built.steps(action.nodes[0]) for node in step.node_ids}
            members |= {node for node in beside if built.op_types.get(node) == "BatchNormalization"}
        joined = set().union(*(groups.get(node, {node}) for node in members))
        groups.update({node: joined for node in joined})
    return groups


def _wholes(nodes: Iterable[str], actions: Sequence[Action]) -> set[str]:
    """The original nodes that some of these nodes are pieces of, by the actions that took them apart."""
    apart = [action.nodes for action in actions if action.kind in REPLACING]
    return {whole for wholes in apart if any(node.startswith(f"{wholes[0]}.") for node in nodes) for whole in wholes}
