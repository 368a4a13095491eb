"""The keys that sign tokens: one at work for each algorithm, the next published ahead of it, the last one after it.

made  ->  published, `AHEAD` long  ->  signs, `ROTATION` long  ->  published, `RETENTION` long  ->  swept

The private key is sealed at rest, and is in the memory of the daemon alone.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Literal, get_args

import msgspec

from gatewayd.clock import DAY, HOUR, Instant
from gatewayd.store import ReadTx, Row, WriteTx

if TYPE_CHECKING:
    from gatewayd.identity.signing.jose import OpenedKey

Algorithm = Literal["ES256", "RS256"]
ALGORITHMS: tuple[Algorithm, ...] = get_args(Algorithm)

ROTATION = 90 * DAY  # Chosen
AHEAD = DAY  # Chosen: longer than clients may cache the key set, see JWKS_FRESH_SECONDS
JWKS_FRESH_SECONDS = 3600  # Chosen
RETENTION = 2 * HOUR  # tokens live for one, and clocks differ

_INSERT = """
INSERT INTO signing_keys (kid, alg, private_sealed, public_jwk, signs_from, created_at)
VALUES (:kid, :alg, :private_sealed, :public_jwk, :signs_from, :now)
"""
_STOP = """
UPDATE signing_keys SET signs_until = :signs_until, published_until = :published_until
WHERE alg = :alg AND signs_until IS NULL
"""
_LIST = """
SELECT kid, alg, private_sealed, public_jwk, signs_from FROM signing_keys
WHERE published_until IS NULL OR published_until > :now ORDER BY created_at, alg, kid
"""
_NEWEST = "SELECT max(signs_from) FROM signing_keys WHERE alg = :alg"
_FORGET = "DELETE FROM signing_keys WHERE kid = :kid"
_SWEEP = "DELETE FROM signing_keys WHERE published_until <= :now"


class NewKey(msgspec.Struct, frozen=True, kw_only=True):
    """A key that is not stored yet, as JWKs (RFC 7517). `kid` is its thumbprint (RFC 7638)."""

    kid: str
    algorithm: Algorithm
    private: str
    public: str

    def __repr__(self) -> str:
        return f"NewKey(kid={self.kid!r})"


class PublishedKey:
    """A key that is in the key set. It verifies nothing but its own algorithm, and signs from `signs_from` on."""

    def __init__(self, new: NewKey, signs_from: int) -> None:
        self.kid = new.kid
        self.algorithm = new.algorithm
        self.public = new.public.encode()
        self.signs_from = signs_from
        self._private = msgspec.json.decode(new.private, type=dict[str, str])
        self._opened: OpenedKey | None = None

    def __repr__(self) -> str:
        return f"PublishedKey(kid={self.kid!r})"

    @property
    def opened(self) -> "OpenedKey":
        """The key at work. The first time takes long, see `SigningKeys.open`."""
        if self._opened is None:
            from gatewayd.identity.signing.jose import OpenedKey  # joserfc: not before a key is used

            self._opened = OpenedKey(self.algorithm, self._private)
        return self._opened


def generate(algorithm: Algorithm) -> NewKey:
    """Make a key. For RSA that takes a good part of a second: not on the event loop."""
    from gatewayd.identity.signing import jose  # joserfc: not before a key is used

    key = jose.generate(algorithm)
    kid = key.thumbprint()
    public = {**key.as_dict(private=False), "kid": kid, "use": "sig", "alg": algorithm}
    return NewKey(
        kid=kid,
        algorithm=algorithm,
        private=msgspec.json.encode(key.as_dict(private=True)).decode(),
        public=msgspec.json.encode(public).decode(),
    )


def due(tx: ReadTx) -> list[Algorithm]:
    """The algorithms that need a new key: those that have none, and those whose newest is to be replaced soon."""
    return [algorithm for algorithm in ALGORITHMS if _is_due(tx, algorithm)]


def published(tx: ReadTx) -> list[str]:
    """The ids of the keys in the key set, which is public. Nothing is unsealed."""
    return [row[0] for row in tx.rows(_LIST)]


def add(tx: WriteTx, made: Iterable[NewKey]) -> int:
    """Store the new keys that are still needed; returns how many that were.

    The first key of an algorithm signs at once; a later one after it was published for `AHEAD`.
    """
    added = 0
    for new in made:
        if not _is_due(tx, new.algorithm):
            continue
        signs_from = tx.now if tx.value(_NEWEST, alg=new.algorithm) is None else tx.now + AHEAD
        tx.run(_STOP, alg=new.algorithm, signs_until=signs_from, published_until=signs_from + RETENTION)
        sealed = tx.seal(new.private, _context(new.kid))
        tx.run(
            _INSERT,
            kid=new.kid,
            alg=new.algorithm,
            private_sealed=sealed,
            public_jwk=new.public,
            signs_from=signs_from,
        )
        added += 1
    return added


def forget(tx: WriteTx, kid: str) -> None:
    """Delete a key whose private part is lost: tokens that it signed are good no more. The next start makes another."""
    tx.run(_FORGET, kid=kid)


def sweep(tx: WriteTx) -> int:
    """Delete the keys whose last token has expired. A private key that is deleted cannot be stolen."""
    return tx.run(_SWEEP)


class SigningKeys:
    """The published keys in memory. One for each daemon; `load` may be called from any thread."""

    def __init__(self) -> None:
        self._keys: dict[str, PublishedKey] = {}
        self._jwks = b'{"keys":[]}'
        self.kids: tuple[str, ...] = ()
        """The ids of the published keys, oldest first: the same object until they change."""

    def __repr__(self) -> str:
        return f"SigningKeys({sorted(self._keys)})"

    def load(self, tx: ReadTx) -> None:
        """Load the stored keys. Raises `StoreFailure` where the instance key does not open it."""
        keys = [self._keys.get(row[0]) or _unseal_key(tx, row) for row in tx.rows(_LIST)]
        self._keys = {key.kid: key for key in keys}
        if self.kids != tuple(self._keys):
            self.kids = tuple(self._keys)
        self._jwks = b'{"keys":[%b]}' % b",".join(key.public for key in keys)

    def open(self) -> None:
        """Make every key ready for work. A tenth of a second for an RSA key and what it stands on: on a thread.

        A key that is needed earlier is opened by its first use.
        """
        for published in tuple(self._keys.values()):
            _ = published.opened

    def jwks(self) -> bytes:
        """The key set (RFC 7517 §5)."""
        return self._jwks

    def find(self, kid: str) -> PublishedKey | None:
        """The published key with this id."""
        return self._keys.get(kid)

    def signer(self, algorithm: Algorithm, now: Instant) -> PublishedKey:
        """The key that signs at `now`: the newest whose time has come. Raises `LookupError` where there is none."""
        keys = [key for key in self._keys.values() if key.algorithm == algorithm]
        if not keys:
            raise LookupError(f"there is no {algorithm} key")
        begun = [key for key in keys if key.signs_from <= now]
        return max(begun, key=_signs_from) if begun else min(keys, key=_signs_from)  # a clock that was set back


def _signs_from(key: PublishedKey) -> int:
    return key.signs_from


def _is_due(tx: ReadTx, algorithm: Algorithm) -> bool:
    newest: int | None = tx.value(_NEWEST, alg=algorithm)
    return newest is None or newest + ROTATION - AHEAD <= tx.now


def _unseal_key(tx: ReadTx, row: Row) -> PublishedKey:
    kid, algorithm, sealed, public, signs_from = row
    private = tx.unseal(sealed, _context(kid))
    return PublishedKey(NewKey(kid=kid, algorithm=algorithm, private=private, public=public), signs_from)


def _context(kid: str) -> str:
    return f"signing_keys.private_sealed:{kid}"
