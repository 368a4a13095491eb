"""From results in minor units to what is served."""

from collections.abc import Iterable
from typing import Any, NamedTuple

from gatewayd.areas.businesses.profit_and_loss.shapes import (
    CurrencyUnallocated,
    PnlStatement,
    PnlTotals,
    UnallocatedLines,
)
from gatewayd.ledger import profit_and_loss, report_rendering
from gatewayd.ledger.date_ranges import DateRange
from gatewayd.ledger.profit_and_loss import Statement, Totals
from gatewayd.ledger.results import Result
from gatewayd.ledger.unallocated import UnallocatedMoney
from gatewayd.money import Money


class Form(NamedTuple):
    """How a result is shown: with one figure for all expenses, and with an owner's share of it."""

    consolidated: bool
    share_percent: str


def statement_of(result: Result, form: Form, part: DateRange | None = None) -> Statement:
    """The account of a result, or of a bucket of it."""
    found = result.statement(part)
    return profit_and_loss.consolidated(found) if form.consolidated else found


def members(statement: Statement, currency: str) -> dict[str, Any]:
    """Lines and totals of an account, by the names that responses have for them."""
    return {
        "income": report_rendering.lines(statement.income, currency),
        "expenses": report_rendering.expenses(statement.expenses, currency),
        "memoranda": report_rendering.lines(statement.memoranda, currency),
        "totals": totals(statement.totals, currency),
    }


def totals(sums: Totals, currency: str) -> PnlTotals:
    """The totals as they are served."""
    return PnlTotals(**{name: Money(amount, currency) for name, amount in sums._asdict().items()})


def statement(result: Result, form: Form, part: DateRange) -> PnlStatement:
    """The account of some days of a result."""
    shown = members(statement_of(result, form, part), result.account.currency)
    return PnlStatement(from_date=part.first, to_date=part.last, **shown)


def unallocated(found: Iterable[UnallocatedMoney], currency: str) -> UnallocatedLines:
    """What is left to allocate, the business's own currency first."""
    by_currency = {one.currency: one for one in found}
    own = by_currency.pop(currency, UnallocatedMoney(currency, 0, 0))
    others = [
        CurrencyUnallocated(currency=one.currency, count=one.lines, amount=Money(one.amount, one.currency))
        for one in by_currency.values()
    ]
    return UnallocatedLines(count=own.lines, amount=Money(own.amount, currency), other_currencies=others)
