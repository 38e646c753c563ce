"""Streamlit cleans up after overtaken drawings too: the desk must go on hearing keys until it is really gone."""

import pytest
from browsing import browser_page

from studio.drafts.confirm_desk import _FOLDER, SCRIPTS

DESK = "\n".join((_FOLDER / f"{name}.js").read_text("utf-8") for name in SCRIPTS)
DATA = {
    "draft": "d",
    "places_at": "/never",
    "thresholds": [0.9],
    "groups": [],
    "group": "all",
    "words": {"label": "Confirm the draft", "loading": "Loading"},
    "acked": {},
    "standing": {},
    "seqs": {},
}
DRAWN = """async ([script, data]) => {
  const draw = (await import(URL.createObjectURL(new Blob([script], {type: 'text/javascript'})))).default
  const heard = new Set()
  window.addEventListener = (kind, listener) => { if (kind === 'keydown') heard.add(listener) }
  window.removeEventListener = (kind, listener) => { if (kind === 'keydown') heard.delete(listener) }
  window.fetch = () => new Promise(() => {})
  const parentElement = document.createElement('div')
  parentElement.innerHTML = '<div class="desk"></div>'
  document.body.append(parentElement)
  const component = {parentElement, setStateValue: () => {}, data}
  const overtaken = draw(component), last = draw(component)
  const counts = [heard.size]
  overtaken(); counts.push(heard.size)
  parentElement.remove(); last(); counts.push(heard.size)
  return counts
}"""


@pytest.fixture(scope="module")
def page():
    with browser_page() as opened:
        yield opened


def test_the_desk_hears_keys_after_an_overtaken_drawing_and_no_more_when_it_is_gone(page):
    assert page.evaluate(DRAWN, [DESK, DATA]) == [1, 1, 0]


def test_without_looking_whether_it_is_still_shown_the_desk_would_be_deaf(page):
    look = "if (component.parentElement.isConnected) return"
    assert DESK.count(look) == 1
    assert page.evaluate(DRAWN, [DESK.replace(look, ""), DATA]) == [1, 0, 0]
