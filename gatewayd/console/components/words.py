"""How pages write days, moments, money and sizes: 22 Nov 2026, 3 minutes ago, £1,234.50, 20 MB."""

import datetime
from typing import Final

from gatewayd.clock import DAY, HOUR, MINUTE, Instant, to_wire
from gatewayd.money import from_minor

_MONTHS: Final = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_SYMBOLS: Final = {"GBP": "£", "EUR": "€", "USD": "US$"}
"""What stands before an amount; other currencies are written after it, by their code."""
_IN_WORDS: Final = 7 * DAY
"""Chosen: what is further away is said by its date."""


def iso(instant: Instant) -> str:
    """What `<time datetime>` has: `2026-11-22T14:05:00.000Z`."""
    return to_wire(instant)


def day(when: Instant | str) -> str:
    """An instant's day in UTC, or a date as the wire has it: `22 Nov 2026`."""
    text = when if isinstance(when, str) else to_wire(when)
    date = datetime.date.fromisoformat(text[:10])
    return f"{date.day} {_MONTHS[date.month - 1]} {date.year}"


def moment(instant: Instant) -> str:
    """`22 Nov 2026, 14:05 UTC`."""
    return f"{day(instant)}, {to_wire(instant)[11:16]} UTC"


def ago(instant: Instant, now: Instant) -> str:
    """How long ago it was, or how soon it will be; beyond a week the day."""
    apart = abs(now - instant)
    if apart < MINUTE:
        return "just now"
    if apart >= _IN_WORDS:
        return day(instant)
    units = ((DAY, "day"), (HOUR, "hour"), (MINUTE, "minute"))
    length, unit = next(each for each in units if apart >= each[0])
    count = apart // length
    words = f"{count} {unit}{'s' if count != 1 else ''}"
    return f"in {words}" if instant > now else f"{words} ago"


def money(amount: int, currency: str) -> str:
    """Minor units with their currency: `£1,234.50`, `-€3.00`, `1,200 JPY`."""
    whole, point, fraction = from_minor(abs(amount), currency).partition(".")
    text = f"{int(whole):,}{point}{fraction}"
    symbol = _SYMBOLS.get(currency)
    sign = "-" if amount < 0 else ""
    return f"{sign}{symbol}{text}" if symbol else f"{sign}{text} {currency}"


def size(count: int) -> str:
    """Bytes as people read them, in thousands: `20 MB`."""
    for unit, name in ((10**9, "GB"), (10**6, "MB"), (10**3, "kB")):
        if count >= unit:
            return f"{count / unit:.1f}".removesuffix(".0") + f" {name}"
    return f"{count} bytes"
