"""Build report: what was approved against what was built, accuracy, latency, memory; one page of it to mail."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from metainfer_core.errors import MetaInferError
from metainfer_core.explain.memory_picture import memory_picture
from metainfer_core.explain.report_page import report_html
from metainfer_core.files import MEBIBYTE, read_bytes
from metainfer_core.verify.report import BuildReport, Layer
from studio.drafts.missing_values import told_plainly
from studio.files.documents import file_digest
from studio.files.file_cache import kept_by_file
from studio.model.picture import draw_picture
from studio.session.choices import choose_file
from studio.sign.signing_view import validate_command
from studio.words.markup import draw, draw_style
from studio.words.plain_words import error_words, plain_words
from studio.words.texts import text

REPORT_LIMIT = 256 * MEBIBYTE


def main() -> None:
    """Draws the screen."""
    draw_style()
    st.title(text("page_report"))
    package = choose_file("package", text("choose_package"), "package")
    if package is None:
        draw("report_empty")
        st.page_link("pages/sign.py", label=text("page_sign"), icon=":material/draw:")
        return
    path = package.with_suffix(".report.json")
    try:
        report = _report(path)
    except FileNotFoundError:
        st.warning(text("report_missing", file=plain_words(path.name)))
        return
    except MetaInferError as error:
        st.error(error_words(error))
        return
    if file_digest(package) != report.package_digest:
        st.error(text("report_other"), icon=":material/error:")
    draw("report_head", report=report, warnings=told_plainly(report.warnings))
    with st.container(horizontal=True):  # "ignore": a run of the page would withdraw the file that was just asked for
        st.download_button(
            text("report_save"), lambda: report_html(report).encode(), f"{package.stem}.report.html",
            mime="text/html", icon=":material/description:", key="save_report", on_click="ignore",
        )  # fmt: skip
        st.download_button(
            text("report_package"), lambda: package.read_bytes(), package.name, icon=":material/inventory_2:",
            key="save_package", on_click="ignore",
        )  # fmt: skip
    with st.expander(text("report_verify"), icon=":material/verified:"):
        st.markdown(text("report_verify_how"))
        st.code(validate_command(package), language=None, wrap_lines=True)
    draw("report_body", report=report)
    for number, arena in enumerate(report.memory):
        draw("memory", arena=arena, first=number == 0)
        draw_picture("memory_map", f"memory_{number}", picture=memory_picture(arena), memory=arena.memory)
    if report.accuracy.layers:
        st.subheader(text("report_layers"))
        st.dataframe([_layer(each) for each in report.accuracy.layers], hide_index=True, height=380, placeholder="–")
    draw("report_foot", report=report)


@kept_by_file
def _report(path: Path) -> BuildReport:
    return BuildReport.from_json(read_bytes(path, "report", REPORT_LIMIT), path.name)


def _layer(layer: Layer) -> dict[str, object]:
    figures = layer.figures
    return {
        text("column_node"): layer.node_id,
        text("column_precision"): layer.precision,
        text("column_sqnr"): figures.sqnr_db,
        text("column_worst"): figures.worst_channel,
        text("column_worst_sqnr"): figures.worst_channel_sqnr_db,
        text("column_dead"): figures.dead_channels,
        text("column_channels"): figures.channels,
        text("column_error"): figures.max_abs_error,
        text("column_cosine"): figures.cosine,
    }


main()
