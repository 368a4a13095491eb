"""What happens to a holding beside trades: bonus issues, spin-offs, mergers, gifts, wrappers, returns of capital."""

from fractions import Fraction

import pytest

from gatewayd.areas.assets.pools import recording
from gatewayd.errors import Problem
from gatewayd.store import WriteTx
from tests.areas.assets.holdings import Holdings


def test_a_bonus_issue_restates_across_the_thirty_days(holdings: Holdings) -> None:
    holdings.buy("2025-01-10", 100, "1000")
    holdings.sell("2025-03-01", 50, "700")
    holdings.enter("bonus_issue", "2025-03-10", 50)  # one for one
    holdings.buy("2025-03-20", 60, "420")  # 30 of the shares that were sold
    assert holdings.gains() == {"2025-03-01": 700_00 - 420_00 - 200_00}
    assert holdings.pool() == (160, 800)


def test_a_bonus_issue_is_of_what_is_held_by_then_however_it_came_and_went(holdings: Holdings) -> None:
    """Recorded at once, so that all of it is counted on the way: rights, a gift to the spouse, a merger, two issues."""
    old, new = holdings.share, holdings.instrument()

    def record(tx: WriteTx) -> None:
        gone = {"spouse_transfer": True, "counter_account_id": None}
        merged = {"instrument": new, "from_instrument_id": old, "from_quantity": "10"}
        rows = [
            holdings.stored(tx, "buy", "2024-12-02", 100, "1000"),
            holdings.stored(tx, "rights_issue", "2024-12-03", 20, "100"),
            holdings.stored(tx, "transfer_out", "2024-12-20", 30, "0", **gone),
            holdings.stored(tx, "merger", "2025-01-07", 5, "0", **merged),
            holdings.stored(tx, "bonus_issue", "2025-01-08", 40),  # 80 become 120
            holdings.stored(tx, "sell", "2025-01-10", 60, "900"),
            holdings.stored(tx, "bonus_issue", "2025-01-20", 30),  # 60 become 90
            holdings.stored(tx, "buy", "2025-01-22", 45, "450"),  # 30 of the shares that were sold
        ]
        recording.record(tx, rows)

    holdings.write(record)
    # of 1100 for 120 a quarter was given away, then a ninth merged: 733.33 for 120, of which 30 were not bought again
    assert holdings.gains() == {"2025-01-10": 900_00 - 450_00 - 183_33}
    assert holdings.pool()[0] == 90 + 45
    assert round(holdings.pool()[1], 12) == 550  # 3/4 of 733.33
    assert holdings.pool(scope=holdings.account)[0] == 90 + 45


def test_bonus_issues_of_nothing_and_of_one_share(holdings: Holdings) -> None:
    """There is nothing to restate where nothing is held; one share is something."""
    holdings.enter("bonus_issue", "2025-01-02", 10)
    holdings.enter("bonus_issue", "2025-01-10", 5)
    holdings.sell("2025-01-20", 15, "30")
    assert (holdings.gains(), holdings.pool()) == ({"2025-01-20": 30_00}, (0, 0))

    def record(tx: WriteTx) -> None:
        """At once: five of ten shares for nothing are sold, five become ten, and ten of twelve are those again."""
        trades = (
            ("bonus_issue", 2, 10, None),
            ("sell", 5, 5, "20"),
            ("bonus_issue", 10, 5, None),
            ("buy", 15, 12, "12"),
        )
        rows = [
            holdings.stored(tx, kind, f"2025-01-{day:02}", quantity, gross, instrument=given)
            for kind, day, quantity, gross in trades
        ]
        recording.record(tx, rows)

    given = holdings.instrument()
    holdings.write(record)
    assert holdings.gains(given) == {"2025-01-05": 10_00}
    other = holdings.instrument()
    holdings.buy("2025-01-02", 2, "10", instrument=other)
    holdings.sell("2025-01-10", 1, "20", instrument=other)
    holdings.enter("bonus_issue", "2025-01-15", 1, instrument=other)
    holdings.buy("2025-01-20", 2, "8", instrument=other)  # the one that was sold
    assert holdings.gains(other) == {"2025-01-10": 12_00}
    assert holdings.pool(other) == (4, 10)


def test_a_split_on_the_last_day_before_counts_once(holdings: Holdings) -> None:
    """What is computed from the spring on begins with a day on which it was split already."""
    holdings.buy("2025-01-02", 10, "100")
    holdings.buy("2025-01-10", 4, "20")
    holdings.split("2025-01-10", 2)
    holdings.buy("2025-04-15", 5, "30")
    assert holdings.pool() == (29, 150)
    assert holdings.pool(scope=holdings.account) == (29, 150)


def test_rights_join_what_is_held_and_are_not_matched(holdings: Holdings) -> None:
    holdings.buy("2025-01-10", 100, "1000")
    holdings.sell("2025-03-01", 50, "700")
    holdings.enter("rights_issue", "2025-03-10", 25, "100", fees="5")
    assert holdings.gains() == {"2025-03-01": 200_00}
    assert holdings.pool() == (75, 605)


def test_a_return_of_capital_beyond_the_cost_is_a_gain(holdings: Holdings) -> None:
    holdings.buy("2025-01-10", 100, "1000")
    holdings.enter("return_of_capital", "2025-02-01", gross="1200")
    assert holdings.gains() == holdings.gains(scope=holdings.account) == {"2025-02-01": 200_00}
    assert holdings.pool() == (100, 0)


def test_an_adjustment_comes_after_the_days_acquisitions_and_before_its_disposals(holdings: Holdings) -> None:
    holdings.buy("2025-01-10", 100, "1000")
    holdings.sell("2025-02-01", 100, "1500")
    holdings.enter("notional_distribution", "2025-02-01", gross="100")
    assert holdings.gains() == {"2025-02-01": 400_00}


def test_a_spin_off_takes_its_share_of_the_cost(holdings: Holdings) -> None:
    child = holdings.instrument()
    holdings.buy("2025-01-10", 100, "1000")
    spin_off = {"instrument": child, "from_instrument_id": holdings.share, "cost_share": "0.2"}
    spun = holdings.enter("spin_off", "2025-02-01", 10, **spin_off)
    for scope in (holdings.person, holdings.account):
        assert holdings.pool(scope=scope) == (100, 800)
        assert holdings.pool(child, scope) == (10, 200)
    holdings.buy("2025-01-05", 100, "500")  # entered later: the cost that went is computed anew
    assert holdings.pool(child) == (10, Fraction(1500, 10))  # what was told was about 100 of what are now 200
    holdings.reverse(spun)
    assert holdings.pool() == (200, 1500)
    assert holdings.holding("quantity", child) is None


def test_lots_give_to_spin_offs_mergers_and_gifts_what_they_cost(holdings: Holdings) -> None:
    """First in, first out beside the average: a spin-off lessens every lot alike, others take whole lots."""
    new, third = holdings.instrument(), holdings.instrument()
    holdings.buy("2025-01-01", 10, "100")
    holdings.buy("2025-01-02", 10, "300")
    holdings.enter(
        "spin_off",
        "2025-01-10",
        4,
        instrument=new,
        from_instrument_id=holdings.share,
        from_quantity="20",
        cost_share="0.25",
    )
    assert holdings.holding("cost, fifo_cost", scope=holdings.account) == ("300", "300")
    assert holdings.holding("cost, fifo_cost", new, holdings.account) == ("100", "100")
    holdings.sell("2025-01-20", 5, "100")  # by lots half of 75, on average a quarter of 300
    assert holdings.gains(scope=holdings.account, column="fifo_gain") == {"2025-01-20": 62_50}
    assert holdings.gains(scope=holdings.account) == {"2025-01-20": 25_00}
    merged = {"instrument": third, "from_instrument_id": holdings.share, "from_quantity": "5"}
    holdings.enter("merger", "2025-02-20", 1, "0", **merged)  # the rest of the first lot
    assert holdings.holding("cost, fifo_cost", third, holdings.account) == ("75", "37.5")
    holdings.enter("transfer_out", "2025-03-25", 5, "0", spouse_transfer=True)
    assert holdings.holding("cost, fifo_cost", scope=holdings.account) == ("75", "112.5")


def test_a_spin_off_counts_what_was_bought_on_its_day(holdings: Holdings) -> None:
    new, third = holdings.instrument(), holdings.instrument()
    half = {"from_instrument_id": holdings.share, "cost_share": "0.5"}
    holdings.buy("2025-01-01", 20, "400")
    holdings.buy("2025-01-10", 5, "100")
    holdings.enter("spin_off", "2025-01-10", 1, instrument=new, from_quantity="10", **half)
    assert holdings.pool(new) == (1, 100)  # half of 10/25 of 500
    other = holdings.instrument()
    holdings.buy("2025-01-10", 5, "100", instrument=other)
    half["from_instrument_id"] = other
    holdings.enter("spin_off", "2025-01-10", 1, instrument=third, from_quantity="5", **half)
    assert holdings.pool(third) == (1, 50)
    assert holdings.holding("fifo_cost", third, holdings.account) == ("50",)
    told = holdings.instrument()
    holdings.enter("spin_off", "2025-01-11", 1, "30", instrument=told, from_instrument_id=other, from_quantity="5")
    assert (holdings.pool(told), holdings.pool(other)) == ((1, 30), (5, 20))
    assert holdings.holding("fifo_cost", told, holdings.account) == ("30",)


def test_a_spin_off_takes_its_share_of_rights_of_its_day(holdings: Holdings) -> None:
    """They are of the original holding (TCGA 1992 ss126, 127): a fifth of 1,000 goes, and of the 200 paid for them."""
    child = holdings.instrument()
    holdings.buy("2025-01-10", 100, "1000")
    holdings.enter("rights_issue", "2025-02-01", 10, "200")
    spin_off = {"instrument": child, "from_instrument_id": holdings.share, "cost_share": "0.2"}
    holdings.enter("spin_off", "2025-02-01", 10, **spin_off)
    assert (holdings.pool(child), holdings.pool()) == ((10, 240), (110, 960))


def test_two_brokers_report_of_one_spin_off_is_each_about_its_own(holdings: Holdings) -> None:
    child, other = holdings.instrument(), holdings.new_account()
    holdings.buy("2025-01-10", 100, "1000")
    holdings.buy("2025-01-10", 300, "5000", account=other)
    for account, quantity in ((holdings.account, 10), (other, 30)):
        holdings.enter(
            "spin_off",
            "2025-02-01",
            quantity,
            account=account,
            instrument=child,
            from_instrument_id=holdings.share,
            cost_share="0.1",
        )
    assert holdings.pool(child) == (40, 600)
    assert holdings.pool() == (400, 5400)


def test_a_merger_takes_all_along_and_its_cash_from_the_cost(holdings: Holdings) -> None:
    new = holdings.instrument()
    holdings.buy("2025-01-10", 100, "1000")
    before = holdings.everything()
    merger = holdings.enter("merger", "2025-02-01", 50, "150", instrument=new, from_instrument_id=holdings.share)
    assert holdings.pool() == (0, 0)
    assert holdings.pool(new) == holdings.pool(new, holdings.account) == (50, 850)
    holdings.sell("2025-03-01", 50, "1000", instrument=new)
    assert holdings.gains(new) == {"2025-03-01": 150_00}
    with pytest.raises(Problem, match="holds 0"):
        holdings.sell("2025-03-02", 1, "10")
    with pytest.raises(Problem, match="insufficient_quantity"):
        holdings.reverse(merger)
    sale = holdings.store.connection.execute("SELECT id FROM asset_transactions WHERE type = 'sell'").fetchall()
    holdings.reverse(str(sale[-1][0]), merger)
    assert holdings.everything() == before


def test_a_gift_to_the_spouse_leaves_and_arrives_at_cost(holdings: Holdings) -> None:
    spouse = holdings.entity("individual", name="Elm Brown")
    theirs = holdings.new_account(holdings.new_portfolio(spouse))
    holdings.buy("2025-01-10", 100, "1000")
    holdings.sell("2025-03-01", 20, "300")
    holdings.transfer("2025-03-01", 30, holdings.account, theirs, spouse_transfer=True)
    assert holdings.gains() == {"2025-03-01": 100_00}
    assert holdings.pool(scope=spouse) == holdings.pool(scope=theirs) == (30, 300)
    holdings.sell("2025-04-20", 30, "400", account=theirs)
    assert holdings.gains(scope=spouse) == {"2025-04-20": 100_00}
    holdings.buy("2025-03-05", 50, "1000")  # matched with all 50 that left on 1 March, pro rata
    assert holdings.gains() == {"2025-03-01": -100_00}
    assert holdings.gains(scope=spouse) == {"2025-04-20": -200_00}
    assert holdings.gains(scope=theirs) == {"2025-04-20": 100_00}, "an account's average is not matched by days"


def test_gifts_of_one_day_share_what_left_by_their_shares(holdings: Holdings) -> None:
    """TCGA 1992 ss58, 104: of 300 for 1,200 and 50 bought back for 400 within 30 days, 100 and 50 are given away.

    The 50 of the days behind are matched first, at 400; the other 100 cost 400 of the pool: 800 for 150 shares, of
    which the first gift has two thirds and the second one.
    """
    spouse = holdings.entity("individual", name="Elm Brown")
    first, second = (holdings.new_account(holdings.new_portfolio(spouse)) for _ in range(2))
    holdings.buy("2025-01-10", 300, "1200")
    holdings.buy("2025-03-05", 50, "400")
    holdings.transfer("2025-03-01", 100, holdings.account, first, spouse_transfer=True)
    holdings.transfer("2025-03-01", 50, holdings.account, second, spouse_transfer=True)
    assert holdings.pool(scope=spouse) == (150, 800)
    assert holdings.pool() == (200, 800)


def test_gifts_in_a_circle_within_thirty_days_are_refused(holdings: Holdings) -> None:
    spouse = holdings.entity("individual", name="Elm Brown")
    theirs = holdings.new_account(holdings.new_portfolio(spouse))
    holdings.buy("2025-01-10", 100, "1000")
    holdings.buy("2025-01-10", 10, "500", account=theirs)
    holdings.transfer("2025-03-01", 30, holdings.account, theirs, spouse_transfer=True)
    before = holdings.everything()
    with pytest.raises(Problem, match="goes in a circle") as refused:
        holdings.transfer("2025-03-10", 10, theirs, holdings.account, spouse_transfer=True)
    assert refused.value.status == 422
    assert holdings.everything() == before


def test_transfers_of_a_day_in_a_circle_are_refused(holdings: Holdings) -> None:
    other = holdings.new_account()
    holdings.buy("2025-01-10", 100, "1000")
    holdings.buy("2025-01-10", 100, "1500", account=other)
    holdings.transfer("2025-03-01", 30, holdings.account, other)
    with pytest.raises(Problem, match="goes in a circle"):
        holdings.transfer("2025-03-01", 10, other, holdings.account)
    holdings.transfer("2025-03-02", 10, other, holdings.account)


def test_own_transfers_change_no_gain_and_move_the_average(holdings: Holdings) -> None:
    other = holdings.new_account()
    holdings.buy("2025-01-10", 100, "1000")
    holdings.buy("2025-01-20", 100, "2000", account=other)
    holdings.sell("2025-03-01", 50, "1000")
    gains, pool = holdings.gains(), holdings.pool()
    holdings.transfer("2025-02-01", 40, holdings.account, other)
    assert (holdings.gains(), holdings.pool()) == (gains, pool)
    assert holdings.pool(scope=other) == (140, 2400)
    assert holdings.gains(scope=holdings.account) == {"2025-03-01": 500_00}


def test_into_a_wrapper_is_a_disposal_at_market_value(holdings: Holdings) -> None:
    isa = holdings.new_account(wrapper="isa")
    holdings.buy("2025-01-10", 100, "1000")
    holdings.transfer("2025-03-01", 40, holdings.account, isa, gross="600")
    assert holdings.gains() == {"2025-03-01": 200_00}
    assert holdings.pool() == (60, 600)
    assert holdings.pool(scope=isa) == (40, 600)


def test_within_wrappers_cost_moves_along_and_no_pool_knows(holdings: Holdings) -> None:
    isa, pension = holdings.new_account(wrapper="isa"), holdings.new_account(wrapper="sipp")
    holdings.buy("2025-01-10", 100, "1000", account=isa)
    holdings.transfer("2025-03-01", 40, isa, pension)
    assert (holdings.pool(scope=isa), holdings.pool(scope=pension)) == ((60, 600), (40, 400))
    assert holdings.holding("quantity") is None


def test_nothing_is_matched_across_a_wrapper(holdings: Holdings) -> None:
    isa = holdings.new_account(wrapper="isa")
    holdings.buy("2025-01-10", 100, "1000")
    holdings.sell("2025-03-01", 100, "900")
    holdings.buy("2025-03-02", 100, "850", account=isa)
    assert holdings.gains() == {"2025-03-01": -100_00}


def test_companies_and_other_currencies_have_no_pool(holdings: Holdings) -> None:
    company = holdings.entity("limited_company", companyNumber="01234567")
    euros = holdings.new_portfolio(holdings.person, "EUR", "average_cost")
    for owner, portfolio in ((company, holdings.new_portfolio(company)), (holdings.person, euros)):
        account = holdings.new_account(portfolio)
        holdings.buy("2025-01-10", 10, "100", account=account)
        assert holdings.holding("quantity", scope=owner) is None
        assert holdings.pool(scope=account) == (10, 100)


def test_costs_are_in_the_base_currency_at_the_rate_given(holdings: Holdings) -> None:
    holdings.buy("2025-01-10", 100, "1000", currency="USD", fx_rate="0.8", fees="10")
    holdings.sell("2025-03-01", 100, "1500", currency="USD", fx_rate="0.75", fees="10", taxes="2")
    assert holdings.gains() == {"2025-03-01": (1488 * 75 - 1010 * 80)}


def test_more_than_is_held_on_any_day_is_refused_by_name(holdings: Holdings) -> None:
    holdings.buy("2025-01-10", 100, "1000")
    holdings.sell("2025-03-01", 80, "900")
    before = holdings.everything()
    with pytest.raises(Problem) as refused:
        holdings.sell("2025-02-01", 30, "900")
    assert refused.value.code == "insufficient_quantity"
    extra = dict(refused.value.extra)
    assert str(extra.pop("transactionId")).startswith("txn_")
    assert extra == {
        "accountId": holdings.account,
        "instrumentId": holdings.share,
        "date": "2025-03-01",
        "held": "70",
        "asked": "80",
    }
    assert holdings.everything() == before


def test_more_than_the_rest_of_a_day_is_refused(holdings: Holdings) -> None:
    """By name as any other: the lots are used up when the second of a day asks for one more."""
    other, new = holdings.new_account(), holdings.instrument()
    merger = {"instrument": new, "from_instrument_id": holdings.share}
    holdings.buy("2025-01-01", 40, "400")
    holdings.transfer("2025-01-02", 30, holdings.account, other)
    holdings.enter("merger", "2025-01-02", 10, **merger, from_quantity="10")
    before = holdings.everything()
    with pytest.raises(Problem, match="insufficient_quantity"):
        holdings.transfer("2025-01-02", 1, holdings.account, other)
    with pytest.raises(Problem, match="insufficient_quantity"):
        holdings.enter("merger", "2025-01-02", 1, **merger, from_quantity="1")
    assert holdings.everything() == before


def test_a_split_is_one_fact_for_all_who_hold_it(holdings: Holdings) -> None:
    other = holdings.new_account()
    holdings.buy("2025-01-10", 100, "1000")
    holdings.buy("2025-01-10", 10, "100", account=other)
    first = holdings.split("2025-02-01", 2)
    second = holdings.split("2025-02-04", 2, account=other)
    assert holdings.pool()[0] == 220
    assert holdings.pool(scope=other)[0] == 20
    with pytest.raises(Problem, match="Another split"):
        holdings.split("2025-02-01", 3)
    holdings.reverse(first)
    assert holdings.pool()[0] == 220
    holdings.reverse(second)
    assert holdings.pool()[0] == 110


def test_a_days_trades_are_in_units_after_its_split(holdings: Holdings) -> None:
    holdings.buy("2025-01-10", 100, "1000")
    holdings.split("2025-02-01", 2)
    holdings.sell("2025-02-01", 200, "1400")
    assert holdings.gains() == {"2025-02-01": 400_00}
    with pytest.raises(Problem, match="holds 0"):
        holdings.sell("2025-02-02", 1, "7")


def test_a_short_position_gains_as_it_is_covered(holdings: Holdings) -> None:
    short = holdings.new_account(short=True)
    holdings.sell("2025-01-10", 100, "1000", account=short)
    assert holdings.gains() == {"2025-01-10": 0}
    assert holdings.pool()[0] == -100
    holdings.buy("2025-06-01", 40, "200", account=short)
    assert holdings.gains() == {"2025-01-10": 200_00}
    holdings.buy("2025-07-01", 100, "1200", account=short)
    assert holdings.gains() == {"2025-01-10": 80_00}
    assert holdings.pool() == (40, 480)


def test_what_is_bought_within_thirty_days_goes_before_what_covered_a_short_position(holdings: Holdings) -> None:
    short = holdings.new_account(short=True)
    holdings.sell("2025-01-10", 10, "100", account=short)
    holdings.enter("rights_issue", "2025-01-12", 10, "50", account=short)
    assert holdings.gains() == {"2025-01-10": 50_00}
    holdings.buy("2025-01-20", 10, "80", account=short)
    assert holdings.gains() == {"2025-01-10": 20_00}
    assert holdings.pool() == (10, 50)


def test_cash_is_what_transactions_move(holdings: Holdings) -> None:
    holdings.enter("deposit", "2025-01-01", gross="500", net_amount="500", instrument=None)
    bought = holdings.buy("2025-01-10", 10, "100", net_amount="-100")
    assert holdings.everything()["asset_cash"] == [(holdings.account, "GBP", 400_00)]
    holdings.reverse(bought)
    assert holdings.everything()["asset_cash"] == [(holdings.account, "GBP", 500_00)]
