"""How pages write days, moments, money and sizes."""

import pytest

from gatewayd.clock import DAY, HOUR, MINUTE, SECOND, Instant, from_wire
from gatewayd.console.components import words

NOW = from_wire("2026-11-22T14:05:59.999Z")


def test_days_and_moments() -> None:
    assert words.day(NOW) == words.day("2026-11-22") == "22 Nov 2026"
    assert words.day("2026-02-03") == "3 Feb 2026"
    assert words.moment(NOW) == "22 Nov 2026, 14:05 UTC"
    assert words.iso(NOW) == "2026-11-22T14:05:59.999Z"


@pytest.mark.parametrize(
    ("apart", "past", "future"),
    [
        (0, "just now", "just now"),
        (MINUTE - 1, "just now", "just now"),
        (MINUTE, "1 minute ago", "in 1 minute"),
        (2 * MINUTE - SECOND, "1 minute ago", "in 1 minute"),
        (59 * MINUTE, "59 minutes ago", "in 59 minutes"),
        (HOUR, "1 hour ago", "in 1 hour"),
        (23 * HOUR, "23 hours ago", "in 23 hours"),
        (DAY, "1 day ago", "in 1 day"),
        (7 * DAY - 1, "6 days ago", "in 6 days"),
        (7 * DAY, "15 Nov 2026", "29 Nov 2026"),
    ],
)
def test_how_far_away_a_moment_is(apart: int, past: str, future: str) -> None:
    assert words.ago(Instant(NOW - apart), NOW) == past
    assert words.ago(Instant(NOW + apart), NOW) == future


@pytest.mark.parametrize(
    ("amount", "currency", "text"),
    [
        (123_450, "GBP", "£1,234.50"),
        (-300, "EUR", "-€3.00"),
        (1, "USD", "US$0.01"),
        (1_200, "JPY", "1,200 JPY"),
        (-1_234_567, "KWD", "-1,234.567 KWD"),
        (0, "GBP", "£0.00"),
    ],
)
def test_money(amount: int, currency: str, text: str) -> None:
    assert words.money(amount, currency) == text


def test_sizes() -> None:
    sizes = [words.size(count) for count in (999, 1_000, 1_500, 20_000_000, 2_340_000_000)]
    assert sizes == ["999 bytes", "1 kB", "1.5 kB", "20 MB", "2.3 GB"]
