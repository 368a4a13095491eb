"""Values with the labels that they stand behind or below. Pure.

A label's value stands behind it in the line; or below it, in the same column of a table's row; or, where a page was
read column by column, as far down a run of values as the label stands down a run of labels.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final, Generic, NamedTuple, TypeVar

from gatewayd.extraction.facts.lines import Line

T = TypeVar("T")
_RUN: Final = 12  # Chosen: labels that follow each other
_SHORT: Final = 60
_RATE = re.compile(r"\d{1,2}(?:\.\d{1,2})?\s?%")


class Value(NamedTuple, Generic[T]):
    """A value, and where it begins in its line."""

    start: int
    value: T


class Found(NamedTuple, Generic[T]):
    """A value of a document. `label` is the name of the group that its label matched, None: it has none."""

    label: str | None
    value: T
    line: int


Reader = Callable[[str], Sequence[Value[T]]]


class Labels(NamedTuple, Generic[T]):
    """A kind of values: what names them, one named group for each meaning, and how they are read from a line.

    `settle`: what the labels of a line mean together, where that is more than each for itself.
    """

    pattern: re.Pattern[str]
    read: Reader[T]
    settle: Callable[[str, list[re.Match[str]]], list[tuple[int, str]]] | None = None

    def marks(self, text: str) -> list[tuple[int, str]]:
        """Where labels begin, and what they mean."""
        matches = list(self.pattern.finditer(text))
        if self.settle is not None:
            return self.settle(text, matches)
        return [(match.start(), match.lastgroup or "") for match in matches]


def labelled(lines: Sequence[Line], kind: Labels[T]) -> Iterator[Found[T]]:
    """Every value of a kind, from the top. A value below its label comes with it, and again without."""
    for number, line in enumerate(lines):
        marks, values = kind.marks(line.text), kind.read(line.text)
        for value in values:
            before = [name for start, name in marks if start <= value.start]
            yield Found(before[-1] if before else None, value.value, number)
        behind = max((value.start for value in values), default=-1)
        bare = [mark for mark in marks if mark[0] > behind]
        if bare:
            yield from _below(lines, number, bare, kind)


def _below(lines: Sequence[Line], number: int, marks: list[tuple[int, str]], kind: Labels[T]) -> Iterator[Found[T]]:
    """The values below the labels of a line, where none stands behind them."""
    if len(marks) == 1 and (at := _along_the_run(lines, number)) is not None:
        if values := kind.read(lines[at].text):
            yield Found(marks[0][1], values[0].value, at)
        return
    following = _next(lines, number)
    if following is None:
        return
    for place, (start, name) in enumerate(marks):
        value = _in_column(lines[number], lines[following], start, (place, len(marks)), kind)
        if value is not None:
            yield Found(name, value, following)


def _next(lines: Sequence[Line], number: int) -> int | None:
    """The next line with text, at most one blank one below."""
    for following in (number + 1, number + 2):
        if following < len(lines) and lines[following].cells:
            return following
    return None


def _in_column(above: Line, below: Line, start: int, place: tuple[int, int], kind: Labels[T]) -> T | None:
    """The value below a label: of its column where the rows have the same columns, else of its place among them."""
    if len(above.cells) == len(below.cells) and len(above.cells) > 1:
        values = kind.read(below.cells[_column_of(above, start)])
        return values[0].value if values else None
    values = kind.read(below.text)
    nth, of = place
    if of == len(values):
        return values[nth].value
    if of == 1 and values and (values[0].start == 0 or len(below.text) < _SHORT):
        return values[0].value
    return None


def _column_of(line: Line, start: int) -> int:
    """Which column a character of a line's text lies in."""
    end = 0
    for column, cell in enumerate(line.cells):
        end = line.text.find(cell, end) + len(cell)
        if start < end:
            return column
    return len(line.cells) - 1


def _along_the_run(lines: Sequence[Line], number: int) -> int | None:
    """Where the value of a label stands that is one of a run of labels, which a run of values follows.

    A heading may stand above the labels, so that the last value is the last label's; more values than labels begin with
    the first one's. None: there are no such runs.
    """
    if not _is_label(lines[number]):
        return None
    first = last = number
    while first > 0 and number - first < _RUN and _is_label(lines[first - 1]):
        first -= 1
    while last + 1 < len(lines) and last - number < _RUN and _is_label(lines[last + 1]):
        last += 1
    labels, values = last + 1 - first, 0
    while last + 1 + values < len(lines) and values < _RUN and _is_value(lines[last + 1 + values]):
        values += 1
    place = number - first if values >= labels else number - (last + 1 - values)
    return last + 1 + place if labels > 1 and values > 1 and place >= 0 else None


def _is_label(line: Line) -> bool:
    """Whether a line is as short as a label, and has no digits but those of a rate."""
    return 0 < len(line.text) < 40 and not any(c.isdigit() for c in _RATE.sub("", line.text))


def _is_value(line: Line) -> bool:
    return 0 < len(line.text) < _SHORT and any(c.isdigit() for c in line.text)
