"""What the server answers beside the screens: one line for each part of the studio that has routes of its own."""

from __future__ import annotations

from starlette.routing import BaseRoute

from studio.drafts.desk_routes import desk_routes
from studio.model.graph_viewer import netron_routes
from studio.pages.page_routes import page_routes


def routes() -> list[BaseRoute]:
    """All routes of the studio's own."""
    return [*page_routes(), *desk_routes(), *netron_routes()]
