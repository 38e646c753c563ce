"""The JSON Schemas take what the core takes, and refuse what it refuses, in real statements and trust files."""

import copy
import json

import jsonschema
import pytest
from bundle_maker import ACTIONS, NOW, approval, bundle, person, policy, statement, trust_file

from metainfer_core.bundle.envelope import decode_base64
from metainfer_core.bundle.schema import SIGNED_FORMATS, signed_schema
from metainfer_core.bundle.trust import Revocation
from metainfer_core.errors import InputError

RELEASE = json.loads(statement(demo=True, chip="chip", audience=("line 5",), authors=("bob",)).to_json())
APPROVAL = json.loads(decode_base64(approval("bob", *ACTIONS, demo=True)["payload"], "payload"))
REVOKED = Revocation(at=NOW, reason="lost", event=4)
TRUST = trust_file(person("ada", "reviewer", "releaser", demo=True), person("bob", revoked=REVOKED)).plain()
WHOLE = {"release": RELEASE, "approval": APPROVAL, "trust": TRUST}


def takes(name, plain):
    jsonschema.Draft202012Validator.check_schema(signed_schema(name))
    by_schema = jsonschema.Draft202012Validator(signed_schema(name)).is_valid(plain)
    try:
        SIGNED_FORMATS[name].from_plain(plain, "test")
    except InputError:
        by_core = False
    else:
        by_core = True
    assert by_schema == by_core
    return by_core


@pytest.mark.parametrize("name", SIGNED_FORMATS)
def test_what_is_really_signed_fits(name):
    assert takes(name, WHOLE[name])


def test_what_is_in_a_bundle_fits_with_the_policy_in_it():
    plain = json.loads(decode_base64(json.loads(bundle(of=policy(*ACTIONS)))["payload"], "payload"))
    assert takes("release", plain)
    inner = json.loads(decode_base64(plain["predicate"]["approvals"][0]["payload"], "payload"))
    assert takes("approval", inner)


@pytest.mark.parametrize(
    ("name", "path", "value"),
    [
        ("release", "predicate.demo", False),
        ("release", "predicate.demo", "true"),
        ("release", "predicate.more", 1),
        ("release", "predicate.serial", 0),
        ("release", "predicate.expires", "tomorrow"),
        ("release", "predicate.actions.0.content_digest", "sha256:00"),
        ("release", "predicate.actions.0.authors", ["Ada"]),
        ("release", "predicateType", "urn:metainfer:approval:1"),
        ("approval", "predicate.demo", False),
        ("approval", "predicate.person", "a b"),
        ("approval", "predicate.actions.0.risk", "none"),
        ("approval", "predicate.at", "2026-11-29T12:00:00+01:00"),
        ("trust", "people.0.keys.0.demo", False),
        ("trust", "people.0.keys.0.algorithm", "rsa"),
        ("trust", "people.0.roles", ["boss"]),
        ("trust", "quorum.high", 0),
        ("trust", "version", "1"),
        ("trust", "least_reason", 501),
    ],
)
def test_what_the_core_refuses_the_schema_refuses(name, path, value):
    changed = copy.deepcopy(WHOLE[name])
    *places, last = path.split(".")
    inner = changed
    for place in places:
        inner = inner[int(place)] if place.isdigit() else inner[place]
    inner[last] = value
    assert not takes(name, changed)


@pytest.mark.parametrize(
    ("name", "field"), [("release", "serial"), ("release", "policy"), ("approval", "person"), ("approval", "actions")]
)
def test_nothing_that_is_needed_may_be_missing(name, field):
    changed = copy.deepcopy(WHOLE[name])
    del changed["predicate"][field]
    assert not takes(name, changed)
