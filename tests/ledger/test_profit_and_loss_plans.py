"""Profit and loss of a year is read by index, however much stands beside it."""

import pytest

from gatewayd.ledger.allocating import bank_lines
from gatewayd.ledger.results import allocated_money, allocated_vat, invoiced_income, vat_figures
from tests.support.store import MemoryStore

_NAMES = "business_id property_id legal_entity_id account_id currency category direction start after_id first last"
_VALUES = dict.fromkeys(_NAMES.split(), "a")
SUMS = [(allocated_vat, name) for name in ("_SUM_BY_MONEY", "_SUM_WITHOUT_BILL", "_SUM_BY_BILL")]
OTHERS = [
    *((invoiced_income, name) for name in vars(invoiced_income) if name.startswith("_SELECT")),
    *((vat_figures, name) for name in vars(vat_figures) if name.startswith("_SELECT")),
    *((bank_lines, name) for name in ("_SELECT_LINES", "_SELECT_MONEY")),
]


def plan(store: MemoryStore, sql: str) -> list[str]:
    values = {**_VALUES, "org_id": "a", "count": 10, "most": 10, "least": 0}
    return [str(row[3]) for row in store.connection.execute(f"EXPLAIN QUERY PLAN {sql}", values)]


def covering(found: list[str], by_bill: bool) -> bool:
    """Whether sums of a business come from their index alone."""
    index, column = ("by_bill", "document_date") if by_bill else ("by_money", "date")
    search = f"SEARCH allocations USING COVERING INDEX allocations_{index}"
    return found[0].startswith(f"{search} (org_id=? AND business_id=? AND {column}>? AND {column}<?)")


@pytest.mark.parametrize(("module", "name"), SUMS)
def test_sums_come_from_the_index_alone(store: MemoryStore, module: object, name: str) -> None:
    assert covering(plan(store, getattr(module, name)), name == "_SUM_BY_BILL")


@pytest.mark.parametrize("basis", ["cash", "accruals"])
def test_sums_of_a_business_come_from_the_index_alone(store: MemoryStore, basis: allocated_money.Basis) -> None:
    for by_date in allocated_money.STATEMENTS["business", basis]:
        assert covering(plan(store, by_date.sums), allocated_money.BY_BILL in by_date.sums)


_BUSINESS, _PROPERTY = "org_id=? AND business_id=?", "org_id=? AND property_id=?"


@pytest.mark.parametrize("scope_and_basis", allocated_money.STATEMENTS)
def test_what_counts_is_searched_by_whose_it_is_and_when(
    store: MemoryStore, scope_and_basis: tuple[allocated_money.Scope, allocated_money.Basis]
) -> None:
    whose = _PROPERTY if scope_and_basis[0] == "property" else _BUSINESS
    for by_date in allocated_money.STATEMENTS[scope_and_basis]:
        column = "document_date" if allocated_money.BY_BILL in by_date.sums else "date"
        for sql in by_date:
            (step, *_) = plan(store, sql)
            assert step.endswith(f"({whose} AND {column}>? AND {column}<?)"), step


@pytest.mark.parametrize("scope_and_basis", allocated_money.PAGES)
def test_pages_of_rows_are_searched_by_whose_they_are_and_when(
    store: MemoryStore, scope_and_basis: tuple[allocated_money.Scope, allocated_money.Basis]
) -> None:
    whose = _PROPERTY if scope_and_basis[0] == "property" else _BUSINESS
    found = plan(store, allocated_money.PAGES[scope_and_basis])
    assert f"({whose} AND date>?" in found[0], found
    assert not [step for step in found if "TEMP B-TREE" in step or "SCAN" in step], found


@pytest.mark.parametrize(("module", "name"), OTHERS)
def test_no_table_is_scanned(store: MemoryStore, module: object, name: str) -> None:
    """Neither a table nor an organization's whole part of one; `touched` is what was found for the range."""
    found = plan(store, getattr(module, name))
    assert [step for step in found if step.startswith("SCAN") and step not in ("SCAN touched", "SCAN found")] == []
    assert [step for step in found if step.endswith("(org_id=?)")] == []
    assert [step for step in found if "AUTOMATIC" in step] == []
