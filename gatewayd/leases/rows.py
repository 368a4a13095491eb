"""Leases as they are stored. Owns the table `leases`.

Who holds one works alone on its subject until an instant, which is put off for as long as the work lasts. That is
compared with the instant of the transaction that looks: of two that take a lease at once, one wins.

A lease can be lost while its holder works: a process that is stopped puts nothing off. So whatever rests on it is
written in a transaction that has `require`d it. One that has ended, and that nobody has taken since, is no loss.

No lease is longer than `seconds` from now, unless the clock was ahead when it was written: it is then cut down to that,
once somebody looks. Its holder, if there is one still, puts it off as before; an account is not held for the hour by
which a clock was set back.
"""

from typing import Final, NamedTuple

from gatewayd.clock import SECOND, Instant
from gatewayd.store import ReadTx, WriteTx

LEASE_SECONDS: Final = 30.0  # Chosen: how long what a killed process worked on waits for another

_FIND = "SELECT holder, until FROM leases WHERE org_id = :org_id AND subject = :subject"
_TAKE = """
INSERT INTO leases (org_id, subject, holder, until) VALUES (:org_id, :subject, :holder, :until)
ON CONFLICT (org_id, subject) DO UPDATE SET holder = :holder, until = :until
WHERE leases.until <= :now OR leases.holder = :holder
"""
_RENEW_ANY_ORG = "UPDATE leases SET until = :until WHERE holder = :holder"
_LIVING = """
SELECT subject FROM leases WHERE org_id = :org_id AND subject > :first AND subject < :behind AND until > :at
"""
_SELECT_ANY_ORG = """
SELECT o.name, l.subject, l.holder, l.until FROM leases l LEFT JOIN organizations o ON o.id = l.org_id
WHERE l.until > :at ORDER BY l.org_id, l.subject LIMIT :count
"""
_RELEASE = "DELETE FROM leases WHERE org_id = :org_id AND subject = :subject AND holder = :holder"
_RELEASE_ALL_ANY_ORG = "DELETE FROM leases WHERE holder = :holder"
_DROP_FORMER_ANY_ORG = """
DELETE FROM leases WHERE until <= :now OR (holder > :first AND holder < :behind AND holder <> :holder)
"""
_FIND_TOO_LONG_ANY_ORG = "SELECT 1 FROM leases WHERE until > :latest LIMIT 1"
_SHORTEN_ANY_ORG = "UPDATE leases SET until = :latest WHERE until > :latest"


class LeaseLost(Exception):
    """Somebody else works on it by now."""


class LeaseRow(NamedTuple):
    """Who holds a lease, and until when."""

    holder: str
    until: Instant


class NamedLease(NamedTuple):
    """A lease with the name of its organization; empty: it is of none."""

    organization: str
    subject: str
    holder: str
    until: Instant


def list_some(tx: ReadTx, count: int) -> list[NamedLease]:
    """The first of those that have not ended, of whichever organization."""
    rows = tx.rows(_SELECT_ANY_ORG, at=tx.now, count=count)
    return [NamedLease(name or "", subject, holder, Instant(until)) for name, subject, holder, until in rows]


def find(tx: ReadTx, subject: str) -> LeaseRow | None:
    """The lease of a subject of the transaction's organization, also one that has ended; None: there is none."""
    row = tx.row(_FIND, subject=subject)
    return None if row is None else LeaseRow(row[0], Instant(row[1]))


def living(tx: ReadTx, kind: str) -> frozenset[str]:
    """The subjects of a kind whose leases of the transaction's organization have not ended."""
    return frozenset(str(row[0]) for row in tx.rows(_LIVING, first=f"{kind}:", behind=f"{kind};", at=tx.now))


def take(tx: WriteTx, subject: str, holder: str, seconds: float) -> bool:
    """Take a lease that nobody else holds; False: somebody does."""
    return tx.run(_TAKE, subject=subject, holder=holder, until=_until(tx, seconds)) > 0


def require(tx: ReadTx, subject: str, holder: str) -> None:
    """Raises `LeaseLost` where a lease is not the holder's any more.

    The row is read and not locked. What a writing transaction reads here holds until its commit, for nobody else writes
    meanwhile: SQLite has one writer, and on PostgreSQL each transaction has the row of the pulse first, for which the
    next one waits. A read alone says what was so.
    """
    row = find(tx, subject)
    if row is None or row.holder != holder:
        raise LeaseLost


def renew(tx: WriteTx, holder: str, seconds: float) -> None:
    """Put off the end of whatever a holder has, as far as nobody took it."""
    tx.run(_RENEW_ANY_ORG, holder=holder, until=_until(tx, seconds))


def release(tx: WriteTx, subject: str, holder: str) -> None:
    """Let others have it; a lease that is somebody else's by now stays theirs."""
    tx.run(_RELEASE, subject=subject, holder=holder)


def release_all_of(tx: WriteTx, holder: str) -> None:
    """Let others have whatever a holder has."""
    tx.run(_RELEASE_ALL_ANY_ORG, holder=holder)


def drop_former(tx: WriteTx, name: str, holder: str) -> None:
    """End the leases of every holder whose id begins with `name` and a colon, but for one: they are known to be dead.

    Those that have ended go too: whoever is gone removes them no more.
    """
    tx.run(_DROP_FORMER_ANY_ORG, first=f"{name}:", behind=f"{name};", holder=holder)


def is_any_too_long(tx: ReadTx, seconds: float) -> bool:
    """Whether a clock that was ahead has written a lease."""
    return tx.row(_FIND_TOO_LONG_ANY_ORG, latest=_until(tx, seconds)) is not None


def shorten(tx: WriteTx, seconds: float) -> None:
    """Let no lease be longer than it can be by this clock."""
    tx.run(_SHORTEN_ANY_ORG, latest=_until(tx, seconds))


def _until(tx: ReadTx, seconds: float) -> Instant:
    return Instant(tx.now + round(seconds * SECOND))
