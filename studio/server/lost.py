"""Addresses that no screen has lead home: `/home` at once, any other with a word that it was not found."""

from __future__ import annotations

from collections.abc import Collection
from urllib.parse import quote

from starlette.datastructures import Headers
from starlette.responses import RedirectResponse
from starlette.types import ASGIApp, Receive, Scope, Send

LOST = "lost"
"""What the address of Home calls the screen that was asked for and is not there."""
LONGEST = 60


class Lost:
    """ASGI middleware for what a person types into the address bar. What a page fetches by itself passes untouched."""

    def __init__(self, app: ASGIApp, screens: Collection[str], others: Collection[str]) -> None:
        self._app, self._screens, self._others = app, frozenset(screens), frozenset(others)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes the request on, or sends the browser home."""
        target = self._home(scope) if scope["type"] == "http" and scope["method"] == "GET" else None
        if target is None:
            await self._app(scope, receive, send)
        else:
            await RedirectResponse(target, 307)(scope, receive, send)

    def _home(self, scope: Scope) -> str | None:
        asked = scope["path"].strip("/")
        first = asked.split("/")[0]
        if not asked or asked in self._screens or first in self._others or "." in asked.rsplit("/", 1)[-1]:
            return None
        if not Headers(scope=scope).get("accept", "").startswith("text/html"):
            return None
        return "/" if asked == "home" else f"/?{LOST}={quote(asked[:LONGEST], safe='')}"
