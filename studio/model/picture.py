"""Pictures of the studio's own as SVG in the page's colours; parts of them are buttons, for the mouse and the keyboard.

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
  const held = document.activeElement?.closest?.(".picture") === place ? document.activeElement.dataset.pick : null;
  place.replaceChildren(document.importNode(read.documentElement, true));
  for (const part of place.querySelectorAll("[data-pick]")) {
    part.setAttribute("role", "button");
    part.setAttribute("tabindex", "0");
    part.setAttribute("aria-label", [...part.querySelectorAll("text")].map((each) => each.textContent).join(", "));
    if (part.dataset.pick === held) part.focus({ preventScroll: true });
  }
  const pick = (event) => {
    const part = event.target.closest("[data-pick]");
    if (part) setTriggerValue("picked", part.dataset.pick);
    return part;
  };
  place.onclick = pick;
  place.onkeydown = (event) => {
    if ((event.key === "Enter" || event.key === " ") && pick(event)) event.preventDefault();
  };
}
"""
_component = st.components.v2.component(
    "metainfer_picture", html='<div class="mi picture">\n</div>', js=_JS, isolate_styles=False
)


def draw_picture(template: str, key: str, **values: object) -> str | None:
    """Shows the SVG that a template gives; the `data-pick` of the part that was picked in this very moment."""
    svg = markup(template, **values).strip()
    picked = _component(key=key, data={"svg": svg}, on_picked_change=lambda: None).picked
    return picked if isinstance(picked, str) else None
