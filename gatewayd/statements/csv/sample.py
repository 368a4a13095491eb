"""The first lines of a CSV, cut into columns, and the rows behind its headings."""

import csv
import itertools
import re
from collections.abc import Iterator, Sequence
from typing import BinaryIO

from gatewayd.statements.csv.proposal import Table
from gatewayd.statements.csv.rows import Row, rows
from gatewayd.statements.shapes import Limits, Mapping, Unreadable
from gatewayd.statements.text import TextLines

DELIMITERS = (",", ";", "\t", "|")
_SAMPLE_LINES = 200
_CURRENCY_IN_HEADING = re.compile(r"\b(GBP|EUR|USD)\b|(£)|(€)")
_BY_SIGN = {"£": "GBP", "€": "EUR"}


def body_rows(lines: TextLines, mapping: Mapping, width: int | None = None) -> Iterator[Row]:
    """The rows behind the headings; `width` as of `rows`."""
    skipped = 0 if mapping.header_row is None else mapping.header_row + 1
    for _ in itertools.islice(lines, skipped):
        pass
    return rows(lines, mapping.delimiter, width)


def delimiter_of(sample: Sequence[str]) -> str:
    """The delimiter that cuts most lines into the same number of columns, more than one."""

    def fitness(delimiter: str) -> tuple[int, int]:
        widths = [len(row) for row in cut(sample, delimiter).rows]
        best = max(set(widths), key=lambda width: (widths.count(width), width), default=0)
        return (widths.count(best), best) if best > 1 else (0, 0)

    return max(DELIMITERS, key=fitness)


def sample_of(stream: BinaryIO, encoding: str, limits: Limits) -> list[str]:
    """The first lines."""
    lines = TextLines(stream, encoding, limits)
    try:
        return list(itertools.islice(lines, _SAMPLE_LINES))
    finally:
        lines.detach()


def cut(sample: Sequence[str], delimiter: str) -> Table:
    """The sample in columns, each line a row of its own."""
    rows, places = [], []
    for at, line in enumerate(sample):
        if line.strip():
            try:
                rows.append(next(csv.reader([line], delimiter=delimiter), []))
            except csv.Error:
                rows.append([])
            places.append(at)
    return Table(delimiter, rows, places)


def row_at(table: Table, line: int) -> int:
    """Which of its rows begins on a line, from 0. Raises `Unreadable` where none does."""
    if line not in table.lines:
        raise Unreadable(line + 1, "there are no headings on this line")
    return table.lines.index(line)


def trimmed(cells: Sequence[str]) -> list[str]:
    """The cells without outer spaces and marks, and without empty ones at the end."""
    texts = [cell.replace("\ufeff", "").strip() for cell in cells]
    while texts and not texts[-1]:
        texts.pop()
    return texts


def currency_in(headings: Sequence[str]) -> str | None:
    """The currency that headings name: `Amount (GBP)`, `Paid in £`; None where they name none, or several."""
    texts = {match[0] for heading in headings for match in _CURRENCY_IN_HEADING.finditer(heading)}
    named = {_BY_SIGN.get(text, text) for text in texts}
    return named.pop() if len(named) == 1 else None
