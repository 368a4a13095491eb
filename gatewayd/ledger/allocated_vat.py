"""VAT in allocations, as a return takes it (Domain C4): by span of days and business of a legal entity. Reads only.

Chosen: what has no VAT in it counts as a purchase or a sale only where its category is one. Wages, depreciation, bad
debts and what is told apart from the account are none, and `other` income of a trade is none.
What is not_pnl, such as equipment, counts where there is VAT in it.
"""

from collections.abc import Iterator
from typing import NamedTuple

from gatewayd.ledger import profit_and_loss
from gatewayd.ledger.allocated_money import (
    BY_BILL,
    BY_MONEY,
    WITHOUT_BILL,
    Basis,
    bears_flat_rate,
    convert,
    currency_mismatch,
)
from gatewayd.ledger.categories import NOT_PNL
from gatewayd.ledger.date_ranges import DateRange, cut
from gatewayd.ledger.vat_standing import VatStanding
from gatewayd.store import ReadTx, Row

NO_PURCHASE = frozenset({"wagesAndStaffCosts", "depreciation", "irrecoverableDebts", "residentialFinancialCost"})
NO_SALE = frozenset({"other", "taxDeducted"})

_SELECT_BUSINESSES = """
SELECT id, type, currency FROM businesses WHERE org_id = :org_id AND legal_entity_id = :legal_entity_id ORDER BY id
"""
_OF_BUSINESS = """
FROM allocations WHERE org_id = :org_id AND business_id = :business_id AND (category <> 'not_pnl' OR vat_amount > 0)
"""
_SUM = f"""
category, direction, sum(amount), sum(vat_amount), sum(CASE WHEN vat_amount > 0 THEN amount ELSE 0 END)
{_OF_BUSINESS} AND currency = :currency
"""
_GROUPS = "GROUP BY category, direction"
_SUM_BY_MONEY = f"SELECT {_SUM} AND {BY_MONEY} {_GROUPS}"
_SUM_WITHOUT_BILL = f"SELECT {_SUM} AND {WITHOUT_BILL} {_GROUPS}"
_SUM_BY_BILL = f"SELECT {_SUM} AND {BY_BILL} {_GROUPS}"
_FOREIGN = f"""
category, direction, amount, vat_amount, CASE WHEN vat_amount > 0 THEN amount ELSE 0 END, id, currency, fx_rate
{_OF_BUSINESS} AND currency <> :currency
"""
_FOREIGN_BY_MONEY = f"SELECT {_FOREIGN} AND {BY_MONEY}"
_FOREIGN_WITHOUT_BILL = f"SELECT {_FOREIGN} AND {WITHOUT_BILL}"
_FOREIGN_BY_BILL = f"SELECT {_FOREIGN} AND {BY_BILL}"

_STATEMENTS: dict[Basis, tuple[tuple[str, str], ...]] = {
    "cash": ((_SUM_BY_MONEY, _FOREIGN_BY_MONEY),),
    "accruals": ((_SUM_WITHOUT_BILL, _FOREIGN_WITHOUT_BILL), (_SUM_BY_BILL, _FOREIGN_BY_BILL)),
}


class VatEntry(NamedTuple):
    """What allocations of one category and direction add in a span of days, in which the standing and its percentage
    are one. `flat_turnover` is gross, and what a flat rate would be taken of."""

    span: DateRange
    output_vat: int = 0
    input_vat: int = 0
    sales: int = 0
    purchases: int = 0
    flat_turnover: int = 0


def entries(tx: ReadTx, vat: VatStanding, legal_entity_id: str, whole: DateRange, basis: Basis) -> Iterator[VatEntry]:
    """What the allocations to the businesses of a legal entity add. Raises `Problem` `currency_mismatch`."""
    spans = cut(whole, [*vat.changes(), *vat.percent_changes()])
    for business_id, business_type, currency in tx.rows(_SELECT_BUSINESSES, legal_entity_id=legal_entity_id):
        for span in spans:
            asked = {"business_id": business_id, "currency": vat.seller.base_currency, **span._asdict()}
            for sums, foreign in _STATEMENTS[basis]:
                for row in tx.rows(sums, **asked):
                    yield _entry(span, business_type, row)
                for row in tx.each(foreign, **asked):
                    yield _entry(span, business_type, _converted(row, currency, vat.seller.base_currency))


def _converted(row: Row, business_currency: str, base_currency: str) -> Row:
    """A foreign row in the base currency: its rate is to the business's, which has to be the same."""
    category, direction, *amounts, id_, currency, fx_rate = row
    if fx_rate is None or business_currency != base_currency:
        raise currency_mismatch("allocation", id_, currency, base_currency)
    return (category, direction, *(convert(amount, fx_rate, currency, base_currency) for amount in amounts))


def _entry(span: DateRange, business_type: str, row: Row) -> VatEntry:
    category, direction, amount, vat, amount_with_vat = row
    is_income = profit_and_loss.kind_of(category, business_type) == "income"
    if category == NOT_PNL:
        is_income = direction == "in"
    sign = 1 if is_income == (direction == "in") else -1
    if category == NOT_PNL or category in (NO_SALE if is_income else NO_PURCHASE):
        amount = amount_with_vat
    net = sign * (amount - vat)
    if not is_income:
        return VatEntry(span, input_vat=sign * vat, purchases=net)
    flat = sign * amount if bears_flat_rate(business_type, category) else 0
    return VatEntry(span, output_vat=sign * vat, sales=net, flat_turnover=flat)
