"""What the law asks of a notice to end a tenancy, told in `warnings` (Domain B4). Pure; nothing is refused for it."""

from collections.abc import Iterator, Mapping
from typing import Final

from gatewayd.areas.landlord.register import tenancy_states
from gatewayd.areas.landlord.register.tenancy_shapes import NoticeBy, NoticeGround, NoticeKind, TenancyRow, TenancyType
from gatewayd.areas.landlord.tenancies import notice_periods
from gatewayd.areas.landlord.tenancies.notice_periods import Span
from gatewayd.areas.landlord.tenancies.shapes import TenancyWarning, TenancyWarningCode
from gatewayd.errors import FieldError

OF_TENANT: Final[NoticeKind] = "tenant_notice"
OF_EITHER: Final[NoticeKind] = "notice_to_quit"
_WITH_GROUNDS: Final[Mapping[NoticeKind, frozenset[str]]] = {
    "section_8": frozenset({*notice_periods.ENGLAND, *notice_periods.ENGLAND_BEFORE}),
    "notice_to_leave": notice_periods.SCOTLAND,
    "possession_notice": frozenset(notice_periods.WALES),
}
_ENGLAND: Final = frozenset[NoticeKind]({"section_8", "section_21"})
_CONTRACT: Final = frozenset[NoticeKind]({"notice_to_quit"})
_OF_TYPE: Final[Mapping[TenancyType, frozenset[NoticeKind]]] = {
    "assured_periodic": frozenset({"section_8"}),
    "assured_shorthold": _ENGLAND,
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
            yield FieldError(path, "conflict", "The ground is named twice.")
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
    if not notice_periods.is_tabled(row, served):
        return
    kind = row.notice_kind
    if row.notice_by == "tenant":
        yield from _too_short(notice_periods.of_tenant(row, served), served, expiry, by_agreement=True)
    elif kind is None:
        if row.notice_by == "landlord":
            yield _warning("notice_kind_missing", f"Which notice was served? The law knows {_known(row, served)}.")
    elif kind not in _kinds(row, served):
        yield _warning("notice_kind_unknown", _unknown(row, kind, served))
    else:
        yield from _of_grounds(row, kind, served)
        yield from _too_early(row, kind, served, expiry)
        yield from _too_short(notice_periods.of_landlord(row, kind, served), served, expiry)


def _kinds(row: TenancyRow, served: str) -> frozenset[NoticeKind]:
    kinds = _OF_TYPE.get(row.type, _CONTRACT)
    return kinds - {"section_21"} if served >= tenancy_states.PERIODIC_FROM else kinds


def _known(row: TenancyRow, served: str) -> str:
    return " or ".join(f"`{kind}`, {_NAMES[kind]}" for kind in sorted(_kinds(row, served)))


def _unknown(row: TenancyRow, kind: NoticeKind, served: str) -> str:
    if kind == "section_21" and row.type == "assured_shorthold":
        return (
            f"Since {tenancy_states.PERIODIC_FROM} no notice under section 21 of the Housing Act 1988 is given"
            f" (Renters' Rights Act 2025 s2), and this one was served on {served}: it takes one under section 8, with"
            " grounds."
        )
    return f"The law does not know {_NAMES[kind]} for this tenancy, but {_known(row, served)}."


def _of_grounds(row: TenancyRow, kind: NoticeKind, served: str) -> Iterator[TenancyWarning]:
    if kind in _WITH_GROUNDS and not row.notice_grounds:
        yield _warning("notice_ground_missing", f"On which grounds? {_NAMES[kind].capitalize()} names them.")
    for ground in row.notice_grounds:
        if kind == "section_8" and ground not in notice_periods.table_of_england(served):
            message = f"Schedule 2 of the Housing Act 1988 has no ground {ground} on {served}."
            yield _warning("notice_ground_unknown", message)
        was_for_a_while = kind == "notice_to_leave" and ground in notice_periods.SCOTLAND_FOR_A_WHILE
        if was_for_a_while and not _SCOTLAND_FIRST <= served <= _SCOTLAND_LAST:
            message = f"Ground {ground} was one from {_SCOTLAND_FIRST} to {_SCOTLAND_LAST} alone"
            source = "Cost of Living (Tenant Protection) (Scotland) Act 2022 Sch 2 para 4"
            yield _warning("notice_ground_unknown", f"{message} ({source}).")


def _too_early(row: TenancyRow, kind: NoticeKind, served: str, expiry: str) -> Iterator[TenancyWarning]:
    """Notices that the law has only after some time of the tenancy."""
    converted = row.start_date < notice_periods.WALES_SINCE
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
    shortest: notice_periods.Shortest | None, served: str, expiry: str, *, by_agreement: bool = False
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
    if kind in _ENGLAND and row.type in _OF_TYPE and row.type.startswith("assured"):
        old = served < tenancy_states.PERIODIC_FROM
        if is_past or (old and today >= tenancy_states.PERIODIC_FROM):
            yield _warning("notice_proceedings_by", _proceedings(kind, served, old=old))
    if is_past:
        message = (
            f"The notice expired on {expiry}, and nobody said that the tenants left: a notice of the landlord does not"
            " end the tenancy, and rent is due. Give `endedDate` if they left, or take the notice back with"
            " `noticeServedDate` null if they stay."
        )
        yield _warning("notice_expired", message)


def _proceedings(kind: NoticeKind | None, served: str, *, old: bool) -> str:
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
