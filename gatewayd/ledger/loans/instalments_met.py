"""Which instalments of a loan a payment meets, and so how much of it is interest (Domain C2). Pure.

Money is in minor units, days are ISO dates. A payment takes the oldest instalment that is not met, its interest and
then its capital, and then the next one; what falls due next only where nothing else is left to meet.

Chosen: what is met follows from the interest that was entered. Before the first of it payments were made that nobody
entered, so that it is of the last instalment due by its day, or of the first few where it is as much as they are. What
fell due more than a year before a payment is not looked for any more. An instalment of which the lender told at least
half of the interest is met once the next one has fallen due.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from gatewayd.clock import days_after
from gatewayd.ledger.loans.amortising import Loan, due_day, instalments, months_until

_EARLY: Final = 15  # Chosen: days that a payment comes before its instalment, though one came since the last
_YEAR: Final = 366  # days
_FIRST_FEW: Final = 3  # Chosen: of a new loan, so many instalments may wait for the first payment
_NO_LATER: Final = "9999-09-01"  # of what falls due after it there is no date


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
    before = [one for one in entered if one.date <= day]
    opened = _opened(loan, before, day, amount)
    for one in before:
        _note(opened, one)
    beyond = due_day(loan, months_until(loan.start, day) + 2)
    for one in reversed(entered):
        if day < one.date < beyond:
            _note_later(opened, one)
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
        _Open(one.due, one.interest, one.capital if known else None, one.interest)
        for one in instalments(loan, since, until)
    ]
    begins = max(sum(one.due <= first for one in opened) - 1, 0)
    for one in reversed(opened[: begins + 1]):
        left -= one.interest if entered else one.interest + (one.capital or 0)
        if left < 0:
            break
        begins -= one is not opened[begins]
    return opened[begins:]


def _note(opened: Sequence[_Open], one: InterestEntered) -> None:
    """Meet instalments by interest that was entered, or take back from the last ones what was taken back."""
    left = one.amount
    for instalment in reversed(opened):
        back = min(max(-left, 0), instalment.interest - instalment.left)
        instalment.left, left = instalment.left + back, left + back
    due, following = _unmet(opened, one.date)
    for instalment in due or following if one.stated else (*due, *following):
        part = min(max(left, 0), instalment.left)
        instalment.left, left = instalment.left - part, left - part
        instalment.stated = instalment.stated or (one.stated and 2 * part >= instalment.interest)


def _note_later(opened: Sequence[_Open], one: InterestEntered) -> None:
    """Meet instalments by interest of a later day than that of the payment, the latest first."""
    left = one.amount
    for instalment in reversed(opened):
        if left > 0 and instalment.due <= one.date:
            part = min(left, instalment.left)
            instalment.left, left = instalment.left - part, left - part
            instalment.stated = instalment.stated or (one.stated and 2 * part >= instalment.interest)
        elif left < 0:
            back = min(-left, instalment.interest - instalment.left)
            instalment.left, left = instalment.left + back, left + back


def _taken(opened: Sequence[_Open], entered: Sequence[InterestEntered], day: str, start: str) -> Sequence[_Open]:
    """The instalments that a payment of a day is for, the oldest first."""
    due, following = _unmet(opened, day)
    if due or not following:
        return due
    last = max((one.due for one in opened if one.due <= day), default=start)
    is_first = not any(last <= one.date < following[0].due and one.amount > 0 for one in entered)
    return following if is_first or following[0].due <= days_after(day, _EARLY) else ()


def _unmet(opened: Sequence[_Open], day: str) -> tuple[list[_Open], list[_Open]]:
    """What is not met of what has fallen due in the year up to a day, and what falls due next."""
    since = days_after(day, -_YEAR)
    last = max((one.due for one in opened if one.due <= day), default="")
    due = [one for one in opened if since <= one.due <= day and one.waits and (not one.stated or one.due == last)]
    following = [one for one in opened if one.due > day][:1]
    return due, [one for one in following if one.waits]
