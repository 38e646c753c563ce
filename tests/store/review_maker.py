"""Small policies, people and stores for tests of the review."""

from hashlib import sha256 as raw_sha256

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from metainfer_core.bundle.envelope import encode_base64
from metainfer_core.bundle.statement import Justification
from metainfer_core.bundle.trust import Person, TrustedKey, TrustFile
from metainfer_core.policy.policy import Policy, PolicyAction, Risk
from metainfer_core.values import sha256
from review_store.review.decide import Decision, current_state, decide
from review_store.signing.keys import PrivateKey

MODEL, SPEC, RULES, OTHER = (sha256(text) for text in (b"model", b"spec", b"rules", b"other"))
AT, UNTIL = "2026-11-29T12:00:00Z", "2027-11-29T12:00:00Z"
JUSTIFICATION = Justification(why_allowed="measured", accuracy_effect="0.1 dB", fallback="keep float")


def private_key(name):
    return PrivateKey(Ed25519PrivateKey.from_private_bytes(raw_sha256(name.encode()).digest()))


def person(name, *roles, **key):
    trusted = TrustedKey(public_key=encode_base64(private_key(name).public_key), **key)
    return Person(id=name, roles=roles or ("reviewer",), keys=(trusted,))


def trust_file(*people, **more):
    return TrustFile(people=people or (person("ada", "reviewer", "releaser"), person("bob"), person("eve")), **more)


TRUST = trust_file()


def action(node, risk="low", kind="quantize", **more):
    found = Risk(level=risk, facts=()) if isinstance(risk, str) else risk
    return PolicyAction(**({"node_id": node, "action": kind, "params": {"bit_width": 8}, "risk": found} | more))


ACTIONS = (action("conv_0"), action("conv_1", "medium"), action("add_2", "high", "fuse"))
CONV_0, CONV_1, ADD_2 = (each.id for each in ACTIONS)


def policy(*actions, **more):
    given = {"name": "net_on_chip", "model_digest": MODEL, "spec_digest": SPEC, "ruleset_digest": RULES}
    given["objective"] = {"goal": "least time"}
    return Policy(actions=actions or ACTIONS, **(given | more))


POLICY = policy()


def say(log, of, who, ids, *verdicts, trust=TRUST, at=AT, legality=None, **more):
    """One decision, as a command makes it; returns what was written, or the conflict."""
    ids = (ids,) if isinstance(ids, str) else tuple(ids)
    if "override" in verdicts and "measured" not in more:
        more.setdefault("unmeasured", "a test of the record")
    return decide(log, current_state(log, of, trust), Decision(who, ids, verdicts, **more), at, legality)


def approve_all(log, of, who, **more):
    return say(log, of, who, [each.id for each in of.actions], "approve", justification=JUSTIFICATION, **more)


def words(log, of, trust=TRUST):
    """Action id to the word for its state."""
    return {each.id: each.word for each in current_state(log, of, trust).actions}
