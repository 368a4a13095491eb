"""Totals of income: they are kept by tax year, and always what the events of the filter come to."""

import re
from collections import Counter
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gatewayd.areas.assets.income import rows
from gatewayd.store import ReadTx
from gatewayd.store.sqlite import schema
from tests.areas.accounting.books import Json
from tests.areas.assets.transactions.broking import Broking
from tests.areas.assets.transactions.test_income import REIT, dividend, events, page
from tests.support.store import MemoryStore

_MIGRATION = "_sum_income.sql"
_SELECT_YEARS = """
SELECT account_id, year, instrument_id, type, currency, base_currency, withheld, events, gross, gross_base, taxes
FROM asset_income_years WHERE events <> 0 ORDER BY 1, 2, 3, 4, 5, 6, 7
"""
DAYS = ("2024-04-05", "2024-04-06", "2025-12-31", "2026-04-05", "2026-04-06", "2026-06-30", "2026-11-19", "2026-11-20")

paid = st.fixed_dictionaries(
    {
        "type": st.sampled_from(
            ["dividend", "interest", "return_of_capital", "excess_reportable_income", "stock_dividend"]
        ),
        "taxed": st.sampled_from([None, False, True]),
        "date": st.sampled_from(DAYS),
        "account": st.sampled_from(["first", "second", "isa"]),
        "instrument": st.sampled_from(["vod", "aapl", None]),
        "pence": st.integers(1, 99_999),
        "taxes": st.sampled_from(["0", "0.01"]),
        "reversed": st.sampled_from([False, False, True]),
    }
)
filters = st.fixed_dictionaries(
    {
        "scope": st.sampled_from(["", "accountId={first}", "portfolioId={portfolio_id}", "legalEntityId={owner}"]),
        "instrument": st.sampled_from(["", "", "instrumentId={vod}"]),
        "kind": st.sampled_from(["", "", "kind=interest&kind=dividend"]),
        "status": st.sampled_from(["", "status=expected", "status=received", "status=cancelled"]),
        "days": st.sampled_from(["", "taxYear=2026-27", "taxYear=2025-26"])
        | st.tuples(st.sampled_from(DAYS), st.sampled_from(DAYS)).map(
            lambda ends: f"fromDate={min(ends)}&toDate={max(ends)}"
        )
        | st.sampled_from(DAYS).map("fromDate={}".format)
        | st.sampled_from(DAYS).map("toDate={}".format)
        | st.just("fromDate=0001-01-01&toDate=9999-12-31"),
    }
)


def test_totals_are_of_the_filter_and_not_of_the_page(broking: Broking) -> None:
    for day in range(1, 6):
        dividend(broking, f"2026-05-{day:02}", instrumentId=broking.aapl, taxes="15.00", fxRate="0.75")
        dividend(broking, f"2026-05-{day:02}", grossAmount="10.01")
        dividend(broking, f"2026-05-{day:02}", accountId=broking.isa)
    first = page(broking, "limit=2")
    expected = [
        ("GBP", "exempt_wrapper", 5, "500.00", "0.00", "500.00", "500.00"),
        ("GBP", "uk_dividend", 5, "50.05", "0.00", "50.05", "50.05"),
        ("USD", "foreign_dividend", 5, "500.00", "75.00", "425.00", "375.00"),
    ]
    names = ("currency", "ukCategory", "count", "gross", "withheldTax", "net", "grossBase")
    assert [tuple(total[name] for name in names) for total in first["totals"]] == expected
    seen, cursor = list(first["data"]), first["nextCursor"]
    while cursor is not None:
        following = page(broking, f"limit=2&cursor={cursor}")
        assert following["totals"] == first["totals"]
        seen, cursor = [*seen, *following["data"]], following["nextCursor"]
    assert seen == events(broking, "limit=500")
    assert len(seen) == 15


def test_totals_tell_property_income_from_dividends_of_one_trust(broking: Broking) -> None:
    trust = broking.instrument(**REIT)
    dividend(broking, instrumentId=trust, taxes="20.00")
    dividend(broking, instrumentId=trust, grossAmount="7.00")
    found = [(total["ukCategory"], total["count"], total["gross"], total["net"]) for total in page(broking)["totals"]]
    assert found == [("property_income_distribution", 1, "100.00", "80.00"), ("uk_dividend", 1, "7.00", "7.00")]


def pay(broking: Broking, one: Json) -> None:
    """Enter what was paid; what needs an instrument is of Vodafone where none is named."""
    instrument = one["instrument"]
    if instrument is None and one["type"] != "interest":
        instrument = "vod"
    named: Json = {"instrumentId": None if instrument is None else getattr(broking, instrument)}
    if instrument == "aapl":
        named["fxRate"] = "0.78"
    if one["type"] in ("dividend", "interest"):
        named["taxes"] = one["taxes"]
    if one["type"] == "stock_dividend":
        named |= {"quantity": "1", "taxedAsDividend": one["taxed"]}
    account = getattr(broking, one["account"])
    gross = f"{one['pence'] / 100:.2f}"
    made = broking.enter(one["type"], one["date"], accountId=account, grossAmount=gross, **named)
    if one["reversed"]:
        broking.reverse(made)


def added(found: list[Json]) -> dict[tuple[str, str, str], tuple[int, ...]]:
    """What events come to, by what totals are told by."""
    sums: Counter[tuple[tuple[str, str, str], str]] = Counter()
    for event in found:
        key = (event["currency"], event["baseCurrency"], event["ukCategory"])
        sums[key, "count"] += 1
        for name in ("gross", "withheldTax", "net", "grossBase"):
            sums[key, name] += round(float(event[name]) * 100)
    names = ("count", "gross", "withheldTax", "net", "grossBase")
    return {key: tuple(sums[key, name] for name in names) for key, _ in sums}


def told(found: list[Json]) -> dict[tuple[str, str, str], tuple[int, ...]]:
    """The totals of a page in the same form."""
    amounts = ("gross", "withheldTax", "net", "grossBase")
    return {
        (one["currency"], one["baseCurrency"], one["ukCategory"]): (
            one["count"],
            *(round(float(one[name]) * 100) for name in amounts),
        )
        for one in found
    }


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(history=st.lists(paid, min_size=1, max_size=8), asked=st.lists(filters, min_size=1, max_size=6))
def test_totals_are_what_the_events_come_to(
    database_image: bytes, history: list[Json], asked: list[dict[str, str]]
) -> None:
    broking = Broking(MemoryStore(database_image))
    for one in history:
        pay(broking, one)
    for query in ("", *("&".join(filter(None, one.values())).format(**vars(broking)) for one in asked)):
        assert told(page(broking, query)["totals"]) == added(events(broking, f"{query}&limit=500".lstrip("&"))), query
    broking.store.close()


def test_received_of_days_that_are_still_to_come_is_nothing(broking: Broking) -> None:
    dividend(broking)
    broking.enter("excess_reportable_income", "2026-06-30", grossAmount="50.00")
    assert page(broking, "status=received&fromDate=2026-12-01") == {"data": [], "nextCursor": None, "totals": []}


@pytest.mark.parametrize("query", ["", "taxYear=2026-27", "accountId={first}", "instrumentId={vod}&kind=dividend"])
def test_totals_of_whole_years_look_at_no_transaction(broking: Broking, query: str) -> None:
    for day in range(1, 9):
        dividend(broking, f"2026-05-{day:02}")
    asked: list[str] = []
    counts: list[int] = []

    class Watching(ReadTx):
        def rows(self, sql: str, /, **values: object) -> Any:
            found = super().rows(sql, **values)
            asked.append(sql)
            counts.append(len(found))
            return found

    request: Any = broking.decoders["listIncomeEvents"].query(query.format(**vars(broking)))

    def watch(tx: ReadTx) -> Any:
        watching = object.__new__(Watching)
        watching.__dict__.update(tx.__dict__)
        return rows.totals_of(watching, request)

    (total,) = broking.store.read(watch, broking.org_id)
    assert (total.count, str(total.gross)) == (8, "800.00")
    assert counts == [1]
    assert "asset_transactions" not in asked[0]


def test_what_was_earned_before_the_migration_is_summed_by_it(broking: Broking) -> None:
    for one in ("2026-04-05", "2026-04-06"):
        dividend(broking, one, taxes="15.00", instrumentId=broking.aapl, fxRate="0.75")
        dividend(broking, one, accountId=broking.isa)
        dividend(broking, one, accountId=broking.isa)
    broking.enter("interest", "2026-03-01", instrumentId=None, grossAmount="1.00")
    broking.enter("excess_reportable_income", "2025-12-31", grossAmount="50.00")
    broking.buy()
    broking.reverse(dividend(broking))
    kept = broking.store.connection.execute(_SELECT_YEARS).fetchall()
    assert len(kept) == 6
    (migration,) = [one for one in schema.packaged() if one.name.endswith(_MIGRATION)]
    fill = re.search(r"^INSERT INTO asset_income_years.*?;", migration.sql, re.MULTILINE | re.DOTALL)
    assert fill is not None
    broking.store.connection.execute(f"DELETE FROM asset_income_years; {fill[0]}")
    assert broking.store.connection.execute(_SELECT_YEARS).fetchall() == kept
