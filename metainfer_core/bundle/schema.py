"""JSON Schemas of what is signed and of the trust file, generated from the value classes, for readers elsewhere.

They tell form alone. What makes a bundle trusted, such as that its digests fit each other, `meta-infer verify` checks.
"""

from __future__ import annotations

from typing import Any

from metainfer_core.bundle.statement import ApprovalStatement, ReleaseStatement
from metainfer_core.bundle.trust import TrustFile
from metainfer_core.values import Value

DIALECT = "https://json-schema.org/draft/2020-12/schema"
SIGNED_FORMATS: dict[str, type[Value]] = {
    "release": ReleaseStatement,
    "approval": ApprovalStatement,
    "trust": TrustFile,
}
"""Name to what it is."""


def signed_schema(name: str) -> dict[str, Any]:
    """The schema (draft 2020-12) of one of `SIGNED_FORMATS`."""
    return {"$schema": DIALECT, **_without_titles(SIGNED_FORMATS[name].model_json_schema(by_alias=True))}


def _without_titles(schema: Any) -> Any:
    """The schema without the titles that only say a field's name again; a field may be called `title`."""
    if isinstance(schema, list):
        return [_without_titles(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        key: {name: _without_titles(inner) for name, inner in value.items()}
        if key in ("properties", "$defs")
        else _without_titles(value)
        for key, value in schema.items()
        if key != "title"
    }
