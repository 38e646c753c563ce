import base64
import os
import stat
import subprocess
import sys

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from review_maker import private_key

from metainfer_core.bundle.trust_root import read_trust
from metainfer_core.errors import InputError, UnsupportedError
from review_store.signing.keys import (
    keyring_passphrase,
    new_key,
    passphrase_from_descriptor,
    public_key_file,
    read_key,
    read_public_key,
    write_key,
)

PASSPHRASE = "correct horse"
SCRYPT = bytes.fromhex("2b06010401da47040b")


def test_key_comes_back_with_its_passphrase_only(tmp_path):
    key, path = new_key(), tmp_path / "keys" / "ada.key"
    write_key(path, key, PASSPHRASE)
    back = read_key(path, PASSPHRASE)
    assert back.public_key == key.public_key
    Ed25519PublicKey.from_public_bytes(key.public_key).verify(back.sign(b"data"), b"data")
    with pytest.raises(InputError, match="cannot be unlocked"):
        read_key(path, PASSPHRASE + "!")


def test_file_is_encrypted_by_scrypt_and_for_the_owner_alone(tmp_path):
    path = tmp_path / "ada.key"
    write_key(path, private_key("ada"), PASSPHRASE)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    pem = path.read_bytes()
    assert pem.startswith(b"-----BEGIN ENCRYPTED PRIVATE KEY-----")
    der = base64.b64decode(b"".join(pem.splitlines()[1:-1]))
    assert SCRYPT in der
    assert private_key("ada").key.private_bytes_raw() not in der
    assert list(tmp_path.iterdir()) == [path]


def test_key_that_others_can_read_is_refused(tmp_path):
    path = tmp_path / "ada.key"
    write_key(path, private_key("ada"), PASSPHRASE)
    path.chmod(0o640)
    with pytest.raises(InputError, match="0640, expected 0600"):
        read_key(path, PASSPHRASE)


def test_existing_key_is_never_overwritten(tmp_path):
    path = tmp_path / "ada.key"
    write_key(path, private_key("ada"), PASSPHRASE)
    before = path.read_bytes()
    with pytest.raises(InputError, match="there is a key already"):
        write_key(path, private_key("bob"), PASSPHRASE)
    assert path.read_bytes() == before


def test_short_passphrase_is_refused_before_anything_is_written(tmp_path):
    with pytest.raises(InputError, match="at least 8"):
        write_key(tmp_path / "ada.key", private_key("ada"), "1234567")
    assert list(tmp_path.iterdir()) == []


def unencrypted(key):
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )


def encrypted(key):
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.BestAvailableEncryption(PASSPHRASE.encode()),
    )


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (unencrypted(private_key("ada").key), "not encrypted"),
        (encrypted(ec.generate_private_key(ec.SECP256R1())), "not an Ed25519 key"),
        (b"junk", "cannot be unlocked"),
        (b"", "cannot be unlocked"),
    ],
    ids=["plain text", "another algorithm", "junk", "empty"],
)
def test_other_files_are_refused(tmp_path, content, what):
    path = tmp_path / "ada.key"
    path.write_bytes(content)
    path.chmod(0o600)
    with pytest.raises(InputError, match=what):
        read_key(path, PASSPHRASE)


def test_public_key_file_round_trip(tmp_path):
    path = tmp_path / "ada.pub"
    file = public_key_file("ada", private_key("ada"))
    path.write_bytes(file.to_json())
    assert read_public_key(path) == file
    assert file.key.raw == private_key("ada").public_key


def test_passphrase_is_the_first_line_of_the_descriptor():
    read_end, write_end = os.pipe()
    os.write(write_end, "pass phräse\r\nmore\n".encode())
    os.close(write_end)
    assert passphrase_from_descriptor(read_end) == "pass phräse"
    os.close(read_end)
    for wrong in (read_end, -1, 1 << 70):
        with pytest.raises(InputError, match="--passphrase-fd"):
            passphrase_from_descriptor(wrong)


def test_key_never_shows_itself():
    assert "Ed25519" not in repr(private_key("ada"))


class NoStore:
    """What `keyring` does on a machine without a desktop."""

    @staticmethod
    def get_password(service, person):
        raise RuntimeError("No recommended backend was available.")

    set_password = get_password


class Store:
    """A key store that works."""

    def __init__(self):
        self.kept = {}

    def get_password(self, service, person):
        return self.kept.get((service, person))

    def set_password(self, service, person, passphrase):
        self.kept[service, person] = passphrase


def test_missing_key_store_is_said_clearly(monkeypatch):
    monkeypatch.setitem(sys.modules, "keyring", None)
    with pytest.raises(UnsupportedError, match="`keyring` is not installed") as refusal:
        keyring_passphrase("ada")
    assert "--passphrase-fd" in refusal.value.fix
    monkeypatch.setitem(sys.modules, "keyring", NoStore)
    with pytest.raises(UnsupportedError, match="No recommended backend"):
        keyring_passphrase("ada")


def test_key_store_keeps_the_passphrase_and_not_the_key(monkeypatch):
    store = Store()
    monkeypatch.setitem(sys.modules, "keyring", store)
    assert keyring_passphrase("ada") is None
    assert keyring_passphrase("ada", store=PASSPHRASE) == PASSPHRASE
    assert keyring_passphrase("ada") == PASSPHRASE
    assert store.kept == {("meta-infer", "ada"): PASSPHRASE}


def test_keys_trusted_at_once_by_many_are_all_kept(tmp_path):
    people = [f"person{number}" for number in range(6)]
    for person in people:
        (tmp_path / f"{person}.pub").write_bytes(public_key_file(person, new_key()).to_json())
    command = [sys.executable, "-m", "metainfer_core", "keys", "trust"]
    running = [subprocess.Popen([*command, f"{person}.pub"], cwd=tmp_path, stdout=subprocess.PIPE) for person in people]
    assert [each.wait(120) for each in running] == [0] * 6
    for each in running:
        each.stdout.close()
    trust = read_trust(tmp_path / "workspace" / "trust.json")
    assert {person.id for person in trust.people} == set(people)
    assert trust.version == 7


def test_new_key_leaves_the_public_key_of_another_alone(tmp_path):
    """A key in a device has a public file only; a second key of that name would take its place."""
    public = tmp_path / "ada.pub"
    public.write_bytes(public_key_file("ada", private_key("ada")).to_json())
    before = public.read_bytes()
    command = [sys.executable, "-m", "metainfer_core", "keys", "new", "ada", "--keys", str(tmp_path)]
    done = subprocess.run(
        [*command, "--passphrase-fd", "0"], input="correct horse\n", capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr.splitlines()[0]) == (2, f"{public}: there is a key already.")
    assert (public.read_bytes(), list(tmp_path.iterdir())) == (before, [public])
