"""From the token of a request to its caller, on the path of every request.

What was looked up once is cached until anything in the database changes, so that a revocation acts on the very next
request, whichever process wrote it. Refused tokens are not cached: guessing cannot fill the memory.
"""

import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from ipaddress import ip_network
from typing import Final, NamedTuple, Protocol

from gatewayd.clock import DAY, Instant
from gatewayd.contract.caller import Caller
from gatewayd.errors import Problem
from gatewayd.identity.key_format import PREFIX, checksum_ok, hash_key
from gatewayd.identity.keys.key_restrictions import Network, effective_scopes, held_to, is_within
from gatewayd.identity.people import suspensions
from gatewayd.identity.tokens import dpop, used_proofs
from gatewayd.store import ReadTx, Store

ADMISSIONS_MAX = 10_000  # Chosen: about 10 MB
NEVER = sys.maxsize

_FIND_KEY = """
SELECT k.id, k.org_id, k.user_id, m.role, k.role, k.scopes, k.networks, k.tax_approved_at IS NOT NULL, k.expires_at,
    k.held_entities, k.held_from, k.held_to
FROM api_keys k LEFT JOIN memberships m ON m.org_id = k.org_id AND m.user_id = k.user_id
WHERE k.hash = :hash AND k.revoked_at IS NULL
"""


class Admission(NamedTuple):
    """What a verified token stands for. It ends at `ends_at` (microseconds), with the sentence `ended`.

    `networks` are those it may come from; none: anywhere. `key_thumbprint`: each request must prove that it holds this
    key (RFC 9449); None: any bearer of the token may use it.
    """

    caller: Caller
    ends_at: int
    ended: str
    networks: tuple[Network, ...]
    key_thumbprint: str | None = None


@dataclass(slots=True)
class Possession:
    """What a request of the scheme `DPoP` brings to show that it holds a key. `url` has no query.

    `thumbprint` is the key's once the proof was accepted, so that a second look at the same request is no replay;
    `use_up` is then there until it was called, or where daemons share the store `unspent` until it was stored.
    """

    proof: str | None
    method: str
    url: str
    thumbprint: str | None = None
    use_up: Callable[[Instant], None] | None = None
    unspent: dpop.Proof | None = None

    def spend(self, now: Instant) -> None:
        """Use the proof up, once the request was let in: what is refused for asking too much fills no memory.

        Raises `PossessionRefused`, or `Problem` `rate_limited` where the key has used up its quota of proofs.
        """
        if self.use_up is None:
            return
        use_up, self.use_up = self.use_up, None
        with _refusing_proofs():
            use_up(now)

    async def spend_in(self, store: Store) -> None:
        """The same where daemons share the store, durable before the request has brought anything about.

        Raises as `spend` does, and `StoreFailure`.
        """
        proof, self.unspent = self.unspent, None
        if proof is not None:
            with _refusing_proofs():
                await store.write(lambda tx: used_proofs.spend_in_rows(tx, proof, used_proofs.REQUESTS))


class PossessionRefused(Problem):
    """The token is bound to a key and the request does not show it, or it shows one and the token is not bound.

    `error` is for the challenge: `invalid_token` or `invalid_dpop_proof` (RFC 9449 §7.1).
    """

    def __init__(self, error: str, message: str) -> None:
        super().__init__("invalid_token", message)
        self.error = error


@contextmanager
def _refusing_proofs() -> Iterator[None]:
    """What is wrong with a proof, as it is told to who brought it."""
    try:
        yield
    except dpop.InvalidProof as error:
        raise PossessionRefused("invalid_dpop_proof", str(error)) from None
    except dpop.TooManyProofs as error:
        raise Problem("rate_limited", str(error), headers=((b"retry-after", b"60"),)) from None


class Verifier(Protocol):
    """One kind of token."""

    def recognizes(self, token: str) -> bool:
        """Whether the token has the form of this kind."""
        ...

    def verify(self, tx: ReadTx, token: str, digest: bytes) -> Admission:
        """The token's admission; `digest` is its SHA-256. Raises `Problem` `invalid_token`."""
        ...


class Authenticate(Protocol):
    """Says who a token is, as `Authenticator.authenticate` does. Whoever lets the request in spends its possession."""

    def __call__(self, tx: ReadTx, token: str, peer: str | None, possession: Possession | None = None) -> Caller: ...


class ApiKeyVerifier:
    """API keys: one look-up of the hash, which unknown and revoked keys fail alike.

    A key of the organization acts with its own role and for no user.
    """

    NOT_VALID = "The API key is unknown, revoked or expired."

    def recognizes(self, token: str) -> bool:
        return token.startswith(PREFIX)

    def verify(self, tx: ReadTx, token: str, digest: bytes) -> Admission:
        if not checksum_ok(token):
            raise _invalid_token("The API key is mistyped or cut off: its checksum is wrong.")
        row = tx.row(_FIND_KEY, hash=digest)
        if row is None:
            raise _invalid_token(self.NOT_VALID)
        key_id, org_id, user_id, makers_role, own_role, scopes, networks, tax_approved, expires_at, *held = row
        role = own_role or makers_role
        if role is None:
            raise _invalid_token("Whoever made the API key is no longer a member of the organization.")
        caller = Caller(
            kind="api_key",
            credential_id=key_id,
            org_id=org_id,
            user_id=user_id if own_role is None else None,
            role=role,
            scopes=effective_scopes(scopes, bool(tax_approved)),
            held=held_to(*held),
        )
        ends_at = NEVER if expires_at is None else expires_at
        return Admission(caller, ends_at, self.NOT_VALID, tuple(map(ip_network, networks.split())))


class CredentialUse:
    """Collects ids between two rounds of a periodic task:

        due = use.due(now)
        if due: write them down, then use.written(due)

    A round that fails loses nothing: what was not `written` is due again. A use is dated by the next round.
    """

    def __init__(self) -> None:
        self._seen: set[str] = set()
        self._written: set[str] = set()
        self._day = -1
        self.note = self._seen.add

    def due(self, now: Instant) -> frozenset[str]:
        """The ids used since the last round, without those written down on the same day, UTC."""
        if now // DAY != self._day:
            self._day = now // DAY
            self._written.clear()
        self._seen -= self._written
        return frozenset(self._seen)

    def written(self, ids: Collection[str]) -> None:
        """These, that were due, are durable."""
        self._written.update(ids)


class Authenticator:
    """Admits the tokens of its verifiers, on whichever thread a transaction is."""

    def __init__(
        self,
        verifiers: Sequence[Verifier],
        admissions_max: int = ADMISSIONS_MAX,
        replays: dpop.ReplayCache | None = None,
        *,
        shared: bool = False,
    ) -> None:
        """`replays`: the cache of the daemon; None: one of its own. `shared`: daemons share the store, and proofs are
        rows instead.
        """
        self._shared = shared
        self._replays = replays or dpop.ReplayCache()
        self.use = CredentialUse()
        self._note = self.use.note
        self._verifiers = tuple(verifiers)
        self._admissions: dict[bytes, tuple[int | None, Admission]] = {}
        self._admissions_max = admissions_max

    def authenticate(self, tx: ReadTx, token: str, peer: str | None, possession: Possession | None = None) -> Caller:
        """Who is calling. Raises `Problem` `invalid_token`, or `organization_suspended`.

        `peer` is the address the request came from, None where it has none (a Unix socket). `possession`: None for the
        scheme `Bearer`; a proof that was accepted is used up by `Possession.spend`, where daemons share the store by
        `spend_in`.
        """
        digest = hash_key(token)
        version, admission = self._admissions.get(digest, _UNKNOWN)
        if admission is None or version is None or version != tx.version:
            admission = self._verify(tx, token, digest)
        caller, ends_at, ended, networks, key_thumbprint = admission
        if tx.now >= ends_at:
            raise _invalid_token(ended)
        if networks and not is_within(peer, networks):
            raise _invalid_token("The credential may not be used from this address.")
        if key_thumbprint is not None or possession is not None:
            self._check_possession(tx, token, key_thumbprint, possession)
        self._note(caller.credential_id)
        return caller

    def holder_of(self, token: str) -> str | None:
        """The organization that a token was last admitted for. It may be so no more; None: nobody remembers."""
        admission = self._admissions.get(hash_key(token), _UNKNOWN)[1]
        return None if admission is None else admission.caller.org_id

    def _check_possession(
        self, tx: ReadTx, token: str, key_thumbprint: str | None, possession: Possession | None
    ) -> None:
        """Of a token that is bound, or a request that brings a proof."""
        if key_thumbprint is None:
            raise PossessionRefused("invalid_token", "The token is bound to no key: send it as Bearer.")
        if possession is None or possession.proof is None:
            raise PossessionRefused("invalid_token", "The token is bound to a key: send it as DPoP, with a proof.")
        if possession.thumbprint is None:
            target = dpop.ProofTarget(possession.method, possession.url, token)
            with _refusing_proofs():
                proof = dpop.check(possession.proof, target, tx.now)
                if proof.thumbprint == key_thumbprint:
                    self._refuse_used(tx, proof, possession)
            possession.thumbprint = proof.thumbprint
        if possession.thumbprint != key_thumbprint:
            raise PossessionRefused("invalid_token", "The proof is of another key than the token's.")

    def _refuse_used(self, tx: ReadTx, proof: dpop.Proof, possession: Possession) -> None:
        """Raises `InvalidProof` for a proof that was used; else it is the possession's to use up."""
        if self._shared:
            used_proofs.refuse_used(tx, proof, used_proofs.REQUESTS)
            possession.unspent = proof
        else:
            self._replays.check(proof, tx.now)
            possession.use_up = partial(self._replays.spend, proof)

    def _verify(self, tx: ReadTx, token: str, digest: bytes) -> Admission:
        for verifier in self._verifiers:
            if verifier.recognizes(token):
                admission = verifier.verify(tx, token, digest)
                suspensions.refuse(tx, admission.caller.org_id)
                if len(self._admissions) >= self._admissions_max:
                    self._admissions.clear()
                self._admissions[digest] = (tx.version, admission)
                return admission
        raise _invalid_token("The token has the form of no credential of this service.")


_UNKNOWN: Final[tuple[None, None]] = (None, None)


def _invalid_token(message: str) -> Problem:
    return Problem("invalid_token", message)
