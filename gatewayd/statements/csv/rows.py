"""Rows of a CSV with the lines they stand on; what cannot be taken apart is told, and the rows after it still read.

Headings among them: how they are compared, and where they stand once more."""

import csv
from collections import deque
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from gatewayd.statements.text import TextLines

_LINES_OF_ONE_ROW = 20


def folded(heading: str) -> str:
    """A heading as it is compared: without case, outer spaces, and a byte order mark."""
    return " ".join(heading.replace("\ufeff", "").split()).casefold()


def repeats(headings: Sequence[str], cells: Sequence[str]) -> bool:
    """True for the headings once more, as files have them that were joined."""
    said = [folded(cell) for cell in cells]
    while said and not said[-1]:
        said.pop()
    return bool(said) and said == [folded(heading) for heading in headings]


class Row(NamedTuple):
    """A row: the line where it begins, from 1, and its cells; or why it has none."""

    line: int
    cells: list[str]
    fault: str | None = None


class _Feed:
    """Gives lines to the reader of rows, and takes back those that it should not have had."""

    def __init__(self, lines: TextLines) -> None:
        self._lines = lines
        self._returned: deque[tuple[int, str]] = deque()
        self.taken: list[tuple[int, str]] = []

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        if len(self.taken) >= _LINES_OF_ONE_ROW:
            raise csv.Error("a quotation mark is opened and not closed")
        if self._returned:
            at, line = self._returned.popleft()
        else:
            line = next(self._lines)
            at = self._lines.number
        self.taken.append((at, line))
        return line + "\n"

    def give_back(self) -> str:
        """All lines of the row but its first, which is the one at fault and is returned."""
        self._returned.extendleft(reversed(self.taken[1:]))
        return self.taken[0][1]


def rows(lines: TextLines, delimiter: str, width: int | None = None) -> Iterator[Row]:
    """The rows that are left in `lines`; a blank line is a row without cells.

    `width`: how many cells a row has. Then text of several lines that holds a whole row, or leaves its own too short,
    is none: a quotation mark is open, and the rows behind it are read for themselves.
    """
    feed = _Feed(lines)
    reader = csv.reader(feed, delimiter=delimiter, strict=True)
    while True:
        feed.taken.clear()
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            yield _faulty(feed.taken[0][0], feed.give_back(), delimiter, error)
            continue
        if width is not None and _swallows(cells, [line for _, line in feed.taken[1:]], delimiter, width):
            open_mark = csv.Error("a quotation mark is opened and not closed")
            yield _faulty(feed.taken[0][0], feed.give_back(), delimiter, open_mark)
            continue
        at, line = feed.taken[0]
        yield Row(at, cells, "there is a NUL byte: the file is damaged" if "\0" in line else None)


def _swallows(cells: list[str], more: list[str], delimiter: str, width: int) -> bool:
    """Whether a row that goes on over more lines took rows for its text."""
    if not more:
        return False
    is_text = all("\n" not in cell or cell.strip() for cell in cells) and all(
        "\n" not in cell for cell in cells[width:]
    )
    return len(cells) < width or not is_text or any(_is_row(line, delimiter, width) for line in more)


def _is_row(line: str, delimiter: str, width: int) -> bool:
    """Whether a line is no part of a text: it has as many cells as a row, or nothing but a quotation mark."""
    return line.count(delimiter) >= width - 1 or line.strip() == '"'


def _faulty(at: int, line: str, delimiter: str, error: csv.Error) -> Row:
    """A row with quotation marks inside of quoted text, as far as the line is whole; else its fault."""
    if line.count('"') % 2 == 0:
        try:
            return Row(at, next(csv.reader([line], delimiter=delimiter)))
        except csv.Error as again:
            error = again
    return Row(at, [], f"its columns cannot be told apart ({error})")
