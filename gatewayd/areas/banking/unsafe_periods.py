"""The periods that days without a statement make unsafe to close (Domain F.5). Reads only."""

from collections.abc import Iterator

from gatewayd.contract.wire import DateText, Id, Response
from gatewayd.ledger.allocating import bank_statements
from gatewayd.ledger.calendar import periods
from gatewayd.ledger.calendar.forecast import PeriodType
from gatewayd.ledger.calendar.periods import Label, PeriodRow
from gatewayd.ledger.dates.date_ranges import DateRange, days
from gatewayd.ledger.taxpayers.business_accounts import accounts_of, entities_of
from gatewayd.store import ReadTx


class UnsafePeriod(Response, frozen=True, kw_only=True):
    """A period that is not closed: `missingDays` of it, up to today, are in no statement of the account."""

    period_id: Id
    legal_entity_id: Id
    business_id: Id | None
    type: PeriodType
    label: Label
    from_date: DateText
    to_date: DateText
    first_missing: DateText
    missing_days: int


def of_account(tx: ReadTx, account_id: str) -> list[UnsafePeriod]:
    """Those whose checklist counts days of this account as missing, by entity and last day."""
    return [one for entity_id in entities_of(tx, account_id) for one in _of_entity(tx, entity_id, account_id)]


def _of_entity(tx: ReadTx, legal_entity_id: str, account_id: str) -> Iterator[UnsafePeriod]:
    counts: dict[str | None, bool] = {}
    for row in periods.begun_and_open(tx, legal_entity_id, tx.today):
        if row.business_id not in counts:
            counts[row.business_id] = account_id in accounts_of(tx, legal_entity_id, row.business_id)
        gaps = _gaps(tx, row, account_id) if counts[row.business_id] else []
        if gaps:
            yield UnsafePeriod(
                period_id=row.id,
                legal_entity_id=row.legal_entity_id,
                business_id=row.business_id,
                type=row.type,
                label=row.label,
                from_date=row.start_date,
                to_date=row.end_date,
                first_missing=gaps[0].first,
                missing_days=sum(days(gap) for gap in gaps),
            )


def _gaps(tx: ReadTx, row: PeriodRow, account_id: str) -> list[DateRange]:
    return bank_statements.missing(tx, account_id, DateRange(row.start_date, min(row.end_date, tx.today)))
