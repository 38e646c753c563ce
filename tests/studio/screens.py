"""Runs a screen of the studio by its name, in a workspace, without a browser."""

from pathlib import Path

from streamlit.testing.v1 import AppTest

ROOT = Path(__file__).parents[2]


def screen(name, workspace, monkeypatch, **query):
    """The screen after its first run."""
    monkeypatch.setenv("METAINFER_WORKSPACE", str(workspace))
    monkeypatch.chdir(ROOT)
    page = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60).run()
    assert not page.exception, page.exception
    for key, value in query.items():
        page.query_params[key] = value
    if name != "home":
        page.switch_page(f"pages/{name}.py").run()
        assert not page.exception, page.exception
    return page
