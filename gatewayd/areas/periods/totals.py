"""What came together in a period (domain model B9): invoices, a VAT return, profit and loss. Reads only."""

import datetime
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from gatewayd.areas.periods.shapes import (
    InvoiceTotals,
    PeriodTotals,
    ProfitTotals,
    TotalsDoubt,
    TotalsWarning,
    VatReturnTotals,
)
from gatewayd.errors import Problem
from gatewayd.ledger.calendar.periods import PeriodRow
from gatewayd.ledger.dates.date_ranges import DateRange, after
from gatewayd.ledger.obligations import obligations
from gatewayd.ledger.results import profit_and_loss, reports, results, vat_figures
from gatewayd.ledger.results.allocated_money import Account
from gatewayd.ledger.results.capital_goods import Doubt
from gatewayd.ledger.results.invoiced_income import of_business
from gatewayd.ledger.results.results import Result
from gatewayd.ledger.taxpayers import taxpayers, vat_years
from gatewayd.ledger.vat import vat_return, vat_standing
from gatewayd.money import Money, from_minor
from gatewayd.store import ReadTx, Row

_SELECT_INVOICED = f"""
SELECT currency, count(id),
    sum(CASE WHEN kind = 'invoice' THEN net_total ELSE -net_total END),
    sum(CASE WHEN kind = 'invoice' THEN vat_total ELSE -vat_total END),
    sum(CASE WHEN kind = 'invoice' THEN gross_total ELSE -gross_total END)
FROM invoices
WHERE org_id = :org_id AND legal_entity_id = :legal_entity_id AND supply_date BETWEEN :first AND :last
    AND status <> 'draft' AND status <> 'void'
    AND {of_business("invoices")}
GROUP BY currency ORDER BY currency
"""
_SELECT_BUSINESSES = """
SELECT id, type, currency, accounting_basis, uses_consolidated_expenses FROM businesses
WHERE org_id = :org_id AND legal_entity_id = :legal_entity_id
    AND (CAST(:business_id AS TEXT) IS NULL OR id = :business_id)
ORDER BY id
"""

_FLAT_RATE_PURCHASES = (
    "Purchases whose VAT the customer accounts for are left out under the flat rate. Of goods from abroad, and under"
    " the domestic reverse charge, look up what is due beside it."
)
_STERLING = "GBP"  # of VAT returns, and of what HMRC asks for
_PAYMENTS_ON_ACCOUNT = (
    "More than 2,300,000 of VAT was owed in the year to the end of this period: payments on account are due from the"
    " next one on. They are predicted once it is closed; say what HMRC's letter asks for (`legalEntity.setVatYear`)."
)
_CAPITAL_GOODS = {
    "unmarked": "Purchases of 2,000 or more that may be capital goods, and are not marked (`capitalGoods`): {}. The VAT"
    " of those that are is reclaimed under the flat rate too.",
    "small": "Purchases marked as capital goods that come to less than 2,000: {}. Their VAT is reclaimed only where"
    " each is a part of one purchase of as much.",
}
_IN_DOUBT: dict[Doubt, TotalsDoubt] = {
    "unmarked": "flat_rate_capital_goods_unmarked",
    "small": "flat_rate_capital_goods_small",
}


class Counted(NamedTuple):
    """The result of a business in a period, and whether it wants its expenses as one figure."""

    result: Result
    uses_consolidated: bool


def totals(tx: ReadTx, row: PeriodRow) -> PeriodTotals:
    """The sums of a period. What cannot be added up, for want of a rate of exchange, is left out and told."""
    span = DateRange(row.start_date, row.end_date)
    whose = {"legal_entity_id": row.legal_entity_id, "business_id": row.business_id}
    warnings: list[TotalsWarning] = []
    vat, profits = None, []
    if row.type == "vat_period":
        vat = _vat_return(tx, row.legal_entity_id, span, warnings)
        if vat is not None and _asks_for_payments(tx, row, vat):
            warnings.append(TotalsWarning(code="vat_payments_on_account", message=_PAYMENTS_ON_ACCOUNT))
    else:
        profits = [_profit(counted) for counted in results_of(tx, row, warnings)]
    return PeriodTotals(
        invoiced=[_invoiced(figures) for figures in tx.rows(_SELECT_INVOICED, **whose, **span._asdict())],
        vat_return=vat,
        profit_and_loss=profits,
        warnings=warnings,
    )


def _invoiced(row: Row) -> InvoiceTotals:
    currency, count, *sums = row
    net, vat, gross = (from_minor(amount, currency) for amount in sums)
    return InvoiceTotals(currency=currency, count=count, net=net, vat=vat, gross=gross)


def _vat_return(
    tx: ReadTx, legal_entity_id: str, span: DateRange, warnings: list[TotalsWarning]
) -> VatReturnTotals | None:
    currency = vat_standing.of_entity(tx, legal_entity_id).seller.base_currency
    try:
        boxes = vat_return.boxes(vat_figures.of_period(tx, legal_entity_id, span))
    except Problem as problem:
        warnings.append(_warning(problem))
        return None
    if vat_figures.leaves_purchases_out(tx, legal_entity_id, span):
        warnings.append(TotalsWarning(code="flat_rate_purchases", message=_FLAT_RATE_PURCHASES))
    for doubt, count in vat_figures.capital_goods_in_doubt(tx, legal_entity_id, span).items():
        message = _CAPITAL_GOODS[doubt].format(count)
        warnings.append(TotalsWarning(code=_IN_DOUBT[doubt], message=message))
    return VatReturnTotals(currency=currency, **_amounts(boxes._asdict(), currency))


def _asks_for_payments(tx: ReadTx, row: PeriodRow, boxes: VatReturnTotals) -> bool:
    """Whether what was owed in the year asks for payments on account from the next period on, and none are there.

    Of the periods before this one those count that are closed: of others it is not known what was owed.
    """
    taxpayer = taxpayers.find(tx, row.legal_entity_id)
    if taxpayer is None or not taxpayer.may_pay_vat_on_account or boxes.currency != _STERLING:
        return False
    start, end = (datetime.date.fromisoformat(day) for day in (row.start_date, row.end_date))
    known = taxpayer.vat_years.get(end)
    if known is None or known.liability is None:
        this = vat_years.KeptPeriod(start, end, max(boxes.total_vat_due.minor - boxes.vat_reclaimed.minor, 0))
        before = [kept for kept in vat_years.kept(tx, row.legal_entity_id) if kept.end < start]
        year = vat_years.years_of([*before, this])[end]
        known = year if known is None else known._replace(liability=year.liability)
    if not known.passes or known.method is not None:
        return False
    return not obligations.are_payments_on_account(tx, row.legal_entity_id, after(row.end_date))


def results_of(tx: ReadTx, row: PeriodRow, warnings: list[TotalsWarning]) -> Iterator[Counted]:
    """The result of each business in the period, on its own basis. One that has none is told of in `warnings`."""
    whose = {"legal_entity_id": row.legal_entity_id, "business_id": row.business_id}
    vat, span = vat_standing.of_entity(tx, row.legal_entity_id), DateRange(row.start_date, row.end_date)
    for id_, type_, currency, basis, uses_consolidated in tx.rows(_SELECT_BUSINESSES, **whose):
        try:
            result = results.compute(tx, Account(id_, type_, currency, basis, vat), span)
        except Problem as problem:
            warnings.append(_warning(problem))
        else:
            yield Counted(result, bool(uses_consolidated))


def _profit(counted: Counted) -> ProfitTotals:
    """The totals of a business, as `businesses.businessPnl` serves them."""
    result, account = counted.result, counted.result.account
    statement = result.statement()
    if counted.uses_consolidated and results.above_consolidated_limit(result) is None:
        statement = profit_and_loss.consolidated(statement)
    return ProfitTotals(
        business_id=account.business_id,
        basis=account.basis,
        currency=account.currency,
        **_amounts(statement.totals._asdict(), account.currency),
        evidence=reports.evidence(result.evidence, account.currency),
    )


def _amounts(minor: Mapping[str, int], currency: str) -> dict[str, Money]:
    return {name: Money(amount, currency) for name, amount in minor.items()}


def _warning(problem: Problem) -> TotalsWarning:
    """The warning of a missing rate of exchange. Raises the problem again where it is another."""
    if problem.code != "currency_mismatch":
        raise problem
    return TotalsWarning(code="currency_mismatch", message=problem.message)
