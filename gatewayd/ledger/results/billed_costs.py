"""Bills as profit and loss and VAT count them (Domain C1, C4): whole on the tax point, or by what is paid. Reads only.

Drafts and what is void count nowhere, and neither does the part of a bank line that pays a bill. What a line counts for
is what an allocation of it would count for, by the standing towards VAT of the tax point, and of a credit note by that
of its bill, from which it takes off on its own tax point. Of a foreign bill each line is converted at the bill's rate;
what a payment costs more or less than what it settles was worth is a difference of exchange.

On cash basis each payment is a share of what the lines count for (`invoiced_income.walk`), so that the parts add up to
the bill exactly once it is paid, however it is paid and wherever a range is split. What was paid too much counts for
nothing, and neither does that it comes back; a credit note after the payment takes off on its own tax point.

VAT that was reclaimed of a supplier's bill goes back by the part of it that is not paid six months after its tax point
or, if that is later, its due date, and is reclaimed again as it is paid (VATA 1994 s26A; VAT Regulations 1995 reg 172H
and 172I): the law asks for it of who does not account for VAT by payments. Chosen: of the VAT that a supplier charges.
"""

from collections.abc import Hashable, Iterator, Sequence
from typing import NamedTuple, TypeVar

from gatewayd.clock import days_after
from gatewayd.ledger.allocating import categories
from gatewayd.ledger.allocating.categories import NOT_PNL
from gatewayd.ledger.dates.date_ranges import DateRange
from gatewayd.ledger.results import allocated_vat
from gatewayd.ledger.results.allocated_money import Account, Allocated, Basis, convert, currency_mismatch, posting_of
from gatewayd.ledger.results.allocated_vat import NO_PURCHASE, Purchase, VatEntry
from gatewayd.ledger.results.invoiced_income import (
    Credit,
    Figures,
    PaidInvoice,
    Payment,
    Share,
    settled,
    together,
    walk,
)
from gatewayd.ledger.results.profit_and_loss import Posting
from gatewayd.ledger.vat.vat_rates import AllocationVatCode
from gatewayd.ledger.vat.vat_return import VatFigures
from gatewayd.ledger.vat.vat_standing import VatStanding
from gatewayd.money import half_up
from gatewayd.store import ReadTx, Row

_HEAD = """
b.id, coalesce(b.credits_bill_id, b.id), b.tax_point, coalesce(o.tax_point, b.tax_point), b.currency, b.base_currency,
    b.fx_rate, b.gross_total, b.repay_vat_on, CASE WHEN b.document_ids = '[]' THEN 0 ELSE 1 END
"""
_LINE = """
l.position, l.category, l.property_id, l.vat_code, l.capital_goods, l.gross, l.vat, l.accounted_vat, l.disallowable
"""
_LINES = """
JOIN bill_lines AS l ON l.bill_id = b.id AND l.org_id = b.org_id
    LEFT JOIN bills AS o ON o.id = b.credits_bill_id AND o.org_id = b.org_id
"""
_IN_FORCE = "b.status <> 'draft' AND b.status <> 'void'"
_OF_BUSINESS = "b.business_id = :whose"
_OF_ENTITY = "b.legal_entity_id = :whose"
_DATED = f"""
SELECT {_HEAD}, {_LINE} FROM bills AS b {_LINES}
WHERE b.org_id = :org_id AND {{whose}} AND b.tax_point BETWEEN :first AND :last AND {_IN_FORCE}
"""
_TOUCHED = f"""(
    SELECT p.bill_id AS id
    FROM bill_payments AS p JOIN bills AS b ON b.id = p.bill_id AND b.org_id = p.org_id
    WHERE p.org_id = :org_id AND p.date BETWEEN :first AND :last AND {{whose}}
    UNION
    SELECT b.credits_bill_id AS id FROM bills AS b
    WHERE b.org_id = :org_id AND {{whose}} AND b.tax_point BETWEEN :first AND :last
        AND b.credits_bill_id IS NOT NULL AND {_IN_FORCE}
    UNION
    SELECT b.id FROM bills AS b
    WHERE b.org_id = :org_id AND {{whose}} AND b.repay_vat_on BETWEEN :first AND :last AND {_IN_FORCE}
) AS touched"""
"""Bills that a payment or a credit note of the range stands against, or whose VAT goes back in it. A cross join keeps
them in front."""
_PAID = f"""
SELECT {_HEAD}, {_LINE} FROM {_TOUCHED} CROSS JOIN bills AS b {_LINES}
WHERE b.id = touched.id AND b.org_id = :org_id
"""
_PAYMENTS = f"""
SELECT p.bill_id, p.date, p.position, p.amount, p.bank_transaction_id, p.fx_rate
FROM {_TOUCHED} CROSS JOIN bill_payments AS p
WHERE p.bill_id = touched.id AND p.org_id = :org_id
"""
_CREDITED = f"""
SELECT {_HEAD}, {_LINE} FROM {_TOUCHED} CROSS JOIN bills AS b {_LINES}
WHERE b.credits_bill_id = touched.id AND b.org_id = :org_id AND {_IN_FORCE}
"""


class _Statements(NamedTuple):
    """What bills say of one business, or of one legal entity: what fell into a range, and what was touched in it."""

    dated: str
    touched: str
    payments: str
    credited: str


L = TypeVar("L", bound=Hashable)
_NOTHING = Figures(0, 0, 0)
_NO_FIGURES: dict[str, Figures] = {}
_BY_BUSINESS = _Statements(*(sql.format(whose=_OF_BUSINESS) for sql in (_DATED, _PAID, _PAYMENTS, _CREDITED)))
_BY_ENTITY = _Statements(*(sql.format(whose=_OF_ENTITY) for sql in (_DATED, _PAID, _PAYMENTS, _CREDITED)))


class BillEntry(NamedTuple):
    """What one category of a bill counts for on an ISO date, and for which property, if any.

    By a payment on cash basis, which may have gone by a bank line, or by a credit note that takes it back.
    """

    date: str
    bill_id: str
    posting: Posting
    property_id: str | None
    is_documented: bool
    payment_position: int | None = None
    bank_transaction_id: str | None = None
    credit_note_id: str | None = None


class _Head(NamedTuple):
    """A bill or credit note. `treated_on` is the ISO date whose standing towards VAT it has.

    `repay_vat_on` is the ISO date on which VAT of what is not paid goes back; None: none does.
    """

    id: str
    bill_id: str
    tax_point: str
    treated_on: str
    currency: str
    base_currency: str
    fx_rate: str | None
    gross: int
    repay_vat_on: str | None
    is_documented: int


class _Line(NamedTuple):
    """A line, minor units of the bill's currency."""

    position: int
    category: str
    property_id: str | None
    code: AllocationVatCode | None
    is_capital: int
    gross: int
    vat: int
    accounted: int
    disallowable: int


class _Bill(NamedTuple):
    """A bill or a credit note with its lines."""

    head: _Head
    lines: Sequence[_Line]


class _Touched(NamedTuple):
    """A bill with what stands against it."""

    bill: _Bill
    payments: Sequence[Payment]
    credits: Sequence[_Bill]


class _Place(NamedTuple):
    """What lines are counted together by in profit and loss."""

    category: str
    property_id: str | None


def entries(tx: ReadTx, account: Account, date_range: DateRange) -> Iterator[BillEntry]:
    """What the bills of a business count for in a range, in no order. Raises `Problem` `currency_mismatch`."""
    if account.basis == "accruals":
        for bill in _dated(tx, _BY_BUSINESS, account.business_id, date_range):
            head, is_credit = bill.head, bill.head.id != bill.head.bill_id
            for place, figures in _postings(account, bill).items():
                sign = -1 if is_credit else 1
                posting = Posting(place.category, sign * figures.net, sign * figures.supply)
                entry = BillEntry(head.tax_point, head.bill_id, posting, place.property_id, bool(head.is_documented))
                yield entry._replace(credit_note_id=head.id if is_credit else None)
    for touched in _touched(tx, _BY_BUSINESS, account.business_id, date_range):
        for entry in (*_differences(account, touched), *(_paid(account, touched) if account.basis == "cash" else ())):
            if date_range.first <= entry.date <= date_range.last:
                yield entry


def vat_entries(
    tx: ReadTx, vat: VatStanding, legal_entity_id: str, date_range: DateRange, basis: Basis
) -> Iterator[VatEntry]:
    """What the bills of a legal entity add to a return, in its base currency. Raises `Problem` `currency_mismatch`."""
    base = vat.seller.base_currency
    if basis == "accruals":
        for bill in _dated(tx, _BY_ENTITY, legal_entity_id, date_range):
            sign = -1 if bill.head.id != bill.head.bill_id else 1
            for kind, figures in _purchases(bill, base).items():
                yield _vat_entry(bill.head, kind, figures, sign)
        for touched in _touched(tx, _BY_ENTITY, legal_entity_id, date_range):
            yield from _paid_back(touched, base, date_range)
        return
    for touched in _touched(tx, _BY_ENTITY, legal_entity_id, date_range):
        head = touched.bill.head
        credited = [_credit(note, _purchases(note, base)) for note in touched.credits]
        paid = PaidInvoice(head.gross, 0, _purchases(touched.bill, base), touched.payments, credited)
        for part in walk(paid):
            if isinstance(part, Share) and date_range.first <= part.event.date <= date_range.last:
                yield _vat_entry(head, part.line, part.figures, 1)


# -- what is read


def _dated(tx: ReadTx, statements: _Statements, whose: str, date_range: DateRange) -> Iterator[_Bill]:
    rows = tx.each(statements.dated, whose=whose, **date_range._asdict())
    yield from map(_bill, together(rows, 0).values())


def _touched(tx: ReadTx, statements: _Statements, whose: str, date_range: DateRange) -> Iterator[_Touched]:
    values = {"whose": whose, **date_range._asdict()}
    bills = together(tx.each(statements.touched, **values), 0)
    payments = together(tx.each(statements.payments, **values), 0) if bills else {}
    credited = together(tx.each(statements.credited, **values), 1) if bills else {}
    for bill_id, rows in bills.items():
        notes = together(credited.get(bill_id, ()), 0)
        paid = [Payment(*row[1:]) for row in payments.get(bill_id, ())]
        yield _Touched(_bill(rows), paid, [_bill(note) for note in notes.values()])


def _bill(rows: Sequence[Row]) -> _Bill:
    count = len(_Head._fields)
    return _Bill(_Head(*rows[0][:count]), [_Line(*row[count:]) for row in rows])


# -- profit and loss


def _postings(account: Account, bill: _Bill) -> dict[_Place, Figures]:
    """What the lines of a bill count for, in the currency of the books: `net`, and as `supply` what is disallowable."""
    sums: dict[_Place, Figures] = {}
    if bill.head.base_currency != account.currency:
        raise currency_mismatch("bill", bill.head.id, bill.head.currency, account.currency)
    for line in bill.lines:
        if line.category != NOT_PNL:
            place = _Place(line.category, line.property_id)
            posting = _posting(account, bill.head, line)
            figures = Figures(posting.amount, 0, posting.disallowable)
            sums[place] = sums.get(place, _NOTHING).plus(figures)
    return sums


def _posting(account: Account, head: _Head, line: _Line) -> Posting:
    sign = -1 if line.gross < 0 else 1
    money = Allocated(
        id=head.id,
        counted_on=head.treated_on,
        category=line.category,
        direction="out",
        amount=abs(line.gross),
        vat=abs(line.vat),
        disallowable=abs(line.disallowable),
        currency=head.currency,
        fx_rate=head.fx_rate,
        documented=bool(head.is_documented),
        vat_code=line.code,
        is_capital=line.is_capital,
    )
    category, amount, disallowable = posting_of(account, money)
    return Posting(category, sign * amount, sign * disallowable)


def _paid(account: Account, touched: _Touched) -> Iterator[BillEntry]:
    head = touched.bill.head
    credited = [_credit(note, _postings(account, note)) for note in touched.credits]
    paid = PaidInvoice(head.gross, 0, _postings(account, touched.bill), touched.payments, credited)
    for part in walk(paid):
        if isinstance(part, Share):
            event, figures = part.event, part.figures
            posting = Posting(part.line.category, figures.net, figures.supply)
            entry = BillEntry(event.date, head.id, posting, part.line.property_id, bool(head.is_documented))
            if isinstance(event, Payment):
                yield entry._replace(payment_position=event.position, bank_transaction_id=event.bank_transaction_id)
            else:
                yield entry._replace(credit_note_id=event.id)


def _differences(account: Account, touched: _Touched) -> Iterator[BillEntry]:
    """What each payment in another currency cost less than the part of the bill that it settled was worth: income."""
    head = touched.bill.head
    if head.fx_rate is None or head.currency == account.currency:
        return
    credited = [_credit(note, _NO_FIGURES) for note in touched.credits]
    for payment, before, after in settled(PaidInvoice(head.gross, 0, _NO_FIGURES, touched.payments, credited)):
        if payment.fx_rate is None:
            continue
        worth, already = (convert(part, head.fx_rate, head.currency, account.currency) for part in (after, before))
        cost = convert(after - before, payment.fx_rate, head.currency, account.currency)
        if cost != worth - already:
            posting = Posting(categories.EXCHANGE, worth - already - cost)
            entry = BillEntry(payment.date, head.id, posting, None, bool(head.is_documented))
            yield entry._replace(payment_position=payment.position, bank_transaction_id=payment.bank_transaction_id)


def _credit(note: _Bill, figures: dict[L, Figures]) -> Credit[L]:
    return Credit(note.head.tax_point, note.head.id, note.head.gross, 0, figures)


# -- VAT


def _purchases(bill: _Bill, base: str) -> dict[Purchase, Figures]:
    """The lines that stand in a return, in its currency: `supply` is the VAT that the buyer accounts for."""
    sums: dict[Purchase, Figures] = {}
    for line in bill.lines:
        is_purchase = line.code is not None or line.vat or line.category not in NO_PURCHASE | {NOT_PNL}
        if is_purchase:
            kind = Purchase(line.code, line.is_capital)
            gross, vat, accounted = (_in_base(bill.head, part, base) for part in (line.gross, line.vat, line.accounted))
            sums[kind] = sums.get(kind, _NOTHING).plus(Figures(gross - vat, gross, accounted))
    return sums


def _paid_back(touched: _Touched, base: str, date_range: DateRange) -> Iterator[VatEntry]:
    """What a range takes back of the VAT of a bill that is not paid, and gives again of what is paid after all."""
    head, before = touched.bill.head, days_after(date_range.first, -1)
    already, now = (_unpaid_vat(touched, base, day) for day in (before, date_range.last))
    for kind in {**already, **now}:
        grown = now.get(kind, 0) - already.get(kind, 0)
        if grown:
            figures = VatFigures(input_vat=-grown)
            of_day = DateRange(head.treated_on, head.treated_on)
            yield VatEntry(of_day, figures, figures if kind.is_capital else VatFigures())


def _unpaid_vat(touched: _Touched, base: str, day: str) -> dict[Purchase, int]:
    """The VAT that was reclaimed of a bill and has gone back by an ISO date: the part of it that is not paid."""
    head = touched.bill.head
    if head.repay_vat_on is None or day < head.repay_vat_on:
        return {}
    credited = [note for note in touched.credits if note.head.tax_point <= day]
    payable = head.gross - sum(note.head.gross for note in credited)
    unpaid = payable - sum(paid.amount for paid in touched.payments if paid.date <= day)
    if payable <= 0 or unpaid <= 0:
        return {}
    sums: dict[Purchase, int] = {}
    for bill, sign in ((touched.bill, 1), *((note, -1) for note in credited)):
        for kind, figures in _purchases(bill, base).items():
            sums[kind] = sums.get(kind, 0) + sign * (figures.gross - figures.net)
    return {kind: half_up(vat * unpaid, payable) for kind, vat in sums.items() if vat}


def _in_base(head: _Head, amount: int, base: str) -> int:
    if head.currency == base:
        return amount
    if head.fx_rate is None or head.base_currency != base:
        raise currency_mismatch("bill", head.id, head.currency, base)
    return convert(amount, head.fx_rate, head.currency, base)


def _vat_entry(head: _Head, kind: Purchase, figures: Figures, sign: int) -> VatEntry:
    net, gross, accounted = (sign * part for part in figures)
    bought = allocated_vat.purchase(kind.code, gross, gross - net, accounted)
    of_day = DateRange(head.treated_on, head.treated_on)
    return VatEntry(of_day, bought, bought if kind.is_capital else VatFigures())
