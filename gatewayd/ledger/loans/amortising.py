"""What is owed on a loan, and how much of a payment is interest (Domain B4, C2). Pure.

Money is in minor units, days are ISO dates, rates are percent a year. A loan is paid monthly, on the day of the month
on which it began, for the first time a month later. A month's interest is balance x rate / 12, half up, at the balance
and the rate of the day on which the month begins; what is paid beyond it is capital.

Chosen: what a lender said is owed on a day goes before what was computed, and the months after it go on from there.
The months before the first such balance are those that lead to it, from no more than was lent; but where a period had
been closed when it was told, they stay those that follow from what was lent, as that period showed them.

A payment meets instalments, and so some of it is interest. It takes the oldest instalment that is not met, its interest
and then its capital, and then the next one; what falls due next only where nothing else is left to meet.

Chosen: what is met follows from the interest that was entered. Before the first of it payments were made that nobody
entered, so that it is of the last instalment due by its day, or of the first few where it is as much as they are. What
fell due more than a year before a payment is not looked for any more. An instalment of which the lender told at least
half of the interest is met once the next one has fallen due.
"""

import datetime
import functools
import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Final, Literal, NamedTuple

from gatewayd.clock import days_after, months_later
from gatewayd.money import half_up

MortgageType = Literal["repayment", "interest_only", "part_and_part"]

MONTHS_KEPT: Final = 600  # Chosen: longer than mortgages last; what is owed after so many is computed where it is asked
_EARLY: Final = 15  # Chosen: days that a payment comes before its instalment, though one came since the last
_YEAR: Final = 366  # days
_FIRST_FEW: Final = 3  # Chosen: of a new loan, so many instalments may wait for the first payment
_NO_LATER: Final = "9999-09-01"  # of what falls due after it there is no date


class Rate(NamedTuple):
    """A rate, from a day on."""

    from_date: str
    percent: str


class Balance(NamedTuple):
    """What was owed at the end of a day, by the lender's word.

    `reaches_back`: the months before it, where nothing is known, are those that lead to it.
    """

    date: str
    amount: int
    reaches_back: bool = True


class Loan(NamedTuple):
    """What a loan comes to follows from this. `rates` and `balances` are the oldest first; the first rate is that of
    the start, and no balance is of a day before it.

    None: the term or the payment is not known; it is not redeemed. Chosen: a repayment loan with neither, and one that
    is part and part without a payment, are computed as if nothing were repaid. So is one whose term is over: a loan
    ends when somebody says so.
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


class _Leg(NamedTuple):
    """Months of one rate. `first` months go before it, and `balance` is owed when it begins.

    `numerator` / `denominator` is the interest of a month and of a penny; `payment` None: nothing is repaid. `clears`
    is the month that pays all that is left, None: none does.
    """

    first: int
    months: int
    balance: int
    numerator: int
    denominator: int
    payment: int | None
    clears: int | None

    def interest(self, balance: int) -> int:
        """A month's interest."""
        return half_up(balance * self.numerator, self.denominator)

    def capital(self, month: int, balance: int, interest: int) -> int:
        """What the month of this number repays: never less than nothing, and never more than is owed."""
        if self.payment is None:
            return 0
        return balance if month == self.clears else min(balance, max(0, self.payment - interest))

    def owed_after(self, months: int) -> int:
        """What is owed after so many of its months."""
        balance, payment, numerator, denominator = self.balance, self.payment, self.numerator, self.denominator
        if payment is None:
            return balance
        if self.clears is not None and self.first + months >= self.clears:
            return 0
        for _ in range(months):  # the one loop that is long: of each month, as `interest` and `capital` have it
            capital = payment - (2 * balance * numerator + denominator) // (2 * denominator)
            if capital >= balance:
                return 0
            if capital <= 0:
                return balance
            balance -= capital
        return balance


def estimate_on(loan: Loan, day: str) -> int:
    """What is owed at the end of a day, as far as it can be computed: nothing before the start, or once redeemed."""
    if day < loan.start or _is_redeemed(loan, day):
        return 0
    balance = _known(loan, day)
    if balance is not None and months_until(loan.start, balance.date) == months_until(loan.start, day):
        return balance.amount
    return _owed_after(loan, months_until(loan.start, day))


def balance_on(loan: Loan, day: str) -> int:
    """What was last said to be owed, up to a day; without such a word, the estimate (Domain C3)."""
    if day < loan.start or _is_redeemed(loan, day):
        return 0
    balance = _known(loan, day)
    return estimate_on(loan, day) if balance is None else balance.amount


def owed_by_month(loan: Loan) -> list[int]:
    """What is computed to be owed when 0, 1 and more months have ended, fewer than `MONTHS_KEPT`; the last goes on.

    Each by what was said before its month ended, as `estimate_on` has it where nobody has said what is owed since.
    """
    owed = [_opening(loan)]
    for leg in _legs(loan, MONTHS_KEPT - 1, 0):
        balance = leg.balance
        for month in range(leg.first + 1, leg.first + leg.months + 1):
            balance -= leg.capital(month, balance, leg.interest(balance))
            owed.append(balance)
    while len(owed) > 1 and owed[-1] == owed[-2]:
        owed.pop()
    return owed


def instalments(loan: Loan, from_date: str, to_date: str) -> Iterator[Instalment]:
    """What falls due from one day to another, both inclusive, the earliest first, for as long as anything is owed.

    On the day of its redemption a loan is still paid.
    """
    until = to_date if loan.redeemed is None else min(to_date, loan.redeemed)
    if until < loan.start:
        return
    from_month = 1 + months_until(loan.start, days_after(from_date, -1)) if from_date > loan.start else 1
    for leg in _legs(loan, months_until(loan.start, until), from_month - 1):
        skipped = min(max(0, from_month - leg.first - 1), leg.months)
        balance = leg.owed_after(skipped)
        for month in range(leg.first + skipped + 1, leg.first + leg.months + 1):
            if balance == 0:
                break
            interest = leg.interest(balance)
            capital = leg.capital(month, balance, interest)
            balance -= capital
            yield Instalment(due_day(loan, month), interest, capital)


def rates_of(steps: Iterable[tuple[str, str]], ends: str | None, reversion: str | None) -> tuple[Rate, ...]:
    """The rates of a loan: its steps, and after a rate that ends its reversion, where both are known."""
    percents = dict(steps)
    if ends is not None and reversion is not None:
        percents.setdefault(days_after(ends, 1), reversion)
    return tuple(Rate(*rate) for rate in sorted(percents.items()))


def rate_on(loan: Loan, day: str) -> str:
    """The rate of a day; before the start, the first."""
    percent = loan.rates[0].percent
    for rate in loan.rates:
        if rate.from_date <= day:
            percent = rate.percent
    return percent


# -- months


def due_day(loan: Loan, month: int) -> str:
    """The day on which the month of this number ends, and is paid."""
    return months_later(datetime.date.fromisoformat(loan.start), month).isoformat()


def months_until(start: str, day: str) -> int:
    """How many months of a loan have ended by a day, which is not before its start."""
    first, last = datetime.date.fromisoformat(start), datetime.date.fromisoformat(day)
    months = (last.year - first.year) * 12 + last.month - first.month
    return months if last.day >= first.day or months_later(first, months) <= last else months - 1


def _known(loan: Loan, day: str) -> Balance | None:
    """The lender's last word up to a day."""
    return max((balance for balance in loan.balances if balance.date <= day), default=None)


def _is_redeemed(loan: Loan, day: str) -> bool:
    return loan.redeemed is not None and loan.redeemed <= day


# -- legs


@functools.lru_cache(maxsize=4096)  # for a month what is owed stays the same, and decades of months lead to it
def _owed_after(loan: Loan, months: int) -> int:
    """What is owed when so many months have ended, by what was said before the last of them."""
    balance = None
    for leg in _legs(loan, months, months - 1):
        balance = leg.owed_after(leg.months)
    return _opening(loan) if balance is None else balance


def _legs(loan: Loan, months: int, since: int) -> Iterator[_Leg]:
    """The first months of a loan, cut wherever its rate changes or the lender said what is owed.

    Of those before the month of number `since` there may be none: they begin with the lender's last word before it.
    """
    said = {months_until(loan.start, balance.date): balance.amount for balance in loan.balances}  # of several the last
    changes = _changes(loan)
    start = max((month for month in said if month <= since), default=0)
    cuts = sorted({start, *(month for month in (*said, *changes) if start < month < months), months})
    balance = said[start] if start in said else _opening(loan)
    for first, last in itertools.pairwise(cuts):
        balance, percent = said.get(first, balance), _percent(changes, first)
        payment = _payment(loan, balance, percent, first)
        clears = loan.term_months if loan.payment is None else None
        leg = _Leg(first, last - first, balance, *_factor(percent), payment, clears)
        yield leg
        balance = leg.owed_after(leg.months)


def _changes(loan: Loan) -> dict[int, str]:
    """The rates, by how many months go before the first one that begins on their day or later."""
    return {1 + months_until(loan.start, days_after(rate.from_date, -1)): rate.percent for rate in loan.rates}


def _percent(changes: dict[int, str], month: int) -> str:
    return changes[max(first for first in changes if first <= month)]


def _payment(loan: Loan, balance: int, percent: str, month: int) -> int | None:
    """What is paid each month, from when so many months have ended; None: nothing is repaid."""
    if loan.type == "interest_only":
        return None
    if loan.payment is not None or loan.type == "part_and_part" or loan.term_months is None:
        return loan.payment
    return _annuity(balance, percent, loan.term_months - month) if month < loan.term_months else None


@functools.lru_cache(maxsize=4096)  # the same loans are computed again on every page
def _annuity(balance: int, percent: str, months: int) -> int:
    """The payment that repays a balance in so many months, rounded up to the penny."""
    numerator, denominator = _factor(percent)
    if numerator == 0:
        return -(-balance // months)
    grown: int = (denominator + numerator) ** months
    base: int = denominator**months
    return -(-balance * numerator * grown // (denominator * (grown - base)))


@functools.lru_cache(maxsize=1024)
def _factor(percent: str) -> tuple[int, int]:
    """A rate a year as the share of a month: 6 percent is 1/200."""
    numerator, denominator = Decimal(percent).as_integer_ratio()
    return numerator, denominator * 12 * 100


# -- before the lender's first word


def _opening(loan: Loan) -> int:
    """With what the loan began: what leads to the first balance that is known, but no more than was lent.

    Chosen: that nothing is owed any more says nothing of the months before.
    """
    known = loan.balances[0] if loan.balances else Balance(loan.start, loan.original)
    months = months_until(loan.start, known.date)
    if months == 0 or known.amount == 0 or not known.reaches_back:
        return loan.original
    if _payment(loan, loan.original, loan.rates[0].percent, 0) is None:
        opening = known.amount
    elif loan.payment is None:  # what is owed is a share of what was lent
        reached = _owed_after(loan._replace(balances=()), months)
        opening = half_up(known.amount * loan.original, reached) if reached else loan.original
    else:
        opening = _walked_back(loan, known.amount, months)
    return min(loan.original, opening)


def _walked_back(loan: Loan, balance: int, months: int) -> int:
    """What was owed so many months before a balance, where all that is paid is known."""
    payment, changes = loan.payment, _changes(loan)
    assert payment is not None
    cuts = sorted({0, *(month for month in changes if month < months), months})
    for first, last in reversed(list(itertools.pairwise(cuts))):
        numerator, denominator = _factor(_percent(changes, first))
        for _ in range(last - first):
            balance = max(balance, half_up((balance + payment) * denominator, denominator + numerator))
            if balance >= loan.original:
                return balance
    return balance


class InterestEntered(NamedTuple):
    """Interest of a loan that was entered for a day; below 0 it was taken back. `stated`: by the lender's word."""

    date: str
    amount: int
    stated: bool


class Borne(NamedTuple):
    """What a payment bears: interest and capital of instalments, and what none of them takes.

    `repays`: what is `over` lessens the debt.
    """

    interest: int
    capital: int
    over: int
    repays: bool


@dataclass(slots=True)
class _Open:
    """An instalment, and what of its interest is not met. `capital` None: whatever is paid beyond the interest."""

    due: str
    interest: int
    capital: int | None
    left: int
    stated: bool = False

    @property
    def waits(self) -> bool:
        """Whether interest of it is not met; of one without interest nobody knows."""
        return self.left > 0 or self.interest == 0


def borne(loan: Loan, entered: Sequence[InterestEntered], day: str, amount: int) -> Borne:
    """What a payment of a day bears. `entered` is all interest that was entered, the oldest first.

    Chosen: what was entered for a later day is of the latest instalment due by then, and not looked at beyond the next.
    """
    repays = repays_more(loan, day)
    if not loan.start <= day <= _NO_LATER:
        return Borne(0, 0, amount, repays)
    before = [entry for entry in entered if entry.date <= day]
    opened = _opened(loan, before, day, amount)
    for entry in before:
        _note(opened, entry)
    beyond = due_day(loan, months_until(loan.start, day) + 2)
    for entry in reversed(entered):
        if day < entry.date < beyond:
            _note_later(opened, entry)
    interest = capital = 0
    left = amount
    taken = _taken(opened, entered, day, loan.start)
    for instalment in taken:
        part = min(left, instalment.left)
        room = instalment.capital
        if room is None:
            room = left if instalment is taken[-1] else 0
        fits = min(left - part, room)
        interest, capital, left = interest + part, capital + fits, left - part - fits
    return Borne(interest, capital, left, repays)


def repays_more(loan: Loan, day: str) -> bool:
    """Whether more than the instalments is repaid: of an interest-only loan at its end alone."""
    if loan.type != "interest_only":
        return True
    soon = days_after(day, _EARLY) if day <= _NO_LATER else day
    if loan.redeemed is not None and loan.redeemed <= soon:
        return True
    return loan.term_months is not None and soon >= loan.start and months_until(loan.start, soon) >= loan.term_months


def _opened(loan: Loan, entered: Sequence[InterestEntered], day: str, amount: int) -> list[_Open]:
    """The instalments from the first one that the first payment is for, to what falls due next after `day`."""
    first, left = (entered[0].date, entered[0].amount) if entered else (day, amount)
    month = max(1, months_until(loan.start, first)) if first >= loan.start else 1
    since = due_day(loan, 1 if month <= _FIRST_FEW else month)
    until = due_day(loan, months_until(loan.start, day) + 1)
    known = loan.type == "interest_only" or loan.payment is not None
    known = known or (loan.type == "repayment" and loan.term_months is not None)
    opened = [
        _Open(instalment.due, instalment.interest, instalment.capital if known else None, instalment.interest)
        for instalment in instalments(loan, since, until)
    ]
    begins = max(sum(instalment.due <= first for instalment in opened) - 1, 0)
    for instalment in reversed(opened[: begins + 1]):
        left -= instalment.interest if entered else instalment.interest + (instalment.capital or 0)
        if left < 0:
            break
        begins -= instalment is not opened[begins]
    return opened[begins:]


def _note(opened: Sequence[_Open], entry: InterestEntered) -> None:
    """Count interest that was entered towards instalments. A negative amount is taken back from the latest ones."""
    left = entry.amount
    for instalment in reversed(opened):
        back = min(max(-left, 0), instalment.interest - instalment.left)
        instalment.left, left = instalment.left + back, left + back
    due, following = _unmet(opened, entry.date)
    for instalment in due or following if entry.stated else (*due, *following):
        part = min(max(left, 0), instalment.left)
        instalment.left, left = instalment.left - part, left - part
        instalment.stated = instalment.stated or (entry.stated and 2 * part >= instalment.interest)


def _note_later(opened: Sequence[_Open], entry: InterestEntered) -> None:
    """Count interest of a day after the payment towards instalments, the latest first."""
    left = entry.amount
    for instalment in reversed(opened):
        if left > 0 and instalment.due <= entry.date:
            part = min(left, instalment.left)
            instalment.left, left = instalment.left - part, left - part
            instalment.stated = instalment.stated or (entry.stated and 2 * part >= instalment.interest)
        elif left < 0:
            back = min(-left, instalment.interest - instalment.left)
            instalment.left, left = instalment.left + back, left + back


def _taken(opened: Sequence[_Open], entered: Sequence[InterestEntered], day: str, start: str) -> Sequence[_Open]:
    """The instalments that a payment of a day is for, the oldest first."""
    due, following = _unmet(opened, day)
    if due or not following:
        return due
    last = max((instalment.due for instalment in opened if instalment.due <= day), default=start)
    is_first = not any(last <= entry.date < following[0].due and entry.amount > 0 for entry in entered)
    return following if is_first or following[0].due <= days_after(day, _EARLY) else ()


def _unmet(opened: Sequence[_Open], day: str) -> tuple[list[_Open], list[_Open]]:
    """What is not met of what has fallen due in the year up to a day, and what falls due next."""
    since = days_after(day, -_YEAR)
    last = max((instalment.due for instalment in opened if instalment.due <= day), default="")
    due = [
        instalment
        for instalment in opened
        if since <= instalment.due <= day and instalment.waits and (not instalment.stated or instalment.due == last)
    ]
    following = [instalment for instalment in opened if instalment.due > day][:1]
    return due, [instalment for instalment in following if instalment.waits]
