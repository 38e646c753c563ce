import pytest
from bundle_maker import person, public_key, trust_file, trusted_key

from metainfer_core.bundle.envelope import encode_base64
from metainfer_core.bundle.trust import Person, Quorum, Revocation, TrustedKey, TrustFile
from metainfer_core.bundle.trust_root import read_trust
from metainfer_core.errors import InputError


def plain_key(raw):
    return {"public_key": encode_base64(raw)}


def people(*keys_by_person):
    return {
        "people": [
            {"id": name, "roles": ["reviewer"], "keys": [plain_key(key) for key in keys]}
            for name, keys in keys_by_person
        ]
    }


@pytest.mark.parametrize(
    ("plain", "what"),
    [
        (people(("ada", [public_key("ada")]), ("ada", [public_key("bob")])), "person ada"),
        (people(("ada", [public_key("ada")]), ("bob", [public_key("ada")])), "public key"),
        (people(("ada", [public_key("ada"), public_key("ada")])), "public key"),
        (
            {"people": [{"id": i, "name": n, "roles": []} for i, n in (("ada", "Ada L"), ("ada2", "ada  \uff4c"))]},
            "name",
        ),
    ],
    ids=["same person twice", "one key of two people", "one key twice", "two accounts of one person"],
)
def test_nobody_and_no_key_counts_twice(plain, what):
    with pytest.raises(InputError, match=f"{what}.*twice") as refusal:
        TrustFile.from_plain(plain, "trust.json")
    assert "{" not in refusal.value.why  # the sentence alone, not the whole file behind it


@pytest.mark.parametrize("quorum", [0, -1, 101])
@pytest.mark.parametrize("risk", ["low", "medium", "high", "release"])
def test_quorum_has_sane_bounds(risk, quorum):
    with pytest.raises(InputError, match=f"quorum.{risk}"):
        TrustFile.from_plain({"quorum": {risk: quorum}}, "trust.json")


def small_order_points():
    prime, eight = 2**255 - 19, 2707385501144840649318225287225658788936804267575313519463743609750303402022
    for y in (0, 1, prime - 1, eight, prime - eight, prime, prime + 1):
        for sign_bit in (0, 1 << 255):
            yield (y | sign_bit).to_bytes(32, "little")


@pytest.mark.parametrize("raw", list(small_order_points()), ids=lambda raw: raw.hex()[:12] + raw.hex()[-2:])
def test_key_of_small_order_is_refused(raw):
    with pytest.raises(InputError, match="small order"):
        TrustFile.from_plain(people(("ada", [raw])), "trust.json")


@pytest.mark.parametrize("raw", [b"", bytes(31), bytes(33), bytes(65)])
def test_key_of_wrong_length_is_refused(raw):
    with pytest.raises(InputError, match="32 bytes"):
        TrustFile.from_plain(people(("ada", [raw])), "trust.json")


@pytest.mark.parametrize("name", ["Ada", "аda", "ada\u200b", "", "-ada", "ada b", "a" * 101, "ada\u0301"])
def test_ids_that_could_look_alike_are_refused(name):
    with pytest.raises(InputError, match=r"people\.0\.id"):
        TrustFile.from_plain(people((name, [])), "trust.json")


@pytest.mark.parametrize(
    "time",
    ["2026-11-29", "2026-11-29T12:00:00", "2026-11-29T12:00:00+01:00", "2026-13-01T00:00:00Z", "2026-1-2T3:4:5Z"],
)
def test_times_have_one_spelling(time):
    key = plain_key(public_key("ada")) | {"valid_until": time}
    with pytest.raises(InputError, match="valid_until") as refusal:
        TrustFile.from_plain({"people": [{"id": "ada", "roles": [], "keys": [key]}]}, "trust.json")
    assert refusal.value.why == (
        "Value error, a time is a date and a time of day in UTC, with two digits for each part, as in "
        f"2026-01-02T03:04:05Z. Got {time!r}."
    )


def test_key_counts_only_while_it_is_valid():
    key = trusted_key("ada", valid_from="2026-01-01T00:00:00Z", valid_until="2026-12-31T00:00:00Z")
    assert key.fault("2025-12-31T23:59:59Z") == "is valid only from 2026-01-01T00:00:00Z on"
    assert key.fault("2026-01-01T00:00:00Z") is None
    assert key.fault("2026-12-31T00:00:00Z") is None
    assert key.fault("2026-12-31T00:00:01Z") == "was valid only until 2026-12-31T00:00:00Z"


def test_revoked_key_never_counts_not_even_before():
    key = trusted_key("ada", revoked=Revocation(at="2026-06-01T00:00:00Z", reason="stolen"))
    assert key.fault("2026-01-01T00:00:00Z") == "was revoked at 2026-06-01T00:00:00Z (stolen)"


def test_unknown_fields_and_unknown_algorithms_are_refused():
    with pytest.raises(InputError, match="trust_everybody"):
        TrustFile.from_plain({"trust_everybody": True}, "trust.json")
    plain = people(("ada", [public_key("ada")]))
    plain["people"][0]["keys"][0]["algorithm"] = "rsa"
    with pytest.raises(InputError, match="algorithm"):
        TrustFile.from_plain(plain, "trust.json")


def test_missing_file_trusts_nobody(tmp_path):
    assert read_trust(tmp_path / "trust.json") == TrustFile()
    assert read_trust(tmp_path / "trust.json").public_keys == ()


def test_round_trip(tmp_path):
    trust = trust_file(person("ada", "releaser"), Person(id="bob", roles=()), quorum=Quorum(high=2), version=7)
    (tmp_path / "trust.json").write_bytes(trust.to_json())
    assert read_trust(tmp_path / "trust.json") == trust
    assert trust.owner(public_key("ada")) == (trust.people[0], trust.people[0].keys[0])
    assert trust.owner(public_key("bob")) is None


def test_key_id_is_the_digest_of_the_raw_key():
    key = TrustedKey(public_key=encode_base64(public_key("ada")))
    assert key.id.startswith("sha256:")
    assert key.id == trusted_key("ada").id
    assert key.id != trusted_key("bob").id
