"""CSV as it is given out (RFC 4180 §2): UTF-8, a heading, CRLF. Pure.

A spreadsheet runs what begins with one of = + - @ as a formula. Text that does, or that begins with a tab, a carriage
return or an apostrophe, gets an apostrophe before it; numbers stay. Who reads a file with a program takes one
apostrophe away from the beginning of a cell.
"""

import csv
import io
import re
from collections.abc import Iterable, Iterator
from typing import Final

_NUMBER: Final = re.compile(r"-?[0-9]+(\.[0-9]+)?")
_ACTIVE: Final = ("=", "+", "-", "@", "\t", "\r", "'")

Cell = str | int | None


def lines(rows: Iterable[Iterable[Cell]]) -> Iterator[bytes]:
    """Each row as a line."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\r\n")
    for row in rows:
        writer.writerow([_written(cell) for cell in row])
        yield text.getvalue().encode()
        text.seek(0)
        text.truncate()


def rows(chunks: Iterable[str]) -> Iterator[list[str]]:
    """The rows of a file again. Raises `ValueError` for what is no CSV."""
    try:
        for row in csv.reader(chunks, strict=True):
            yield [cell.removeprefix("'") for cell in row]
    except csv.Error as error:
        raise ValueError(str(error)) from None


def _written(cell: Cell) -> str:
    if cell is None:
        return ""
    text = str(cell)
    if text.startswith(_ACTIVE) and _NUMBER.fullmatch(text) is None:
        return f"'{text}"
    return text
