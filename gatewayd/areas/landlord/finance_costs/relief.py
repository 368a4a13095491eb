"""Relief for residential finance costs, which persons don't deduct (Domain C2). Pure; minor units of GBP.

    relief = rate x the least of  finance costs of the year, and brought forward
                                  profits of property after losses brought forward
                                  adjusted total income above the personal allowance

rounded half up to the penny. What is not relieved is carried forward, and so are losses that are not used.
"""

from typing import NamedTuple

from gatewayd.ledger.rounding import half_up

FIRST_YEAR = "2020-21"
"""Before it a part of the costs was deducted still, by a quarter less each year from 2017-18 on (Domain C2)."""


class DatedRate(NamedTuple):
    """The percentage from a tax year on."""

    first: str
    percent: int


_RATES = (
    DatedRate(FIRST_YEAR, 20),  # the basic rate, GOV.UK: tax relief for residential landlords, how it's worked out
    DatedRate("2027-28", 22),  # the property basic rate, GOV.UK: policy paper of 26 November 2025
)


class Terms(NamedTuple):
    """What the relief follows from. A loss of the year is a `profits` below zero; `income` None: it is no limit."""

    costs: int
    costs_brought_forward: int
    profits: int
    losses_brought_forward: int
    income: int | None


class Relief(NamedTuple):
    """What comes of it: `used` is the amount at whose rate the relief is."""

    percent: int
    losses_used: int
    used: int
    relief: int
    costs_carried_forward: int
    losses_carried_forward: int


def rate_of(tax_year: str) -> int:
    """The percentage of a tax year, which is not before the first."""
    return next(rate.percent for rate in reversed(_RATES) if rate.first <= tax_year)


def of_year(tax_year: str, terms: Terms) -> Relief:
    """The relief of a tax year."""
    percent = rate_of(tax_year)
    gains, loss = max(0, terms.profits), max(0, -terms.profits)
    losses_used = min(gains, terms.losses_brought_forward)
    costs = terms.costs + terms.costs_brought_forward
    limits = [costs, gains - losses_used, *([] if terms.income is None else [terms.income])]
    used = max(0, min(limits))
    return Relief(
        percent=percent,
        losses_used=losses_used,
        used=used,
        relief=half_up(used * percent, 100),
        costs_carried_forward=costs - used,
        losses_carried_forward=terms.losses_brought_forward - losses_used + loss,
    )
