"""What holds after any sequence of requests: cash is what the transactions say, nothing is short, and back is back."""

from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gatewayd.areas.assets.pools.exact import quantity_of
from gatewayd.errors import Problem
from tests.areas.assets.transactions.broking import Broking, Json
from tests.support.store import MemoryStore

REFUSALS = {"insufficient_quantity", "invalid_state", "validation_failed"}
_SELECT_HELD = "SELECT quantity FROM asset_holdings WHERE org_id = :org_id AND portfolio_id IS NOT NULL"
_SELECT_LEFT = """
SELECT (SELECT count(1) FROM asset_days WHERE org_id = :org_id),
    (SELECT count(1) FROM asset_holdings WHERE org_id = :org_id AND (is_open = 1 OR cost <> '0')),
    (SELECT count(1) FROM asset_cash WHERE org_id = :org_id AND balance <> 0),
    (SELECT count(1) FROM instruments WHERE org_id = :org_id AND splits <> '[]')
"""

dates = st.integers(1, 28).map(lambda day: f"2026-05-{day:02}")
numbers = st.decimals("0.001", 500, places=3).map(lambda number: f"{number:f}")
amounts = st.decimals(0, 9999, places=2).map(lambda number: f"{number:f}")
accounts = st.sampled_from(["first", "second", "isa"])
instruments = st.sampled_from(["vod", "aapl"])
trades = st.fixed_dictionaries(
    {
        "type": st.sampled_from(
            ["buy", "buy", "sell", "opening_position", "rights_issue", "stock_dividend", "transfer_in", "transfer_out"]
        ),
        "accountId": accounts,
        "instrumentId": instruments,
        "tradeDate": dates,
        "quantity": numbers,
        "grossAmount": amounts,
    },
    optional={"fees": amounts, "counterAccountId": accounts},
)
others = st.fixed_dictionaries(
    {
        "type": st.sampled_from(["dividend", "interest", "return_of_capital", "equalisation", "fee", "deposit"]),
        "accountId": accounts,
        "tradeDate": dates,
        "grossAmount": amounts,
    },
    optional={"instrumentId": instruments},
)
happenings = st.fixed_dictionaries(
    {
        "type": st.sampled_from(["split", "bonus_issue", "spin_off", "merger"]),
        "accountId": accounts,
        "tradeDate": dates,
    },
)
requests = st.one_of(trades, trades, others, happenings, st.integers(0, 20))  # a number: reverse that one


def completed(broking: Broking, request: Json) -> Json:
    """The request with ids in the place of names, and with what its type needs."""
    values = {name: getattr(broking, value, value) for name, value in request.items() if name.endswith("Id")}
    values = {**request, **values}
    kind = request["type"]
    if kind == "split":
        values |= {"instrumentId": broking.vod, "splitRatio": {"numerator": 3, "denominator": 2}}
    elif kind == "bonus_issue":
        values |= {"instrumentId": broking.vod, "quantity": "7"}
    elif kind == "spin_off":
        values |= {"instrumentId": broking.aapl, "fromInstrumentId": broking.vod, "quantity": "5", "costShare": "0.25"}
    elif kind == "merger":
        values |= {"instrumentId": broking.aapl, "fromInstrumentId": broking.vod, "quantity": "9"}
    if values.get("instrumentId") == broking.aapl and "grossAmount" in values:
        values["fxRate"] = "0.78"
    if kind not in ("transfer_in", "transfer_out"):
        values.pop("counterAccountId", None)
    if kind in ("opening_position", "stock_dividend"):
        values.pop("fees", None)
    return values


def attempt(broking: Broking, **values: Any) -> Json | None:
    """The transaction that was made; None where it was refused for a reason that is one."""
    try:
        return broking.post("createTransaction", **values)
    except Problem as problem:
        if problem.code not in REFUSALS:
            raise
        return None


def is_whole(broking: Broking) -> None:
    assert broking.cash() == broking.net()
    held = broking.store.read(lambda tx: tx.rows(_SELECT_HELD), broking.org_id)
    assert [text for (text,) in held if quantity_of(text) < 0] == []


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(requests, min_size=1, max_size=14))
def test_whatever_is_asked_the_books_are_whole(database_image: bytes, asked: list[Any]) -> None:
    broking = Broking(MemoryStore(database_image))
    made: list[Json] = []
    for request in asked:
        if not isinstance(request, int):
            done = attempt(broking, **completed(broking, request))
            made += [] if done is None else [done]
        elif made:
            attempt(broking, **reversal(made[request % len(made)]))
        is_whole(broking)
    take_everything_back(broking)
    left = broking.store.read(lambda tx: tx.row(_SELECT_LEFT), broking.org_id)
    assert left == (0, 0, 0, 0)
    assert broking.listed("limit=500") == []
    broking.store.close()


def reversal(made: Json) -> Json:
    named = {name: made[name] for name in ("accountId", "tradeDate")}
    return {**named, "type": "reversal", "reversesTransactionId": made["id"]}


def take_everything_back(broking: Broking) -> None:
    """Reverse all that stands, as often over as it needs: what was sold has to be given back before what was bought."""
    standing = broking.listed("limit=500")
    while standing:
        for row in standing:
            attempt(broking, **reversal(row))
            is_whole(broking)
        left = broking.listed("limit=500")
        assert len(left) < len(standing), "nothing more can be reversed"
        standing = left
