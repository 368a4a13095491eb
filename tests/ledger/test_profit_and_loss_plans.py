"""Profit and loss of a year is read by index, however much stands beside it."""

import pytest

from gatewayd.ledger import (
    allocated_money,
    allocated_rows,
    allocated_vat,
    invoiced_income,
    unallocated,
    vat_figures,
)
from tests.support.store import MemoryStore

_NAMES = "business_id legal_entity_id account_id currency category direction start after_id first last"
_VALUES = dict.fromkeys(_NAMES.split(), "a")
SUMS = [
    (module, name)
    for module in (allocated_money, allocated_vat)
    for name in ("_SUM_BY_MONEY", "_SUM_WITHOUT_BILL", "_SUM_BY_BILL")
]
OTHERS = [
    *((allocated_money, name) for name in vars(allocated_money) if name.startswith(("_HARD_BY", "_LINE_"))),
    *((invoiced_income, name) for name in vars(invoiced_income) if name.startswith("_SELECT")),
    *((vat_figures, name) for name in vars(vat_figures) if name.startswith("_SELECT")),
    (allocated_rows, "_PAGE_BY_MONEY"),
    (allocated_rows, "_PAGE_BY_BILL"),
    *((unallocated, name) for name in ("_SELECT_LINES", "_SELECT_MONEY")),
]


def plan(store: MemoryStore, sql: str) -> list[str]:
    values = {**_VALUES, "org_id": "a", "count": 10, "most": 10, "least": 0}
    return [str(row[3]) for row in store.connection.execute(f"EXPLAIN QUERY PLAN {sql}", values)]


@pytest.mark.parametrize(("module", "name"), SUMS)
def test_sums_come_from_the_index_alone(store: MemoryStore, module: object, name: str) -> None:
    index, column = ("by_bill", "document_date") if name == "_SUM_BY_BILL" else ("by_money", "date")
    found = f"SEARCH allocations USING COVERING INDEX allocations_{index}"
    assert plan(store, getattr(module, name))[0].startswith(
        f"{found} (org_id=? AND business_id=? AND {column}>? AND {column}<?)"
    )


@pytest.mark.parametrize(("module", "name"), OTHERS)
def test_no_table_is_scanned(store: MemoryStore, module: object, name: str) -> None:
    """Neither a table nor an organization's whole part of one; `touched` is what was found for the range."""
    found = plan(store, getattr(module, name))
    assert [step for step in found if step.startswith("SCAN") and step not in ("SCAN touched", "SCAN found")] == []
    assert [step for step in found if step.endswith("(org_id=?)")] == []
    assert [step for step in found if "AUTOMATIC" in step] == []
