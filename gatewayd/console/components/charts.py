"""Where the bars, lines and parts of charts lie, in a drawing of `WIDTH` by `HEIGHT`, and the table that says the same.

Values are whole numbers: minor units, millionths of credits, counts. How one is written the chart's `text` says.
"""

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, Final, NamedTuple

from gatewayd.console.components.shapes import Cell, Column, Row, Table

WIDTH: Final = 600
HEIGHT: Final = 144
_GAP: Final = 0.2
"""Of each place, what stays free between it and the next."""
_LEAST: Final = 2.0
"""The height of what is little but not nothing."""
_STEPS: Final = (10, 12, 15, 20, 25, 30, 40, 50, 60, 80, 100)
"""Tenths of a power of ten: round numbers."""
_COLOURS: Final = 6


class Bar(NamedTuple):
    """One rectangle, and what is said of it. `series` counts from 1, as the colours do."""

    x: float
    y: float
    width: float
    height: float
    series: int
    label: str


class Line(NamedTuple):
    """One line through its points, as SVG writes them."""

    points: str
    series: int
    label: str


class Tick(NamedTuple):
    """One line of the scale."""

    y: float
    text: str
    is_zero: bool


class Series(NamedTuple):
    """Values of one kind, one for each place."""

    name: str
    values: Sequence[int]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Chart:
    """What charts over places have: `labels` are the places, from left to right, and `heading` what they are."""

    title: str
    heading: str
    labels: Sequence[str]
    series: Sequence[Series]
    text: Callable[[int], str] = str
    note: str = ""
    width: ClassVar[int] = WIDTH
    height: ClassVar[int] = HEIGHT

    @property
    def names(self) -> list[str]:
        """What the series are called."""
        return [each.name for each in self.series]

    @property
    def places(self) -> list[str]:
        """The labels that are shown: the first, the last, and one between where there is room to tell them apart."""
        if len(self.labels) < 3:
            return list(self.labels)
        middle = [self.labels[len(self.labels) // 2]] if len(self.labels) % 2 else []
        return [self.labels[0], *middle, self.labels[-1]]

    @property
    def table(self) -> Table:
        """The same in figures: a row for each place."""
        rows = [
            Row(cells=[Cell(text=label), *(Cell(text=self.text(each.values[at])) for each in self.series)])
            for at, label in enumerate(self.labels)
        ]
        columns = [Column(self.heading), *(Column(name, "number") for name in self.names)]
        return Table(caption=self.title, columns=columns, rows=rows)

    @property
    def extent(self) -> tuple[int, int]:
        """The least and the greatest that is drawn; zero is always between them."""
        values = [value for each in self.series for value in each.values]
        return min([0, *values]), max([0, *values])

    @property
    def ticks(self) -> list[Tick]:
        """The lines of the scale, from the top."""
        least, most = self._ends()
        step = _step(max(most, -least))
        values = range(most, least - 1, -step)
        texts = [self.text(each) for each in values]
        if all(text.endswith(".00") for text in texts):
            texts = [text.removesuffix(".00") for text in texts]
        return [Tick(self._y(value), text, value == 0) for value, text in zip(values, texts, strict=True)]

    def _ends(self) -> tuple[int, int]:
        """`extent`, out to whole steps."""
        least, most = self.extent
        step = _step(max(most, -least))
        low, high = least // step * step, -(-most // step) * step
        return low, high if high > low else step

    def _y(self, value: float) -> float:
        least, most = self._ends()
        return round((most - value) / (most - least) * HEIGHT, 2)

    def _rectangle(self, left: float, wide: float, ends: tuple[int, int], told: tuple[int, str]) -> Bar:
        """A bar from one value to another; nothing has no height, and little has `_LEAST`."""
        top, bottom = self._y(max(ends)), self._y(min(ends))
        height = max(_LEAST, bottom - top) if ends[0] != ends[1] else 0.0
        y = top if max(ends) <= 0 else bottom - height
        return Bar(round(left, 2), round(y, 2), round(wide, 2), round(height, 2), *told)

    def _told(self, at: int, number: int) -> tuple[int, str]:
        one = self.series[number]
        name = f"{one.name}, " if len(self.series) > 1 else ""
        return number % _COLOURS + 1, f"{name}{self.labels[at]}: {self.text(one.values[at])}"


@dataclass(frozen=True, slots=True, kw_only=True)
class BarChart(_Chart):
    """A bar for each value; those of several series stand side by side in their place."""

    @property
    def bars(self) -> list[Bar]:
        """From left to right."""
        place = WIDTH / max(1, len(self.labels))
        wide = place * (1 - _GAP) / max(1, len(self.series))
        return [
            self._rectangle(
                at * place + place * _GAP / 2 + number * wide, wide, (0, each.values[at]), self._told(at, number)
            )
            for at in range(len(self.labels))
            for number, each in enumerate(self.series)
        ]


@dataclass(frozen=True, slots=True, kw_only=True)
class StackedBarChart(_Chart):
    """Bars upon each other, what is below nothing below the line."""

    @property
    def extent(self) -> tuple[int, int]:
        """Of the sums at each place."""
        stacks = [[each.values[at] for each in self.series] for at in range(len(self.labels))]
        above = [sum(value for value in stack if value > 0) for stack in stacks]
        below = [sum(value for value in stack if value < 0) for stack in stacks]
        return min([0, *below]), max([0, *above])

    @property
    def bars(self) -> list[Bar]:
        """From left to right, each stack from the line on."""
        return list(itertools.chain.from_iterable(self._stack(at) for at in range(len(self.labels))))

    def _stack(self, at: int) -> Iterator[Bar]:
        place = WIDTH / len(self.labels)
        above = below = 0
        for number, each in enumerate(self.series):
            value = each.values[at]
            start = above if value > 0 else below
            left = at * place + place * _GAP / 2
            yield self._rectangle(left, place * (1 - _GAP), (start, start + value), self._told(at, number))
            above, below = above + max(0, value), below + min(0, value)


@dataclass(frozen=True, slots=True, kw_only=True)
class LineChart(_Chart):
    """A line for each series, through the middle of each place."""

    @property
    def lines(self) -> list[Line]:
        """One for each series."""
        return [Line(self._points(each), number % _COLOURS + 1, each.name) for number, each in enumerate(self.series)]

    def _points(self, series: Series) -> str:
        place = WIDTH / max(1, len(self.labels))
        return " ".join(f"{round((at + 0.5) * place, 2)},{self._y(each)}" for at, each in enumerate(series.values))


class Part(NamedTuple):
    """One part of a whole: a value that is not negative."""

    name: str
    value: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ShareChart:
    """What each part is of the whole."""

    title: str
    heading: str
    measure: str
    parts: Sequence[Part]
    text: Callable[[int], str] = str
    note: str = ""
    width: ClassVar[int] = WIDTH

    @property
    def shares(self) -> list[int]:
        """Tenths of a percent. They add up to 1000: the largest remainders are rounded up. Of nothing all are 0."""
        whole = sum(part.value for part in self.parts)
        if whole == 0:
            return [0 for _ in self.parts]
        shares = [part.value * 1000 // whole for part in self.parts]
        remainders = sorted(range(len(shares)), key=lambda at: (-(self.parts[at].value * 1000 % whole), at))
        for at in remainders[: 1000 - sum(shares)]:
            shares[at] += 1
        return shares

    @property
    def names(self) -> list[str]:
        """Each part with its share."""
        return [f"{part.name} {_percent(share)}" for part, share in zip(self.parts, self.shares, strict=True)]

    @property
    def bars(self) -> list[Bar]:
        """From left to right, as wide as they are large."""
        whole = sum(part.value for part in self.parts) or 1
        ends = [value * WIDTH / whole for value in itertools.accumulate((part.value for part in self.parts), initial=0)]
        return [
            Bar(round(left, 2), 0, round(right - left, 2), 0, number % _COLOURS + 1, f"{name}: {self.text(part.value)}")
            for number, (part, name, (left, right)) in enumerate(
                zip(self.parts, self.names, itertools.pairwise(ends), strict=True)
            )
        ]

    @property
    def table(self) -> Table:
        """The same in figures."""
        rows = [
            Row(cells=[Cell(text=part.name), Cell(text=self.text(part.value)), Cell(text=_percent(share))])
            for part, share in zip(self.parts, self.shares, strict=True)
        ]
        columns = [Column(self.heading), Column(self.measure, "number"), Column("Share", "number")]
        return Table(caption=self.title, columns=columns, rows=rows)


def _percent(share: int) -> str:
    return f"{share // 10}.{share % 10}%"


def _step(most: int) -> int:
    """Half of a scale that reaches so far: a round number, at least 1."""
    half = max(1, -(-most // 2))
    power: int = 10 ** (len(str(half)) - 1)
    return next(each * power // 10 for each in _STEPS if each * power % 10 == 0 and each * power // 10 >= half)
