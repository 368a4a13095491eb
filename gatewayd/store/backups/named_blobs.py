"""What a database names of the files beside it. Which of its tables name any the floors above know."""

from collections.abc import Callable, Container, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple, TypeAlias

from gatewayd.store.failures import ENGINE_FAILURES, StoreFailure, reason
from gatewayd.store.sqlite import connections
from gatewayd.store.transactions import Executor, Row

PAGE: Final = 500
_TABLES: Final = "SELECT name FROM sqlite_schema WHERE type = 'table'"

Naming: TypeAlias = Mapping[str, str]
"""By table what selects a page of the files that its rows name, as `NamedFile`: at most `:count` after `:after`."""


class NamedFile(NamedTuple):
    """A file, and one of those that name it: a document, or a seal."""

    sha256: str
    size_bytes: int
    named_by: str


class RowsElsewhere(NamedTuple):
    """Rows that are not in a file of the store, but in a server's database: its `name`, and what files they name now.

    `named` raises `StoreFailure`.
    """

    name: str
    named: "Callable[[], dict[str, NamedFile]]"


def paged(rows: Callable[[str], list[Row]]) -> Iterator[NamedFile]:
    """All of what selects pages, from `rows` of a page after a digest."""
    after = ""
    while found := rows(after):
        yield from (NamedFile(*row) for row in found)
        after = found[-1][0]


def named_in(database: Path, naming: Naming, *, is_copy: bool) -> dict[str, NamedFile]:
    """What a database names, by digest, of a form older than ours too. Raises `StoreFailure` where it is not readable.

    `is_copy`: nobody changes it.
    """
    connection = connections.open_copy(database) if is_copy else connections.open_reader(database, 5)
    try:
        tables = {str(row[0]) for row in connection.execute(_TABLES)}
        return named_by(connection, naming, tables)
    except ENGINE_FAILURES as error:
        raise StoreFailure(f"{database} cannot be read: {reason(error)}") from error
    finally:
        connection.close()


def named_by(connection: Executor, naming: Naming, tables: Container[str]) -> dict[str, NamedFile]:
    """The same of a connection; `tables` are those that there are."""
    selects = [select for table, select in naming.items() if table in tables]
    return {file.sha256: file for select in selects for file in paged(partial(_page, connection, select))}


def _page(connection: Executor, select: str, after: str) -> list[Row]:
    return connection.execute(select, {"after": after, "count": PAGE}).fetchall()
