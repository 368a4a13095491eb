"""What a VAT return is made of, from invoices, bills and allocations of a legal entity (Domain C4). Reads only.

    standard, annual  invoices by supply date, credit notes by issue date, bills by tax point, other purchases by the
                      date of the bill
    cash              invoices and bills by their payments, other purchases by the date of the money
    flat_rate         the rate of gross turnover; no VAT is reclaimed, and none accounted for of purchases, but of
                      capital goods, which are outside the scheme when they are bought and when they are sold

Relief for bad debts is of supplies that were accounted for when they were made, whatever the scheme is by then.

Chosen: turnover under the flat rate is by payments where all businesses of the entity keep cash basis, else by supply
date. Days on which the entity is not registered count for nothing.
"""

from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from typing import NamedTuple

from gatewayd.ledger.dates.date_ranges import DateRange
from gatewayd.ledger.results import allocated_vat, bad_debts, billed_costs, capital_goods
from gatewayd.ledger.results.allocated_money import Basis, convert, currency_mismatch
from gatewayd.ledger.results.allocated_vat import VatEntry
from gatewayd.ledger.results.capital_goods import Doubt
from gatewayd.ledger.results.invoiced_income import Credit, Figures, PaidInvoice, Payment, Share, together, walk
from gatewayd.ledger.vat import vat_standing
from gatewayd.ledger.vat.vat_rates import OUTSIDE_FLAT_RATE
from gatewayd.ledger.vat.vat_return import VatFigures
from gatewayd.ledger.vat.vat_standing import VatStanding
from gatewayd.money import half_up
from gatewayd.store import ReadTx, Row

_HEAD = "i.id, i.currency, i.base_currency, i.fx_rate, i.supply_date"
_LINE = "l.vat_code, l.capital_goods, l.net, l.gross"
_LINES = "JOIN invoice_lines AS l ON l.invoice_id = i.id AND l.org_id = i.org_id"
_IN_FORCE = "i.status <> 'draft' AND i.status <> 'void'"
_SELECT_SUPPLIED = f"""
SELECT {_HEAD}, {_LINE} FROM invoices AS i {_LINES}
WHERE i.org_id = :org_id AND i.legal_entity_id = :legal_entity_id AND i.supply_date BETWEEN :first AND :last
    AND i.kind = 'invoice' AND {_IN_FORCE}
"""
_SELECT_CREDITED = f"""
SELECT i.id, i.currency, i.base_currency, i.fx_rate, i.issue_date, {_LINE} FROM invoices AS i {_LINES}
WHERE i.org_id = :org_id AND i.legal_entity_id = :legal_entity_id AND i.issue_date BETWEEN :first AND :last
    AND i.credits_invoice_id IS NOT NULL AND {_IN_FORCE}
"""
_TOUCHED = """(
    SELECT p.invoice_id AS id
    FROM invoice_payments AS p JOIN invoices AS o ON o.id = p.invoice_id AND o.org_id = p.org_id
    WHERE p.org_id = :org_id AND p.date BETWEEN :first AND :last AND o.legal_entity_id = :legal_entity_id
    UNION
    SELECT c.credits_invoice_id AS id FROM invoices AS c
    WHERE c.org_id = :org_id AND c.credits_invoice_id IS NOT NULL AND c.issue_date BETWEEN :first AND :last
        AND c.legal_entity_id = :legal_entity_id AND c.status <> 'draft' AND c.status <> 'void'
) AS touched"""
_SELECT_PAID = f"""
SELECT {_HEAD}, i.gross_total - i.cis_deduction, {_LINE} FROM {_TOUCHED} CROSS JOIN invoices AS i {_LINES}
WHERE i.id = touched.id AND i.org_id = :org_id
"""
_SELECT_PAYMENTS = f"""
SELECT p.invoice_id, p.date, p.position, p.amount FROM {_TOUCHED} CROSS JOIN invoice_payments AS p
WHERE p.invoice_id = touched.id AND p.org_id = :org_id
"""
_SELECT_CREDITS = f"""
SELECT i.credits_invoice_id, i.id, i.issue_date, i.gross_total - i.cis_deduction, {_LINE}
FROM {_TOUCHED} CROSS JOIN invoices AS i {_LINES}
WHERE i.credits_invoice_id = touched.id AND i.org_id = :org_id AND {_IN_FORCE}
"""
_SELECT_BASES = """
SELECT DISTINCT accounting_basis,
    CASE WHEN coalesce(commencement_date, :first) <= :last AND coalesce(cessation_date, :last) >= :first
        THEN 1 ELSE 0 END
FROM businesses WHERE org_id = :org_id AND legal_entity_id = :legal_entity_id
"""


class _Head(NamedTuple):
    id: str
    currency: str
    base_currency: str
    fx_rate: str | None
    date: str


class _Line(NamedTuple):
    """What lines of an invoice are counted together by."""

    code: str
    is_capital: int


class _Sale(NamedTuple):
    """What counts of lines that are alike on an ISO date; `supplied_on` decides how it is taxed."""

    date: str
    supplied_on: str
    line: _Line
    net: int
    gross: int


def of_period(tx: ReadTx, legal_entity_id: str, date_range: DateRange) -> VatFigures:
    """The figures of a legal entity's return for a range of days, in its base currency.

    Raises `Problem` `currency_mismatch` for a foreign amount without a rate.
    """
    vat = vat_standing.of_entity(tx, legal_entity_id)
    values = {"legal_entity_id": legal_entity_id, **date_range._asdict()}
    basis = _basis(tx, legal_entity_id, vat, date_range)
    sales = _paid(tx, values, date_range) if basis == "cash" else _supplied(tx, values)
    figures = VatFigures()
    turnover: dict[Fraction, int] = {}
    for sale in sales:
        figures = figures.plus(_of_sale(vat, sale, turnover))
    for entry in _entries(tx, vat, legal_entity_id, date_range, basis):
        treatment = vat.treatment_on(entry.span.first)
        if treatment == "registered":
            figures = figures.plus(entry.figures)
        elif treatment == "flat_rate":
            figures = figures.plus(entry.beside_flat_rate)
            _add_turnover(vat, entry.span.first, entry.flat_turnover, turnover)
    exact = sum((percent * gross / 100 for percent, gross in turnover.items()), Fraction(0))
    flat = VatFigures(output_vat=half_up(exact.numerator, exact.denominator), sales=sum(turnover.values()))
    relief = bad_debts.vat_relief(tx, legal_entity_id, date_range)
    return figures.plus(flat).plus(VatFigures(output_vat=relief.repaid, input_vat=relief.claimed))


def leaves_purchases_out(tx: ReadTx, legal_entity_id: str, date_range: DateRange) -> bool:
    """Whether there are purchases under the flat rate whose VAT the customer accounts for: no figures hold them.

    Raises `Problem` `currency_mismatch`.
    """
    vat = vat_standing.of_entity(tx, legal_entity_id)
    if not vat.is_ever_flat:
        return False
    entries = _entries(tx, vat, legal_entity_id, date_range, _basis(tx, legal_entity_id, vat, date_range))
    return any(entry.is_left_out and vat.treatment_on(entry.span.first) == "flat_rate" for entry in entries)


def capital_goods_in_doubt(tx: ReadTx, legal_entity_id: str, date_range: DateRange) -> dict[Doubt, int]:
    """How many purchases of a return under the flat rate may be of capital goods, or of none, other than is said."""
    vat = vat_standing.of_entity(tx, legal_entity_id)
    return capital_goods.of_period(tx, vat, date_range, _basis(tx, legal_entity_id, vat, date_range))


def _entries(
    tx: ReadTx, vat: VatStanding, legal_entity_id: str, date_range: DateRange, basis: Basis
) -> Iterator[VatEntry]:
    """What allocations and bills add."""
    yield from allocated_vat.entries(tx, vat, legal_entity_id, date_range, basis)
    yield from billed_costs.vat_entries(tx, vat, legal_entity_id, date_range, basis)


def _basis(tx: ReadTx, legal_entity_id: str, vat: VatStanding, date_range: DateRange) -> Basis:
    """Whether money counts when it moves, or when it is owed, in all of a return.

    Under the flat rate by the basis of the businesses that are carried on in it, so that a later one changes no
    earlier return.
    """
    scheme = vat.terms_on(date_range.first).scheme
    if scheme == "flat_rate":
        kept = tx.rows(_SELECT_BASES, legal_entity_id=legal_entity_id, **date_range._asdict())
        bases = {basis for basis, carried_on in kept if carried_on} or {basis for basis, _ in kept}
        return "cash" if bases == {"cash"} else "accruals"
    return "cash" if scheme == "cash" else "accruals"


def _of_sale(vat: VatStanding, sale: _Sale, turnover: dict[Fraction, int]) -> VatFigures:
    """What a sale adds; what bears a flat rate is added to the turnover of its percentage instead."""
    treatment = vat.treatment_on(sale.supplied_on)
    code, is_capital = sale.line
    if treatment == "unregistered" or code == "outside_scope":
        return VatFigures()
    goods = sale.net if code == "ni_eu_goods_zero" else 0
    if treatment == "flat_rate" and code not in OUTSIDE_FLAT_RATE and not is_capital:
        _add_turnover(vat, sale.date, sale.gross, turnover)
        return VatFigures(goods_supplied=goods)
    return VatFigures(output_vat=sale.gross - sale.net, sales=sale.net, goods_supplied=goods)


def _add_turnover(vat: VatStanding, date: str, gross: int, turnover: dict[Fraction, int]) -> None:
    percent = vat.percent_on(date) or Fraction(0)
    turnover[percent] = turnover.get(percent, 0) + gross


def _supplied(tx: ReadTx, values: Mapping[str, object]) -> Iterator[_Sale]:
    for sql, sign in ((_SELECT_SUPPLIED, 1), (_SELECT_CREDITED, -1)):
        for rows in together(tx.each(sql, **values), 0).values():
            head = _Head(*rows[0][:5])
            for line, figures in _figures_by_line(head, [row[5:] for row in rows]).items():
                yield _Sale(head.date, head.date, line, sign * figures.net, sign * figures.gross)


def _paid(tx: ReadTx, values: Mapping[str, object], date_range: DateRange) -> Iterator[_Sale]:
    payments = together(tx.each(_SELECT_PAYMENTS, **values), 0)
    credited = together(tx.each(_SELECT_CREDITS, **values), 0)
    for rows in together(tx.each(_SELECT_PAID, **values), 0).values():
        head = _Head(*rows[0][:5])
        credits_ = [
            Credit(note[0][2], note[0][1], note[0][3], 0, _figures_by_line(head, [row[4:] for row in note]))
            for note in together(credited.get(head.id, ()), 1).values()
        ]
        paid = [Payment(*row[1:]) for row in payments.get(head.id, ())]
        invoice = PaidInvoice(rows[0][5], 0, _figures_by_line(head, [row[6:] for row in rows]), paid, credits_)
        for part in walk(invoice):
            date = part.event.date
            if isinstance(part, Share) and date_range.first <= date <= date_range.last:
                yield _Sale(date, head.date, part.line, part.figures.net, part.figures.gross)


def _figures_by_line(head: _Head, rows: Iterable[Row]) -> dict[_Line, Figures]:
    """Figures of lines that are alike, in the base currency."""
    sums: dict[_Line, Figures] = {}
    for code, is_capital, net, gross in rows:
        line = _Line(code, is_capital)
        sums[line] = sums.get(line, Figures(0, 0, 0)).plus(Figures(net, gross, 0))
    if head.currency == head.base_currency:
        return sums
    return {line: Figures(_in_base(head, net), _in_base(head, gross), 0) for line, (net, gross, _) in sums.items()}


def _in_base(head: _Head, amount: int) -> int:
    if head.fx_rate is None:
        raise currency_mismatch("invoice", head.id, head.currency, head.base_currency)
    return convert(amount, head.fx_rate, head.currency, head.base_currency)
