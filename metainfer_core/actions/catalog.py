"""All action kinds, in the order in which a policy applies them. One line registers a kind."""

from __future__ import annotations

from metainfer_core.actions.action import ActionKind
from metainfer_core.actions.kinds.bind_shape import BindShape
from metainfer_core.actions.kinds.branch_hint import BranchHint
from metainfer_core.actions.kinds.cancel_transposes import CancelTransposes
from metainfer_core.actions.kinds.correct_bias import CorrectBias
from metainfer_core.actions.kinds.decompose import Decompose
from metainfer_core.actions.kinds.enlarge_kernel import EnlargeKernel
from metainfer_core.actions.kinds.equalise import Equalise
from metainfer_core.actions.kinds.factor_weights import FactorWeights
from metainfer_core.actions.kinds.fold_batch_norm import FoldBatchNorm
from metainfer_core.actions.kinds.fold_pad import FoldPad
from metainfer_core.actions.kinds.fuse import Fuse
from metainfer_core.actions.kinds.half_precision import HalfPrecision
from metainfer_core.actions.kinds.keep_float import KeepFloat
from metainfer_core.actions.kinds.layout import LayoutKind
from metainfer_core.actions.kinds.merge_siblings import MergeSiblings
from metainfer_core.actions.kinds.pad_channels import PadChannels
from metainfer_core.actions.kinds.place import Place
from metainfer_core.actions.kinds.prefetch import Prefetch
from metainfer_core.actions.kinds.quantize import Quantize
from metainfer_core.actions.kinds.round_weights import RoundWeights
from metainfer_core.actions.kinds.split import Split
from metainfer_core.actions.kinds.split_kernel import SplitKernel
from metainfer_core.actions.kinds.store_low_bit import StoreLowBit
from metainfer_core.actions.kinds.tile import TileKind
from metainfer_core.actions.kinds.unroll import Unroll

KINDS: tuple[ActionKind, ...] = (
    BindShape(),
    CancelTransposes(),
    FoldPad(),
    FoldBatchNorm(),
    MergeSiblings(),
    Equalise(),
    Decompose(),
    FactorWeights(),
    Split(),
    EnlargeKernel(),
    SplitKernel(),
    Fuse(),
    PadChannels(),
    KeepFloat(),
    Quantize(),
    RoundWeights(),
    CorrectBias(),
    HalfPrecision(),
    StoreLowBit(),
    LayoutKind(),
    Unroll(),
    BranchHint(),
    TileKind(),
    Prefetch(),
    Place(),
)


def kind(name: str) -> ActionKind | None:
    """The kind of that name, if there is one."""
    return next((candidate for candidate in KINDS if candidate.name == name), None)
