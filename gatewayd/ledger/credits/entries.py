"""The ledger of credits as it is stored. Owns the table `credit_entries`, which is only ever added to.

The last entry of an organization says how it stands: what it has, was given and has used. Nothing else keeps that.
"""

import bisect
from typing import Final

import msgspec

from gatewayd.clock import Instant
from gatewayd.errors import not_found
from gatewayd.ledger.credits import usage
from gatewayd.ledger.credits.shapes import EntryRow, EntryType, Subject
from gatewayd.money import Credits
from gatewayd.store import Columns, ReadTx, WriteTx

ENTRIES: Final = Columns(EntryRow)
_SELECT = f"SELECT {ENTRIES.sql} FROM credit_entries WHERE org_id = :org_id"
_SELECT_LAST = f"{_SELECT} ORDER BY sequence DESC LIMIT 1"
_SELECT_STANDING = """
SELECT sequence, balance_after, lifetime_granted, lifetime_used FROM credit_entries
WHERE org_id = :org_id ORDER BY sequence DESC LIMIT 1
"""
_SELECT_AT = f"{_SELECT} AND sequence = :sequence"
_SELECT_FOLLOWING = f"{_SELECT} AND sequence > :sequence ORDER BY sequence LIMIT :count"
_SELECT_BOOKED_AT = "SELECT booked_at FROM credit_entries WHERE org_id = :org_id AND sequence = :sequence"
_SELECT_OCCURRED_BY = """
SELECT sequence FROM credit_entries WHERE org_id = :org_id AND occurred_at <= :at
ORDER BY occurred_at DESC, sequence DESC LIMIT 1
"""
_SELECT_ONE = f"{_SELECT} AND id = :id"
_SELECT_OWNER_ANY_ORG = "SELECT org_id FROM credit_entries WHERE id = :id"
_SELECT_CHARGED = "SELECT id FROM credit_entries WHERE org_id = :org_id AND operation_id = :operation_id LIMIT 1"
_SELECT_IMPORTED = "SELECT id FROM credit_entries WHERE org_id = :org_id AND external_id = :external_id LIMIT 1"
_SUM_REVERSED = "SELECT coalesce(sum(amount), 0) FROM credit_entries WHERE org_id = :org_id AND reversal_of = :id"
_VALUES = ", ".join(f":{name}" for name in ENTRIES.names)
_INSERT = f"INSERT INTO credit_entries (org_id, {ENTRIES.sql}) VALUES (:org_id, {_VALUES})"
GIVING: Final = frozenset({"grant", "purchase"})
USING: Final = frozenset({"usage", "refund"})


class NewEntry(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be entered. `amount` is signed, in millionths; without `occurred_at` it is now."""

    type: EntryType
    amount: int
    grant_id: str | None = None
    operation: str | None = None
    operation_id: str | None = None
    part: int = 1
    subject: Subject | None = None
    description: str | None = None
    occurred_at: Instant | None = None
    reversal_of: str | None = None
    import_id: str | None = None
    external_id: str | None = None


def last(tx: ReadTx) -> EntryRow | None:
    """The last entry, which says how the organization stands; None: it never had credits."""
    values = tx.row(_SELECT_LAST)
    return None if values is None else ENTRIES.load(values)


def balance(tx: ReadTx) -> int:
    """The balance, as it is booked."""
    row = last(tx)
    return 0 if row is None else row.balance_after


def at(tx: ReadTx, sequence: int) -> EntryRow | None:
    """The entry with that number."""
    values = tx.row(_SELECT_AT, sequence=sequence)
    return None if values is None else ENTRIES.load(values)


def booked_at(tx: ReadTx, sequence: int) -> Instant:
    """When an entry was booked: never before the one before it."""
    return Instant(tx.value(_SELECT_BOOKED_AT, sequence=sequence))


def last_by(tx: ReadTx, at: Instant) -> int:
    """The number of the last entry that was booked by an instant; 0: there is none.

    It is mostly the last that occurred by then, so that the index of these tells it. Where that is not so, as after an
    import, it is searched for: entries are booked in the order of their numbers.
    """
    newest = last(tx)
    count = 0 if newest is None else newest.sequence
    guess: int = tx.value(_SELECT_OCCURRED_BY, at=at) or 0
    if (guess == 0 or booked_at(tx, guess) <= at) and (guess == count or booked_at(tx, guess + 1) > at):
        return guess
    return bisect.bisect_right(range(1, count + 1), at, key=lambda number: booked_at(tx, number))


def following(tx: ReadTx, sequence: int, count: int) -> list[EntryRow]:
    """The entries behind a number, in order."""
    return [ENTRIES.load(values) for values in tx.rows(_SELECT_FOLLOWING, sequence=sequence, count=count)]


def get(tx: ReadTx, id_: str) -> EntryRow:
    """One entry. Raises `Problem` `not_found`."""
    values = tx.row(_SELECT_ONE, id=id_)
    if values is None:
        raise not_found("ledger entry")
    return ENTRIES.load(values)


def organization_of(tx: ReadTx, id_: str) -> str:
    """Whose entry it is, for the operator of the instance. Raises `Problem` `not_found`."""
    org_id: str | None = tx.value(_SELECT_OWNER_ANY_ORG, id=id_)
    if org_id is None:
        raise not_found("ledger entry")
    return org_id


def is_charged(tx: ReadTx, operation_id: str) -> bool:
    """Whether this work was charged before."""
    return tx.row(_SELECT_CHARGED, operation_id=operation_id) is not None


def is_imported(tx: ReadTx, external_id: str) -> bool:
    """Whether an entry with this identifier was imported before."""
    return tx.row(_SELECT_IMPORTED, external_id=external_id) is not None


def refunded(tx: ReadTx, id_: str) -> int:
    """How much of an entry was refunded."""
    return int(tx.value(_SUM_REVERSED, id=id_))


def append(tx: WriteTx, new: NewEntry) -> EntryRow:
    """Enter it as the next of its organization, and add usage to the sums of its quarter of an hour."""
    sequence, standing, granted, used = tx.row(_SELECT_STANDING) or (0, 0, 0, 0)
    occurred_at = tx.now if new.occurred_at is None else new.occurred_at
    row = EntryRow(
        id=tx.new_id("led"),
        sequence=sequence + 1,
        type=new.type,
        amount=Credits(new.amount),
        balance_after=Credits(standing + new.amount),
        grant_id=new.grant_id,
        operation=new.operation,
        subject=new.subject,
        description=new.description,
        occurred_at=occurred_at,
        booked_at=tx.updated_at,
        reversal_of=new.reversal_of,
        import_id=new.import_id,
        external_id=new.external_id,
        operation_id=new.operation_id,
        part=new.part,
        lifetime_granted=Credits(granted + (new.amount if new.type in GIVING else 0)),
        lifetime_used=Credits(used - (new.amount if new.type in USING else 0)),
    )
    tx.run_each(_INSERT, [(tx.org_id, *ENTRIES.dump(row))])
    if new.operation is not None:
        _sum_up(tx, row, new.operation)
    return row


def _sum_up(tx: WriteTx, row: EntryRow, operation: str) -> None:
    if row.type == "usage":
        usage.add(tx, operation, row.occurred_at, usage.Used(-row.amount, int(row.part == 1)))
    elif row.type == "refund":
        usage.give_back(tx, operation, row.occurred_at, row.amount)
