"""Which rate of exchange counts: for what a position is worth, and for what came without one. HMRC's are as published:
1.3396 dollars to the pound in November 2026, 1.3456 in October; 1.193 euros in November.
"""

import pytest

from gatewayd.errors import Problem
from gatewayd.ledger.exchange.exchange_rates import coverage
from tests.areas.accounting.books import Json, fields_of
from tests.areas.assets.test_positions import Shareholder
from tests.support.store import MemoryStore


@pytest.fixture
def holder(store: MemoryStore) -> Shareholder:
    """With ten shares that are priced at 120 dollars today, 20 November 2026."""
    made = Shareholder(store)
    made.trade("buy", "2026-05-01", "10", "1000")
    made.price("120", "2026-11-20", currency="USD")
    return made


def rate_of(position: Json) -> tuple[str, str, str | None, bool]:
    return position["fxRate"], position["fxRateDate"], position["fxRateSource"], position["fxRateStale"]


def record(holder: Shareholder, rate: str, date: str, currency: str = "USD", base: str = "GBP") -> None:
    holder.post("recordExchangeRate", currency=currency, baseCurrency=base, rate=rate, date=date)


def test_a_rate_of_a_reversed_transaction_values_nothing(holder: Shareholder) -> None:
    wrong = holder.enter(
        holder.second, "deposit", "2026-11-20", grossAmount="10", currency="USD", fxRate="80", instrumentId=None
    )
    assert holder.one_position()["marketValueBase"] == "96000.00"
    holder.enter(holder.second, "reversal", "2026-11-20", reversesTransactionId=wrong["id"])
    right = holder.one_position()
    assert right["marketValueBase"] == "895.79"  # 1200 / 1.3396
    assert rate_of(right) == ("0.746491489997", "2026-11-01", "hmrc", False)


def test_the_latest_rate_counts_in_whichever_direction_it_was_recorded(holder: Shareholder) -> None:
    record(holder, "0.65", "2015-06-01")
    record(holder, "1.25", "2026-11-13", "GBP", "USD")
    assert rate_of(holder.one_position()) == ("0.8", "2026-11-13", "recorded", False)
    record(holder, "0.75", "2026-11-14")
    assert rate_of(holder.one_position()) == ("0.75", "2026-11-14", "recorded", False)


def test_the_latest_rate_counts_wherever_it_is_from(holder: Shareholder) -> None:
    holder.price("120", "2026-10-01", currency="USD")
    record(holder, "0.81", "2026-10-30")
    assert rate_of(holder.one_position("&asOfDate=2026-10-31")) == ("0.81", "2026-10-30", "recorded", False)
    assert rate_of(holder.one_position("&asOfDate=2026-11-05"))[1:] == ("2026-11-01", "hmrc", False)
    holder.enter(holder.second, "deposit", "2026-11-10", grossAmount="10", currency="USD", fxRate="0.79")
    assert rate_of(holder.one_position("&asOfDate=2026-11-15")) == ("0.79", "2026-11-10", "transaction", False)
    record(holder, "0.78", "2026-11-10")
    assert rate_of(holder.one_position("&asOfDate=2026-11-15")) == ("0.78", "2026-11-10", "recorded", False)


def test_a_rate_of_more_than_a_week_before_is_told_to_be_old(holder: Shareholder) -> None:
    holder.price("120", "2026-11-20", currency="BMD")
    record(holder, "0.75", "2026-11-12", "BMD")
    assert rate_of(holder.one_position("&asOfDate=2026-11-20")) == ("0.75", "2026-11-12", "recorded", True)
    record(holder, "0.75", "2026-11-13", "BMD")
    assert rate_of(holder.one_position("&asOfDate=2026-11-20")) == ("0.75", "2026-11-13", "recorded", False)


def test_in_its_own_currency_a_position_has_a_rate_of_one_from_nowhere(holder: Shareholder) -> None:
    holder.price("120", "2026-11-20")
    assert rate_of(holder.one_position()) == ("1", "2026-11-20", None, False)


def test_on_31_march_the_spot_rate_of_the_day_counts(holder: Shareholder) -> None:
    holder.trade("buy", "2023-05-01", "10", "1000")
    holder.price("120", "2024-03-28", currency="USD")
    position = holder.one_position("&asOfDate=2024-03-31")  # HMRC, spot: 1.2625
    assert (position["marketValueBase"], position["fxRateDate"]) == ("950.50", "2024-03-31")


# -- what came without a rate


def foreign(holder: Shareholder, date: str, currency: str = "USD", **fields: object) -> Json:
    return holder.trade("buy", date, "10", "1000", currency=currency, **fields)


def converted(row: Json) -> tuple[str, str | None, str | None, str]:
    return row["fxRate"], row["fxRateSource"], row["fxRateDate"], row["grossBase"]


def test_what_has_no_rate_takes_what_hmrc_published_for_the_month(holder: Shareholder) -> None:
    assert converted(foreign(holder, "2026-11-20")) == ("0.746491489997", "hmrc", "2026-11-01", "746.49")
    assert converted(foreign(holder, "2026-10-31")) == ("0.743162901308", "hmrc", "2026-10-01", "743.16")
    assert converted(foreign(holder, "2026-11-02", "EUR")) == ("0.838222967309", "hmrc", "2026-11-01", "838.22")


def test_a_rate_recorded_for_the_day_or_the_week_before_goes_first(holder: Shareholder) -> None:
    record(holder, "0.8", "2026-11-02")
    assert converted(foreign(holder, "2026-11-02")) == ("0.8", "recorded", "2026-11-02", "800.00")
    assert converted(foreign(holder, "2026-11-09"))[:3] == ("0.8", "recorded", "2026-11-02")
    assert converted(foreign(holder, "2026-11-10"))[1:3] == ("hmrc", "2026-11-01")
    record(holder, "1.25", "2026-11-10", "GBP", "USD")
    assert converted(foreign(holder, "2026-11-11"))[:3] == ("0.8", "recorded", "2026-11-10")


def test_a_rate_that_came_with_it_is_kept_and_told_apart(holder: Shareholder) -> None:
    record(holder, "0.8", "2026-11-02")
    assert converted(foreign(holder, "2026-11-02", fxRate="0.7")) == ("0.7", "given", None, "700.00")
    assert converted(holder.trade("buy", "2026-11-02", "1", "10")) == ("1", None, None, "10.00")


def test_what_was_converted_values_nothing_else(holder: Shareholder) -> None:
    """A rate of October's month that a purchase of 31 October took is no rate of that day."""
    foreign(holder, "2026-10-31")
    assert rate_of(holder.one_position("&asOfDate=2026-11-20"))[1:3] == ("2026-11-01", "hmrc")


@pytest.mark.parametrize(("date", "currency"), [("2014-01-31", "USD"), ("2026-11-20", "BMD"), ("2019-04-12", "BRL")])
def test_where_nothing_is_known_the_rate_is_asked_for_and_why_is_told(
    holder: Shareholder, date: str, currency: str
) -> None:
    with pytest.raises(Problem) as caught:
        foreign(holder, date, currency)
    assert fields_of(caught.value) == [("fxRate", "required")]
    first, last = coverage()
    assert f"HMRC's rates are known here from {first} to {last}" in caught.value.errors[0].message


def test_between_two_foreign_currencies_only_what_was_recorded_is_known(holder: Shareholder) -> None:
    other = holder.portfolio(holder.owner, baseCurrency="EUR", costBasisMethod="fifo")
    account = holder.account(other["id"])["id"]

    def deposit() -> Json:
        return holder.enter(account, "deposit", "2026-11-20", grossAmount="100", currency="USD")

    with pytest.raises(Problem) as caught:
        deposit()
    assert fields_of(caught.value) == [("fxRate", "required")]
    assert "HMRC" not in caught.value.errors[0].message
    record(holder, "0.9", "2026-11-18", "USD", "EUR")
    assert converted(deposit()) == ("0.9", "recorded", "2026-11-18", "90.00")


def test_a_portfolio_in_dollars_takes_pounds_at_hmrcs_rate(holder: Shareholder) -> None:
    other = holder.portfolio(holder.owner, baseCurrency="USD", costBasisMethod="fifo")
    account = holder.account(other["id"])["id"]
    made = holder.enter(account, "deposit", "2026-11-20", grossAmount="100", currency="GBP")
    assert converted(made) == ("1.3396", "hmrc", "2026-11-01", "133.96")


def test_both_halves_of_a_transfer_and_a_reversal_tell_the_same_rate(holder: Shareholder) -> None:
    foreign(holder, "2026-11-01")
    moved = holder.trade("transfer_out", "2026-11-20", "10", "1000", currency="USD", counterAccountId=holder.isa)
    (half,) = holder.walk("listTransactions", f"accountId={holder.isa}")
    back = holder.enter(holder.first, "reversal", "2026-11-20", reversesTransactionId=moved["id"])
    assert converted(moved) == converted(half) == converted(back) == ("0.746491489997", "hmrc", "2026-11-01", "746.49")
