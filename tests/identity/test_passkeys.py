"""Passkeys, with another project's software authenticator in the place of a device."""

import json
from typing import Any

import pytest
from soft_webauthn import SoftWebauthnDevice
from webauthn.helpers import base64url_to_bytes, bytes_to_base64url, encode_cbor, parse_cbor

from gatewayd.clock import MINUTE
from gatewayd.errors import Problem
from gatewayd.identity.people import users
from gatewayd.identity.sign_in import passkeys
from gatewayd.identity.sign_in.challenges import PasskeyError
from gatewayd.identity.sign_in.passkeys import RelyingParty
from tests.support.store import START, MemoryStore

PARTY = RelyingParty(id="books.example", origin="https://books.example", name="gatewayd")
CHALLENGE = b"c" * 32


def user_of(store: MemoryStore) -> users.User:
    user_id = store.user(store.org())
    return store.read(lambda tx: users.get(tx, user_id))


def as_json(credential: dict[str, Any]) -> str:
    """What a page's script sends: bytes as base64url."""
    response = {
        name: bytes_to_base64url(value) for name, value in credential["response"].items() if isinstance(value, bytes)
    }
    identity = bytes_to_base64url(credential["rawId"])
    return json.dumps({"id": identity, "rawId": identity, "type": "public-key", "response": response})


def options_of(text: str) -> dict[str, Any]:
    options = json.loads(text)
    options["challenge"] = base64url_to_bytes(options["challenge"])
    if "user" in options:
        options["user"]["id"] = base64url_to_bytes(options["user"]["id"])
    return {"publicKey": options}


def created(user: users.User, device: SoftWebauthnDevice, origin: str = PARTY.origin) -> str:
    options = options_of(passkeys.registration_options(PARTY, user, [], CHALLENGE))
    return as_json(device.create(options, origin))


def signed(device: SoftWebauthnDevice, origin: str = PARTY.origin, challenge: bytes = CHALLENGE) -> str:
    return as_json(device.get(options_of(passkeys.authentication_options(PARTY, challenge)), origin))


def registered(store: MemoryStore, user: users.User) -> SoftWebauthnDevice:
    device = SoftWebauthnDevice()
    answer = created(user, device)
    store.write(lambda tx: passkeys.register(tx, PARTY, user.id, "Laptop", answer, CHALLENGE))
    return device


def authenticated(store: MemoryStore, answer: str, challenge: bytes = CHALLENGE) -> passkeys.PasskeyProof:
    return store.write(lambda tx: passkeys.authenticate(tx, PARTY, answer, challenge))


def test_a_key_is_registered_and_signs_in(store: MemoryStore) -> None:
    user = user_of(store)
    device = registered(store, user)
    [stored] = store.read(lambda tx: passkeys.of_user(tx, user.id))
    assert (stored.name, stored.credential_id, stored.last_used_at) == ("Laptop", device.credential_id, None)
    store.clock.advance(MINUTE)
    proved = authenticated(store, signed(device))
    assert (proved.user_id, proved.person_verified, proved.methods) == (user.id, False, ("hwk",))
    [used] = store.read(lambda tx: passkeys.of_user(tx, user.id))
    assert (used.sign_count, used.last_used_at) == (1, START + MINUTE)


def test_the_options_ask_for_a_key_that_is_found_without_a_name(store: MemoryStore) -> None:
    user = user_of(store)
    registered(store, user)
    known = store.read(lambda tx: passkeys.of_user(tx, user.id))
    options = json.loads(passkeys.registration_options(PARTY, user, known, CHALLENGE))
    assert options["authenticatorSelection"]["residentKey"] == "required"
    assert [each["id"] for each in options["excludeCredentials"]] == [bytes_to_base64url(known[0].credential_id)]
    assert (
        "allowCredentials" not in json.loads(passkeys.authentication_options(PARTY, CHALLENGE))
        or not json.loads(passkeys.authentication_options(PARTY, CHALLENGE))["allowCredentials"]
    )


def test_an_answer_for_another_site_or_challenge_is_refused(store: MemoryStore) -> None:
    user = user_of(store)
    device = registered(store, user)
    with pytest.raises(PasskeyError):
        authenticated(store, signed(device, origin="https://b00ks.example"))
    with pytest.raises(PasskeyError):
        authenticated(store, signed(device), challenge=b"d" * 32)
    other = SoftWebauthnDevice()
    answer = created(user, other, origin="https://b00ks.example")
    with pytest.raises(PasskeyError):
        store.write(lambda tx: passkeys.register(tx, PARTY, user.id, "Phone", answer, CHALLENGE))


def test_a_copied_key_is_noticed_by_its_counter(store: MemoryStore) -> None:
    device = registered(store, user_of(store))
    authenticated(store, signed(device))
    authenticated(store, signed(device))
    device.sign_count = 0
    with pytest.raises(PasskeyError):
        authenticated(store, signed(device))


def test_a_key_that_nobody_registered(store: MemoryStore) -> None:
    device = SoftWebauthnDevice()
    device.cred_init(PARTY.id, b"somebody")
    with pytest.raises(PasskeyError, match="not registered"):
        authenticated(store, signed(device))


def test_a_signature_of_another_key(store: MemoryStore) -> None:
    device, other = registered(store, user_of(store)), SoftWebauthnDevice()
    other.cred_init(PARTY.id, b"somebody")
    other.credential_id = device.credential_id
    with pytest.raises(PasskeyError):
        authenticated(store, signed(other))


@pytest.mark.parametrize("answer", ["", "{}", "[]", "null", '{"id": "x"}', '{"response": {}}', "\x00", "é"])
def test_what_is_no_answer(store: MemoryStore, answer: str) -> None:
    user = user_of(store)
    with pytest.raises(PasskeyError):
        passkeys.challenge_of(answer)
    with pytest.raises(PasskeyError):
        authenticated(store, answer)
    with pytest.raises(PasskeyError):
        store.write(lambda tx: passkeys.register(tx, PARTY, user.id, "Laptop", answer, CHALLENGE))


def test_the_challenge_is_read_off_both_kinds_of_answer(store: MemoryStore) -> None:
    user = user_of(store)
    assert passkeys.challenge_of(created(user, SoftWebauthnDevice())) == CHALLENGE
    assert passkeys.challenge_of(signed(registered(store, user))) == CHALLENGE


def test_a_key_is_registered_once(store: MemoryStore) -> None:
    user, device = user_of(store), SoftWebauthnDevice()
    answer = created(user, device)
    store.write(lambda tx: passkeys.register(tx, PARTY, user.id, "Laptop", answer, CHALLENGE))
    with pytest.raises(Problem) as caught:
        store.write(lambda tx: passkeys.register(tx, PARTY, user.id, "Laptop", answer, CHALLENGE))
    assert caught.value.code == "already_exists"


def test_an_account_has_a_bounded_number_of_keys(store: MemoryStore) -> None:
    user = user_of(store)
    for _ in range(passkeys.PER_USER):
        registered(store, user)
    with pytest.raises(Problem) as caught:
        registered(store, user)
    assert caught.value.code == "limit_reached"


def test_only_the_own_keys_are_removed(store: MemoryStore) -> None:
    user, other = user_of(store), user_of(store)
    device = registered(store, user)
    assert not store.write(lambda tx: passkeys.remove(tx, other.id, device.credential_id))
    assert store.write(lambda tx: passkeys.remove(tx, user.id, device.credential_id))
    with pytest.raises(PasskeyError):
        authenticated(store, signed(device))


@pytest.mark.parametrize(
    ("kind", "statement"),
    [("packed", {"x5c": 1}), ("packed", {"x5c": ["x"]}), ("tpm", {"ver": 2}), ("android-safetynet", {"response": 1})],
)
def test_an_attestation_of_the_wrong_shape_is_refused(store: MemoryStore, kind: str, statement: object) -> None:
    user = user_of(store)
    answer = json.loads(created(user, SoftWebauthnDevice()))
    attestation = parse_cbor(base64url_to_bytes(answer["response"]["attestationObject"]))
    changed = encode_cbor({**attestation, "fmt": kind, "attStmt": statement})
    answer["response"]["attestationObject"] = bytes_to_base64url(changed)
    with pytest.raises(PasskeyError):
        store.write(lambda tx: passkeys.register(tx, PARTY, user.id, "x", json.dumps(answer), CHALLENGE))


def test_a_key_that_names_somebody_else_signs_nobody_in(store: MemoryStore) -> None:
    user = user_of(store)
    device = registered(store, user)
    answer = json.loads(signed(device))
    answer["response"]["userHandle"] = bytes_to_base64url(user.id.encode())
    assert authenticated(store, json.dumps(answer)).user_id == user.id
    answer = json.loads(signed(device))
    answer["response"]["userHandle"] = bytes_to_base64url(b"usr_other")
    with pytest.raises(PasskeyError, match="somebody else's"):
        authenticated(store, json.dumps(answer))
