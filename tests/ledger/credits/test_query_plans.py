"""Whatever is asked of credits is found by an index, in its order, however many entries there are."""

import importlib
import pkgutil
import re
from collections.abc import Iterator

import pytest

from gatewayd.areas.billing import ledger
from gatewayd.areas.billing.ledger import EntryFilter, Place
from gatewayd.ledger import credits as room
from gatewayd.ledger.credits.shapes import EntryType
from gatewayd.store import ReadTx
from tests.ledger.credits.purses import Purse
from tests.support.store import MemoryStore

OF_THE_INSTANCE = ("credit_plans", "credit_costs")  # of some hundred rows
SUMMING = {"_SUM", "_SUM_BLOCKS", "_SELECT_EXPIRING"}  # group what one range of an index holds
LEDGER = "credit_entries_by_time"
OPERATION = "credit_entries_by_operation"
TYPE = "credit_entries_by_type"


def statements() -> Iterator[tuple[str, str]]:
    for module in pkgutil.iter_modules(room.__path__):
        if module.name in ("invariants", "pages"):  # which looks at everything; which is asked below
            continue
        for name, value in vars(importlib.import_module(f"{room.__name__}.{module.name}")).items():
            if isinstance(value, str) and re.match(r"\s*(SELECT|UPDATE|DELETE)\b", value):
                yield f"{module.name}.{name}", value


STATEMENTS = dict(statements())


def plan_of(store: MemoryStore, sql: str) -> list[str]:
    named = dict.fromkeys(re.findall(r":([a-z_]+)", sql))
    return [str(row[3]) for row in store.connection.execute(f"EXPLAIN QUERY PLAN {sql}", named)]


@pytest.mark.parametrize("name", STATEMENTS)
def test_a_statement_goes_by_an_index(store: MemoryStore, name: str) -> None:
    for step in plan_of(store, STATEMENTS[name]):
        is_small = any(table in step for table in OF_THE_INSTANCE)
        assert not step.startswith("SCAN") or is_small or "USING" in step, step
        assert "TEMP B-TREE" not in step or name.partition(".")[2] in SUMMING or "plans" in name, step


def test_there_are_statements_to_look_at() -> None:
    assert len(STATEMENTS) > 40


@pytest.mark.parametrize(
    ("types", "operation", "index"),
    [
        (None, None, LEDGER),
        (("usage",), None, LEDGER),
        (("refund",), None, TYPE),
        (("grant", "expiry"), None, TYPE),
        (None, "vault.parse", OPERATION),
        (("usage",), "vault.parse", OPERATION),
        (("refund",), "vault.parse", TYPE),
    ],
)
@pytest.mark.parametrize("ascending", [False, True])
@pytest.mark.parametrize("place", [None, Place(5, 1)])
def test_a_page_of_the_ledger_goes_by_an_index(
    store: MemoryStore,
    types: tuple[EntryType, ...] | None,
    operation: str | None,
    index: str,
    ascending: bool,
    place: Place | None,
) -> None:
    asked: list[str] = []

    class Asking(ReadTx):
        def each(self, sql: str, /, **values: object) -> Iterator[tuple[object, ...]]:
            asked.append(sql)
            return super().each(sql, **values)

    def work(tx: ReadTx) -> None:
        asking = object.__new__(Asking)
        asking.__dict__.update(tx.__dict__)
        filters = EntryFilter(ledger.EARLIEST, ledger.LATEST, types, operation, ascending)
        assert list(ledger.page(asking, filters, place, 10)) == []

    store.read(work, Purse(store).org_id)
    assert len(asked) == (1 if types is None else len(types))
    for sql in asked:
        (step,) = plan_of(store, sql)
        assert f"USING INDEX {index} (" in step
        assert "occurred_at" in step, "from its place on"
