"""What is owed on a loan, and how much of a payment is interest (Domain B4, C2). Pure.

Money is in minor units, days are ISO dates, rates are percent a year. A loan is paid monthly, on the day of the month
on which it began, for the first time a month later. A month's interest is balance x rate / 12, half up, at the balance
and the rate of the day on which the month begins; what is paid beyond it is capital.

Chosen: what a lender said is owed on a day goes before what was computed, and the months after it go on from there. In
those before the first such balance the loan began with what leads to it, and no more than was lent.
"""

import datetime
import functools
from collections.abc import Iterator
from decimal import Decimal
from typing import Literal, NamedTuple

from gatewayd.clock import days_after, months_later

MortgageType = Literal["repayment", "interest_only", "part_and_part"]


class Rate(NamedTuple):
    """A rate, from a day on."""

    from_date: str
    percent: str


class Balance(NamedTuple):
    """What was owed at the end of a day, by the lender's word."""

    date: str
    amount: int


class Loan(NamedTuple):
    """What a loan comes to follows from this. `rates` and `balances` are the oldest first; no rate is of a later day
    than the first month begins.

    None: the term or the payment is not known; it is not redeemed. A repayment loan with neither term nor payment, and
    one that is part and part without payment, are computed as if nothing were repaid.
    """

    type: MortgageType
    original: int
    start: str
    term_months: int | None
    payment: int | None
    rates: tuple[Rate, ...]
    balances: tuple[Balance, ...]
    redeemed: str | None


class Instalment(NamedTuple):
    """A month's payment, on the day it is due: the sum of its parts."""

    due: str
    interest: int
    capital: int


class Split(NamedTuple):
    """The parts of a payment, which add up to it."""

    interest: int
    capital: int


def estimate_on(loan: Loan, day: str) -> int:
    """What is owed at the end of a day, as far as it can be computed: nothing before the start, or once redeemed."""
    raise NotImplementedError


def balance_on(loan: Loan, day: str) -> int:
    """What was last said to be owed, up to a day; without such a word, the estimate (Domain C3)."""
    raise NotImplementedError


def instalments(loan: Loan, from_date: str, to_date: str) -> Iterator[Instalment]:
    """What falls due from one day to another, both inclusive, the earliest first."""
    raise NotImplementedError


def interest_of_payment(loan: Loan, day: str, payment: int, paid_before: int = 0) -> Split:
    """The parts of what was paid on a day: a month's interest on what was owed the day before, then capital.

    `paid_before` is what else was paid for the same month, which has borne interest first. Before the loan begins, and
    once it is redeemed, there is no interest.
    """
    raise NotImplementedError
