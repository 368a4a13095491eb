"""What the law asks of a notice to end a tenancy, told in `warnings` (Domain B4). Pure; nothing is refused for it.

How long before it expires a notice is served, by whose it is, where, and on which day, stands in tables. Days are ISO
texts.

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
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from gatewayd.areas.landlord.register import tenancy_states
from gatewayd.areas.landlord.register.tenancy_shapes import (
    NoticeBy,
    NoticeGround,
    NoticeKind,
    RentFrequency,
    TenancyRow,
    TenancyType,
)
from gatewayd.areas.landlord.tenancies.shapes import TenancyWarning, TenancyWarningCode
from gatewayd.clock import LAST_DATE, days_after, months_later
from gatewayd.errors import FieldError

WALES_SINCE: Final = "2022-12-01"
_WALES_CONVERTED_UNTIL: Final = "2023-05-31"
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


def _by_ground(groups: Mapping[Span, str]) -> Mapping[str, Span]:
    return {ground: span for span, grounds in groups.items() for ground in grounds.split()}


AT_ONCE: Final = Span()
ENGLAND: Final = _by_ground(
    {
        Span(months=4): "1 1A 1B 2 2ZA 2ZB 2ZC 2ZD 4A 6 6A 6B",
        Span(months=2): "5 5A 5B 5C 5D 5H 7 9",
        Span(days=28): "5E 5F 5G 8 10 11 18",
        Span(days=14): "4 7B 12 13 14ZA 14A 15 17",
        AT_ONCE: "7A 14",
    }
)
"""Of notices under section 8 that are served on 1 May 2026 or later, by ground."""
ENGLAND_BEFORE: Final = _by_ground(
    {
        Span(months=2): "1 2 5 6 7 9 16",
        Span(days=28): "7A",  # Chosen: of a periodic tenancy that of a notice to quit, of a term a month
        Span(days=14): "3 4 7B 8 10 11 12 13 14ZA 14A 15 17",
        AT_ONCE: "14",
    }
)
"""Of those that were served before."""
WALES: Final = _by_ground(
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
    by_ground = [(WALES[ground], _OF_WALES[ground]) for ground in row.notice_grounds if ground in WALES]
    return Shortest(*max(by_ground, key=lambda pair: pair[0].after(served))) if by_ground else None


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
    return max(least, period, key=lambda shortest: shortest.span.after(served))


# -- what of a notice that was served is not as the law asks for

OF_TENANT: Final[NoticeKind] = "tenant_notice"
OF_EITHER: Final[NoticeKind] = "notice_to_quit"
_WITH_GROUNDS: Final[Mapping[NoticeKind, frozenset[str]]] = {
    "section_8": frozenset({*ENGLAND, *ENGLAND_BEFORE}),
    "notice_to_leave": SCOTLAND,
    "possession_notice": frozenset(WALES),
}
_OF_ENGLAND: Final = frozenset[NoticeKind]({"section_8", "section_21"})
_CONTRACT: Final = frozenset[NoticeKind]({"notice_to_quit"})
_OF_TYPE: Final[Mapping[TenancyType, frozenset[NoticeKind]]] = {
    "assured_periodic": frozenset({"section_8"}),
    "assured_shorthold": _OF_ENGLAND,
    "occupation_contract": frozenset({"section_173", "section_186", "section_194", "possession_notice"}),
    "private_residential_tenancy": frozenset({"notice_to_leave"}),
    "commercial_lease": frozenset({"section_25", "notice_to_quit"}),
}
"""What a landlord serves; a notice to quit where nothing else is said."""
_NAMES: Final[Mapping[NoticeKind, str]] = {
    "section_8": "a notice under section 8 of the Housing Act 1988",
    "section_21": "a notice under section 21 of the Housing Act 1988",
    "section_173": "a notice under section 173 of the Renting Homes (Wales) Act 2016",
    "section_186": "a notice under section 186 of the Renting Homes (Wales) Act 2016",
    "section_194": "a notice by a break clause (Renting Homes (Wales) Act 2016 s194)",
    "possession_notice": "a possession notice with grounds (Renting Homes (Wales) Act 2016 s157, s160, s181)",
    "notice_to_leave": "a notice to leave (Private Housing (Tenancies) (Scotland) Act 2016 s50)",
    "notice_to_quit": "a notice to quit",
    "section_25": "a notice under section 25 of the Landlord and Tenant Act 1954",
    "tenant_notice": "a notice of the tenant",
}
_SCOTLAND_FIRST, _SCOTLAND_LAST = "2022-10-28", "2024-03-31"  # of the grounds that were for a while
_S21_WAITS_SINCE: Final = "2015-10-01"  # for tenancies of that day or later (Deregulation Act 2015 s36)
_LAST_PROCEEDINGS: Final = "2026-07-31"  # of what was served before 1 May 2026 (Renters' Rights Act 2025 Sch 6)
_GROUND_WAITS: Final[Mapping[NoticeGround, int]] = {"1": 12, "1A": 12, "6": 6}
"""Months between the start of the tenancy and the day named in a notice of 1 May 2026 or later."""


def mistakes(row: TenancyRow) -> Iterator[FieldError]:
    """What of a notice that was served contradicts itself."""
    kind, by = row.notice_kind, row.notice_by
    if by is not None and by != (whose(kind) or by):
        yield FieldError("noticeKind", "conflict", f"It is {_NAMES[kind or OF_TENANT]}, and not of the {by}.")
    known = frozenset[str]() if kind is None else _WITH_GROUNDS.get(kind, frozenset())
    for index, ground in enumerate(row.notice_grounds):
        path = f"noticeGrounds[{index}]"
        if ground in row.notice_grounds[:index]:
            yield FieldError(path, "conflict", "The ground is named twice: name it once.")
        elif ground not in known:
            what = "Of what kind is the notice?" if kind is None else f"It is no ground of {_NAMES[kind]}."
            yield FieldError(path, "conflict", what)


def whose(kind: NoticeKind | None) -> NoticeBy | None:
    """By whom a kind of notice is given: landlord, tenant; None: either may."""
    if kind in (None, OF_EITHER):
        return None
    return "tenant" if kind == OF_TENANT else "landlord"


def warnings(row: TenancyRow, today: str) -> Iterator[TenancyWarning]:
    """What there is to say of a notice today, as long as the tenancy has not ended."""
    served, expiry = row.notice_served_date, row.notice_expiry_date
    if served is None or expiry is None or tenancy_states.status_of(row, today) == "ended":
        return
    if row.notice_by is None and row.type in tenancy_states.HELD_UNTIL_LEFT:
        message = (
            "Nobody said whose notice it is: give `noticeBy`. Until then it counts as the landlord's, past which the"
            " tenancy goes on until somebody has left."
        )
        yield _warning("notice_by_missing", message)
    yield from _of_law(row, served, expiry)
    yield from _of_time(row, served, expiry, today)


def _of_law(row: TenancyRow, served: str, expiry: str) -> Iterator[TenancyWarning]:
    """What is not as the law asks for on the day of service."""
    if not is_tabled(row, served):
        return
    kind = row.notice_kind
    if row.notice_by == "tenant":
        yield from _too_short(of_tenant(row, served), served, expiry, by_agreement=True)
    elif kind is None:
        if row.notice_by == "landlord":
            yield _warning(
                "notice_kind_missing", f"Which notice was served? The law knows {_known_kinds_text(row, served)}."
            )
    elif kind not in _kinds_of(row, served):
        yield _warning("notice_kind_unknown", _unknown_kind_text(row, kind, served))
    else:
        yield from _of_grounds(row, kind, served)
        yield from _too_early(row, kind, served, expiry)
        yield from _too_short(of_landlord(row, kind, served), served, expiry)


def _kinds_of(row: TenancyRow, served: str) -> frozenset[NoticeKind]:
    kinds = _OF_TYPE.get(row.type, _CONTRACT)
    return kinds - {"section_21"} if served >= tenancy_states.PERIODIC_FROM else kinds


def _known_kinds_text(row: TenancyRow, served: str) -> str:
    return " or ".join(f"`{kind}`, {_NAMES[kind]}" for kind in sorted(_kinds_of(row, served)))


def _unknown_kind_text(row: TenancyRow, kind: NoticeKind, served: str) -> str:
    if kind == "section_21" and row.type == "assured_shorthold":
        return (
            f"Since {tenancy_states.PERIODIC_FROM} no notice under section 21 of the Housing Act 1988 is given"
            f" (Renters' Rights Act 2025 s2), and this one was served on {served}: it takes one under section 8, with"
            " grounds."
        )
    return f"The law does not know {_NAMES[kind]} for this tenancy, but {_known_kinds_text(row, served)}."


def _of_grounds(row: TenancyRow, kind: NoticeKind, served: str) -> Iterator[TenancyWarning]:
    if kind in _WITH_GROUNDS and not row.notice_grounds:
        yield _warning("notice_ground_missing", f"On which grounds? {_NAMES[kind].capitalize()} names them.")
    for ground in row.notice_grounds:
        if kind == "section_8" and ground not in table_of_england(served):
            message = f"Schedule 2 of the Housing Act 1988 has no ground {ground} on {served}."
            yield _warning("notice_ground_unknown", message)
        was_for_a_while = kind == "notice_to_leave" and ground in SCOTLAND_FOR_A_WHILE
        if was_for_a_while and not _SCOTLAND_FIRST <= served <= _SCOTLAND_LAST:
            message = f"Ground {ground} was one from {_SCOTLAND_FIRST} to {_SCOTLAND_LAST} alone"
            source = "Cost of Living (Tenant Protection) (Scotland) Act 2022 Sch 2 para 4"
            yield _warning("notice_ground_unknown", f"{message} ({source}).")


def _too_early(row: TenancyRow, kind: NoticeKind, served: str, expiry: str) -> Iterator[TenancyWarning]:
    """Notices that the law has only after some time of the tenancy."""
    converted = row.start_date < WALES_SINCE
    if kind == "section_21" and row.start_date >= _S21_WAITS_SINCE:
        yield from _served_early(row, served, Span(months=4), "Housing Act 1988 s21(4B)")
    elif kind == "section_173":
        months = Span(months=4 if converted else 6)
        yield from _served_early(row, served, months, "Renting Homes (Wales) Act 2016 s175, Sch 12")
    elif kind == "section_194":
        months = Span(months=4 if converted else 18)
        yield from _served_early(row, served, months, "Renting Homes (Wales) Act 2016 s196, Sch 12 para 25D")
    elif kind == "section_8" and served >= tenancy_states.PERIODIC_FROM:
        for ground in row.notice_grounds:
            first = Span(months=_GROUND_WAITS.get(ground, 0)).after(row.start_date)
            if ground in _GROUND_WAITS and expiry < first:
                message = (
                    f"Ground {ground} is one from {_GROUND_WAITS[ground]} months of the tenancy on: a notice on it"
                    f" expires on {first} at the earliest (Housing Act 1988 Sch 2)."
                )
                yield _warning("notice_too_early", message)


def _served_early(row: TenancyRow, served: str, wait: Span, source: str) -> Iterator[TenancyWarning]:
    first = wait.after(row.start_date)
    if served < first:
        message = (
            f"Such a notice is not served in the first {wait} of a tenancy: on {first} at the earliest ({source})."
        )
        yield _warning("notice_too_early", message)


def _too_short(
    shortest: Shortest | None, served: str, expiry: str, *, by_agreement: bool = False
) -> Iterator[TenancyWarning]:
    if shortest is None or expiry >= shortest.span.after(served):
        return
    less = ", unless the landlord agreed to less" if by_agreement else ""
    message = (
        f"The notice is {shortest.span} at least{less}: served on {served} it expires on"
        f" {shortest.span.after(served)} at the earliest ({shortest.source})."
    )
    yield _warning("notice_too_short", message)


def _of_time(row: TenancyRow, served: str, expiry: str, today: str) -> Iterator[TenancyWarning]:
    """What has become of a notice by today."""
    is_past = tenancy_states.is_past_notice(row, today)
    kind = row.notice_kind
    known = kind in _OF_ENGLAND and kind in _kinds_of(row, served)  # on another there are no proceedings
    if known and row.type in _OF_TYPE and row.type.startswith("assured"):
        old = served < tenancy_states.PERIODIC_FROM
        if is_past or (old and today >= tenancy_states.PERIODIC_FROM):
            yield _warning("notice_proceedings_by", _proceedings_text(kind, served, old=old))
    if is_past:
        message = (
            f"The notice expired on {expiry}, and nobody said that the tenants left: a notice of the landlord does not"
            " end the tenancy, and rent is due. Give `endedDate` if they left, or take the notice back with"
            " `noticeServedDate` null if they stay."
        )
        yield _warning("notice_expired", message)


def _proceedings_text(kind: NoticeKind | None, served: str, *, old: bool) -> str:
    months, source = (12, "s8(3)(c)") if kind == "section_8" else (6, "s21(4D)")
    by = Span(months=months).after(served)
    if not old:
        return f"Proceedings on this notice have to begin by {by} (Housing Act 1988 {source})."
    last = min(by, _LAST_PROCEEDINGS)
    return (
        f"This notice of before {tenancy_states.PERIODIC_FROM} keeps the law of its day for proceedings that begin by"
        f" {last} (Housing Act 1988 {source}, Renters' Rights Act 2025 Sch 6); later it takes a new one under"
        " section 8."
    )


def _warning(code: TenancyWarningCode, message: str) -> TenancyWarning:
    return TenancyWarning(code=code, message=message)
