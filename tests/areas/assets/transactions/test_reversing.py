"""Reversals: of the opposite effect on the same date, once, and then as if it had never been."""

import pytest

from gatewayd.errors import Problem
from tests.areas.accounting.books import fields_of
from tests.areas.assets.transactions.broking import Broking


def test_a_reversal_has_the_opposite_effect_on_the_same_date(broking: Broking) -> None:
    made = broking.buy(fees="5.95", externalId="T1")
    reversal = broking.reverse(made, externalId="T2", notes="Entered twice")
    assert (made["netAmount"], reversal["netAmount"]) == ("-205.95", "205.95")
    assert (reversal["type"], reversal["tradeDate"], reversal["externalId"]) == ("reversal", made["tradeDate"], "T2")
    assert (reversal["reversesTransactionId"], reversal["notes"]) == (made["id"], "Entered twice")
    for name in ("instrumentId", "quantity", "unitPrice", "grossAmount", "fees", "currency", "fxRate", "grossBase"):
        assert reversal[name] == made[name], name
    assert broking.cash() == broking.net() == {}
    rows = {row["id"]: row for row in broking.listed("includeReversed=true")}
    assert rows[made["id"]]["reversedById"] == reversal["id"]
    assert (rows[made["id"]]["version"], rows[reversal["id"]]["version"]) == (2, 1)


def test_it_is_reversed_once_and_a_reversal_never(broking: Broking) -> None:
    made = broking.buy()
    reversal = broking.reverse(made)
    for one, state in ((made, "reversed"), (reversal, "reversal")):
        with pytest.raises(Problem) as caught:
            broking.reverse(one)
        assert (caught.value.code, caught.value.extra["currentState"]) == ("invalid_state", state)
    broking.buy()  # entered anew, as it should have been


def test_it_names_account_and_date_of_what_it_reverses(broking: Broking) -> None:
    made = broking.buy()
    with pytest.raises(Problem) as caught:
        broking.reverse(made, accountId=broking.second, tradeDate="2026-05-02", quantity="100")
    assert set(fields_of(caught.value)) == {
        ("accountId", "conflict"),
        ("tradeDate", "conflict"),
        ("quantity", "conflict"),
    }
    with pytest.raises(Problem) as caught:
        broking.reverse({**made, "id": "txn_none"}, accountId="acc_none")
    assert set(fields_of(caught.value)) == {
        ("accountId", "unknown_reference"),
        ("reversesTransactionId", "unknown_reference"),
    }


def test_what_was_sold_since_stays_bought(broking: Broking) -> None:
    made = broking.buy("100")
    sold = broking.sell("60")
    with pytest.raises(Problem, match="insufficient_quantity"):
        broking.reverse(made)
    assert broking.listed("includeReversed=true")[1]["reversedById"] is None
    broking.reverse(sold)
    broking.reverse(made)
    assert broking.listed() == []


@pytest.mark.parametrize("which", [0, 1])
def test_both_halves_of_a_transfer_go_together(broking: Broking, which: int) -> None:
    broking.buy("100")
    made = broking.enter(
        "transfer_out", "2026-05-02", counterAccountId=broking.second, quantity="40", fees="1.00", notes="Moved"
    )
    rows = {row["id"]: row for row in broking.listed()}
    asked = rows[(made["id"], made["linkedTransactionId"])[which]]
    reversal = broking.reverse(asked)
    rows = {row["id"]: row for row in broking.listed("includeReversed=true")}
    other = rows[reversal["linkedTransactionId"]]
    assert (other["linkedTransactionId"], other["type"]) == (reversal["id"], "reversal")
    assert {reversal["reversesTransactionId"], other["reversesTransactionId"]} == {
        made["id"],
        made["linkedTransactionId"],
    }
    assert all(rows[id_]["reversedById"] is not None for id_ in (made["id"], made["linkedTransactionId"]))
    broking.sell("100")
    with pytest.raises(Problem, match="insufficient_quantity"):
        broking.sell("1", accountId=broking.second)
    assert broking.cash() == broking.net()


def test_nothing_is_reversed_in_an_account_that_is_closed(broking: Broking) -> None:
    made = broking.buy("100")
    broking.change_account(broking.first, status="closed")
    with pytest.raises(Problem, match="invalid_state"):
        broking.reverse(made)
