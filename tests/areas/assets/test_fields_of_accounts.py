"""Each field of an account and of a portfolio: kept as it was given, and changed alone."""

import pytest

from gatewayd.clock import DAY
from gatewayd.errors import Problem
from tests.areas.accounting.books import fields_of
from tests.areas.assets.shelves import Shelves
from tests.areas.changes import expect_change
from tests.ledger.bank_books import insert_account

WHOLE = {"institutionName": "Elm Brokers", "openedDate": "2024-02-29", "trackingMode": "holdings"}
CHANGES: dict[str, object] = {
    "type": "savings",
    "institutionName": "Ash Brokers",
    "openedDate": None,
    "trackingMode": "transactions",
}


def test_an_account_is_kept_as_it_was_given(shelves: Shelves) -> None:
    made = shelves.account(shelves.portfolio()["id"], **WHOLE)
    assert {name: made[name] for name in WHOLE} == WHOLE
    (listed,) = shelves.get("listAccounts")[0]
    assert listed == made


@pytest.mark.parametrize("name", CHANGES)
def test_a_field_changes_alone(shelves: Shelves, name: str) -> None:
    before = shelves.account(shelves.portfolio()["id"], **WHOLE)
    expect_change(
        before, shelves.post("updateAccount", id=before["id"], **{name: CHANGES[name]}), **{name: CHANGES[name]}
    )


def test_another_number_is_shown_by_its_end(shelves: Shelves) -> None:
    before = shelves.account(shelves.portfolio()["id"], accountNumber="ISA-441 7723")
    after = shelves.post("updateAccount", id=before["id"], accountNumber="998 8112")
    assert (before["accountNumberMasked"], after["accountNumberMasked"]) == ("******7723", "***8112")
    assert shelves.post("updateAccount", id=before["id"], accountNumber=None)["accountNumberMasked"] is None


def test_another_bank_account_is_its_owners_too(shelves: Shelves) -> None:
    owner = shelves.person()
    own, foreign = (
        shelves.store.write(lambda tx, of=of: insert_account(tx, of), shelves.org_id)
        for of in (owner, shelves.company())
    )
    account = shelves.account(shelves.portfolio(owner)["id"])
    assert shelves.post("updateAccount", id=account["id"], bankAccountId=own)["bankAccountId"] == own
    assert [row["id"] for row in shelves.get("listAccounts", f"bankAccountId={own}")[0]] == [account["id"]]
    with pytest.raises(Problem) as caught:
        shelves.post("updateAccount", id=account["id"], bankAccountId=foreign)
    assert fields_of(caught.value) == [("bankAccountId", "conflict")]


def test_accounts_come_page_by_page_and_by_what_changed(shelves: Shelves) -> None:
    portfolio = shelves.portfolio()["id"]
    made = [shelves.account(portfolio, name=f"Account {n}") for n in range(3)]
    page, cursor = shelves.get("listAccounts", "limit=2")
    assert (len(page), cursor is not None) == (2, True)
    assert [one["id"] for one in shelves.walk("listAccounts", "limit=2")] == [one["id"] for one in reversed(made)]
    shelves.store.clock.advance(DAY)
    shelves.post("updateAccount", id=made[0]["id"], name="Other")
    (changed,), _ = shelves.get("listAccounts", "updatedSince=2026-11-21T00:00:00Z")
    assert (changed["id"], changed["name"]) == (made[0]["id"], "Other")


def test_the_description_of_a_portfolio(shelves: Shelves) -> None:
    before = shelves.portfolio(description="For later")
    assert before["description"] == "For later"
    shelves.store.clock.advance(DAY)
    after = shelves.post("updatePortfolio", id=before["id"], description="For now")
    expect_change(before, after, description="For now")
    other = shelves.portfolio()
    listed, _ = shelves.get("listPortfolios", "updatedSince=2026-11-21T00:00:00Z")
    assert [one["id"] for one in listed] == [before["id"], other["id"]]
    assert shelves.post("updatePortfolio", id=before["id"], description=None)["description"] is None


def test_portfolios_that_did_not_change_since_are_left_out(shelves: Shelves) -> None:
    shelves.portfolio()
    assert shelves.get("listPortfolios", "updatedSince=2026-11-21T00:00:00Z")[0] == []
