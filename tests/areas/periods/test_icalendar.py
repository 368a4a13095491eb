"""The iCalendar object, as another program's parser reads it (RFC 5545)."""

import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from icalendar import Calendar, Event

from gatewayd.areas.periods import icalendar
from gatewayd.areas.periods.icalendar import Deadline
from gatewayd.clock import from_wire

DAY = datetime.date(2026, 11, 7)
ONE = Deadline(
    uid="obl_1@gatewayd",
    day=DAY,
    summary="VAT return (Oak & Son)",
    description="For 1 July 2026 to 30 September 2026.\nPredicted by the calendar.",
    is_certain=True,
    is_done=False,
    created=from_wire("2026-01-02T03:04:05.600Z"),
    changed=from_wire("2026-02-03T04:05:06.700Z"),
    sequence=3,
)


def read(*deadlines: Deadline, name: str = "Deadlines", alarm_days: int = 14) -> Calendar:
    return Calendar.from_ical(icalendar.render(name, deadlines, alarm_days))


def only(calendar: Calendar) -> Event:
    (event,) = calendar.walk("VEVENT")
    assert event.errors == []
    return event


def test_the_object_says_what_it_is_and_how_often_to_come_again() -> None:
    calendar = read(name="Oak & Son")
    assert calendar.errors == []
    said = {name: str(calendar[name]) for name in ("VERSION", "CALSCALE", "METHOD", "NAME", "X-WR-CALNAME")}
    assert said == {
        "VERSION": "2.0",
        "CALSCALE": "GREGORIAN",
        "METHOD": "PUBLISH",
        "NAME": "Oak & Son",
        "X-WR-CALNAME": "Oak & Son",
    }
    assert calendar["REFRESH-INTERVAL"].dt == datetime.timedelta(hours=6)
    assert calendar.walk("VEVENT") == []


def test_names_are_escaped_as_texts_are() -> None:
    """RFC 5545 §3.3.11."""
    raw = icalendar.render("a\\b;c,d\ne", [], 14)
    assert b"\r\nNAME:a\\\\b\\;c\\,d\\ne\r\nX-WR-CALNAME:a\\\\b\\;c\\,d\\ne\r\n" in raw


def test_a_deadline_is_a_day_that_makes_nobody_busy() -> None:
    event = only(read(ONE))
    assert (event.decoded("DTSTART"), event.decoded("DTEND")) == (DAY, datetime.date(2026, 11, 8))
    assert event["DTSTART"].params["VALUE"] == "DATE"
    assert (str(event["UID"]), event["SEQUENCE"]) == (ONE.uid, 3)
    assert (str(event["SUMMARY"]), str(event["DESCRIPTION"])) == (ONE.summary, ONE.description)
    assert (event["STATUS"], event["TRANSP"], event["CLASS"]) == ("CONFIRMED", "TRANSPARENT", "PRIVATE")
    assert event.decoded("DTSTAMP") == datetime.datetime(2026, 2, 3, 4, 5, 6, tzinfo=datetime.UTC)
    assert event.decoded("CREATED") == datetime.datetime(2026, 1, 2, 3, 4, 5, tzinfo=datetime.UTC)


def test_what_is_predicted_is_tentative() -> None:
    assert only(read(ONE._replace(is_certain=False)))["STATUS"] == "TENTATIVE"


@pytest.mark.parametrize(("days", "hours"), [(14, [-(14 * 24 - 9), -15]), (1, [-15]), (0, [-15, 9])])
def test_alarms_are_in_the_morning(days: int, hours: list[int]) -> None:
    alarms = only(read(ONE, alarm_days=days)).walk("VALARM")
    assert [alarm["TRIGGER"].dt for alarm in alarms] == [datetime.timedelta(hours=each) for each in hours]
    assert {(str(alarm["ACTION"]), str(alarm["DESCRIPTION"])) for alarm in alarms} == {("DISPLAY", ONE.summary)}


def test_what_is_done_has_no_alarm() -> None:
    assert only(read(ONE._replace(is_done=True))).walk("VALARM") == []


@given(st.text(st.characters(exclude_categories=["Cs", "Cc"], include_characters="\n"), max_size=400))
def test_any_text_arrives_and_no_line_is_too_long(text: str) -> None:
    raw = icalendar.render("Deadlines", [ONE._replace(summary=text)], 14)
    assert raw.endswith(b"\r\n")
    lines = raw.removesuffix(b"\r\n").split(b"\r\n")
    assert max(map(len, lines)) <= 75
    assert not any(b"\n" in line or b"\r" in line for line in lines)
    for line in lines:
        line.decode()  # no character is cut in two
    assert str(only(Calendar.from_ical(raw))["SUMMARY"]) == text


@pytest.mark.parametrize("before", range(4))
@pytest.mark.parametrize("character", ["é", "€", "𝄞"])
def test_no_character_is_cut_in_two(character: str, before: int) -> None:
    text = before * "x" + 100 * character
    raw = icalendar.render("Deadlines", [ONE._replace(summary=text)], 14)
    assert [line.decode() for line in raw.split(b"\r\n") if len(line) > 75] == []
    assert all(line.decode() for line in raw.removesuffix(b"\r\n").split(b"\r\n"))
    assert str(only(Calendar.from_ical(raw))["SUMMARY"]) == text


def test_control_characters_and_line_breaks_end_no_line() -> None:
    raw = icalendar.render("x", [ONE._replace(summary="a\r\nBEGIN:VEVENT\rb\x00c\x1b")], 14)
    assert str(only(Calendar.from_ical(raw))["SUMMARY"]) == "a\nBEGIN:VEVENT b c "


def test_the_same_deadlines_are_the_same_bytes() -> None:
    assert icalendar.render("x", [ONE], 14) == icalendar.render("x", [ONE], 14)


def test_the_last_day_that_there_is_has_no_end() -> None:
    """RFC 5545 §3.6.1: such an event is of one day."""
    event = only(read(ONE._replace(day=datetime.date.max)))
    assert (event["DTSTART"].dt, "DTEND" in event) == (datetime.date.max, False)
