"""Bars of a chart as rectangles, pure: what a page draws without a script."""

from collections.abc import Sequence
from typing import Final, NamedTuple

WIDTH: Final = 600
HEIGHT: Final = 140
_GAP: Final = 0.2
"""Of the place of each bar."""
_LEAST: Final = 2.0
"""The height of what is little but not nothing."""


class Bar(NamedTuple):
    """One rectangle in `WIDTH` by `HEIGHT`, and what is said of it."""

    x: float
    y: float
    width: float
    height: float
    label: str


class Point(NamedTuple):
    """What one bar stands for: a number that is not negative."""

    value: int
    label: str


def bars(points: Sequence[Point]) -> list[Bar]:
    """A bar for each point, from left to right; the largest has all of the height, and nothing has none."""
    if not points:
        return []
    most = max(point.value for point in points)
    place = WIDTH / len(points)
    return [_bar(number * place, place, point, most) for number, point in enumerate(points)]


def _bar(left: float, place: float, point: Point, most: int) -> Bar:
    height = max(_LEAST, point.value / most * HEIGHT) if point.value else 0.0
    x, width = left + place * _GAP / 2, place * (1 - _GAP)
    return Bar(round(x, 2), round(HEIGHT - height, 2), round(width, 2), round(height, 2), point.label)
