"""The values of a bill with the words before them: by these a correction finds its value in the next bill. Pure."""

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final, Literal

from gatewayd.extraction.facts.amounts import read_money
from gatewayd.extraction.facts.dates import read_dates, without_dates
from gatewayd.extraction.facts.lines import Line
from gatewayd.extraction.facts.references import read_references
from gatewayd.extraction.shapes import Told

_MOST: Final = 60  # Chosen: of one bill
_LETTERS_MIN, _LETTERS_MAX = 3, 40
_NO_LETTERS = re.compile(r"[\W\d_]+")


def told_in(lines: Sequence[Line]) -> list[Told]:
    """Amounts, dates and numbers with what stands before them in their line, or in the one above."""
    return list(islice(_each(lines), _MOST))


def _each(lines: Sequence[Line]) -> Iterator[Told]:
    above = ""
    for line in lines:
        values = list(_values(line.text))
        for kind, start, value in values:
            if len(label := _label(line.text[:start]) or above) >= _LETTERS_MIN:
                yield Told(kind=kind, label=label, value=value)
        above = "" if values else _label(line.text)


def _values(text: str) -> Iterator[tuple[Literal["money", "date", "number"], int, str]]:
    for amount in read_money(without_dates(text)):
        yield "money", amount.start, str(amount.value.amount)
    for date in read_dates(text):
        yield "date", date.start, date.value.isoformat()
    for number in read_references(text):
        yield "number", number.start, number.value


def _label(text: str) -> str:
    return _NO_LETTERS.sub("", text.casefold())[-_LETTERS_MAX:]
