"""The server: the screens, the studio's own routes, and headers that keep every request on this machine."""

from __future__ import annotations

from pathlib import Path

import streamlit as st
from starlette.middleware import Middleware
from starlette.routing import Mount, Route
from streamlit.runtime.pages_manager import PagesManager

from studio.server.frame import PAGES
from studio.server.guard import Guard
from studio.server.lost import Lost
from studio.server.routes import routes

PagesManager.uses_pages_directory = False
"""The frame navigates. Else the first address opened on a new server, if it is a screen's, is run without its frame."""

SCREENS = [name for name, _ in PAGES if name != "home"]
STREAMLIT = ("_stcore", "component", "media", "static", "vendor")
own = routes()
first_parts = {route.path.strip("/").split("/")[0] for route in own if isinstance(route, Route | Mount)}

app = st.App(
    Path(__file__).parents[2] / "app.py",
    routes=own,
    middleware=[Middleware(Guard), Middleware(Lost, screens=SCREENS, others={*first_parts, *STREAMLIT})],
)
