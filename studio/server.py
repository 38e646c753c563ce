"""The server: the screens, the studio's own routes, and headers that keep every request on this machine."""

from __future__ import annotations

from pathlib import Path

import streamlit as st
from starlette.middleware import Middleware
from streamlit.runtime.pages_manager import PagesManager

from studio.guard import Guard
from studio.routes import routes

PagesManager.uses_pages_directory = False
"""The frame navigates. Else the first address opened on a new server, if it is a screen's, is run without its frame."""

app = st.App(Path(__file__).parents[1] / "app.py", routes=routes(), middleware=[Middleware(Guard)])
