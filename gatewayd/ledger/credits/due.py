"""What has fallen due in any organization, to be booked by the daemon.

Nothing rests on it: whatever books, books first what has fallen due, and whatever reads counts it.
"""

from gatewayd.ledger.credits import booking, grants, holds, plans
from gatewayd.store import ReadTx, WriteTx


def organization(tx: ReadTx) -> str | None:
    """An organization in which something has fallen due; None: nothing has."""
    at = tx.now
    return (
        holds.organization_with_due(tx, at)
        or grants.organization_with_due(tx, at)
        or plans.organization_with_due(tx, at)
    )


def book(tx: WriteTx) -> None:
    """Book what has fallen due in the organization of the transaction, as much as doesn't hold up others."""
    if not booking.book_some(tx):
        booking.book_due(tx)
