"""Positions: quantities, costs, values and gains of any day, by account and over all of them."""

from decimal import Decimal
from typing import Any

import pytest

from gatewayd.clock import DAY
from gatewayd.errors import Problem
from tests.areas.accounting.books import Json, fields_of
from tests.areas.assets.shelves import Shelves
from tests.support.store import MemoryStore


class Shareholder(Shelves):
    """A person with two general accounts and an ISA in one portfolio, and a share."""

    def __init__(self, store: MemoryStore) -> None:
        super().__init__(store)
        self.owner = self.person()
        self.portfolio_id = self.portfolio(self.owner)["id"]
        self.first, self.second = (self.account(self.portfolio_id)["id"] for _ in range(2))
        self.isa = self.account(self.portfolio_id, taxWrapper="isa")["id"]
        self.share = self.instrument(name="Lobster plc", symbol="LOB", isin="GB00BH4HKS39").id

    def trade(self, kind: str, date: str, quantity: str, gross: str, account: str = "", **fields: object) -> Json:
        values: dict[str, object] = {"instrumentId": self.share, "quantity": quantity, "grossAmount": gross}
        return self.enter(account or self.first, kind, date, **{**values, **fields})

    def price(self, price: str, date: str, **fields: object) -> None:
        self.post("recordPrice", **{"instrumentId": self.share, "price": price, "date": date, **fields})

    def one_position(self, query: str = "") -> Json:
        (position,) = self.positions(f"portfolioId={self.portfolio_id}{query}")
        return position


@pytest.fixture
def holder(store: MemoryStore) -> Shareholder:
    return Shareholder(store)


def held(position: Json) -> tuple[str, str, str]:
    return position["quantity"], position["costBasisBase"], position["realisedGainTaxYear"]


def test_hs284_example_3_on_its_days(holder: Shareholder) -> None:
    """Domain C5, T-CGT-1."""
    holder.trade("buy", "2014-04-01", "1000", "4000", fees="150")
    holder.trade("buy", "2017-09-01", "500", "2050", fees="80")
    holder.trade("sell", "2018-05-01", "700", "3360", fees="100")
    holder.trade("sell", "2019-02-01", "400", "2080", fees="105")
    assert held(holder.one_position("&asOfDate=2014-04-01")) == ("1000", "4150.00", "0.00")
    assert held(holder.one_position("&asOfDate=2018-04-30")) == ("1500", "6280.00", "0.00")
    assert held(holder.one_position("&asOfDate=2018-05-01")) == ("800", "3349.33", "329.33")
    assert held(holder.one_position("&asOfDate=2019-04-05")) == ("400", "1674.67", "629.66")
    assert held(holder.one_position()) == ("400", "1674.67", "0.00")
    assert holder.positions(f"portfolioId={holder.portfolio_id}&asOfDate=2014-03-31") == []
    assert holder.one_position()["firstAcquiredDate"] == "2014-04-01"


def test_what_is_bought_back_later_is_not_known_before(holder: Shareholder) -> None:
    """Domain C5, T-CGT-2: on the day of the sale nobody knows that 500 will be bought 12 days later."""
    holder.trade("buy", "2020-01-02", "9500", "14250")
    holder.trade("sell", "2020-08-30", "4000", "6000")
    before = holder.one_position("&asOfDate=2020-09-10")
    holder.trade("buy", "2020-09-11", "500", "850")
    assert held(before) == ("5500", "8250.00", "0.00")
    assert holder.one_position("&asOfDate=2020-09-10") == before
    assert held(holder.one_position("&asOfDate=2020-09-11")) == ("6000", "9000.00", "-100.00")


def test_accounts_without_a_wrapper_share_a_pool_and_an_isa_does_not(holder: Shareholder) -> None:
    holder.trade("buy", "2026-05-01", "100", "100")
    holder.trade("buy", "2026-06-01", "100", "300", holder.second)
    holder.trade("buy", "2026-07-01", "50", "500", holder.isa)
    merged, isa = holder.positions(f"portfolioId={holder.portfolio_id}")
    assert (held(merged), merged["accountId"], merged["poolScope"]) == (("200", "400.00", "0.00"), None, "entity")
    assert (held(isa), isa["accountId"], isa["taxWrapper"]) == (("50", "500.00", "0.00"), holder.isa, "isa")
    assert (isa["poolScope"], isa["method"]) == ("account", "average_cost")
    (by_pool,) = holder.positions(f"accountId={holder.first}")
    assert (held(by_pool), by_pool["averageCost"], by_pool["poolScope"]) == (("100", "200.00", "0.00"), "2", "entity")
    (by_account,) = holder.positions(f"accountId={holder.first}&method=average_cost")
    assert (held(by_account), by_account["poolScope"]) == (("100", "100.00", "0.00"), "account")
    assert holder.positions(f"legalEntityId={holder.owner}") == [merged, isa]


def test_methods_differ_in_cost_and_gain(holder: Shareholder) -> None:
    holder.trade("buy", "2026-05-01", "100", "100")
    holder.trade("buy", "2026-06-01", "100", "300")
    holder.trade("buy", "2026-06-02", "200", "1400", holder.second)
    holder.trade("sell", "2026-09-01", "100", "500")
    for method, cost, gain in (
        ("section_104", "1350.00", "50.00"),  # 1800 x 300/400; 500 - 450
        ("average_cost", "1600.00", "300.00"),  # 200 + 1400; 500 - 200
        ("fifo", "1700.00", "400.00"),  # 300 + 1400; 500 - 100
    ):
        position = holder.one_position(f"&method={method}")
        assert (position["method"], *held(position)) == (method, "300", cost, gain)


def test_two_portfolios_of_a_person_share_the_pool(holder: Shareholder) -> None:
    other = holder.account(holder.portfolio(holder.owner)["id"])
    holder.trade("buy", "2026-05-01", "100", "100")
    holder.trade("buy", "2026-06-01", "100", "300", other["id"])
    assert held(holder.one_position()) == ("100", "200.00", "0.00")
    (whole,) = holder.positions(f"legalEntityId={holder.owner}")
    assert held(whole) == ("200", "400.00", "0.00")
    holder.post("archivePortfolio", id=other["portfolioId"])
    (left,) = holder.positions(f"legalEntityId={holder.owner}")
    assert held(left) == ("100", "200.00", "0.00")
    (archived,) = holder.positions(f"portfolioId={other['portfolioId']}")
    assert held(archived) == ("100", "200.00", "0.00")


def test_a_value_needs_a_price_and_says_how_old_it_is(holder: Shareholder, store: MemoryStore) -> None:
    holder.trade("buy", "2026-05-01", "100", "100")
    bare = holder.one_position()
    assert (bare["price"], bare["marketValue"], bare["unrealisedGain"]) == (None, None, None)
    assert bare["priceStale"] is True
    holder.price("250", "2026-11-13", currency="GBX")
    position = holder.one_position()
    assert (position["price"], position["priceDate"], position["priceStale"]) == ("2.5", "2026-11-13", False)
    assert (position["marketValueBase"], position["unrealisedGain"]) == ("250.00", "150.00")
    assert position["unrealisedGainPercent"] == "150"
    store.clock.advance(DAY)
    assert holder.one_position()["priceStale"] is True
    assert holder.one_position("&asOfDate=2026-11-12")["price"] is None


def test_a_foreign_price_is_worth_what_the_rate_of_the_day_makes_it(holder: Shareholder) -> None:
    holder.trade("buy", "2026-11-19", "10", "1000", currency="USD", fxRate="0.8")
    holder.price("120", "2026-11-20", currency="USD")
    traded = holder.one_position()
    assert (traded["marketValue"], traded["marketValueBase"]) == ("1200.00", "960.00")
    assert (traded["fxRate"], traded["fxRateDate"], traded["currency"]) == ("0.8", "2026-11-19", "USD")
    assert (traded["costBasis"], traded["costBasisBase"], traded["unrealisedGain"]) == (None, "800.00", "160.00")
    holder.post("recordExchangeRate", currency="USD", rate="0.75", date="2026-11-19")
    assert holder.one_position()["marketValueBase"] == "900.00"
    assert holder.one_position("&asOfDate=2026-11-20")["fxRateDate"] == "2026-11-19"
    holder.price("120", "2026-11-20", currency="BMD")  # of which HMRC's table has nothing
    unknown = holder.one_position()
    assert (unknown["marketValue"], unknown["marketValueBase"], unknown["fxRate"]) == ("1200.00", None, None)
    assert (unknown["fxRateSource"], unknown["fxRateStale"]) == (None, True)


def test_a_split_changes_quantities_and_prices_from_its_day_on(holder: Shareholder) -> None:
    holder.trade("buy", "2026-05-01", "100", "100")
    holder.price("10", "2026-09-01")
    holder.enter(
        holder.first,
        "split",
        "2026-10-01",
        instrumentId=holder.share,
        splitRatio={"numerator": 2, "denominator": 1},
    )
    before, after = holder.one_position("&asOfDate=2026-09-30"), holder.one_position()
    assert (before["quantity"], before["price"], before["marketValue"]) == ("100", "10", "1000.00")
    assert (after["quantity"], after["price"], after["marketValue"]) == ("200", "5", "1000.00")
    assert (before["costBasis"], after["costBasis"]) == ("100.00", "100.00")


def test_what_was_sold_is_shown_where_it_is_asked_for(holder: Shareholder) -> None:
    holder.trade("buy", "2026-05-01", "100", "100")
    holder.trade("sell", "2026-06-01", "100", "150")
    query = f"portfolioId={holder.portfolio_id}"
    assert holder.positions(query) == []
    (closed,) = holder.positions(f"{query}&includeClosed=true")
    assert held(closed) == ("0", "0.00", "50.00")
    assert (closed["averageCost"], closed["firstAcquiredDate"]) == (None, None)
    assert held(holder.one_position("&asOfDate=2026-05-31")) == ("100", "100.00", "0.00")


def test_income_is_that_of_the_tax_year(holder: Shareholder) -> None:
    holder.trade("buy", "2026-01-05", "100", "100")
    for date, amount in (("2026-04-05", "1"), ("2026-04-06", "2"), ("2026-11-20", "4")):
        holder.enter(holder.first, "dividend", date, instrumentId=holder.share, grossAmount=amount)
    reversed_one = holder.enter(holder.first, "dividend", "2026-05-01", instrumentId=holder.share, grossAmount="8")
    holder.enter(holder.first, "reversal", "2026-05-01", reversesTransactionId=reversed_one["id"])
    for date, amount in (("2025-09-30", "16"), ("2025-12-31", "32"), ("2026-06-30", "64")):
        fields = {"instrumentId": holder.share, "grossAmount": amount}
        holder.trade("buy", "2025-01-05", "1", "1") if date == "2025-09-30" else None
        holder.enter(holder.first, "excess_reportable_income", date, **fields)
    assert holder.one_position()["incomeTaxYear"] == "38.00"  # 2 + 4, and 32 of 30 June
    assert holder.one_position("&asOfDate=2026-04-05")["incomeTaxYear"] == "17.00"  # 1, and 16 of 30 March
    assert holder.one_position("&asOfDate=2026-04-06")["incomeTaxYear"] == "2.00"


def test_cash_and_totals_add_up(holder: Shareholder) -> None:
    fund = holder.instrument(name="Fund", asset_class="fund").id
    holder.enter(holder.first, "deposit", "2026-04-10", grossAmount="1000")
    holder.trade("buy", "2026-05-01", "100", "100")
    holder.trade("buy", "2026-05-02", "10", "50", holder.isa, instrumentId=fund)
    holder.enter(holder.second, "deposit", "2026-06-01", grossAmount="200", currency="USD", fxRate="0.9")
    holder.post("recordExchangeRate", currency="USD", rate="0.5", date="2026-11-20")
    holder.enter(holder.first, "interest", "2026-06-01", grossAmount="3")
    holder.price("2", "2026-11-20")
    totals = holder.one("getPortfolio", f"id={holder.portfolio_id}")["totals"]
    positions = holder.positions(f"portfolioId={holder.portfolio_id}")
    assert totals["priced"]["value"] == "200.00" == _sum(positions, "marketValueBase")
    assert totals["cost"] == "150.00" == _sum(positions, "costBasisBase")
    assert totals["priced"]["unrealisedGain"] == "100.00" == _sum(positions, "unrealisedGain")
    assert (totals["unpricedPositions"], totals["incomeTaxYearToDate"]) == (1, "3.00")
    assert [(one["assetClass"], one["value"], one["cost"]) for one in totals["byAssetClass"]] == [
        ("equity", "200.00", "100.00"),
        ("fund", None, "50.00"),
    ]
    assert totals["cash"] == "953.00"  # 1000 - 100 - 50 + 3, and 200 USD at 0.5
    assert totals["cashBalances"] == [
        {"currency": "GBP", "balance": "853.00"},
        {"currency": "USD", "balance": "200.00"},
    ]
    before = holder.one("getPortfolio", f"id={holder.portfolio_id}&asOfDate=2026-05-01")["totals"]
    assert (before["cash"], before["cost"], before["value"]) == ("900.00", "100.00", None)
    account = holder.one("getAccount", f"id={holder.first}")
    assert (account["value"], account["cashBalance"], account["unpricedPositions"]) == ("200.00", "903.00", 0)
    then = holder.one("getAccount", f"id={holder.second}&asOfDate=2026-05-31")
    assert (then["cashBalance"], then["cashBalances"], then["value"]) == ("0.00", [], "0.00")


def _sum(positions: list[Json], field: str) -> str:
    return str(sum((Decimal(one[field]) for one in positions if one[field] is not None), Decimal(0)))


def test_totals_look_up_prices_and_income_once(holder: Shareholder, store: MemoryStore) -> None:
    holder.trade("buy", "2026-05-01", "100", "100")
    holder.price("2", "2026-11-13")
    asked: list[str] = []

    def note(cursor: object, sql: str, values: object) -> bool:
        asked.append(sql)
        return True

    store.connection.exec_trace = note
    totals = holder.one("getPortfolio", f"id={holder.portfolio_id}")["totals"]
    store.connection.exec_trace = None
    assert (totals["value"], totals["byAssetClass"][0]["value"]) == ("200.00", "200.00")
    assert [sum(table in sql for sql in asked) for table in ("asset_prices", "asset_income_years")] == [1, 1]


def test_cash_in_a_currency_without_a_rate_is_not_guessed(holder: Shareholder) -> None:
    holder.enter(holder.second, "deposit", "2026-06-01", grossAmount="200", currency="BMD", fxRate="0.5")
    before = holder.one("getPortfolio", f"id={holder.portfolio_id}")["totals"]
    assert before["cash"] == "100.00"
    other = holder.portfolio(holder.owner, baseCurrency="EUR", costBasisMethod="fifo")
    account = holder.account(other["id"])["id"]
    holder.enter(account, "deposit", "2026-06-01", grossAmount="7", currency="EUR")
    assert holder.one("getPortfolio", f"id={other['id']}")["totals"]["cash"] == "7.00"


def test_pages_hold_every_position_once(holder: Shareholder) -> None:
    for number in range(3):
        share = holder.instrument(name=f"Share {number}").id
        for account in (holder.first, holder.isa):
            holder.trade("buy", "2026-05-01", "1", "1", account, instrumentId=share)
    whole = holder.positions(f"portfolioId={holder.portfolio_id}&limit=500")
    assert len(whole) == 6
    for limit in (1, 2, 3, 4):
        assert holder.positions(f"portfolioId={holder.portfolio_id}&limit={limit}") == whole


@pytest.mark.parametrize(
    ("query", "path", "code"),
    [
        ("", "portfolioId", "required"),
        ("portfolioId=prt_1&accountId=acc_1", "portfolioId", "required"),
        ("portfolioId=prt_1", "portfolioId", "unknown_reference"),
        ("accountId=acc_1", "accountId", "unknown_reference"),
        ("legalEntityId=ent_1", "legalEntityId", "unknown_reference"),
    ],
)
def test_whose_positions_is_told_once(holder: Shareholder, query: str, path: str, code: str) -> None:
    with pytest.raises(Problem) as caught:
        holder.positions(query)
    assert fields_of(caught.value) == [(path, code)]


def test_a_day_to_come_is_refused(holder: Shareholder) -> None:
    for operation, query in (
        ("getPortfolio", f"id={holder.portfolio_id}"),
        ("getAccount", f"id={holder.first}"),
    ):
        with pytest.raises(Problem) as caught:
            holder.one(operation, f"{query}&asOfDate=2026-11-21")
        assert fields_of(caught.value) == [("asOfDate", "out_of_range")]


def test_a_company_and_other_currencies_have_no_pool(holder: Shareholder) -> None:
    company = holder.portfolio(holder.company())
    abroad = holder.portfolio(holder.owner, baseCurrency="USD")
    for portfolio in (company, abroad):
        account = holder.account(portfolio["id"])["id"]
        currency = portfolio["baseCurrency"]
        holder.trade("buy", "2026-05-01", "10", "100", account, currency=currency)
        (position,) = holder.positions(f"portfolioId={portfolio['id']}")
        assert (position["method"], position["poolScope"]) == ("average_cost", "account")
        assert (position["costBasisBase"], position["baseCurrency"]) == ("100.00", currency)
        with pytest.raises(Problem) as caught:
            holder.positions(f"portfolioId={portfolio['id']}&method=section_104")
        assert fields_of(caught.value) == [("method", "conflict")]


def test_another_organizations_positions_are_unknown(holder: Shareholder, store: MemoryStore) -> None:
    holder.trade("buy", "2026-05-01", "10", "100")
    others = Shelves(store)
    for query, path in (
        (f"portfolioId={holder.portfolio_id}", "portfolioId"),
        (f"accountId={holder.first}", "accountId"),
        (f"legalEntityId={holder.owner}", "legalEntityId"),
    ):
        with pytest.raises(Problem) as caught:
            others.positions(query)
        assert fields_of(caught.value) == [(path, "unknown_reference")]


HISTORY: tuple[tuple[int, str, str, str, str], ...] = (
    (0, "buy", "100", "1000", "first"),
    (3, "buy", "30", "450", "second"),
    (5, "sell", "80", "1200", "first"),
    (9, "buy", "40", "380", "first"),
    (9, "sell", "10", "95", "second"),
    (20, "buy", "25", "300", "isa"),
    (28, "sell", "60", "700", "first"),
    (40, "buy", "10", "100", "second"),
    (62, "sell", "20", "260", "second"),
)
"""Days from the first, type, quantity, amount and account."""


def test_a_day_looks_later_as_it_looked_then(holder: Shareholder, store: MemoryStore) -> None:
    """Whatever is bought and sold after it."""
    seen: dict[str, Any] = {}

    def look(day: str) -> list[Any]:
        queries = (f"portfolioId={holder.portfolio_id}", f"accountId={holder.first}")
        methods = ("section_104", "average_cost", "fifo")
        found: list[Any] = [
            holder.positions(f"{query}&method={method}&includeClosed=true&asOfDate={day}")
            for query in queries
            for method in methods
        ]
        return [*found, holder.one("getPortfolio", f"id={holder.portfolio_id}&asOfDate={day}")["totals"]]

    passed = 0
    for days, kind, quantity, gross, account in HISTORY:
        store.clock.advance((days - passed) * DAY)
        passed = days
        today = store.read(lambda tx: tx.today)
        holder.trade(kind, today, quantity, gross, getattr(holder, account))
        seen[today] = look(today)
    for day, then in seen.items():
        assert look(day) == then, day


def test_what_was_sold_short_has_no_gain_before_the_day_that_covers_it(holder: Shareholder) -> None:
    """Domain C5: its proceeds count as it is covered, 92 days later."""
    short = holder.account(holder.portfolio_id, allowShort=True)["id"]
    holder.trade("sell", "2026-05-01", "10", "100", short)
    holder.trade("buy", "2026-08-01", "10", "60", short)
    asked = "&includeClosed=true&asOfDate"
    assert held(holder.one_position(f"{asked}=2026-07-31")) == ("-10", "0.00", "0.00")
    assert held(holder.one_position(f"{asked}=2026-08-01")) == ("0", "0.00", "40.00")


def test_a_position_is_explained_by_the_days_that_made_it(holder: Shareholder) -> None:
    """Domain C5, T-CGT-2: 500 of the 4,000 sold are those of 12 days later, and 3,500 come out of the pool."""
    holder.trade("opening_position", "2019-01-01", "9500", "14250")
    holder.trade("sell", "2020-08-30", "4000", "6000")
    holder.trade("buy", "2020-09-11", "500", "850", account=holder.second)
    holder.trade("buy", "2020-09-11", "10", "20", account=holder.isa)
    of_isa, pooled = sorted(
        holder.positions(f"portfolioId={holder.portfolio_id}&explain=true"), key=lambda one: one["poolScope"]
    )
    assert [day["date"] for day in of_isa["explanation"]["days"]] == ["2020-09-11"]
    assert not pooled["explanation"]["more"]
    opened, sold, bought = pooled["explanation"]["days"]
    assert [(one["rule"], one["date"], one["quantity"], one["cost"]) for one in sold["matches"]] == [
        ("thirty_days", "2020-09-11", "500", "850.00"),
        ("pool", None, "3500", "5250.00"),
    ]
    pools = [(day["poolBefore"]["quantity"], day["poolAfter"]["cost"]) for day in (opened, sold, bought)]
    assert pools == [("0", "14250.00"), ("9500", "9000.00"), ("6000", "9000.00")]
    assert (sold["gain"], pooled["quantity"], pooled["costBasisBase"]) == ("-100.00", "6000", "9000.00")
    assert [len(day["transactionIds"]) for day in (opened, sold, bought)] == [1, 1, 1]


def test_what_is_of_several_accounts_or_lots_is_not_explained(holder: Shareholder) -> None:
    holder.trade("buy", "2020-01-01", "10", "100")
    holder.trade("buy", "2020-01-02", "10", "100", account=holder.second)
    assert holder.one_position("&method=average_cost&explain=true")["explanation"] is None
    assert holder.one_position("&method=fifo&explain=true")["explanation"] is None
    assert holder.one_position()["explanation"] is None
    (of_first,) = holder.positions(f"accountId={holder.first}&method=average_cost&explain=true")
    assert [day["poolAfter"]["quantity"] for day in of_first["explanation"]["days"]] == ["10"]
