"""The rules that a mortgage follows, and how its rates and balances become others (Domain B4). Pure."""

import datetime
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from typing import Final

from msgspec.structs import replace

from gatewayd.areas.landlord.mortgages.shapes import Mortgage, RateStep, StatedBalance
from gatewayd.clock import days_after
from gatewayd.errors import FieldError
from gatewayd.money import Money, to_minor

EARLIEST, LATEST = datetime.date(1900, 1, 1), datetime.date(2199, 12, 31)  # Chosen: what lies beyond is a slip
STEPS_MAX: Final = 500
"""Chosen: rates, and balances, of one mortgage: a balance each month for forty years."""

_SHOWN_CHARACTERS = 4
_SPACING = str.maketrans("", "", " -/*")
_DATES = ("start_date", "rate_end_date", "balance_date", "erc_until_date", "redeemed_date")


def masked(number: str | None) -> str | None:
    """An account number as it is kept: stars, and its last four characters. None stays None."""
    return None if number is None else "****" + number.translate(_SPACING)[-_SHOWN_CHARACTERS:]


# -- what is wrong


def mistakes(row: Mortgage, today: str) -> Iterator[FieldError]:
    """What is wrong with a mortgage, as requests call its fields. `today` is ISO."""
    yield from _percent_mistakes(row)
    yield from _amount_mistakes(row)
    out_of_range = list(_range_mistakes(row))
    yield from out_of_range
    if not out_of_range:
        yield from _order_mistakes(row, today)
    if row.reversion_rate is not None and row.rate_end_date is None:
        message = "This field is required: from which day on does the loan bear `reversionRate`?"
        yield FieldError("rateEndDate", "required", message)
    for path, history in (("interestRate", row.rate_history), ("currentBalance", row.balance_history)):
        if len(history) > STEPS_MAX:
            yield FieldError(path, "out_of_range", f"A mortgage keeps {STEPS_MAX} of them, and has as many.")


def balance_mistakes(current_balance: object, balance_date: object) -> Iterator[FieldError]:
    """What is wrong with a balance and its day, None where it is not given: one says nothing without the other."""
    if current_balance is None and balance_date is not None:
        yield FieldError("currentBalance", "required", "This field is required: what was owed on that day?")
    if current_balance is not None and balance_date is None:
        yield FieldError("balanceDate", "required", "This field is required: of which day is the balance?")


def _percent_mistakes(row: Mortgage) -> Iterator[FieldError]:
    rates = {("interestRate", step.interest_rate) for step in row.rate_history}
    for path, percent in (*rates, ("reversionRate", row.reversion_rate)):
        if percent is not None and not 0 <= Decimal(percent) < 100:
            yield FieldError(path, "out_of_range", "Expected a percentage of 0 or more, less than 100.")
    for path, percent in (("ercPercent", row.erc_percent), ("businessPurposePercent", row.business_purpose_percent)):
        if percent is not None and not 0 <= Decimal(percent) <= 100:
            yield FieldError(path, "out_of_range", "Expected a percentage from 0 to 100.")


def _amount_mistakes(row: Mortgage) -> Iterator[FieldError]:
    for path, amount in (("originalAmount", row.original_amount), ("monthlyPayment", row.monthly_payment)):
        if amount is not None and amount.minor <= 0:
            yield FieldError(path, "out_of_range", "Expected more than 0.")
    if any(to_minor(balance.amount, row.currency) < 0 for balance in row.balance_history):
        yield FieldError("currentBalance", "out_of_range", "Expected 0 or more.")


def _range_mistakes(row: Mortgage) -> Iterator[FieldError]:
    for name in _DATES:
        date = getattr(row, name)
        if date is not None and not EARLIEST.isoformat() <= date <= LATEST.isoformat():
            yield FieldError(_path(name), "out_of_range", f"Expected a date from {EARLIEST} to {LATEST}.")


def _order_mistakes(row: Mortgage, today: str) -> Iterator[FieldError]:
    for name in _DATES[1:]:
        first_balance = row.balance_history[0].date if row.balance_history else None
        date = first_balance if name == "balance_date" else getattr(row, name)
        if date is not None and date < row.start_date:
            message = f"It is before startDate, {row.start_date}: expected that day or a later one."
            yield FieldError(_path(name), "date_order", message)
    if row.balance_date is not None and row.balance_date > today:
        yield FieldError("balanceDate", "out_of_range", "The day is still to come: expected today or an earlier one.")
    if row.redeemed_date is not None and (row.balance_date or "") > row.redeemed_date:
        message = f"A balance is of a later day: expected {row.balance_date} or later."
        yield FieldError("redeemedDate", "date_order", message)


def _path(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


# -- rates


def started(row: Mortgage) -> Mortgage:
    """The mortgage with its first rate from its start on: rates of before the start are dropped."""
    held = [step for step in row.rate_history if step.from_date <= row.start_date]
    first = replace(held[-1] if held else row.rate_history[0], from_date=row.start_date)
    return _with_rates(row, [first, *(step for step in row.rate_history if step.from_date > row.start_date)])


def with_rate(row: Mortgage, percent: str, from_date: str) -> Mortgage:
    """The mortgage with a rate from an ISO date on, which is not before its start; later rates stay.

    Where the rate before it had ended by then, its reversion followed and becomes a step of the history, and both the
    end and the reversion are cleared.
    """
    steps = {step.from_date: step for step in row.rate_history}
    ended = row.rate_end_date is not None and row.rate_end_date < from_date
    if ended:
        assert row.rate_end_date is not None
        day = days_after(row.rate_end_date, 1)
        if row.reversion_rate is not None:
            steps.setdefault(day, RateStep(from_date=day, interest_rate=row.reversion_rate))
        row = replace(row, rate_end_date=None, reversion_rate=None)
    steps[from_date] = RateStep(from_date=from_date, interest_rate=percent)
    return _with_rates(row, sorted(steps.values(), key=lambda step: step.from_date))


def _with_rates(row: Mortgage, steps: Sequence[RateStep]) -> Mortgage:
    kept = [
        step
        for before, step in zip((None, *steps), steps, strict=False)
        if before is None or before.interest_rate != step.interest_rate
    ]
    return replace(row, rate_history=kept, interest_rate=kept[-1].interest_rate)


# -- balances


def with_balance(row: Mortgage, amount: Money, date: str) -> Mortgage:
    """The mortgage with what is owed on an ISO date, in the place of what was said of that day before."""
    said = [balance for balance in row.balance_history if balance.date != date]
    return _with_balances(row, [*said, StatedBalance(date=date, amount=str(amount))])


def without_balance(row: Mortgage, date: str | None) -> Mortgage:
    """The mortgage without what was said of an ISO date; None: without what was said last."""
    gone = row.balance_date if date is None else date
    return _with_balances(row, [balance for balance in row.balance_history if balance.date != gone])


def not_reaching_back(row: Mortgage) -> Mortgage:
    """The mortgage whose first balance leaves the months before it alone."""
    first, *others = row.balance_history
    return replace(row, balance_history=[replace(first, reaches_back=False), *others])


def _with_balances(row: Mortgage, said: Iterable[StatedBalance]) -> Mortgage:
    said = sorted(said, key=lambda balance: balance.date)
    if not said:
        return replace(row, balance_history=[], current_balance=None, balance_date=None)
    last = said[-1]
    amount = Money(to_minor(last.amount, row.currency), row.currency)
    return replace(row, balance_history=said, current_balance=amount, balance_date=last.date)
