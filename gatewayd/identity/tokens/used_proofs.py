"""DPoP proofs that were used, where several daemons share the database. Owns `used_proofs` and `proof_counts`.

What one daemon remembers, another would take once more (RFC 9449 §11.1). So a proof is a row with a unique key, which
is stored before its request is let in: of two daemons that are given it at once, one stores it. A daemon that is alone
on its database keeps them in memory instead, see `dpop.ReplayCache`: a commit for each request would buy nothing there.

Each key has a quota, as in memory. It is counted by the minutes in which proofs end, of which four count at a time: a
key that has used its quota up has some back within two minutes.
"""

from typing import Final, NamedTuple

from gatewayd.clock import MINUTE
from gatewayd.identity.tokens.dpop import (
    PER_KEY_MAX,
    PUSHED_MAX,
    PUSHED_PER_KEY_MAX,
    InvalidProof,
    Proof,
    TooManyProofs,
)
from gatewayd.store import ReadTx, WriteTx

SKEW: Final = MINUTE  # Chosen: how far clocks of daemons are apart at most
SWEEP_ROWS: Final = 500  # of one transaction
_ALL_KEYS: Final = ""

_FIND = "SELECT 1 FROM used_proofs WHERE kind = :kind AND proof = :proof"
_USE = """
INSERT INTO used_proofs (kind, proof, ends_at) VALUES (:kind, :proof, :ends_at) ON CONFLICT (kind, proof) DO NOTHING
"""
_COUNT = """
INSERT INTO proof_counts (kind, thumbprint, minute, used) VALUES (:kind, :thumbprint, :minute, 1)
ON CONFLICT (kind, thumbprint, minute) DO UPDATE SET used = proof_counts.used + 1
"""
_USED = """
SELECT coalesce(sum(used), 0) FROM proof_counts
WHERE kind = :kind AND thumbprint = :thumbprint AND minute >= :minute
"""
_SWEEP = """
DELETE FROM used_proofs WHERE (kind, proof) IN (
    SELECT kind, proof FROM used_proofs WHERE ends_at < :before LIMIT :count
)
"""
_SWEEP_COUNTS = """
DELETE FROM proof_counts WHERE (kind, thumbprint, minute) IN (
    SELECT kind, thumbprint, minute FROM proof_counts WHERE minute < :before LIMIT :count
)
"""


class ProofQuota(NamedTuple):
    """What proofs are used for, and how many of them one key may, and all together where keys cost nothing."""

    kind: str
    per_key_max: int
    in_all_max: int | None = None


REQUESTS: Final = ProofQuota("request", PER_KEY_MAX)
"""Those used for tokens, and with them."""
PUSHED: Final = ProofQuota("pushed", PUSHED_PER_KEY_MAX, PUSHED_MAX)
"""Those of pushed requests, which anybody may send."""


def refuse_used(tx: ReadTx, proof: Proof, quota: ProofQuota) -> None:
    """Raises `InvalidProof` for one that was used: a first look, so that a replay costs no commit."""
    if tx.row(_FIND, kind=quota.kind, proof=proof.identity) is not None:
        raise InvalidProof("The proof was used before (jti).")


def spend_in_rows(tx: WriteTx, proof: Proof, quota: ProofQuota) -> None:
    """Use a proof up: to be called last, when all else about the request holds, and durable before it is let in.

    Raises `InvalidProof` for one that was used, and `TooManyProofs`; nothing is stored then.
    """
    if tx.run(_USE, kind=quota.kind, proof=proof.identity, ends_at=proof.until) == 0:
        raise InvalidProof("The proof was used before (jti).")
    _count(tx, quota.kind, proof, (proof.thumbprint, quota.per_key_max))
    if quota.in_all_max is not None:
        _count(tx, quota.kind, proof, (_ALL_KEYS, quota.in_all_max))


def sweep(tx: WriteTx) -> int:
    """Forget at most `SWEEP_ROWS` proofs that every daemon's clock finds too old; returns how many."""
    tx.run(_SWEEP_COUNTS, before=(tx.now - SKEW) // MINUTE, count=SWEEP_ROWS)
    return tx.run(_SWEEP, before=tx.now - SKEW, count=SWEEP_ROWS)


def _count(tx: WriteTx, kind: str, proof: Proof, bound: tuple[str, int]) -> None:
    """Count a proof among those of a key. Raises `TooManyProofs`."""
    thumbprint, most = bound
    tx.run(_COUNT, kind=kind, thumbprint=thumbprint, minute=proof.until // MINUTE)
    if tx.value(_USED, kind=kind, thumbprint=thumbprint, minute=tx.now // MINUTE) > most:
        raise TooManyProofs
