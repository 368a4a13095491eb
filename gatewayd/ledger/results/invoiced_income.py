"""Invoices as profit and loss counts them (Domain C1): net on the supply date, or by what was paid. Reads only.

Drafts and what is void count nowhere. A credit note belongs to the business of the invoice that it credits. Foreign
invoices count at their own rate, and what their payments bring more or less as a difference of exchange. Each entry is
one category, of one property or of none, of one invoice, payment or credit note. A line that names no property has the
one that its invoice names.

Chosen: an invoice that names no business is that of the one which its legal entity has on the supply date, where there
is one alone.

On cash basis each payment is a share of the lines. Payments and credit notes are walked by date. After each, what
counts of a line so far is

    what is left of the line after credit notes x min(paid, payable) / payable

rounded half up, and the event counts for what that has grown by. So the parts add up to the invoice exactly once it is
paid, however it is paid and wherever a range is split. Payable is gross less what the contractor withholds: the share
is one of the whole line, and what was withheld is told beside it.

Chosen: what a client paid too much is owed to them and no income. A credit note that leaves them with more paid than
is payable takes the income back on its own date; their refund then counts nowhere.
"""

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Generic, NamedTuple, TypeVar

from gatewayd.clock import days_after
from gatewayd.ledger.allocating import categories
from gatewayd.ledger.dates.date_ranges import DateRange
from gatewayd.ledger.results import profit_and_loss
from gatewayd.ledger.results.allocated_money import Account, bears_flat_rate, convert, currency_mismatch
from gatewayd.ledger.results.profit_and_loss import Posting
from gatewayd.ledger.taxpayers import businesses
from gatewayd.ledger.taxpayers.businesses import Business
from gatewayd.ledger.vat.vat_rates import OUTSIDE_FLAT_RATE
from gatewayd.money import half_up
from gatewayd.store import ReadTx, Row

_HEAD = "i.id, coalesce(i.credits_invoice_id, i.id), i.supply_date, i.currency, i.base_currency, i.fx_rate"
_WHOSE = "{0}.business_id, {0}.supply_date"
_OF_BUSINESS = (
    "({0}.business_id = :business_id OR ({0}.business_id IS NULL AND {0}.legal_entity_id = :legal_entity_id))"
)
"""The business's own invoices, and those of its legal entity that name none."""
_LINE = "l.category, l.vat_code, l.capital_goods, l.net, l.gross, coalesce(l.property_id, i.property_id)"
_CREDITED_LINE = (
    "l.category, l.vat_code, l.capital_goods, l.net, l.gross, coalesce(l.property_id, i.property_id, o.property_id)"
)
_CREDITED = "JOIN invoices AS o ON o.id = i.credits_invoice_id AND o.org_id = i.org_id"
_LINES = "JOIN invoice_lines AS l ON l.invoice_id = i.id AND l.org_id = i.org_id"
_IN_FORCE = "i.status <> 'draft' AND i.status <> 'void'"
_SELECT_SUPPLIED = f"""
SELECT {_HEAD}, {_WHOSE.format("i")}, i.cis_deduction, {_LINE}
FROM invoices AS i {_LINES}
WHERE i.org_id = :org_id AND {_OF_BUSINESS.format("i")} AND i.supply_date BETWEEN :first AND :last
    AND i.kind = 'invoice' AND {_IN_FORCE}
"""
_SELECT_CREDITED = f"""
SELECT {_HEAD}, {_WHOSE.format("o")}, i.cis_deduction, {_CREDITED_LINE}
FROM invoices AS i {_LINES} {_CREDITED}
WHERE i.org_id = :org_id AND i.credits_invoice_id IS NOT NULL AND i.supply_date BETWEEN :first AND :last
    AND {_OF_BUSINESS.format("o")} AND {_IN_FORCE}
"""
_TOUCHED = f"""(
    SELECT p.invoice_id AS id
    FROM invoice_payments AS p JOIN invoices AS o ON o.id = p.invoice_id AND o.org_id = p.org_id
    WHERE p.org_id = :org_id AND p.date BETWEEN :first AND :last AND {_OF_BUSINESS.format("o")}
    UNION
    SELECT c.credits_invoice_id AS id
    FROM invoices AS c JOIN invoices AS o ON o.id = c.credits_invoice_id AND o.org_id = c.org_id
    WHERE c.org_id = :org_id AND c.credits_invoice_id IS NOT NULL AND c.issue_date BETWEEN :first AND :last
        AND {_OF_BUSINESS.format("o")} AND c.status <> 'draft' AND c.status <> 'void'
) AS touched"""
"""Invoices that a payment or a credit note of the range stands against. A cross join keeps them in front."""
_SELECT_PAID = f"""
SELECT {_HEAD}, {_WHOSE.format("i")}, i.gross_total - i.cis_deduction, i.cis_deduction, {_LINE}
FROM {_TOUCHED} CROSS JOIN invoices AS i {_LINES}
WHERE i.id = touched.id AND i.org_id = :org_id
"""
_SELECT_PAID_FOREIGN = f"{_SELECT_PAID} AND i.currency <> i.base_currency"
_SELECT_PAYMENTS = f"""
SELECT p.invoice_id, p.date, p.position, p.amount, p.bank_transaction_id, p.fx_rate
FROM {_TOUCHED} CROSS JOIN invoice_payments AS p
WHERE p.invoice_id = touched.id AND p.org_id = :org_id
"""
_SELECT_CREDITS = f"""
SELECT i.credits_invoice_id, i.id, i.issue_date, i.gross_total - i.cis_deduction, i.cis_deduction, {_CREDITED_LINE}
FROM {_TOUCHED} CROSS JOIN invoices AS i {_LINES} {_CREDITED}
WHERE i.credits_invoice_id = touched.id AND i.org_id = :org_id AND {_IN_FORCE}
"""
_SELECT_WITHOUT_BUSINESS = """
SELECT supply_date FROM invoices
WHERE org_id = :org_id AND issue_date BETWEEN :first AND :last AND business_id IS NULL
    AND legal_entity_id = :legal_entity_id AND kind = 'invoice' AND status <> 'draft' AND status <> 'void'
LIMIT :most
"""
_SOLE = """
(
    SELECT min(sole.id) FROM businesses AS sole
    WHERE sole.org_id = :org_id AND sole.legal_entity_id = {invoice}.legal_entity_id
        AND (sole.commencement_date IS NULL OR sole.commencement_date <= {invoice}.supply_date)
        AND (sole.cessation_date IS NULL OR sole.cessation_date >= {invoice}.supply_date)
        AND (sole.archived_on IS NULL OR sole.archived_on > {invoice}.supply_date)
    HAVING count(sole.id) = 1
)
""".strip()
_NAMED_OR_SOLE = f"coalesce({{invoice}}.business_id, {_SOLE})"
_OF = f"""
CASE WHEN {{invoice}}.credits_invoice_id IS NULL THEN {_NAMED_OR_SOLE} ELSE (
    SELECT {_NAMED_OR_SOLE.format(invoice="credited")} FROM invoices AS credited
    WHERE credited.org_id = :org_id AND credited.id = {{invoice}}.credits_invoice_id
) END
""".strip()
L = TypeVar("L", bound=Hashable)
"""What lines are told apart by: a category, a VAT code, or more than that."""


class Figures(NamedTuple):
    """What counts in a category. `supply` is the part of gross that a flat rate of VAT is taken of."""

    net: int
    gross: int
    supply: int

    def plus(self, other: "Figures", sign: int = 1) -> "Figures":
        """The sum, or with -1 the difference."""
        return Figures(self.net + sign * other.net, self.gross + sign * other.gross, self.supply + sign * other.supply)

    def part(self, numerator: int, denominator: int) -> "Figures":
        """A share of each, rounded half up."""
        if numerator == denominator:
            return self
        return Figures(
            half_up(self.net * numerator, denominator),
            half_up(self.gross * numerator, denominator),
            half_up(self.supply * numerator, denominator),
        )


class Payment(NamedTuple):
    """Money that came in on an ISO date; `bank_transaction_id` None: nobody knows by which bank line.

    `fx_rate` None: it is in the currency of the books, or nobody knows its rate.
    """

    date: str
    position: int
    amount: int
    bank_transaction_id: str | None = None
    fx_rate: str | None = None


class Credit(NamedTuple, Generic[L]):
    """A credit note: figures by line, and what it takes off the amount payable and off what is withheld."""

    date: str
    id: str
    payable: int
    withheld: int
    lines: dict[L, Figures]


class PaidInvoice(NamedTuple, Generic[L]):
    """An invoice with what stands against it. `withheld` is the CIS deduction; `payable` is gross less that."""

    payable: int
    withheld: int
    lines: dict[L, Figures]
    payments: Sequence[Payment]
    credits: Sequence[Credit[L]]


class Share(NamedTuple, Generic[L]):
    """What counts of one line by one payment or credit note."""

    event: Credit[L] | Payment
    line: L
    figures: Figures


class Withheld(NamedTuple, Generic[L]):
    """What was withheld together with what one payment or credit note counts for."""

    event: Credit[L] | Payment
    amount: int


class Entry(NamedTuple):
    """What one category of an invoice counts for on an ISO date, and for which property, if any.

    By a payment on cash basis, which may have come by a bank line, or by a credit note that takes it back; or as a
    loss, where it is written off (`bad_debts`).
    """

    date: str
    invoice_id: str
    posting: Posting
    payment_position: int | None = None
    bank_transaction_id: str | None = None
    credit_note_id: str | None = None
    property_id: str | None = None
    is_write_off: bool = False


class _Line(NamedTuple):
    """What lines of an invoice are counted together by."""

    category: str
    property_id: str | None


class Head(NamedTuple):
    id: str
    invoice_id: str
    supply_date: str
    currency: str
    base_currency: str
    fx_rate: str | None
    business_id: str | None  # that the invoice names, or the one that is credited
    supplied_on: str  # its day


_FIRST_FIGURE = len(Head._fields)


class WithoutBusiness(NamedTuple):
    """How many invoices name no business: of those, how many count in this one, and how many nowhere."""

    here: int
    nowhere: int


def entries(tx: ReadTx, account: Account, date_range: DateRange) -> Iterator[Entry]:
    """What invoices count for in a range, in no order. Raises `Problem` `currency_mismatch`."""
    counts = Counting(tx, account)
    values = {"business_id": account.business_id, "legal_entity_id": counts.legal_entity_id, **date_range._asdict()}
    if account.basis == "accruals":
        for sql, sign in ((_SELECT_SUPPLIED, 1), (_SELECT_CREDITED, -1)):
            for rows in together(filter(counts.counts, tx.each(sql, **values)), 0).values():
                yield from _supplied(account, rows, sign)
    sql = _SELECT_PAID_FOREIGN if account.basis == "accruals" else _SELECT_PAID
    touched = together(filter(counts.counts, tx.each(sql, **values)), 0)
    payments = together(tx.each(_SELECT_PAYMENTS, **values), 0) if touched else {}
    credited = together(tx.each(_SELECT_CREDITS, **values), 0) if touched else {}
    for invoice_id, rows in touched.items():
        paid = [Payment(*row[1:]) for row in payments.get(invoice_id, ())]
        for entry in _paid(account, rows, paid, together(credited.get(invoice_id, ()), 1).values()):
            if date_range.first <= entry.date <= date_range.last:
                yield entry


class Counting:
    """Which invoices count in a business. `legal_entity_id` None: those that name no business never do."""

    def __init__(self, tx: ReadTx, account: Account) -> None:
        entity_id = account.vat.seller.legal_entity_id or ""
        self._business_id = account.business_id
        self._of_entity = businesses.of_entity(tx, entity_id)
        self.legal_entity_id = entity_id if _is_ever_sole(self._of_entity, account.business_id) else None

    def counts(self, row: Row) -> bool:
        """Whether a row that begins with a head counts."""
        return self.owns(*row[_FIRST_FIGURE - 2 : _FIRST_FIGURE])

    def owns(self, business_id: str | None, supplied_on: str) -> bool:
        """Whether an invoice counts that names this business, or None, and was supplied on an ISO date."""
        if business_id is not None:
            return business_id == self._business_id
        return businesses.sole_on(self._of_entity, supplied_on) == self._business_id


def _is_ever_sole(of_entity: Sequence[Business], business_id: str) -> bool:
    """Whether a business is its entity's only one on some day. Which one it is changes only on the days tried here."""
    changes = {"0001-01-01"}
    for business in of_entity:
        changes.update(day for day in (business.commenced_on, business.archived_on) if day is not None)
        if business.ceased_on is not None:
            changes.add(days_after(business.ceased_on, 1))
    return any(businesses.sole_on(of_entity, day) == business_id for day in changes)


def together(rows: Iterable[Row], column: int) -> Mapping[str, list[Row]]:
    """The rows by the id that stands in a column."""
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(row[column], []).append(row)
    return groups


def _supplied(account: Account, rows: Sequence[Row], sign: int) -> Iterator[Entry]:
    head, withheld = Head(*rows[0][:_FIRST_FIGURE]), rows[0][_FIRST_FIGURE]
    lines = figures_by_line(account, head, [row[_FIRST_FIGURE + 1 :] for row in rows])
    amounts = {line: counted(account, head, figures, head.supply_date) for line, figures in lines.items()}
    if withheld:
        amounts[held_line(account, lines)] = in_books(account, head, withheld)
    note_id = head.id if sign < 0 else None
    for (category, property_id), amount in amounts.items():
        posting = Posting(category, sign * amount)
        yield Entry(head.supply_date, head.invoice_id, posting, credit_note_id=note_id, property_id=property_id)


def _paid(
    account: Account, rows: Sequence[Row], payments: Sequence[Payment], credited: Iterable[Sequence[Row]]
) -> Iterator[Entry]:
    head = Head(*rows[0][:_FIRST_FIGURE])
    payable, withheld = rows[0][_FIRST_FIGURE : _FIRST_FIGURE + 2]
    lines = figures_by_line(account, head, [row[_FIRST_FIGURE + 2 :] for row in rows])
    credits_ = [_credit(account, head, credit) for credit in credited]
    held = held_line(account, lines)
    invoice = PaidInvoice(payable, in_books(account, head, withheld), lines, payments, credits_)
    yield from _differences(account, head, invoice)
    if account.basis == "accruals":  # it counted when it was supplied
        return
    for part in walk(invoice):
        event = part.event
        if isinstance(part, Share):
            (category, property_id), amount = part.line, counted(account, head, part.figures, event.date)
        else:
            (category, property_id), amount = held, part.amount
        posting = Posting(category, amount)
        entry = Entry(event.date, head.id, posting, property_id=property_id)
        if isinstance(event, Payment):
            yield entry._replace(payment_position=event.position, bank_transaction_id=event.bank_transaction_id)
        else:
            yield entry._replace(credit_note_id=event.id)


def _differences(account: Account, head: Head, invoice: PaidInvoice[_Line]) -> Iterator[Entry]:
    """What each payment in another currency brought more than the part of the invoice that it settled was worth."""
    if head.currency == account.currency:
        return
    property_id = held_line(account, invoice.lines).property_id
    for payment, before, after in settled(invoice):
        if payment.fx_rate is None:
            continue
        worth = in_books(account, head, after) - in_books(account, head, before)
        brought = convert(after - before, payment.fx_rate, head.currency, account.currency)
        if brought != worth:
            posting = Posting(categories.EXCHANGE, brought - worth)
            yield Entry(
                payment.date, head.id, posting, payment.position, payment.bank_transaction_id, property_id=property_id
            )


def held_line(account: Account, lines: Iterable[_Line]) -> _Line:
    """The line of what was withheld. Chosen: of a property where the whole invoice is, else of none."""
    category = profit_and_loss.withheld_category(account.business_type)
    properties = {line.property_id for line in lines}
    return _Line(category, properties.pop() if len(properties) == 1 else None)


def _credit(account: Account, head: Head, rows: Sequence[Row]) -> Credit[_Line]:
    """A credit note against the invoice, which has the invoice's currency and rate."""
    _, id_, date, payable, withheld, *_ = rows[0]
    lines = figures_by_line(account, head, [row[5:] for row in rows])
    return Credit(date, id_, payable, in_books(account, head, withheld), lines)


def figures_by_line(account: Account, head: Head, rows: Iterable[Row]) -> dict[_Line, Figures]:
    """Figures by category and property, in the currency of the books: lines that are alike are converted together."""
    sums: dict[_Line, Figures] = {}
    for category, vat_code, is_capital, net, gross, property_id in rows:
        line = _Line(profit_and_loss.sales_category(category, account.business_type), property_id)
        bears = vat_code not in OUTSIDE_FLAT_RATE and bears_flat_rate(account.business_type, line.category)
        figures = Figures(net, gross, gross if bears else 0)
        if is_capital:  # their VAT is due at its own rate, beside a flat one
            figures = Figures(net, net, 0)
        sums[line] = sums.get(line, Figures(0, 0, 0)).plus(figures)
    if head.currency == account.currency:
        return sums
    return {line: Figures(*(in_books(account, head, part) for part in figures)) for line, figures in sums.items()}


def in_books(account: Account, head: Head, amount: int) -> int:
    if head.currency == account.currency or not amount:
        return amount
    if head.fx_rate is None or head.base_currency != account.currency:
        raise currency_mismatch("invoice", head.id, head.currency, account.currency)
    return convert(amount, head.fx_rate, head.currency, account.currency)


def counted(account: Account, head: Head, figures: Figures, date: str) -> int:
    """What counts of them: by the standing on the supply date, at the flat rate of the day that counts."""
    if account.vat.treatment_on(head.supply_date) == "flat_rate":
        return figures.gross - account.vat.flat_rate_vat(figures.supply, date)
    return figures.net


def without_business(tx: ReadTx, account: Account, date_range: DateRange, most: int) -> WithoutBusiness:
    """How many invoices of an account's legal entity that were issued in a range name no business.

    `most` of them are looked at. Those that count in another business are in neither number.
    """
    legal_entity_id = account.vat.seller.legal_entity_id or ""
    values = {"legal_entity_id": legal_entity_id, "first": date_range.first, "last": date_range.last, "most": most}
    dates = [row[0] for row in tx.rows(_SELECT_WITHOUT_BUSINESS, **values)]
    of_entity = businesses.of_entity(tx, legal_entity_id) if dates else []
    whose = [businesses.sole_on(of_entity, date) for date in dates]
    return WithoutBusiness(whose.count(account.business_id), whose.count(None))


def counted_in(invoice: str) -> str:
    """The id of the business that an invoice, by the name of its table, counts in; NULL: in none."""
    return _OF.format(invoice=invoice)


def of_business(invoice: str) -> str:
    """The condition that an invoice counts in `:business_id`; where that is NULL, in any or in none."""
    return f"(CAST(:business_id AS TEXT) IS NULL OR {counted_in(invoice)} = :business_id)"


_NOTHING = Figures(0, 0, 0)


def walk(invoice: PaidInvoice[L]) -> Iterator[Share[L] | Withheld[L]]:
    """What each payment and credit note counts for, oldest first; parts that are nothing are left out."""
    left, payable, held, paid = dict(invoice.lines), invoice.payable, invoice.withheld, 0
    counted: dict[L, Figures] = {}
    counted_held = 0
    events: list[Credit[L] | Payment] = [*invoice.credits, *invoice.payments]
    for event in sorted(events, key=order):
        if isinstance(event, Credit):
            payable, held = payable - event.payable, held - event.withheld
            for line, figures in event.lines.items():
                left[line] = left.get(line, _NOTHING).plus(figures, -1)
        else:
            paid += event.amount
        numerator, denominator = (max(0, min(paid, payable)), payable) if payable > 0 else (0, 1)
        for line, figures in left.items():
            now = figures.part(numerator, denominator)
            grown = now.plus(counted.get(line, _NOTHING), -1)
            counted[line] = now
            if any(grown):
                yield Share(event, line, grown)
        now_held = half_up(held * numerator, denominator)
        if now_held != counted_held:
            yield Withheld(event, now_held - counted_held)
        counted_held = now_held


def settled(invoice: PaidInvoice[L]) -> Iterator[tuple[Payment, int, int]]:
    """Each payment, oldest first, with what was settled before and after it: what is paid too much settles nothing."""
    payable, paid = invoice.payable, 0
    events: list[Credit[L] | Payment] = [*invoice.credits, *invoice.payments]
    for event in sorted(events, key=order):
        if isinstance(event, Credit):
            payable -= event.payable
        else:
            before, paid = paid, paid + event.amount
            yield event, min(before, max(payable, 0)), min(paid, max(payable, 0))


def order(event: Credit[L] | Payment) -> tuple[str, int, str]:
    if isinstance(event, Credit):
        return event.date, 0, event.id
    return event.date, event.position, ""
