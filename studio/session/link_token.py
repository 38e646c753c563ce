"""Links that only this server hands out: its own routes answer no other."""

from __future__ import annotations

import hashlib
import hmac
import secrets

from starlette.requests import Request

_KEY = secrets.token_bytes(32)
"""Of this server process; a link does not outlive it."""


def token(subject: str) -> str:
    """Proof that this server gave out links to a subject, such as a path or a document's digest."""
    return hmac.new(_KEY, subject.encode(), hashlib.sha256).hexdigest()[:32]


def has_token(request: Request, subject: str) -> bool:
    """Whether the request carries the token of the subject."""
    return hmac.compare_digest(request.query_params.get("token", "").encode(), token(subject).encode())


def signed(path: str) -> str:
    """The path with its token."""
    return f"{path}?token={token(path)}"


def is_signed(request: Request) -> bool:
    """Whether the request's path came from `signed`."""
    return has_token(request, str(request.scope["path"]))
