"""VAT periods, what is due on them, and payments on account of those who owe much VAT (domain model C6). Pure; pence.

VATA 1994 s28; the Value Added Tax (Payments on Account) Order 1993, SI 1993/2001 ("the Order"); HMRC's manual VPOA.

    begins      with the period after a year of more than 2,300,000 (art 6)
    each April  what was owed in the year to September, October or November decides of the periods that begin from
                1 April on (art 5): 1/24 of it, twice in each, or nothing any more
    rises       where a later year is 20 % above the one that was reckoned with (art 14, VPOA3200)
    ends        with the period after a year of less than 1,600,000 (art 7)

A year is of the periods that ended in it. VAT on imports that was on no return counts towards the limits, and not
towards what is paid (VPOA2200).
"""

import datetime
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, Literal, NamedTuple

from gatewayd.clock import months_later
from gatewayd.ledger.dates.months import (
    DAY,
    DuePeriod,
    following,
    is_month_end,
    last_working_day,
    month_end,
    months_after,
    on_or_before,
)

STAGGERS = {1: (3, 6, 9, 12), 2: (1, 4, 7, 10), 3: (2, 5, 8, 11)}  # months that a quarter ends with [staggers]
EVERY_MONTH = tuple(range(1, 13))
EXTRA_DAYS = 7  # after the month, for returns and payments made electronically [staggers; HMRC's VAT examples]
ANNUAL_MONTHS = 2  # after the end, with annual accounting [VATAAS3400]
LIMIT: Final = 2_300_000_00  # the Order, arts 5(1) and 6(1): more than this
LEAVES_BELOW: Final = 1_600_000_00  # the Order, art 7
RISES_BY_PERCENT: Final = 20  # the Order, art 14
PARTS: Final = 24  # the Order, arts 11 and 12
PAID_IN_MONTHS: Final = (2, 3)  # of a period [VDSOG400, CH146410]
_LONGEST: Final = 4  # Chosen: months; a period that is longer is of annual accounting, with payments of its own

Method = Literal["instalments", "actual", "none"]
"""What HMRC said: payments on account, the VAT of the month before instead (VPOA4200), or neither."""


class Registration(NamedTuple):
    """When somebody is registered, and the months with which their periods end.

    Both days are inclusive; None is not known, or no end.
    """

    first: datetime.date | None
    last: datetime.date | None
    months: tuple[int, ...]
    annual: bool


def due(end: datetime.date, annual: bool = False) -> datetime.date:
    """When return and payment are due: a month and 7 days after the end, or 2 months with annual accounting."""
    if annual:
        return months_after(end, ANNUAL_MONTHS)
    following = months_after(end, 1) if is_month_end(end) else months_later(end, 1)
    return following + EXTRA_DAYS * DAY


def periods(registration: Registration, first_end: datetime.date, last_start: datetime.date) -> Iterator[DuePeriod]:
    """The periods that end on or after one day and begin on or before another.

    Chosen: the first begins with the registration, however short that makes it; HMRC may set another end.
    """
    start = _start(registration, first_end)
    if registration.first is not None and registration.first > start:
        start = registration.first
    while start <= last_start and (registration.last is None or start <= registration.last):
        end = _end(registration.months, start)
        if registration.last is not None:
            end = min(end, registration.last)
        if end >= first_end:
            yield DuePeriod(start, end, due(end, registration.annual))
        start = end + DAY


def _start(registration: Registration, day: datetime.date) -> datetime.date:
    """The first day of the period that a day lies in, as the months alone have it."""
    year, month = (day.year, day.month - 1) if day.month > 1 else (day.year - 1, 12)
    while month not in registration.months:
        year, month = (year, month - 1) if month > 1 else (year - 1, 12)
    return month_end(year, month) + DAY


def _end(months: tuple[int, ...], day: datetime.date) -> datetime.date:
    year, month = day.year, day.month
    while month not in months:
        year, month = (year, month + 1) if month < 12 else (year + 1, 1)
    return month_end(year, month)


class VatYear(NamedTuple):
    """The year of the VAT periods that ended in it. `end` is the last day of the last of them.

    `liability` is what was payable on the returns, None where nobody knows; `beside` what was on none. `is_whole`:
    nothing of the year is missing. `method` is what HMRC said of the periods that follow, None where
    it said nothing, `instalment` how much each payment is then.
    """

    end: datetime.date
    liability: int | None
    beside: int = 0
    is_whole: bool = True
    method: Method | None = None
    instalment: int | None = None

    @property
    def passes(self) -> bool:
        """Whether it is known to be above the limit."""
        return self.liability is not None and self.liability + self.beside > LIMIT


class PaymentOnAccount(NamedTuple):
    """What each of the two payments of a period is, None where nobody knows. `undecided`: or whether it is made."""

    amount: int | None
    undecided: bool


class VatDue(NamedTuple):
    """What is due of a VAT period, and on which day. `amount` and `undecided` are those of payments on account."""

    kind: Literal["vat_return", "vat_payment", "payment_on_account"]
    day: datetime.date
    amount: int | None = None
    undecided: bool = False


class _State(NamedTuple):
    """Where somebody stands when a period begins.

    `basis` is the liability that was reckoned with, None: unknown. `since` is the last day of the year by which it came
    about. `is_refused`: HMRC said that none are made.
    """

    is_liable: bool = False
    amount: int | None = None
    basis: int | None = None
    since: datetime.date = datetime.date.min
    is_actual: bool = False
    is_undecided: bool = False
    is_refused: bool = False


def asked_of(
    periods: Sequence[DuePeriod], years: Mapping[datetime.date, VatYear]
) -> dict[datetime.date, PaymentOnAccount]:
    """What is asked of each period that has payments on account, by its last day. `periods` are in their order."""
    state, on_account = _State(), {}
    left = sorted(years.values())
    for period in periods:
        while left and left[0].end < period.start:
            state = _after(state, left.pop(0))
        if _begins_cycle(period):
            state = _reviewed(state, _reference_year(period.start.year, years), period.start.year)
        if state.is_liable and any(payment_days(period)):
            on_account[period.end] = PaymentOnAccount(state.amount, state.is_undecided)
    return on_account


def dues(period: DuePeriod, on_account: PaymentOnAccount | None) -> Iterator[VatDue]:
    """What is due of a period, the return first. `asked` is what each payment on account is, None: there are none."""
    returned, paid = (period.due, period.due) if on_account is None else balance_due(period.end)
    yield VatDue("vat_return", returned)
    yield VatDue("vat_payment", paid)
    if on_account is not None:
        for day in payment_days(period):
            yield VatDue("payment_on_account", day, *on_account)


def payment_days(period: DuePeriod) -> Iterator[datetime.date]:
    """When the two payments of a period are due: the last working days of its second and third month.

    None of a period that is no longer than a month, whose return comes monthly (the Order, art 4(1)).
    """
    if not following(period.start, 1) <= period.end < following(period.start, _LONGEST):
        return
    for month in PAID_IN_MONTHS:
        later = months_later(period.start.replace(day=1), month - 1)
        if month_end(later.year, later.month) <= period.end:
            yield last_working_day(later.year, later.month)


def balance_due(end: datetime.date) -> tuple[datetime.date, datetime.date]:
    """When the return of a period is due, and what is left to pay: a month after it, without seven extra days.

    VATAC1300, VDSOG400: the money has to be there on the last working day by then.
    """
    due = months_after(end, 1)
    return due, on_or_before(due)


def instalment_of(liability: int) -> int:
    """What each payment is, by the liability of a year. Chosen: parts of a penny are dropped."""
    return liability // PARTS


def _after(state: _State, year: VatYear) -> _State:
    """Where somebody stands once a year is over: what HMRC said goes before what follows from the figures."""
    if year.method == "none":
        return _State(since=year.end, is_refused=True)
    if year.method is not None:
        return _state_of(year)
    if year.liability is None or state.is_refused:
        return state
    if not state.is_liable or state.is_undecided:
        return _entering(year) if year.passes else _leaving(state, year)
    if year.is_whole and _rises(state, year.liability):
        return state._replace(amount=instalment_of(year.liability), basis=year.liability)
    return _leaving(state, year)


def _rises(state: _State, liability: int) -> bool:
    if state.basis is None or state.is_actual:
        return False
    return liability * 100 >= state.basis * (100 + RISES_BY_PERCENT)


def _state_of(year: VatYear) -> _State:
    known = year.liability if year.is_whole else None
    amount = year.instalment
    if amount is None and known is not None:
        amount = instalment_of(known)
    if known is None and amount is not None:
        known = amount * PARTS
    is_actual = year.method == "actual"
    return _State(
        is_liable=True, amount=None if is_actual else amount, basis=known, since=year.end, is_actual=is_actual
    )


def _entering(year: VatYear) -> _State:
    """Chosen: of less than a year HMRC reckons a proportion, which it has to say."""
    known = year.liability if year.is_whole else None
    amount = None if known is None else instalment_of(known)
    return _State(is_liable=True, amount=amount, basis=known, since=year.end)


def _leaving(state: _State, year: VatYear) -> _State:
    assert year.liability is not None
    is_little = year.is_whole and year.liability + year.beside < LEAVES_BELOW
    return _State() if is_little else state


def _begins_cycle(period: DuePeriod) -> bool:
    """Whether it is the first period of those that a year to September, October or November decides of (art 4)."""
    year = period.start.year
    if period.start < datetime.date(year, 3, 2) or period.start > datetime.date(year, 6, 30):
        return False
    return period.start >= datetime.date(year, 4, 1) or period.end <= datetime.date(year, 6, 30)


def _reference_year(april: int, years: Mapping[datetime.date, VatYear]) -> VatYear | None:
    """The year to the last period that ended before 1 December, None where nobody knows it (art 5(1))."""
    first, after = datetime.date(april - 1, 9, 1), datetime.date(april - 1, 12, 1)
    return max((year for year in years.values() if first <= year.end < after), default=None)


def _reviewed(state: _State, reference: VatYear | None, april: int) -> _State:
    """Where somebody stands in the cycle of an April. What came about by a later year than its own stands."""
    end = datetime.date(april - 1, 9, 1) if reference is None else reference.end
    if not state.is_liable or state.since >= end:
        return state
    if reference is None or reference.liability is None:
        return state._replace(amount=None, basis=None, is_undecided=True)
    if not reference.passes:
        return _State() if reference.is_whole else state._replace(amount=None, basis=None, is_undecided=True)
    known = reference.liability if reference.is_whole else None
    after = state._replace(basis=known, is_undecided=False)
    amount = None if known is None or state.is_actual else instalment_of(known)
    return after._replace(amount=amount)
