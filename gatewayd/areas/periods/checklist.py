"""What is to be done before a period is closed (domain model B9), and what came together in it. Reads only."""

from collections.abc import Iterator

from gatewayd.areas.periods.shapes import Check, CheckCode, InvoiceTotals, PeriodTotals
from gatewayd.ledger import periods, unallocated
from gatewayd.ledger.date_ranges import DateRange
from gatewayd.ledger.periods import PeriodRow
from gatewayd.money import from_minor
from gatewayd.store import ReadTx, Row

_SELECT_DRAFTS = """
SELECT count(id), min(id) FROM invoices
WHERE org_id = :org_id AND legal_entity_id = :legal_entity_id AND supply_date BETWEEN :first AND :last
    AND status = 'draft' AND (CAST(:business_id AS TEXT) IS NULL OR business_id = :business_id)
"""
_SELECT_TOTALS = """
SELECT currency, count(id),
    sum(CASE WHEN kind = 'invoice' THEN net_total ELSE -net_total END),
    sum(CASE WHEN kind = 'invoice' THEN vat_total ELSE -vat_total END),
    sum(CASE WHEN kind = 'invoice' THEN gross_total ELSE -gross_total END)
FROM invoices
WHERE org_id = :org_id AND legal_entity_id = :legal_entity_id AND supply_date BETWEEN :first AND :last
    AND status <> 'draft' AND status <> 'void'
    AND (CAST(:business_id AS TEXT) IS NULL OR business_id = :business_id)
GROUP BY currency ORDER BY currency
"""


def checklist(tx: ReadTx, row: PeriodRow) -> list[Check]:
    """Every point, done or not."""
    return list(_checks(tx, row))


def totals(tx: ReadTx, row: PeriodRow) -> PeriodTotals:
    """What was invoiced in the period, by currency."""
    return PeriodTotals(invoiced=[_invoiced(found) for found in tx.rows(_SELECT_TOTALS, **_of(row))])


def _checks(tx: ReadTx, row: PeriodRow) -> Iterator[Check]:
    to_come = tx.today <= row.end_date
    yield _check("period_ended", int(to_come), row.end_date if to_come else None)
    earlier = list(periods.earlier_open(tx, row))
    yield _check("earlier_periods_closed", len(earlier), earlier[0].id if earlier else None)
    drafts, first = tx.rows(_SELECT_DRAFTS, **_of(row))[0]
    yield _check("no_draft_invoices", drafts, first)
    left = unallocated.lines(tx, row.legal_entity_id, row.business_id, DateRange(row.start_date, row.end_date))
    yield _check("bank_lines_allocated", left.lines, left.first_id)


def _check(code: CheckCode, count: int, detail: str | None) -> Check:
    return Check(code=code, done=count == 0, count=count, detail=detail)


def _of(row: PeriodRow) -> dict[str, object]:
    """The days and the owner of what a period holds."""
    return {
        "legal_entity_id": row.legal_entity_id,
        "business_id": row.business_id,
        "first": row.start_date,
        "last": row.end_date,
    }


def _invoiced(row: Row) -> InvoiceTotals:
    currency, count, *sums = row
    net, vat, gross = (from_minor(amount, currency) for amount in sums)
    return InvoiceTotals(currency=currency, count=count, net=net, vat=vat, gross=gross)
