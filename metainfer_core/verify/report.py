"""BuildReport: what a build found out. Measured times stand here and in no digest."""

from __future__ import annotations

from typing import Literal

from metainfer_core.numerics.metrics import Effect, OutputEffect
from metainfer_core.values import Value
from metainfer_core.verify.check_legal import Violation
from metainfer_core.verify.equivalence import Distance
from metainfer_core.verify.unit_figures import UnitFigures


class Headline(Value):
    """One of the three questions that a reader asks first, and its answer."""

    question: Literal["Does it fit?", "How fast is it?", "What blocks it?"]
    answer: str
    good: bool | None = None
    """None where nothing can be said for or against."""


class GraphChange(Value):
    """One change of the graph, before or by the policy."""

    by: str
    """`preprocess`, or the kind of action."""
    nodes: tuple[str, ...]
    sentence: str


class Candidate(Value):
    """One policy that was considered, with what is predicted of it."""

    name: str
    predicted_ms: tuple[float, float] | None = None
    """Low and high end, on the spec; None where the spec lacks what a prediction needs."""
    typical_ms: float | None = None
    """Predicted at the spec's typical values: what candidates are ranked by."""
    accuracy: str = ""
    exact: bool | None = None
    """Measured: whether no output moved at all; None where it cannot run, or the policy does not say."""
    sqnr_db: float | None = None
    """Measured: the lowest signal-to-noise of any output; None where nothing moved, or nothing is said."""
    logit_sqnr_db: float | None = None
    """Measured: the same of the logits behind an output that holds shares; None where no output does."""
    integer_nodes: int | None = None
    sixteen_bit_nodes: int | None = None
    """Nodes in INT16, FP16 or BF16; None where there is none, or the policy does not say."""
    moved_bytes: int | None = None
    within_budget: bool | None = None
    refused: Literal[True] | None = None
    """The compiler refuses it, on every target or on those that feed units by DMA; `accuracy` says why."""
    chosen: bool = False


class MemoryBlock(Value):
    """One array in an arena: bytes [offset, offset + size) during steps [start, end)."""

    tensor: str
    offset_bytes: int
    size_bytes: int
    start: int
    end: int


class MemoryMap(Value):
    """One arena over time."""

    memory: str
    capacity_bytes: int | None = None
    peak_bytes: int
    lower_bound_bytes: int
    planner: str
    steps: int
    blocks: tuple[MemoryBlock, ...]


class Latency(Value):
    """Times of the generated program and of ONNX Runtime, in turn on the same inputs on this machine."""

    median_ms: float
    min_ms: float
    max_ms: float
    baseline: str
    """What it is measured against, with version and settings."""
    baseline_median_ms: float | None = None
    ratio: float | None = None
    """median_ms / baseline_median_ms."""
    runs: int
    machine: str
    note: str = ""


class Layer(Value):
    """How far one tensor of the program is from the reference model's."""

    node_id: str
    tensor: str
    precision: str
    figures: OutputEffect
    channels_db: tuple[float | None, ...] = ()
    """Signal-to-noise of each channel, None where it has no error; empty where there are too many to keep."""
    broken_channels: tuple[int, ...] | None = None
    """Of these, the ones with elements that are no finite numbers; None in reports of older programs."""


class Difference(Value):
    """Something approved that was not built, or built that was not approved."""

    node_id: str
    approved: str
    realised: str
    action: str = ""
    """Id of the approved action; empty where there is none."""


class Accuracy(Value):
    """How right the package's outputs are."""

    against_reference: Effect
    """The package's outputs against the unchanged model's, by ONNX Runtime."""
    distances: tuple[Distance, ...]
    """The same, held to the limit for float outputs; a quantized model is held to its budget instead."""
    simulator_equal: bool
    """Whether every output of the generated program has the very bits of the simulator's."""
    layers: tuple[Layer, ...] = ()
    first_diverging: str | None = None
    """First node whose tensor keeps less than 20 dB of signal-to-noise in some channel."""


class BuildReport(Value):
    """All that a build found out; the first lines answer what a reader asks first."""

    format: Literal["metainfer.report/1"] = "metainfer.report/1"
    headlines: tuple[Headline, ...]
    development: bool
    """True: nobody approved it, or a demo alone."""
    demo: Literal[True] | None = None
    """A studio in demo mode signed it for whoever sat there."""
    model: str
    model_digest: str
    spec: str
    spec_digest: str
    policy_digest: str
    package_digest: str
    target: str
    tool_version: str
    graph_changes: tuple[GraphChange, ...]
    candidates: tuple[Candidate, ...]
    memory: tuple[MemoryMap, ...]
    units: tuple[UnitFigures, ...] = ()
    """What each unit that DMA feeds does in one inference, by the spec's figures."""
    latency: Latency | None = None
    """None where the program ran under emulation: times say nothing there."""
    predicted_ms: tuple[float, float] | None = None
    """On the chip, by the spec: low and high end."""
    accuracy: Accuracy
    violations: tuple[Violation, ...]
    approved_not_realised: tuple[Difference, ...]
    assumptions: tuple[str, ...]
    """Spec values that no document gives and that this build used."""
    warnings: tuple[str, ...] = ()
    contents: tuple[str, ...] = ()
    """Files in the package with their sizes."""
