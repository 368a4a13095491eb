"""From results in minor units to what is served."""

from collections.abc import Iterable
from decimal import Decimal
from typing import Any, NamedTuple

from gatewayd.areas.businesses.profit_and_loss.shapes import (
    CurrencyUnallocated,
    OwnerShare,
    PnlStatement,
    PnlTotals,
    UnallocatedLines,
)
from gatewayd.ledger import profit_and_loss, report_rendering
from gatewayd.ledger.categories import PROPERTY_TYPES
from gatewayd.ledger.date_ranges import DateRange
from gatewayd.ledger.owner_shares import OwnerShares
from gatewayd.ledger.profit_and_loss import Statement, Totals
from gatewayd.ledger.results import Result
from gatewayd.ledger.unallocated import UnallocatedMoney
from gatewayd.money import Money, canonical


class Form(NamedTuple):
    """How a result is shown: with one figure for all expenses, and with an owner's shares of it."""

    consolidated: bool
    shares: OwnerShares


def statement_of(result: Result, form: Form, part: DateRange | None = None) -> Statement:
    """The account of a result, or of a bucket of it."""
    found = result.statement(part)
    return profit_and_loss.consolidated(found) if form.consolidated else found


def share_of(result: Result, form: Form) -> Statement | None:
    """The owner's share of the whole; None for what is no property."""
    if result.account.business_type not in PROPERTY_TYPES:
        return None
    return profit_and_loss.combined(
        profit_and_loss.share(statement_of(result, form, span), *_ratio(form.shares.on(span.last)))
        for span in form.shares.spans(result.whole)
    )


def _ratio(percent: str) -> tuple[int, int]:
    return (Decimal(percent) / 100).as_integer_ratio()


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


def owner_share(result: Result, form: Form) -> OwnerShare | None:
    """The owner's share as it is served, with the percentage of the last day."""
    found = share_of(result, form)
    if found is None:
        return None
    return OwnerShare(percent=canonical(form.shares.on(result.whole.last)), **members(found, result.account.currency))


def unallocated(found: Iterable[UnallocatedMoney], currency: str) -> UnallocatedLines:
    """What is left to allocate, the business's own currency first."""
    by_currency = {one.currency: one for one in found}
    own = by_currency.pop(currency, UnallocatedMoney(currency, 0, 0))
    others = [
        CurrencyUnallocated(currency=one.currency, count=one.lines, amount=Money(one.amount, one.currency))
        for one in by_currency.values()
    ]
    return UnallocatedLines(count=own.lines, amount=Money(own.amount, currency), other_currencies=others)
