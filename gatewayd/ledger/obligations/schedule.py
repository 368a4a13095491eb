"""Keeps the periods and obligations of a legal entity true when it, its businesses or the day change.

Owns the table `calendars`, which says how far each entity's calendar was made: what a daemon of before, or of last
year, made is made anew by `refresh_some`.

What a person or the authority has touched stays: a period that is closing or closed, an obligation that is fulfilled,
dismissed or confirmed. What applies no more is not deleted, so that clients who follow changes see it: the period is
archived, the obligation not required. When it applies again it is the same one.

What was payable of VAT for closed periods is kept, so that years can be reckoned without adding the books up again. It
stands until the period is opened again, for nothing in it changes.
"""

import datetime
from collections.abc import Iterable
from typing import Final, NamedTuple

from msgspec.structs import replace

from gatewayd.clock import months_later
from gatewayd.errors import Problem
from gatewayd.ledger.calendar import periods
from gatewayd.ledger.calendar.forecast import (
    ExpectedObligation,
    ExpectedPeriod,
    Forecast,
    PeriodKey,
    Said,
    forecast,
    horizon,
)
from gatewayd.ledger.calendar.periods import PERIODS, PeriodRow
from gatewayd.ledger.dates.date_ranges import DateRange
from gatewayd.ledger.dates.tax_calendar import tax_year_of
from gatewayd.ledger.obligations import obligations
from gatewayd.ledger.obligations.obligations import OBLIGATIONS, ObligationKey, ObligationRow
from gatewayd.ledger.results import vat_figures
from gatewayd.ledger.taxpayers import taxpayers, vat_years
from gatewayd.ledger.vat import vat_return, vat_standing
from gatewayd.money import Money
from gatewayd.store import ReadTx, WriteTx

EDITION: Final = 7
"""Of the rules: with a new one, every calendar is made anew."""
REFRESHED_AT_ONCE: Final = 20  # Chosen: entities in one transaction, some milliseconds
CURRENCY: Final = "GBP"  # of what is owed in the United Kingdom

_SELECT_BEHIND_ANY_ORG = """
SELECT entities.org_id, entities.id FROM legal_entities AS entities
LEFT JOIN calendars ON calendars.legal_entity_id = entities.id
WHERE calendars.made_for IS NULL OR calendars.made_for <> :made_for
ORDER BY entities.id LIMIT :count
"""
_UPDATE_CALENDAR = """
UPDATE calendars SET made_for = :made_for WHERE org_id = :org_id AND legal_entity_id = :legal_entity_id
"""
_INSERT_CALENDAR = """
INSERT INTO calendars (org_id, legal_entity_id, made_for) VALUES (:org_id, :legal_entity_id, :made_for)
"""
_LOOKED_BACK: Final = 30  # Chosen: months; what was owed before decides of no payment that is still to come
_CURRENCY: Final = "GBP"  # of VAT returns


class _Stored(NamedTuple):
    """What is there of an entity."""

    periods: dict[PeriodKey, PeriodRow]
    obligations: dict[ObligationKey, ObligationRow]


def refresh(tx: WriteTx, legal_entity_id: str, business_id: str | None = None) -> None:
    """Make what should be there of a legal entity, and put away what applies no more. It may be asked at any time.

    With a business, of that and of the entity as a whole: what follows from the others is as it was, and they may be
    many. Not of a person: whether updates of one source are due depends on when the others began.
    """
    keep_vat_return(tx, legal_entity_id)
    taxpayer = taxpayers.find(tx, legal_entity_id)
    assert taxpayer is not None, "a legal entity is refreshed after it was stored"
    if taxpayer.is_person:
        business_id = None
    stored = _Stored(
        periods.of_entity(tx, legal_entity_id, business_id), obligations.of_entity(tx, legal_entity_id, business_id)
    )
    seen = horizon(taxpayer.created, datetime.date.fromisoformat(tx.today))
    rows = stored.obligations.values()
    expected = forecast(taxpayer, _said_by_authority(rows), seen, business_id, contracted=_contracted(rows))
    ids = _settle_periods(tx, legal_entity_id, stored, expected)
    _settle_obligations(tx, legal_entity_id, stored.obligations, expected, ids)
    if business_id is None:
        _note_made(tx, legal_entity_id)


def refresh_some(tx: WriteTx) -> int:
    """Refresh some of the entities whose calendars are behind, of all organizations; answers of how many."""
    behind = tx.rows(_SELECT_BEHIND_ANY_ORG, made_for=_made_for(tx), count=REFRESHED_AT_ONCE)
    for org_id, legal_entity_id in behind:
        tx.bind(org_id)
        refresh(tx, legal_entity_id)
    return len(behind)


def is_behind(tx: ReadTx) -> bool:
    """Whether the calendar of any entity is."""
    return tx.row(_SELECT_BEHIND_ANY_ORG, made_for=_made_for(tx), count=1) is not None


def _made_for(tx: ReadTx) -> str:
    return f"{tax_year_of(tx.today)}.{EDITION}"


def _note_made(tx: WriteTx, legal_entity_id: str) -> None:
    values = {"legal_entity_id": legal_entity_id, "made_for": _made_for(tx)}
    if not tx.run(_UPDATE_CALENDAR, **values):
        tx.run(_INSERT_CALENDAR, **values)


def _said_by_authority(rows: Iterable[ObligationRow]) -> list[Said]:
    day = datetime.date.fromisoformat
    return [
        Said(row.kind, row.business_id, day(row.period_start_date), day(row.period_end_date))
        for row in rows
        if row.source == "tax_authority"
    ]


def _contracted(rows: Iterable[ObligationRow]) -> set[str]:
    """The ends of the months for which returns as a contractor are expected."""
    returns = (row for row in rows if row.kind == "cis_return" and row.slot == "")
    return {row.period_end_date for row in returns if row.status != "not_required"}


# -- periods


def _settle_periods(tx: WriteTx, legal_entity_id: str, stored: _Stored, expected: Forecast) -> dict[PeriodKey, str]:
    """Bring the periods to what is expected; answers the ids of those that are there."""
    kept = {
        row.period_id
        for row in stored.obligations.values()
        if row.source == "tax_authority" or row.status == "fulfilled"
    }
    due = {
        row.period_id: row.due_date
        for row in stored.obligations.values()
        if row.source == "tax_authority" and not row.kind.endswith("_payment")
    }
    ids = {}
    for period in expected.periods:
        row = stored.periods.get(period.key)
        if row is None:
            row = PERIODS.insert(tx, periods.new(tx, legal_entity_id, period.key, **_dates(period)))
        elif row.status == "open":
            dates = _dates(period)
            dates["filing_due_date"] = due.get(row.id, period.filing_due)
            after = replace(row, **dates, archived_at=None)
            row = row if after == row else PERIODS.update(tx, after)
        ids[period.key] = row.id
    for key, row in stored.periods.items():
        if key not in ids and row.id not in kept and row.status == "open" and row.archived_at is None:
            PERIODS.update(tx, replace(row, archived_at=tx.now))
    return ids


def _dates(period: ExpectedPeriod) -> dict[str, object]:
    return {
        "label": period.label,
        "tax_year": period.tax_year,
        "start_date": period.start,
        "cumulative": period.cumulative,
        "filing_due_date": period.filing_due,
    }


# -- obligations


def _settle_obligations(
    tx: WriteTx,
    legal_entity_id: str,
    stored: dict[ObligationKey, ObligationRow],
    expected: Forecast,
    ids: dict[PeriodKey, str],
) -> None:
    wanted = {
        ObligationKey(obligation.kind, obligation.business_id, obligation.end, obligation.slot): obligation
        for obligation in expected.obligations
    }
    for key, obligation in wanted.items():
        period_id = None if obligation.period is None else ids[obligation.period]
        row = stored.get(key)
        if row is None:
            OBLIGATIONS.insert(tx, _predicted(tx, legal_entity_id, obligation, period_id))
        else:
            _keep(tx, row, obligation, period_id)
    for key, row in stored.items():
        if key not in wanted and (key.slot == "" or row.calculated):
            _put_away(tx, row)


def _predicted(
    tx: WriteTx, legal_entity_id: str, obligation: ExpectedObligation, period_id: str | None
) -> ObligationRow:
    return OBLIGATIONS.new(
        tx,
        None,
        kind=obligation.kind,
        legal_entity_id=legal_entity_id,
        business_id=obligation.business_id,
        period_id=period_id,
        slot=obligation.slot,
        undecided=obligation.undecided,
        calculated=bool(obligation.slot),
        amount_due=None if obligation.amount is None else Money(obligation.amount, CURRENCY),
        period_start_date=obligation.start,
        period_end_date=obligation.end,
        due_date=obligation.due,
        predicted_due_date=obligation.due,
        status="open",
        dismissed=False,
        source="local",
        confidence="predicted",
        currency=CURRENCY,
    )


def _keep(tx: WriteTx, row: ObligationRow, obligation: ExpectedObligation, period_id: str | None) -> None:
    """Bring what is stored to what is expected. Of a confirmed one the calendar has only its prediction to say."""
    if row.source == "local" and (row.status == "fulfilled" or row.dismissed):
        return
    after = replace(row, predicted_due_date=obligation.due, period_id=period_id)
    if row.source == "local":
        after = replace(
            after,
            period_start_date=obligation.start,
            due_date=obligation.due,
            status="open",
            undecided=obligation.undecided,
        )
        if row.calculated or (obligation.amount is not None and row.amount_due is None):
            after = replace(after, amount_due=None if obligation.amount is None else Money(obligation.amount, CURRENCY))
    if after == row:
        return
    OBLIGATIONS.update(tx, after)
    if after.due_date != row.due_date:
        obligations.note(tx, after, "due_date_changed", None, f"{row.due_date} to {after.due_date}")
    if row.status == "not_required" and after.status == "open":
        obligations.note(tx, after, "required")


def _put_away(tx: WriteTx, row: ObligationRow) -> None:
    """What the calendar does not expect any more is not required; what the authority said stands."""
    if row.source == "tax_authority":
        if row.predicted_due_date is not None and row.status != "fulfilled":
            OBLIGATIONS.update(tx, replace(row, predicted_due_date=None))
    elif row.status == "open":
        after = OBLIGATIONS.update(tx, replace(row, status="not_required"))
        obligations.note(tx, after, "not_required")


def keep_vat_return(tx: WriteTx, legal_entity_id: str) -> None:
    """Keep what was payable for closed periods, and forget it of those that were opened again.

    Chosen: of a return that cannot be added up, because foreign money has no rate of exchange, nothing is known.
    """
    vat_years.forget_open(tx, legal_entity_id)
    since = months_later(datetime.date.fromisoformat(tx.today), -_LOOKED_BACK).isoformat()
    for period in list(vat_years.missing(tx, legal_entity_id, since)):
        liability = payable(tx, legal_entity_id, DateRange(period.first, period.last))
        if liability is not None:
            vat_years.keep(tx, period.id, liability)


def payable(tx: ReadTx, legal_entity_id: str, date_range: DateRange) -> int | None:
    """What is payable on the return of some days, pence; None: nobody knows.

    Chosen: nothing where VAT is repaid, for the law adds up what somebody was liable to pay (SI 1993/2001 art 5).
    """
    if vat_standing.of_entity(tx, legal_entity_id).seller.base_currency != _CURRENCY:
        return None
    try:
        boxes = vat_return.boxes(vat_figures.of_period(tx, legal_entity_id, date_range))
    except Problem as problem:
        if problem.code != "currency_mismatch":
            raise
        return None
    return max(boxes.total_vat_due - boxes.vat_reclaimed, 0)
