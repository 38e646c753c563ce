"""Kernels and weights as approved: the extents of an enlarged kernel, the numbers of equalised layers.

Read back are arrays in the order in which kernels read them, filled up with zeros. Extents show in their shapes.
Numbers are compared whatever their order is: the greatest of both sides with each other, the next, and so on.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

import ml_dtypes
import numpy as np

from metainfer_core.actions.action import Action
from metainfer_core.verify.realised_graph import RealisedGraph, RealisedStep, RealisedTensor
from metainfer_core.verify.report import Difference
from metainfer_core.verify.unlaid import unlaid
from metainfer_core.verify.unstaged import unstaged

SUMS = ("conv2d", "depthwise_conv2d")
"""How the kernels of convolutions begin."""
LEFT_OUT = ("_int4", "_int6")
"""How kernels end that unpack their weights: those are compared by what they are packed to elsewhere."""
FLOATS = {"float32": np.dtype(np.float32), "float16": np.dtype(np.float16), "bfloat16": np.dtype(ml_dtypes.bfloat16)}
ROUNDING = {"float32": 1e-6, "float16": 2.0**-11, "bfloat16": 2.0**-8}
"""Error of a number that was rounded to the type, as a share of it."""


def has_kernel(step: RealisedStep, weight: RealisedTensor, channels: int, kernel: Sequence[int]) -> bool:
    """Whether packed weights of a convolution are those of a kernel of these extents.

    Args:
        step: The call.
        weight: Its weights, as they were packed for it.
        channels: Of its input.
        kernel: Extents, one or two.
    """
    height, width = (1, *kernel)[-2:]
    shape, pair = weight.shape, 2 if weight.element_type == "int8" else 1
    if step.kernel.startswith("depthwise_conv2d_blocked"):  # [tap / 2][channel][2], or [tap][channel]
        return shape[0] == -(-height * width // pair)
    if step.kernel.startswith("depthwise_conv2d"):  # [filter][y][x], or in pairs of rows
        return shape[1:3] == (-(-height // pair), width)
    if step.kernel.startswith(("conv2d_rows", "conv2d_blocked")):  # [column / block][channel, y, x][block]
        return shape[1] == -(-channels * height * width // pair)
    if len(shape) == 7:  # [group][filter / 4][channel][y][x][4][pair]
        return shape[3:5] == (height, width)
    return math.prod(shape) >= height * width


def not_equalised(
    actions: Sequence[Action],
    weights: Mapping[str, np.ndarray],
    realised: RealisedGraph,
    constants: Mapping[str, bytes],
) -> Iterator[Difference]:
    """Each layer of an approved equalise action whose built weights are not those that it leads to.

    Args:
        actions: The approved actions.
        weights: Node to its float weights before any of them was equalised, filters first.
        realised: Read back from the built binary.
        constants: Name of each constant tensor to its bytes in the binary.
    """
    due, owner = dict(weights), {}
    for action in (action for action in actions if action.kind == "equalise"):
        first, second = action.nodes
        factors = np.exp2(np.array(action.params["exponents"], np.float32))
        if first not in due or second not in due:
            continue
        due[first] = due[first] / _along(factors, due[first], 0)
        is_depthwise = due[second].shape[1] == 1 and len(due[second]) == len(factors)
        due[second] = due[second] * _along(factors, due[second], 0 if is_depthwise else 1)
        owner.update({first: action, second: action})
    whole = unlaid(unstaged(realised))
    tensors = {tensor.name: tensor for tensor in whole.tensors}
    for node, action in owner.items():
        steps = [step for step in whole.steps if node in step.node_ids and step.kernel.startswith(SUMS)]
        found = [_built(weight_of(step, tensors), constants) for step in steps if not step.kernel.endswith(LEFT_OUT)]
        if not found or any(each is None for each in found):
            continue
        numbers = np.concatenate([values for each in found if each is not None for values in each[:1]])
        step_size = max(each[1] for each in found if each is not None)
        share = max(each[2] for each in found if each is not None)
        off = _furthest(np.abs(due[node]).ravel(), np.abs(numbers), step_size, share)
        if off is not None:
            yield Difference(
                node_id=node,
                action=action.id,
                approved=f"equalised weights, one of {off[0]:.4g} among them",
                realised=f"{off[1]:.4g} in its place",
            )


def _along(factors: np.ndarray, weight: np.ndarray, axis: int) -> np.ndarray:
    shape = [1] * weight.ndim
    shape[axis] = -1
    return factors.reshape(shape)


def weight_of(step: RealisedStep, tensors: Mapping[str, RealisedTensor]) -> RealisedTensor:
    """The constant of a convolution that has most axes: all others hold one number a channel, or a table."""
    constants = (tensors[name] for name in step.inputs if name and tensors[name].is_constant)
    return max(constants, key=lambda tensor: (len(tensor.shape), tensor.size_bytes))


def _built(tensor: RealisedTensor, constants: Mapping[str, bytes]) -> tuple[np.ndarray, float, float] | None:
    """The numbers of a weight, the distance of its codes, and the rounding of its floats; None where it is by channel.

    Under one scale for each channel, an equalised layer computes the same as one that is not.
    """
    data = constants[tensor.name]
    if tensor.element_type == "int8" and len(tensor.scales) == 1:
        codes = np.frombuffer(data, np.int8)[: math.prod(tensor.shape)]
        return codes.astype(np.float64) * tensor.scales[0], tensor.scales[0], 0.0
    if tensor.element_type in FLOATS:
        values = np.frombuffer(data, FLOATS[tensor.element_type])[: math.prod(tensor.shape)]
        return values.astype(np.float64), 0.0, ROUNDING[tensor.element_type]
    return None


def _furthest(due: np.ndarray, built: np.ndarray, step: float, share: float) -> tuple[float, float] | None:
    """The pair of numbers, greatest with greatest, that lies furthest apart; None where all are as near as rounded."""
    count = max(len(due), len(built))
    left, right = (np.sort(np.pad(side.astype(np.float64), (0, count - len(side))))[::-1] for side in (due, built))
    beyond = np.abs(left - right) - 1.01 * step - share * left
    worst = int(beyond.argmax())
    return (float(left[worst]), float(right[worst])) if beyond[worst] > 0 else None
