"""The promised operations: the table of the specification, and the rows beyond it."""

import csv
import functools
from pathlib import Path
from typing import NamedTuple

from gatewayd.contract.operation import Operation


class Promise(NamedTuple):
    """One line of a table."""

    method: str
    path: str
    operation_id: str
    scopes: tuple[str, ...]
    kind: str


@functools.cache
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


def line_of(operation: Operation) -> str:
    """The line of the table of extensions that an operation needs."""
    columns = (operation.method, operation.path, operation.id, " ".join(operation.scopes), operation.kind)
    return "\t".join(columns)


def promised(operation: Operation) -> Promise:
    """The line of an operation. Raises `AssertionError`, which says what to write where, for one without."""
    promise = (read() | extensions()).get(operation.id)
    assert promise is not None, (
        f"{operation.id} has no line: the specification does not have it, so write it into"
        f" tests/contract/extensions.tsv, with tabs between: {line_of(operation)}"
    )
    return promise
