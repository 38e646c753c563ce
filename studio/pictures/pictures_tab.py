"""The pictures of a model and of the policy for it: costs, memory, precision, candidates, channels."""

from __future__ import annotations

import contextlib
from pathlib import Path

import streamlit as st

from metainfer_core.cost.estimate import Estimate
from metainfer_core.errors import MetaInferError
from metainfer_core.files import MEBIBYTE, read_bytes
from metainfer_core.policy.policy import Policy
from metainfer_core.verify.report import BuildReport, Layer
from studio.files.documents import file_digest
from studio.files.file_cache import kept_by_file
from studio.files.policies import SpecChoice
from studio.files.workspace import files_of
from studio.model.graph_policy import SeenWith, policy_for
from studio.model.model_reading import Reading
from studio.pictures.pictures_cost import cost_picture
from studio.pictures.pictures_effect import channel_picture, channel_words, pareto_picture
from studio.pictures.pictures_figure import Picture
from studio.pictures.pictures_memory import alive_memory, planned_memory
from studio.pictures.pictures_precision import precision_picture
from studio.session.address import text_to_address
from studio.words.markup import draw
from studio.words.texts import text

KINDS = ("cost", "memory", "precision", "pareto", "channels")
REPORT_LIMIT = 256 * MEBIBYTE
STYLES = {"predicted": "predicted", "measured": "measured", "both": "measured"}


@st.fragment
def draw_pictures_tab(model: Path, found: Reading, costs: Estimate | None, spec: SpecChoice | None) -> None:
    """Draws the one that is chosen."""
    asked = st.query_params.get("picture")
    left, right = st.columns([5, 2], gap="medium", vertical_alignment="bottom")
    kind = left.segmented_control(
        text("picture_kind"), KINDS, default=asked if asked in KINDS else KINDS[0], required=True,
        format_func=lambda each: text(f"picture_{each}"), key="picture", persist_state="session",
    )  # fmt: skip
    text_to_address("picture", kind if kind != KINDS[0] else "")
    with right:
        seen = policy_for(model, spec) if kind in ("precision", "pareto", "channels") else None
    if kind == "cost":
        show(cost_picture(costs) if costs is not None else None, text("picture_cost_none"), "cost")
    elif kind == "memory":
        report = newest_report(model, spec)
        for number, arena in enumerate(report.memory if report is not None else ()):
            show(planned_memory(arena), "", f"memory_{number}")
        show(alive_memory(found.summary, spec.spec if spec is not None else None), "", "alive")
        if report is None:
            st.info(text("picture_planned_none"))
    elif kind == "precision":
        show(precision_picture(found.summary.nodes, seen.policy if seen is not None else None), "", "precision")
    elif kind == "pareto":
        show(pareto_picture(seen.policy) if seen is not None else None, _why_no_pareto(seen), "pareto")
    else:
        _channels(model, spec, seen)


def show(picture: Picture | None, otherwise: str, key: str, has_table: bool = True) -> None:
    """Draws a picture, with its table unless the screen has that already, or says why there is none."""
    if picture is None:
        st.info(otherwise)
        return
    how = text(f"how_{picture.how}")
    draw("picture_says", style=STYLES.get(picture.how, ""), how=how, sentence=picture.sentence)
    st.plotly_chart(picture.figure, key=f"picture_{key}", config={"displaylogo": False})
    if has_table:
        draw("picture_table", caption=f"{how}: {picture.sentence}", head=picture.head, rows=picture.rows,
             left_out=picture.left_out)  # fmt: skip


def newest_report(model: Path, spec: SpecChoice | None) -> BuildReport | None:
    """Of the package that was built last from this model on this spec."""
    built = sorted(files_of("package"), key=lambda path: -path.stat().st_mtime_ns)
    for package in built:
        with contextlib.suppress(MetaInferError, OSError):
            report = _report(package.with_suffix(".report.json"))
            if report.model_digest == file_digest(model) and (spec is None or report.spec_digest == spec.digest):
                return report
    return None


@kept_by_file
def _report(path: Path) -> BuildReport:
    return BuildReport.from_json(read_bytes(path, "report", REPORT_LIMIT), path.name)


def _channels(model: Path, spec: SpecChoice | None, seen: SeenWith | None) -> None:
    report = newest_report(model, spec)
    layers = {layer.node_id: layer for layer in report.accuracy.layers if layer.channels_db} if report else {}
    if not layers:
        st.info(text("picture_channels_none"))
        return
    worst = sorted(layers, key=lambda name: _worst(layers[name]))
    asked = st.query_params.get("node", "")
    index = worst.index(asked) if asked in layers else 0
    name = st.selectbox(
        text("picture_layer"), worst, index=index, key=f"picture-layer-{asked}",
        format_func=lambda each: f"{each} · {_worst_words(layers[each])}",
    )  # fmt: skip
    show(channel_picture(layers[str(name)], _least(seen.policy) if seen is not None else None), "", "channels")


def _worst(layer: Layer) -> float:
    return min((ratio for ratio in layer.channels_db if ratio is not None), default=float("inf"))


def _worst_words(layer: Layer) -> str:
    """What is worst of a layer: a channel without a figure, else the least figure."""
    ratios = [float("inf") if ratio is None else ratio for ratio in layer.channels_db]
    return channel_words(layer, ratios.index(min(ratios)))


def _least(policy: Policy) -> float | None:
    least = policy.objective.get("min_channel_sqnr_db")
    return float(least) if isinstance(least, int | float) else None


def _why_no_pareto(seen: SeenWith | None) -> str:
    return text("picture_pareto_none") if seen is not None else text("graph_no_policy")
