"""Times as people type them."""

import argparse

import pytest

from gatewayd.cli.time_arguments import time_argument
from gatewayd.clock import from_wire

NOW = from_wire("2026-11-20T09:30:00Z")


@pytest.mark.parametrize(
    ("text", "wire"),
    [
        ("0s", "2026-11-20T09:30:00.000Z"),
        ("90s", "2026-11-20T09:28:30.000Z"),
        ("15m", "2026-11-20T09:15:00.000Z"),
        ("2h", "2026-11-20T07:30:00.000Z"),
        ("3d", "2026-11-17T09:30:00.000Z"),
        ("1w", "2026-11-13T09:30:00.000Z"),
        ("999999w", "1970-01-01T00:00:00.000Z"),
        ("2026-11-20T08:00:00Z", "2026-11-20T08:00:00.000Z"),
        ("2026-11-20T08:00:00.125+02:00", "2026-11-20T06:00:00.125Z"),
    ],
)
def test_a_time_is_a_timestamp_or_how_long_ago(text: str, wire: str) -> None:
    assert time_argument(text).wire(NOW) == wire


@pytest.mark.parametrize("text", ["", "h", "2", "2y", "1.5h", "٢h", "1234567s", "2026-11-20", "2026-11-20T08:00:00"])
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match="is not a time such as"):
        time_argument(text)
