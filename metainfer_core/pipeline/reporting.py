"""From a compiled package to the report: run it, compare it, time it, and say what it comes to."""

from __future__ import annotations

import numpy as np

from metainfer_core import __version__
from metainfer_core.actions.catalog import kind
from metainfer_core.codegen.compile_plan import ArenaPlan, CompilePlan
from metainfer_core.codegen.run import run_package
from metainfer_core.errors import InputError
from metainfer_core.numerics.metrics import Effect, output_effect
from metainfer_core.numerics.simulator import Simulator
from metainfer_core.pipeline.layers import compare_layers, first_diverging
from metainfer_core.pipeline.steps import Compiled, Prepared, approved_actions
from metainfer_core.pipeline.timing import measure_latency
from metainfer_core.policy.choose import predict
from metainfer_core.policy.objective import Objective, shortfalls
from metainfer_core.policy.policy import Policy
from metainfer_core.spec.hardware_spec import HardwareSpec
from metainfer_core.values import sha256
from metainfer_core.verify.equivalence import distances
from metainfer_core.verify.reference import Progress, quiet
from metainfer_core.verify.report import (
    Accuracy,
    BuildReport,
    Candidate,
    GraphChange,
    Headline,
    Latency,
    MemoryBlock,
    MemoryMap,
)
from metainfer_core.verify.samples import Outputs, Samples

LAYER_SAMPLES = 2
"""Inferences that the layer-by-layer comparison looks at."""


def make_report(
    prepared: Prepared,
    spec: HardwareSpec,
    policy: Policy,
    compiled: Compiled,
    samples: Samples,
    reference: tuple[Outputs, ...],
    progress: Progress = quiet,
) -> BuildReport:
    """Runs the package on the samples and reports all that was found out."""
    progress("running the package", 0, 4)
    accuracy = _accuracy(prepared, compiled, samples, reference, progress)
    progress("timing", 3, 4)
    latency = measure_latency(prepared, compiled, samples.feeds[0])
    memory = _memory(compiled)
    predicted = _predicted(compiled, spec)
    return BuildReport(
        headlines=(_fits(memory), _fast(latency, predicted, spec), _blocks(compiled, accuracy, policy)),
        development=compiled.package.manifest.development,
        demo=True if compiled.package.manifest.review == "demo" else None,
        model=prepared.name,
        model_digest=prepared.digest,
        spec=f"{spec.name} {spec.version}",
        spec_digest=spec.values_digest,
        policy_digest=policy.digest,
        package_digest=sha256(compiled.data),
        target=compiled.package.manifest.target,
        tool_version=__version__,
        graph_changes=_graph_changes(prepared, policy),
        candidates=tuple(Candidate.from_plain(candidate) for candidate in policy.plain().get("candidates", ())),
        memory=memory,
        units=compiled.package.units,
        latency=latency,
        predicted_ms=predicted,
        accuracy=accuracy,
        violations=compiled.violations,
        approved_not_realised=compiled.differences,
        assumptions=_assumptions(compiled, spec),
        warnings=(*over_budget(policy, accuracy.against_reference), *_warnings(prepared, policy, samples)),
        contents=tuple(f"{name}: {len(data):,} bytes" for name, data in sorted(compiled.package.files.items())),
    )


def _accuracy(
    prepared: Prepared, compiled: Compiled, samples: Samples, reference: tuple[Outputs, ...], progress: Progress
) -> Accuracy:
    outputs = tuple(run_package(compiled.package, feed) for feed in samples.feeds)
    progress("comparing with the simulator", 1, 4)
    simulator = Simulator(compiled.lowered)
    simulated = tuple(simulator.run(feed) for feed in samples.feeds)
    equal = all(
        one[name].tobytes() == other[name].tobytes()
        for one, other in zip(outputs, simulated, strict=True)
        for name in one
    )
    progress("comparing layer by layer", 2, 4)
    layers = compare_layers(prepared.model, compiled.lowered, samples.feeds[:LAYER_SAMPLES])
    effects = tuple(
        output_effect(name, np.stack([one[name] for one in reference]), np.stack([one[name] for one in outputs]))
        for name in reference[0]
    )
    return Accuracy(
        against_reference=Effect(outputs=effects, samples=len(samples.feeds), data=samples.label),
        distances=distances(reference, outputs),
        simulator_equal=equal,
        layers=layers,
        first_diverging=first_diverging(layers),
    )


def _memory(compiled: Compiled) -> tuple[MemoryMap, ...]:
    plan = CompilePlan.from_json(compiled.package.files["plan.json"], "plan.json")
    return tuple(_memory_map(arena, len(plan.program.steps)) for arena in plan.arenas)


def _memory_map(arena: ArenaPlan, steps: int) -> MemoryMap:
    offsets = {placement.name: placement.offset_bytes for placement in arena.plan.placements}
    blocks = tuple(
        MemoryBlock(
            tensor=buffer.name,
            offset_bytes=offsets[buffer.name],
            size_bytes=buffer.size_bytes,
            start=max(buffer.start, 0),
            end=min(buffer.end, steps),
        )
        for buffer in arena.problem.buffers
    )
    return MemoryMap(
        memory=arena.memory,
        capacity_bytes=arena.problem.capacity_bytes,
        peak_bytes=arena.plan.peak_bytes,
        lower_bound_bytes=arena.plan.lower_bound_bytes,
        planner=arena.plan.planner,
        steps=steps,
        blocks=blocks,
    )


def _predicted(compiled: Compiled, spec: HardwareSpec) -> tuple[float, float] | None:
    """Milliseconds at best and at worst, of what was built: reviewers may have changed what was proposed."""
    total = predict(compiled.adapted, spec).total
    return (round(total.low / 1000, 6), round(total.high / 1000, 6)) if total is not None else None


def _fits(memory: tuple[MemoryMap, ...]) -> Headline:
    def words(arena: MemoryMap) -> str:
        size = f"{arena.capacity_bytes:,}" if arena.capacity_bytes is not None else "an unknown number of"
        return f"{arena.peak_bytes:,} of {size} bytes of {arena.memory}"

    known = all(arena.capacity_bytes is not None for arena in memory)
    answer = "; ".join(words(arena) for arena in memory)
    return Headline(question="Does it fit?", answer=f"Yes: {answer}." if known else f"{answer}.", good=known or None)


def _fast(latency: Latency | None, predicted: tuple[float, float] | None, spec: HardwareSpec) -> Headline:
    on_chip = f"unknown on {spec.name} (the spec lacks what a prediction needs)"
    if predicted is not None:
        on_chip = f"predicted {predicted[0]:.3g} to {predicted[1]:.3g} ms on {spec.name}"
    parts = [on_chip]
    if latency is not None and latency.ratio is not None:
        ratio = f"{latency.ratio:.2f} times what ONNX Runtime takes"
        parts.append(f"measured {latency.median_ms:.3g} ms on this machine, {ratio}")
    return Headline(question="How fast is it?", answer="; ".join(parts) + ".", good=None)


def _blocks(compiled: Compiled, accuracy: Accuracy, policy: Policy) -> Headline:
    faults = []
    if compiled.violations:
        first = compiled.violations[0]
        faults.append(f"{len(compiled.violations)} violations of the spec, first {first.place}: {first.reason}")
    if compiled.differences:
        first_difference = compiled.differences[0]
        faults.append(
            f"{len(compiled.differences)} differences from what was approved, first {first_difference.node_id}"
        )
    if not accuracy.simulator_equal:
        faults.append("the generated program and the simulator do not agree bit for bit")
    if not any(line.action == "quantize" for line in policy.actions):
        faults += [f"output {one.output}: {one.reason}" for one in accuracy.distances if not one.holds]
    faults = [fault.rstrip(".") for fault in faults]
    if faults:
        return Headline(question="What blocks it?", answer=". ".join(faults) + ".", good=False)
    if compiled.package.manifest.review == "demo":
        answer = "Nothing technical. It is a demo: a studio signed it for whoever sat there."
        return Headline(question="What blocks it?", answer=answer, good=None)
    if compiled.package.manifest.development:
        answer = "Nothing technical. Nobody has reviewed or signed it: it is a development package."
        return Headline(question="What blocks it?", answer=answer, good=None)
    return Headline(question="What blocks it?", answer="Nothing.", good=True)


def _graph_changes(prepared: Prepared, policy: Policy) -> tuple[GraphChange, ...]:
    before = [
        GraphChange(by=f"preprocess: {rewrite.kind}", nodes=(rewrite.node,), sentence=rewrite.why)
        for rewrite in prepared.report.rewrites
    ]
    after = []
    for action in approved_actions(policy):
        found = kind(action.kind)
        sentence = found.sentence(action) if found else ""
        after.append(GraphChange(by=action.kind, nodes=action.nodes, sentence=sentence))
    return (*before, *after)


def _assumptions(compiled: Compiled, spec: HardwareSpec) -> tuple[str, ...]:
    used = {f"compute_units.{step.unit}." for step in compiled.realised.steps if step.unit}
    used |= {f"memories.{name}." for name in compiled.realised.arenas}
    counting = {path: reason for path, reason in spec.assumed.items() if any(path.startswith(part) for part in used)}
    return tuple(f"{path}: {reason}" for path, reason in sorted(counting.items()))


def over_budget(policy: Policy, effect: Effect) -> tuple[str, ...]:
    """What a package breaks of the budget that its policy names, as people may approve with an override."""
    named = policy.plain().get("objective", {})
    try:
        broken = shortfalls(Objective.from_plain(named), effect) if named else ()
    except InputError:  # written by hand, with words of its own
        return ()
    return tuple(f"As built, it breaks the accuracy budget of its policy: {sentence}" for sentence in broken)


def _warnings(prepared: Prepared, policy: Policy, samples: Samples) -> tuple[str, ...]:
    """What was assumed, what the policy warned of when it was chosen, and what this report was measured on."""
    warnings = [*prepared.report.assumptions, *policy.warnings]
    if samples.is_random:
        said = "Errors were measured on random inputs and say little about real ones. Give data to try it on (--eval)."
        warnings.append(said)
    return tuple(dict.fromkeys(warnings))
