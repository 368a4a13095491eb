"""Dates as files hold them, and the order of day and month (Domain E)."""

import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatewayd.statements.dates import DateOrder, is_date, parse_date


@pytest.mark.parametrize(
    "text",
    [
        *("25/12/2026", "25-12-2026", "25.12.2026", "25/12/26", "25 Dec 2026", "25-Dec-2026", "25 December 2026"),
        *("25 dec 26", "2026-12-25", "2026/12/25", "20261225", "25122026", "Dec 25, 2026", "25/12'26", "25/12' 6"),
        *("2026-12-25 10:11:12 +0000", "2026-12-25T23:30:00Z", "25/12/2026 10:11", "Friday, 25 December 2026"),
    ],
)
def test_a_date_is_read_with_days_first(text: str) -> None:
    assert parse_date(text, "dd/mm/yyyy") == ("2006-12-25" if text.endswith(" 6") else "2026-12-25")


def test_the_format_decides_where_the_text_does_not() -> None:
    assert parse_date("05/06/2026", "dd/mm/yyyy") == "2026-06-05"
    assert parse_date("05/06/2026", "mm/dd/yyyy") == "2026-05-06"
    assert parse_date("26/06/05", "yy/mm/dd") == "2026-06-05"
    assert parse_date("2026-05-06", "mm/dd/yyyy") == "2026-05-06"


def test_two_digits_of_a_year_are_of_the_century_that_has_files() -> None:
    assert parse_date("01/02/69", "dd/mm/yyyy") == "2069-02-01"
    assert parse_date("01/02/70", "dd/mm/yyyy") == "1970-02-01"


@pytest.mark.parametrize(
    "text", ["", "soon", "31/02/2026", "13/13/2026", "00/01/2026", "1/2", "32 Dec 2026", "5 Foo 2026"]
)
def test_what_is_no_date_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is no date"):
        parse_date(text, "dd/mm/yyyy")
    assert not is_date(text)


def order_of(*texts: str) -> tuple[str, ...]:
    order = DateOrder()
    for text in texts:
        order.add(text)
    return order.formats()


def test_one_date_that_can_be_read_one_way_alone_settles_the_order() -> None:
    assert order_of("01/02/2026", "13/02/2026") == ("dd/mm/yyyy",)
    assert order_of("01/02/2026", "02/13/2026") == ("mm/dd/yyyy",)
    assert order_of("2026-02-01") == ("yyyy-mm-dd",)
    assert order_of("1 Feb 2026") == ("dd mon yyyy",)


def test_the_order_stays_open_where_nothing_or_both_show_it() -> None:
    assert order_of("01/02/2026", "03/04/2026") == ("dd/mm/yyyy", "mm/dd/yyyy")
    assert order_of("13/02/2026", "02/13/2026") == ("dd/mm/yyyy", "mm/dd/yyyy")
    assert order_of("05/05/2026", "no date") == ("dd/mm/yyyy",)  # the same day in both


@given(st.dates(min_value=datetime.date(1971, 1, 1), max_value=datetime.date(2069, 12, 31)))
def test_every_way_of_writing_a_day_means_the_same(day: datetime.date) -> None:
    iso = day.isoformat()
    named = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"][day.month - 1]
    assert parse_date(f"{day:%d/%m/%Y}", "dd/mm/yyyy") == iso
    assert parse_date(f"{day:%d/%m/%y}", "dd/mm/yyyy") == iso
    assert parse_date(f"{day:%m/%d/%Y}", "mm/dd/yyyy") == iso
    assert parse_date(f"{day.day} {named} {day.year}", "dd/mm/yyyy") == iso
    assert parse_date(f"{day:%Y%m%d}", "yyyy-mm-dd") == iso
