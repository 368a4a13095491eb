"""Pages of the transactions of all accounts in one order, and of those that an import brought."""

import itertools
from collections.abc import Iterator
from typing import Any

import pytest

from gatewayd.areas.banking.accounts.operations import create_account
from gatewayd.areas.banking.accounts.shapes import CreateAccount
from gatewayd.areas.banking.transactions import rows
from gatewayd.areas.banking.transactions.operations import OPERATIONS, list_transactions
from gatewayd.contract.decoding import RequestDecoder
from gatewayd.errors import Problem
from gatewayd.ledger.imports import import_runs
from gatewayd.store import ReadTx
from tests.areas.accounting.books import fields_of
from tests.areas.banking.test_transactions import Lines
from tests.support.store import MemoryStore, make_caller
from tests.support.wire import shown

DECODER = RequestDecoder(OPERATIONS[1])
SINCE = "updatedSince=2026-01-01T00:00:00Z"


class Bank:
    """Two accounts of one organization, whose lines are numbered as they are added."""

    def __init__(self, store: MemoryStore) -> None:
        self.lines = Lines(store)
        self.store, self.org_id = store, self.lines.org_id
        self.first = self.lines.account_id
        caller = make_caller(self.org_id)
        made = store.write(lambda tx: create_account(tx, caller, CreateAccount(name="Savings")), self.org_id)
        self.second = made.id

    def add(self, account_id: str, date: str, amount: int, **values: Any) -> str:
        self.lines.account_id = account_id
        return self.lines.add(date, amount, **values)

    def page(self, query: str = "", org_id: str | None = None) -> tuple[list[int], str | None, dict[str, Any]]:
        """The numbers of the lines on a page, the next cursor, and what else is said."""
        request: Any = DECODER.query(query)
        org_id = org_id or self.org_id
        listing = self.store.read(lambda tx: list_transactions(tx, make_caller(org_id), request), org_id)
        numbers = [int(item["id"].removeprefix("btx_")) for item in shown(listing)]
        return numbers, listing.next_cursor, {"extra": listing.extra}

    def walk(self, query: str, limit: int) -> list[int]:
        numbers: list[int] = []
        cursor = ""
        for _ in itertools.count():
            more, following, _ = self.page("&".join(filter(None, [query, f"limit={limit}", cursor])))
            numbers += more
            if following is None:
                return numbers
            cursor = f"cursor={following}"
        raise AssertionError


@pytest.fixture
def bank(store: MemoryStore) -> Bank:
    made = Bank(store)
    made.add(made.first, "2026-03-05", 120000, text="rent flat 2")  # 1
    made.add(made.second, "2026-03-02", -320, text="costa")  # 2
    made.add(made.first, "2026-03-02", -500, allocated=-500)  # 3
    made.add(made.second, "2026-03-09", -9900, import_id="imp_2")  # 4
    made.add(made.first, "2026-03-10", -100, status="pending")  # 5
    made.add(made.second, "2026-03-11", 0, status="information")  # 6
    made.add(made.first, "2026-03-12", -700, import_id="imp_2")  # 7
    return made


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("", [7, 4, 1, 3, 2]),
        ("accountId={first}", [7, 1, 3]),
        ("accountId={second}", [4, 2]),
        ("accountId=bac_none", []),
        ("status=pending", [5]),
        ("status=all", [7, 6, 5, 4, 1, 3, 2]),
        ("fromDate=2026-03-05", [7, 4, 1]),
        ("toDate=2026-03-05", [1, 3, 2]),
        ("direction=in", [1]),
        ("direction=out", [7, 4, 3, 2]),
        ("q=COSTA", [2]),
        ("unallocated=true", [7, 4, 1, 2]),
        ("unallocated=false", [3]),
        ("importId=imp_2", [7, 4]),
        ("importId=imp_2&accountId={second}", [4]),
        ("importId=imp_2&toDate=2026-03-09", [4]),
        (SINCE, [1, 2, 3, 4, 7]),
        (f"{SINCE}&status=all", [1, 2, 3, 4, 5, 6, 7]),
        (f"{SINCE}&importId=imp_2", [4, 7]),
        (f"{SINCE}&accountId={{second}}", [2, 4]),
    ],
)
def test_each_filter_finds_lines_of_all_accounts_in_one_order(bank: Bank, query: str, found: list[int]) -> None:
    query = query.format(first=bank.first, second=bank.second)
    assert bank.page(query)[0] == found
    for limit in (1, 2, 3):
        assert bank.walk(query, limit) == found


def test_what_is_gone_is_told_between_the_changes(bank: Bank) -> None:
    bank.store.clock.advance(1)
    bank.store.write(lambda tx: rows.delete(tx, "btx_02"), bank.org_id)
    numbers, cursor, rest = bank.page(f"{SINCE}&limit=500")
    assert (numbers, cursor) == ([1, 3, 4, 7], None)
    assert b'"id":"btx_02","status":"removed"' in rest["extra"]


def test_nothing_is_told_of_changes_from_what_is_hidden_on(bank: Bank) -> None:
    """It will appear with the instants that it has."""
    bank.store.clock.advance(1)
    bank.store.write(lambda tx: import_runs.hide(tx, "imp_1"), bank.org_id)
    bank.add(bank.first, "2026-03-20", 5, import_id="imp_2")
    assert bank.page()[0] == [8, 7, 4]
    assert bank.page(SINCE)[0] == [4, 7]
    bank.store.write(lambda tx: import_runs.show(tx, "imp_1"), bank.org_id)
    assert bank.page(SINCE)[0] == [1, 2, 3, 4, 7, 8]


def test_dates_that_are_turned_are_refused(bank: Bank) -> None:
    with pytest.raises(Problem) as caught:
        bank.page("fromDate=2026-03-02&toDate=2026-03-01")
    assert fields_of(caught.value) == [("toDate", "date_order")]


def test_another_organizations_lines_are_not_there(bank: Bank) -> None:
    other = bank.store.org("Other Ltd")
    assert bank.page("", other)[:2] == ([], None)
    assert bank.page(f"accountId={bank.first}", other)[0] == []
    assert bank.page("importId=imp_1", other)[0] == []


@pytest.mark.parametrize(
    ("query", "index"),
    [
        ("", "bank_transactions_by_date"),
        ("status=pending", "bank_transactions_pending"),
        ("direction=out", "bank_transactions_out"),
        ("unallocated=true", "bank_transactions_unallocated"),
        (SINCE, "bank_transactions_by_change"),
        ("importId=imp_1", "bank_transactions_by_import"),
        ("importId=imp_1&accountId=bac_1", "bank_transactions_by_import"),
        (f"importId=imp_1&{SINCE}", "bank_transactions_by_import"),
    ],
)
def test_a_page_comes_from_an_index_of_each_account(bank: Bank, query: str, index: str) -> None:
    """And so costs the same with a million lines. What a file brought is so much and no more, and may be sorted."""
    plans: list[str] = []

    class Explaining(ReadTx):
        def each(self, sql: str, /, **values: object) -> Iterator[tuple[object, ...]]:
            plans.extend(row[3] for row in super().rows(f"EXPLAIN QUERY PLAN {sql}", **values))
            return super().each(sql, **values)

    request: Any = DECODER.query(query)

    def explain(tx: ReadTx) -> None:
        explaining = object.__new__(Explaining)
        explaining.__dict__.update(tx.__dict__)
        list_transactions(explaining, make_caller(bank.org_id), request)

    bank.store.read(explain, bank.org_id)
    assert not [step for step in plans if "SCAN" in step], plans
    assert "importId" in query or not [step for step in plans if "TEMP B-TREE" in step], plans
    assert any(f"bank_transactions USING INDEX {index} " in step for step in plans), plans
