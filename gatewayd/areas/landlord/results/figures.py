"""The figures of a property's account (Domain C2). Pure; minor units.

    netOperatingIncome = grossIncome - operatingExpenses
    cashFlow           = netOperatingIncome - financeCosts - capitalRepaid - what replaced domestic items
    taxableProfit      = netOperatingIncome - finance costs that are deducted + disallowable

An owner's share is taken of every line, and the figures are made of the shares: they add up as those of the whole do.
"""

from collections.abc import Iterable
from decimal import Decimal
from typing import NamedTuple

from gatewayd.ledger.allocating.categories import FINANCE_COSTS, REPLACED_ITEMS, RESTRICTED
from gatewayd.ledger.results import profit_and_loss
from gatewayd.ledger.results.profit_and_loss import Statement
from gatewayd.money import half_up

_DEDUCTED = FINANCE_COSTS - {RESTRICTED}


class Part(NamedTuple):
    """What counts of a property, or of several, in some days; `capital` is what was repaid of loans."""

    statement: Statement
    capital: int


class Figures(NamedTuple):
    """The sums of an account, by the formulas above. `finance_costs` are those that are deducted, and those that are
    relieved, which `residential_financial_cost` is."""

    gross_income: int
    operating_expenses: int
    net_operating_income: int
    finance_costs: int
    capital_repaid: int
    cash_flow: int
    disallowable: int
    taxable_profit: int
    residential_financial_cost: int


def of_part(part: Part) -> Figures:
    """The figures of an account."""
    totals = part.statement.totals
    deducted = sum(line.amount for line in part.statement.expenses if line.category in _DEDUCTED)
    relieved = sum(line.amount for line in part.statement.memoranda if line.category == RESTRICTED)
    operating = totals.expenses - deducted
    net = totals.income - operating
    return Figures(
        gross_income=totals.income,
        operating_expenses=operating,
        net_operating_income=net,
        finance_costs=deducted + relieved,
        capital_repaid=part.capital,
        cash_flow=net - deducted - relieved - part.capital - replaced_items(part),
        disallowable=totals.disallowable,
        taxable_profit=totals.taxable_profit,
        residential_financial_cost=relieved,
    )


def replaced_items(part: Part) -> int:
    """What replaced domestic items, which is in no total of the account."""
    return sum(line.amount for line in part.statement.memoranda if line.category == REPLACED_ITEMS)


def share_of(part: Part, percent: str) -> Part:
    """What an owner has of it. `percent` is a decimal."""
    numerator, denominator = (Decimal(percent) / 100).as_integer_ratio()
    shared = profit_and_loss.share(part.statement, numerator, denominator)
    return Part(shared, half_up(part.capital * numerator, denominator))


def together(parts: Iterable[Part]) -> Part:
    """Several of them as one."""
    each = list(parts)
    return Part(profit_and_loss.combined(part.statement for part in each), sum(part.capital for part in each))


def less(after: Part, before: Part) -> Part:
    """What one has more than the other."""
    return Part(profit_and_loss.less(after.statement, before.statement), after.capital - before.capital)
