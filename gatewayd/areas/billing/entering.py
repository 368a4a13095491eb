"""Entries that administrators make: refunds, grants that are taken back, adjustments, and those of another ledger.

None changes another entry, and those of another ledger are taken over once each.
"""

from typing import Literal

import msgspec
from msgspec.structs import replace

from gatewayd.clock import Instant
from gatewayd.errors import invalid_field, invalid_state
from gatewayd.ledger.credits import booking, entries, grants, plans
from gatewayd.ledger.credits.entries import NewEntry
from gatewayd.ledger.credits.grants import Change, NewGrant
from gatewayd.ledger.credits.shapes import EntryRow, GrantRow, GrantStatus
from gatewayd.money import credits_text
from gatewayd.store import ReadTx, WriteTx


def refund(tx: WriteTx, entry_id: str, amount: int | None, description: str | None) -> EntryRow:
    """Give back an amount of what an entry used; None: all of it that was not refunded yet.

    It pays what is owed first. The rest goes back to the grant it came from.

    Chosen: where that has expired or was taken back, it goes to a new grant of the same category and priority that
    doesn't expire: what is given back could not be used otherwise, and who wants it so can take the grant back. Chosen:
    the refund occurred when the usage did, so that a day is never less than nothing.

    Raises `Problem`: `not_found`, `invalid_state`, `validation_failed` for more than is left.
    """
    used = entries.get(tx, entry_id)
    if used.type != "usage":
        message = f"Only usage can be refunded, and this is a {used.type}: `billing.adjustCredits` puts that right."
        raise invalid_state(message, used.type, ("usage",))
    left = -used.amount - entries.refunded(tx, entry_id)
    wanted = left if amount is None else amount
    if not 0 < wanted <= left:
        raise invalid_field("amount", "out_of_range", f"At most {credits_text(left)} can be refunded.")
    booking.book_due(tx)
    grant_id = _put_back(tx, used.grant_id, wanted)
    entry = NewEntry(
        type="refund",
        amount=wanted,
        grant_id=grant_id,
        operation=used.operation,
        subject=used.subject,
        description=description,
        occurred_at=used.occurred_at,
        reversal_of=entry_id,
    )
    return entries.append(tx, entry)


def void(tx: WriteTx, grant_id: str, description: str | None) -> GrantRow:
    """Take back what is left of a grant. What is held for work under way stays with it, and expires if not used.

    Raises `Problem`: `not_found`, `invalid_state`.
    """
    booking.book_due(tx)
    grant = grants.get(tx, grant_id)
    status = status_of(tx, grant)
    if status != "active":
        raise invalid_state(f"The grant is {status}: only one that is active can be voided.", status, ("active",))
    free = grant.remaining - grant.held
    grants.change(tx, grant_id, Change(voided=free))
    grants.end(tx, grant_id)
    if free:
        entry = NewEntry(type="void", amount=-free, grant_id=grant_id, description=description)
        booking.tell_of_low(tx, [entries.append(tx, entry)])
    return grants.get(tx, grant_id)


def adjust(tx: WriteTx, amount: int, description: str) -> list[EntryRow]:
    """Add credits in a grant that doesn't expire, or take some in the order of grants.

    Raises `Problem` `insufficient_credits`.
    """
    entry = NewEntry(type="adjustment", amount=amount, description=description)
    if amount < 0:
        return booking.take(tx, entry, beyond=False)
    grant = NewGrant(source="adjustment", amount=amount, description=description)
    return [booking.give(tx, grant, entry).entry]


def status_of(tx: ReadTx, grant: GrantRow) -> GrantStatus:
    """How a grant stands now, whether or not its expiry is booked."""
    if grant.voided_at is not None:
        return "voided"
    if grant.expires_at is not None and grant.expires_at <= tx.now:
        return "expired"
    return "used" if grant.remaining == 0 else "active"


def _put_back(tx: WriteTx, grant_id: str | None, amount: int) -> str | None:
    """Return refunded credits to a grant, once what is owed is paid. Returns the id of the grant."""
    rest = amount - min(booking.owed(tx), amount)
    grant = None if grant_id is None else grants.get(tx, grant_id)
    if rest == 0:
        return grant_id
    if grant is not None and status_of(tx, grant) in ("active", "used"):
        grants.change(tx, grant.id, Change(used=-rest))
        return grant.id
    new = NewGrant(source="refund", amount=amount, used=amount - rest)
    if grant is not None:
        new = NewGrant(
            source="refund",
            amount=amount,
            used=amount - rest,
            category=grant.category,
            priority=grant.priority,
        )
    return grants.create(tx, new).id


class ImportedEntry(msgspec.Struct, frozen=True, kw_only=True):
    """One entry. `amount` is signed, in millionths; `operation` counts for usage alone."""

    type: Literal["grant", "purchase", "usage", "adjustment"]
    amount: int
    occurred_at: Instant
    description: str | None
    external_id: str | None
    operation: str


def enter(tx: WriteTx, import_id: str, imported: ImportedEntry) -> bool:
    """Enter an imported entry, unless one with its `external_id` was before. Returns whether it is new.

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
