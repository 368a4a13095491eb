"""How a report counts, and from results in minor units to what is served."""

from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from functools import partial
from typing import Any, NamedTuple

from gatewayd.areas.businesses.profit_and_loss.shapes import (
    CurrencyUnallocated,
    OwnerShare,
    PnlStatement,
    PnlTotals,
    UnallocatedLines,
)
from gatewayd.areas.businesses.shapes import BusinessRow
from gatewayd.ledger.allocating.bank_lines import UnallocatedMoney
from gatewayd.ledger.allocating.categories import PROPERTY_TYPES
from gatewayd.ledger.dates.date_ranges import DateRange
from gatewayd.ledger.results import profit_and_loss, reports
from gatewayd.ledger.results.allocated_money import Account, Basis
from gatewayd.ledger.results.owner_shares import OwnerShares
from gatewayd.ledger.results.profit_and_loss import Statement, Totals
from gatewayd.ledger.results.results import Result
from gatewayd.ledger.vat import vat_standing
from gatewayd.money import Money, canonical
from gatewayd.store import ReadTx


class Joint(NamedTuple):
    """What counts of a property that has an owner's share of its own."""

    shares: OwnerShares
    result: Result


class Form(NamedTuple):
    """How a result is shown: with one figure for all expenses, and with an owner's shares of it."""

    consolidated: bool
    shares: OwnerShares
    joint: Sequence[Joint] = ()


def statement_of(result: Result, form: Form, part: DateRange | None = None) -> Statement:
    """The account of a result, or of a bucket of it."""
    account = result.statement(part)
    return profit_and_loss.consolidated(account) if form.consolidated else account


def share_of(result: Result, form: Form) -> Statement | None:
    """The owner's share of the whole, of each property by its own owners; None for what is no property."""
    if result.account.business_type not in PROPERTY_TYPES:
        return None

    def rest(span: DateRange) -> Statement:
        account = statement_of(result, form, span)
        if not form.joint:
            return account
        joint = profit_and_loss.combined(statement_of(part.result, form, span) for part in form.joint)
        return profit_and_loss.less(account, joint)

    each = [_own(form.shares, result.date_range, rest)]
    each += [_own(part.shares, result.date_range, partial(statement_of, part.result, form)) for part in form.joint]
    return profit_and_loss.combined(each)


def _own(shares: OwnerShares, days: DateRange, full: Callable[[DateRange], Statement]) -> Statement:
    """What the owner has of an account, by the share of each day."""

    def share(span: DateRange) -> Statement:
        return profit_and_loss.share(full(span), *(Decimal(shares.on(span.last)) / 100).as_integer_ratio())

    return profit_and_loss.combined(share(span) for span in shares.spans(days))


def members(statement: Statement, currency: str) -> dict[str, Any]:
    """Lines and totals of an account, by the names that responses have for them."""
    return {
        "income": reports.lines(statement.income, currency),
        "expenses": reports.expenses(statement.expenses, currency),
        "memoranda": reports.lines(statement.memoranda, currency),
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
    share = share_of(result, form)
    if share is None:
        return None
    shares = (form.shares, *(part.shares for part in form.joint))
    percents = {canonical(each.on(result.date_range.last)) for each in shares}
    percent = percents.pop() if len(percents) == 1 else None
    return OwnerShare(percent=percent, **members(share, result.account.currency))


def unallocated(sums: Iterable[UnallocatedMoney], currency: str) -> UnallocatedLines:
    """What is left to allocate, the business's own currency first."""
    by_currency = {money.currency: money for money in sums}
    own = by_currency.pop(currency, UnallocatedMoney(currency, 0, 0))
    others = [
        CurrencyUnallocated(currency=money.currency, count=money.lines, amount=Money(money.amount, money.currency))
        for money in by_currency.values()
    ]
    return UnallocatedLines(count=own.lines, amount=Money(own.amount, currency), other_currencies=others)


def account_of(tx: ReadTx, row: BusinessRow, basis: Basis | None) -> Account:
    """The business's account on a basis; None: on its own."""
    standing = vat_standing.of_entity(tx, row.legal_entity_id)
    return Account(row.id, row.type, row.currency, basis or row.accounting_basis, standing)
