"""Obligations that follow from one resource of an area: a certificate to renew, a disposal to report.

The area that owns the resource says with each change what follows from it, in the transaction of the change, so that
nothing waits for a job. Their slot is the id of the resource. What a person said of one stands, as in `schedule`.
"""

from typing import NamedTuple

from msgspec.structs import replace

from gatewayd.ledger.calendar.forecast import ObligationKind
from gatewayd.ledger.obligations import obligations, schedule
from gatewayd.ledger.obligations.obligations import OBLIGATIONS, ObligationRow
from gatewayd.store import ReadTx, WriteTx

_SELECT_OF_RESOURCE = f"{OBLIGATIONS.select} AND slot = :resource_id AND slot <> '' ORDER BY id LIMIT 1"


class Following(NamedTuple):
    """What follows from a resource. Dates are ISO.

    `met_on`: the day on which the resource itself shows that it was met; None: it does not.
    """

    kind: ObligationKind
    name: str
    legal_entity_id: str
    business_id: str | None
    start: str
    end: str
    due: str
    met_on: str | None = None


def find(tx: ReadTx, resource_id: str) -> ObligationRow | None:
    """The obligation that follows from a resource, whatever became of it; None where none ever did."""
    values = tx.row(_SELECT_OF_RESOURCE, resource_id=resource_id)
    return None if values is None else OBLIGATIONS.read(tx, values)


def settle(tx: WriteTx, resource_id: str, following: Following | None) -> None:
    """Make the obligation what follows from the resource now; None: nothing does, or nothing any more."""
    row = find(tx, resource_id)
    if following is None:
        if row is not None and row.status == "open":
            _put_away(tx, row)
        return
    if row is None and following.met_on is not None:
        return  # Chosen: what was met before it was known is no obligation
    row = OBLIGATIONS.insert(tx, _new(tx, resource_id, following)) if row is None else _keep(tx, row, following)
    if following.met_on is not None and row.status == "open":
        obligations.fulfil(tx, row, following.met_on, None)


def _new(tx: WriteTx, resource_id: str, following: Following) -> ObligationRow:
    return OBLIGATIONS.new(
        tx,
        None,
        kind=following.kind,
        name=following.name,
        legal_entity_id=following.legal_entity_id,
        business_id=following.business_id,
        undecided=False,
        calculated=False,
        slot=resource_id,
        period_start_date=following.start,
        period_end_date=following.end,
        due_date=following.due,
        predicted_due_date=following.due,
        status="open",
        dismissed=False,
        source="local",
        confidence="confirmed",  # the resource says so, and no calendar
        currency=schedule.CURRENCY,
    )


def _keep(tx: WriteTx, row: ObligationRow, following: Following) -> ObligationRow:
    """Bring what is stored to what follows. Another due date asks anew for what was met or dismissed."""
    after = replace(
        row,
        name=following.name,
        business_id=following.business_id,
        period_start_date=following.start,
        period_end_date=following.end,
        due_date=following.due,
        predicted_due_date=following.due,
    )
    is_moved = after.due_date != row.due_date
    if following.met_on is None and (is_moved or not _is_said(tx, row)):
        after = replace(after, status="open", dismissed=False, received_date=None, fulfilled_at=None)
    if after == row:
        return row
    after = OBLIGATIONS.update(tx, after)
    if is_moved:
        obligations.note(tx, after, "due_date_changed", None, f"{row.due_date} to {after.due_date}")
    if row.status == "not_required" and after.status == "open":
        obligations.note(tx, after, "required")
    elif row.status == "fulfilled" and after.status == "open":
        obligations.note(tx, after, "reopened")
    return after


def _is_said(tx: ReadTx, row: ObligationRow) -> bool:
    """Whether it is a person who met or dismissed it."""
    if row.status != "fulfilled":
        return row.dismissed
    met = [event for event in obligations.events_of(tx, row.id) if event.type == "fulfilled"]
    return bool(met) and met[-1].by is not None


def _put_away(tx: WriteTx, row: ObligationRow) -> None:
    after = OBLIGATIONS.update(tx, replace(row, status="not_required"))
    obligations.note(tx, after, "not_required")
