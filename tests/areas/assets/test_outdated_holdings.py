"""Days that an older program left wrong: they are found, and computed anew once the database is migrated."""

import msgspec
import pytest
from msgspec.structs import replace

from gatewayd.areas.assets.pools import reconciling
from gatewayd.areas.assets.pools.days import Lots, Outcome
from gatewayd.areas.assets.pools.holding_rows import Key
from gatewayd.areas.assets.pools.reconciling import BEFORE_ALL, Stale
from gatewayd.store.sqlite import schema
from tests.areas.assets.holdings import Holdings

SALE = "2025-06-05"
SPOIL = "UPDATE asset_days SET outcome = ?, fifo_gain = ? WHERE scope_id = ? AND date = ?"
LEFT_BEHIND = Lots(first="2025-06-02", taken="2", cost="0", disposal_cost="400")
"""What the lot of 2025-06-02, bought for 1000 and taken back, left in a sale of 7 behind it, of which 5 cost 100."""


@pytest.fixture
def holdings(holdings: Holdings) -> Holdings:
    """Of three purchases the second was taken back."""
    holdings.buy("2025-06-01", 5, "100")
    taken_back = holdings.buy("2025-06-02", 5, "1000")
    holdings.buy("2025-06-03", 5, "300")
    holdings.sell(SALE, 7, "700")
    holdings.reverse(taken_back)
    return holdings


def spoil(holdings: Holdings, scope: str, date: str, lots: Lots | None, gain: int | None) -> None:
    """Let a day have other lots, and another gain by them."""
    sql = "SELECT outcome FROM asset_days WHERE scope_id = ? AND date = ?"
    (text,) = holdings.store.connection.execute(sql, (scope, date)).fetchone() or ("",)
    outcome = msgspec.json.decode(str(text), type=Outcome)
    changed = replace(outcome, lots=lots or outcome.lots)
    holdings.store.connection.execute(SPOIL, (msgspec.json.encode(changed).decode(), gain, scope, date))


def stale(holdings: Holdings) -> list[Stale]:
    """Two holdings at a time, so that there are several reads."""
    found, after = holdings.store.read(lambda tx: reconciling.stale(tx, BEFORE_ALL, 2), holdings.org_id)
    while after is not None:
        last = after
        more, after = holdings.store.read(lambda tx, last=last: reconciling.stale(tx, last, 2), holdings.org_id)
        found += more
    return found


def migrate_again(holdings: Holdings) -> None:
    """Do what the migration does, to what an older program would have left."""
    (sql,) = [one.sql for one in schema.packaged() if one.name.endswith("_compute_lots_anew.sql")]
    holdings.store.connection.execute(f"DROP TABLE asset_holdings_to_compute; {sql}").fetchall()


def test_lots_that_an_older_program_left_are_mended(holdings: Holdings) -> None:
    right = holdings.everything()
    assert stale(holdings) == []
    spoil(holdings, holdings.account, SALE, LEFT_BEHIND, 300_00)
    holdings.store.connection.execute("UPDATE asset_holdings SET fifo_cost = '0' WHERE fifo_cost IS NOT NULL")
    assert stale(holdings) == [Stale(Key(holdings.account, holdings.share), SALE)]
    migrate_again(holdings)
    assert holdings.store.read(reconciling.organizations_outdated) == [holdings.org_id]
    done = holdings.store.write(reconciling.compute_outdated, holdings.org_id)
    assert done.holdings == 1  # the account's: pools have no lots
    assert holdings.gains(scope=holdings.account, column="fifo_gain") == {SALE: 480_00}  # 700 - 100 - 2/5 x 300
    assert holdings.everything() == right
    assert stale(holdings) == []
    assert holdings.store.read(reconciling.organizations_outdated) == []


def test_what_wrong_lots_have_carried_on_is_mended_too(holdings: Holdings) -> None:
    """The receiver has taken over what the wrong lots cost, and sold of it."""
    receiver = holdings.new_account()
    holdings.transfer("2025-06-06", 2, holdings.account, receiver)
    holdings.sell("2025-06-07", 1, "90", account=receiver)
    right = holdings.everything()
    holdings.write(lambda tx: reconciling.compute_anew(tx, [Key(holdings.account, holdings.share)]))
    assert holdings.everything() == right
    spoil(holdings, holdings.account, SALE, LEFT_BEHIND, 300_00)
    # as if all of the transfer had cost nothing: by lots it cost 2/5 x 300, on average 2/10 x 400
    connection = holdings.store.connection
    carried = "UPDATE asset_days SET {0} = replace({0}, '{1}', '{2}') WHERE scope_id = ? AND date = '2025-06-06'"
    connection.execute(carried.format("outcome", '"lot_cost":"120"', '"lot_cost":"0"'), (holdings.account,))
    connection.execute(carried.format("inputs", '"lot_difference":"40"', '"lot_difference":"-80"'), (receiver,))
    assert holdings.everything() != right
    assert [one.key.scope_id for one in stale(holdings)] == sorted([holdings.account, receiver])
    migrate_again(holdings)
    assert holdings.store.write(reconciling.compute_outdated, holdings.org_id).holdings == 2
    assert holdings.everything() == right


def test_a_gain_is_mended_where_nothing_else_tells_of_it(holdings: Holdings) -> None:
    """A return of capital takes all the cost that is left: what it was is seen in the gain alone."""
    holdings.enter("return_of_capital", "2025-06-06", gross="1000")
    assert holdings.gains(scope=holdings.account, column="fifo_gain")["2025-06-06"] == 820_00  # 1000 - 3/5 x 300
    right = holdings.everything()
    spoil(holdings, holdings.account, "2025-06-06", None, 1000_00)
    assert stale(holdings) == [Stale(Key(holdings.account, holdings.share), "2025-06-06")]
    migrate_again(holdings)
    holdings.store.write(reconciling.compute_outdated, holdings.org_id)
    assert holdings.everything() == right


def test_what_is_left_of_a_holding_is_compared_too(holdings: Holdings) -> None:
    right = holdings.everything()
    holdings.store.connection.execute("UPDATE asset_holdings SET quantity = '4' WHERE fifo_cost IS NULL")
    pool = Key(holdings.person, holdings.share)
    assert stale(holdings) == [Stale(pool, "")]
    holdings.write(lambda tx: reconciling.compute_anew(tx, [pool, Key(pool.scope_id, "ins_none")]))
    assert holdings.everything() == right
