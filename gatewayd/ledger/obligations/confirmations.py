"""What the tax authority says of obligations, merged over what the calendar predicts (domain model B9 and C7).

The authority's row takes the place of the predicted one with the same kind, business and end of the period. Its due
date holds; what the calendar predicted stays beside it, so that a difference can be seen.
"""

import datetime
from collections.abc import Iterable
from typing import Final, NamedTuple

from msgspec.structs import replace

from gatewayd.clock import HOUR
from gatewayd.errors import not_found
from gatewayd.ledger.calendar import periods
from gatewayd.ledger.calendar.forecast import ObligationKind, PeriodKey, PeriodType, vat_label
from gatewayd.ledger.calendar.periods import PERIODS
from gatewayd.ledger.dates import income_tax
from gatewayd.ledger.dates.tax_calendar import tax_year_of
from gatewayd.ledger.obligations import obligations, schedule
from gatewayd.ledger.obligations.obligations import OBLIGATIONS, ObligationKey, ObligationRow, Penalty
from gatewayd.ledger.taxpayers import owners
from gatewayd.money import Money
from gatewayd.store import WriteTx

GRACE: Final = HOUR
"""How long the authority may take to mark what it was sent (domain model C7)."""

_PERIOD_TYPES: dict[ObligationKind, PeriodType] = {
    "vat_return": "vat_period",
    "vat_payment": "vat_period",
    "itsa_quarterly_update": "itsa_quarter",
    "itsa_final_declaration": "tax_year",
    "self_assessment_payment": "tax_year",
    "payment_on_account": "tax_year",
}


class Confirmed(NamedTuple):
    """One obligation as the authority has it. Dates are ISO; `received_date` None: nothing was received.

    `amount_due` is in pounds sterling, None where it is not said.
    """

    kind: ObligationKind
    business_id: str | None
    period_start_date: str
    period_end_date: str
    due_date: str
    is_fulfilled: bool
    received_date: str | None = None
    period_key: str | None = None
    amount_due: Money | None = None
    penalty: Penalty | None = None


def confirm(tx: WriteTx, legal_entity_id: str, said: Iterable[Confirmed]) -> list[ObligationRow]:
    """Take over what the authority says of a legal entity's obligations; answers them as they then are.

    Raises `Problem` `not_found` where the organization has no such legal entity.
    """
    if owners.find(tx, legal_entity_id) is None:
        raise not_found("legal entity")
    ids = [_take_over(tx, legal_entity_id, confirmed) for confirmed in _as_met(list(said))]
    schedule.refresh(tx, legal_entity_id)
    return [OBLIGATIONS.get(tx, id_) for id_ in ids]


def _as_met(said: list[Confirmed]) -> list[Confirmed]:
    """The rows, where an update that was received meets those of earlier quarters too (domain model C7)."""
    received = [confirmed for confirmed in said if confirmed.kind == "itsa_quarterly_update" and confirmed.is_fulfilled]
    return [_met(confirmed, received) for confirmed in said]


def _met(confirmed: Confirmed, received: list[Confirmed]) -> Confirmed:
    if confirmed.kind != "itsa_quarterly_update" or confirmed.is_fulfilled:
        return confirmed
    source = confirmed.business_id, tax_year_of(confirmed.period_end_date)
    for update in received:
        is_later = update.period_end_date > confirmed.period_end_date
        if is_later and (update.business_id, tax_year_of(update.period_end_date)) == source:
            return confirmed._replace(is_fulfilled=True, received_date=update.received_date)
    return confirmed


def _take_over(tx: WriteTx, legal_entity_id: str, confirmed: Confirmed) -> str:
    """Merge one row; answers the id of the obligation that it is."""
    slot = slot_of(confirmed.kind, confirmed.due_date)
    row = obligations.find(
        tx, legal_entity_id, ObligationKey(confirmed.kind, confirmed.business_id, confirmed.period_end_date, slot)
    )
    if row is None:
        row = OBLIGATIONS.insert(tx, _new(tx, legal_entity_id, confirmed, slot))
        obligations.note(tx, row, "confirmed", None, f"due {confirmed.due_date}")
        if confirmed.is_fulfilled:
            obligations.fulfil(tx, row, confirmed.received_date, None)
        return row.id
    after = _merged(tx, row, confirmed)
    if replace(after, last_checked_at=row.last_checked_at) == row:
        OBLIGATIONS.save(tx, after)  # Chosen: that nothing is new makes no `expectedVersion` fail
    else:
        after = OBLIGATIONS.update(tx, after)
        _note_differences(tx, row, after)
    if confirmed.is_fulfilled and row.status != "fulfilled":
        obligations.fulfil(tx, after, confirmed.received_date, None)
    return row.id


def slot_of(kind: ObligationKind, due_date: str) -> str:
    """What tells an obligation from others of its kind and period: there are two payments on account of a year."""
    return due_date if kind == "payment_on_account" else ""


def _new(tx: WriteTx, legal_entity_id: str, confirmed: Confirmed, slot: str) -> ObligationRow:
    return OBLIGATIONS.new(
        tx,
        None,
        kind=confirmed.kind,
        legal_entity_id=legal_entity_id,
        business_id=confirmed.business_id,
        period_id=_period_of(tx, legal_entity_id, confirmed),
        slot=slot,
        undecided=False,
        calculated=False,
        period_start_date=confirmed.period_start_date,
        period_end_date=confirmed.period_end_date,
        status="open",
        dismissed=False,
        currency=schedule.CURRENCY,
        **_authoritys_fields(tx, confirmed),
    )


def _authoritys_fields(tx: WriteTx, confirmed: Confirmed) -> dict[str, object]:
    """The members that are the authority's to say, whatever there was before."""
    return {
        "due_date": confirmed.due_date,
        "period_key": confirmed.period_key,
        "source": "tax_authority",
        "confidence": "confirmed",
        "amount_due": confirmed.amount_due,
        "penalty": confirmed.penalty,
        "last_checked_at": tx.now,
    }


def _merged(tx: WriteTx, row: ObligationRow, confirmed: Confirmed) -> ObligationRow:
    after = replace(
        row, period_start_date=confirmed.period_start_date, undecided=False, **_authoritys_fields(tx, confirmed)
    )
    if after.period_id is None:
        after = replace(after, period_id=_period_of(tx, row.legal_entity_id, confirmed))
    if row.status == "fulfilled" and confirmed.is_fulfilled:
        return replace(after, received_date=confirmed.received_date or row.received_date)
    if row.status == "fulfilled" and row.fulfilled_at is not None and tx.now - row.fulfilled_at < GRACE:
        return after
    return replace(after, status="open", dismissed=False, received_date=None, fulfilled_at=None)


def _note_differences(tx: WriteTx, before: ObligationRow, after: ObligationRow) -> None:
    if before.source == "local":
        obligations.note(tx, after, "confirmed", None, f"due {after.due_date}")
    if after.due_date != before.due_date:
        obligations.note(tx, after, "due_date_changed", None, f"{before.due_date} to {after.due_date}")
    if before.status == "fulfilled" and after.status == "open":
        obligations.note(tx, after, "reopened")
    if before.status == "not_required":
        obligations.note(tx, after, "required")


def _period_of(tx: WriteTx, legal_entity_id: str, confirmed: Confirmed) -> str | None:
    """The period that an obligation is of; one that is not there yet is made."""
    kind = _PERIOD_TYPES.get(confirmed.kind)
    if kind is None:
        return None
    key = PeriodKey(kind, confirmed.business_id, confirmed.period_end_date)
    row = periods.find(tx, legal_entity_id, key)
    if row is None:
        row = PERIODS.insert(tx, periods.new(tx, legal_entity_id, key, **_dates(kind, confirmed)))
    elif row.archived_at is not None:
        row = PERIODS.update(tx, replace(row, archived_at=None))
    return row.id


def _dates(kind: PeriodType, confirmed: Confirmed) -> dict[str, object]:
    end = datetime.date.fromisoformat(confirmed.period_end_date)
    tax_year = None if kind == "vat_period" else tax_year_of(confirmed.period_end_date)
    return {
        "label": tax_year or vat_label(end),
        "tax_year": tax_year,
        "start_date": confirmed.period_start_date,
        "cumulative": kind == "itsa_quarter" and income_tax.year_of(end) >= income_tax.CUMULATIVE_FROM,
        "filing_due_date": None if confirmed.kind.endswith("_payment") else confirmed.due_date,
    }
