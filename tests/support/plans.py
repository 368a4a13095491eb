"""How SQLite finds what a list answers."""

from typing import Any

from gatewayd.store import ReadTx
from tests.areas.accounting.books import Books


def plan_of(books: Books, operation: str, query: str) -> list[str]:
    """The steps of all statements that a list reads its rows with."""
    plans: list[str] = []

    class Explaining(ReadTx):
        def each(self, sql: str, /, **values: object) -> Any:
            plans.extend(row[3] for row in super().rows(f"EXPLAIN QUERY PLAN {sql}", **values))
            return super().each(sql, **values)

    def explain(tx: ReadTx) -> None:
        explaining = object.__new__(Explaining)
        explaining.__dict__.update(tx.__dict__)
        request: Any = books.decoders[operation].query(query)
        books.operations[operation].handler(explaining, books.caller, request)

    books.store.read(explain, books.org_id)
    return plans
