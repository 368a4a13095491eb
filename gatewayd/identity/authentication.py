"""From the token of a request to its caller, on the path of every request.

What was looked up once is kept until anything in the database changes, so that a revocation acts on the very next
request, whoever wrote it. A refused token is never kept: whoever guesses cannot fill the memory.
"""

import sys
from collections.abc import Sequence
from ipaddress import IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import NamedTuple, Protocol

from gatewayd.contract.caller import Caller
from gatewayd.errors import Problem
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

    `networks` are those it may come from; none: anywhere.
    """

    caller: Caller
    ends_at: int
    ended: str
    networks: tuple[IPv4Network | IPv6Network, ...]


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

    def __init__(self, verifiers: Sequence[Verifier], admissions_max: int = ADMISSIONS_MAX) -> None:
        self.use = CredentialUse()
        self._note = self.use.note
        self._verifiers = tuple(verifiers)
        self._admissions: dict[bytes, Admission] = {}
        self._admissions_max = admissions_max
        self._version: int | None = None

    def authenticate(self, tx: ReadTx, version: int, token: str, peer: str | None) -> Caller:
        """Who is calling. Raises `Problem` `invalid_token`.

        `version` is the data_version that `tx` sees, always of the same connection. `peer` is the address the
        request came from, None where it has none (a Unix socket).
        """
        if version != self._version:
            self._admissions.clear()
            self._version = version
        digest = hash_key(token)
        admission = self._admissions.get(digest)
        if admission is None:
            admission = self._verify(tx, token, digest)
        caller, ends_at, ended, networks = admission
        if tx.now >= ends_at:
            raise _refused(ended)
        if networks and not _is_within(peer, networks):
            raise _refused("The credential may not be used from this address.")
        self._note(caller.credential_id)
        return caller

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
