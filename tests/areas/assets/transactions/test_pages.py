"""Lists of transactions: their order, each filter, and that each is read from an index."""

from typing import Any

import pytest

from gatewayd.areas.assets.books.transactions import TRANSACTIONS
from gatewayd.areas.assets.transactions import operations
from gatewayd.errors import Problem
from gatewayd.store import ReadTx, WriteTx
from tests.areas.accounting.books import fields_of
from tests.areas.assets.transactions.broking import Broking
from tests.support.plans import plan_of
from tests.support.store import MemoryStore

MANY = 3_000


def ids(rows: list[dict[str, Any]]) -> list[str]:
    return [row["id"] for row in rows]


def test_latest_trade_first_then_latest_entered(broking: Broking) -> None:
    one = broking.buy(date="2026-05-02")
    two = broking.buy(date="2026-05-03")
    three = broking.buy(date="2026-05-02")
    assert ids(broking.listed()) == ids([two, three, one])


def test_each_filter(broking: Broking) -> None:
    spouse = broking.entity(name="Ben Oak", vatNumber=None, vat=None)
    theirs = broking.portfolio(spouse)
    account = broking.account(theirs, spouse)
    one = broking.buy(date="2026-05-01", externalId="T1")
    two = broking.buy(date="2026-05-02", accountId=account, instrumentId=broking.aapl, fxRate="0.8")
    three = broking.sell("1", date="2026-05-03")
    four = broking.enter("deposit", "2026-05-04", accountId=broking.second, instrumentId=None, grossAmount="1.00")
    for query, found in (
        (f"accountId={broking.first}", [three, one]),
        (f"portfolioId={theirs}", [two]),
        (f"portfolioId={broking.portfolio_id}", [four, three, one]),
        (f"legalEntityId={spouse}", [two]),
        (f"instrumentId={broking.aapl}", [two]),
        ("type=sell", [three]),
        ("type=sell&type=deposit&type=sell", [four, three]),
        (f"type=buy&accountId={broking.first}", [one]),
        ("fromDate=2026-05-02&toDate=2026-05-03", [three, two]),
        ("source=api", [four, three, two, one]),
        ("source=manual", []),
        ("externalId=T1", [one]),
    ):
        assert ids(broking.listed(query)) == ids(found), query


def test_what_was_reversed_is_shown_when_asked_for_and_to_who_follows_changes(broking: Broking) -> None:
    stays = broking.buy()
    made = broking.buy()
    broking.store.clock.advance(1_000_000)
    reversal = broking.reverse(made)
    assert ids(broking.listed()) == [stays["id"]]
    assert ids(broking.listed("includeReversed=true")) == ids([reversal, made, stays])
    changed = broking.listed("updatedSince=2026-11-20T09:30:00.5Z")
    assert ids(changed) == ids([made, reversal])
    assert ids(broking.listed("updatedSince=2026-11-20T09:30:00.5Z&type=buy")) == [made["id"]]


def test_dates_that_are_turned_are_refused(broking: Broking) -> None:
    with pytest.raises(Problem) as caught:
        broking.listed("fromDate=2026-05-02&toDate=2026-05-01")
    assert fields_of(caught.value) == [("toDate", "date_order")]


@pytest.mark.parametrize(
    "query", ["", "type=buy&type=sell", "updatedSince=2026-01-01T00:00:00Z", "includeReversed=true"]
)
def test_pages_hold_every_row_once(broking: Broking, query: str) -> None:
    for day in range(1, 8):
        made = broking.buy(date=f"2026-05-{day:02}")
        broking.sell("1", date=f"2026-06-{day:02}")
        if day % 3 == 0:
            broking.store.clock.advance(1)
            again = broking.buy(date=made["tradeDate"])
            broking.reverse(again)
    whole = broking.get("listTransactions", f"{query}&limit=500")[0]
    assert len(whole) == (18 if query.startswith(("updated", "include")) else 14)
    assert broking.walk("listTransactions", f"{query}&limit=3") == whole


def test_a_cursor_is_of_its_filters(broking: Broking) -> None:
    for day in (1, 2):
        broking.buy(date=f"2026-05-{day:02}")
    cursor = broking.get("listTransactions", "limit=1&type=buy")[1]
    with pytest.raises(Problem, match="invalid_cursor"):
        broking.listed(f"type=sell&cursor={cursor}")


# -- at length

SCOPES = ("", "accountId=acc_1", "portfolioId=prt_1", "legalEntityId=ent_1", "instrumentId=ins_1")
INDEXES = {
    "": "asset_transactions_by_date",
    "accountId=acc_1": "asset_transactions_of_account",
    "portfolioId=prt_1": "asset_transactions_of_portfolio",
    "legalEntityId=ent_1": "asset_transactions_of_entity",
    "instrumentId=ins_1": "asset_transactions_of_instrument",
    "type=buy": "asset_transactions_of_type",
    "type=split&type=merger": "asset_transactions_of_type",
    "accountId=acc_1&type=buy": "asset_transactions_of_account_and_type",
    "portfolioId=prt_1&type=buy&type=sell": "asset_transactions_of_portfolio_and_type",
    "source=import": "asset_transactions_of_source",
    "updatedSince=2026-01-01T00:00:00Z": "asset_transactions_by_change",
    "fromDate=2026-01-01&toDate=2026-02-01": "asset_transactions_by_date",
    "accountId=acc_1&fromDate=2026-01-01": "asset_transactions_of_account",
    "includeReversed=true": "asset_transactions_by_date",
    "externalId=T1": "asset_transactions_by_external_id",
}


@pytest.mark.parametrize("query", INDEXES)
@pytest.mark.parametrize("follows", [False, True])
def test_a_page_is_read_from_an_index_in_the_order_of_the_list(broking: Broking, query: str, follows: bool) -> None:
    plans: list[str] = []

    class Explaining(ReadTx):
        def each(self, sql: str, /, **values: object) -> Any:
            plans.extend(row[3] for row in super().rows(f"EXPLAIN QUERY PLAN {sql}", **values))
            return super().each(sql, **values)

    def explain(tx: ReadTx) -> None:
        explaining = object.__new__(Explaining)
        explaining.__dict__.update(tx.__dict__)
        request: Any = broking.decoders["listTransactions"].query(query)
        operations._page(explaining, request)

    broking.store.read(explain, broking.org_id)
    assert plans
    sorts = [step for step in plans if "SCAN" in step or ("TEMP B-TREE" in step and "externalId" not in query)]
    assert sorts == []
    assert all(f" {INDEXES[query]} " in step for step in plans if "SEARCH" in step), plans


def test_a_rare_type_among_many_costs_no_more_than_a_page(store: MemoryStore) -> None:
    """Counted in steps of SQLite's machine: a thousandth of what looking at every row takes."""
    broking = Broking(store)
    seen = broking.buy(date="2026-01-01")
    broking.enter("split", "2026-01-02", splitRatio={"numerator": 2, "denominator": 1})

    def copy(tx: WriteTx) -> None:
        row = TRANSACTIONS.get(tx, seen["id"])
        for _ in range(MANY):
            TRANSACTIONS.insert(tx, TRANSACTIONS.row(**{**_members(row), "id": tx.new_id("txn")}))

    store.write(copy, broking.org_id)
    for query in (
        "type=split",
        f"accountId={broking.first}&type=split",
        f"portfolioId={broking.portfolio_id}&type=split",
    ):
        steps = 0

        def count() -> bool:
            nonlocal steps
            steps += 1
            return False

        store.connection.set_progress_handler(count, 1)
        found = broking.listed(query)
        store.connection.set_progress_handler(None)
        assert len(found) == 1
        assert steps < 500, (query, steps)


def _members(row: Any) -> dict[str, Any]:
    return {name: getattr(row, name) for name in row.__struct_fields__}


_BROUGHT = "UPDATE asset_transactions SET import_id = 'imp_1' WHERE org_id = :org_id AND id = :id"


def test_what_an_import_brought_is_found_by_it(broking: Broking) -> None:
    made = [broking.buy(date=f"2026-05-0{day}") for day in (2, 3, 1)]
    for row in made[:2]:
        broking.store.write(lambda tx, id_=row["id"]: tx.run(_BROUGHT, id=id_), broking.org_id)
    assert ids(broking.listed("importId=imp_1")) == ids([made[1], made[0]])
    assert ids(broking.listed(f"importId=imp_1&type=buy&accountId={broking.first}")) == ids([made[1], made[0]])
    assert broking.listed("importId=imp_1&type=sell") == broking.listed("importId=imp_2") == []
    for query in ("", "&type=buy", "&accountId=acc_1", "&source=import"):
        plans = plan_of(broking, "listTransactions", f"importId=imp_1{query}")
        assert any("USING INDEX asset_transactions_of_import_by_date " in step for step in plans), (query, plans)
