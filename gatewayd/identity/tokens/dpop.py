"""DPoP proofs (RFC 9449 §4): a client shows with each request that it holds the key its tokens are bound to."""

import base64
import hashlib
import heapq
from collections.abc import Callable, Mapping
from functools import cache
from typing import Annotated, Literal, NamedTuple
from urllib.parse import quote, unquote, urlsplit

import msgspec

from gatewayd.clock import SECOND, Instant
from gatewayd.identity.clients.oauth_errors import plain
from gatewayd.identity.signing.public_keys import SignatureAlgorithm, UnfitKey, public_key
from gatewayd.identity.signing.signed_tokens import UntrustedToken, header_of

PROOF_CHARACTERS_MAX = 6_144  # Chosen: a key of RSA-4096 and room
OLD_MAX = 120 * SECOND  # Chosen: a proof is made for one request; clocks of clients are seldom worse
AHEAD_MAX = 60 * SECOND  # Chosen
JTI_CHARACTERS_MAX = 256  # Chosen
PER_KEY_MAX = 50_000  # Chosen: about 10 MB, and 400 requests a second of one key for as long as proofs last
PUSHED_PER_KEY_MAX = 5_000  # Chosen: a key costs nothing where requests are pushed
PUSHED_MAX = 100_000  # Chosen: of all keys, about 20 MB
FORGOTTEN_AT_ONCE = 8  # Chosen: with each new one, so that none has to wait for many old ones


class InvalidProof(Exception):
    """The proof is not accepted. The message is a sentence for the developer of the client (`invalid_dpop_proof`).

    It is made plain ASCII, for it stands in header fields.
    """

    def __init__(self, message: str) -> None:
        super().__init__(plain(message))


class _Header(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    typ: Literal["dpop+jwt"]
    alg: SignatureAlgorithm
    jwk: dict[str, object]
    kid: str = ""


class _Claims(msgspec.Struct, frozen=True):
    jti: str
    htm: str
    htu: str
    iat: Annotated[float, msgspec.Meta(ge=0, le=1e11)]
    ath: str | None = None


class Proof(NamedTuple):
    """A proof that was accepted for one request. `until`: the instant from which it would be too old."""

    thumbprint: str
    identity: bytes
    until: int


class ProofTarget(NamedTuple):
    """The request that a proof is for. `url` has no query; `access_token` is None at the token endpoint."""

    method: str
    url: str
    access_token: str | None


def check(proof: str, target: ProofTarget, now: Instant) -> Proof:
    """Read a proof (RFC 9449 §4.3, but for the replay, see `ReplayCache`). Raises `InvalidProof`."""
    if len(proof) > PROOF_CHARACTERS_MAX or not proof.isascii():
        raise InvalidProof("The proof is too long, or no ASCII.")
    claims, thumbprint = _verify(proof)
    if claims.htm != target.method:
        raise InvalidProof("The proof is for another method (htm).")
    if not _same_url(claims.htu, target.url):
        raise InvalidProof("The proof is for another address (htu).")
    issued = int(claims.iat * SECOND)
    if not now - OLD_MAX <= issued <= now + AHEAD_MAX:
        raise InvalidProof("The proof is too old, or from the future (iat).")
    if not 1 <= len(claims.jti) <= JTI_CHARACTERS_MAX:
        raise InvalidProof(f"The proof needs a jti of at most {JTI_CHARACTERS_MAX} characters.")
    if target.access_token is not None and claims.ath != _hash(target.access_token.encode()):
        raise InvalidProof("The proof is for another access token (ath).")
    identity = hashlib.sha256(f"{thumbprint}.{claims.jti}".encode()).digest()[:16]
    return Proof(thumbprint, identity, issued + OLD_MAX)


class TooManyProofs(Exception):
    """The key, or who pushes requests, has used so many proofs that no more can be remembered. It passes in a minute.

    The message is a sentence for the developer of the client.
    """

    def __init__(self) -> None:
        super().__init__("Too many DPoP proofs were used in the last minutes: try again in a minute.")


class ReplayCache:
    """The proofs that were used, until they are too old anyway (RFC 9449 §11.1). For one event loop.

    Chosen: each key has a quota, and one that has used it up is refused rather than that a proof be used twice. So a
    program that makes too many keeps nobody out but itself.
    """

    def __init__(self, per_key_max: int = PER_KEY_MAX, in_all_max: int | None = None) -> None:
        """`in_all_max` is for where keys cost nothing; None: they do."""
        self._used: dict[str, dict[bytes, int]] = {}
        self._expiring: list[tuple[int, str, bytes]] = []  # a heap
        self._per_key_max = per_key_max
        self._in_all_max = in_all_max

    def check(self, proof: Proof, now: Instant) -> None:
        """Raises `InvalidProof` for one that was used."""
        if self._used.get(proof.thumbprint, _NONE).get(proof.identity, now) > now:
            raise InvalidProof("The proof was used before (jti).")

    def spend(self, proof: Proof, now: Instant) -> None:
        """Use a proof up: to be called last, when all else about the request holds.

        Raises `InvalidProof` as `check` does, and `TooManyProofs`.
        """
        self.check(proof, now)
        self._forget(now, FORGOTTEN_AT_ONCE)
        if self._is_full(proof.thumbprint):
            self._forget(now, len(self._expiring))
            if self._is_full(proof.thumbprint):
                raise TooManyProofs
        until = proof.until + 1
        self._used.setdefault(proof.thumbprint, {})[proof.identity] = until
        heapq.heappush(self._expiring, (until, proof.thumbprint, proof.identity))

    def _is_full(self, thumbprint: str) -> bool:
        if self._in_all_max is not None and len(self._expiring) >= self._in_all_max:
            return True
        return len(self._used.get(thumbprint, _NONE)) >= self._per_key_max

    def _forget(self, now: Instant, most: int) -> None:
        """Forget at most so many that are too old: each is met once."""
        while most > 0 and self._expiring and self._expiring[0][0] <= now:
            until, thumbprint, identity = heapq.heappop(self._expiring)
            if self._used.get(thumbprint, _NONE).get(identity) == until:  # not of a later proof with the same jti
                del self._used[thumbprint][identity]
                if not self._used[thumbprint]:
                    del self._used[thumbprint]
            most -= 1


_NONE: Mapping[bytes, int] = {}


def _verify(proof: str) -> tuple[_Claims, str]:
    try:
        header = header_of(proof, _Header)
        payload, thumbprint = _load_verifier()(proof, _public_key(header))
        return msgspec.json.decode(payload, type=_Claims), thumbprint
    except UntrustedToken as error:
        raise InvalidProof(f"Not a DPoP proof: {error}.") from None
    except (ValueError, OverflowError, RecursionError) as error:
        raise InvalidProof(f"Not a valid DPoP proof: {error}.") from None


@cache
def _load_verifier() -> Callable[[str, dict[str, str]], tuple[bytes, str]]:
    from gatewayd.identity.signing.jose import verify_proof  # joserfc: not before a key is used

    return verify_proof


def _public_key(header: _Header) -> dict[str, str]:
    """The key in the header, which must be public and fit the algorithm."""
    try:
        return public_key(header.jwk, header.alg, "The key in the proof")
    except UnfitKey as error:
        raise InvalidProof(str(error)) from None


def _same_url(claimed: str, target: str) -> bool:
    try:
        return _normal(claimed) == _normal(target)
    except ValueError:
        return False


def _normal(url: str) -> tuple[str, str, int | None, str]:
    """Scheme, host, port and path as RFC 3986 §6.2.2 and §6.2.3 normalise them; query and fragment do not count."""
    parts = urlsplit(url)
    default = {"https": 443, "http": 80}.get(parts.scheme)
    path = quote(unquote(parts.path, errors="strict"), safe="/!$&'()*+,;=:@~") or "/"
    return parts.scheme, parts.hostname or "", parts.port or default, path


def _hash(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
