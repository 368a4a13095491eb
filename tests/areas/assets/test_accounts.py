"""Accounts with assets: what is made, changed and closed, what is shown, and what is refused."""

from typing import Any

import pytest

from gatewayd.areas.banking.accounts.operations import create_account
from gatewayd.areas.banking.accounts.shapes import CreateAccount
from gatewayd.errors import Problem
from tests.areas.accounting.books import fields_of
from tests.areas.assets import records
from tests.areas.assets.shelves import Shelves
from tests.support.store import MemoryStore


def bank_account(shelves: Shelves, entity_id: str | None) -> str:
    request = CreateAccount(name="Current account", legal_entity_id=entity_id)
    return shelves.store.write(lambda tx: create_account(tx, shelves.caller, request), shelves.org_id).id


def test_a_new_account_is_answered_whole_but_for_its_number(shelves: Shelves) -> None:
    portfolio = shelves.portfolio()
    made = shelves.account(portfolio["id"], accountNumber="ISA-441 7723", taxWrapper="isa", externalId="a-1")
    assert made["id"].startswith("acc_")
    assert (made["legalEntityId"], made["status"]) == (portfolio["legalEntityId"], "open")
    assert (made["accountNumberMasked"], made["taxWrapper"]) == ("******7723", "isa")
    assert (made["trackingMode"], made["allowShort"], made["closedDate"]) == ("transactions", False, None)
    assert "accountNumber" not in made
    (listed,) = shelves.get("listAccounts", "externalId=a-1")[0]
    assert listed == made
    with pytest.raises(Problem) as caught:
        shelves.account(portfolio["id"], externalId="a-1")
    assert caught.value.code == "already_exists"
    other = shelves.account(portfolio["id"])
    with pytest.raises(Problem) as caught:
        shelves.post("updateAccount", id=other["id"], externalId="a-1")
    assert caught.value.code == "already_exists"


def test_a_portfolio_that_is_unknown_or_archived_takes_no_account(shelves: Shelves, store: MemoryStore) -> None:
    for id_ in ("prt_1", Shelves(store).portfolio()["id"]):
        with pytest.raises(Problem) as caught:
            shelves.account(id_)
        assert fields_of(caught.value) == [("portfolioId", "unknown_reference")]
    portfolio = shelves.portfolio()
    shelves.post("archivePortfolio", id=portfolio["id"])
    with pytest.raises(Problem) as caught:
        shelves.account(portfolio["id"])
    assert caught.value.code == "invalid_state"


def test_its_bank_account_is_its_owners(shelves: Shelves, store: MemoryStore) -> None:
    portfolio = shelves.portfolio()
    other = Shelves(store)
    for id_, code in (
        ("bac_1", "unknown_reference"),
        (bank_account(other, None), "unknown_reference"),
        (bank_account(shelves, shelves.person()), "conflict"),
    ):
        with pytest.raises(Problem) as caught:
            shelves.account(portfolio["id"], bankAccountId=id_)
        assert fields_of(caught.value) == [("bankAccountId", code)]
    for owner in (None, portfolio["legalEntityId"]):
        id_ = bank_account(shelves, owner)
        assert shelves.account(portfolio["id"], bankAccountId=id_)["bankAccountId"] == id_


def test_currency_and_wrapper_are_fixed_once_there_are_transactions(shelves: Shelves, store: MemoryStore) -> None:
    made = shelves.account(shelves.portfolio()["id"])
    changed = shelves.post("updateAccount", id=made["id"], currency="USD", taxWrapper="sipp")
    assert (changed["currency"], changed["taxWrapper"]) == ("USD", "sipp")
    store.write(lambda tx: records.transaction(tx, made["id"]), shelves.org_id)
    for fields in ({"currency": "GBP"}, {"taxWrapper": "none"}):
        with pytest.raises(Problem) as caught:
            shelves.post("updateAccount", id=made["id"], **fields)
        assert caught.value.code == "invalid_state"
    assert shelves.post("updateAccount", id=made["id"], currency="USD", name="Dollars")["name"] == "Dollars"


def test_an_account_is_closed_once_it_holds_nothing(shelves: Shelves, store: MemoryStore) -> None:
    made, full = (shelves.account(shelves.portfolio()["id"]) for _ in range(2))
    instrument = shelves.instrument(name="Oak plc")
    store.write(lambda tx: records.holding(tx, full["id"], instrument.id, "5"), shelves.org_id)
    store.write(lambda tx: records.holding(tx, made["id"], instrument.id, "0"), shelves.org_id)
    with pytest.raises(Problem) as caught:
        shelves.post("updateAccount", id=full["id"], status="closed")
    assert caught.value.code == "invalid_state"
    assert instrument.id in caught.value.message
    closed = shelves.post("updateAccount", id=made["id"], status="closed")
    assert (closed["status"], closed["closedDate"]) == ("closed", "2026-11-20")
    assert shelves.post("updateAccount", id=made["id"], closedDate="2026-10-01")["closedDate"] == "2026-10-01"
    back = shelves.post("updateAccount", id=made["id"], status="open")
    assert (back["status"], back["closedDate"]) == ("open", None)


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"closedDate": "2026-10-01"}, "conflict"),
        ({"status": "closed", "closedDate": "2026-11-21"}, "out_of_range"),
        ({"status": "closed", "closedDate": "2026-01-01", "openedDate": "2026-02-01"}, "date_order"),
    ],
)
def test_the_day_of_closing_is_one_of_a_closed_account(shelves: Shelves, fields: dict[str, Any], code: str) -> None:
    made = shelves.account(shelves.portfolio()["id"])
    with pytest.raises(Problem) as caught:
        shelves.post("updateAccount", id=made["id"], **fields)
    assert fields_of(caught.value) == [("closedDate", code)]


def test_an_account_of_an_archived_portfolio_stays_closed(shelves: Shelves) -> None:
    portfolio = shelves.portfolio()
    made = shelves.account(portfolio["id"])
    shelves.post("updateAccount", id=made["id"], status="closed")
    shelves.post("archivePortfolio", id=portfolio["id"])
    with pytest.raises(Problem) as caught:
        shelves.post("updateAccount", id=made["id"], status="open")
    assert caught.value.code == "invalid_state"


def test_short_positions_need_what_allows_them(shelves: Shelves, store: MemoryStore) -> None:
    made = shelves.account(shelves.portfolio()["id"], allowShort=True)
    instrument = shelves.instrument(name="Oak plc")
    store.write(lambda tx: records.holding(tx, made["id"], instrument.id, "-5"), shelves.org_id)
    with pytest.raises(Problem) as caught:
        shelves.post("updateAccount", id=made["id"], allowShort=False)
    assert caught.value.code == "invalid_state"


def test_a_number_has_four_characters(shelves: Shelves) -> None:
    with pytest.raises(Problem) as caught:
        shelves.account(shelves.portfolio()["id"], accountNumber="1 - - 2")
    assert fields_of(caught.value) == [("accountNumber", "invalid_format")]


def test_another_organizations_account_is_not_found(shelves: Shelves, store: MemoryStore) -> None:
    other = Shelves(store)
    theirs = other.account(other.portfolio()["id"])
    with pytest.raises(Problem) as caught:
        shelves.post("updateAccount", id=theirs["id"], name="Mine")
    assert caught.value.code == "not_found"
    with pytest.raises(Problem) as caught:
        shelves.one("getAccount", f"id={theirs['id']}")
    assert caught.value.code == "not_found"


def test_the_list_is_filtered_and_an_old_version_refused(shelves: Shelves) -> None:
    portfolio = shelves.portfolio()
    isa = shelves.account(portfolio["id"], taxWrapper="isa", type="savings")
    general = shelves.account(portfolio["id"])
    shelves.account(shelves.portfolio()["id"])

    def listed(query: str) -> list[str]:
        return [row["id"] for row in shelves.get("listAccounts", query)[0]]

    assert listed(f"portfolioId={portfolio['id']}") == [general["id"], isa["id"]]
    assert listed(f"legalEntityId={portfolio['legalEntityId']}&taxWrapper=isa") == [isa["id"]]
    assert listed("type=savings&status=open") == [isa["id"]]
    assert listed("bankAccountId=bac_none") == []
    assert listed("status=closed") == []
    with pytest.raises(Problem) as caught:
        shelves.post("updateAccount", id=isa["id"], expectedVersion=2)
    assert caught.value.code == "version_conflict"
