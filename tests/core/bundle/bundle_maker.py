"""Makes signed bundles for tests with nothing but `cryptography`: what a signer elsewhere would do."""

from hashlib import sha256 as raw_sha256

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from metainfer_core.bundle.envelope import (
    PAYLOAD_TYPE,
    Envelope,
    Signature,
    encode_base64,
    key_id,
    pre_authentication_encoding,
)
from metainfer_core.bundle.statement import (
    ApprovalPredicate,
    ApprovalStatement,
    ApprovedAction,
    Justification,
    LogHead,
    ReleasePredicate,
    ReleaseStatement,
    SignedAction,
    subjects,
)
from metainfer_core.bundle.trust import Person, Quorum, TrustedKey, TrustFile
from metainfer_core.policy.policy import Policy, PolicyAction, Risk
from metainfer_core.values import sha256

MODEL, SPEC, RULES, HEAD = (sha256(text) for text in (b"model", b"spec", b"rules", b"head"))
NOW = "2026-11-29T12:00:00Z"
JUSTIFICATION = Justification(why_allowed="measured", accuracy_effect="0.1 dB", fallback="keep float")


def private_key(name):
    return Ed25519PrivateKey.from_private_bytes(raw_sha256(name.encode()).digest())


def public_key(name):
    return private_key(name).public_key().public_bytes_raw()


def trusted_key(name, **more):
    return TrustedKey(public_key=encode_base64(public_key(name)), **more)


def person(name, *roles, **key):
    return Person(id=name, roles=roles or ("reviewer",), keys=(trusted_key(name, **key),))


def trust_file(*people, **more):
    people = people or (person("ada", "reviewer", "releaser"), person("bob"), person("eve"))
    return TrustFile(people=people, **({"quorum": Quorum()} | more))


def action(node, risk="low", kind="quantize", **more):
    found = None if risk is None else Risk(level=risk, facts=())
    return PolicyAction(node_id=node, action=kind, params={"bit_width": 8}, risk=found, **more)


ACTIONS = (action("conv_0"), action("conv_1", "medium"), action("add_2", "high", "fuse"))


def policy(*actions, **more):
    given = {"name": "net_on_chip", "model_digest": MODEL, "spec_digest": SPEC, "ruleset_digest": RULES}
    return Policy(actions=actions or ACTIONS, **(given | more))


def sign(payload, *names, payload_type=PAYLOAD_TYPE):
    signed = pre_authentication_encoding(payload_type, payload)
    signatures = tuple(Signature(key_id(public_key(name)), private_key(name).sign(signed)) for name in names)
    return Envelope(payload_type, payload, signatures)


def approved(each, risk=None, justification=JUSTIFICATION, at=NOW):
    level = risk or (each.risk.level if each.risk else "high")
    return ApprovedAction(
        id=each.id, content_digest=each.content_digest, risk=level, at=at, justification=justification
    )


def approval(name, *actions, model=MODEL, spec=SPEC, rules=RULES, signer=None, at=NOW, demo=None):
    statement = ApprovalStatement(
        subject=subjects(model=model, spec=spec),
        predicate=ApprovalPredicate(
            person=name,
            tool_version="0.1.0",
            ruleset_digest=rules,
            at=at,
            demo=demo,
            actions=tuple(each if isinstance(each, ApprovedAction) else approved(each) for each in actions),
        ),
    )
    return sign(statement.to_json(), signer or name).plain()


def statement(approvals=None, of=None, **changes):
    reviewed = of or policy()
    authors = changes.pop("authors", ())
    subject = changes.pop(
        "subject", subjects(model=changes.pop("model", MODEL), spec=changes.pop("spec", SPEC), policy=reviewed.digest)
    )
    predicate = {
        "tool_version": "0.1.0",
        "ruleset_digest": RULES,
        "serial": 1,
        "created": NOW,
        "expires": "2027-11-29T12:00:00Z",
        "policy": reviewed,
        "actions": tuple(
            SignedAction(id=each.id, content_digest=each.content_digest, authors=authors) for each in reviewed.actions
        ),
        "approvals": tuple(approvals if approvals is not None else [approval("bob", *reviewed.actions)]),
        "review_log": LogHead(seq=9, hash=HEAD),
    }
    return ReleaseStatement(subject=subject, predicate=ReleasePredicate(**(predicate | changes)))


def bundle(approvals=None, of=None, signers=("ada",), **changes):
    return sign(statement(approvals, of, **changes).to_json(), *signers).to_json()
