"""A client's account between two days, or what is open of it, made of what changed it. Pure."""

from collections.abc import Iterator, Sequence
from itertools import accumulate

from gatewayd.areas.accounting.receivables import ageing
from gatewayd.areas.accounting.receivables.movements import ON_ACCOUNT, Movement, whole
from gatewayd.areas.accounting.receivables.placing import aged_amounts
from gatewayd.areas.accounting.receivables.shapes import AgedAmounts, StatementLine, StatementOfCurrency
from gatewayd.contract.wire import project
from gatewayd.money import Money


def of_days(movements: Sequence[Movement], first: str, firsts: Sequence[str]) -> list[StatementOfCurrency]:
    """The account in each currency from an ISO date on; `firsts` are those of its bands on the last day.

    Left out is a currency in which nothing was owed and nothing happened.
    """
    accounts = []
    for currency, its in _by_currency(movements):
        opening = sum(each.change for each in its if each.day < first)
        within = whole([each for each in its if each.day >= first])
        if opening or within:
            lines = _lines(within, [abs(each.change) for each in within], opening)
            accounts.append(_account(currency, opening, lines, _aged(its, firsts, currency)))
    return accounts


def of_open(movements: Sequence[Movement], firsts: Sequence[str]) -> list[StatementOfCurrency]:
    """The invoices of each currency that are open, or paid beyond what they came to, and what is on account.

    Chosen: money that came for an invoice of a later day stands beside that invoice's number, as credit of the day.
    """
    accounts = []
    for currency, its in _by_currency(movements):
        left = _left(its)
        shown = [(_stands_for(its, settles), change) for settles, change in left.items() if change]
        if shown:
            shown.sort(key=lambda each: (each[0].day, each[0].number or ""))
            totals = [abs(movement.change) for movement, _ in shown]
            lines = _lines([movement._replace(change=change) for movement, change in shown], totals, 0)
            accounts.append(_account(currency, 0, lines, _aged(its, firsts, currency)))
    return accounts


def _stands_for(movements: Sequence[Movement], settles: str) -> Movement:
    """The movement by whose day and number a balance is shown: the invoice, else what came last."""
    its = [each for each in movements if each.settles == settles and each.change]
    last = its[-1]
    if settles == ON_ACCOUNT:  # the sum of several: what came last says when, and not how much
        return last._replace(kind="payment", change=sum(each.change for each in its))
    return next((each for each in its if each.kind == "invoice"), last)


def _by_currency(movements: Sequence[Movement]) -> Iterator[tuple[str, list[Movement]]]:
    for currency in sorted({each.currency for each in movements}):
        yield currency, [each for each in movements if each.currency == currency]


def _lines(movements: Sequence[Movement], totals: Sequence[int], opening: int) -> list[StatementLine]:
    balances = list(accumulate((each.change for each in movements), initial=opening))[1:]
    return [
        StatementLine(
            date=each.day,
            kind=each.kind,
            invoice_id=each.invoice_id,
            number=each.number,
            client_payment_id=each.client_payment_id,
            reference=each.reference,
            due_date=each.due_date,
            total=Money(total, each.currency),
            amount=Money(each.change, each.currency),
            balance=Money(balance, each.currency),
        )
        for each, total, balance in zip(movements, totals, balances, strict=True)
    ]


def _left(movements: Sequence[Movement]) -> dict[str, int]:
    """What is left of each invoice, and what is on account below 0; negative: more came than it came to."""
    left: dict[str, int] = {}
    for each in movements:
        left[each.settles] = left.get(each.settles, 0) + each.change
    return left


def _aged(movements: Sequence[Movement], firsts: Sequence[str], currency: str) -> AgedAmounts:
    due = {each.settles: each.due_date for each in movements if each.due_date is not None}
    amounts, credit = [0] * (len(firsts) + 1), 0
    for settles, change in _left(movements).items():
        due_date = due.get(settles)
        if change < 0:
            credit -= change
        elif change:
            assert due_date is not None, "what is owed is of an invoice"
            amounts[ageing.place(due_date, firsts)] += change
    return aged_amounts(currency, amounts, credit)


def _account(currency: str, opening: int, lines: list[StatementLine], aged: AgedAmounts) -> StatementOfCurrency:
    return project(aged, StatementOfCurrency, opening_balance=Money(opening, currency), lines=lines)
