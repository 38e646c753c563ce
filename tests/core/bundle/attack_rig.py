"""How an attack is judged: by the checks that refuse it, in order, and by the exit status that follows."""

import json

import pytest
from bundle_maker import MODEL, NOW, RULES, SPEC, statement, trust_file
from bundle_maker import sign as sign_payload

from metainfer_core.bundle.case import Expected
from metainfer_core.bundle.signed_bundle import inspect_bundle, open_bundle
from metainfer_core.errors import InputError, NotTrustedError
from metainfer_core.values import canonical_json, sha256

TRUST = trust_file()
EXPECTED = Expected(MODEL, SPEC, RULES, chip="chip")
OTHER = sha256(b"other")


def checks(data, trust=TRUST, now=NOW, expected=EXPECTED, seen=None):
    """Names of the checks that refuse a bundle; none if it is trusted."""
    reasons = inspect_bundle(data, trust, now, expected, seen).reasons
    if reasons:
        with pytest.raises(NotTrustedError) as refusal:
            open_bundle(data, trust, now, expected, seen)
        assert (refusal.value.check, refusal.value.exit_status) == (reasons[0].check, 3)
        assert refusal.value.fix
    return [each.check for each in reasons]


def bad_input(data, match):
    """Asserts that these bytes are no bundle at all: status 2, in one message that matches."""
    with pytest.raises(InputError, match=match) as refusal:
        open_bundle(data, TRUST, NOW, EXPECTED)
    assert refusal.value.exit_status == 2


def changed(data, **fields):
    """The envelope with other fields, not signed again."""
    return canonical_json(json.loads(data) | fields)


def signature_changed(data, index=0, **fields):
    """The envelope with another signature entry; a field that is None is left out."""
    plain = json.loads(data)
    entry = plain["signatures"][index] | fields
    plain["signatures"][index] = {key: value for key, value in entry.items() if value is not None}
    return canonical_json(plain)


def signed_anew(change, *names):
    """A release whose statement was changed before it was signed: what a releaser who means ill can make."""
    plain = json.loads(statement().to_json())
    change(plain)
    return sign_payload(canonical_json(plain), *(names or ("ada",))).to_json()
