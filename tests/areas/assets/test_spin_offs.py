"""A demerger concerns the shares that were held as it came, and not what is bought on its day (TCGA 1992 s126)."""

from typing import Any

import pytest

from gatewayd.areas.assets.pools import reconciling
from gatewayd.areas.assets.pools.reconciling import BEFORE_ALL, Faults
from gatewayd.store.sqlite import schema
from tests.areas.assets.holdings import Holdings

DAY = "2025-09-01"


@pytest.fixture
def holdings(holdings: Holdings) -> Holdings:
    """100 shares at 1,000."""
    holdings.buy("2025-01-10", 100, "1000")
    return holdings


def spin_off(holdings: Holdings, quantity: int, share: str | None = "0.2", **more: Any) -> str:
    """Answers the new instrument, to which a part of the cost goes."""
    new = more.pop("instrument", None) or holdings.instrument()
    told = {"instrument": new, "from_instrument_id": holdings.share, "cost_share": share, **more}
    holdings.enter("spin_off", DAY, quantity, told.pop("gross", None), **told)
    return new


@pytest.mark.parametrize("told", [None, "100"])
@pytest.mark.parametrize("first", ["bought", "spun off"])
def test_what_is_bought_on_the_day_keeps_its_cost(holdings: Holdings, told: str | None, first: str) -> None:
    """A fifth of 1,000 goes along, and none of the 900 that 50 more cost on the day."""
    if first == "bought":
        holdings.buy(DAY, 50, "900")
    new = spin_off(holdings, 10, from_quantity=told)
    if first != "bought":
        holdings.buy(DAY, 50, "900")
    for scope in (holdings.person, holdings.account):
        assert (holdings.pool(scope=scope), holdings.pool(new, scope)) == ((150, 1700), (10, 200))
    assert holdings.holding("fifo_cost", scope=holdings.account) == ("1700",)
    holdings.sell("2025-12-01", 100, "2000")
    assert holdings.gains(scope=holdings.account, column="fifo_gain") == {"2025-12-01": 1200_00}  # 2000 - 800
    assert holdings.holding("fifo_cost", scope=holdings.account) == ("900",)
    holdings.sell("2026-02-01", 50, "1000")
    assert holdings.gains(scope=holdings.account, column="fifo_gain")["2026-02-01"] == 100_00


def test_what_is_sold_on_the_day_was_among_them(holdings: Holdings) -> None:
    """60 are sold after the demerger, at 48/60 of what they cost: 800 is what 100 of them cost by then."""
    holdings.sell(DAY, 60, "700")
    new = spin_off(holdings, 10)
    assert holdings.pool(new) == (10, 200)
    assert holdings.gains() == {DAY: 700_00 - 480_00}
    assert holdings.pool() == (40, 320)


def test_what_was_bought_and_sold_on_the_day_is_no_part_of_it(holdings: Holdings) -> None:
    """Matched with each other (s105), whatever the demerger does to the rest."""
    holdings.buy(DAY, 30, "300")
    holdings.sell(DAY, 30, "330")
    new = spin_off(holdings, 10)
    assert holdings.gains() == {DAY: 30_00}
    assert (holdings.pool(), holdings.pool(new)) == ((100, 800), (10, 200))


def test_two_brokers_reports_are_about_the_original_shares_of_both(holdings: Holdings) -> None:
    """100 at 1,000 with one and 300 at 5,000 with the other; 200 more on the day. A tenth of 6,000 goes along."""
    other = holdings.new_account()
    holdings.buy("2025-01-10", 300, "5000", account=other)
    holdings.buy(DAY, 200, "4000")
    new = spin_off(holdings, 10, "0.1")
    spin_off(holdings, 30, "0.1", instrument=new, account=other)
    assert (holdings.pool(), holdings.pool(new)) == ((600, 9400), (40, 600))
    assert holdings.pool(new, holdings.account) == (10, 100)
    assert holdings.pool(new, other) == (30, 500)


def test_several_demergers_of_a_day_are_of_the_cost_before_them(holdings: Holdings) -> None:
    holdings.buy(DAY, 50, "900")
    first, second = spin_off(holdings, 10, "0.2"), spin_off(holdings, 10, None, gross="300")
    assert (holdings.pool(first), holdings.pool(second)) == ((10, 200), (10, 300))
    assert holdings.pool() == (150, 1400)
    assert holdings.holding("fifo_cost", scope=holdings.account) == ("1400",)
    holdings.sell("2025-12-01", 100, "600")
    assert holdings.gains(scope=holdings.account, column="fifo_gain") == {"2025-12-01": 100_00}  # 600 - 500


def test_a_demerger_takes_no_more_than_the_original_shares_cost(holdings: Holdings) -> None:
    holdings.buy(DAY, 50, "900")
    new = spin_off(holdings, 10, None, gross="1200")
    assert (holdings.pool(), holdings.pool(new)) == ((150, 900), (10, 1000))
    holdings.sell("2025-12-01", 100, "600")
    assert holdings.gains(scope=holdings.account, column="fifo_gain") == {"2025-12-01": 600_00}
    holdings.sell("2026-02-01", 50, "1000")
    assert holdings.gains(scope=holdings.account, column="fifo_gain")["2026-02-01"] == 100_00


def test_a_report_about_more_than_was_held_before_is_about_all(holdings: Holdings) -> None:
    """Who says that it was about 150 shares says that those of the day were among them: a fifth of 1,900."""
    holdings.buy(DAY, 50, "900")
    new = spin_off(holdings, 10, from_quantity="150")
    assert (holdings.pool(), holdings.pool(new)) == ((150, 1520), (10, 380))
    assert holdings.holding("fifo_cost", scope=holdings.account) == ("1520",)


def test_what_an_older_program_took_along_is_computed_anew(holdings: Holdings) -> None:
    """It took a fifth of 100/150 of 1,900."""
    holdings.buy(DAY, 50, "900")
    spin_off(holdings, 10, from_quantity="100")
    right = holdings.everything()
    connection = holdings.store.connection
    for wrong in ('outcome = replace(outcome, \'"pool_cost":"1700"\', \'"pool_cost":"1647"\')',):
        connection.execute(f"UPDATE asset_days SET {wrong} WHERE date = ?", (DAY,))
    assert holdings.everything() != right
    (sql,) = [one.sql for one in schema.packaged() if one.name.endswith("_spin_off_original_shares.sql")]
    connection.execute(sql).fetchall()
    connection.execute(sql).fetchall()  # what is marked stays marked once
    assert holdings.store.write(reconciling.compute_outdated, holdings.org_id).holdings == 2
    assert holdings.everything() == right
    assert holdings.store.read(lambda tx: reconciling.stale(tx, BEFORE_ALL, 10), holdings.org_id) == ([], None)
    assert holdings.store.read(lambda tx: reconciling.faults(tx, "", 10), holdings.org_id) == Faults([], [], None)
