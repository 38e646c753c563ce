"""What each step of a package takes on this machine."""

from __future__ import annotations

from metainfer_core.codegen.package import Package
from metainfer_core.codegen.realised import read_realised
from metainfer_core.codegen.run import execute
from metainfer_core.values import Value


class StepTime(Value):
    """One kernel call of a package."""

    kernel: str
    node_ids: tuple[str, ...]
    microseconds: float
    """Of one run, its share of the ticks of all steps."""


def profile_package(package: Package, runs: int) -> tuple[StepTime, ...]:
    """The time of each step in the order of execution, averaged over `runs` on the first test vector."""
    given, _ = package.vector(0)
    inputs = {port.name: port.array(given[port.name]) for port in package.manifest.inputs}
    done = execute(package, inputs, repeat=runs, warm_up=1, profile=True)
    steps = read_realised(package).steps
    ticks = sum(done.ticks)
    each_us = sum(done.nanoseconds) / len(done.nanoseconds) / 1000
    return tuple(
        StepTime(kernel=step.kernel, node_ids=step.node_ids, microseconds=each_us * share / ticks if ticks else 0.0)
        for step, share in zip(steps, done.ticks, strict=True)
    )
