"""The studio's own HTML: templates in which every value is escaped, so that names from elsewhere stay text."""

from __future__ import annotations

import functools

import streamlit as st
from jinja2 import Environment, PackageLoader, StrictUndefined
from streamlit.delta_generator import DeltaGenerator

from metainfer_core.explain.sizes import size, sized_html
from studio.words import figures, long_names
from studio.words.action_words import parameters_in_words
from studio.words.core_words import core_markup, core_term, core_words
from studio.words.marks import risk_mark, state_mark
from studio.words.texts import text


@functools.cache
def _environment() -> Environment:
    made = Environment(
        loader=PackageLoader("studio.words"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters.update(core=core_markup, core_text=core_words, term=core_term)
    made.globals.update(
        text=text,
        risk=risk_mark,
        word=state_mark,
        size=size,
        decibels=figures.decibels,
        microseconds=figures.microseconds,
        milliseconds=figures.milliseconds,
        whole=figures.whole,
        amount=figures.rate,
        parameters=parameters_in_words,
        plain_value=figures.plain_value,
        short=long_names.shortened,
        short_words=long_names.short_words,
    )
    return made


def markup(template: str, **values: object) -> str:
    """The HTML that a template in `templates/` gives for these values."""
    return long_names.cut_names(sized_html(_environment().get_template(f"{template}.html.jinja").render(**values)))


def draw(template: str, **values: object) -> None:
    """Shows a template on the screen."""
    st.html(markup(template, **values))


def next_step(name: str = "step") -> DeltaGenerator:
    """A place in which a link looks like the button that it is: what most people do next on this screen."""
    return st.container(key=f"next_{name}", width="content")


def draw_style() -> None:
    """Puts the style of all templates on the screen; once a run, before the first of them."""
    st.html(f"<style>{_environment().get_template('style.css').render()}</style>")
