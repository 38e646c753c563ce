"""Routes of the desk: the places of a draft, and what a value that someone types would mean."""

from __future__ import annotations

from urllib.parse import urlencode

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from metainfer_core.errors import MetaInferError
from metainfer_core.spec.files.yaml_writer import shown
from studio.drafts.desk_places import desk_places
from studio.drafts.draft_state import given
from studio.drafts.growing import draft_called
from studio.session.link_token import has_token, token
from studio.words.language import FIRST, KEY, known_language, language

PLACES = "/places-of-draft"
VALUE = "/value-of-place"


def desk_routes() -> list[BaseRoute]:
    """The routes."""
    return [Route(PLACES, _places), Route(VALUE, _value)]


def places_link(name: str, digest: str) -> str:
    """The address of the places of a draft, by its path in the workspace; another one when the draft is another."""
    return f"{PLACES}?{urlencode({'draft': name, 'digest': digest, KEY: language(), 'token': token(name)})}"


def value_link() -> str:
    """The address that says what a typed value means; `place` and `given` are added."""
    return f"{VALUE}?{urlencode({'token': token(VALUE)})}"


async def _places(request: Request) -> Response:
    name = request.query_params.get("draft", "")
    speaks = known_language(request.query_params.get(KEY)) or FIRST
    if not has_token(request, name):
        return _no("This link was not given out by this server, or the server has been restarted.", 403)
    try:
        body = await run_in_threadpool(lambda: desk_places(draft_called(name), speaks))
    except MetaInferError as error:
        return _no(error.what, 404)
    return Response(body, media_type="application/json", headers={"cache-control": "no-store"})


async def _value(request: Request) -> Response:
    if not has_token(request, VALUE):
        return _no("This link was not given out by this server, or the server has been restarted.", 403)
    place, words = request.query_params.get("place", "")[:300], request.query_params.get("given", "")[:400]
    return JSONResponse(await run_in_threadpool(meaning, place, words))


def meaning(place: str, words: str) -> dict[str, str]:
    """What a typed value would be in the spec (`holds`), or what is wrong with it (`why`)."""
    try:
        return {"holds": shown(place, given(place, words))}
    except MetaInferError as error:
        return {"why": " ".join(part for part in (error.what, error.why, error.fix) if part)}


def _no(sentence: str, status: int) -> Response:
    return JSONResponse({"error": sentence}, status_code=status)
