"""Times on the command line: a timestamp, how long ago, or a day."""

import argparse
import datetime
import re
from dataclasses import dataclass
from typing import Final

from gatewayd.clock import DAY, HOUR, MINUTE, SECOND, Instant, from_wire, to_wire

UNITS: Final = {"s": SECOND, "m": MINUTE, "h": HOUR, "d": DAY, "w": 7 * DAY}
_DURATION: Final = re.compile(r"(\d{1,6})([smhdw])", re.ASCII)
TIME_FORMS: Final = "a time such as 2026-11-20T09:30:00Z, or how long ago: 90s, 15m, 2h, 3d, 1w"


@dataclass(frozen=True, slots=True)
class TimeArgument:
    """What was typed: an instant, or microseconds before the present one."""

    instant: Instant | None
    ago: int = 0

    def wire(self, now: Instant) -> str:
        """The timestamp as requests have it."""
        return to_wire(Instant(max(0, now - self.ago)) if self.instant is None else self.instant)


def time_argument(text: str) -> TimeArgument:
    """The type of an argument that is a time."""
    duration = _DURATION.fullmatch(text)
    if duration is not None:
        return TimeArgument(None, int(duration[1]) * UNITS[duration[2]])
    try:
        return TimeArgument(from_wire(text))
    except (ValueError, OverflowError):
        raise argparse.ArgumentTypeError(f"{text!r} is not {TIME_FORMS}") from None


def civil_date(text: str) -> str:
    """The type of an argument that is a day: ISO."""
    try:
        return datetime.date.fromisoformat(text).isoformat()
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a date written YYYY-MM-DD") from None
