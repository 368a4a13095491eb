"""Relief for residential finance costs, which persons don't deduct (Domain C2). Pure; minor units of GBP.

    relieved = the lesser of  finance costs of the year, and brought forward
                              profits of property after losses brought forward
    relief   = rate x the lesser of  relieved, added up over property businesses
                                     adjusted total income above the personal allowance

rounded half up to the penny. What is not relieved is carried forward, and so are losses that are not used. Property in
the United Kingdom is one business and property abroad another, and neither's costs, losses or profits are the other's
(ITTOIA 2005 s274AA).
"""

from collections.abc import Sequence
from typing import NamedTuple

from gatewayd.money import half_up

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
    """What the relief follows from, of one property business. A loss of the year is a `profits` below zero."""

    costs: int
    costs_brought_forward: int
    profits: int
    losses_brought_forward: int

    @property
    def losses_used(self) -> int:
        """What of the losses the profits of the year take."""
        return min(max(0, self.profits), self.losses_brought_forward)

    @property
    def relieved(self) -> int:
        """What its own costs and profits leave room for."""
        return max(0, min(self.costs + self.costs_brought_forward, self.profits - self.losses_used))


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


def of_year(tax_year: str, each: Sequence[Terms], income: int | None) -> Relief:
    """The relief of a tax year, of all property businesses; `income` None: it is no limit."""
    percent = rate_of(tax_year)
    relieved = sum(terms.relieved for terms in each)
    used = relieved if income is None else max(0, min(relieved, income))
    losses_used = sum(terms.losses_used for terms in each)
    return Relief(
        percent=percent,
        losses_used=losses_used,
        used=used,
        relief=half_up(used * percent, 100),
        costs_carried_forward=sum(terms.costs + terms.costs_brought_forward for terms in each) - used,
        losses_carried_forward=sum(terms.losses_brought_forward + max(0, -terms.profits) for terms in each)
        - losses_used,
    )
