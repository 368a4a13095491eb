"""The transactions of a period in double entry, from bank lines, allocations, invoices and bills. Reads only."""

import itertools
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from gatewayd.bundles.beancount_text import (
    ELSEWHERE,
    PAYABLES,
    RECEIVABLES,
    UNALLOCATED,
    Posting,
    Transaction,
    balanced,
    component,
)
from gatewayd.bundles.sheets import Scope
from gatewayd.ledger.allocating import categories
from gatewayd.ledger.imports.import_runs import VISIBLE_LINES
from gatewayd.ledger.results import bad_debts, profit_and_loss, rents_accrued
from gatewayd.ledger.results.invoiced_income import Figures, counted_in, of_business
from gatewayd.ledger.vat import vat_standing
from gatewayd.ledger.vat.vat_standing import VatStanding
from gatewayd.store import ReadTx, Row

_PARTS = """
a.id, a.legal_entity_id, a.business_id, a.invoice_id, a.counterpart_id, a.direction, a.amount, a.vat_amount,
    a.category, a.purpose, a.date, a.capital_goods
"""
_SELECT_LINES = f"""
SELECT lines.id, lines.date, lines.description, lines.currency, lines.amount, {_PARTS}
FROM bank_transactions AS lines
LEFT JOIN allocations AS a ON a.org_id = lines.org_id AND a.source_id = lines.id
WHERE lines.org_id = :org_id AND lines.account_id = :account_id AND lines.status = 'booked'
    AND lines.date BETWEEN :first AND :last AND {VISIBLE_LINES}
ORDER BY lines.date, lines.id
"""
_SELECT_ELSEWHERE = f"""
SELECT lines.account_id, a.description, a.currency, {_PARTS}
FROM allocations AS a LEFT JOIN bank_transactions AS lines ON lines.org_id = a.org_id AND lines.id = a.source_id
WHERE a.org_id = :org_id AND a.legal_entity_id = :legal_entity_id
    AND (CAST(:business_id AS TEXT) IS NULL OR a.business_id = :business_id)
    AND a.date BETWEEN :first AND :last
ORDER BY a.date, a.id
"""
_SELECT_INVOICES = f"""
SELECT i.id, i.supply_date, i.number, i.kind, i.currency, i.net_total, i.vat_total, i.gross_total, i.cis_deduction,
    {counted_in("i")}, l.category, l.net
FROM invoices AS i JOIN invoice_lines AS l ON l.org_id = i.org_id AND l.invoice_id = i.id
WHERE i.org_id = :org_id AND i.legal_entity_id = :legal_entity_id AND {of_business("i")}
    AND i.supply_date BETWEEN :first AND :last AND i.status <> 'draft' AND i.status <> 'void'
ORDER BY i.supply_date, i.id, l.position
"""
_SELECT_PAID_ELSEWHERE = f"""
SELECT i.id, p.date, i.number, i.kind, i.currency, p.amount, c.kind
FROM invoice_payments AS p JOIN invoices AS i ON i.org_id = p.org_id AND i.id = p.invoice_id
LEFT JOIN client_payments AS c ON c.org_id = p.org_id AND c.id = p.client_payment_id
WHERE p.org_id = :org_id AND i.legal_entity_id = :legal_entity_id AND {of_business("i")}
    AND p.date BETWEEN :first AND :last AND p.bank_transaction_id IS NULL
ORDER BY p.date, i.id, p.position
"""
_SELECT_BILLS = """
SELECT b.id, b.tax_point, coalesce(b.number, b.claimant, ''), b.kind, b.currency, b.gross_total, b.business_id,
    coalesce(o.tax_point, b.tax_point), l.category, l.net, l.vat, l.capital_goods
FROM bills AS b JOIN bill_lines AS l ON l.org_id = b.org_id AND l.bill_id = b.id
    LEFT JOIN bills AS o ON o.org_id = b.org_id AND o.id = b.credits_bill_id
WHERE b.org_id = :org_id AND b.legal_entity_id = :legal_entity_id
    AND (CAST(:business_id AS TEXT) IS NULL OR b.business_id = :business_id)
    AND b.tax_point BETWEEN :first AND :last AND b.status <> 'draft' AND b.status <> 'void'
ORDER BY b.tax_point, b.id, l.position
"""
_SELECT_BILLS_PAID_ELSEWHERE = """
SELECT b.id, p.date, coalesce(b.number, b.claimant, ''), b.currency, p.amount
FROM bill_payments AS p JOIN bills AS b ON b.org_id = p.org_id AND b.id = p.bill_id
WHERE p.org_id = :org_id AND b.legal_entity_id = :legal_entity_id
    AND (CAST(:business_id AS TEXT) IS NULL OR b.business_id = :business_id)
    AND p.date BETWEEN :first AND :last AND p.bank_transaction_id IS NULL
ORDER BY p.date, b.id, p.position
"""
_SELECT_WRITTEN_OFF = f"""
SELECT i.id, {counted_in("i")}
FROM invoice_write_offs AS w JOIN invoices AS i ON i.org_id = w.org_id AND i.id = w.invoice_id
WHERE w.org_id = :org_id AND i.legal_entity_id = :legal_entity_id AND {of_business("i")} AND w.date <= :last
"""
_SELECT_ON_ACCOUNT = """
SELECT id, date, kind, currency, on_account FROM client_payments
WHERE org_id = :org_id AND legal_entity_id = :legal_entity_id AND CAST(:business_id AS TEXT) IS NULL
    AND date BETWEEN :first AND :last AND bank_transaction_id IS NULL AND on_account <> 0
ORDER BY date, id
"""
_SELECT_TYPES = "SELECT id, type, name FROM businesses WHERE org_id = :org_id AND legal_entity_id = :legal_entity_id"
_SELECT_NAMES = "SELECT id, name FROM bank_accounts WHERE org_id = :org_id"
_VAT: Final = "Liabilities:VAT"
_WITHHELD: Final = "Assets:TaxWithheld"
_CREDIT: Final = "Equity:CreditOfClients"
"""What is taken of one invoice, or of what is on account, and set against another: in the end it comes to nothing."""


class _Part(NamedTuple):
    """The columns of an allocation."""

    id: str
    legal_entity_id: str | None
    business_id: str | None
    invoice_id: str | None
    counterpart_id: str | None
    direction: str
    amount: int
    vat_amount: int
    category: str
    purpose: str | None
    date: str
    is_capital: int


def _summed(rows: Iterable[Row]) -> dict[str, Figures]:
    """All lines of an invoice together, in its currency."""
    figures = Figures(0, 0, 0)
    for _, _, _, net, gross, _ in rows:
        figures = figures.plus(Figures(net, gross, 0))
    return {"": figures}


class DoubleEntry:
    """The books of a period's scope as transactions, in the order in which they are written."""

    def __init__(self, tx: ReadTx, scope: Scope) -> None:
        self._tx = tx
        self._scope = scope
        self._vat: VatStanding = vat_standing.of_entity(tx, scope.period.legal_entity_id)
        accounts = tx.rows(_SELECT_TYPES, legal_entity_id=scope.period.legal_entity_id)
        self._types = {id_: type_ for id_, type_, _ in accounts}
        self.names = {component(id_): name for id_, _, name in accounts}
        self.names |= {component(id_): name for id_, name in tx.rows(_SELECT_NAMES)}

    def transactions(self) -> Iterator[Transaction]:
        """All of them: by bank account, then what has no line there, then invoices, bills and their other payments."""
        for account_id in self._scope.accounts:
            yield from self._bank_lines(account_id)
        yield from self._elsewhere()
        rows = self._tx.each(_SELECT_INVOICES, **self._scope.values)
        for _, lines in itertools.groupby(rows, key=lambda row: row[0]):
            yield self._invoice(list(lines))
        for id_, date, number, kind, currency, amount, moved in self._tx.each(
            _SELECT_PAID_ELSEWHERE, **self._scope.values
        ):
            paid = amount if kind == "invoice" else -amount
            postings = (Posting(_CREDIT if moved == "credit" else ELSEWHERE, paid), Posting(RECEIVABLES, -paid))
            yield Transaction(date, f"Payment of {number}", currency, {"invoice": id_}, postings)
        bills = self._tx.each(_SELECT_BILLS, **self._scope.values)
        for _, lines in itertools.groupby(bills, key=lambda row: row[0]):
            yield self._bill(list(lines))
        for id_, date, number, currency, paid in self._tx.each(_SELECT_BILLS_PAID_ELSEWHERE, **self._scope.values):
            postings = (Posting(PAYABLES, paid), Posting(ELSEWHERE, -paid))
            yield Transaction(date, f"Payment of {number}".rstrip(), currency, {"bill": id_}, postings)
        for id_, date, moved, currency, amount in self._tx.each(_SELECT_ON_ACCOUNT, **self._scope.values):
            postings = (Posting(_CREDIT if moved == "credit" else ELSEWHERE, amount), Posting(RECEIVABLES, -amount))
            yield Transaction(date, "On account of a client", currency, {"client-payment": id_}, postings)
        yield from self._write_offs()

    def _write_offs(self) -> Iterator[Transaction]:
        """What was lost of invoices, and with less than nothing came after all."""
        period, values = self._scope.period, self._scope.values
        counted: dict[str, str | None] = dict(self._tx.rows(_SELECT_WRITTEN_OFF, **values))
        for debt in bad_debts.of_entity(self._tx, period.legal_entity_id, period.end_date):
            if debt.invoice_id not in counted:
                continue
            business_id = counted[debt.invoice_id]
            loss = self._category(business_id, rents_accrued.loss_category(self._types.get(business_id or "", "other")))
            for part in bad_debts.lost(self._tx, debt, _summed):
                if not period.start_date <= part.event.date <= period.end_date:
                    continue
                net, gross, _ = part.figures
                vat = 0 if debt.relief in bad_debts.NOT_RELIEVED else gross - net
                postings = [Posting(RECEIVABLES, part.withheld - gross)]
                postings += [Posting(loss, gross - vat)] if gross else []
                postings += [Posting(_VAT, vat)] if vat else []
                postings += [Posting(_WITHHELD, -part.withheld)] if part.withheld else []
                about = {"invoice": debt.invoice_id}
                yield Transaction(part.event.date, f"Write-off of {debt.number}", debt.currency, about, tuple(postings))

    def _bank_lines(self, account_id: str) -> Iterator[Transaction]:
        rows = self._tx.each(_SELECT_LINES, account_id=account_id, **self._scope.values)
        own = f"Assets:Bank:{component(account_id)}"
        for (id_, date, description, currency, amount), parts in itertools.groupby(rows, key=lambda row: row[:5]):
            postings = [Posting(own, amount)]
            for part in sorted(_Part(*row[5:]) for row in parts if row[5] is not None):
                postings += self._against(part)
            made = Transaction(date, description, currency, {"bank-transaction": id_}, tuple(postings))
            yield balanced(made, UNALLOCATED)

    def _elsewhere(self) -> Iterator[Transaction]:
        for row in self._tx.each(_SELECT_ELSEWHERE, **self._scope.values):
            account_id, description, currency = row[:3]
            if account_id in self._scope.accounts:
                continue
            part = _Part(*row[3:])
            if part.purpose == "rent_written_off":  # no money, and these books have no debtors for rent
                continue
            made = Transaction(part.date, description, currency, {}, tuple(self._against(part)))
            yield balanced(made, ELSEWHERE)

    def _against(self, part: _Part) -> Iterator[Posting]:
        """The side of an allocation that is not the money."""
        sign = -1 if part.direction == "in" else 1
        reclaimed = part.vat_amount if self._is_apart(part.date, part.is_capital) else 0
        yield Posting(self._account_of(part), sign * (part.amount - reclaimed), part.id)
        if reclaimed:
            yield Posting(_VAT, sign * reclaimed)

    def _is_apart(self, date: str, is_capital: int) -> bool:
        """Whether the VAT of a purchase is no cost, on an ISO date."""
        treatment = self._vat.treatment_on(date)
        return treatment == "registered" or (treatment == "flat_rate" and bool(is_capital))

    def _account_of(self, part: _Part) -> str:
        if part.legal_entity_id not in (None, self._scope.period.legal_entity_id):
            return "Equity:OtherEntities"
        if part.purpose == "invoice_payment":
            return RECEIVABLES
        if part.purpose == "bill_payment":
            return PAYABLES
        if part.purpose is not None:
            return "Assets:Transfers" if part.purpose == "transfer" else f"Equity:{component(part.purpose)}"
        return self._category(part.business_id, part.category)

    def _category(self, business_id: str | None, category: str) -> str:
        kind = categories.kind_of(category, self._types.get(business_id or "", "other"))
        root = "Income" if kind == "income" else "Expenses"
        if category == "taxDeducted":
            return _WITHHELD
        return f"{root}:{component(business_id or 'general')}:{component(category)}"

    def _invoice(self, rows: list[Row]) -> Transaction:
        """Receivables and what was withheld, against the lines; what rounding makes of the total is VAT's."""
        id_, date, number, kind, currency, _, _, gross, withheld, business_id, *_ = rows[0]
        sign = 1 if kind == "invoice" else -1
        postings = [Posting(RECEIVABLES, sign * (gross - withheld))]
        if withheld:
            postings.append(Posting(_WITHHELD, sign * withheld))
        type_ = self._types.get(business_id or "", "other")
        for row in rows:
            account = self._category(business_id, profit_and_loss.sales_category(row[10], type_))
            postings.append(Posting(account, -sign * row[11]))
        name = "Invoice" if kind == "invoice" else "Credit note"
        return balanced(Transaction(date, f"{name} {number}", currency, {"invoice": id_}, tuple(postings)), _VAT)

    def _bill(self, rows: list[Row]) -> Transaction:
        """Payables against the lines, and the VAT that is reclaimed of them."""
        id_, date, number, kind, currency, gross, business_id, treated_on, *_ = rows[0]
        sign = -1 if kind == "credit_note" else 1
        postings = [Posting(PAYABLES, -sign * gross)]
        for category, net, vat, is_capital in (row[8:] for row in rows):
            reclaimed = vat if self._is_apart(treated_on, is_capital) else 0
            is_expense = category != categories.NOT_PNL
            account = self._category(business_id, category) if is_expense else f"Equity:{component('other')}"
            postings.append(Posting(account, sign * (net + vat - reclaimed)))
            if reclaimed:
                postings.append(Posting(_VAT, sign * reclaimed))
        name = {"bill": "Bill", "expense_claim": "Expense claim", "credit_note": "Supplier's credit note"}[kind]
        return Transaction(date, f"{name} {number}".rstrip(), currency, {"bill": id_}, tuple(postings))
