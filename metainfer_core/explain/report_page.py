"""The build report as one self-contained HTML page, and as a few lines for a terminal."""

from __future__ import annotations

from metainfer_core.explain.memory_picture import memory_picture
from metainfer_core.explain.render import environment
from metainfer_core.explain.sizes import sized_html, sized_text
from metainfer_core.verify.report import BuildReport


def report_html(report: BuildReport) -> str:
    """One page without scripts or outside references, whose first lines say: does it fit, how fast, what blocks it."""
    pictures = [(arena, memory_picture(arena)) for arena in report.memory]
    return sized_html(environment().get_template("report.html.jinja").render(report=report, pictures=pictures))


def report_text(report: BuildReport) -> str:
    """What a terminal shows after a build."""
    lines = [f"{headline.question} {sized_text(headline.answer)}" for headline in report.headlines]
    lines += [unit.text for unit in report.units]
    lines += [f"Warning: {warning}" for warning in report.warnings]
    return "\n".join(lines)
