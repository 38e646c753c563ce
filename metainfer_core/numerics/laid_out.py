"""Where tensors change their layout: a program whose nodes were given layouts, with the fewest ways in and out of them.

A tensor that is made and read in one layout lies in memory so and in no other way. Where a reader needs another one,
the tensor is turned once, for all readers.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from metainfer_core.errors import UnsupportedError
from metainfer_core.numerics.layouts import Layout
from metainfer_core.numerics.program import ELEMENT_BYTES, Program, Step, Tensor
from metainfer_core.numerics.signatures import signature

BLOCKED = "_blocked_"
"""What the names of kernels hold that work on blocks of channels."""
TURN = "relayout"
"""What the names of kernels begin with that turn a tensor from one layout into another."""


def laid_out(program: Program, layouts: Mapping[str, Layout]) -> Program:
    """The program with its tensors in the layouts of the nodes that make and read them.

    Args:
        program: Every tensor row-major as the model has it; convolutions and pools of the nodes that have a layout are
            calls of kernels on blocks of channels already.
        layouts: Node to layout; nodes that are not named stay in NCHW.

    Raises:
        UnsupportedError: A node has a layout in which its kernel does not work.
    """
    if not layouts:
        return program
    walk = _Walk(program, layouts)
    for step in program.steps:
        walk.take(step)
    for name in program.outputs:
        walk.need(name, None)
    touched = {name for step in walk.steps for name in (*step.inputs, *step.outputs)}
    touched |= {*program.inputs, *program.outputs}
    tensors = tuple(tensor for tensor in walk.tensors.values() if tensor.name in touched)
    return Program(inputs=program.inputs, outputs=program.outputs, tensors=tensors, steps=tuple(walk.steps))


class _Walk:
    """The steps so far, and in which layouts each tensor of the model lies."""

    def __init__(self, program: Program, layouts: Mapping[str, Layout]) -> None:
        self.tensors = {tensor.name: tensor for tensor in program.tensors}
        self.steps: list[Step] = []
        self._layouts = layouts
        self._forms: dict[str, dict[Layout | None, str]] = {}
        self._makers: dict[str, Step] = {}

    def take(self, step: Step) -> None:
        layout = next((self._layouts[node] for node in step.node_ids if node in self._layouts), None)
        moving = () if layout is None else self._moving(step, layout)
        inputs = tuple(
            name if not name or self.tensors[name].constant else self.need(name, layout if name in moving else None)
            for name in step.inputs
        )
        outputs = tuple(self._make(name, layout if name in moving else None, step) for name in step.outputs)
        self.steps.append(_with(step, inputs, outputs))

    def need(self, name: str, layout: Layout | None) -> str:
        """The tensor in this layout, turned into it where it does not lie so yet."""
        forms = self._forms.setdefault(name, {None: name})
        if layout in forms:
            return forms[layout]
        if layout is not None and None not in forms:
            self.need(name, None)
        source = forms[None] if layout is not None else next(iter(forms.values()))
        turned = layout or next(form for form in forms if form is not None)
        forms[layout] = target = self._declare(name, layout)
        self.steps.append(self._turn(name, source, target, turned, to_blocks=layout is not None))
        return target

    def _moving(self, step: Step, layout: Layout) -> tuple[str, ...]:
        """The tensors that the step reads and makes in the layout."""
        names = [name for name in (*step.inputs, *step.outputs) if name and not self.tensors[name].constant]
        if BLOCKED in step.kernel:
            return step.inputs[0], step.outputs[0]
        shape = self.tensors[step.outputs[0]].shape
        moving = tuple(name for name in dict.fromkeys(names) if self.tensors[name].shape == shape)
        against = next((found for name in moving if (found := layout.against(self.tensors[name].shape))), None)
        if against is not None:
            raise _unsupported(step, layout, f"A tensor of it {against}.")
        if not is_flat(step, self.tensors):
            raise _unsupported(step, layout, f"Its kernel {step.kernel} walks the axes in the order of NCHW.")
        return moving

    def _make(self, name: str, layout: Layout | None, step: Step) -> str:
        if not name:
            return name
        self._makers[name] = step
        if layout is None:
            self._forms[name] = {None: name}
            return name
        self._forms[name] = {layout: (made := self._declare(name, layout))}
        return made

    def _declare(self, name: str, layout: Layout | None) -> str:
        tensor = self.tensors[name]
        if layout is None:
            return name
        made = f"{name}.{layout.name}"
        while made in self.tensors:
            made += "_"
        self.tensors[made] = Tensor.model_validate({**dict(tensor), "name": made, "shape": layout.shape(tensor.shape)})
        return made

    def _turn(self, name: str, source: str, target: str, layout: Layout, to_blocks: bool) -> Step:
        tensor = self.tensors[name]
        batch, channels, *space = tensor.shape
        block, pixels = layout.block_of(channels), math.prod(space)
        maker = self._makers.get(name)
        reader = maker.node_ids if maker is not None else ()
        unit = maker.unit if maker is not None else None
        bits = 8 * ELEMENT_BYTES[tensor.element_type]
        if pixels == 1 or block == 1:  # the same bytes in both
            params: dict[str, object] = {"bytes": tensor.size_bytes}
            return Step(kernel="view", node_ids=reader, inputs=(source,), outputs=(target,), params=params, unit=unit)
        return Step(
            kernel=f"{TURN}_{bits}",
            node_ids=reader,
            inputs=(source,),
            outputs=(target,),
            params={"planes": batch * channels // block, "block": block, "pixels": pixels, "to_blocks": int(to_blocks)},
            unit=unit,
        )


def is_flat(step: Step, tensors: Mapping[str, Tensor]) -> bool:
    """Whether each element of the result comes from the elements at its own place, whatever the order of the axes."""
    described = signature(step.kernel)
    if step.kernel.startswith(("quantize", "dequantize", "narrow", "widen")):
        return bool(step.params.get("channels", 1) == 1)
    if not described.is_elementwise:
        return False
    if "count" in step.params:
        return True
    shape = tensors[step.outputs[0]].shape
    steps = [step.params.get(name) for name in ("left_step", "right_step")]
    return all(
        walked is not None and (not any(walked) or tensors[name].shape == shape)
        for walked, name in zip(steps, step.inputs, strict=False)
    )


def turned_bytes(steps: Iterable[Step], tensors: Mapping[str, Tensor]) -> int:
    """Bytes that the steps move only to change their layout."""
    return sum(tensors[step.inputs[0]].size_bytes for step in steps if step.kernel.startswith(TURN))


def _with(step: Step, inputs: tuple[str, ...], outputs: tuple[str, ...]) -> Step:
    return Step.model_validate({**dict(step), "inputs": inputs, "outputs": outputs})


def _unsupported(step: Step, layout: Layout, why: str) -> UnsupportedError:
    return UnsupportedError(f"{step.node_ids[0]} cannot be computed in layout {layout.name}.", why, "Leave it in NCHW.")
