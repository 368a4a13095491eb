"""Assertions by which a client proves who it is: `private_key_jwt` (RFC 7523 §2.2 and §3, OpenID Connect Core §9).

Owns `used_assertions`: each is taken once.
"""

import hashlib
from collections.abc import Collection, Mapping, Sequence
from typing import Annotated, Final

import msgspec

from gatewayd.clock import HOUR, MINUTE, SECOND, Instant
from gatewayd.identity.clients.oauth_errors import OAuthFailure
from gatewayd.identity.signing.public_keys import ALGORITHMS, SignatureAlgorithm, UnfitKey, public_key
from gatewayd.identity.signing.signed_tokens import UntrustedToken, header_of
from gatewayd.store import WriteTx

TYPE: Final = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
CHARACTERS_MAX: Final = 8_192  # Chosen
LIFE_MAX: Final = HOUR  # Chosen: what libraries give at most; the use of each is remembered for so long
AHEAD_MAX: Final = MINUTE  # Chosen: how far clocks of clients are wrong
JTI_CHARACTERS_MAX: Final = 256  # Chosen
KEYS_MAX: Final = 10  # Chosen: of one client; the new one stands beside the old while they change
SWEEP_ROWS: Final = 500  # of one transaction

_USE = "INSERT INTO used_assertions (hash, ends_at) VALUES (:hash, :ends_at) ON CONFLICT (hash) DO NOTHING"
_SWEEP = """
DELETE FROM used_assertions WHERE hash IN (
    SELECT hash FROM used_assertions WHERE ends_at <= :now ORDER BY ends_at LIMIT :count
)
"""

Jwk = dict[str, object]
_Seconds = Annotated[float, msgspec.Meta(ge=0, le=1e11)]


class _Header(msgspec.Struct, frozen=True):
    alg: str
    kid: str | None = None
    crit: list[str] | None = None


class _Subject(msgspec.Struct, frozen=True):
    sub: str


class _Claims(msgspec.Struct, frozen=True):
    iss: str
    sub: str
    aud: str | list[str]
    exp: _Seconds
    jti: str
    nbf: _Seconds = 0


class Assertion(msgspec.Struct, frozen=True):
    """One that was accepted; `identity` is what tells it from others, until `ends_at`."""

    identity: bytes
    ends_at: Instant


def subject_of(assertion: str) -> str:
    """The client that an assertion names, which proves nothing yet. Raises `OAuthFailure` `invalid_client` (401)."""
    try:
        if len(assertion) > CHARACTERS_MAX or not assertion.isascii():
            raise UntrustedToken("it is too long, or no ASCII")
        _, payload, _ = assertion.split(".")
        return header_of(f"{payload}..", _Subject).sub
    except (UntrustedToken, ValueError) as error:
        raise _refused(str(error)) from None


def check(assertion: str, client_id: str, keys: Sequence[Jwk], audiences: Collection[str], now: Instant) -> Assertion:
    """Read the assertion of a client with these keys. `audiences` are the names that it may have of us.

    Raises `OAuthFailure` `invalid_client` (401). Whether it was used before, `spend` says.
    """
    try:
        claims = _verified(assertion, keys)
    except (UntrustedToken, ValueError, OverflowError, RecursionError) as error:  # msgspec's errors are ValueErrors
        raise _refused(str(error)) from None
    audience = {claims.aud} if isinstance(claims.aud, str) else set(claims.aud)
    ends_at = int(claims.exp * SECOND)
    if claims.iss != client_id or claims.sub != client_id:
        raise _refused("iss and sub are the client_id")
    if not audience & set(audiences):
        raise _refused("aud is the issuer of this server")
    if ends_at <= now:
        raise _refused("it has expired (exp)")
    if ends_at > now + LIFE_MAX + AHEAD_MAX or claims.nbf * SECOND > now + AHEAD_MAX:
        raise _refused("it ends too late, or is from the future (exp, nbf)")
    if not 1 <= len(claims.jti) <= JTI_CHARACTERS_MAX:
        raise _refused(f"jti has 1 to {JTI_CHARACTERS_MAX} characters")
    identity = hashlib.sha256(f"{client_id} {claims.jti}".encode()).digest()
    return Assertion(identity, Instant(ends_at))


def spend(tx: WriteTx, assertion: Assertion) -> None:
    """Use an assertion up. Raises `OAuthFailure` `invalid_client` (401) for one that was used."""
    if tx.run(_USE, hash=assertion.identity, ends_at=assertion.ends_at) == 0:
        raise _refused("it was used before (jti)")


def sweep(tx: WriteTx) -> int:
    """Forget at most `SWEEP_ROWS` that have ended; returns how many."""
    return tx.run(_SWEEP, count=SWEEP_ROWS)


def check_keys(document: Mapping[str, object]) -> list[Jwk]:
    """The keys of a JWK Set (RFC 7517 §5), each public and of an algorithm that is taken. Raises `ValueError`."""
    from gatewayd.identity.signing.jose import check_public

    keys = document.get("keys")
    if not isinstance(keys, list) or not 1 <= len(keys) <= KEYS_MAX:
        raise UnfitKey(f"A JWK Set has 1 to {KEYS_MAX} keys under keys.")
    for each in keys:
        if not isinstance(each, dict):
            raise UnfitKey("A key of a JWK Set is an object.")
        check_public(public_key(each, "ES256" if each.get("kty") == "EC" else "RS256"))
    return keys


def _verified(assertion: str, keys: Sequence[Jwk]) -> _Claims:
    """The claims, signed by one of the keys. Raises `ValueError` or `UntrustedToken`."""
    from gatewayd.identity.signing.jose import verify_proof  # joserfc: not before a key is used

    header = header_of(assertion, _Header)
    algorithm = next((each for each in ALGORITHMS if each == header.alg), None)
    if algorithm is None or header.crit is not None:
        raise UntrustedToken(f"it is signed with one of {', '.join(ALGORITHMS)}, and without crit")
    for key in _fitting(keys, header.kid, algorithm):
        try:
            payload, _ = verify_proof(assertion, key)
        except ValueError:
            continue
        return msgspec.json.decode(payload, type=_Claims)
    raise UntrustedToken("no key of the client has signed it")


def _fitting(keys: Sequence[Jwk], kid: str | None, algorithm: SignatureAlgorithm) -> list[dict[str, str]]:
    kind = "EC" if algorithm == "ES256" else "RSA"
    named = [key for key in keys if kid is None or key.get("kid") in (None, kid)]
    return [public_key(key, algorithm) for key in named if key.get("kty") == kind]


def _refused(why: str) -> OAuthFailure:
    return OAuthFailure("invalid_client", f"the client_assertion is not accepted: {why}", 401)
