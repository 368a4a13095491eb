"""The one form of rows: what PostgreSQL sends is what is made of SQLite's values."""

import pytest

from gatewayd.store.copying.plan import MadeAnew, planned
from gatewayd.store.copying.rows import Counted, TableSum, decoded, encoded
from gatewayd.store.failures import StoreFailure
from gatewayd.store.postgres.connections import Connection
from gatewayd.store.postgres.whole_tables import copy_in, copy_out

KINDS = ("INTEGER", "TEXT", "BLOB")
ROWS = [
    (1, "a", b"b"),
    (-(1 << 63), "", b""),
    ((1 << 63) - 1, "\\N\t\r\n€ 😀", bytes(range(256))),
    (None, None, None),
    (0, "x" * 300_000, b"\0" * 300_000),
]


def test_the_bytes_of_a_row() -> None:
    """Worked by hand after PostgreSQL's manual, "COPY", Binary Format, Tuples."""
    row = b"\0\3" + b"\0\0\0\x08" + b"\0\0\0\0\0\0\1\2" + b"\0\0\0\3\xe2\x82\xac" + b"\xff\xff\xff\xff"
    assert encoded((258, "€", None)) == row
    assert decoded(row, KINDS) == (258, "€", None)


@pytest.mark.parametrize("row", ROWS)
def test_there_and_back(row: tuple[object, ...]) -> None:
    assert decoded(encoded(row), KINDS) == row


def test_postgresql_takes_and_sends_the_same_bytes(server: Connection) -> None:
    server.session.execute("CREATE TABLE kept (number bigint, words text, bytes bytea)")
    sent = [encoded(row) for row in ROWS]
    copy_in(server, "kept", "number, words, bytes", sent)
    assert server.execute("SELECT * FROM kept").fetchall() == ROWS
    assert list(copy_out(server, "kept", "number, words, bytes")) == sent
    copy_in(server, "kept", "number, words, bytes", [])
    server.execute("DELETE FROM kept")
    assert list(copy_out(server, "kept", "number, words, bytes")) == []


def test_a_sum_is_of_the_rows_in_any_order() -> None:
    sums = [Counted().all_of(map(encoded, rows)) for rows in (ROWS, ROWS[::-1], ROWS[1:], [*ROWS, ROWS[0]], [])]
    assert sums[0] == sums[1]
    assert len(set(sums)) == 4
    assert sums[-1] == TableSum(0, "0" * 64)
    assert Counted().all_of([encoded((1, "a", b"b"))]) == TableSum(
        1, "83315dbc393d53810e5d701e3aa39f24329937cce02bf92c93c064755e7be49e"
    )


def test_columns_have_to_be_there_and_of_their_type() -> None:
    anew = MadeAnew(frozenset({"made"}), ())
    sqlite = {"kept": {"id": "TEXT", "size": "INTEGER"}, "made": {"id": "TEXT"}, "leases": {"id": "TEXT"}}
    more = {"kept": {"id": "text", "size": "bigint", "words": "tsvector"}, "own": {"id": "text"}}
    assert [table[:3] for table in planned(sqlite, more, anew)] == [("kept", ("id", "size"), ("TEXT", "INTEGER"))]
    for columns, words in (({"id": "text"}, "missing"), ({"id": "text", "size": "text"}, "text")):
        with pytest.raises(StoreFailure, match=f"the column size of kept is bigint, and there {words}"):
            planned(sqlite, {"kept": columns}, anew)
