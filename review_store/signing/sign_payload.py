"""Making an envelope: exact bytes with a signature by each key."""

from __future__ import annotations

from collections.abc import Sequence

from metainfer_core.bundle.envelope import PAYLOAD_TYPE, Envelope, Signature, pre_authentication_encoding
from review_store.signing.external_keys import SigningKey


def sign_payload(payload: bytes, keys: Sequence[SigningKey], payload_type: str = PAYLOAD_TYPE) -> Envelope:
    """The envelope of `payload` with a signature by each key."""
    signed = pre_authentication_encoding(payload_type, payload)
    by_id = {key.id: key for key in keys}
    signatures = tuple(Signature(each, by_id[each].sign(signed)) for each in sorted(by_id))
    return Envelope(payload_type, payload, signatures)
