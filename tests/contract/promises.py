"""The promised operations: the table of the specification, and the rows beyond it."""

import csv
from pathlib import Path
from typing import NamedTuple


class Promise(NamedTuple):
    """One line of a table."""

    method: str
    path: str
    operation_id: str
    scopes: tuple[str, ...]
    kind: str


def read(table: str = "operations.tsv") -> dict[str, Promise]:
    """A table by operation id."""
    with (Path(__file__).parent / table).open(newline="") as file:
        lines = list(csv.DictReader(file, delimiter="\t"))
    rows = [
        Promise(line["method"], line["path"], line["operationId"], tuple(line["scope"].split()), line["kind"])
        for line in lines
    ]
    promises = {row.operation_id: row for row in rows}
    assert len(promises) == len(rows), f"{table} names an operation twice"
    return promises


def extensions() -> dict[str, Promise]:
    """The rows that are this service's own."""
    return read("extensions.tsv")
