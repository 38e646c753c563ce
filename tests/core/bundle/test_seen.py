import pytest
from bundle_maker import MODEL, NOW, SPEC, bundle, policy, trust_file

from metainfer_core.bundle.seen import Seen, read_seen, seen_file, seen_name
from metainfer_core.bundle.signed_bundle import open_bundle
from metainfer_core.bundle.verified import remember
from metainfer_core.errors import NotTrustedError

TRUST = trust_file(version=4)


def test_what_was_built_is_remembered_beside_the_trust_file(tmp_path):
    path = seen_file(tmp_path / "trust.json")
    assert path == tmp_path / "trust.seen.json"
    assert read_seen(path) == Seen()
    newest = open_bundle(bundle(serial=3), TRUST, NOW)
    remember(path, newest)
    seen = read_seen(path)
    assert seen.trust_version == 4
    assert [each.serial for each in seen.bundles[newest.name]] == [3]
    with pytest.raises(NotTrustedError, match="serial 3"):
        open_bundle(bundle(serial=2), TRUST, NOW, seen=seen)


def test_bundles_for_other_models_or_specs_do_not_follow_each_other():
    names = {seen_name(policy()), seen_name(policy(model_digest=SPEC)), seen_name(policy(spec_digest=MODEL))}
    assert len(names) == 3
    seen = Seen().with_bundle(seen_name(policy(spec_digest=MODEL)), 9, MODEL, TRUST)
    assert open_bundle(bundle(), TRUST, NOW, seen=seen).statement.predicate.serial == 1


@pytest.mark.parametrize("content", [b"", b"{", b"{}{}", b'{"format":"metainfer.seen/2"}', b'{"trust_version":"1"}'])
def test_broken_record_is_refused_and_not_started_afresh(tmp_path, content):
    path = tmp_path / "trust.seen.json"
    path.write_bytes(content)
    with pytest.raises(NotTrustedError) as refusal:
        read_seen(path)
    assert refusal.value.check == "downgrade"


def test_trust_version_never_falls():
    seen = Seen(trust_version=5).with_bundle("x", 1, MODEL, trust_file(version=2))
    assert seen.trust_version == 5
