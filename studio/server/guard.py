"""At the door: only requests addressed to this machine, and headers by which a browser sends nothing elsewhere."""

from __future__ import annotations

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocketClose

CONTENT_POLICY = "; ".join(
    (
        "default-src 'self'",
        # Streamlit loads a component's script from a blob, and Plotly and the tables compile small functions.
        "script-src 'self' 'unsafe-inline' 'unsafe-eval' blob:",
        "style-src 'self' 'unsafe-inline'",
        "img-src 'self' data: blob:",
        "font-src 'self' data:",
        "connect-src 'self' blob: data:",
        "worker-src 'self' blob:",
        "frame-src 'self' blob:",
        "frame-ancestors 'self'",
        "form-action 'self'",
        "base-uri 'self'",
        "object-src 'none'",
    )
)


HOSTS = ("127.0.0.1", "localhost")


class Guard:
    """ASGI middleware that refuses other hosts and adds the headers; a route's own header of the same name stays.

    A page of another site whose name was made to lead to this machine (DNS rebinding) carries that name as the host.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes the request on, and adds the headers to its answer."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        host = Headers(scope=scope).get("host", "").rsplit(":", 1)[0]
        if host not in HOSTS:
            no = PlainTextResponse("The studio answers to 127.0.0.1 and localhost only.", 421)
            refuse: ASGIApp = no if scope["type"] == "http" else WebSocketClose()
            await refuse(scope, receive, send)
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.setdefault("content-security-policy", CONTENT_POLICY)
                headers.setdefault("x-content-type-options", "nosniff")
                headers.setdefault("referrer-policy", "no-referrer")
            await send(message)

        await self._app(scope, receive, with_headers)
