"""Transfers between two accounts: one request makes both halves, where there can be one at all."""

import pytest

from gatewayd.errors import Problem
from tests.areas.accounting.books import fields_of
from tests.areas.assets.transactions.broking import Broking, Json


def spouse_account(broking: Broking, **fields: object) -> str:
    spouse = broking.entity(name="Ben Oak", vatNumber=None, vat=None)
    return broking.account(broking.portfolio(spouse), spouse, **fields)


def halves(broking: Broking, made: Json) -> tuple[Json, Json]:
    rows = {row["id"]: row for row in broking.listed("type=transfer_in&type=transfer_out&includeReversed=true")}
    return rows[made["id"]], rows[made["linkedTransactionId"]]


@pytest.mark.parametrize(("kind", "other"), [("transfer_out", "transfer_in"), ("transfer_in", "transfer_out")])
def test_one_request_makes_both_halves(broking: Broking, kind: str, other: str) -> None:
    ends = (broking.first, broking.second) if kind == "transfer_out" else (broking.second, broking.first)
    broking.buy("100")
    made = broking.enter(
        kind, "2026-05-02", accountId=ends[0], counterAccountId=ends[1], quantity="40", fees="25.00", externalId="T1"
    )
    asked, half = halves(broking, made)
    assert (asked["type"], asked["accountId"], asked["counterAccountId"]) == (kind, *ends)
    assert (half["type"], half["accountId"], half["counterAccountId"]) == (other, ends[1], ends[0])
    assert (asked["linkedTransactionId"], half["linkedTransactionId"]) == (half["id"], asked["id"])
    assert (asked["externalId"], half["externalId"]) == ("T1", None)
    assert (asked["netAmount"], half["netAmount"], half["fees"]) == ("-25.00", "0.00", "0.00")
    assert (asked["quantity"], half["quantity"]) == ("40", "40")
    broking.sell("40", accountId=broking.second)
    with pytest.raises(Problem, match="insufficient_quantity"):
        broking.sell("61", accountId=broking.first)


def test_more_than_is_held_is_not_transferred(broking: Broking) -> None:
    broking.buy("100")
    with pytest.raises(Problem, match="insufficient_quantity"):
        broking.enter("transfer_out", "2026-05-02", counterAccountId=broking.second, quantity="101")
    assert len(broking.listed()) == 1


@pytest.mark.parametrize("direction", ["in", "out"])
def test_a_wrapper_is_entered_and_left_at_what_it_is_worth(broking: Broking, direction: str) -> None:
    of = {"in": (broking.first, broking.isa), "out": (broking.isa, broking.first)}[direction]
    broking.buy("100", accountId=of[0])
    values = {"accountId": of[0], "counterAccountId": of[1], "quantity": "40"}
    with pytest.raises(Problem) as caught:
        broking.enter("transfer_out", "2026-05-02", **values)
    assert fields_of(caught.value) == [("grossAmount", "required")]
    made = broking.enter("transfer_out", "2026-05-02", **values, grossAmount="120.00")
    assert [half["grossAmount"] for half in halves(broking, made)] == ["120.00", "120.00"]
    assert [half["netAmount"] for half in halves(broking, made)] == ["0.00", "0.00"]


def test_between_wrappers_nothing_has_to_be_worth_anything(broking: Broking) -> None:
    other = broking.account(tax_wrapper="isa")
    broking.buy("100", accountId=broking.isa)
    broking.enter("transfer_out", "2026-05-02", accountId=broking.isa, counterAccountId=other, quantity="40")
    broking.sell("40", accountId=other)


def test_to_the_spouse_it_goes_with_one_request(broking: Broking) -> None:
    theirs = spouse_account(broking)
    broking.buy("100")
    made = broking.enter("transfer_out", "2026-05-02", counterAccountId=theirs, quantity="40", spouseTransfer=True)
    asked, half = halves(broking, made)
    assert (asked["spouseTransfer"], half["spouseTransfer"]) == (True, True)
    assert asked["legalEntityId"] != half["legalEntityId"]
    broking.sell("40", accountId=theirs)


def test_a_transfer_alone_says_what_it_is_worth_unless_it_goes_to_the_spouse(broking: Broking) -> None:
    broking.enter("transfer_in", "2026-05-01", quantity="100", grossAmount="150.00", spouseTransfer=True)
    made = broking.enter("transfer_out", "2026-05-02", quantity="40", spouseTransfer=True)
    assert (made["grossAmount"], made["counterAccountId"], made["linkedTransactionId"]) == (None, None, None)
    with pytest.raises(Problem) as caught:
        broking.enter("transfer_out", "2026-05-02", quantity="40")
    assert fields_of(caught.value) == [("grossAmount", "required")]
    with pytest.raises(Problem) as caught:
        broking.enter("transfer_in", "2026-05-02", quantity="40", spouseTransfer=True)
    assert fields_of(caught.value) == [("grossAmount", "required")]


def refused(broking: Broking, **fields: object) -> list[tuple[str, str]]:
    with pytest.raises(Problem) as caught:
        broking.enter("transfer_out", "2026-05-02", **{"quantity": "1", **fields})
    return fields_of(caught.value)


def test_accounts_between_which_nothing_can_be_transferred(broking: Broking) -> None:
    broking.buy()
    theirs, wrapped = spouse_account(broking), spouse_account(broking, tax_wrapper="isa")
    company = broking.entity(name="Oak Ltd", type="limited_company", companyNumber="09876543", vatNumber=None, vat=None)
    of_company = broking.account(broking.portfolio(company), company)
    in_dollars = broking.account(broking.portfolio(broking.owner, "USD"))
    conflict = [("counterAccountId", "conflict")]
    assert refused(broking, counterAccountId=broking.first) == conflict
    assert refused(broking, counterAccountId=theirs) == conflict
    assert refused(broking, counterAccountId=wrapped, spouseTransfer=True) == conflict
    assert refused(broking, counterAccountId=of_company, spouseTransfer=True) == conflict
    assert refused(broking, counterAccountId=in_dollars) == [("counterAccountId", "currency_mismatch")]
    assert refused(broking, counterAccountId="acc_none") == [("counterAccountId", "unknown_reference")]
    assert refused(broking, counterAccountId=broking.second, spouseTransfer=True) == [("spouseTransfer", "conflict")]
    assert refused(broking, accountId=of_company, spouseTransfer=True) == [("spouseTransfer", "conflict")]
    closed = broking.account(status="closed")
    with pytest.raises(Problem, match="invalid_state"):
        broking.enter("transfer_out", "2026-05-02", quantity="1", counterAccountId=closed)
    assert len(broking.listed()) == 1
