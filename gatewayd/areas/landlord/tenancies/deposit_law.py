"""What the law of each nation asks of a deposit (Domain B4). Pure; nothing is refused for it.

England           in a scheme within 30 days of receipt (Housing Act 2004 s213(3)), else one to three times the deposit
                  (s214(4)); five weeks of rent at most, six from 50,000 a year on (Tenant Fees Act 2019 Sch 1 para 2)
Wales             within 30 days of receipt (Renting Homes (Wales) Act 2016 s45), else as much (Sch 5); no cap
Scotland          within 30 working days of the beginning of the tenancy (SSI 2011/176 reg 3), else up to three times
                  (reg 10); two months of rent at most (Rent (Scotland) Act 1984 s90)
Northern Ireland  since 1 April 2023 within 28 days of receipt, and told within 35; one month of rent at most (Private
                  Tenancies Act (Northern Ireland) 2022); 14 and 28 days before (SI 2006/1459 art 5B)
"""

import datetime
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from gatewayd.areas.landlord.register.tenancy_shapes import DepositScheme, RentFrequency, TenancyRow, TenancyType
from gatewayd.areas.landlord.tenancies.shapes import TenancyWarning
from gatewayd.clock import days_after
from gatewayd.money import Money, to_minor

_IN_A_YEAR: Final[Mapping[RentFrequency, int]] = {
    "weekly": 52,
    "fortnightly": 26,
    "four_weekly": 13,
    "monthly": 12,
    "quarterly": 4,
    "annually": 1,
}
_WEEKS_IN_A_YEAR: Final = 52
_CAPPED_FROM: Final = "2019-06-01"  # in England, what begins then or later [deposit cap]
_SIX_WEEKS_FROM: Final = 50_000_00  # of rent a year, minor units
_NI_SINCE: Final = "2023-04-01"
_WORKING_DAYS: Final = 30
_OF_WEEK: Final = 5


class _Nation(NamedTuple):
    """Whose law it is. `late`: what follows where a deposit is protected late."""

    name: str
    schemes: frozenset[DepositScheme]
    late: str


_ENGLAND: Final = _Nation(
    "England",
    frozenset({"dps", "tds", "mydeposits"}),
    "a court may award the tenant one to three times the deposit (Housing Act 2004 s214)",
)
_WALES: Final = _Nation(
    "Wales",
    frozenset({"dps", "tds", "mydeposits"}),
    "a court may award the tenant one to three times the deposit (Renting Homes (Wales) Act 2016 Sch 5)",
)
_SCOTLAND: Final = _Nation(
    "Scotland",
    frozenset({"safedeposits_scotland", "lps_scotland", "mydeposits"}),
    "the tribunal may award the tenant up to three times the deposit (SSI 2011/176 reg 10)",
)
_NORTHERN_IRELAND: Final = _Nation(
    "Northern Ireland",
    frozenset({"tdsni", "mydeposits"}),
    "it is an offence (SI 2006/1459 art 5B)",
)
_NATIONS: Final[Mapping[TenancyType, _Nation]] = {
    "assured_periodic": _ENGLAND,
    "assured_shorthold": _ENGLAND,
    "occupation_contract": _WALES,
    "private_residential_tenancy": _SCOTLAND,
    "private_tenancy_ni": _NORTHERN_IRELAND,
}
PROTECTED: Final = frozenset(_NATIONS)
"""Types whose deposits belong into a scheme."""


class Cap(NamedTuple):
    """The most that a deposit may be, in whole pennies, and how that is said."""

    amount: Money
    words: str


def warnings(row: TenancyRow, today: str) -> Iterator[TenancyWarning]:
    """What there is to say of the deposit of a tenancy today. That it was protected late stays so."""
    nation = _NATIONS.get(row.type)
    if nation is None or not row.deposit_amount:
        return
    due, protected = protect_by(row), row.deposit_protected_date
    if protected is not None and due < protected:
        message = (
            f"The deposit was protected on {protected} and was to be by {due}{_holidays_clause(nation)}: {nation.late}."
        )
        yield TenancyWarning(code="deposit_protected_late", message=message)
    if row.deposit_returned_date is not None:
        return
    if protected is None and due < today:
        until = f"{due}{_holidays_clause(nation)}{_telling_clause(row)}"
        message = f"Nothing says that the deposit is protected; it was to be by {until}."
        yield TenancyWarning(code="deposit_unprotected", message=message)
    if row.deposit_scheme not in (None, "none", *nation.schemes):
        names = ", ".join(sorted(nation.schemes))
        message = f"{row.deposit_scheme} is no scheme of {nation.name}, where it has to be one of {names}."
        yield TenancyWarning(code="deposit_scheme_elsewhere", message=message)
    cap = most_deposit(row)
    if cap is not None and cap.amount < row.deposit_amount:
        message = f"The deposit may be {cap.amount} at most, {cap.words} of rent."
        yield TenancyWarning(code="deposit_cap", message=message)


def protect_by(row: TenancyRow) -> str:
    """The last day on which the deposit of a tenancy is protected in time.

    Chosen: it is received when the tenancy begins where nobody said another day. In Scotland bank holidays are counted
    as working days, so that it may be some days later.
    """
    received = row.deposit_received_date or row.start_date
    if row.type == "private_residential_tenancy":
        return _working_days_after(max(received, row.start_date), _WORKING_DAYS)
    if row.type == "private_tenancy_ni":
        return days_after(received, 28 if received >= _NI_SINCE else 14)
    return days_after(received, 30)


def most_deposit(row: TenancyRow) -> Cap | None:
    """The most that the deposit of a tenancy may be, by its first rent; None: there is no cap."""
    if row.currency != "GBP":
        return None
    year = to_minor(row.rent_history[0].amount, row.currency) * _IN_A_YEAR[row.rent_frequency]
    if _NATIONS.get(row.type) is _ENGLAND and row.start_date >= _CAPPED_FROM:
        weeks = 6 if year >= _SIX_WEEKS_FROM else 5
        return Cap(Money(year * weeks // _WEEKS_IN_A_YEAR, row.currency), f"{weeks} weeks")
    if row.type == "private_residential_tenancy":
        return Cap(Money(year * 2 // 12, row.currency), "two months")
    if row.type == "private_tenancy_ni" and row.start_date >= _NI_SINCE:
        return Cap(Money(year // 12, row.currency), "one month")
    return None


def _telling_clause(row: TenancyRow) -> str:
    if row.type != "private_tenancy_ni":
        return ""
    received = row.deposit_received_date or row.start_date
    return f", and the tenant be told of it by {days_after(received, 35 if received >= _NI_SINCE else 28)}"


def _holidays_clause(nation: _Nation) -> str:
    return ", or a day later for each bank holiday before that" if nation is _SCOTLAND else ""


def _working_days_after(day: str, count: int) -> str:
    """The ISO date of the `count`th day after another that is no Saturday and no Sunday."""
    date = datetime.date.fromisoformat(day)
    while count:
        date += datetime.timedelta(days=1)
        count -= date.isoweekday() <= _OF_WEEK
    return date.isoformat()
