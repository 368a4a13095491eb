"""The lines of a document in which facts are sought: a bounded part of its text, in one form. Pure.

Every pattern of this folder is tried on one line at a time, and a line is short: whatever a pattern costs on the worst
line, a document costs no more than a constant number of those.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Final, NamedTuple

FIRST_CHARS, LAST_CHARS = 48_000, 16_000
"""Chosen: what is looked at. Heads stand on the first pages; sums, and who signs, on the last."""
FIRST_LINES, LAST_LINES = 1_600, 400
LINE_CHARS: Final = 240

_BREAK = re.compile(r"\r\n|[\n\r\v\f\x85\u2028\u2029]")
_GAP = re.compile(r"\t+|\s{2,}|\s[|¦]\s?|^[|¦]\s?")
_SPACES = re.compile(r"\s+")
_ONE_FORM = str.maketrans(
    {"‐": "-", "‑": "-", "‒": "-", "–": "-", "—": "-", "−": "-", "’": "'", "‘": "'", "“": '"', "”": '"'}
    | {"\u00ad": None}
)


class Line(NamedTuple):
    """A line, and what stands in its columns as far as gaps tell them apart. One without text divides blocks."""

    text: str
    cells: tuple[str, ...]


def lines_of(pages: Sequence[str]) -> list[Line]:
    """The lines of the first and of the last pages, at most 2,000 of 240 characters; one blank line for several."""
    first, left = _beginning(pages, FIRST_CHARS)
    if left == 0:
        return list(_lines_of(first, FIRST_LINES + LAST_LINES))
    last, _ = _beginning([page[::-1] for page in _tail(pages, LAST_CHARS)], LAST_CHARS)
    ending = list(_lines_of("\n".join(last)[:LAST_CHARS][::-1].split("\n"), FIRST_LINES + LAST_LINES))
    return [*_lines_of(first, FIRST_LINES), Line("", ()), *ending[-LAST_LINES:]]


def _beginning(pages: Iterable[str], chars: int) -> tuple[list[str], int]:
    """The first characters of pages, and how many characters are beyond them, as far as that was looked at."""
    taken: list[str] = []
    for page in pages:
        if chars <= 0:
            return taken, len(page) + 1
        taken.append(page[:chars])
        if len(page) > chars:
            return taken, len(page) - chars
        chars -= len(page) + 1
    return taken, 0


def _tail(pages: Sequence[str], chars: int) -> Iterator[str]:
    """The ends of the last pages, the last one first."""
    for page in reversed(pages):
        if chars <= 0:
            return
        yield page[-chars:]
        chars -= len(page) + 1


def _lines_of(pages: Iterable[str], count: int) -> Iterator[Line]:
    return islice(_without_repeated_blanks(_line(piece) for page in pages for piece in _pieces(page)), count)


def _pieces(page: str) -> Iterator[str]:
    """The lines of a page, long ones in pieces."""
    for line in _BREAK.split(page):
        for start in range(0, max(len(line), 1), LINE_CHARS):
            yield line[start : start + LINE_CHARS]


def _line(raw: str) -> Line:
    text = unicodedata.normalize("NFKC", raw.translate(_ONE_FORM))[:LINE_CHARS].translate(_ONE_FORM)
    text = "".join(c if c == "\t" or c.isprintable() else " " for c in text).strip()
    cells = tuple(cell for part in _GAP.split(text) if (cell := _SPACES.sub(" ", part).strip(" |¦")))
    return Line(_SPACES.sub(" ", text).strip(), cells)


def _without_repeated_blanks(lines: Iterable[Line]) -> Iterator[Line]:
    blank = True
    for line in lines:
        if line.cells or not blank:
            yield line
        blank = not line.cells
