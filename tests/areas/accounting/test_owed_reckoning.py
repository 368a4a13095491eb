"""Random lives of a client's invoices against a reckoning of its own, in fractions (Domain B5, C1, C4).

What counts of an invoice by the end of a day is a share of it, and a range counts for what lies between two evenings.
Each figure is rounded once here, and once for each line there, so that invoices have one line.
"""

import datetime
from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import Any, Literal, NamedTuple

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gatewayd.errors import Problem
from gatewayd.ledger.dates.date_ranges import DateRange
from gatewayd.ledger.results import vat_figures
from tests.areas.accounting.books import RANDOM_BOOKS
from tests.areas.businesses.ledger_books import Json, LedgerBooks
from tests.areas.businesses.ledger_books import lines as lines_of
from tests.support.store import MemoryStore

FIRST, TODAY = datetime.date(2026, 1, 1), datetime.date(2026, 11, 20)
Act = Literal["pay", "pay_client", "credit_note", "apply", "refund", "write_off", "undo"]
ACTS: tuple[Act, ...] = ("pay", "pay_client", "credit_note", "apply", "refund", "write_off", "undo")


class Step(NamedTuple):
    """An act on the `which`-th invoice, of some percent of what it is about, so many days after the step before."""

    act: Act
    which: int
    percent: int
    days: int


STEPS = st.lists(
    st.builds(
        Step, st.sampled_from(ACTS), st.integers(0, 2), st.sampled_from([10, 33, 50, 100, 130]), st.integers(0, 40)
    ),
    min_size=1,
    max_size=12,
)
NETS = st.lists(st.integers(100, 90_000), min_size=3, max_size=3)


@dataclass
class Sold:
    """An invoice with one line: pence, and ISO dates with amounts."""

    net: int
    gross: int
    paid: list[tuple[str, str, int]] = field(default_factory=list)
    """The id of the client payment or '', the day, and how much; below 0 what went back."""
    credited: list[tuple[str, int, int]] = field(default_factory=list)
    """The day, net and gross."""
    lost: tuple[str, str, int] | None = None
    """The day, that of the relief, and how much."""

    def left(self, day: str) -> tuple[int, int, int]:
        """Net and gross after credit notes, and what was paid, by the end of a day."""
        notes = [(net, gross) for date, net, gross in self.credited if date <= day]
        net, gross = self.net - sum(net for net, _ in notes), self.gross - sum(gross for _, gross in notes)
        return net, gross, sum(amount for _, date, amount in self.paid if date <= day)

    def balance(self) -> int:
        _, gross, paid = self.left("9999")
        return gross - paid - min(0 if self.lost is None else self.lost[2], max(0, gross - paid))

    def counted(self, day: str) -> int:
        """The net of what is paid by the end of a day."""
        net, gross, paid = self.left(day)
        return _half_up(net * _share(paid, gross))

    def gone(self, day: str, since: int) -> tuple[int, int]:
        """Net and gross of what is lost by the end of a day; `since` 0: from the write-off, 1: from the relief on."""
        if self.lost is None or self.lost[since] > day:
            return 0, 0
        net, gross, paid = self.left(day)
        all_, settled = _share(max(0, min(paid, gross)) + self.lost[2], gross), _share(paid, gross)
        return (_half_up(net * all_) - _half_up(net * settled), _half_up(gross * all_) - _half_up(gross * settled))


class Reckoning:
    """Books, and what was done to them."""

    def __init__(self, store: MemoryStore, nets: list[int]) -> None:
        self.books = LedgerBooks(store)
        self.owner = self.books.entity(vat={"status": "registered", "effectiveDate": "2000-01-01"})
        self.trade = self.books.trade(self.owner, accountingBasis="accruals")
        self.client = self.books.client()
        self.day = FIRST
        self.on_account: list[tuple[str, int]] = []
        self.moved: list[str] = []
        self.sold: dict[str, Sold] = {}
        for net in nets:
            made = self.books.invoice(
                clientId=self.client,
                legalEntityId=self.owner,
                businessId=self.trade,
                issueDate="2026-01-01",
                dueDate="2026-01-15",
                lines=[{"description": "Work", "unitPrice": _text(net)}],
            )
            self.sold[made["id"]] = Sold(_minor(made["netTotal"]), _minor(made["grossTotal"]))

    def take(self, step: Step) -> None:
        """Do it, and write it down; what is refused did not happen."""
        self.day = min(self.day + datetime.timedelta(days=step.days), TODAY)
        invoice_id = list(self.sold)[step.which]
        act: Callable[[str, Step], None] = getattr(self, f"_{step.act}")
        try:
            act(invoice_id, step)
        except Problem:
            return

    def _post(self, operation: str, /, **body: object) -> Json:
        return self.books.post(operation, date=self.day.isoformat(), **body)

    def _pay(self, invoice_id: str, step: Step) -> None:
        amount = max(1, self.sold[invoice_id].gross * step.percent // 100)
        self._post("recordPayment", invoiceId=invoice_id, amount=_text(amount))
        self.sold[invoice_id].paid.append(("", self.day.isoformat(), amount))

    def _pay_client(self, invoice_id: str, step: Step) -> None:
        amount = max(1, sum(sold.gross for sold in self.sold.values()) * step.percent // 200)
        made = self._post("recordClientPayment", clientId=self.client, amount=_text(amount))
        assert self._moved(made) + _minor(made["onAccount"]) == amount

    def _apply(self, invoice_id: str, step: Step) -> None:
        made = self._post("applyCredit", clientId=self.client)
        assert self._moved(made) + _minor(made["onAccount"]) == 0

    def _refund(self, invoice_id: str, step: Step) -> None:
        amount = max(1, self.credit() * min(step.percent, 100) // 100)
        made = self._post("refundClient", clientId=self.client, amount=_text(amount))
        assert self._moved(made) + _minor(made["onAccount"]) == -amount

    def _moved(self, made: Json) -> int:
        """Write down what a client payment did; answers what its parts come to."""
        self.moved.append(made["id"])
        self.on_account.append((made["id"], _minor(made["onAccount"])))
        for part in made["invoices"]:
            entry = (made["id"], self.day.isoformat(), _minor(part["amount"]))
            self.sold[part["invoiceId"]].paid.append(entry)
        return sum(_minor(part["amount"]) for part in made["invoices"])

    def _undo(self, invoice_id: str, step: Step) -> None:
        if not self.moved:
            return
        id_ = self.moved[step.which % len(self.moved)]
        self.books.post("removeClientPayment", clientPaymentId=id_)
        self.moved.remove(id_)
        self.on_account = [entry for entry in self.on_account if entry[0] != id_]
        for sold in self.sold.values():
            sold.paid = [entry for entry in sold.paid if entry[0] != id_]

    def _credit_note(self, invoice_id: str, step: Step) -> None:
        price = max(1, self.sold[invoice_id].net * step.percent // 100)
        line = {"description": "Back", "unitPrice": _text(price)}
        note = self.books.credit(invoice_id, issueDate=self.day.isoformat(), lines=[line])
        entry = (self.day.isoformat(), _minor(note["netTotal"]), _minor(note["grossTotal"]))
        self.sold[invoice_id].credited.append(entry)

    def _write_off(self, invoice_id: str, step: Step) -> None:
        off = self._post("writeOffInvoice", invoiceId=invoice_id, reason="Gone")["writeOff"]
        self.sold[invoice_id].lost = (off["date"], off["vatReliefDate"], _minor(off["amount"]))
        assert off["vatReliefDate"] == max(off["date"], "2026-07-15")

    def credit(self) -> int:
        over = sum(-min(0, sold.balance()) for sold in self.sold.values())
        return over + sum(amount for _, amount in self.on_account)

    # -- what they come to

    def check_balances(self) -> None:
        for invoice_id, sold in self.sold.items():
            shown = self.books.one("getInvoice", f"invoiceId={invoice_id}")
            assert _minor(shown["balanceDue"]) == sold.balance()
        balances = self.books.one("getClient", f"clientId={self.client}")["balances"]
        due = sum(max(0, sold.balance()) for sold in self.sold.values())
        assert (_minor(balances["outstanding"]), _minor(balances["credit"])) == (due, self.credit())

    def check_accounts(self, first: str, last: str) -> None:
        eve = (datetime.date.fromisoformat(first) - datetime.timedelta(days=1)).isoformat()
        each = self.sold.values()
        paid = sum(sold.counted(last) - sold.counted(eve) for sold in each)
        assert self._line(first, last, "cash", "turnover") == paid
        assert self._line(first, last, "cash", "irrecoverableDebts") == 0
        lost = sum(sold.gone(last, 0)[0] - sold.gone(eve, 0)[0] for sold in each)
        assert self._line(first, last, "accruals", "irrecoverableDebts") == lost

    def _line(self, first: str, last: str, basis: str, name: str) -> int:
        return _minor(lines_of(self.books.pnl(self.trade, first, last, basis=basis)).get(name, "0.00"))

    def check_vat(self) -> None:
        """Day by day, so that what is claimed and what is repaid are told apart."""
        days = {date for sold in self.sold.values() for _, date, _ in sold.paid}
        days |= {sold.lost[1] for sold in self.sold.values() if sold.lost is not None}
        for day in sorted(days):
            found = self.books.store.read(self._figures(day), self.books.org_id)
            eve = (datetime.date.fromisoformat(day) - datetime.timedelta(days=1)).isoformat()
            grown = sum(_vat(sold.gone(day, 1)) - _vat(sold.gone(eve, 1)) for sold in self.sold.values())
            output = sum(
                gross - net for sold in self.sold.values() for date, net, gross in sold.credited if date == day
            )
            sales = sum(sold.gross - sold.net for sold in self.sold.values()) if day == "2026-01-01" else 0
            assert found.input_vat - found.output_vat == grown + output - sales

    def _figures(self, day: str) -> Callable[[Any], Any]:
        return lambda tx: vat_figures.of_period(tx, self.owner, DateRange(day, day))


@settings(max_examples=RANDOM_BOOKS, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(nets=NETS, steps=STEPS, cut=st.dates(FIRST, TODAY))
def test_balances_accounts_and_vat_are_as_reckoned(
    store: MemoryStore, nets: list[int], steps: list[Step], cut: datetime.date
) -> None:
    reckoning = Reckoning(store, nets)
    for step in steps:
        reckoning.take(step)
        reckoning.check_balances()
    reckoning.check_accounts("2026-01-01", cut.isoformat())
    reckoning.check_accounts(cut.isoformat(), "2026-12-31")
    reckoning.check_vat()


def _vat(amounts: tuple[int, int]) -> int:
    net, gross = amounts
    return gross - net


def _share(part: int, whole: int) -> Fraction:
    return min(Fraction(1), max(Fraction(0), Fraction(part, whole))) if whole > 0 else Fraction(0)


def _half_up(amount: Fraction) -> int:
    return int(amount + Fraction(1, 2))


def _minor(text: str) -> int:
    return int(Decimal(text) * 100)


def _text(minor: int) -> str:
    return f"{Decimal(minor) / 100:.2f}"
