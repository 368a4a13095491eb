"""What is to be done before a period is closed (domain model B9). Reads only."""

from collections.abc import Iterator

from gatewayd.areas.periods import totals
from gatewayd.areas.periods.shapes import Check, CheckCode, TotalsWarning
from gatewayd.ledger.allocating import bank_lines
from gatewayd.ledger.calendar import periods
from gatewayd.ledger.calendar.periods import PeriodRow
from gatewayd.ledger.dates.date_ranges import DateRange, days
from gatewayd.ledger.imports import bank_statements
from gatewayd.ledger.results.invoiced_income import of_business
from gatewayd.ledger.taxpayers.businesses import accounts_of
from gatewayd.store import ReadTx

_SELECT_DRAFTS = f"""
SELECT count(id), min(id) FROM invoices
WHERE org_id = :org_id AND legal_entity_id = :legal_entity_id AND supply_date BETWEEN :first AND :last
    AND status = 'draft' AND {of_business("invoices")}
"""
_SELECT_CLIENT = """
SELECT clients.name FROM invoices JOIN clients ON clients.org_id = invoices.org_id AND clients.id = invoices.client_id
WHERE invoices.org_id = :org_id AND invoices.id = :id
"""
_SELECT_LINE = "SELECT description FROM bank_transactions WHERE org_id = :org_id AND id = :id"
_SELECT_ACCOUNT = "SELECT name FROM bank_accounts WHERE org_id = :org_id AND id = :id"
_SELECT_BUSINESS = "SELECT name FROM businesses WHERE org_id = :org_id AND id = :id"


def checklist(tx: ReadTx, row: PeriodRow, evidence_percent: int | None = None) -> list[Check]:
    """Every point, done or not. Whether expenses have documents is one where `evidence_percent` is given."""
    points = list(_checks(tx, row))
    return points if evidence_percent is None else [*points, _evidence_check(tx, row, evidence_percent)]


def _checks(tx: ReadTx, row: PeriodRow) -> Iterator[Check]:
    to_come = tx.today <= row.end_date
    yield _check("period_ended", int(to_come), row.end_date if to_come else None)
    earlier = list(periods.earlier_open(tx, row))
    first_period = earlier[0] if earlier else None
    name = None if first_period is None else first_period.label
    yield _check("earlier_periods_closed", len(earlier), None if first_period is None else first_period.id, name)
    drafts, first = tx.rows(_SELECT_DRAFTS, **_bound_of(row))[0]
    yield _check("no_draft_invoices", drafts, first, tx.value(_SELECT_CLIENT, id=first))
    span = DateRange(row.start_date, row.end_date)
    left = bank_lines.unallocated_lines(tx, row.legal_entity_id, row.business_id, span)
    yield _check("bank_lines_allocated", left.lines, left.first_id, tx.value(_SELECT_LINE, id=left.first_id))
    yield from _statement_checks(tx, row, span)


def _statement_checks(tx: ReadTx, row: PeriodRow, span: DateRange) -> Iterator[Check]:
    """Days that no statement holds, up to today, and statements that do not add up: by account."""
    accounts = accounts_of(tx, row.legal_entity_id, row.business_id)
    so_far = span._replace(last=min(span.last, tx.today))
    gaps = [(id_, gap) for id_ in accounts for gap in bank_statements.missing(tx, id_, so_far)]
    first = f"{gaps[0][0]} {gaps[0][1].first}" if gaps else None
    name = tx.value(_SELECT_ACCOUNT, id=gaps[0][0]) if gaps else None
    yield _check("missing_statements", sum(days(gap) for _, gap in gaps), first, name)
    mistakes = {id_: bank_statements.mistakes(tx, id_, span) for id_ in accounts}
    wrong = next((id_ for id_ in accounts if mistakes[id_]), None)
    yield _check("statement_balance", sum(mistakes.values()), wrong, tx.value(_SELECT_ACCOUNT, id=wrong))


def _evidence_check(tx: ReadTx, row: PeriodRow, percent: int) -> Check:
    """Counts expenses without a document, of businesses where less than `percent` of them has one (Domain F)."""
    unknown: list[TotalsWarning] = []
    results = [counted.result for counted in totals.results_of(tx, row, unknown)]
    poor = [result for result in results if result.evidence.documented * 100 < result.evidence.expenses * percent]
    missing = sum(result.evidence.missing for result in poor)
    detail = poor[0].account.business_id if poor else None
    name = tx.value(_SELECT_BUSINESS, id=detail)
    shown = detail or (unknown[0].message if unknown else None)
    return _check("expenses_documented", missing + len(unknown), shown, name)


def _check(code: CheckCode, count: int, detail: str | None, name: str | None = None) -> Check:
    return Check(code=code, done=count == 0, count=count, detail=detail, name=name)


def _bound_of(row: PeriodRow) -> dict[str, object]:
    """What a statement is bound to: the owner and the days of a period."""
    return {
        "legal_entity_id": row.legal_entity_id,
        "business_id": row.business_id,
        "first": row.start_date,
        "last": row.end_date,
    }
