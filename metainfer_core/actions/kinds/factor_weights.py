"""Compute a layer as two of low rank: columns and rows of a kernel, or fewer channels between."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import onnx_ir as ir
import pydantic

from metainfer_core.actions.action import Action, ActionKind, Alternative, Obligation, Reason, Refusal, RiskFacts
from metainfer_core.actions.kernel_taps import by, data_type_of
from metainfer_core.actions.low_rank import Layer, layer_of
from metainfer_core.actions.pieces import Pieces
from metainfer_core.actions.rewiring import FUSED_WITH, node, remove, take_over
from metainfer_core.actions.units import NoUnit, limits_against, unit_for, unknown_unit
from metainfer_core.graph.shapes import static_shape
from metainfer_core.numerics.ranges import Calibration
from metainfer_core.spec.hardware_spec import HardwareSpec
from metainfer_core.values import Value

LAW = "Singular values give, at each rank, the two factors whose product is nearest to the weight (Eckart, Young 1936)."
WORTH = 0.8
"""Largest share of the products that proposed factors have: a smaller gain is lost in what is stored between."""
MOST_LOST = 0.05
"""Largest share of a weight's energy that may be lost to be proposed, before anything is measured: 13 dB."""


class FactorWeightsParams(Value):
    """Parameters of a factor_weights action."""

    rank: pydantic.PositiveInt
    """Channels between the two factors."""
    target_hw: str | None = None
    """Compute unit that runs both."""


class FactorWeights(ActionKind):
    """Computes a layer as two smaller ones whose weights multiply to nearly the same weight.

    A convolution becomes one along columns and one along rows; a 1x1 convolution, Gemm or MatMul gets fewer channels
    between. The rank is the smallest whose measured loss stays within the budget. Lossy: nothing is trained again.
    """

    name = "factor_weights"
    obligation = Obligation(why="A lower rank changes values: measured, and held against the accuracy budget.")
    risk = RiskFacts(changes_numbers=True, needs_calibration=False, device_dependent=True)
    Params = FactorWeightsParams

    def propose(
        self, model: ir.Model, spec: HardwareSpec, calibration: Calibration | None
    ) -> Iterator[Action | Refusal]:
        """For each layer that can be written so, the largest rank that saves products, or why it loses too much."""
        for candidate in model.graph:
            layer = layer_of(candidate)
            if isinstance(layer, str) or FUSED_WITH in candidate.metadata_props:
                continue
            yield self._proposal(model, spec, layer)

    def refusal(self, model: ir.Model, spec: HardwareSpec, action: Action) -> Refusal | None:
        """The rank must save products, and the unit must run both factors."""
        reason = _reason_against(spec, node(model, action.nodes[0]), FactorWeightsParams.from_plain(action.params))
        return Refusal(kind=self.name, nodes=action.nodes, reason=reason) if reason else None

    def at_rank(self, model: ir.Model, action: Action, rank: int) -> Action:
        """The same action at another rank, with the share that it loses."""
        layer = layer_of(node(model, action.nodes[0]))
        assert isinstance(layer, Layer)
        return _action(layer, rank, action.params.get("target_hw"))

    def rewrite(self, model: ir.Model, action: Action) -> None:
        """Puts the two factors in the place of the layer."""
        target = node(model, action.nodes[0])
        layer = layer_of(target)
        assert isinstance(layer, Layer)
        rank = FactorWeightsParams.from_plain(action.params).rank
        at, shape = Pieces(model, target), static_shape(target.outputs[0]) or ()
        bias = target.inputs[2] if len(target.inputs) > 2 else None
        if layer.taps is not None:
            first, second = (at.numbers(weight) for weight in layer.convolutions(rank))
            between = at.conv([at.source, first], (shape[0], rank, *layer.taps[0].out))
            at.nodes[-1].attributes.update(layer.taps[0].attributes(target))
            result = at.conv([between, second, *([bias] if bias is not None else [])], shape)
            at.nodes[-1].attributes.update(layer.taps[1].attributes(target))
        else:
            first, second = (at.numbers(np.ascontiguousarray(factor)) for factor in layer.factors(rank))
            between = at.op("MatMul", [at.source, first], (*shape[:-1], rank))
            with_bias = bias is not None
            result = at.op("Gemm" if with_bias else "MatMul", [between, second, *([bias] if with_bias else [])], shape)
        model.graph.insert_after(target, at.nodes)
        take_over(model, target.outputs[0], result)
        remove(model, [target])

    def sentence(self, action: Action) -> str:
        """What happens, in one sentence."""
        return f"Compute {action.nodes[0]} as two layers with {action.params['rank']} channels between."

    def _proposal(self, model: ir.Model, spec: HardwareSpec, layer: Layer) -> Action | Refusal:
        name = str(layer.node.name)
        rank = most_useful(layer)
        if rank == 0:
            return Refusal(kind=self.name, nodes=(name,), reason=f"No rank of {name} saves a fifth of its products.")
        lost = float(layer.lost[rank])
        if lost > MOST_LOST:
            reason = (
                f"Rank {rank}, the largest that saves a fifth of the products of {name}, loses {lost:.1%} of its "
                f"weight's energy; at most {MOST_LOST:.0%} is tried."
            )
            return Refusal(kind=self.name, nodes=(name,), reason=reason)
        unit = unit_for(spec, layer.node.op_type, data_type_of(layer.node))
        action = _action(layer, rank, unit if isinstance(unit, str) else None)
        return self.refusal(model, spec, action) or action


def most_useful(layer: Layer) -> int:
    """The largest rank that saves enough products; 0 where none does."""
    return min(int(WORTH * layer.products / layer.products_at(1)), int(min(layer.matrix.shape)) - 1)


def _action(layer: Layer, rank: int, unit: str | None) -> Action:
    name, lost = str(layer.node.name), float(layer.lost[rank])
    saved = 1 - layer.products_at(rank) / layer.products
    return Action(
        kind=FactorWeights.name,
        nodes=(name,),
        params={"rank": rank, **({"target_hw": unit} if unit is not None else {})},
        why=(
            Reason(claim=f"Rank {rank} saves {saved:.0%} of the products and loses {lost:.2%} of the energy.", law=LAW),
        ),
        constraint=_form(layer, rank),
        alternatives=(Alternative(option=f"{name} in one piece", reason=f"It has {layer.products:,} products."),),
    )


def _form(layer: Layer, rank: int) -> str:
    if layer.taps is None:
        return f"Two matrices of {rank} have {layer.products_at(rank):,} products."
    kernels = " and ".join(by(taps.kernel) for taps in layer.taps)
    return f"Kernels of {kernels} have {layer.products_at(rank):,} products."


def _reason_against(spec: HardwareSpec, target: ir.Node, params: FactorWeightsParams) -> str | None:
    layer = layer_of(target)
    if isinstance(layer, str):
        return layer
    if target.name in spec.sensitive_layers:
        return f"{target.name} is one of the spec's sensitive_layers: its precision must not be lowered."
    whole = min(layer.matrix.shape)
    if params.rank >= whole:
        return f"The weight of {target.name} has rank {whole}: {params.rank} leaves nothing out."
    products = layer.products_at(params.rank)
    if products >= layer.products:
        return f"Rank {params.rank} of {target.name} takes {products:,} products in place of {layer.products:,}."
    unknown = unknown_unit(spec, params.target_hw)
    if unknown is not None or params.target_hw is None:
        return unknown
    data_type = data_type_of(target)
    made = ("Conv",) if layer.taps is not None else ("MatMul", "Gemm") if len(target.inputs) > 2 else ("MatMul",)
    for op_type in made:
        lost = unit_for(spec, op_type, data_type, at=params.target_hw, fall_back=False)
        if isinstance(lost, NoUnit):
            return f"The factors would leave {params.target_hw}: {lost.reason}"
    apart = (limits_against(spec, params.target_hw, one, data_type) for one in layer.stand_ins())
    return next(filter(None, apart), None)
