"""Entering transactions: where they are refused, what is made beside them, and two of them at once."""

from pathlib import Path
from typing import Any

import msgspec
import pytest
import trio

from gatewayd.areas.assets import AREA
from gatewayd.areas.assets.instruments.shapes import InlineInstrument
from gatewayd.areas.assets.instruments.upserting import find_or_create
from gatewayd.areas.legal_entities.operations import create_legal_entity
from gatewayd.areas.legal_entities.shapes import CreateLegalEntity
from gatewayd.errors import Problem
from gatewayd.ledger.calendar import period_locks
from gatewayd.store import WriteTx
from tests.areas.accounting.books import fields_of
from tests.areas.assets.transactions.broking import Broking, insert_account, insert_portfolio
from tests.support.api import open_api
from tests.support.store import MemoryStore, make_caller


def test_a_closed_account_takes_nothing(broking: Broking) -> None:
    closed = broking.account(status="closed")
    with pytest.raises(Problem) as caught:
        broking.buy(accountId=closed)
    assert caught.value.code == "invalid_state"
    assert caught.value.extra == {"currentState": "closed", "allowedStates": ["open"]}


def test_an_archived_portfolio_takes_nothing(broking: Broking) -> None:
    archived = broking.portfolio(broking.owner, archived_at=1)
    with pytest.raises(Problem) as caught:
        broking.buy(accountId=broking.account(archived))
    assert caught.value.code == "invalid_state"
    assert caught.value.extra["currentState"] == "archived"


def test_an_account_of_holdings_takes_balances_alone(broking: Broking) -> None:
    holdings = broking.account(tracking_mode="holdings")
    with pytest.raises(Problem) as caught:
        broking.buy(accountId=holdings)
    assert fields_of(caught.value) == [("type", "conflict")]
    made = broking.enter("opening_position", "2026-05-01", accountId=holdings, quantity="5", grossAmount="10.00")
    broking.enter("deposit", "2026-05-01", accountId=holdings, instrumentId=None, grossAmount="10.00")
    broking.reverse(made)
    broking.buy()
    with pytest.raises(Problem) as caught:
        broking.enter("transfer_out", "2026-05-02", quantity="5", counterAccountId=holdings)
    assert fields_of(caught.value) == [("counterAccountId", "conflict")]


def close(broking: Broking, entity_id: str, first: str = "2025-04-06", last: str = "2026-04-05") -> None:
    broking.store.write(lambda tx: period_locks.close(tx, entity_id, first, last), broking.org_id)


def test_a_closed_tax_year_takes_nothing(broking: Broking) -> None:
    close(broking, broking.owner)
    with pytest.raises(Problem) as caught:
        broking.buy(date="2026-04-05")
    assert (caught.value.code, caught.value.extra) == ("period_closed", {"date": "2026-04-05", "state": "closed"})
    broking.buy(date="2026-04-06")


def test_a_closed_year_of_the_spouse_is_closed_to_what_is_given(broking: Broking) -> None:
    spouse = broking.entity(name="Ben Oak", vatNumber=None, vat=None)
    theirs = broking.account(broking.portfolio(spouse), spouse)
    broking.buy(date="2026-04-01")
    close(broking, spouse)
    given = {"quantity": "1", "spouseTransfer": True, "counterAccountId": theirs}
    with pytest.raises(Problem, match="period_closed"):
        broking.enter("transfer_out", "2026-04-02", **given)
    made = broking.enter("transfer_out", "2026-04-06", **given)
    close(broking, spouse, "2026-04-06", "2026-04-30")
    with pytest.raises(Problem, match="period_closed"):
        broking.reverse(made)


def test_an_external_id_is_taken_once(broking: Broking) -> None:
    made = broking.buy(externalId="T1")
    for kind in ("buy", "transfer_out"):
        with pytest.raises(Problem) as caught:
            broking.enter(kind, "2026-05-01", quantity="1", grossAmount="1.00", externalId="T1")
        assert (caught.value.code, caught.value.extra["existingId"]) == ("already_exists", made["id"])
    with pytest.raises(Problem, match="already_exists"):
        broking.reverse(made, externalId="T1")
    assert [row["id"] for row in broking.listed()] == [made["id"]]


def test_more_than_is_held_is_not_sold(broking: Broking) -> None:
    broking.buy("100")
    with pytest.raises(Problem) as caught:
        broking.sell("100.000000000001")
    assert (caught.value.code, caught.value.status) == ("insufficient_quantity", 422)
    broking.sell("100")
    with pytest.raises(Problem, match="insufficient_quantity"):
        broking.sell("1", "2026-05-15")  # held then, and sold since
    assert len(broking.listed()) == 2


def test_an_account_that_allows_it_goes_short(broking: Broking) -> None:
    assert broking.sell(accountId=broking.account(allow_short=True))["netAmount"] == "300.00"


def test_what_is_refused_leaves_no_instrument_behind(broking: Broking) -> None:
    with pytest.raises(Problem, match="insufficient_quantity"):
        broking.sell(instrumentId=None, instrument={"name": "Never held"})
    count = broking.store.read(lambda tx: tx.value("SELECT count(1) FROM instruments"), broking.org_id)
    assert count == 2


def test_the_command_line_enters_by_hand(broking: Broking) -> None:
    assert broking.buy()["source"] == "api"
    broking.caller = msgspec.structs.replace(broking.caller, kind="operator")
    assert broking.buy()["source"] == "manual"


def test_another_organizations_account_is_unknown(broking: Broking, store: MemoryStore) -> None:
    other = Broking(store)
    with pytest.raises(Problem) as caught:
        other.buy(accountId=broking.first, instrumentId=broking.vod)
    assert fields_of(caught.value) == [("accountId", "unknown_reference"), ("instrumentId", "unknown_reference")]


async def test_the_last_shares_are_sold_once(database_image: bytes, tmp_path: Path) -> None:
    """Two callers at the same time: the writer takes one after the other, and the second finds nothing left."""
    async with open_api(tmp_path, database_image, AREA.operations) as api:
        ids = await api.store.write(_account, "org_a")
        trade = {**ids, "tradeDate": "2026-05-01", "quantity": "100", "unitPrice": "2"}
        made = await api("POST", "/assets/createTransaction", json={**trade, "type": "buy"})
        assert made.status == 200, made.body
        replies: list[Any] = []

        async def sell() -> None:
            replies.append(await api("POST", "/assets/createTransaction", json={**trade, "type": "sell"}))

        async with trio.open_nursery() as nursery:
            for _ in range(2):
                nursery.start_soon(sell)
        assert sorted(reply.status for reply in replies) == [200, 422]
        assert [reply.code for reply in replies if reply.status == 422] == ["insufficient_quantity"]


def _account(tx: WriteTx) -> dict[str, str]:
    """A person's account and an instrument, in the store of an API."""
    caller = make_caller("org_a")
    person = create_legal_entity(tx, caller, CreateLegalEntity(name="Ann Oak", type="individual"))
    account = insert_account(tx, insert_portfolio(tx, person.id).id, person.id)
    instrument = find_or_create(tx, InlineInstrument(name="Vodafone"), "instrument", "GBP")
    return {"accountId": account.id, "instrumentId": instrument.id}
