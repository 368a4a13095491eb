"""How long before it expires a notice to end a tenancy is served, by whose it is, where, and on which day (Domain B4).

Pure tables, and what follows of them for one tenancy. Days are ISO texts.

England           section 8 since 1 May 2026: Housing Act 1988 s8 and Sch 2, as amended by the Renters' Rights Act 2025;
                  before: s8(4) to (4B), Housing Act 1996 s151. Section 21: two months (s21(1)(b) and (4)(a)).
                  A tenant: two months since 1 May 2026 (Protection from Eviction Act 1977 s5(1ZA)), four weeks and a
                  period of the rent before (s5(1)(b), common law)
Wales             Renting Homes (Wales) Act 2016 s174 (six months), s159, s161, s182 and s188 (grounds), s195, s164
                  (four weeks of a contract-holder); what was converted: Sch 12, as amended from 1 June 2023
Scotland          Private Housing (Tenancies) (Scotland) Act 2016 s54 (28 or 84 days), s49 (28 days of a tenant)
Northern Ireland  Private Tenancies (Northern Ireland) Order 2006 art 14 as amended by the Private Tenancies Act
                  (Northern Ireland) 2022 s11: 4, 8 or 12 weeks by how long the tenancy has been
elsewhere         a period of the rent, half a year of a yearly one (common law), and four weeks of a dwelling
                  (Protection from Eviction Act 1977 s5(1)(b)); business premises: Landlord and Tenant Act 1954 s25(2)
"""

import datetime
from collections.abc import Mapping
from typing import Final, NamedTuple

from gatewayd.areas.landlord.register import tenancy_states
from gatewayd.areas.landlord.register.tenancy_shapes import (
    NoticeGround,
    NoticeKind,
    RentFrequency,
    TenancyRow,
    TenancyType,
)
from gatewayd.clock import LAST_DATE, days_after, months_later

WALES_SINCE: Final = "2022-12-01"
_WALES_CONVERTED_UNTIL: Final = "2023-05-31"
NI_SINCE: Final = "2022-05-05"
_LONG_IN_NI_YEARS: Final = 10


class Span(NamedTuple):
    """A length of time: months, or days."""

    months: int = 0
    days: int = 0

    def after(self, day: str) -> str:
        """The ISO date that long after another, up to the last one there is."""
        try:
            if self.months:
                return months_later(datetime.date.fromisoformat(day), self.months).isoformat()
            return days_after(day, self.days)
        except (OverflowError, ValueError):
            return LAST_DATE

    def __str__(self) -> str:
        if self.months:
            return "a month" if self.months == 1 else f"{self.months} months"
        return f"{self.days} days"


class Shortest(NamedTuple):
    """The least that lies between the day of service and that of expiry, and which law says so."""

    span: Span
    source: str


def _of(groups: Mapping[Span, str]) -> Mapping[str, Span]:
    return {ground: span for span, grounds in groups.items() for ground in grounds.split()}


AT_ONCE: Final = Span()
ENGLAND: Final = _of(
    {
        Span(months=4): "1 1A 1B 2 2ZA 2ZB 2ZC 2ZD 4A 6 6A 6B",
        Span(months=2): "5 5A 5B 5C 5D 5H 7 9",
        Span(days=28): "5E 5F 5G 8 10 11 18",
        Span(days=14): "4 7B 12 13 14ZA 14A 15 17",
        AT_ONCE: "7A 14",
    }
)
"""Of notices under section 8 that are served on 1 May 2026 or later, by ground."""
ENGLAND_BEFORE: Final = _of(
    {
        Span(months=2): "1 2 5 6 7 9 16",
        Span(days=28): "7A",  # Chosen: of a periodic tenancy that of a notice to quit, of a term a month
        Span(days=14): "3 4 7B 8 10 11 12 13 14ZA 14A 15 17",
        AT_ONCE: "14",
    }
)
"""Of those that were served before."""
WALES: Final = _of(
    {
        Span(months=1): "breach estate_management",
        Span(days=14): "serious_arrears",
        AT_ONCE: "anti_social_behaviour",
    }
)
SCOTLAND: Final = frozenset(
    [
        "1",
        "1A",
        "2",
        "3",
        "4",
        "4A",
        "5",
        "6",
        "7",
        "8",
        "9",
        "10",
        "11",
        "12",
        "12A",
        "13",
        "14",
        "15",
        "16",
        "17",
        "18",
    ]
)
SCOTLAND_FOR_A_WHILE: Final = frozenset({"1A", "4A", "12A"})
"""Grounds of the Cost of Living (Tenant Protection) (Scotland) Act 2022, from 28 October 2022 to 31 March 2024."""
_SCOTLAND_OF_CONDUCT: Final = frozenset({"10", "11", "12", "12A", "13", "14", "15"})
_SCOTLAND_SOON_MONTHS: Final = 6

_UNTABLED: Final[Mapping[TenancyType, tuple[str, str]]] = {
    # Chosen: what the laws of the pandemic asked for is not looked at, nor older law of Wales and Northern Ireland
    "assured_periodic": ("2020-03-26", "2021-09-30"),
    "assured_shorthold": ("2020-03-26", "2021-09-30"),
    "private_residential_tenancy": ("2020-04-07", "2022-03-29"),
    "occupation_contract": ("", "2022-11-30"),
    "private_tenancy_ni": ("", "2022-05-04"),
}
_PERIODS: Final[Mapping[RentFrequency, Span]] = {
    "weekly": Span(days=7),
    "fortnightly": Span(days=14),
    "four_weekly": Span(days=28),
    "monthly": Span(months=1),
    "quarterly": Span(months=3),
    "annually": Span(months=6),
}
_FOUR_WEEKS: Final = Span(days=28)
_HA_1988: Final = "Housing Act 1988 s8 and Sch 2"
_RHWA: Final = "Renting Homes (Wales) Act 2016"
_NI: Final = "Private Tenancies (Northern Ireland) Order 2006 art 14"
_OF_WALES: Final[Mapping[NoticeGround, str]] = {
    "breach": f"{_RHWA} s159",
    "anti_social_behaviour": f"{_RHWA} s159",
    "estate_management": f"{_RHWA} s161",
    "serious_arrears": f"{_RHWA} s182 and s188",
}


def is_tabled(row: TenancyRow, served: str) -> bool:
    """Whether the law of the day on which a notice was served is in these tables."""
    first, last = _UNTABLED.get(row.type, ("9999", ""))
    return not first <= served <= last


def table_of_england(served: str) -> Mapping[str, Span]:
    """The grounds of section 8 on a day, with what each asks for."""
    return ENGLAND if served >= tenancy_states.PERIODIC_FROM else ENGLAND_BEFORE


def of_tenant(row: TenancyRow, served: str) -> Shortest | None:
    """The shortest notice of a tenant; None: the agreement says it."""
    if row.type == "occupation_contract":
        return Shortest(_FOUR_WEEKS, f"{_RHWA} s164")
    if row.type == "private_residential_tenancy":
        source = "Private Housing (Tenancies) (Scotland) Act 2016 s49(3): 28 days, and the tenancy ends after the last"
        return Shortest(Span(days=29), source)
    if row.type == "private_tenancy_ni":
        long = served > Span(months=12 * _LONG_IN_NI_YEARS).after(row.start_date)
        return Shortest(Span(days=84) if long else _FOUR_WEEKS, _NI)
    if row.type in ("assured_periodic", "assured_shorthold") and served >= tenancy_states.PERIODIC_FROM:
        return Shortest(Span(months=2), "Protection from Eviction Act 1977 s5(1ZA)")
    return None if row.type == "commercial_lease" else _common_law(row, served)


def of_landlord(row: TenancyRow, kind: NoticeKind, served: str) -> Shortest | None:
    """The shortest notice of a landlord, of a kind that the law knows there, for the grounds it names.

    Of several grounds the longest counts. None: no law says it, or it depends on grounds that nobody named.
    """
    if kind == "section_8":
        return _section_8(row, served)
    if kind == "section_21":
        return Shortest(Span(months=2), "Housing Act 1988 s21(1)(b) and (4)(a)")
    if kind in ("section_173", "section_186", "section_194", "possession_notice"):
        return _of_wales(row, kind, served)
    if kind == "notice_to_leave":
        return _notice_to_leave(row, served)
    if kind == "section_25":
        return Shortest(Span(months=6), "Landlord and Tenant Act 1954 s25(2)")
    if row.type == "private_tenancy_ni":
        return Shortest(_by_length_in_ni(row, served), _NI)
    return None if row.type == "commercial_lease" else _common_law(row, served)


def _section_8(row: TenancyRow, served: str) -> Shortest | None:
    """Chosen: with ground 14, since 2026 with 7A too, proceedings may begin at once whatever is named beside it.

    So s8(4) has it of ground 14, "whether with or without other grounds".
    """
    table = table_of_england(served)
    spans = {table[ground] for ground in row.notice_grounds if ground in table}
    if not spans or AT_ONCE in spans:
        return None
    return Shortest(max(spans, key=lambda span: span.after(served)), _HA_1988)


def _of_wales(row: TenancyRow, kind: NoticeKind, served: str) -> Shortest | None:
    converted = row.start_date < WALES_SINCE
    if kind == "section_173":
        if converted and served <= _WALES_CONVERTED_UNTIL:
            return Shortest(Span(months=2), f"{_RHWA} Sch 12")
        return Shortest(Span(months=6), f"{_RHWA} s174")
    if kind == "section_186":
        return Shortest(Span(months=2), f"{_RHWA} s186, Sch 12 para 25B")
    if kind == "section_194":
        if converted:
            return Shortest(Span(months=2), f"{_RHWA} Sch 12 para 25D")
        return Shortest(Span(months=6), f"{_RHWA} s195")
    found = [(WALES[ground], _OF_WALES[ground]) for ground in row.notice_grounds if ground in WALES]
    return Shortest(*max(found, key=lambda one: one[0].after(served))) if found else None


def _notice_to_leave(row: TenancyRow, served: str) -> Shortest | None:
    """The day that is stated in the notice is the one after the last of these (s62(4))."""
    if not row.notice_grounds:
        return None
    soon = served <= Span(months=_SCOTLAND_SOON_MONTHS).after(row.start_date)
    short = soon or _SCOTLAND_OF_CONDUCT.issuperset(row.notice_grounds)
    source = "Private Housing (Tenancies) (Scotland) Act 2016 s54(2) and (3)"
    return Shortest(_FOUR_WEEKS if short else Span(days=84), source)


def _by_length_in_ni(row: TenancyRow, served: str) -> Span:
    if served > Span(months=12 * _LONG_IN_NI_YEARS).after(row.start_date):
        return Span(days=84)
    return Span(days=56) if served > Span(months=12).after(row.start_date) else _FOUR_WEEKS


def _common_law(row: TenancyRow, served: str) -> Shortest:
    """A period of the rent, and of a dwelling that is let four weeks at least."""
    period = Shortest(_PERIODS[row.rent_frequency], "common law: a period of the rent")
    if row.type in ("lodger", "other"):  # Chosen: excluded from the Act (s3A), or nobody knows
        return period
    least = Shortest(_FOUR_WEEKS, "Protection from Eviction Act 1977 s5(1)(b)")
    return max(least, period, key=lambda one: one.span.after(served))
