"""JWS in its compact form (RFC 7515), read strictly: the key decides the algorithm, never the token (RFC 8725 §3.1)."""

import binascii
from base64 import urlsafe_b64decode, urlsafe_b64encode
from typing import TypeVar

import msgspec

from gatewayd.identity.signing.signing_keys import Algorithm, PublishedKey, SigningKeys

TOKEN_CHARACTERS_MAX = 8_192

T = TypeVar("T", bound=msgspec.Struct)


class UntrustedToken(Exception):
    """The text is not a token that one of our keys signed, or not of the kind that was expected."""


class _Header(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The whole header of what we sign. Anything else in it (`jku`, `crit`, `b64`) is not ours."""

    alg: Algorithm
    typ: str
    kid: str


def sign(published: PublishedKey, typ: str, claims: dict[str, object]) -> str:
    """The compact serialization (RFC 7515 §7.1), put together by hand: header and key are our own and need no check."""
    header = msgspec.json.encode(_Header(alg=published.algorithm, typ=typ, kid=published.kid))
    payload = msgspec.json.encode({name: value for name, value in claims.items() if value is not None})
    signed = _base64url(header) + b"." + _base64url(payload)
    signature = published.opened.signature(signed)
    return (signed + b"." + _base64url(signature)).decode("ascii")


def read(keys: SigningKeys, token: str, typ: str, claims: type[T]) -> T:
    """The claims of a token that one of our published keys signed. Its times are the caller's to judge.

    Raises `UntrustedToken`.
    """
    if len(token) > TOKEN_CHARACTERS_MAX or not token.isascii():
        raise UntrustedToken("the token is too long, or no ASCII")
    header = header_of(token, _Header)
    published = keys.find(header.kid)
    if published is None or header.alg != published.algorithm or header.typ != typ:
        raise UntrustedToken("no published key signs such tokens")
    try:
        return msgspec.json.decode(published.opened.payload(token), type=claims)
    except ValueError as error:  # msgspec's errors are ValueErrors
        raise UntrustedToken(str(error)) from None


def _base64url(data: bytes) -> bytes:
    return urlsafe_b64encode(data).rstrip(b"=")


def header_of(token: str, kind: type[T]) -> T:
    """The header of a token, which proves nothing yet. Raises `UntrustedToken`."""
    head, _, _ = token.partition(".")
    try:
        return msgspec.json.decode(urlsafe_b64decode(head + "=" * (-len(head) % 4)), type=kind)
    except (binascii.Error, ValueError, RecursionError) as error:
        raise UntrustedToken(f"the header cannot be read: {error}") from None
