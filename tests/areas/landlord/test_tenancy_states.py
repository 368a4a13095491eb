"""What a tenancy is on each day of 2024 to 2028, beside a walk over the days that knows the law and no formula."""

import datetime
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gatewayd.areas.landlord.register import tenancy_states
from gatewayd.areas.landlord.register.tenancy_shapes import NoticeBy, NoticeGround, NoticeKind, TenancyRow, TenancyType
from gatewayd.clock import from_wire

FIRST, LAST = datetime.date(2024, 1, 1), datetime.date(2028, 12, 31)
AT = from_wire("2026-11-20T09:30:00Z")


class Agreed(NamedTuple):
    """What is known of a tenancy: its term, a notice, and when it ended after all."""

    type: TenancyType
    start: datetime.date
    term: datetime.date | None = None
    end: datetime.date | None = None
    served: datetime.date | None = None
    expiry: datetime.date | None = None
    cancelled: bool = False
    by: NoticeBy | None = None


class Seen(NamedTuple):
    """What is served of a tenancy on a day."""

    status: str
    type: str
    converted_from: str | None
    end: str | None


def text(day: datetime.date | None) -> str | None:
    return None if day is None else day.isoformat()


def row_of(agreed: Agreed, kind: NoticeKind | None = None, grounds: Sequence[NoticeGround] = ()) -> TenancyRow:
    return TenancyRow(
        id="tcy_1",
        external_id=None,
        property_id="prop_1",
        unit_id=None,
        tenant_ids=["tnt_1"],
        tenant_spans=[],
        type=agreed.type,
        start_date=agreed.start.isoformat(),
        term_end_date=text(agreed.term),
        end_date=text(agreed.end),
        rent_frequency="monthly",
        rent_due_day=1,
        rent_quarter_days=None,
        bills_included=False,
        currency="GBP",
        rent_history=[],
        deposit_amount=None,
        deposit_scheme=None,
        deposit_reference=None,
        deposit_received_date=None,
        deposit_protected_date=None,
        deposit_returned_amount=None,
        deposit_returned_date=None,
        notice_served_date=text(agreed.served),
        notice_by=agreed.by,
        notice_kind=kind,
        notice_grounds=[*grounds],
        notice_expiry_date=text(agreed.expiry),
        notes=None,
        cancelled_at=AT if agreed.cancelled else None,
        created_at=AT,
        updated_at=AT,
        version=1,
    )


def days() -> Iterator[datetime.date]:
    day = FIRST
    while day <= LAST:
        yield day
        day += datetime.timedelta(days=1)


def walk(agreed: Agreed) -> Iterator[Seen]:
    """What happens, a day at a time: it begins, a notice is served, the law changes, it ends the night after its last
    day. Nothing that ended begins again."""
    begun = over = False
    type_, was = str(agreed.type), None
    last: datetime.date | None = None
    for day in days():
        yesterday = day - datetime.timedelta(days=1)
        begun = begun or agreed.start <= day
        if not agreed.cancelled:
            # of these types a company's let alone ends with its term, or with what its landlord's notice says
            contractual = type_ == "company_let"
            expiry = agreed.expiry if contractual or agreed.by == "tenant" else None
            term = agreed.term if contractual else None
            last = agreed.end or expiry or term
            over = over or (begun and last == yesterday)
            if (day.year, day.month, day.day) == (2026, 5, 1) and type_ == "assured_shorthold" and not over:
                type_, was = "assured_periodic", type_
        status = "upcoming"
        if agreed.cancelled:
            status = "cancelled"
        elif over:
            status = "ended"
        elif begun:
            status = "notice" if agreed.served is not None and agreed.served <= day else "active"
        yield Seen(status, type_, was, text(last))


def seen(row: TenancyRow, day: str) -> Seen:
    type_, was = tenancy_states.type_of(row, day)
    return Seen(tenancy_states.status_of(row, day), type_, was, tenancy_states.last_day(row))


near = st.integers(-3, 3).map(lambda days: datetime.date(2026, 5, 1) + datetime.timedelta(days=days))
some_day = st.one_of(near, st.dates(FIRST + datetime.timedelta(days=1), LAST))


@st.composite
def agreements(draw: st.DrawFn) -> Agreed:
    type_: TenancyType = draw(
        st.sampled_from(["assured_shorthold", "assured_periodic", "occupation_contract", "company_let"])
    )
    latest = datetime.date(2026, 4, 30) if type_ == "assured_shorthold" else LAST
    start = min(draw(some_day), latest)

    def later() -> datetime.date | None:
        day = draw(st.none() | some_day)
        return None if day is None else max(day, start)

    expiry = later()
    served = None if expiry is None else min(draw(some_day), expiry)
    by: NoticeBy | None = None if served is None else draw(st.sampled_from(["landlord", "tenant", None]))
    return Agreed(type_, start, later(), later(), served, expiry, draw(st.integers(0, 9)) == 0, by)


@settings(max_examples=60, deadline=None)
@given(agreed=agreements())
def test_each_day_is_what_a_walk_over_the_days_comes_to(agreed: Agreed) -> None:
    row = row_of(agreed)
    for day, expected in zip(days(), walk(agreed), strict=True):
        found = seen(row, day.isoformat())
        if agreed.cancelled:  # nothing becomes of what never began
            assert (found.status, found.type, found.converted_from) == ("cancelled", agreed.type, None)
        else:
            assert found == expected, day


@settings(max_examples=200, deadline=None)
@given(agreed=agreements())
def test_it_is_over_the_day_after_its_last_day_and_not_before(agreed: Agreed) -> None:
    row = row_of(agreed._replace(cancelled=False))
    last = tenancy_states.last_day(row)
    if last is None:
        assert tenancy_states.status_of(row, "9999-12-31") in ("active", "notice")
        return
    after = datetime.date.fromisoformat(last) + datetime.timedelta(days=1)
    assert tenancy_states.status_of(row, last) in ("active", "notice")
    assert tenancy_states.status_of(row, after.isoformat()) == "ended"


def day(month: int, of_month: int, year: int = 2026) -> datetime.date:
    return datetime.date(year, month, of_month)


@pytest.mark.parametrize(
    ("agreed", "on", "expected"),
    [
        (Agreed("assured_periodic", day(6, 1)), "2026-05-31", "upcoming"),
        (Agreed("assured_periodic", day(6, 1)), "2026-06-01", "active"),
        (Agreed("occupation_contract", day(1, 1), term=day(6, 30)), "2026-07-01", "active"),
        (Agreed("company_let", day(1, 1), term=day(6, 30)), "2026-06-30", "active"),
        (Agreed("company_let", day(1, 1), term=day(6, 30)), "2026-07-01", "ended"),
        (Agreed("other", day(1, 1), served=day(3, 1), expiry=day(4, 30)), "2026-02-28", "active"),
        (Agreed("other", day(1, 1), served=day(3, 1), expiry=day(4, 30)), "2026-03-01", "notice"),
        (Agreed("other", day(1, 1), served=day(3, 1), expiry=day(4, 30)), "2026-04-30", "notice"),
        (Agreed("other", day(1, 1), served=day(3, 1), expiry=day(4, 30)), "2026-05-01", "ended"),
        # out before the notice expired, or later than that
        (Agreed("other", day(1, 1), end=day(4, 9), served=day(3, 1), expiry=day(4, 30)), "2026-04-10", "ended"),
        (Agreed("other", day(1, 1), end=day(5, 9), served=day(3, 1), expiry=day(4, 30)), "2026-05-09", "notice"),
        # served before the tenancy begins
        (Agreed("other", day(4, 1), served=day(3, 1), expiry=day(4, 30)), "2026-03-31", "upcoming"),
        (Agreed("other", day(4, 1), served=day(3, 1), expiry=day(4, 30)), "2026-04-01", "notice"),
        (Agreed("other", day(1, 1), cancelled=True), "2026-06-01", "cancelled"),
    ],
)
def test_the_edges_of_the_states(agreed: Agreed, on: str, expected: str) -> None:
    assert tenancy_states.status_of(row_of(agreed), on) == expected


@pytest.mark.parametrize(
    ("agreed", "on", "expected"),
    [
        # over the day before the change: nothing is converted
        (Agreed("assured_shorthold", day(5, 1, 2025), end=day(4, 30)), "2026-05-01", "ended shorthold 2026-04-30"),
        # its term alone was: it went on as a statutory periodic tenancy (Housing Act 1988 s5(2))
        (Agreed("assured_shorthold", day(5, 1, 2025), term=day(4, 30)), "2026-05-01", "active periodic None"),
        # the day of the change is one of its days
        (Agreed("assured_shorthold", day(5, 1, 2025), term=day(5, 1)), "2026-05-01", "active periodic None"),
        (Agreed("assured_shorthold", day(8, 1, 2025), term=day(7, 31)), "2026-04-30", "active shorthold None"),
        (Agreed("assured_shorthold", day(8, 1, 2025), term=day(7, 31)), "2026-05-01", "active periodic None"),
        (Agreed("assured_shorthold", day(8, 1, 2025), term=day(7, 31)), "2026-08-01", "active periodic None"),
        # an end after all, and a notice, hold
        (
            Agreed("assured_shorthold", day(8, 1, 2025), term=day(7, 31), end=day(9, 15)),
            "2026-09-16",
            "ended periodic 2026-09-15",
        ),
        (
            Agreed(
                "assured_shorthold", day(8, 1, 2025), term=day(7, 31), served=day(4, 1), expiry=day(6, 1), by="tenant"
            ),
            "2026-06-02",
            "ended periodic 2026-06-01",
        ),
        # a landlord's notice of before ends nothing: the tenant does, or a court (Housing Act 1988 s5(1), s21)
        (
            Agreed(
                "assured_shorthold",
                day(8, 1, 2025),
                term=day(1, 31),
                served=day(1, 10),
                expiry=day(3, 31),
                by="landlord",
            ),
            "2026-06-02",
            "notice periodic None",
        ),
        # other agreements keep their term
        (Agreed("company_let", day(8, 1, 2025), term=day(7, 31)), "2026-08-01", "ended company_let 2026-07-31"),
    ],
)
def test_assured_shortholds_become_periodic(agreed: Agreed, on: str, expected: str) -> None:
    found = seen(row_of(agreed), on)
    assert f"{found.status} {found.type.removeprefix('assured_')} {found.end}" == expected
    assert found.converted_from == (agreed.type if found.type != agreed.type else None)
