"""Days, splits, cash and income beside the transactions that bring them: what somebody changed by hand is found."""

from fractions import Fraction

import pytest

from gatewayd.areas.assets.pools import cash, income_years, reconciling
from gatewayd.areas.assets.pools.reconciling import BEFORE_ALL, Faults
from gatewayd.money import Money
from tests.areas.assets.holdings import Holdings

THREE = '{"numerator":3,"denominator":1}'
CHANGES = {
    "quantity": "quantity = '31'",
    "gross_amount": "gross_amount = gross_amount + 1",
    "fees": "fees = fees + 1",
    "taxes": "taxes = taxes + 1",
    "fx_rate": "fx_rate = '1.000000000001'",
    "trade_date": "trade_date = '2025-06-02'",
    "type": "type = 'opening_position'",
    "reversed": "reversed_by_id = id",
}


def found(holdings: Holdings) -> Faults:
    """One instrument at a time, so that there are several reads."""
    days, splits = [], []
    last: str | None = ""
    while last is not None:
        after = last
        faults = holdings.store.read(lambda tx, after=after: reconciling.faults(tx, after, 1), holdings.org_id)
        days += faults.days
        splits += faults.splits
        last = faults.last
    return Faults(days, splits, None)


def where(holdings: Holdings) -> set[tuple[str, str, str]]:
    """Scope, instrument and date of each day that differs."""
    return {(*one.key, one.stored.date) for one in found(holdings).days}


def mend(holdings: Holdings) -> None:
    holdings.write(lambda tx: reconciling.enter_anew(tx, reconciling.faults(tx, "", 100)))
    assert found(holdings) == Faults([], [], None)
    stale, _ = holdings.store.read(lambda tx: reconciling.stale(tx, BEFORE_ALL, 100), holdings.org_id)
    assert stale == []


def run(holdings: Holdings, sql: str, *values: object) -> None:
    holdings.store.connection.execute("PRAGMA foreign_keys = OFF")
    assert holdings.store.connection.execute(f"{sql} RETURNING 1", values).fetchall()


@pytest.fixture
def bought(holdings: Holdings) -> str:
    """A purchase between others; some is sold."""
    holdings.buy("2025-05-01", 10, "100")
    id_ = holdings.buy("2025-06-01", 30, "300", fees="5", taxes="1.50")
    holdings.sell("2025-07-01", 7, "90")
    return id_


@pytest.mark.parametrize("change", CHANGES)
def test_a_transaction_that_was_changed_is_found(change: str, holdings: Holdings, bought: str) -> None:
    """On its day, and on that to which it was moved, of the account and of the pool."""
    assert found(holdings) == Faults([], [], None)
    run(holdings, f"UPDATE asset_transactions SET {CHANGES[change]} WHERE id = ?", bought)
    days = {"2025-06-01", "2025-06-02"} if change == "trade_date" else {"2025-06-01"}
    scopes = (holdings.account, holdings.person)
    assert where(holdings) == {(scope, holdings.share, day) for scope in scopes for day in days}
    mend(holdings)


def test_what_is_mended_is_what_the_changed_transaction_gives(holdings: Holdings, bought: str) -> None:
    """10 at 100 and 20 at 306.50 beside them, of which 7 are sold."""
    run(holdings, "UPDATE asset_transactions SET quantity = '20' WHERE id = ?", bought)
    mend(holdings)
    assert holdings.pool() == (23, Fraction("406.50") * 23 / 30)


def test_a_transaction_that_was_deleted_is_found(holdings: Holdings, bought: str) -> None:
    run(holdings, "DELETE FROM asset_transactions WHERE id = ?", bought)
    assert {date for _, _, date in where(holdings)} == {"2025-06-01"}
    mend(holdings)
    assert holdings.pool() == (3, 30)


@pytest.mark.parametrize("scope", ["account", "person"])
@pytest.mark.parametrize("old", ['"acquired":"30"', '"acquired_cost":"306.5"', '"transactions":1'])
def test_an_input_that_was_changed_is_found_and_mended(old: str, scope: str, holdings: Holdings, bought: str) -> None:
    right, changed = holdings.everything(), getattr(holdings, scope)
    new = old.replace("3", "4") if "3" in old else '"transactions":2'
    sql = "UPDATE asset_days SET inputs = replace(inputs, ?, ?) WHERE scope_id = ? AND date = '2025-06-01'"
    run(holdings, sql, old, new, changed)
    assert holdings.everything() != right
    assert where(holdings) == {(changed, holdings.share, "2025-06-01")}
    mend(holdings)
    assert holdings.everything() == right


@pytest.mark.parametrize("table", ["asset_days", "asset_holdings"])
def test_a_row_that_was_deleted_is_found_and_mended(table: str, holdings: Holdings, bought: str) -> None:
    right = holdings.everything()
    run(holdings, f"DELETE FROM {table} WHERE scope_id = ?", holdings.account)
    days = {"2025-05-01", "2025-06-01", "2025-07-01"} if table == "asset_days" else {"2025-05-01"}
    assert where(holdings) == {(holdings.account, holdings.share, day) for day in days}
    mend(holdings)
    assert holdings.everything() == right


def test_what_is_carried_along_is_reckoned_too(holdings: Holdings, bought: str) -> None:
    """A gift, a merger of all that is held, and a spin-off of it; then what the receivers took over is changed."""
    spouse, new, newest = holdings.entity("individual"), holdings.instrument(), holdings.instrument()
    theirs = holdings.new_account(holdings.new_portfolio(spouse))
    holdings.transfer("2025-07-02", 3, holdings.account, theirs, spouse_transfer=True)
    holdings.transfer("2025-07-03", 2, holdings.account, holdings.new_account())
    holdings.enter("merger", "2025-08-01", 15, instrument=new, from_instrument_id=holdings.share)
    given = {"from_instrument_id": new, "cost_share": "0.25"}
    holdings.enter("spin_off", "2025-09-01", 5, instrument=newest, **given)
    assert found(holdings) == Faults([], [], None)
    right = holdings.everything()
    for scope, instrument, date, name in (
        (theirs, holdings.share, "2025-07-02", "acquired_cost"),
        (spouse, holdings.share, "2025-07-02", "acquired_cost"),
        (holdings.account, new, "2025-08-01", "added_cost"),
        (holdings.person, newest, "2025-09-01", "added_cost"),
    ):
        sql = f"""
        UPDATE asset_days SET inputs = replace(inputs, '"{name}":"', '"{name}":"1')
        WHERE scope_id = ? AND instrument_id = ? AND date = ?
        """
        run(holdings, sql, scope, instrument, date)
        assert (scope, instrument, date) in where(holdings)
        mend(holdings)
        assert holdings.everything() == right


def test_what_an_account_held_as_a_merger_was_entered_stays(holdings: Holdings, bought: str) -> None:
    """Of 33 all went; what is entered for an earlier day afterwards stays behind, and is no fault."""
    holdings.enter("merger", "2025-08-01", 15, instrument=holdings.instrument(), from_instrument_id=holdings.share)
    holdings.buy("2025-05-02", 4, "40")
    assert found(holdings) == Faults([], [], None)
    run(holdings, "UPDATE asset_transactions SET quantity = '31' WHERE id = ?", bought)
    mend(holdings)
    assert holdings.pool()[0] == 5


def test_splits_that_were_changed_are_found_and_mended(holdings: Holdings, bought: str) -> None:
    holdings.split("2025-06-10", 2)
    right = holdings.everything()
    run(holdings, "UPDATE instruments SET splits = '[]' WHERE id = ?", holdings.share)
    assert found(holdings).splits == [holdings.share]
    mend(holdings)
    assert holdings.everything() == right
    run(
        holdings,
        "UPDATE asset_transactions SET split_ratio = ? WHERE type = 'split'",
        '{"numerator":3,"denominator":1}',
    )
    assert found(holdings).splits == [holdings.share]
    mend(holdings)
    assert holdings.pool()[0] == 113  # 3 x 40 - 7


def test_splits_that_contradict_each_other_are_found(holdings: Holdings, bought: str) -> None:
    first = holdings.split("2025-06-10", 2)
    holdings.split("2025-06-10", 2, account=holdings.new_account())
    assert found(holdings).splits == []
    run(
        holdings, "UPDATE asset_transactions SET split_ratio = ? WHERE id = ?", '{"numerator":3,"denominator":1}', first
    )
    assert found(holdings).splits == [holdings.share]


def test_cash_and_income_that_were_changed_are_found_and_mended(holdings: Holdings) -> None:
    paid = {"gross": "12.50", "net_amount": "12.50", "taxes": "0.50"}
    holdings.enter("dividend", "2025-05-01", **paid)
    holdings.reverse(holdings.enter("dividend", "2025-05-02", gross="7"))

    def faults() -> tuple[dict[tuple[str, str], int], list[tuple[str, int]]]:
        read = holdings.store.read
        return dict(read(cash.missing, holdings.org_id)), read(income_years.missing, holdings.org_id)

    assert faults() == ({}, [])
    run(holdings, "UPDATE asset_cash SET balance = balance + 1 WHERE account_id = ?", holdings.account)
    for column in ("events", "gross", "gross_base", "taxes"):
        run(holdings, f"UPDATE asset_income_years SET {column} = {column} + 1 WHERE account_id = ?", holdings.account)
        assert faults() == ({(holdings.account, "GBP"): -1}, [(holdings.account, 2025)])
        holdings.write(income_years.add_missing)
        assert faults() == ({(holdings.account, "GBP"): -1}, [])
    holdings.write(cash.add_missing)
    assert faults() == ({}, [])
    assert holdings.store.read(lambda tx: cash.balances(tx, holdings.account), holdings.org_id) == [Money(1250, "GBP")]
