"""Pictures of the studio's own as SVG in the page's colours; parts of them can be clicked.

`st.html` takes SVG out, and an image would not know whether the page is light or dark.
"""

from __future__ import annotations

import streamlit as st

from studio.words.markup import markup

_JS = """
export default function ({ data, parentElement, setTriggerValue }) {
  const place = parentElement.querySelector(".picture");
  if (place.dataset.svg === data.svg) return;
  place.dataset.svg = data.svg;
  const read = new DOMParser().parseFromString(data.svg, "image/svg+xml");
  if (read.querySelector("parsererror, script, foreignObject")) return;
  place.replaceChildren(document.importNode(read.documentElement, true));
  place.onclick = (event) => {
    const part = event.target.closest("[data-pick]");
    if (part) setTriggerValue("picked", part.dataset.pick);
  };
}
"""
_component = st.components.v2.component(
    "metainfer_picture", html='<div class="mi picture">\n</div>', js=_JS, isolate_styles=False
)


def draw_picture(template: str, key: str, **values: object) -> str | None:
    """Shows the SVG that a template gives; the `data-pick` of the part that was clicked in this very moment."""
    svg = markup(template, **values).strip()
    picked = _component(key=key, data={"svg": svg}, on_picked_change=lambda: None).picked
    return picked if isinstance(picked, str) else None
