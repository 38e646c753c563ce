"""Routes that give a page's picture, or the lines around a place in a text document, to who holds a link of ours."""

from __future__ import annotations

from pathlib import Path

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import BaseRoute, Route

from metainfer_core.errors import MetaInferError
from review_store.keeping.manual_files import why_absent
from studio.files.documents import document_with, lines_around
from studio.files.workspace import workspace_folder
from studio.pages.page_picture import page_picture
from studio.session.link_token import has_token, token

PREFIX = "/pages-of"


def page_routes() -> list[BaseRoute]:
    """The routes."""
    return [
        Route(PREFIX + "/{digest}/{page:int}.png", _picture),
        Route(PREFIX + "/{digest}/{line:int}.json", _lines),
    ]


def document_link(digest: str) -> dict[str, str]:
    """What a component needs to ask for pages of a document: the address they begin with, and the token."""
    hex_digits = digest.removeprefix("sha256:")
    return {"address": f"{PREFIX}/{hex_digits}", "token": token(hex_digits)}


async def _picture(request: Request) -> Response:
    document = await _document(request)
    if isinstance(document, Response):
        return document
    digest = f"sha256:{request.path_params['digest']}"
    try:
        picture = await run_in_threadpool(page_picture, document, digest, request.path_params["page"])
    except MetaInferError as error:
        return _no(" ".join(part for part in (error.what, error.why, error.fix) if part), 422)
    return FileResponse(picture, media_type="image/png", headers={"cache-control": "private, max-age=86400"})


async def _lines(request: Request) -> Response:
    document = await _document(request)
    if isinstance(document, Response):
        return document
    first, lines = await run_in_threadpool(lines_around, document, request.path_params["line"])
    return JSONResponse({"first": first, "lines": lines})


async def _document(request: Request) -> Path | Response:
    """The document that a link names, or the answer that says why there is none."""
    digest = request.path_params["digest"]
    if not has_token(request, digest):
        return _no("This link was not given out by this server, or the server has been restarted.", 403)
    document = await run_in_threadpool(document_with, f"sha256:{digest}")
    return document or _no(why_absent(workspace_folder(), f"sha256:{digest}"), 404)


def _no(sentence: str, status: int) -> Response:
    return JSONResponse({"error": sentence}, status_code=status)
