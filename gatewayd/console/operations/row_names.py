"""Names of fields that stand several times, once in each row: `lines.0.description`. Pure.

A row keeps its number as long as it stands in the form; gaps between the numbers mean nothing.
"""

from collections.abc import Mapping, Sequence
from typing import Final, TypeVar

Texts = Mapping[str, Sequence[str]]
"""What was given for fields, by their names."""
T = TypeVar("T")
_DIGITS: Final = 4
"""Chosen: a form has no more rows than these can number."""


def name_in_row(path: str, number: int, name: str) -> str:
    """The name of one field in a row of `path`."""
    return f"{path}.{number}.{name}"


def rows_in(given: Texts, path: str) -> dict[int, dict[str, Sequence[str]]]:
    """What was given for each row of `path`, by the row's number and the name of the field in it; in their order."""
    rows: dict[int, dict[str, Sequence[str]]] = {}
    for name, texts in given.items():
        if not name.startswith(f"{path}."):
            continue
        number, _, rest = name[len(path) + 1 :].partition(".")
        if rest and number.isdecimal() and len(number) <= _DIGITS:
            rows.setdefault(int(number), {})[rest] = texts
    return {number: rows[number] for number in sorted(rows)}


def texts_of_rows(path: str, rows: Sequence[Texts]) -> dict[str, Sequence[str]]:
    """The same back, numbered from 0."""
    return {name_in_row(path, number, name): texts for number, row in enumerate(rows) for name, texts in row.items()}


def below(values: Mapping[str, T], path: str) -> dict[str, T]:
    """What is said of fields of a row, by their names in it: of `lines.unitPrice` for `unitPrice`."""
    start = f"{path}."
    return {name.removeprefix(start): value for name, value in values.items() if name.startswith(start)}
