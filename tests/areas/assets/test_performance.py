"""Returns, values over time and allocations, on figures that were worked out beside the program (Domain C11)."""

import math

import pytest

from gatewayd.areas.assets.performance.measuring import Flow, Link, money_weighted, over, time_weighted, yearly
from gatewayd.errors import Problem
from tests.areas.accounting.books import Json, fields_of
from tests.areas.assets.shelves import Shelves
from tests.support.store import MemoryStore


def codes(found: Json) -> list[str]:
    return [one["code"] for one in found["warnings"]]


# -- pure


def test_the_money_weighted_rate_is_that_of_a_spreadsheet() -> None:
    """T-RET-1: the example of XIRR's documentation."""
    flows = [
        Flow("2008-01-01", -10_000),
        Flow("2008-03-01", 2750),
        Flow("2008-10-30", 4250),
        Flow("2009-02-15", 3250),
        Flow("2009-04-01", 2750),
    ]
    assert money_weighted(flows) == pytest.approx(0.373362535, abs=2e-9)


def test_flows_without_one_rate_have_none() -> None:
    assert money_weighted([]) is None
    assert money_weighted([Flow("2024-01-01", -1), Flow("2025-01-01", -1)]) is None
    # -1000, +2500 and -1540 a year apart: 10 % and 40 % both fit
    twice = [Flow("2021-01-01", -1000), Flow("2022-01-01", 2500), Flow("2023-01-01", -1540)]
    assert money_weighted(twice) is None
    old = [Flow("1900-01-01", -100), Flow("2026-01-01", 100)]
    assert money_weighted(old) == pytest.approx(0, abs=1e-9)


def test_links_multiply_whatever_came_and_went() -> None:
    assert time_weighted([Link(0, 100, 110, 0), Link(110, 890, 1100, 0)]) == pytest.approx(1.1 * 210 / 110 - 1)
    assert time_weighted([Link(100, 0, 0, 120), Link(0, 0, 0, 0)]) == pytest.approx(0.2)
    assert time_weighted([]) == 0
    assert time_weighted([Link(-5, 0, 10, 0)]) is None


def test_a_year_and_a_range_are_told_apart() -> None:
    assert yearly(0.21, 730) == pytest.approx(0.1)
    assert (yearly(0.1, 365), yearly(0.1, 364), yearly(-1.0, 400)) == (pytest.approx(0.1), None, None)
    assert over(0.1, 730) == pytest.approx(0.21)


# -- of what is in the books


class Investor(Shelves):
    """A person with one account and a share."""

    def __init__(self, store: MemoryStore) -> None:
        super().__init__(store)
        self.owner = self.person()
        self.portfolio_id = self.portfolio(self.owner)["id"]
        self.broker = self.account(self.portfolio_id)["id"]
        self.share = self.instrument(name="Lobster plc", domicile_country="GB").id

    def trade(self, kind: str, date: str, quantity: str, gross: str, **fields: object) -> Json:
        account = str(fields.pop("account", self.broker))
        values = {"instrumentId": self.share, "quantity": quantity, "grossAmount": gross, **fields}
        return self.enter(account, kind, date, **values)

    def price(self, price: str, date: str, instrument: str = "", **fields: object) -> None:
        self.post("recordPrice", instrumentId=instrument or self.share, price=price, date=date, **fields)

    def earned(self, query: str = "", of: str = "") -> Json:
        return self.one("performance", f"{of or f'portfolioId={self.portfolio_id}'}{query}")

    def two_years(self) -> None:
        """T-RET-2."""
        self.trade("buy", "2021-01-01", "1", "200")
        self.trade("dividend", "2022-01-01", "1", "5")
        self.trade("buy", "2022-01-01", "1", "225")
        self.trade("dividend", "2023-01-01", "2", "10")
        self.trade("sell", "2023-01-01", "2", "470")


@pytest.fixture
def investor(store: MemoryStore) -> Investor:
    return Investor(store)


def test_two_years_of_a_share_have_both_returns(investor: Investor) -> None:
    """200 (1 + r)^2 + 220 (1 + r) = 480; and 230/200 x 480/450 over two years."""
    investor.two_years()
    money = (-220 + math.sqrt(220**2 + 4 * 200 * 480)) / 400 - 1
    for of in ("", f"accountId={investor.broker}", f"legalEntityId={investor.owner}"):
        for more in ("", f"&instrumentId={investor.share}"):
            found = investor.earned(f"&toDate=2023-01-01{more}", of)
            assert float(found["moneyWeightedAnnual"]) == pytest.approx(100 * money, abs=0.00006)
            assert found["timeWeightedReturn"] == "22.6667"
            assert float(found["timeWeightedAnnual"]) == pytest.approx(
                100 * (math.sqrt(1.15 * 480 / 450) - 1), abs=6e-5
            )
            assert (found["putIn"], found["takenOut"], found["gain"]) == ("425.00", "485.00", "60.00")
            assert (found["startValue"], found["endValue"], codes(found)) == ("0.00", "0.00", ["priced_by_trades"])


def test_a_range_begins_with_what_it_was_worth(investor: Investor) -> None:
    """100 at 1,000, worth 1,200 at the end of March; 50 more for 700 when it is worth 14; at the end 15."""
    investor.trade("buy", "2025-01-10", "100", "1000")
    for price, day in (("12", "2026-03-31"), ("14", "2026-07-01"), ("15", "2026-10-01")):
        investor.price(price, day)
    investor.trade("buy", "2026-07-01", "50", "700")
    found = investor.earned("&fromDate=2026-04-01&toDate=2026-10-01")
    assert (found["startValue"], found["putIn"], found["endValue"]) == ("1200.00", "700.00", "2250.00")
    assert (found["gain"], found["timeWeightedReturn"]) == ("350.00", "25")  # 14/12 x 15/14
    assert (found["moneyWeightedAnnual"], found["timeWeightedAnnual"], codes(found)) == (None, None, [])
    rate = float(found["moneyWeightedReturn"]) / 100
    assert 1200 * (1 + rate) + 700 * (1 + rate) ** (92 / 184) == pytest.approx(2250, abs=0.01)


def test_values_stand_at_the_ends_of_intervals(investor: Investor) -> None:
    investor.trade("buy", "2026-01-10", "100", "1000")
    for price, day in (("11", "2026-01-31"), ("13", "2026-03-30"), ("12", "2026-05-04")):
        investor.price(price, day)
    investor.trade("sell", "2026-04-01", "50", "600")
    found = investor.earned("&toDate=2026-05-05&interval=quarter")["values"]
    assert [(one["date"], one["value"], one["putIn"], one["stale"]) for one in found] == [
        ("2026-03-31", "1300.00", "1000.00", 0),
        ("2026-05-05", "600.00", "-600.00", 0),
    ]
    months = investor.earned("&fromDate=2026-01-15&toDate=2026-03-31&interval=month")["values"]
    assert [(one["date"], one["value"], one["stale"]) for one in months] == [
        ("2026-01-31", "1100.00", 0),
        ("2026-02-28", "1100.00", 1),
        ("2026-03-31", "1300.00", 0),
    ]
    years = investor.earned("&fromDate=2025-06-01&toDate=2026-05-05&interval=year")["values"]
    assert [(one["date"], one["value"]) for one in years] == [("2025-12-31", "0.00"), ("2026-05-05", "600.00")]


def test_with_cash_deposits_put_in_and_dividends_stay(investor: Investor) -> None:
    """1,000 come in, 800 are invested at 10 and worth 12 at the end, 40 are earned: 1,200 of 1,000."""
    investor.enter(investor.broker, "deposit", "2026-01-05", grossAmount="1000")
    investor.trade("buy", "2026-01-10", "80", "800")
    investor.enter(investor.broker, "dividend", "2026-06-01", instrumentId=investor.share, grossAmount="40")
    investor.price("12", "2026-10-01")
    found = investor.earned("&toDate=2026-10-01&basis=with_cash")
    assert (found["putIn"], found["takenOut"], found["endValue"], found["gain"]) == (
        "1000.00",
        "0.00",
        "1200.00",
        "200.00",
    )
    assert found["timeWeightedReturn"] == "20"
    invested = investor.earned("&toDate=2026-10-01")
    assert (invested["putIn"], invested["takenOut"], invested["gain"]) == ("800.00", "40.00", "200.00")


def test_without_a_price_nothing_is_pretended(investor: Investor) -> None:
    investor.trade("buy", "2026-01-10", "100", "1000")
    found = investor.earned()
    assert (found["endValue"], found["gain"], found["moneyWeightedReturn"]) == (None, None, None)
    assert (found["timeWeightedReturn"], codes(found), found["putIn"]) == (None, ["unpriced"], "1000.00")


def test_what_moves_within_is_no_flow_and_what_comes_in_kind_is(investor: Investor) -> None:
    second = investor.account(investor.portfolio_id)["id"]
    investor.price("10", "2026-01-05")
    investor.trade("opening_position", "2026-01-05", "100", "400")
    investor.price("11", "2026-03-02")
    fields = {"counterAccountId": second, "instrumentId": investor.share, "quantity": "40"}
    investor.enter(investor.broker, "transfer_out", "2026-03-02", **fields)
    investor.price("12", "2026-06-01")
    whole = investor.earned("&toDate=2026-06-01")
    assert (whole["putIn"], whole["takenOut"], whole["timeWeightedReturn"]) == ("1000.00", "0.00", "20")
    left = investor.earned("&toDate=2026-06-01", f"accountId={investor.broker}")
    assert (left["takenOut"], left["endValue"], left["timeWeightedReturn"]) == ("440.00", "720.00", "20")
    came = investor.earned("&toDate=2026-06-01", f"accountId={second}")
    assert (came["putIn"], came["endValue"], came["timeWeightedReturn"]) == ("440.00", "480.00", "9.0909")


def test_what_came_without_a_price_counts_at_its_amount_and_is_told(investor: Investor) -> None:
    investor.trade("opening_position", "2026-01-05", "100", "400")
    investor.price("12", "2026-06-01")
    found = investor.earned("&toDate=2026-06-01")
    assert (found["putIn"], found["gain"]) == ("400.00", "800.00")
    assert codes(found) == ["unpriced", "valued_at_amount"]  # of the day it came, between the ends


def test_a_takeover_moves_its_worth_from_one_share_to_the_other(investor: Investor) -> None:
    """100 at 1,000 become 50 of 30, and 200 in cash: what left was worth 1,700."""
    new = investor.instrument(name="Claw plc").id
    investor.trade("buy", "2026-01-10", "100", "1000")
    investor.price("30", "2026-06-01", new)
    told = {"instrumentId": new, "quantity": "50", "fromInstrumentId": investor.share, "grossAmount": "200"}
    investor.enter(investor.broker, "merger", "2026-06-01", **told)
    investor.price("33", "2026-07-01", new)
    old = investor.earned(f"&toDate=2026-07-01&instrumentId={investor.share}")
    assert (old["putIn"], old["takenOut"], old["gain"], old["timeWeightedReturn"]) == (
        "1000.00",
        "1700.00",
        "700.00",
        "70",
    )
    came = investor.earned(f"&toDate=2026-07-01&instrumentId={new}")
    assert (came["putIn"], came["endValue"], came["timeWeightedReturn"]) == ("1500.00", "1650.00", "10")
    whole = investor.earned("&toDate=2026-07-01")
    assert (whole["putIn"], whole["takenOut"], whole["gain"]) == ("1000.00", "200.00", "850.00")


def test_a_split_is_no_return(investor: Investor) -> None:
    investor.trade("buy", "2026-01-10", "100", "1000")
    investor.price("10", "2026-01-10")
    ratio = {"numerator": 2, "denominator": 1}
    investor.enter(investor.broker, "split", "2026-03-01", instrumentId=investor.share, splitRatio=ratio)
    found = investor.earned("&toDate=2026-03-02")
    assert (found["endValue"], found["gain"], found["timeWeightedReturn"]) == ("1000.00", "0.00", "0")


@pytest.mark.parametrize(
    ("query", "path", "code"),
    [
        ("&toDate=2026-11-21", "toDate", "out_of_range"),
        ("&fromDate=2026-05-02&toDate=2026-05-01", "toDate", "date_order"),
        ("&fromDate=1899-12-31", "fromDate", "out_of_range"),
        ("&toDate=1899-12-31", "toDate", "out_of_range"),
        ("&instrumentId=ins_1", "instrumentId", "unknown_reference"),
        ("&accountId=acc_1", "portfolioId", "required"),
    ],
)
def test_a_range_that_cannot_be_is_refused(investor: Investor, query: str, path: str, code: str) -> None:
    with pytest.raises(Problem) as caught:
        investor.earned(query)
    assert fields_of(caught.value) == [(path, code)]


def test_an_allocation_is_of_something(investor: Investor) -> None:
    with pytest.raises(Problem) as caught:
        investor.one("allocation", "")
    assert fields_of(caught.value) == [("portfolioId", "required")]


def test_cash_is_of_no_instrument_and_of_one_currency(investor: Investor) -> None:
    with pytest.raises(Problem) as caught:
        investor.earned(f"&instrumentId={investor.share}&basis=with_cash")
    assert fields_of(caught.value) == [("basis", "conflict")]
    dollars = investor.portfolio(investor.owner, baseCurrency="USD", costBasisMethod="fifo")
    investor.account(dollars["id"])
    for operation in ("performance", "allocation"):
        with pytest.raises(Problem) as caught:
            investor.one(operation, f"legalEntityId={investor.owner}")
        assert fields_of(caught.value) == [("legalEntityId", "conflict")]


def test_another_organizations_performance_is_unknown(investor: Investor, store: MemoryStore) -> None:
    others = Shelves(store)
    for operation in ("performance", "allocation"):
        with pytest.raises(Problem) as caught:
            others.one(operation, f"portfolioId={investor.portfolio_id}")
        assert fields_of(caught.value) == [("portfolioId", "unknown_reference")]


def parts(found: Json, name: str) -> list[tuple[object, ...]]:
    return [(one["key"], one["value"], one["percent"], one["unpricedPositions"]) for one in found[name]]


def test_an_allocation_is_by_class_currency_and_country(investor: Investor) -> None:
    abroad = investor.instrument(name="Moon Inc", currency="USD", domicile_country="US").id
    fund = investor.instrument(name="Sea fund", asset_class="fund", domicile_country=None).id
    investor.enter(investor.broker, "deposit", "2026-11-02", grossAmount="1100")
    investor.trade("buy", "2026-11-02", "10", "500")
    investor.trade("buy", "2026-11-02", "10", "400", instrumentId=abroad, currency="GBP")
    investor.trade("buy", "2026-11-02", "10", "100", instrumentId=fund)
    investor.price("60", "2026-11-20")
    investor.price("40", "2026-11-20", abroad, currency="USD")
    investor.post("recordExchangeRate", currency="USD", rate="0.75", date="2026-11-20")
    found = investor.one("allocation", f"portfolioId={investor.portfolio_id}")
    assert (found["allocated"], found["cash"], found["unconvertedCash"]) == ("1000.00", "100.00", [])
    assert parts(found, "byAssetClass") == [
        ("equity", "900.00", "90", 0),
        ("cash", "100.00", "10", 0),
        ("fund", "0.00", "0", 1),
    ]
    assert parts(found, "byCurrency") == [("GBP", "700.00", "70", 1), ("USD", "300.00", "30", 0)]
    assert parts(found, "byCountry") == [
        ("GB", "600.00", "66.67", 0),
        ("US", "300.00", "33.33", 0),
        (None, "0.00", "0", 1),
    ]
    assert (found["totals"]["value"], found["totals"]["unpricedPositions"]) == (None, 1)
    before = investor.one("allocation", f"accountId={investor.broker}&asOfDate=2026-11-01")
    assert (before["allocated"], before["byAssetClass"]) == ("0.00", [])


def test_cash_of_another_currency_is_of_that_currency(investor: Investor) -> None:
    investor.enter(investor.broker, "deposit", "2026-11-02", grossAmount="7", currency="BMD", fxRate="0.5")
    found = investor.one("allocation", f"portfolioId={investor.portfolio_id}")
    assert (found["allocated"], found["unconvertedCash"], parts(found, "byCurrency")) == (
        "3.50",
        [],
        [("BMD", "3.50", "100", 0)],
    )
