"""What was written off of invoices, as accounts and VAT returns count it (Domain C1, C4). Reads only.

On accruals a debt is a loss on the day that it is written off, since it was income before; on cash basis it never was.
Relief from VAT is claimed in box 4 alone, on its own day, of the VAT in what is then unpaid; what is paid afterwards is
repaid in box 1 by its share (VATA 1994 s.36, VAT Regulations 1995 reg. 171, VBDR2300, VBDR4100, VBDR4200).

Payments, credit notes and the write-off are walked by date. After each, what is lost of a line is

    what is left of the line after credit notes x (min(paid + written off, payable) - min(paid, payable)) / payable

and the event counts for what that has grown by: less than nothing where the client paid after all.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final, Generic, NamedTuple, TypeVar

from gatewayd.ledger.dates.date_ranges import DateRange
from gatewayd.ledger.results import invoiced_income, rents_accrued
from gatewayd.ledger.results.allocated_money import Account, convert, currency_mismatch
from gatewayd.ledger.results.invoiced_income import Credit, Entry, Figures, L, Payment, together
from gatewayd.ledger.results.profit_and_loss import Posting
from gatewayd.store import ReadTx, Row

NOT_RELIEVED: Final = frozenset({"not_claimed", "too_late", "deregistered"})
"""Of VAT that was paid to the tax authority, and is a cost with the debt."""

_SELECT_DEBTS = """
SELECT i.id, i.number, i.supply_date, i.currency, i.base_currency, i.fx_rate, i.business_id,
    i.gross_total - i.cis_deduction, i.cis_deduction, w.date, w.amount, w.vat_relief, w.vat_relief_date
FROM invoice_write_offs AS w JOIN invoices AS i ON i.org_id = w.org_id AND i.id = w.invoice_id
WHERE w.org_id = :org_id AND i.legal_entity_id = :legal_entity_id AND w.date <= :last
ORDER BY w.date, i.id
"""
_SELECT_LINES = """
SELECT l.category, l.vat_code, l.capital_goods, l.net, l.gross, coalesce(l.property_id, i.property_id)
FROM invoices AS i JOIN invoice_lines AS l ON l.org_id = i.org_id AND l.invoice_id = i.id
WHERE i.org_id = :org_id AND i.id = :invoice_id
"""
_SELECT_PAYMENTS = """
SELECT date, position, amount, bank_transaction_id FROM invoice_payments
WHERE org_id = :org_id AND invoice_id = :invoice_id
"""
_SELECT_CREDITS = """
SELECT i.id, i.issue_date, i.gross_total - i.cis_deduction, i.cis_deduction, l.category, l.vat_code, l.capital_goods,
    l.net, l.gross, coalesce(l.property_id, i.property_id, o.property_id)
FROM invoices AS i JOIN invoice_lines AS l ON l.org_id = i.org_id AND l.invoice_id = i.id
JOIN invoices AS o ON o.org_id = i.org_id AND o.id = i.credits_invoice_id
WHERE i.org_id = :org_id AND i.credits_invoice_id = :invoice_id AND i.status <> 'draft' AND i.status <> 'void'
"""
_NOTHING = Figures(0, 0, 0)
S = TypeVar("S")


class Debt(NamedTuple):
    """An invoice of which something was written off, in minor units of `currency`; dates are ISO.

    `payable` is gross less what is `withheld`. `relief_date` None: no VAT is claimed for it.
    """

    invoice_id: str
    number: str
    supply_date: str
    currency: str
    base_currency: str
    fx_rate: str | None
    business_id: str | None
    payable: int
    withheld: int
    date: str
    amount: int
    relief: str
    relief_date: str | None

    def in_base(self, amount: int) -> int:
        """An amount in the currency of the books. Raises `Problem` `currency_mismatch`."""
        if self.currency == self.base_currency or not amount:
            return amount
        if self.fx_rate is None:
            raise currency_mismatch("invoice", self.invoice_id, self.currency, self.base_currency)
        return convert(amount, self.fx_rate, self.currency, self.base_currency)


class Loss(NamedTuple):
    """What was written off, from an ISO date on."""

    date: str
    amount: int


class Lost(NamedTuple, Generic[L]):
    """What is lost of a line by one event, or with less than nothing is not lost after all; `withheld` goes with it.

    `line` None: it is what was to be withheld, and `figures` are nothing.
    """

    event: Credit[L] | Payment | Loss
    line: L | None
    figures: Figures
    withheld: int = 0


def of_entity(tx: ReadTx, legal_entity_id: str, last: str) -> list[Debt]:
    """What was written off of a legal entity's invoices by an ISO date."""
    rows = tx.rows(_SELECT_DEBTS, legal_entity_id=legal_entity_id, last=last)
    return [Debt(*row) for row in rows]


def lost(
    tx: ReadTx, debt: Debt, by_line: Callable[[Iterable[Row]], dict[L, Figures]], from_date: str | None = None
) -> Iterator[Lost[L]]:
    """What is lost of a debt by each event, oldest first.

    `by_line` adds up rows of lines: category, VAT code, whether they are capital goods, net, gross, property. It counts
    as written off from `from_date` on, an ISO date, by default from its own.
    """
    left, payable, held = by_line(tx.rows(_SELECT_LINES, invoice_id=debt.invoice_id)), debt.payable, debt.withheld
    paid = off = counted_held = 0
    counted: dict[L, Figures] = {}
    loss = Loss(from_date or debt.date, debt.amount)
    events: list[Credit[L] | Payment | Loss] = [*_credits(tx, debt, by_line), *_payments(tx, debt), loss]
    for event in sorted(events, key=_order):
        if isinstance(event, Credit):
            payable, held = payable - event.payable, held - event.withheld
            for line, figures in event.lines.items():
                left[line] = left.get(line, _NOTHING).plus(figures, -1)
        elif isinstance(event, Payment):
            paid += event.amount
        else:
            off += event.amount
        settled, gone, whole = _bounds(paid, off, payable)
        for line, figures in left.items():
            now = figures.part(gone, whole).plus(figures.part(settled, whole), -1)
            grown = now.plus(counted.get(line, _NOTHING), -1)
            counted[line] = now
            if any(grown):
                yield Lost(event, line, grown)
        now_held = _part(held, gone, whole) - _part(held, settled, whole)
        if now_held != counted_held:
            yield Lost(event, None, _NOTHING, now_held - counted_held)
        counted_held = now_held


def _bounds(paid: int, off: int, payable: int) -> tuple[int, int, int]:
    """What is paid, what is paid or written off, and of how much that is."""
    if payable <= 0:
        return 0, 0, 1
    settled = max(0, min(paid, payable))
    return settled, min(settled + off, payable), payable


def _part(amount: int, numerator: int, denominator: int) -> int:
    return Figures(amount, 0, 0).part(numerator, denominator).net


def _payments(tx: ReadTx, debt: Debt) -> Iterator[Payment]:
    for row in tx.rows(_SELECT_PAYMENTS, invoice_id=debt.invoice_id):
        yield Payment(*row)


def _credits(tx: ReadTx, debt: Debt, by_line: Callable[[Iterable[Row]], dict[L, Figures]]) -> Iterator[Credit[L]]:
    notes: Mapping[str, Sequence[Row]] = together(tx.rows(_SELECT_CREDITS, invoice_id=debt.invoice_id), 0)
    for note_id, rows in notes.items():
        _, date, payable, withheld, *_ = rows[0]
        yield Credit(date, note_id, payable, withheld, by_line(row[4:] for row in rows))


def _order(event: Credit[L] | Payment | Loss) -> tuple[str, int, str]:
    if isinstance(event, Loss):  # behind what was paid and credited that day
        return event.date, 1 << 62, ""
    return invoiced_income.order(event)


# -- as accounts count it


def entries(tx: ReadTx, account: Account, date_range: DateRange) -> Iterator[Entry]:
    """What was written off, and came after all, of the invoices of a business in a range; nothing on cash basis.

    Raises `Problem` `currency_mismatch`.
    """
    legal_entity_id = account.vat.seller.legal_entity_id
    if account.basis != "accruals" or legal_entity_id is None:
        return
    debts = of_entity(tx, legal_entity_id, date_range.last)
    owns = invoiced_income.Counting(tx, account).owns if debts else None
    for debt in debts:
        if owns is not None and owns(debt.business_id, debt.supply_date):
            for entry in _of_debt(tx, account, debt):
                if date_range.first <= entry.date <= date_range.last:
                    yield entry


def _of_debt(tx: ReadTx, account: Account, debt: Debt) -> Iterator[Entry]:
    head = invoiced_income.Head(
        *(debt.invoice_id, debt.invoice_id, debt.supply_date, debt.currency, debt.base_currency, debt.fx_rate),
        *(debt.business_id, debt.supply_date),
    )
    category = rents_accrued.loss_category(account.business_type)
    held = None
    for part in lost(tx, debt, lambda rows: invoiced_income.figures_by_line(account, head, rows)):
        if part.line is None:
            if held is None:
                whole = invoiced_income.figures_by_line(
                    account, head, tx.rows(_SELECT_LINES, invoice_id=debt.invoice_id)
                )
                held = invoiced_income.held_line(account, whole)
            amount = -invoiced_income.in_books(account, head, part.withheld)
            yield _entry(part, debt, Posting(held.category, amount), held.property_id)
            continue
        amount = part.figures.gross
        if debt.relief not in NOT_RELIEVED:
            amount = invoiced_income.counted(account, head, part.figures, debt.supply_date)
        yield _entry(part, debt, Posting(category, amount), part.line.property_id)


def _entry(part: Lost[L], debt: Debt, posting: Posting, property_id: str | None) -> Entry:
    event = part.event
    entry = Entry(event.date, debt.invoice_id, posting, property_id=property_id)
    if isinstance(event, Payment):
        return entry._replace(payment_position=event.position, bank_transaction_id=event.bank_transaction_id)
    return entry._replace(credit_note_id=event.id) if isinstance(event, Credit) else entry._replace(is_write_off=True)


# -- as VAT returns count it


class Relief(NamedTuple):
    """VAT that is claimed of a bad debt, or with a payment of it is repaid, in the base currency."""

    claimed: int = 0
    repaid: int = 0


def vat_relief(tx: ReadTx, legal_entity_id: str, date_range: DateRange) -> Relief:
    """What a legal entity claims and repays in a range of days. Raises `Problem` `currency_mismatch`."""
    claimed = repaid = 0
    for debt in of_entity(tx, legal_entity_id, date_range.last):
        if debt.relief_date is None or debt.relief_date > date_range.last:
            continue
        for part in lost(tx, debt, lambda rows, debt=debt: _vat_of(debt, rows), debt.relief_date):  # type: ignore[misc]
            vat = part.figures.gross - part.figures.net
            if not date_range.first <= part.event.date <= date_range.last:
                continue
            if vat > 0:
                claimed += vat
            else:
                repaid -= vat
    return Relief(claimed, repaid)


def _vat_of(debt: Debt, rows: Iterable[Row]) -> dict[str, Figures]:
    """Figures by VAT code, in the base currency."""
    sums: dict[str, Figures] = {}
    for _, code, _, net, gross, _ in rows:
        sums[code] = sums.get(code, _NOTHING).plus(Figures(net, gross, 0))
    return {code: Figures(debt.in_base(figures.net), debt.in_base(figures.gross), 0) for code, figures in sums.items()}
