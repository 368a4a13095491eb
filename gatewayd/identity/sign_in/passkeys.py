"""Passkeys (WebAuthn Level 3): signing in with the device itself. Owns the table `passkeys`.

A passkey that verifies the person too (PIN, finger, face) stands for both factors; one that only knows that somebody
touched it stands for the password. What a passkey signs is a challenge, see challenges.py.
"""

from typing import Final

import msgspec
import webauthn
from webauthn.helpers import base64url_to_bytes, exceptions, parse_authentication_credential_json
from webauthn.helpers.structs import (
    AuthenticatorSelectionCriteria,
    PublicKeyCredentialDescriptor,
    ResidentKeyRequirement,
    UserVerificationRequirement,
)

from gatewayd.clock import Instant
from gatewayd.errors import Problem
from gatewayd.identity import audit
from gatewayd.identity.people.organizations import validate_name
from gatewayd.identity.people.users import User
from gatewayd.identity.sign_in.challenges import PasskeyError
from gatewayd.store import ReadTx, Row, WriteTx

PER_USER: Final = 20  # Chosen

_COLUMNS = "credential_id, user_id, public_key, sign_count, transports, name, backed_up, last_used_at, created_at"
_INSERT = """
INSERT INTO passkeys (credential_id, user_id, public_key, sign_count, transports, name, backed_up, created_at)
VALUES (:credential_id, :user_id, :public_key, :sign_count, :transports, :name, :backed_up, :now)
ON CONFLICT (credential_id) DO NOTHING
"""
_GET = f"SELECT {_COLUMNS} FROM passkeys WHERE credential_id = :credential_id"
_OF_USER = f"SELECT {_COLUMNS} FROM passkeys WHERE user_id = :user_id ORDER BY created_at, credential_id LIMIT :count"
_USED = """
UPDATE passkeys SET sign_count = :sign_count, backed_up = :backed_up, last_used_at = :now
WHERE credential_id = :credential_id
"""
_REMOVE = "DELETE FROM passkeys WHERE credential_id = :credential_id AND user_id = :user_id"
_REMOVE_ALL = "DELETE FROM passkeys WHERE user_id = :user_id"


class Passkey(msgspec.Struct, frozen=True, kw_only=True):
    """One credential of one person. `name` is what they call it."""

    credential_id: bytes
    user_id: str
    public_key: bytes
    sign_count: int
    transports: tuple[str, ...]
    name: str
    backed_up: bool
    last_used_at: Instant | None
    created_at: Instant


class PasskeyProof(msgspec.Struct, frozen=True, kw_only=True):
    """A passkey has signed. `person_verified`: the device asked for PIN, finger or face."""

    user_id: str
    person_verified: bool

    @property
    def methods(self) -> tuple[str, ...]:
        """RFC 8176: possession of a key, and that the person was verified."""
        return ("hwk", "user", "mfa") if self.person_verified else ("hwk",)


class Person(msgspec.Struct, frozen=True, kw_only=True):
    """Whom a passkey is made for, as the device shows them."""

    id: str
    email: str
    name: str


class RelyingParty(msgspec.Struct, frozen=True, kw_only=True):
    """The service, as passkeys know it. `id` is the host name that keys are bound to, `origin` that of the page."""

    id: str
    origin: str
    name: str


def of_user(tx: ReadTx, user_id: str) -> list[Passkey]:
    """The passkeys of a user, oldest first."""
    return [_passkey(row) for row in tx.rows(_OF_USER, user_id=user_id, count=PER_USER)]


def registration_options(party: RelyingParty, user: User | Person, known: list[Passkey], challenge: bytes) -> str:
    """JSON for `navigator.credentials.create`. A device that has a key already is not asked again."""
    options = webauthn.generate_registration_options(
        rp_id=party.id,
        rp_name=party.name,
        user_id=user.id.encode(),
        user_name=user.email,
        user_display_name=user.name,
        challenge=challenge,
        exclude_credentials=[PublicKeyCredentialDescriptor(id=key.credential_id) for key in known],
        authenticator_selection=AuthenticatorSelectionCriteria(
            resident_key=ResidentKeyRequirement.REQUIRED, user_verification=UserVerificationRequirement.PREFERRED
        ),
    )
    return webauthn.options_to_json(options)


def authentication_options(party: RelyingParty, challenge: bytes) -> str:
    """JSON for `navigator.credentials.get`. No account is named: the device offers the keys it has."""
    options = webauthn.generate_authentication_options(
        rp_id=party.id, challenge=challenge, user_verification=UserVerificationRequirement.PREFERRED
    )
    return webauthn.options_to_json(options)


def register(
    tx: WriteTx, party: RelyingParty, user_id: str, name: str, response: str, challenge: bytes
) -> PasskeyProof:
    """Store the key that a device has made; answers what making it has proved.

    Raises `PasskeyError`; `Problem` `limit_reached`, `already_exists`, or `validation_failed` for the name.
    """
    name = validate_name("name", name)
    if len(of_user(tx, user_id)) >= PER_USER:
        raise Problem("limit_reached", f"An account has at most {PER_USER} passkeys.")
    try:
        verified = webauthn.verify_registration_response(
            credential=response,
            expected_challenge=challenge,
            expected_rp_id=party.id,
            expected_origin=party.origin,
        )
        transports = webauthn.helpers.parse_registration_credential_json(response).response.transports or []
    except (exceptions.WebAuthnException, ValueError, TypeError, AttributeError) as error:
        # The package does not check the types of what stands in an attestation.
        raise PasskeyError(str(error)) from error
    inserted = tx.run(
        _INSERT,
        credential_id=verified.credential_id,
        user_id=user_id,
        public_key=verified.credential_public_key,
        sign_count=verified.sign_count,
        transports=" ".join(str(each.value) for each in transports),
        name=name,
        backed_up=int(verified.credential_backed_up),
    )
    if not inserted:
        raise Problem("already_exists", "This passkey is registered already.")
    audit.record(tx, audit.Act(actor=user_id, action="user.passkey_added", subject=user_id, org_id=None))
    return PasskeyProof(user_id=user_id, person_verified=verified.user_verified)


def challenge_of(response: str) -> bytes:
    """The challenge that a response of either kind says it signs. Raises `PasskeyError`."""
    try:
        credential = msgspec.json.decode(response, type=_Credential)
        client_data = msgspec.json.decode(base64url_to_bytes(credential.response.client_data), type=_ClientData)
        return base64url_to_bytes(client_data.challenge)
    except (msgspec.MsgspecError, ValueError) as error:
        raise PasskeyError(f"not an answer of a browser: {error}") from error


def authenticate(tx: WriteTx, party: RelyingParty, response: str, challenge: bytes) -> PasskeyProof:
    """Who signed the challenge, and how. Raises `PasskeyError`, also where a copied key is suspected (§6.1.1)."""
    try:
        credential = parse_authentication_credential_json(response)
        row = tx.row(_GET, credential_id=credential.raw_id)
        if row is None:
            raise PasskeyError("the passkey is not registered")
        passkey = _passkey(row)
        handle = credential.response.user_handle
        if handle is not None and handle != passkey.user_id.encode():  # §7.2 step 6
            raise PasskeyError("the passkey says that it is somebody else's")
        verified = webauthn.verify_authentication_response(
            credential=credential,
            expected_challenge=challenge,
            expected_rp_id=party.id,
            expected_origin=party.origin,
            credential_public_key=passkey.public_key,
            credential_current_sign_count=passkey.sign_count,
        )
    except (exceptions.WebAuthnException, ValueError) as error:
        raise PasskeyError(str(error)) from error
    tx.run(
        _USED,
        credential_id=passkey.credential_id,
        sign_count=verified.new_sign_count,
        backed_up=int(verified.credential_backed_up),
    )
    return PasskeyProof(user_id=passkey.user_id, person_verified=verified.user_verified)


def remove(tx: WriteTx, user_id: str, credential_id: bytes) -> bool:
    """Delete a key of a user; False when they have no such key."""
    removed = tx.run(_REMOVE, credential_id=credential_id, user_id=user_id) == 1
    if removed:
        audit.record(tx, audit.Act(actor=user_id, action="user.passkey_removed", subject=user_id, org_id=None))
    return removed


def remove_all(tx: WriteTx, user_id: str, actor: str) -> int:
    """Delete the keys of a user; returns how many."""
    removed = tx.run(_REMOVE_ALL, user_id=user_id)
    for _ in range(removed):
        audit.record(tx, audit.Act(actor=actor, action="user.passkey_removed", subject=user_id, org_id=None))
    return removed


class _AuthenticatorResponse(msgspec.Struct):
    client_data: str = msgspec.field(name="clientDataJSON")


class _Credential(msgspec.Struct):
    response: _AuthenticatorResponse


class _ClientData(msgspec.Struct):
    challenge: str


def _passkey(row: Row) -> Passkey:
    credential_id, user_id, public_key, sign_count, transports, name, backed_up, last_used_at, created_at = row
    return Passkey(
        credential_id=credential_id,
        user_id=user_id,
        public_key=public_key,
        sign_count=sign_count,
        transports=tuple(transports.split()),
        name=name,
        backed_up=bool(backed_up),
        last_used_at=last_used_at,
        created_at=created_at,
    )
