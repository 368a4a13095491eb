"""From the token of a request to its caller, on the path of every request.

What was looked up once is kept until anything in the database changes, so that a revocation acts on the very next
request, whoever wrote it. A refused token is never kept: whoever guesses cannot fill the memory.
"""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import NamedTuple, Protocol

from gatewayd.clock import Instant
from gatewayd.contract.caller import Caller
from gatewayd.errors import Problem
from gatewayd.identity import dpop
from gatewayd.identity.api_keys import effective_scopes
from gatewayd.identity.credential_use import CredentialUse
from gatewayd.identity.key_format import PREFIX, checksum_ok, hash_key
from gatewayd.store import ReadTx

ADMISSIONS_MAX = 10_000  # Chosen: about 10 MB
NEVER = sys.maxsize

_FIND_KEY = """
SELECT k.id, k.org_id, k.user_id, m.role, k.scopes, k.networks, k.tax_approved_at IS NOT NULL, k.expires_at
FROM api_keys k LEFT JOIN memberships m ON m.org_id = k.org_id AND m.user_id = k.user_id
WHERE k.hash = :hash AND k.revoked_at IS NULL
"""


class Admission(NamedTuple):
    """What a verified token stands for. It ends at `ends_at` (microseconds), with the sentence `ended`.

    `networks` are those it may come from; none: anywhere. `key_thumbprint`: each request must prove that it holds this
    key (RFC 9449); None: whoever bears the token may use it.
    """

    caller: Caller
    ends_at: int
    ended: str
    networks: tuple[IPv4Network | IPv6Network, ...]
    key_thumbprint: str | None = None


@dataclass(slots=True)
class Possession:
    """What a request of the scheme `DPoP` brings to show that it holds a key. `url` has no query.

    `thumbprint` is the key's once the proof was accepted, so that a second look at the same request is no replay.
    """

    proof: str | None
    method: str
    url: str
    thumbprint: str | None = None


class PossessionRefused(Problem):
    """The token is bound to a key and the request does not show it, or it shows one and the token is not bound.

    `error` is for the challenge: `invalid_token` or `invalid_dpop_proof` (RFC 9449 §7.1).
    """

    def __init__(self, error: str, message: str) -> None:
        super().__init__("invalid_token", message)
        self.error = error


class Verifier(Protocol):
    """One kind of token."""

    def recognizes(self, token: str) -> bool:
        """Whether the token has the form of this kind."""
        ...

    def verify(self, tx: ReadTx, token: str, digest: bytes) -> Admission:
        """The token's admission; `digest` is its SHA-256. Raises `Problem` `invalid_token`."""
        ...


class ApiKeyVerifier:
    """API keys: one look-up of the hash, which unknown and revoked keys fail alike."""

    NOT_VALID = "The API key is unknown, revoked or expired."

    def recognizes(self, token: str) -> bool:
        return token.startswith(PREFIX)

    def verify(self, tx: ReadTx, token: str, digest: bytes) -> Admission:
        if not checksum_ok(token):
            raise _refused("The API key is mistyped or cut off: its checksum is wrong.")
        row = tx.row(_FIND_KEY, hash=digest)
        if row is None:
            raise _refused(self.NOT_VALID)
        key_id, org_id, user_id, role, scopes, networks, tax_approved, expires_at = row
        if role is None:
            raise _refused("Whoever made the API key is no longer a member of the organization.")
        caller = Caller(
            kind="api_key",
            credential_id=key_id,
            org_id=org_id,
            user_id=user_id,
            role=role,
            scopes=effective_scopes(scopes, bool(tax_approved)),
        )
        ends_at = NEVER if expires_at is None else expires_at
        return Admission(caller, ends_at, self.NOT_VALID, tuple(map(ip_network, networks.split())))


class Authenticator:
    """Admits the tokens of its verifiers. For one event loop: not to be shared by threads."""

    def __init__(
        self,
        verifiers: Sequence[Verifier],
        admissions_max: int = ADMISSIONS_MAX,
        replays: dpop.Replays | None = None,
    ) -> None:
        """`replays`: those of the daemon; None: this one keeps its own."""
        self._replays = replays or dpop.Replays()
        self.use = CredentialUse()
        self._note = self.use.note
        self._verifiers = tuple(verifiers)
        self._admissions: dict[bytes, Admission] = {}
        self._admissions_max = admissions_max
        self._version: int | None = None

    def authenticate(
        self, tx: ReadTx, version: int, token: str, peer: str | None, possession: Possession | None = None
    ) -> Caller:
        """Who is calling. Raises `Problem` `invalid_token`.

        `version` is the data_version that `tx` sees, always of the same connection. `peer` is the address the
        request came from, None where it has none (a Unix socket). `possession`: None for the scheme `Bearer`.
        """
        if version != self._version:
            self._admissions.clear()
            self._version = version
        digest = hash_key(token)
        admission = self._admissions.get(digest)
        if admission is None:
            admission = self._verify(tx, token, digest)
        caller, ends_at, ended, networks, key_thumbprint = admission
        if tx.now >= ends_at:
            raise _refused(ended)
        if networks and not _is_within(peer, networks):
            raise _refused("The credential may not be used from this address.")
        if key_thumbprint is not None or possession is not None:
            self._check_possession(token, key_thumbprint, possession, tx.now)
        self._note(caller.credential_id)
        return caller

    def _check_possession(
        self, token: str, key_thumbprint: str | None, possession: Possession | None, now: Instant
    ) -> None:
        """Of a token that is bound, or a request that brings a proof."""
        if key_thumbprint is None:
            raise PossessionRefused("invalid_token", "The token is bound to no key: send it as Bearer.")
        if possession is None or possession.proof is None:
            raise PossessionRefused("invalid_token", "The token is bound to a key: send it as DPoP, with a proof.")
        if possession.thumbprint is None:
            requested = dpop.Requested(possession.method, possession.url, token)
            try:
                proof = dpop.check(possession.proof, requested, now)
                if proof.thumbprint == key_thumbprint:
                    self._replays.spend(proof, now)
            except dpop.InvalidProof as error:
                raise PossessionRefused("invalid_dpop_proof", str(error)) from None
            possession.thumbprint = proof.thumbprint
        if possession.thumbprint != key_thumbprint:
            raise PossessionRefused("invalid_token", "The proof is of another key than the token's.")

    def _verify(self, tx: ReadTx, token: str, digest: bytes) -> Admission:
        for verifier in self._verifiers:
            if verifier.recognizes(token):
                admission = verifier.verify(tx, token, digest)
                if len(self._admissions) >= self._admissions_max:
                    self._admissions.clear()
                self._admissions[digest] = admission
                return admission
        raise _refused("The token has the form of no credential of this service.")


def _is_within(peer: str | None, networks: tuple[IPv4Network | IPv6Network, ...]) -> bool:
    try:
        address = ip_address(peer or "")
    except ValueError:
        return False  # Chosen: an allow-list admits only what it can see
    if isinstance(address, IPv6Address) and address.ipv4_mapped is not None:
        address = address.ipv4_mapped  # how a dual-stack socket shows an IPv4 peer
    return any(address in network for network in networks)


def _refused(message: str) -> Problem:
    return Problem("invalid_token", message)
