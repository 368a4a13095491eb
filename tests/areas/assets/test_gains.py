"""Gains as they are served: disposals, the report of a year, its file, explanations, the forecast, the comparison."""

import csv
import io
from typing import Any

import pytest

from gatewayd.areas.assets.gains import rates
from gatewayd.errors import Problem
from tests.areas.assets.holdings import Holdings

YEAR = "2025-26"


@pytest.fixture
def trader(holdings: Holdings) -> Holdings:
    """100 for 1,000 in January 2025; 40 sold in June for 600, 10 of them bought again within 30 days for 200."""
    holdings.buy("2025-01-10", 100, "990", fees="10")
    holdings.sell("2025-06-02", 40, "605", fees="5")
    holdings.buy("2025-06-20", 10, "200")
    return holdings


def test_a_disposal_tells_what_it_was_matched_with(trader: Holdings) -> None:
    (one,) = trader.ask("listDisposals", legalEntityId=trader.person, taxYear=YEAR)["data"]
    assert {name: one[name] for name in ("date", "taxYear", "quantity", "shortQuantity", "treatment")} == {
        "date": "2025-06-02",
        "taxYear": YEAR,
        "quantity": "40",
        "shortQuantity": "0",
        "treatment": "chargeable",
    }
    assert (one["proceeds"], one["cost"], one["gain"]) == ("600.00", "500.00", "100.00")
    assert [(m["rule"], m["date"], m["quantity"], m["cost"]) for m in one["matches"]] == [
        ("thirty_days", "2025-06-20", "10", "200.00"),
        ("pool", None, "30", "300.00"),
    ]
    assert (one["provisional"], one["finalAfterDate"]) == (False, "2025-07-02")


def test_a_disposal_is_provisional_until_its_thirtieth_day_is_past(holdings: Holdings) -> None:
    holdings.buy("2026-01-10", 100, "1000")
    for day in ("2026-10-20", "2026-10-21"):  # today is 20 November: 31 and 30 days later
        holdings.sell(day, 1, "20")
    found = holdings.ask("listDisposals", legalEntityId=holdings.person)["data"]
    assert [(one["date"], one["provisional"]) for one in found] == [("2026-10-20", False), ("2026-10-21", True)]


def test_disposals_come_in_pages_by_date_and_instrument(holdings: Holdings) -> None:
    shares = [holdings.share, holdings.instrument()]
    for share in shares:
        holdings.buy("2025-01-10", 100, "1000", instrument=share)
        for day in range(1, 4):
            holdings.sell(f"2025-06-0{day}", 1, "20", instrument=share)
    asked: dict[str, Any] = {"legalEntityId": holdings.person, "limit": 4}
    first = holdings.ask("listDisposals", **asked)
    second = holdings.ask("listDisposals", **asked, cursor=first["nextCursor"])
    assert second["nextCursor"] is None
    keys = [(one["date"], one["instrumentId"]) for page in (first, second) for one in page["data"]]
    assert keys == sorted(keys)
    assert len(set(keys)) == 6
    some = holdings.ask("listDisposals", **asked, instrumentId=shares[1], fromDate="2025-06-02", toDate="2025-06-02")
    assert [one["date"] for one in some["data"]] == ["2025-06-02"]
    of_one: dict[str, Any] = {**asked, "instrumentId": shares[1], "limit": 2}
    first = holdings.ask("listDisposals", **of_one)
    rest = holdings.ask("listDisposals", **of_one, cursor=first["nextCursor"])
    assert [one["date"][-1] for page in (first, rest) for one in page["data"]] == ["1", "2", "3"]
    assert rest["nextCursor"] is None


@pytest.mark.parametrize("named", [True, False])
def test_a_page_of_disposals_reads_no_more_than_it_shows(holdings: Holdings, named: bool) -> None:
    other = holdings.instrument()
    for share in (holdings.share, other):
        holdings.buy("2025-01-10", 100, "1000", instrument=share)
        for day in range(1, 8):
            holdings.sell(f"2025-06-0{day}", 1, "20", instrument=share)
    asked: dict[str, Any] = {"legalEntityId": holdings.person, "limit": 2, **({"instrumentId": other} if named else {})}
    cursor = holdings.ask("listDisposals", **asked)["nextCursor"]
    found: list[object] = []

    def note(cursor: object, row: object) -> object:
        found.append(row)
        return row

    holdings.store.connection.row_trace = note
    holdings.ask("listDisposals", **asked, cursor=cursor)
    holdings.store.connection.row_trace = None
    days = [row for row in found if isinstance(row, tuple) and len(row) == 6]
    assert len(days) == 3, "those of the page, and the one that tells that more follow"


def test_a_year_adds_up_as_a_return_asks(trader: Holdings) -> None:
    other, gilt = trader.instrument(), trader.instrument(cgt_exempt=True)
    offshore = trader.instrument(reporting_fund=False)
    for share, sold in ((other, "700"), (gilt, "1500"), (offshore, "1300")):
        trader.buy("2025-01-10", 100, "1000", instrument=share)
        trader.sell("2025-09-01", 100, sold, instrument=share)
    report = trader.ask("capitalGains", legalEntityId=trader.person, taxYear=YEAR)
    assert report["chargeable"] == {
        "disposals": 2,
        "proceeds": "1300.00",
        "costs": "1500.00",
        "gains": "100.00",
        "losses": "300.00",
        "net": "-200.00",
        "currency": "GBP",
    }
    assert report["exempt"]["gains"] == "500.00"
    assert report["offshoreIncome"]["net"] == "300.00"
    assert (report["exemptAmount"], report["aboveExemptAmount"]) == ("3000.00", "0.00")
    assert report["exemptAmountSource"] == "Finance Act 2023 s8(5)"
    assert [one["code"] for one in report["warnings"]] == ["loss_not_claimed"]


def test_a_loss_on_a_fund_that_does_not_report_is_a_capital_loss(holdings: Holdings) -> None:
    """SI 2009/3001 reg 42, IFM13550: it lowers no offshore income gain, of another fund or of the same one."""
    sold = {"2000": {"reporting_fund": False}, "400": {"reporting_fund": False}, "6000": {}}
    for proceeds, values in sold.items():
        fund = holdings.instrument(**values)
        holdings.buy("2025-01-10", 100, "1000", instrument=fund)
        holdings.sell("2025-09-01", 100, proceeds, instrument=fund)
    report = holdings.ask("capitalGains", legalEntityId=holdings.person, taxYear=YEAR)
    assert report["offshoreIncome"]["net"] == report["offshoreIncome"]["gains"] == "1000.00"
    assert report["offshoreIncome"]["losses"] == "0.00"
    chargeable = report["chargeable"]
    assert (chargeable["gains"], chargeable["losses"], chargeable["net"]) == ("5000.00", "600.00", "4400.00")
    assert report["aboveExemptAmount"] == "1400.00"
    found = holdings.ask("listDisposals", legalEntityId=holdings.person, taxYear=YEAR)["data"]
    treated = {one["gain"]: one["treatment"] for one in found}
    assert treated == {"1000.00": "offshore_income", "-600.00": "chargeable", "5000.00": "chargeable"}


def test_a_report_warns_of_what_it_does_not_say(holdings: Holdings) -> None:
    short = holdings.new_account(short=True)
    holdings.sell("2026-11-10", 100, "1000", account=short)
    dollars = holdings.new_account(holdings.new_portfolio(holdings.person, "USD", "average_cost"))
    holdings.buy("2026-05-10", 10, "100", account=dollars)
    holdings.sell("2026-06-10", 10, "150", account=dollars)
    report = holdings.ask("capitalGains", legalEntityId=holdings.person, taxYear="2026-27")
    assert [one["code"] for one in report["warnings"]] == ["provisional", "short_position", "other_currency"]
    assert report["chargeable"]["gains"] == "0.00"
    assert report["provisionalDisposals"] == 1
    early = holdings.ask("capitalGains", legalEntityId=holdings.person, taxYear="2007-08")
    assert (early["exemptAmount"], [one["code"] for one in early["warnings"]]) == (None, ["exempt_amount_unknown"])


def test_a_trusts_exempt_amount_is_left_open(holdings: Holdings) -> None:
    trust = holdings.entity("trust", name="Oak Trust")
    report = holdings.ask("capitalGains", legalEntityId=trust, taxYear=YEAR)
    assert report["exemptAmount"] is report["aboveExemptAmount"] is None
    assert [one["code"] for one in report["warnings"]] == ["exempt_amount_unknown"]


def test_exempt_amounts_are_dated_and_end_where_the_table_does() -> None:
    # GOV.UK, Capital Gains Tax rates and allowances; Finance Act 2023 s8
    known = {year: rates.exempt_amount(year) for year in rates.exempt_years()}
    pounds = {year: row.amount // 100 for year, row in known.items() if row is not None}
    assert pounds["2008-09"] == 9_600
    assert pounds["2012-13"] == 10_600
    assert pounds["2016-17"] == 11_100
    assert pounds["2019-20"] == 12_000
    assert pounds["2022-23"] == 12_300
    assert pounds["2023-24"] == 6_000
    assert pounds["2026-27"] == 3_000
    assert len(pounds) == 19
    assert rates.exempt_amount("2007-08") is rates.exempt_amount("2027-28") is None


def test_the_file_has_a_line_for_each_disposal_and_no_formulas(trader: Holdings) -> None:
    formula = trader.instrument(name="=cmd()")
    trader.buy("2025-01-10", 1, "10", instrument=formula)
    trader.sell("2025-09-01", 1, "12", instrument=formula)
    file = trader.answer("exportCapitalGains", legalEntityId=trader.person, taxYear=YEAR)
    assert (file.name, file.media_type) == ("capital-gains-2025-26.csv", "text/csv")
    lines = list(csv.DictReader(io.StringIO(file.content.decode(), newline="")))
    assert [line["instrument"] for line in lines] == ["Share 1", "'=cmd()"]
    assert lines[0]["matches"] == "10 thirty_days 2025-06-20 200.00; 30 pool 300.00"
    assert (lines[0]["proceeds"], lines[0]["cost"], lines[0]["gain"]) == ("600.00", "500.00", "100.00")


def test_a_position_is_explained_by_the_days_that_made_it(trader: Holdings) -> None:
    asked = {"legalEntityId": trader.person, "instrumentId": trader.share}
    days = trader.ask("explainPosition", **asked)["data"]
    assert [day["date"] for day in days] == ["2025-01-10", "2025-06-02", "2025-06-20"]
    assert all(len(day["transactionIds"]) == 1 for day in days)
    pools = [(day["poolBefore"], day["poolAfter"]) for day in days]
    told = [tuple((state["quantity"], state["cost"]) for state in pair) for pair in pools]
    assert told == [
        (("0", "0.00"), ("100", "1000.00")),
        (("100", "1000.00"), ("70", "700.00")),
        (("70", "700.00"), ("70", "700.00")),
    ]
    assert [day["held"] for day in days] == ["100", "60", "70"]
    assert days[1]["gain"] == "100.00"
    past = trader.ask("explainPosition", **asked, asOfDate="2025-06-19")["data"]
    assert [match["rule"] for match in past[-1]["matches"]] == ["pool"]
    first = trader.ask("explainPosition", **asked, limit=2)
    rest = trader.ask("explainPosition", **asked, limit=2, cursor=first["nextCursor"])
    assert [*first["data"], *rest["data"]] == days
    assert rest["nextCursor"] is None


def test_an_account_is_explained_at_its_average(trader: Holdings) -> None:
    trader.enter("dividend", "2025-07-01", gross="20")
    days = trader.ask("explainPosition", accountId=trader.account, instrumentId=trader.share)["data"]
    assert [(day["held"], day["poolAfter"]["cost"]) for day in days] == [
        ("100", "1000.00"),
        ("60", "600.00"),
        ("70", "800.00"),
    ]


def test_what_leaves_at_cost_is_explained_too(trader: Holdings) -> None:
    child = trader.instrument()
    spun = trader.enter(
        "spin_off", "2025-08-01", 7, instrument=child, from_instrument_id=trader.share, cost_share="0.5"
    )
    last = trader.ask("explainPosition", legalEntityId=trader.person, instrumentId=trader.share)["data"][-1]
    assert (last["transactionIds"], last["removed"], last["removedCost"]) == ([spun], "0", "350.00")
    gained = trader.ask("explainPosition", legalEntityId=trader.person, instrumentId=child)["data"][-1]
    assert (gained["transactionIds"], gained["added"], gained["addedCost"]) == ([spun], "7", "350.00")


def test_a_forecast_tells_until_when_not_to_buy_again_and_what_it_would_change(holdings: Holdings) -> None:
    holdings.buy("2026-01-10", 100, "1000")
    holdings.sell("2026-10-20", 10, "200")  # 31 days ago
    holdings.sell("2026-10-25", 10, "200")
    holdings.sell("2026-11-01", 20, "100")
    asked = {"legalEntityId": holdings.person, "instrumentId": holdings.share}
    plain = holdings.ask("gainForecast", **asked)
    found = [(one["date"], one["gain"], one["fromPool"], one["doNotRebuyBefore"]) for one in plain["disposals"]]
    assert found == [("2026-10-25", "100.00", "10", "2026-11-25"), ("2026-11-01", "-100.00", "20", "2026-12-02")]
    assert plain["change"] is None
    before = holdings.everything()
    bought = holdings.ask("gainForecast", **asked, quantity="20", unitPrice="5")
    assert [one["gainAfterRebuy"] for one in bought["disposals"]] == ["150.00", "-50.00"]
    assert bought["change"] == "100.00"
    assert holdings.everything() == before
    exempt = holdings.instrument(cgt_exempt=True)
    holdings.buy("2026-01-10", 100, "1000", instrument=exempt)
    holdings.sell("2026-11-01", 20, "100", instrument=exempt)
    assert len(holdings.ask("gainForecast", legalEntityId=holdings.person)["disposals"]) == 2


def test_a_sale_of_thirty_days_ago_may_be_matched_today_and_a_return_of_capital_never(holdings: Holdings) -> None:
    """Today is 2026-11-20. A price below a penny counts in full; a change is of all sales together."""
    holdings.buy("2026-01-10", 1000, "1000")
    holdings.sell("2026-10-21", 100, "50")
    holdings.sell("2026-11-19", 100, "40")
    holdings.enter("return_of_capital", "2026-11-18", gross="5000")  # 4,100 beyond the 900 that are left
    asked = {"legalEntityId": holdings.person, "instrumentId": holdings.share}
    bought = holdings.ask("gainForecast", **asked, quantity="150", unitPrice="0.005")
    found = [(one["date"], one["gain"], one["gainAfterRebuy"], one["doNotRebuyBefore"]) for one in bought["disposals"]]
    # 100 of the purchase go to the first sale, 50 to the second, whose cost is gone
    expected = [("2026-10-21", "-50.00", "49.50", "2026-11-21"), ("2026-11-19", "40.00", "39.75", "2026-12-20")]
    assert found == expected
    assert bought["change"] == "99.25"
    next_to_nothing = holdings.ask("gainForecast", **asked, quantity="500.000000000001", unitPrice="0.000000000001")
    assert next_to_nothing["change"] == "100.00"


def test_capital_that_came_back_beyond_the_cost_counts_on_a_day_sold_short_too(holdings: Holdings) -> None:
    """50 beyond the cost of 100, and half of the 400 that 20 fetched: the other ten are not there yet."""
    short = holdings.new_account(short=True)
    holdings.buy("2025-01-10", 10, "100", account=short)
    holdings.enter("return_of_capital", "2025-02-01", gross="150", account=short)
    holdings.sell("2025-02-01", 20, "400", account=short)
    (one,) = holdings.ask("listDisposals", legalEntityId=holdings.person)["data"]
    assert (one["proceeds"], one["cost"], one["gain"], one["shortQuantity"]) == ("250.00", "0.00", "250.00", "10")


def test_pools_are_compared_once_all_is_sold_and_where_capital_came_back(holdings: Holdings) -> None:
    other, another = holdings.new_account(), holdings.instrument()
    holdings.buy("2025-01-10", 1, "100")
    holdings.buy("2025-01-10", 1, "300", account=other)
    holdings.buy("2025-01-10", 1, "7", instrument=another)
    holdings.sell("2025-01-12", 1, "7", instrument=another)
    holdings.enter("return_of_capital", "2025-02-10", gross="150")  # 50 beyond what the account paid, not the pool
    holdings.sell("2025-06-02", 1, "200")
    asked = {"legalEntityId": holdings.person}
    (compared,) = holdings.ask("comparePools", **asked)["data"]
    assert (compared["pool"]["cost"], compared["difference"], compared["earlierDifference"]) == (
        "125.00",
        "175.00",
        "0.00",
    )
    # of the account 0 - 50 went, of the pool nothing; then the account's 0, of the pool half of 250
    days = [(day["date"], day["poolCost"], day["accountCost"], day["difference"]) for day in compared["days"]]
    assert days == [("2025-02-10", "0.00", "-50.00", "50.00"), ("2025-06-02", "125.00", "0.00", "125.00")]
    brokers = {one["accountId"]: one["averageCost"] for one in compared["accounts"]}
    assert brokers == {holdings.account: None, other: "300"}
    (sold,) = holdings.ask("comparePools", **asked, instrumentId=another)["data"]
    assert (sold["pool"]["quantity"], sold["averageCost"], sold["difference"]) == ("0", None, "0.00")


def test_one_pool_is_compared_with_each_brokers_average(holdings: Holdings) -> None:
    other, isa = holdings.new_account(), holdings.new_account(wrapper="isa")
    holdings.buy("2025-01-10", 100, "1000")
    holdings.buy("2025-01-10", 100, "2000", account=other)
    holdings.buy("2025-01-10", 100, "9000", account=isa)
    holdings.sell("2025-06-02", 50, "700")
    (compared,) = holdings.ask("comparePools", legalEntityId=holdings.person)["data"]
    assert (compared["pool"]["quantity"], compared["pool"]["cost"], compared["averageCost"]) == ("150", "2250.00", "15")
    brokers = {one["accountId"]: (one["quantity"], one["cost"], one["averageCost"]) for one in compared["accounts"]}
    assert brokers == {holdings.account: ("50", "500.00", "10"), other: ("100", "2000.00", "20")}
    assert (compared["difference"], compared["earlierDifference"]) == ("250.00", "0.00")
    (day,) = compared["days"]
    assert (day["date"], day["poolCost"], day["accountCost"], day["difference"]) == (
        "2025-06-02",
        "750.00",
        "500.00",
        "250.00",
    )
    assert [match["rule"] for match in day["matches"]] == ["pool"]


GAINS = ("listDisposals", "capitalGains", "exportCapitalGains", "explainPosition", "gainForecast", "comparePools")


@pytest.mark.parametrize("operation", GAINS)
def test_companies_have_no_gains_here(operation: str, holdings: Holdings) -> None:
    company = holdings.entity("limited_company", companyNumber="01234567")
    asked = {"legalEntityId": company}
    if operation in ("capitalGains", "exportCapitalGains"):
        asked["taxYear"] = YEAR
    if operation == "explainPosition":
        asked["instrumentId"] = holdings.share
    with pytest.raises(Problem, match="not supported"):
        holdings.ask(operation, **asked)


@pytest.mark.parametrize("operation", GAINS)
def test_nobody_elses_gains_are_seen(operation: str, holdings: Holdings) -> None:
    stranger = Holdings(holdings.store)
    asked = {"legalEntityId": stranger.person}
    if operation in ("capitalGains", "exportCapitalGains"):
        asked["taxYear"] = YEAR
    if operation == "explainPosition":
        asked["instrumentId"] = holdings.share
    with pytest.raises(Problem, match="There is no such legal entity"):
        holdings.ask(operation, **asked)


@pytest.mark.parametrize("operation", GAINS[:3])
def test_a_year_that_is_none_is_refused(operation: str, holdings: Holdings) -> None:
    with pytest.raises(Problem, match="Expected a tax year, such as 2026-27"):
        holdings.ask(operation, legalEntityId=holdings.person, taxYear="2026-28")


@pytest.mark.parametrize(
    ("operation", "query", "message"),
    [
        (
            "listDisposals",
            {"taxYear": YEAR, "fromDate": "2025-04-06"},
            "Give taxYear, or fromDate and toDate, not both",
        ),
        ("listDisposals", {"fromDate": "2025-04-06", "toDate": "2025-04-05"}, "before fromDate"),
        ("gainForecast", {"quantity": "10"}, "A purchase has"),
        ("gainForecast", {"quantity": "-10", "unitPrice": "1"}, "Expected 0 or more"),
    ],
)
def test_a_question_that_contradicts_itself_is_refused(
    operation: str, query: dict[str, str], message: str, holdings: Holdings
) -> None:
    if "unitPrice" in query:
        query = {**query, "instrumentId": holdings.share}
    with pytest.raises(Problem, match=message):
        holdings.ask(operation, legalEntityId=holdings.person, **query)


def test_an_explanation_is_of_an_account_or_of_a_person(holdings: Holdings) -> None:
    with pytest.raises(Problem, match="accountId or legalEntityId"):
        holdings.ask("explainPosition", instrumentId=holdings.share)
