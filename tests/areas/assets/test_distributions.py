"""Money for shares of which none is sold: a takeover's cash, a return of capital, on HMRC's examples (Domain C5)."""

from fractions import Fraction
from typing import Any

import pytest

from gatewayd.areas.assets.pools import reconciling
from gatewayd.areas.assets.pools.holding_rows import Key
from gatewayd.ledger.calendar import period_locks
from gatewayd.money import Money
from gatewayd.store.sqlite import schema
from tests.areas.assets.holdings import Holdings

DAY = "2025-09-01"


def pounds(text: str) -> Money:
    return Money.of(text, "GBP")


def take_over(holdings: Holdings, shares: int, cash: str, **more: Any) -> str:
    """All that the account holds becomes shares of another, and cash; answers the other instrument."""
    new = more.pop("instrument", None) or holdings.instrument()
    holdings.enter(
        "merger", more.pop("date", DAY), shares, cash, instrument=new, from_instrument_id=holdings.share, **more
    )
    return new


def pay(holdings: Holdings, amount: str, **more: Any) -> str:
    return holdings.enter("return_of_capital", DAY, gross=amount, **more)


def report(holdings: Holdings, year: str = "2025-26") -> Any:
    return holdings.ask("capitalGains", legalEntityId=holdings.person, taxYear=year)


def codes(found: Any) -> list[str]:
    return [one["code"] for one in found["warnings"]]


def test_a_takeovers_cash_is_a_disposal_of_a_part(holdings: Holdings) -> None:
    """CG52587: 20,000 shares at 60,000; 80,000 in cash and 40,000 shares of 6 pounds. A quarter of the cost."""
    holdings.buy("2016-01-10", 20_000, "60000")
    new = take_over(holdings, 40_000, "80000", date="2023-03-01", remaining_value=pounds("240000"))
    assert holdings.gains() == {"2023-03-01": 65_000_00}
    assert (holdings.pool(), holdings.pool(new)) == ((0, 0), (40_000, 45_000))
    (one,) = holdings.ask("listDisposals", legalEntityId=holdings.person, taxYear="2022-23")["data"]
    assert (one["instrumentId"], one["quantity"]) == (holdings.share, "0")
    assert (one["proceeds"], one["cost"], one["gain"]) == ("80000.00", "15000.00", "65000.00")
    assert one["treatment"] == "chargeable"
    assert codes(report(holdings, "2022-23")) == []


def test_a_takeovers_cash_costs_the_same_in_every_method(holdings: Holdings) -> None:
    """Half each of 1,000 for 8,000 and 12,000; 8,000 in cash and shares worth 12,000: 40 % of the cost goes."""
    holdings.buy("2025-01-10", 500, "3000")
    holdings.buy("2025-02-10", 500, "7000")
    new = take_over(holdings, 500, "8000", remaining_value=pounds("12000"))
    for scope, column in ((holdings.person, "gain"), (holdings.account, "gain"), (holdings.account, "fifo_gain")):
        assert holdings.gains(scope=scope, column=column) == {DAY: 4_000_00}
        assert holdings.pool(new, scope) == (500, 6000)
    assert holdings.holding("fifo_cost", new, holdings.account) == ("6000",)


def test_first_in_first_out_the_lots_that_leave_are_those_that_cost(holdings: Holdings) -> None:
    holdings.buy("2025-01-10", 500, "3000")
    holdings.buy("2025-02-10", 500, "7000")
    new = take_over(holdings, 250, "8000", remaining_value=pounds("12000"), from_quantity="500")
    assert holdings.gains(scope=holdings.account) == {DAY: 6_000_00}  # 8000 - 40 % of 5000
    assert holdings.gains(scope=holdings.account, column="fifo_gain") == {DAY: 6_800_00}  # 8000 - 40 % of 3000
    assert holdings.holding("cost, fifo_cost", new, holdings.account) == ("3000", "1800")


@pytest.mark.parametrize(
    ("cash", "remaining", "is_small"),
    [
        ("3000", "6000", True),  # CG57835: 3,000 or less, whatever part of the value it is
        ("3000.01", "6000", False),
        ("5000", "95000", True),  # 5 % of what the shares were worth before it
        ("5000.01", "95000", False),
    ],
)
def test_small_is_by_an_amount_or_by_a_part(holdings: Holdings, cash: str, remaining: str, is_small: bool) -> None:
    other = holdings.instrument()
    holdings.buy("2025-01-10", 1000, "9000")
    holdings.buy("2025-01-10", 1000, "9000", instrument=other)
    pay(holdings, cash, remaining_value=pounds(remaining), instrument=other)
    new = take_over(holdings, 500, cash, remaining_value=pounds(remaining))
    left = 9000 - pounds(cash).minor / 100
    if is_small:
        assert holdings.gains() == holdings.gains(other) == {}
        assert holdings.pool(new)[1] == holdings.pool(other)[1] == left
    else:
        assert holdings.gains() == holdings.gains(other) != {}
        assert holdings.pool(new)[1] == holdings.pool(other)[1] > left


def test_cash_that_is_small_and_more_than_the_cost_leaves_none(holdings: Holdings) -> None:
    """TCGA 1992 s122(4): what is beyond the cost is the gain, of the shares that were taken over."""
    new = holdings.instrument()
    holdings.buy("2025-01-10", 100, "500", instrument=new)
    holdings.buy("2025-01-10", 1000, "400")
    take_over(holdings, 500, "1000", remaining_value=pounds("60000"), instrument=new)
    assert holdings.gains() == {DAY: 600_00}
    assert holdings.gains(new) == {}
    assert holdings.pool(new) == (600, 500), "what the new shares cost before is none of it"


def test_cash_that_is_not_small_and_more_than_the_cost_leaves_its_part(holdings: Holdings) -> None:
    holdings.buy("2025-01-10", 1000, "400")
    new = take_over(holdings, 500, "8000", remaining_value=pounds("12000"))
    assert holdings.gains() == {DAY: 7840_00}  # 8000 - 8/20 of 400
    assert holdings.pool(new) == (500, 240)


def test_a_capital_distribution_is_a_disposal_of_a_part(holdings: Holdings) -> None:
    """CG57826: 9,500 for 10,000 shares at 18,000 that are worth 11,000 after it. Without indexation, 1,158."""
    holdings.buy("1988-03-10", 10_000, "18000")
    holdings.enter("return_of_capital", "1992-09-10", gross="9500", remaining_value=pounds("11000"))
    assert holdings.gains() == {"1992-09-10": 1_158_54}  # 9500 - 18000 x 9500 / 20500
    assert holdings.gains(scope=holdings.account, column="fifo_gain") == {"1992-09-10": 1_158_54}
    assert holdings.pool()[0] == 10_000
    assert round(holdings.pool()[1], 2) == Fraction("9658.54")


def test_a_return_of_capital_takes_its_part_of_the_cost(holdings: Holdings) -> None:
    """4,000 of 14,000 go: 4,000 - 5,000 x 4 / 14."""
    holdings.buy("2025-01-10", 1000, "5000")
    paid = pay(holdings, "4000", remaining_value=pounds("10000"))
    assert holdings.gains() == {DAY: 2_571_43}
    found = report(holdings)["chargeable"]
    assert (found["proceeds"], found["costs"], found["net"]) == ("4000.00", "1428.57", "2571.43")
    days = holdings.ask("explainPosition", legalEntityId=holdings.person, instrumentId=holdings.share)["data"]
    assert (days[1]["distributed"], days[1]["distributedCost"], days[1]["adjustment"]) == ("4000.00", "1428.57", "0.00")
    holdings.reverse(paid)
    assert (holdings.gains(), holdings.pool()) == ({}, (1000, 5000))


def test_a_part_is_of_what_it_was_paid_on(holdings: Holdings) -> None:
    """Two brokers tell of one distribution: each of its own shares, of which all together have one cost."""
    other = holdings.new_account()
    holdings.buy("2025-01-10", 1000, "2000")
    holdings.buy("2025-01-10", 3000, "18000", account=other)
    pay(holdings, "4000", remaining_value=pounds("10000"))
    assert holdings.gains() == {DAY: 4000_00 - 1428_57}  # a quarter of 20000, x 4 / 14
    pay(holdings, "12000", remaining_value=pounds("30000"), account=other)
    assert holdings.gains() == {DAY: 16_000_00 - 5714_29}  # 20000 x 16 / 56
    assert round(holdings.pool()[1], 2) == Fraction("14285.71")


def test_what_was_bought_on_its_day_has_its_part(holdings: Holdings) -> None:
    """Nothing was held before: 4,000 of 14,000 go of what was bought, 4,000 - 5,000 x 4 / 14."""
    holdings.buy(DAY, 1000, "5000")
    holdings.enter("return_of_capital", DAY, 1000, "4000", remaining_value=pounds("10000"))
    assert holdings.gains() == {DAY: 2_571_43}
    assert round(holdings.pool()[1], 2) == Fraction("3571.43")


def test_two_brokers_amounts_are_small_or_not_together(holdings: Holdings) -> None:
    """CG57840: the test is of the whole shareholding."""
    other = holdings.new_account()
    for account in (holdings.account, other):
        holdings.buy("2025-01-10", 1000, "5000", account=account)
        pay(holdings, "2000", remaining_value=pounds("8000"), account=account)
    assert holdings.gains() == {DAY: 2000_00}  # 4000 - 10000 x 4 / 20
    assert holdings.gains(scope=other) == {}, "by itself an account's is small"


def test_who_says_what_it_is_decides(holdings: Holdings) -> None:
    """CG57838: one that is small may be a disposal; and O'Rourke v Binks: small is a question of fact and degree."""
    other = holdings.instrument()
    for share in (holdings.share, other):
        holdings.buy("2025-01-10", 1000, "5000", instrument=share)
    pay(holdings, "1000", remaining_value=pounds("9000"), small_distribution=False)
    assert holdings.gains() == {DAY: 500_00}
    pay(holdings, "4000", small_distribution=True, instrument=other)
    assert (holdings.gains(other), holdings.pool(other)) == ({}, (1000, 1000))
    assert codes(report(holdings)) == []


def test_what_nobody_told_comes_off_the_cost_and_is_warned_of(holdings: Holdings) -> None:
    holdings.buy("2025-01-10", 1000, "5000")
    pay(holdings, "3000")
    assert codes(report(holdings)) == []
    paid = pay(holdings, "0.01")  # more than 3,000 on one day
    assert (holdings.gains(), holdings.pool()) == ({}, (1000, Fraction("1999.99")))
    found = report(holdings)
    assert codes(found) == ["distribution_value_unknown"]
    assert "Share 1" in found["warnings"][0]["message"]
    assert codes(report(holdings, "2024-25")) == []
    holdings.reverse(paid)
    assert codes(report(holdings)) == []
    take_over(holdings, 500, "1700", date="2025-10-01")
    assert codes(report(holdings)) == []
    take_over(holdings, 500, "3001", date="2025-11-01", account=_other(holdings))
    assert codes(report(holdings)) == ["distribution_value_unknown"]


def _other(holdings: Holdings) -> str:
    account = holdings.new_account()
    holdings.buy("2025-10-10", 1000, "5000", account=account)
    return account


def test_what_is_in_a_wrapper_is_nobodys_gain(holdings: Holdings) -> None:
    isa = holdings.new_account(wrapper="isa")
    holdings.buy("2025-01-10", 1000, "5000", account=isa)
    pay(holdings, "4000", account=isa)
    assert codes(report(holdings)) == []
    assert holdings.gains() == {}


def test_pools_and_accounts_are_compared_over_a_distribution(holdings: Holdings) -> None:
    """Two accounts whose averages differ, of which one is paid: each part is named, and all add up."""
    other = holdings.new_account()
    holdings.buy("2025-01-10", 1000, "2000")
    holdings.buy("2025-01-10", 3000, "18000", account=other)
    pay(holdings, "4000", remaining_value=pounds("10000"))
    (one,) = holdings.ask("comparePools", legalEntityId=holdings.person)["data"]
    assert one["difference"] == "857.14"  # the pool lost 5000 x 4/14, the account 2000 x 4/14
    assert [(day["kind"], day["difference"]) for day in one["days"]] == [("disposal", "857.14")]


def test_a_portfolio_in_another_currency_has_no_small_amount_of_pounds(holdings: Holdings) -> None:
    euros = holdings.new_account(holdings.new_portfolio(holdings.person, "EUR", "average_cost"))
    holdings.buy("2025-01-10", 1000, "5000", account=euros)
    pay(holdings, "2000", account=euros, remaining_value=Money.of("8000", "EUR"))
    assert holdings.gains(scope=euros) == {DAY: 1000_00}


def test_a_companys_takeover_is_reckoned_alike(holdings: Holdings) -> None:
    company = holdings.entity("limited_company", companyNumber="01234567")
    account = holdings.new_account(holdings.new_portfolio(company, method="average_cost"))
    holdings.buy("2025-01-10", 1000, "10000", account=account)
    new = take_over(holdings, 500, "8000", remaining_value=pounds("12000"), account=account)
    assert holdings.gains(scope=account) == {DAY: 4_000_00}
    assert holdings.pool(new, account) == (500, 6000)


def test_amounts_in_another_currency_are_at_its_rate(holdings: Holdings) -> None:
    holdings.buy("2025-01-10", 1000, "10000")
    worth = {"remaining_value": Money.of("15000", "USD"), "currency": "USD", "fx_rate": "0.8"}
    new = take_over(holdings, 500, "10000", **worth)
    assert holdings.gains() == {DAY: 4_000_00}
    assert holdings.pool(new) == (500, 6000)


# -- what an older program left


def migrate(holdings: Holdings) -> None:
    """Mark instruments as the migration does."""
    (sql,) = [one.sql for one in schema.packaged() if one.name.endswith("_judge_distributions.sql")]
    holdings.store.connection.execute(sql[sql.index("INSERT INTO asset_instruments_to_enter") :]).fetchall()


def test_days_of_an_older_program_are_entered_anew_and_closed_gains_are_told(holdings: Holdings) -> None:
    """It took a merger's cash from the new shares, also what was beyond the cost of the old ones."""
    new = holdings.instrument()
    holdings.buy("2025-01-10", 1000, "400")
    holdings.buy("2025-01-10", 100, "500", instrument=new)
    take_over(holdings, 500, "1000", remaining_value=None, instrument=new)
    holdings.sell("2025-10-01", 600, "9000", instrument=new)
    right = holdings.everything()
    connection = holdings.store.connection
    connection.execute("UPDATE asset_days SET inputs = json_remove(inputs, '$.distributions') WHERE date = ?", (DAY,))
    adjusted = "UPDATE asset_days SET inputs = json_set(inputs, '$.adjustment', '-1000') WHERE {} = ? AND date = ?"
    connection.execute(adjusted.format("instrument_id"), (new, DAY))
    keys = [Key(scope, share) for scope in (holdings.person, holdings.account) for share in (holdings.share, new)]
    holdings.write(lambda tx: reconciling.compute_anew(tx, keys))
    assert holdings.gains(new) == {DAY: 100_00, "2025-10-01": 9000_00}
    holdings.write(lambda tx: period_locks.close(tx, holdings.person, "2025-04-06", "2025-09-30"))
    migrate(holdings)
    done = holdings.store.write(reconciling.compute_outdated, holdings.org_id)
    assert holdings.everything() == right
    assert holdings.gains(new) == {"2025-10-01": 8500_00}
    assert (done.holdings, done.instruments) == (0, 2)
    told = {(one.legal_entity_id, one.instrument_id, one.date, one.before, one.after) for one in done.closed}
    expected = {(holdings.person, new, DAY, 100_00, None), (holdings.person, holdings.share, DAY, None, 600_00)}
    assert told == expected
    assert holdings.store.read(reconciling.organizations_outdated) == []
