"""ID tokens (OpenID Connect Core §2): who signed in, for the client alone."""

import base64
import hashlib
from collections.abc import Collection
from typing import NamedTuple

import msgspec

from gatewayd.clock import HOUR, SECOND, Instant
from gatewayd.identity.clients.grants import Grant
from gatewayd.identity.people.users import User
from gatewayd.identity.signing import signed_tokens
from gatewayd.identity.signing.signed_tokens import UntrustedToken
from gatewayd.identity.signing.signing_keys import SigningKeys

TYPE = "JWT"
LIFE = HOUR  # Chosen: clients read it once


Claims = dict[str, object]


class IdClaims(msgspec.Struct, frozen=True, kw_only=True):
    """What a logout needs of a token that was issued here."""

    iss: str
    sub: str
    aud: str
    exp: int
    sid: str


class IdTokenParameters(NamedTuple):
    """What goes into a token beside the grant. `with_nonce`: not after a refresh (OpenID Connect Core §12.2).

    `person` is what `person_claims` says.
    """

    issuer: str
    access_token: str
    with_nonce: bool
    person: Claims
    now: Instant


def mint(keys: SigningKeys, grant: Grant, parameters: IdTokenParameters) -> str:
    """An ID token, signed with the algorithm that the client registered. Raises `LookupError` where no key signs."""
    issued = parameters.now // SECOND
    claims: dict[str, object] = {
        "iss": parameters.issuer,
        "sub": grant.user_id,
        "aud": grant.client_id,
        "exp": issued + LIFE // SECOND,
        "iat": issued,
        "auth_time": grant.authenticated_at // SECOND,
        "nonce": grant.nonce if parameters.with_nonce else None,
        "amr": list(grant.methods),
        "at_hash": half_hash(parameters.access_token),
        "sid": grant.session_id,
        **parameters.person,
    }
    return signed_tokens.sign(keys.signer(grant.id_token_alg, parameters.now), TYPE, claims)


def person_claims(user: User, scopes: Collection[str]) -> Claims:
    """What these scopes tell of a person, in ID tokens and at UserInfo (OpenID Connect Core §5.4).

    Chosen: an address counts as not verified, for the operator has typed it and nobody has written to it.
    """
    claims: Claims = {}
    if "profile" in scopes:
        claims["name"] = user.name
    if "email" in scopes:
        claims |= {"email": user.email, "email_verified": False}
    return claims


def read_hint(keys: SigningKeys, token: str, issuer: str) -> IdClaims:
    """The claims of an `id_token_hint`, which may have expired (OpenID Connect RP-Initiated Logout §2).

    Raises `UntrustedToken`, also once the key that signed it is published no more.
    """
    claims = signed_tokens.read(keys, token, TYPE, IdClaims)
    if claims.iss != issuer:
        raise UntrustedToken("another issuer")
    return claims


def half_hash(text: str) -> str:
    """The left half of its SHA-256 in base64url: `at_hash` (OpenID Connect Core §3.1.3.6)."""
    return base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()[:16]).rstrip(b"=").decode()
