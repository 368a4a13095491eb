"""An invoice on cash basis: what each payment is of its lines (Domain C1). Pure; minor units of one currency.

Payments and credit notes are walked by date. After each, what counts of a line so far is

    what is left of the line after credit notes x min(paid, payable) / payable

rounded half up, and the event counts for what that has grown by. So the parts add up to the invoice exactly once it is
paid, however it is paid and wherever a range is split. Payable is gross less what the contractor withholds: the share
is one of the whole line, and what was withheld is told beside it.

Chosen: what a client paid too much is owed to them and no income. A credit note that leaves them with more paid than
is payable takes the income back on its own date; their refund then counts nowhere.
"""

from collections.abc import Hashable, Iterator, Sequence
from typing import Generic, NamedTuple, TypeVar

from gatewayd.money import half_up

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


_NOTHING = Figures(0, 0, 0)


def walk(invoice: PaidInvoice[L]) -> Iterator[Share[L] | Withheld[L]]:
    """What each payment and credit note counts for, oldest first; parts that are nothing are left out."""
    left, payable, held, paid = dict(invoice.lines), invoice.payable, invoice.withheld, 0
    counted: dict[L, Figures] = {}
    counted_held = 0
    events: list[Credit[L] | Payment] = [*invoice.credits, *invoice.payments]
    for event in sorted(events, key=_order):
        if isinstance(event, Credit):
            payable, held = payable - event.payable, held - event.withheld
            for line, figures in event.lines.items():
                left[line] = left.get(line, _NOTHING).plus(figures, -1)
        else:
            paid += event.amount
        numerator, denominator = (min(paid, payable), payable) if payable > 0 else (0, 1)
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
    for event in sorted(events, key=_order):
        if isinstance(event, Credit):
            payable -= event.payable
        else:
            before, paid = paid, paid + event.amount
            yield event, min(before, max(payable, 0)), min(paid, max(payable, 0))


def _order(event: Credit[L] | Payment) -> tuple[str, int, str]:
    if isinstance(event, Credit):
        return event.date, 0, event.id
    return event.date, event.position, ""
