"""What a model holds and costs, as a job has read it: the server itself opens no model that nobody has looked at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import streamlit as st

from metainfer_core.actions.units import unit_for
from metainfer_core.cost.estimate import Estimate, estimate
from metainfer_core.cost.workload import workloads_of_summary
from metainfer_core.graph.summary import GraphSummary
from metainfer_core.spec.hardware_spec import HardwareSpec
from studio.background.jobs import Job, Order, Title, jobs, start
from studio.files.policies import SpecChoice
from studio.files.workspace import workspace_folder

KIND = "model"


@dataclass(frozen=True)
class Reading:
    """The answer of `meta-infer model show`."""

    job_id: str
    """Of the job that read it: the same model can be read with other shapes."""
    name: str
    digest: str
    inputs: dict[str, str] = field(repr=False)
    outputs: dict[str, str] = field(repr=False)
    assumptions: tuple[str, ...]
    summary: GraphSummary = field(repr=False)


def newest_job(model: Path) -> Job | None:
    """The last job that read the file as it is now."""
    name = model.relative_to(workspace_folder()).as_posix()
    changed = model.stat().st_mtime_ns
    for job in jobs():
        if job.order.kind == KIND and job.order.subject == name:
            return job if (job.folder / "order.json").stat().st_mtime_ns >= changed else None
    return None


def read_model(model: Path, shapes: Sequence[str], actor: str) -> Job:
    """Starts the job that reads a model, with shapes where it leaves them open."""
    values = {"model": model.name} | ({"shapes": " ".join(shapes)} if shapes else {})
    title = Title(words="model_title_shapes" if shapes else "model_title", values=values)
    given = [word for shape in shapes for word in ("--input-shape", shape)]
    return start(
        Order(
            kind=KIND,
            title=title,
            arguments=("model", "show", str(model), *given),
            subject=model.relative_to(workspace_folder()).as_posix(),
            actor=actor,
        )
    )


def reading(job: Job) -> Reading | None:
    """What a job that is done has read."""
    return _reading(job.id, job) if job.state == "done" and job.exit_status == 0 else None


def predicted(found: Reading, spec: SpecChoice) -> Estimate:
    """Predicted cost of each node in float32, nothing fused, on the unit that the spec makes its home."""
    return _predicted(found.job_id, spec.digest, found, spec.spec)


@st.cache_resource(max_entries=16, show_spinner=False)
def _reading(job_id: str, _job: Job) -> Reading | None:
    answer = _job.answer()
    if answer is None:
        return None
    own = {key: answer[key] for key in GraphSummary.model_fields if key in answer}
    plain: dict[str, Any] = answer
    return Reading(
        job_id=job_id,
        name=str(plain["name"]),
        digest=str(plain["digest"]),
        inputs=dict(plain["inputs"]),
        outputs=dict(plain["outputs"]),
        assumptions=tuple(plain["assumptions"]),
        summary=GraphSummary.from_plain(own, "model summary"),
    )


@st.cache_resource(max_entries=16, show_spinner=False)
def _predicted(job_id: str, spec_digest: str, _found: Reading, _spec: HardwareSpec) -> Estimate:
    homes = {op_type: unit_for(_spec, op_type, "float32") for op_type in {n.op_type for n in _found.summary.nodes}}
    units = {node.id: home if isinstance(home := homes[node.op_type], str) else None for node in _found.summary.nodes}
    return estimate(workloads_of_summary(_found.summary, units), _spec)
