"""Entries of another ledger, each taken over once."""

from typing import Literal

import msgspec
from msgspec.structs import replace

from gatewayd.clock import Instant
from gatewayd.ledger.credits import booking, entries, plans
from gatewayd.ledger.credits.entries import NewEntry
from gatewayd.ledger.credits.grants import NewGrant
from gatewayd.store import WriteTx


class ImportedEntry(msgspec.Struct, frozen=True, kw_only=True):
    """One entry. `amount` is signed, in millionths; `operation` counts for usage alone."""

    type: Literal["grant", "purchase", "usage", "adjustment"]
    amount: int
    occurred_at: Instant
    description: str | None
    external_id: str | None
    operation: str


def enter(tx: WriteTx, import_id: str, imported: ImportedEntry) -> bool:
    """Enter it, unless one with its `external_id` was; answers whether it is new.

    Raises `Problem` `insufficient_credits` for what takes more than there is, where no plan has a soft limit.
    """
    if imported.external_id is not None and entries.is_imported(tx, imported.external_id):
        return False
    entry = NewEntry(
        type=imported.type,
        amount=imported.amount,
        description=imported.description,
        occurred_at=imported.occurred_at,
        import_id=import_id,
        external_id=imported.external_id,
    )
    if imported.type == "usage":
        booking.take(tx, replace(entry, operation=imported.operation), beyond=plans.soft_limit(tx) or False)
    elif imported.amount < 0:
        booking.take(tx, entry, beyond=False)
    else:
        booking.give(tx, _grant(imported), entry)
    return True


def _grant(imported: ImportedEntry) -> NewGrant:
    return NewGrant(
        source="adjustment" if imported.type == "usage" else imported.type,
        amount=imported.amount,
        category="paid" if imported.type == "purchase" else "promotional",
        description=imported.description,
    )
