"""Income events: what follows from which transaction, when it counts and as what it is taxed (Domain B3)."""

from collections.abc import Mapping
from typing import Any

import pytest

from gatewayd.areas.assets.income import rows
from gatewayd.errors import Problem
from gatewayd.store import ReadTx
from tests.areas.accounting.books import Json, fields_of
from tests.areas.assets.transactions.broking import Broking

BOND_FUND: Mapping[str, object] = {"name": "Gilts", "asset_class": "fixed_income", "asset_sub_class": "oeic"}
REIT: Mapping[str, object] = {"name": "Sheds", "asset_sub_class": "reit"}


def page(broking: Broking, query: str = "") -> Json:
    return broking.one("listIncomeEvents", query)


def events(broking: Broking, query: str = "") -> list[Json]:
    found: list[Json] = page(broking, query)["data"]
    return found


def dividend(broking: Broking, date: str = "2026-06-30", **fields: object) -> Json:
    return broking.enter("dividend", date, **{"grossAmount": "100.00", **fields})


def test_an_event_says_what_its_transaction_says(broking: Broking) -> None:
    made = dividend(
        broking,
        instrumentId=broking.aapl,
        grossAmount="100.00",
        quantity="400",
        taxes="15.00",
        fees="1.00",
        fxRate="0.75",
        exDate="2026-06-10",
    )
    (event,) = events(broking)
    assert event == {
        "id": event["id"],
        "transactionId": made["id"],
        "accountId": broking.first,
        "portfolioId": broking.portfolio_id,
        "legalEntityId": broking.owner,
        "instrumentId": broking.aapl,
        "kind": "dividend",
        "exDate": "2026-06-10",
        "payDate": "2026-06-30",
        "status": "received",
        "quantity": "400",
        "perUnit": "0.25",
        "gross": "100.00",
        "withheldTax": "15.00",
        "net": "85.00",
        "currency": "USD",
        "fxRate": "0.75",
        "baseCurrency": "GBP",
        "grossBase": "75.00",
        "taxYear": "2026-27",
        "ukCategory": "foreign_dividend",
    }
    assert event["id"].startswith("inc_")


def test_units_are_those_held_before_the_ex_date_where_none_are_given(broking: Broking) -> None:
    broking.buy("300", "2026-05-01")
    broking.buy("100", "2026-06-10")
    dividend(broking, "2026-06-30", grossAmount="1.00")
    dividend(broking, "2026-06-29", exDate="2026-06-10", grossAmount="1.00")
    dividend(broking, "2026-04-30", grossAmount="1.00")
    found = [(event["quantity"], event["perUnit"]) for event in events(broking)]
    assert found == [("400", "0.0025"), ("300", "0.003333333333"), (None, None)]


@pytest.mark.parametrize(
    ("kind", "fields", "category"),
    [
        ("dividend", {}, "uk_dividend"),
        ("dividend", {"domicile_country": "GB"}, "uk_dividend"),
        ("dividend", {"domicile_country": "JE"}, "foreign_dividend"),
        ("dividend", {"isin": "IE00B4L5Y983"}, "foreign_dividend"),
        ("dividend", {"currency": "USD"}, "foreign_dividend"),
        ("distribution", {"asset_class": "fund", "asset_sub_class": "oeic"}, "uk_dividend"),
        ("notional_distribution", {"asset_class": "fund", "domicile_country": "IE"}, "foreign_dividend"),
        ("excess_reportable_income", {"asset_class": "fund", "domicile_country": "IE"}, "foreign_dividend"),
        ("interest", {}, "uk_interest"),
        ("interest", {"domicile_country": "US"}, "foreign_interest"),
        ("distribution", BOND_FUND, "uk_interest"),
        ("dividend", {**BOND_FUND, "domicile_country": "LU"}, "foreign_interest"),
        ("notional_distribution", {"asset_class": "cash", "asset_sub_class": "money_market"}, "uk_interest"),
        ("distribution", REIT, "property_income_distribution"),
        ("dividend", REIT, "uk_dividend"),
        ("dividend", {**REIT, "taxes": "20.00"}, "property_income_distribution"),
        ("distribution", {**REIT, "domicile_country": "US"}, "foreign_dividend"),
        ("return_of_capital", {}, "not_income"),
    ],
)
def test_as_what_it_is_taxed(broking: Broking, kind: str, fields: Mapping[str, object], category: str) -> None:
    given = {name: value for name, value in fields.items() if name != "taxes"}
    instrument = broking.instrument(**{"name": "Acme", **given})
    fx = {"fxRate": "0.8"} if fields.get("currency") else {}
    values = {"instrumentId": instrument, "grossAmount": "100.00", "taxes": fields.get("taxes"), **fx}
    broking.enter(kind, "2026-03-01", **values)
    (event,) = events(broking)
    assert (event["kind"], event["ukCategory"]) == (kind, category)


def test_interest_of_an_account_needs_no_instrument(broking: Broking) -> None:
    broking.enter("interest", "2026-03-01", instrumentId=None, grossAmount="1.00")
    (event,) = events(broking)
    assert (event["instrumentId"], event["ukCategory"], event["perUnit"]) == (None, "uk_interest", None)


@pytest.mark.parametrize(
    ("wrapper", "category"),
    [("isa", "exempt_wrapper"), ("sipp", "exempt_wrapper"), ("eis", "uk_dividend"), ("seis", "uk_dividend")],
)
def test_a_wrapper_keeps_income_from_tax(broking: Broking, wrapper: str, category: str) -> None:
    account = broking.account(tax_wrapper=wrapper)
    dividend(broking, accountId=account)
    broking.enter("return_of_capital", "2026-06-30", accountId=account, grossAmount="1.00")
    assert [event["ukCategory"] for event in events(broking)] == ["not_income", category]


def test_shares_in_the_place_of_a_dividend_are_one(broking: Broking) -> None:
    shares = {"quantity": "3", "grossAmount": "30.00"}
    broking.enter("stock_dividend", "2026-06-30", **shares)
    broking.enter("stock_dividend", "2026-06-29", instrumentId=broking.aapl, fxRate="0.8", **shares)
    found = events(broking)
    assert [(event["kind"], event["ukCategory"]) for event in found] == [
        ("dividend", "uk_dividend"),
        ("dividend", "not_income"),
    ]


def test_excess_reportable_income_counts_six_months_after_the_end_of_the_period(broking: Broking) -> None:
    """The fund's year ends 31 August: the end of February; told for a period to June, it is still to come."""
    values = {"grossAmount": "50.00", "quantity": "100"}
    broking.enter("excess_reportable_income", "2025-08-31", **values)
    broking.enter("excess_reportable_income", "2026-06-30", **values)
    coming, past = events(broking)
    assert (past["payDate"], past["status"], past["taxYear"]) == ("2026-02-28", "received", "2025-26")
    assert (coming["payDate"], coming["status"], coming["taxYear"]) == ("2026-12-30", "expected", "2026-27")
    assert events(broking, "status=expected") == [coming]
    assert events(broking, "status=received") == [past]
    assert events(broking, "taxYear=2025-26") == [past]


def test_what_was_reversed_is_cancelled_and_shown_when_asked_for(broking: Broking) -> None:
    stays = dividend(broking)
    broking.reverse(dividend(broking))
    assert [event["transactionId"] for event in events(broking)] == [stays["id"]]
    assert page(broking)["totals"][0]["count"] == 1
    (event,) = events(broking, "status=cancelled")
    assert event["status"] == "cancelled"


def test_each_filter(broking: Broking) -> None:
    spouse = broking.entity(name="Ben Oak", vatNumber=None, vat=None)
    theirs = broking.portfolio(spouse)
    account = broking.account(theirs, spouse)
    broking.buy()
    one = dividend(broking, "2026-04-05")["id"]
    two = dividend(broking, "2026-04-06", accountId=broking.second, instrumentId=broking.aapl, fxRate="0.8")["id"]
    three = dividend(broking, "2026-04-07", accountId=account)["id"]
    four = broking.enter("interest", "2026-04-08", instrumentId=None, grossAmount="1.00")["id"]
    for query, found in (
        ("", [four, three, two, one]),
        (f"accountId={broking.second}", [two]),
        (f"portfolioId={broking.portfolio_id}", [four, two, one]),
        (f"legalEntityId={spouse}", [three]),
        (f"instrumentId={broking.aapl}", [two]),
        ("kind=interest", [four]),
        ("kind=interest&kind=dividend&kind=interest", [four, three, two, one]),
        ("taxYear=2025-26", [one]),
        ("fromDate=2026-04-06&toDate=2026-04-07", [three, two]),
        ("status=expected", []),
        ("status=received&taxYear=2025-26", [one]),
    ):
        assert [event["transactionId"] for event in events(broking, query)] == found, query


def test_an_unknown_scope_is_told_and_dates_that_contradict(broking: Broking) -> None:
    for query, found in (
        ("portfolioId=prt_none", [("portfolioId", "unknown_reference")]),
        ("accountId=acc_none", [("accountId", "unknown_reference")]),
        ("instrumentId=ins_none", [("instrumentId", "unknown_reference")]),
        ("legalEntityId=ent_none", [("legalEntityId", "unknown_reference")]),
        ("taxYear=2026-28", [("taxYear", "invalid_format")]),
        ("taxYear=2026-27&fromDate=2026-05-01", [("taxYear", "conflict")]),
        ("fromDate=2026-05-02&toDate=2026-05-01", [("toDate", "date_order")]),
    ):
        with pytest.raises(Problem) as caught:
            events(broking, query)
        assert fields_of(caught.value) == found, query


INDEXES = {
    "": "asset_income_by_date",
    "accountId={account}": "asset_income_of_account",
    "portfolioId={portfolio}": "asset_income_of_portfolio",
    "legalEntityId={owner}": "asset_income_of_entity",
    "instrumentId={instrument}": "asset_income_of_instrument",
    "taxYear=2026-27&status=received": "asset_income_by_date",
    "portfolioId={portfolio}&taxYear=2026-27": "asset_income_of_portfolio",
}


@pytest.mark.parametrize("query", INDEXES)
def test_a_page_walks_an_index_of_income_alone(broking: Broking, query: str) -> None:
    plans: list[str] = []

    class Explaining(ReadTx):
        def each(self, sql: str, /, **values: object) -> Any:
            plans.extend(row[3] for row in super().rows(f"EXPLAIN QUERY PLAN {sql}", **values))
            return super().each(sql, **values)

    def explain(tx: ReadTx) -> None:
        explaining = object.__new__(Explaining)
        explaining.__dict__.update(tx.__dict__)
        ids = {"account": broking.first, "portfolio": broking.portfolio_id, "owner": broking.owner}
        request: Any = broking.decoders["listIncomeEvents"].query(query.format(**ids, instrument=broking.vod))
        list(rows.events(explaining, request, None))

    broking.store.read(explain, broking.org_id)
    assert not [step for step in plans if "SCAN" in step or "TEMP B-TREE" in step], plans
    assert any(f"SEARCH t USING INDEX {INDEXES[query]} " in step for step in plans), plans
