"""VAT in allocations, as a return takes it (Domain C4): by span of days and business of a legal entity. Reads only.

A VAT code says which boxes an amount fills. Under the reverse charge, postponed accounting of import VAT, and for goods
from the EU in Northern Ireland, nothing that was paid is VAT: it is reckoned on each row at the rate of its day, and is
due and reclaimed alike.

Chosen: what has no code, and no VAT in it, counts as a purchase or a sale only where its category is one. Wages,
depreciation, bad debts and what is told apart from the account are none, and `other` income of a trade is none.
What is not_pnl, such as equipment, counts where there is VAT in it. A code goes before all that.

Capital goods are outside the flat rate: bought, their VAT is reclaimed, and sold, it is due (VAT Regulations 1995
reg 55C and 55E, Notice 733 section 15). Equipment that is not marked as such is turnover when it is sold.
"""

from collections.abc import Iterator
from typing import NamedTuple, get_args

from gatewayd.ledger.allocating import categories
from gatewayd.ledger.allocating.categories import NOT_PNL
from gatewayd.ledger.dates.date_ranges import DateRange, cut
from gatewayd.ledger.results.allocated_money import (
    BY_BILL,
    BY_MONEY,
    WITHOUT_BILL,
    Basis,
    bears_flat_rate,
    convert,
    currency_mismatch,
)
from gatewayd.ledger.vat import vat_rates
from gatewayd.ledger.vat.vat_rates import (
    NI_ACQUISITIONS,
    OUTSIDE_FLAT_RATE,
    SELF_ACCOUNTED,
    SERVICES_OVERSEAS,
    AllocationVatCode,
)
from gatewayd.ledger.vat.vat_return import VatFigures
from gatewayd.ledger.vat.vat_standing import VatStanding
from gatewayd.store import ReadTx, Row

NO_PURCHASE = frozenset(
    {"wagesAndStaffCosts", "depreciation", "irrecoverableDebts", "residentialFinancialCost", "taxDeducted"}
)
NO_SALE = frozenset({"other"})

_SELECT_BUSINESSES = """
SELECT id, type, currency FROM businesses WHERE org_id = :org_id AND legal_entity_id = :legal_entity_id ORDER BY id
"""
_OF_BUSINESS = """
FROM allocations WHERE org_id = :org_id AND business_id = :business_id
    AND (category <> 'not_pnl' OR vat_amount > 0 OR vat_code IS NOT NULL)
"""
_CODES = ", ".join(f"'{code}'" for code in get_args(AllocationVatCode) if code in SELF_ACCOUNTED)
_SUM = f"""
category, direction, vat_code, capital_goods, sum(amount), sum(vat_amount),
    sum(CASE WHEN vat_amount > 0 THEN amount ELSE 0 END)
{_OF_BUSINESS} AND currency = :currency AND (vat_code IS NULL OR vat_code NOT IN ({_CODES}))
"""
_GROUPS = "GROUP BY category, direction, vat_code, capital_goods"
_SUM_BY_MONEY = f"SELECT {_SUM} AND {BY_MONEY} {_GROUPS}"
_SUM_WITHOUT_BILL = f"SELECT {_SUM} AND {WITHOUT_BILL} {_GROUPS}"
_SUM_BY_BILL = f"SELECT {_SUM} AND {BY_BILL} {_GROUPS}"
_ROW = f"""
category, direction, vat_code, capital_goods, amount, vat_amount, CASE WHEN vat_amount > 0 THEN amount ELSE 0 END,
    coalesce(document_date, date), id, currency, fx_rate
{_OF_BUSINESS} AND (currency <> :currency OR vat_code IN ({_CODES}))
"""
_ROW_BY_MONEY = f"SELECT {_ROW} AND {BY_MONEY}"
_ROW_WITHOUT_BILL = f"SELECT {_ROW} AND {WITHOUT_BILL}"
_ROW_BY_BILL = f"SELECT {_ROW} AND {BY_BILL}"

_STATEMENTS: dict[Basis, tuple[tuple[str, str], ...]] = {
    "cash": ((_SUM_BY_MONEY, _ROW_BY_MONEY),),
    "accruals": ((_SUM_WITHOUT_BILL, _ROW_WITHOUT_BILL), (_SUM_BY_BILL, _ROW_BY_BILL)),
}


class VatEntry(NamedTuple):
    """What allocations of one kind add in a span of days, in which the standing and its percentage are one.

    `figures` are those of who is registered. Under the flat rate there is `flat_turnover` instead, gross, which it is
    taken of, and `beside_flat_rate`.
    """

    span: DateRange
    figures: VatFigures
    beside_flat_rate: VatFigures = VatFigures()
    flat_turnover: int = 0

    @property
    def is_left_out(self) -> bool:
        """Whether it is a purchase whose VAT the customer accounts for, of which the flat rate holds nothing."""
        figures = self.figures
        due = figures.output_vat or figures.acquisitions
        return bool(figures.purchases and due and not self.beside_flat_rate.purchases)


class Purchase(NamedTuple):
    """What decides where a purchase stands in a return."""

    code: AllocationVatCode | None
    is_capital: int


class _Kind(NamedTuple):
    """What allocations that count alike have in common. `tax_point` None: they bear no VAT but what was paid."""

    category: str
    direction: str
    code: AllocationVatCode | None
    is_capital: int
    tax_point: str | None = None


class _Amounts(NamedTuple):
    """Minor units of the base currency; `with_vat` is of those that hold VAT."""

    gross: int
    vat: int
    with_vat: int


def entries(
    tx: ReadTx, vat: VatStanding, legal_entity_id: str, date_range: DateRange, basis: Basis
) -> Iterator[VatEntry]:
    """What the allocations to the businesses of a legal entity add. Raises `Problem` `currency_mismatch`."""
    spans = cut(date_range, [*vat.changes(), *vat.percent_changes()])
    for business_id, business_type, currency in tx.rows(_SELECT_BUSINESSES, legal_entity_id=legal_entity_id):
        for span in spans:
            values = {"business_id": business_id, "currency": vat.seller.base_currency, **span._asdict()}
            for sums, by_row in _STATEMENTS[basis]:
                for row in tx.rows(sums, **values):
                    yield _entry(span, business_type, _Kind(*row[:4]), _Amounts(*row[4:]))
                for row in tx.each(by_row, **values):
                    amounts = _in_base(row, currency, vat.seller.base_currency)
                    yield _entry(span, business_type, _Kind(*row[:4])._replace(tax_point=row[7]), amounts)


def _in_base(row: Row, business_currency: str, base_currency: str) -> _Amounts:
    """A row in the base currency: the rate of a foreign one is to the business's currency, which has to be the same."""
    id_, currency, fx_rate = row[8:]
    if currency == base_currency:
        return _Amounts(*row[4:7])
    if fx_rate is None or business_currency != base_currency:
        raise currency_mismatch("allocation", id_, currency, base_currency)
    return _Amounts(*(convert(amount, fx_rate, currency, base_currency) for amount in row[4:7]))


def _entry(span: DateRange, business_type: str, kind: _Kind, amounts: _Amounts) -> VatEntry:
    category, came_in = kind.category, kind.direction == "in"
    is_sale = categories.kind_of(category, business_type) == "income"
    if category == NOT_PNL:
        is_sale = came_in
    sign = 1 if is_sale == came_in else -1
    gross = amounts.gross
    if kind.code is None and (category == NOT_PNL or category in (NO_SALE if is_sale else NO_PURCHASE)):
        gross = amounts.with_vat
    if not is_sale:
        figures = purchase(kind.code, sign * gross, sign * amounts.vat, sign * _due(kind, gross))
        return VatEntry(span, figures, figures if kind.is_capital else VatFigures())
    bears = bears_flat_rate(business_type, category, kind.code) or _is_equipment(kind)
    return _sale(span, kind, sign * gross, sign * amounts.vat, bears and not kind.is_capital)


def _is_equipment(kind: _Kind) -> bool:
    """Whether what was sold is no income of the account, and still turnover for a flat rate (Notice 733 section 15)."""
    return kind.category == NOT_PNL and kind.code not in OUTSIDE_FLAT_RATE


def _sale(span: DateRange, kind: _Kind, gross: int, vat: int, bears_flat_rate: bool) -> VatEntry:
    """Boxes 1 and 6, and 8 for goods that go from Northern Ireland to the EU."""
    if kind.code == "outside_scope":
        return VatEntry(span, VatFigures())
    goods = gross if kind.code == "ni_eu_goods_zero" else 0
    figures = VatFigures(output_vat=vat, sales=gross - vat, goods_supplied=goods)
    if bears_flat_rate:
        return VatEntry(span, figures, VatFigures(goods_supplied=goods), flat_turnover=gross)
    if kind.is_capital:
        return VatEntry(span, figures, figures)
    return VatEntry(span, figures, VatFigures(sales=gross) if kind.code in OUTSIDE_FLAT_RATE else VatFigures())


def _due(kind: _Kind, gross: int) -> int:
    """The VAT that the customer accounts for on a purchase."""
    if kind.code is None or kind.code not in SELF_ACCOUNTED or kind.tax_point is None:
        return 0
    return vat_rates.vat_accounted(kind.code, gross, kind.tax_point)


def purchase(code: AllocationVatCode | None, gross: int, vat: int, due: int) -> VatFigures:
    """Boxes 4 and 7, and what a customer accounts for, `due`: in box 1, or of goods from the EU in box 2, and in 4.

    Services from abroad count as a sale to oneself in box 6 too; other purchases that are reverse-charged don't.
    """
    if code == "outside_scope":
        return VatFigures()
    if code is None or code not in SELF_ACCOUNTED:
        return VatFigures(input_vat=vat, purchases=gross - vat)
    if code in NI_ACQUISITIONS:
        return VatFigures(acquisition_vat=due, input_vat=due, purchases=gross, acquisitions=gross)
    sales = gross if code == SERVICES_OVERSEAS else 0
    return VatFigures(output_vat=due, input_vat=due, sales=sales, purchases=gross)
