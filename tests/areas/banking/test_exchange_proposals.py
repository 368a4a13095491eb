"""Proposals of transfers between own accounts in two currencies: told with their rate, and never done by themselves."""

from typing import Any

import pytest

from gatewayd.cli.books import matching
from tests.areas.banking.conftest import Trading
from tests.areas.banking.test_proposals import proposed


def euros(trading: Trading, amount: int, date: str = "2026-11-02", **fields: object) -> str:
    account = fields.pop("account", None) or trading.account(trading.owner, currency="EUR")
    return trading.line(str(account), amount, date=date, currency="EUR", match_key="", **fields)


def pounds(trading: Trading, amount: int, **fields: object) -> str:
    return trading.line(trading.current, amount, **{"match_key": "", **fields})


def transfers(trading: Trading, line: str) -> list[dict[str, Any]]:
    return [one for one in proposed(trading, line) if one["kind"] == "transfer"]


def test_both_amounts_and_the_rate_are_told(trading: Trading) -> None:
    out = pounds(trading, -100000, type="transfer")
    into = euros(trading, 117000, "2026-11-04")
    (found,) = transfers(trading, out)
    assert (found["counterpartId"], found["amount"], found["currency"]) == (into, "1000.00", "GBP")
    assert (found["counterpartAmount"], found["counterpartCurrency"]) == ("1170.00", "EUR")
    assert (found["impliedRate"], found["score"]) == ("1.17", 34)
    assert found["reason"] == (
        "1170.00 EUR came into another of your accounts, 2 days apart: 1 GBP would be 1.17 EUR;"
        " one of both says that it is a transfer."
    )
    (back,) = transfers(trading, into)
    assert (back["counterpartId"], back["impliedRate"]) == (out, "0.854701")


def test_what_the_bank_wrote_is_surer(trading: Trading) -> None:
    out = pounds(trading, -100000)
    into = euros(trading, 117000)
    write = "UPDATE bank_transactions SET original_amount = -117000, original_currency = 'EUR' WHERE id = :id"
    trading.write(lambda tx: tx.run(write, id=out))
    for line, other in ((out, into), (into, out)):
        (found,) = transfers(trading, line)
        assert (found["counterpartId"], found["score"]) == (other, 80)


def test_the_rate_of_the_last_one_is_a_sign_either_way(trading: Trading) -> None:
    account = trading.account(trading.owner, currency="EUR")
    before = pounds(trading, -100000, date="2026-09-01"), euros(trading, 117000, "2026-09-01", account=account)
    trading.post("matchTransfer", bankTransactionId=before[0], counterpartId=before[1])
    near = euros(trading, 60000, account=account)
    out = pounds(trading, -50000, type="transfer")  # 1.20, less than 5 % from 1.17
    (found,) = transfers(trading, out)
    assert (found["counterpartId"], found["score"]) == (near, 66)
    assert transfers(trading, pounds(trading, -40000, type="transfer")) == []  # 1.50


def test_two_that_could_be_it_are_less_sure(trading: Trading) -> None:
    out = pounds(trading, -100000, type="transfer")
    both = {euros(trading, 117000), euros(trading, 118000)}
    found = transfers(trading, out)
    assert {one["counterpartId"] for one in found} == both
    assert {one["score"] for one in found} == {15}


@pytest.mark.parametrize("why", ["nothing says so", "same way", "six days", "another owner", "allocated"])
def test_what_is_no_other_end(trading: Trading, why: str) -> None:
    out = pounds(trading, -100000, type="card" if why == "nothing says so" else "transfer")
    amount = -117000 if why == "same way" else 117000
    owner = trading.unregistered_entity(name="Elm") if why == "another owner" else trading.owner
    account = trading.account(owner, currency="EUR")
    into = euros(trading, amount, "2026-11-08" if why == "six days" else "2026-11-02", account=account)
    if why == "allocated":
        trading.part(into, "not_pnl", purpose="deposit", amount="1.00")
    assert transfers(trading, out) == []


async def test_match_does_not_apply_it(trading: Trading) -> None:
    out = pounds(trading, -100000, type="transfer")
    euros(trading, 117000)
    (line,), _ = trading.get("listProposals", f"bankTransactionId={out}")

    async def perform(operation: Any, values: Any) -> Any:
        assert operation.id == "banking.listProposals"
        return {"data": [line], "nextCursor": None}

    (found,) = await matching.matched(perform, {"bankTransactionId": out}, 50, 1)
    assert found["applied"] is None
    assert "two currencies" in found["refusal"]
