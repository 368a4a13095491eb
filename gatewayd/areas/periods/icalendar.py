"""Deadlines as an iCalendar object (RFC 5545, RFC 7986): days with an alarm, to be subscribed to. Pure.

Only what is written here is known: no parser, no recurrence, no time zone, since all that is due is due on a day.
"""

import datetime
import re
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from gatewayd.clock import Instant, to_wire

MEDIA_TYPE: Final = "text/calendar; charset=utf-8"
LINE_BYTES: Final = 75  # RFC 5545 §3.1: without the line break
REFRESH: Final = "PT6H"  # Chosen: a deadline that changes is in the calendar on the same day
ALARM_HOUR: Final = 9  # Chosen: of the day, in the reader's time

_PRODUCT: Final = "-//gatewayd//Obligations//EN"
_ESCAPED: Final = {"\\": "\\\\", ";": "\\;", ",": "\\,", "\n": "\\n"}  # RFC 5545 §3.3.11
_SPECIAL: Final = re.compile(r"[\\;,\n]")
_CONTROL: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")  # RFC 5545 §3.1: no part of any value


class Deadline(NamedTuple):
    """One day in the calendar. `uid` is the same through all its changes, `sequence` counts them.

    `is_certain` False: it is predicted. `is_done`: it needs no alarm any more.
    """

    uid: str
    day: datetime.date
    summary: str
    description: str
    is_certain: bool
    is_done: bool
    created: Instant
    changed: Instant
    sequence: int


def render(name: str, deadlines: Iterable[Deadline], alarm_days: int) -> bytes:
    """The object. Each day that is not done has an alarm `alarm_days` before it, and another one on its eve.

    The same arguments give the same bytes.
    """
    lines = [*_head(name)]
    for deadline in deadlines:
        lines += _event(deadline, alarm_days)
    lines.append("END:VCALENDAR")
    return b"".join(map(_folded, lines))


def _head(name: str) -> Iterator[str]:
    yield "BEGIN:VCALENDAR"
    yield "VERSION:2.0"
    yield f"PRODID:{_PRODUCT}"
    yield "CALSCALE:GREGORIAN"
    yield "METHOD:PUBLISH"
    yield f"NAME:{_text_value(name)}"  # RFC 7986 §5.1, and what was used before it
    yield f"X-WR-CALNAME:{_text_value(name)}"
    yield f"REFRESH-INTERVAL;VALUE=DURATION:{REFRESH}"  # RFC 7986 §5.7
    yield f"X-PUBLISHED-TTL:{REFRESH}"


def _event(deadline: Deadline, alarm_days: int) -> Iterator[str]:
    yield "BEGIN:VEVENT"
    yield f"UID:{deadline.uid}"
    # Chosen: RFC 5545 §3.8.7.2 has here when the object was made, which would make every answer another one.
    yield f"DTSTAMP:{_instant(deadline.changed)}"
    yield f"CREATED:{_instant(deadline.created)}"
    yield f"LAST-MODIFIED:{_instant(deadline.changed)}"
    yield f"SEQUENCE:{deadline.sequence}"
    yield f"DTSTART;VALUE=DATE:{_day(deadline.day)}"
    if deadline.day < datetime.date.max:  # which no day follows; without an end it is of one day (RFC 5545 §3.6.1)
        yield f"DTEND;VALUE=DATE:{_day(deadline.day + datetime.timedelta(days=1))}"  # the day that is no part of it
    yield f"SUMMARY:{_text_value(deadline.summary)}"
    yield f"DESCRIPTION:{_text_value(deadline.description)}"
    yield f"STATUS:{'CONFIRMED' if deadline.is_certain else 'TENTATIVE'}"
    yield "TRANSP:TRANSPARENT"  # a deadline makes nobody busy
    yield "CLASS:PRIVATE"
    if not deadline.is_done:
        for days in sorted({alarm_days, 1}, reverse=True):
            yield from _alarm(deadline.summary, days)
    yield "END:VEVENT"


def _alarm(summary: str, days: int) -> Iterator[str]:
    """An alarm in the morning, so many days before a day that begins at midnight; 0: on the day itself."""
    yield "BEGIN:VALARM"
    yield "ACTION:DISPLAY"
    yield f"DESCRIPTION:{_text_value(summary)}"
    yield f"TRIGGER:-PT{days * 24 - ALARM_HOUR}H" if days else f"TRIGGER:PT{ALARM_HOUR}H"
    yield "END:VALARM"


def _instant(moment: Instant) -> str:
    return re.sub(r"[-:]|\.\d+", "", to_wire(moment))


def _day(day: datetime.date) -> str:
    return day.strftime("%Y%m%d")


def _text_value(value: str) -> str:
    plain = _CONTROL.sub(" ", value.replace("\r\n", "\n"))
    return _SPECIAL.sub(lambda match: _ESCAPED[match[0]], plain)


def _folded(line: str) -> bytes:
    """The content line with its line break; a long one goes on behind line breaks with a space, between characters."""
    raw = line.encode()
    if len(raw) <= LINE_BYTES:
        return raw + b"\r\n"
    pieces = []
    room = LINE_BYTES
    while len(raw) > room:
        cut = room
        while raw[cut] & 0xC0 == 0x80:  # the inside of a character
            cut -= 1
        pieces.append(raw[:cut])
        raw, room = raw[cut:], LINE_BYTES - 1  # the space counts
    return b"\r\n ".join([*pieces, raw]) + b"\r\n"
