"""What a capital distribution and a stock dividend are asked, and what the answer says where nobody told it."""

import pytest

from gatewayd.errors import Problem
from gatewayd.store.sqlite import schema
from tests.areas.accounting.books import fields_of
from tests.areas.assets.transactions.broking import Broking, Json
from tests.areas.assets.transactions.test_income import page

DAY = "2026-06-10"


@pytest.fixture
def held(broking: Broking) -> Broking:
    broking.buy("1000")
    return broking


def codes(made: Json) -> list[str]:
    return [one["code"] for one in made["warnings"]]


@pytest.mark.parametrize(
    ("kind", "fields", "path", "code"),
    [
        ("return_of_capital", {"grossAmount": "10", "smallDistribution": False}, "remainingValue", "required"),
        ("return_of_capital", {"grossAmount": "10", "remainingValue": "-1"}, "remainingValue", "out_of_range"),
        ("return_of_capital", {"grossAmount": "10", "remainingValue": "1.005"}, "remainingValue", "invalid_decimal"),
        ("return_of_capital", {"grossAmount": "10", "taxedAsDividend": True}, "taxedAsDividend", "conflict"),
        ("merger", {"quantity": "5", "remainingValue": "10"}, "remainingValue", "conflict"),
        ("merger", {"quantity": "5", "smallDistribution": True}, "smallDistribution", "conflict"),
        ("dividend", {"grossAmount": "10", "smallDistribution": False}, "smallDistribution", "conflict"),
        ("buy", {"quantity": "5", "unitPrice": "1", "remainingValue": "10"}, "remainingValue", "conflict"),
    ],
)
def test_what_is_told_goes_with_what_it_is_of(held: Broking, kind: str, fields: Json, path: str, code: str) -> None:
    of_merger = {"fromInstrumentId": held.vod, "instrumentId": held.aapl} if kind == "merger" else {}
    with pytest.raises(Problem) as caught:
        held.enter(kind, DAY, **of_merger, **fields)
    assert fields_of(caught.value) == [(path, code)]


def test_a_large_distribution_asks_what_remains(held: Broking) -> None:
    made = held.enter("return_of_capital", DAY, grossAmount="3000.01")
    assert codes(made) == ["distribution_value_unknown"]
    assert "remainingValue" in made["warnings"][0]["message"]
    held.reverse(made)
    assert codes(held.enter("return_of_capital", DAY, grossAmount="3000")) == []
    told = held.enter("return_of_capital", "2026-06-11", grossAmount="4000", remainingValue="10000")
    assert (codes(told), told["remainingValue"], told["smallDistribution"]) == ([], "10000.00", None)
    told = held.enter("return_of_capital", "2026-06-12", grossAmount="4000", smallDistribution=True)
    assert (codes(told), told["smallDistribution"]) == ([], True)
    in_isa = held.enter("opening_position", DAY, accountId=held.isa, quantity="10", grossAmount="100")
    assert codes(in_isa) == []
    assert codes(held.enter("return_of_capital", DAY, accountId=held.isa, grossAmount="4000")) == []


def test_a_takeover_asks_what_its_shares_are_worth(held: Broking) -> None:
    oak = held.instrument(name="Oak", symbol="OAK")
    cash = {"instrumentId": oak, "fromInstrumentId": held.vod, "quantity": "100"}
    made = held.enter("merger", DAY, **cash, grossAmount="8000")
    assert (codes(made), made["remainingValue"]) == (["distribution_value_unknown"], None)
    held.reverse(made)
    assert codes(held.enter("merger", DAY, **cash, grossAmount="8000", remainingValue="12000")) == []
    (gains,) = held.get("listDisposals", f"legalEntityId={held.owner}")[0]
    assert (gains["proceeds"], gains["cost"], gains["gain"]) == ("8000.00", "800.00", "7200.00")  # 2000 x 8 / 20


SHARES = {"quantity": "10", "grossAmount": "50"}


def test_a_stock_dividend_of_a_british_company_is_income_and_cost(held: Broking) -> None:
    """ITTOIA 2005 s410, TCGA 1992 s142."""
    made = held.enter("stock_dividend", DAY, **SHARES)
    assert (codes(made), made["taxedAsDividend"]) == ([], True)
    (position,) = held.walk("listPositions", f"accountId={held.first}")
    assert (position["quantity"], position["costBasisBase"], position["incomeTaxYear"]) == ("1010", "2050.00", "50.00")
    (event,) = page(held, f"accountId={held.first}")["data"]
    assert (event["ukCategory"], event["grossBase"]) == ("uk_dividend", "50.00")


@pytest.mark.parametrize(
    ("told", "cost", "category", "warned"),
    [
        (None, "1600.00", "not_income", ["stock_dividend_unknown"]),
        (False, "1600.00", "not_income", []),
        (True, "1640.00", "foreign_dividend", []),
    ],
)
def test_a_stock_dividend_of_a_foreign_company_asks_what_it_was(
    broking: Broking, told: bool | None, cost: str, category: str, warned: list[str]
) -> None:
    """A bonus issue without cost and income (CG51823), unless it was paid as a dividend (ITTOIA 2005 s402)."""
    of = {"instrumentId": broking.aapl, "fxRate": "0.8"}
    broking.buy("1000", **of)
    made = broking.enter("stock_dividend", DAY, **of, **SHARES, taxedAsDividend=told)
    assert (codes(made), made["taxedAsDividend"]) == (warned, told)
    (position,) = broking.walk("listPositions", f"accountId={broking.first}")
    earned = "40.00" if told else "0.00"
    assert (position["quantity"], position["costBasisBase"], position["incomeTaxYear"]) == ("1010", cost, earned)
    found = page(broking, f"accountId={broking.first}")
    assert [one["ukCategory"] for one in found["data"]] == [category]
    assert [(one["ukCategory"], one["grossBase"]) for one in found["totals"]] == [(category, "40.00")]
    of_days = page(broking, f"accountId={broking.first}&fromDate={DAY}&toDate={DAY}")
    assert of_days["totals"] == found["totals"]
    broking.sell("1010", date="2026-07-01", **of)
    report = broking.one("capitalGains", f"legalEntityId={broking.owner}&taxYear=2026-27")
    found_codes = [one["code"] for one in report["warnings"]]
    assert [code for code in found_codes if code == "stock_dividend_unknown"] == warned
    broking.reverse(broking.listed("type=sell")[0])
    broking.reverse(made)
    assert page(broking, f"accountId={broking.first}")["totals"] == []
    (position,) = broking.walk("listPositions", f"accountId={broking.first}")
    assert (position["quantity"], position["costBasisBase"]) == ("1000", "1600.00")


def test_a_stock_dividend_restates_what_is_held_unless_it_is_taxed(broking: Broking) -> None:
    """What is a bonus issue is no acquisition, and is matched with no disposal (TCGA 1992 s127)."""
    of = {"instrumentId": broking.aapl, "fxRate": "1"}
    broking.buy("100", **of)
    broking.sell("50", date="2026-06-01", **of)
    broking.enter("stock_dividend", DAY, **of, quantity="5", grossAmount="5")
    (gains,) = broking.get("listDisposals", f"legalEntityId={broking.owner}")[0]
    assert [match["rule"] for match in gains["matches"]] == ["pool"]
    broking.enter("stock_dividend", "2026-06-11", **of, quantity="5", grossAmount="5", taxedAsDividend=True)
    (gains,) = broking.get("listDisposals", f"legalEntityId={broking.owner}")[0]
    assert [match["rule"] for match in gains["matches"]] == ["thirty_days", "pool"]


def test_a_stock_dividend_on_nothing_is_warned_of(held: Broking) -> None:
    made = held.enter("stock_dividend", DAY, quantity="10", grossAmount="0")
    assert codes(made) == ["stock_dividend_unknown"]
    assert codes(held.enter("stock_dividend", DAY, accountId=held.isa, quantity="10", grossAmount="0")) == []


_STATE = """
SELECT t.id, t.taxed_as_dividend, NULL FROM asset_transactions t
UNION ALL SELECT y.instrument_id || y.type, y.events, y.gross_base FROM asset_income_years y WHERE y.events <> 0
"""


def test_what_was_entered_before_the_migration_is_taxed_by_its_country(broking: Broking) -> None:
    """And summed as a dividend, beside dividends that are there."""
    broking.buy("1000")
    broking.enter("dividend", DAY, grossAmount="7")
    broking.enter("stock_dividend", DAY, **SHARES)
    broking.enter("stock_dividend", DAY, **SHARES, instrumentId=broking.aapl, fxRate="0.8")
    connection = broking.store.connection
    right = sorted(connection.execute(_STATE), key=repr)
    assert (f"{broking.vod}dividend", 2, 57_00) in right
    connection.execute("UPDATE asset_transactions SET taxed_as_dividend = NULL")
    connection.execute(
        "UPDATE asset_income_years SET events = 1, gross = 700, gross_base = 700 WHERE type = 'dividend'"
    )
    connection.execute(
        "INSERT INTO asset_income_years SELECT org_id, account_id, year, instrument_id, 'stock_dividend', currency,"
        " base_currency, withheld, 1, 5000, 5000, 0 FROM asset_income_years WHERE type = 'dividend'"
    )
    (sql,) = [one.sql for one in schema.packaged() if one.name.endswith("_judge_distributions.sql")]
    before, made = sql.index("UPDATE asset_transactions"), sql.index("-- Instruments of which")
    connection.execute(sql[before:made]).fetchall()
    assert sorted(connection.execute(_STATE), key=repr) == right


def test_a_companys_stock_dividend_has_no_cost(broking: Broking) -> None:
    """CG58790: of a company it is a bonus issue."""
    company = broking.unregistered_entity(type="limited_company", companyNumber="01234567")
    account = broking.account(broking.portfolio(company), company)
    broking.buy("1000", accountId=account)
    made = broking.enter("stock_dividend", DAY, accountId=account, **SHARES)
    assert codes(made) == []
    (position,) = broking.walk("listPositions", f"accountId={account}&method=average_cost")
    assert (position["quantity"], position["costBasisBase"]) == ("1010", "2000.00")
