"""Netron, the graph viewer, from this server alone: its files, and models that only links of ours open.

Its own server is not used: that shows one model on all ports, and what lies beside the model. The page is served with
version 0.0.0 and without its date, so that it neither calls out nor asks to be updated, and with its cookie of consent,
so that it asks nothing.
"""

from __future__ import annotations

import functools
import hmac
import html
import re
import time
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, PlainTextResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

from metainfer_core.errors import DefectError, InputError
from studio.files.workspace import in_workspace, kind_of
from studio.session.link_token import token

PREFIX = "/netron"
_VERSION = re.compile(r'<meta name="version" content="[^"]*">')
_NOT_OURS = "This link was not given out by this server, has expired, or the server has been restarted."
_DATE = re.compile(r'<meta name="date" content="[^"]*">\n?')


def netron_routes() -> list[BaseRoute]:
    """The page, the models, and the viewer's files."""
    return [
        Route(f"{PREFIX}/index.html", _page),
        Route(PREFIX + "/model/{token}/{name:path}", _model),
        Mount(PREFIX, StaticFiles(directory=_folder())),
    ]


def netron_link(name: str) -> str:
    """Address of the viewer with a model of the workspace open in it; it is answered today and tomorrow."""
    return f"{PREFIX}/index.html?model={quote(name, safe='')}&token={token(_subject(name, _today()))}"


def _subject(name: str, day: int) -> str:
    return f"netron model {name} on day {day}"


def _today() -> int:
    return int(time.time() // 86_400)


@functools.cache
def _folder() -> Path:
    """Where the viewer's files lie. Asked of the installed distribution: an import could find another `netron`."""
    try:
        return Path(str(distribution("netron").locate_file("netron")))
    except PackageNotFoundError as error:
        raise DefectError("The graph viewer netron is not installed, though it belongs to the studio.") from error


async def _page(request: Request) -> Response:
    name = request.query_params.get("model", "")
    if not _is_ours(request.query_params.get("token", ""), name):
        return _no(_NOT_OURS, 403)
    file = f"model/{request.query_params['token']}/{quote(name)}"
    page = (_folder() / "index.html").read_text(encoding="utf-8")
    metas = ("version", "0.0.0"), ("file", file), ("identifier", name.rsplit("/", 1)[-1])
    lines = "\n".join(f'<meta name="{key}" content="{html.escape(value)}">' for key, value in metas)
    page = _DATE.sub("", _VERSION.sub(lambda _: lines, page, count=1))
    response = HTMLResponse(page, headers={"cache-control": "no-store"})
    response.set_cookie("consent", "1", path=PREFIX, samesite="strict")
    return response


async def _model(request: Request) -> Response:
    name = request.path_params["name"]
    if not _is_ours(request.path_params["token"], name):
        return _no(_NOT_OURS, 403)
    try:
        path = in_workspace(name)
    except InputError as error:
        return _no(str(error), 404)
    if kind_of(path) != "model":
        return _no("This file is no model.", 404)
    return FileResponse(path, media_type="application/octet-stream")


def _is_ours(given: str, name: str) -> bool:
    known = (token(_subject(name, day)).encode() for day in (_today(), _today() - 1))
    return any([hmac.compare_digest(given.encode(), each) for each in known])  # all of them: no time tells which


def _no(sentence: str, status: int) -> Response:
    return PlainTextResponse(sentence, status_code=status)
