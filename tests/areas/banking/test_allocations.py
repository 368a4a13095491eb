"""Allocations through the API: what is asked, what is answered, what is refused."""

import datetime
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from gatewayd.areas.banking.allocations.operations import list_allocations
from gatewayd.errors import Problem
from gatewayd.ledger.allocating import allocations
from gatewayd.ledger.calendar import period_locks
from gatewayd.store import ReadTx
from tests.areas.accounting.books import fields_of
from tests.areas.banking.conftest import Trading
from tests.support.store import MemoryStore


def refused(act: Callable[..., Any], *arguments: Any, **fields: Any) -> Problem:
    with pytest.raises(Problem) as caught:
        act(*arguments, **fields)
    return caught.value


def close(trading: Trading) -> None:
    trading.write(lambda tx: period_locks.close(tx, trading.owner, "2026-11-01", "2026-11-30"))


# -- allocate


def test_an_allocation_is_answered_whole(trading: Trading) -> None:
    line = trading.line(trading.current, -12000)
    answer = trading.post(
        "allocate",
        bankTransactionId=line,
        parts=[
            {
                "category": "carVanTravelExpenses",
                "amount": "100",
                "vatAmount": "16.67",
                "disallowableAmount": "25",
                "documentDate": "2026-10-30",
                "description": "Fuel",
            }
        ],
    )
    (row,) = answer.pop("allocations")
    assert answer == {"bankTransactionId": line, "currency": "GBP", "unallocatedAmount": "-20.00", "warnings": []}
    assert row == {
        "id": row["id"],
        "sourceType": "bank",
        "sourceId": line,
        "importId": "imp_1",
        "legalEntityId": trading.owner,
        "businessId": trading.trade,
        **dict.fromkeys(
            ("externalId", "propertyId", "unitId", "tenancyId", "mortgageId", "invoiceId", "billId", "counterpartId")
        ),
        "date": "2026-11-02",
        "documentDate": "2026-10-30",
        "direction": "out",
        "amount": "100.00",
        "vatCode": None,
        "vatAmount": "16.67",
        "disallowableAmount": "25.00",
        "allowable": True,
        "currency": "GBP",
        "fxRate": None,
        "category": "carVanTravelExpenses",
        "purpose": None,
        "interestSource": None,
        "capitalGoods": False,
        "description": "Fuel",
        "matchedBy": "user",
        "ruleId": None,
        "reason": None,
        "documentIds": [],
        "createdAt": "2026-11-20T09:30:00.000Z",
        "updatedAt": "2026-11-20T09:30:00.000Z",
        "version": 1,
    }
    assert trading.one("getAllocation", f"allocationId={row['id']}") == row


def test_parts_in_the_place_of_what_there_is(trading: Trading) -> None:
    line = trading.line(trading.current, 9500)
    trading.part(line, "turnover")
    parts = [
        {"category": "turnover", "amount": "100"},
        {"category": "financeCharges", "direction": "out", "amount": "5", "allowable": False},
    ]
    answer = trading.post("allocate", bankTransactionId=line, parts=parts, replace=True)
    assert [(row["direction"], row["amount"], row["allowable"]) for row in answer["allocations"]] == [
        ("in", "100.00", True),
        ("out", "5.00", False),
    ]
    answer = trading.post("allocate", bankTransactionId=line, parts=[], replace=True)
    assert (answer["allocations"], answer["unallocatedAmount"]) == ([], "95.00")


@pytest.mark.parametrize(
    ("body", "path", "code"),
    [
        ({"parts": []}, "parts", "required"),
        ({"parts": [{"category": "adminCosts", "amount": "1.005"}]}, "parts[0].amount", "invalid_decimal"),
        ({"parts": [{"category": "adminCosts", "vatAmount": "0.005"}]}, "parts[0].vatAmount", "invalid_decimal"),
        (
            {"parts": [{"category": "adminCosts", "allowable": True, "disallowableAmount": "1"}]},
            "parts[0].allowable",
            "conflict",
        ),
        ({"parts": [{"category": "adminCosts"}], "date": "2026-11-02"}, "date", "conflict"),
        ({"parts": [{"category": "adminCosts"}], "currency": "GBP"}, "currency", "conflict"),
        ({"parts": [{"category": "adminCosts", "amount": "11"}]}, "parts", "out_of_range"),
        ({"bankTransactionId": "btx_x", "parts": []}, "bankTransactionId", "unknown_reference"),
    ],
)
def test_validation_failed(trading: Trading, body: dict[str, Any], path: str, code: str) -> None:
    line = trading.line(trading.current, -1000)
    replacing = {"replace": True} if "bankTransactionId" in body else {}
    problem = refused(trading.post, "allocate", **{"bankTransactionId": line, **replacing, **body})
    assert fields_of(problem) == [(path, code)]
    assert trading.left(line) == -1000


def test_invalid_state_for_what_is_not_booked(trading: Trading) -> None:
    line = trading.line(trading.current, -1000, status="pending")
    assert refused(trading.part, line).code == "invalid_state"


def test_period_closed(trading: Trading) -> None:
    line, other = trading.line(trading.current, -1000), trading.line(trading.current, -1000)
    row = trading.part(line)
    close(trading)
    assert refused(trading.part, other).code == "period_closed"
    changed = refused(trading.post, "updateAllocation", allocationId=row["id"], category="advertisingCosts")
    assert changed.code == "period_closed"
    assert refused(trading.post, "removeAllocation", allocationId=row["id"]).code == "period_closed"
    assert trading.left(line) == 0


def test_limit_reached(trading: Trading) -> None:
    line = trading.line(trading.current, -100000)
    penny = {"category": "adminCosts", "amount": "0.01"}
    for _ in range(allocations.MAX_PER_LINE // 100):
        trading.post("allocate", bankTransactionId=line, parts=[penny] * 100)
    assert refused(trading.part, line).code == "limit_reached"
    saving = trading.line(trading.account(trading.owner), 50000)
    problem = refused(trading.post, "matchTransfer", bankTransactionId=line, counterpartId=saving)
    assert problem.code == "limit_reached"
    assert trading.left(saving) == 50000


# -- entries without a bank line


def test_an_entry_keeps_to_what_entries_are_when_it_changes(trading: Trading) -> None:
    part = {"category": "adminCosts", "businessId": trading.trade, "direction": "out", "description": "Stamps"}
    (row,) = trading.post("allocate", parts=[{**part, "amount": "4.50"}], date="2026-11-03")["allocations"]
    for change, fault in (
        ({"description": " "}, ("description", "required")),
        ({"date": "2026-11-21"}, ("date", "out_of_range")),
        ({"date": "1899-12-31"}, ("date", "out_of_range")),
    ):
        assert fields_of(refused(trading.post, "updateAllocation", allocationId=row["id"], **change)) == [fault]


def test_money_that_no_bank_shows(trading: Trading) -> None:
    part = {"category": "carVanTravelExpenses", "businessId": trading.trade, "direction": "out", "description": "Bus"}
    answer = trading.post("allocate", parts=[{**part, "amount": "4.50"}], date="2026-11-03")
    (row,) = answer["allocations"]
    assert (answer["bankTransactionId"], answer["unallocatedAmount"], answer["currency"]) == (None, None, "GBP")
    assert (row["sourceType"], row["sourceId"], row["importId"], row["date"]) == ("manual", None, None, "2026-11-03")
    assert row["legalEntityId"] == trading.owner
    changed = trading.post("updateAllocation", allocationId=row["id"], date="2026-11-04", amount="5", direction="in")
    assert (changed["date"], changed["amount"], changed["direction"], changed["version"]) == (
        "2026-11-04",
        "5.00",
        "in",
        2,
    )
    gone = trading.post("removeAllocation", allocationId=row["id"])
    assert gone == {"id": row["id"], "deleted": True, "removedIds": [row["id"]]}
    assert refused(trading.one, "getAllocation", f"allocationId={row['id']}").code == "not_found"


def test_what_such_an_entry_needs(trading: Trading) -> None:
    problem = refused(trading.post, "allocate", parts=[{"category": "not_pnl", "purpose": "drawings"}])
    assert set(fields_of(problem)) == {
        ("parts[0].direction", "required"),
        ("parts[0].amount", "required"),
        ("parts[0].amount", "out_of_range"),
        ("parts[0].businessId", "required"),
        ("parts[0].description", "required"),
    }
    whole = {"category": "adminCosts", "businessId": trading.trade, "direction": "out", "amount": "1"}
    problem = refused(trading.post, "allocate", parts=[{**whole, "description": "Stamps"}], date="2026-11-21")
    assert fields_of(problem) == [("date", "out_of_range")]
    nobodys = {**whole, "businessId": None, "description": "Stamps"}
    problem = refused(trading.post, "allocate", parts=[nobodys])
    assert fields_of(problem) == [("parts[0].businessId", "required")]
    assert fields_of(refused(trading.post, "allocate", parts=[])) == [("parts", "required")]
    assert fields_of(refused(trading.post, "allocate", parts=[], replace=True)) == [("bankTransactionId", "required")]


def test_an_entry_in_a_closed_period(trading: Trading) -> None:
    close(trading)
    part = {"category": "adminCosts", "businessId": trading.trade, "direction": "out", "amount": "1"}
    problem = refused(trading.post, "allocate", parts=[{**part, "description": "Stamps"}])
    assert problem.code == "period_closed"


# -- change


def test_a_change_is_a_persons_choice(trading: Trading) -> None:
    line = trading.line(trading.current, -1000)
    row = trading.part(line, amount="6")
    changed = trading.post(
        "updateAllocation", allocationId=row["id"], amount="9.99", category="advertisingCosts", expectedVersion=1
    )
    assert (changed["amount"], changed["category"], changed["matchedBy"]) == ("9.99", "advertisingCosts", "user")
    assert trading.left(line) == -1
    assert fields_of(refused(trading.post, "updateAllocation", allocationId=row["id"], amount="10.01")) == [
        ("amount", "out_of_range")
    ]
    problem = refused(trading.post, "updateAllocation", allocationId=row["id"], date="2026-11-03")
    assert fields_of(problem) == [("date", "conflict")]
    assert trading.one("getAllocation", f"allocationId={row['id']}") == changed


def test_what_is_disallowable_follows_the_category_and_the_amount(trading: Trading) -> None:
    row = trading.part(trading.line(trading.current, -1000), amount="6", disallowableAmount="2")

    def change(**fields: object) -> tuple[str, bool]:
        changed = trading.post("updateAllocation", allocationId=row["id"], **fields)
        return changed["disallowableAmount"], changed["allowable"]

    assert change(amount="5") == ("2.00", True)
    assert change(category="businessEntertainmentCosts") == ("5.00", False)
    assert change(amount="6") == ("6.00", False)
    assert change(allowable=True) == ("0.00", True)
    assert change(allowable=False) == ("6.00", False)
    assert change(category="adminCosts") == ("0.00", True)
    assert change(disallowableAmount="1") == ("1.00", True)
    problem = refused(change, allowable=True, disallowableAmount="1")
    assert fields_of(problem) == [("allowable", "conflict")]


def test_a_change_to_what_is_no_profit_and_back(trading: Trading) -> None:
    row = trading.part(trading.line(trading.current, -1000))
    changed = trading.post("updateAllocation", allocationId=row["id"], category="not_pnl", purpose="drawings")
    assert changed["purpose"] == "drawings"
    changed = trading.post("updateAllocation", allocationId=row["id"], category="adminCosts")
    assert changed["purpose"] is None
    problem = refused(trading.post, "updateAllocation", allocationId=row["id"], category="not_pnl")
    assert fields_of(problem) == [("purpose", "required")]


def test_another_version(trading: Trading) -> None:
    line = trading.line(trading.current, -1000)
    row = trading.part(line)
    for operation in ("updateAllocation", "removeAllocation"):
        assert refused(trading.post, operation, allocationId=row["id"], expectedVersion=2).code == "version_conflict"
    assert trading.left(line) == 0


def test_another_organizations_allocation(store: MemoryStore, trading: Trading) -> None:
    row = trading.part(trading.line(trading.current, -1000))
    other = Trading(store)
    assert refused(other.one, "getAllocation", f"allocationId={row['id']}").code == "not_found"
    for operation in ("updateAllocation", "removeAllocation"):
        assert refused(other.post, operation, allocationId=row["id"]).code == "not_found"
    assert other.get("listAllocations") == ([], None)


def test_an_archived_business_keeps_what_it_has_and_takes_no_more(trading: Trading) -> None:
    line = trading.line(trading.current, -1000)
    row = trading.part(line, amount="1")
    archived = "UPDATE businesses SET archived_at = :now WHERE org_id = :org_id"
    trading.write(lambda tx: tx.run(archived))
    assert fields_of(refused(trading.part, line)) == [("parts[0].businessId", "conflict")]
    assert trading.post("updateAllocation", allocationId=row["id"], amount="2")["amount"] == "2.00"
    trading.post("removeAllocation", allocationId=row["id"])
    assert trading.left(line) == -1000


# -- transfers


def pair(trading: Trading, out: int = -50000, into: int = 50000) -> tuple[str, str]:
    return trading.line(trading.current, out), trading.line(trading.account(trading.owner), into)


def test_a_transfer_is_two_halves_that_name_each_other(trading: Trading) -> None:
    out, into = pair(trading)
    answer = trading.post("matchTransfer", bankTransactionId=out, counterpartId=into)
    went, came = answer["allocations"]
    assert (went["sourceId"], went["counterpartId"], went["direction"]) == (out, into, "out")
    assert (came["sourceId"], came["counterpartId"], came["direction"]) == (into, out, "in")
    assert {(row["category"], row["purpose"], row["amount"]) for row in (went, came)} == {
        ("not_pnl", "transfer", "500.00")
    }
    assert (trading.left(out), trading.left(into)) == (0, 0)
    gone = trading.post("removeAllocation", allocationId=came["id"])
    assert gone["removedIds"] == [came["id"], went["id"]]
    assert (trading.left(out), trading.left(into)) == (-50000, 50000)


def test_a_transfer_less_a_charge(trading: Trading) -> None:
    out, into = pair(trading, -50000, 49500)
    answer = trading.post("matchTransfer", bankTransactionId=out, counterpartId=into)
    assert {row["amount"] for row in answer["allocations"]} == {"495.00"}
    assert trading.left(out) == -500
    trading.part(out, "financeCharges")


def test_a_transfer_between_currencies(trading: Trading) -> None:
    euros = trading.account(trading.owner, currency="EUR")
    out, into = trading.line(trading.current, -10000), trading.line(euros, 11500, currency="EUR")
    answer = trading.post("matchTransfer", bankTransactionId=out, counterpartId=into, counterpartAmount="100")
    assert [(row["amount"], row["currency"]) for row in answer["allocations"]] == [("100.00", "GBP"), ("100.00", "EUR")]
    assert (trading.left(out), trading.left(into)) == (0, 1500)


def test_each_half_of_a_transfer_may_have_an_external_id(trading: Trading) -> None:
    out, into = pair(trading)
    named = {"externalId": "t-1 out", "counterpartExternalId": "t-1 in"}
    rows = trading.post("matchTransfer", bankTransactionId=out, counterpartId=into, **named)["allocations"]
    assert [row["externalId"] for row in rows] == ["t-1 out", "t-1 in"]
    assert trading.one("listAllocations", "externalId=t-1%20in")["data"] == [rows[1]]
    other, its = pair(trading)
    for taken in ({"externalId": "t-1 in"}, {"externalId": "t-2", "counterpartExternalId": "t-2"}):
        problem = refused(trading.post, "matchTransfer", bankTransactionId=other, counterpartId=its, **taken)
        assert problem.code == "already_exists"
    assert (trading.left(other), trading.left(its)) == (-50000, 50000)
    alone = trading.post("matchTransfer", bankTransactionId=other, counterpartId=its, counterpartExternalId="t-2")
    assert [row["externalId"] for row in alone["allocations"]] == [None, "t-2"]


def test_half_of_a_transfer_does_not_change_alone(trading: Trading) -> None:
    out, into = pair(trading)
    went, _ = trading.post("matchTransfer", bankTransactionId=out, counterpartId=into)["allocations"]
    problem = refused(trading.post, "updateAllocation", allocationId=went["id"], amount="1")
    assert (problem.code, problem.extra["currentState"]) == ("invalid_state", "transfer")
    assert into in problem.message
    problem = refused(trading.post, "allocate", bankTransactionId=into, parts=[], replace=True)
    assert problem.code == "invalid_state"


def test_a_transfer_stays_while_what_goes_the_other_way_needs_it(trading: Trading) -> None:
    out, into = pair(trading)
    went, _ = trading.post("matchTransfer", bankTransactionId=out, counterpartId=into)["allocations"]
    back = trading.part(out, amount="0.01", direction="in")
    problem = refused(trading.post, "removeAllocation", allocationId=went["id"])
    assert (problem.code, problem.extra["currentState"]) == ("invalid_state", "split")
    assert problem.message.startswith("What stays would come to 0.01 of its -500.00: lessen or remove what goes")
    trading.post("removeAllocation", allocationId=back["id"])
    trading.post("removeAllocation", allocationId=went["id"])
    assert (trading.left(out), trading.left(into)) == (-50000, 50000)


def test_what_is_no_transfer(trading: Trading) -> None:
    out, into = pair(trading)
    elm = trading.account(trading.unregistered_entity(name="Elm"))
    for counterpart in (trading.line(trading.current, 50000), trading.line(elm, 50000), pair(trading)[0]):
        problem = refused(trading.post, "matchTransfer", bankTransactionId=out, counterpartId=counterpart)
        assert ("counterpartId", "conflict") in fields_of(problem)
    for amounts, field in (
        ({"amount": "500.01"}, "amount"),
        ({"amount": "1", "counterpartAmount": "2"}, "counterpartAmount"),
        ({"amount": "0"}, "amount"),
    ):
        problem = refused(trading.post, "matchTransfer", bankTransactionId=out, counterpartId=into, **amounts)
        assert field in {path for path, _ in fields_of(problem)}
    trading.post("matchTransfer", bankTransactionId=out, counterpartId=into, amount="1")
    problem = refused(trading.post, "matchTransfer", bankTransactionId=into, counterpartId=out, amount="1")
    assert fields_of(problem) == [("counterpartId", "conflict")]


def test_a_penny_is_a_transfer_either_way_and_nothing_is_none(trading: Trading) -> None:
    for first, second in (pair(trading, -1, 1), reversed(pair(trading, -1, 1))):
        answer = trading.post("matchTransfer", bankTransactionId=first, counterpartId=second)
        assert {row["amount"] for row in answer["allocations"]} == {"0.01"}
    out, into = pair(trading, -1, 0)
    for first, second in ((out, into), (into, out)):
        problem = refused(trading.post, "matchTransfer", bankTransactionId=first, counterpartId=second)
        assert fields_of(problem) == [("counterpartId", "conflict")]


def test_a_transfer_in_a_closed_period_or_not_booked(trading: Trading) -> None:
    out, into = pair(trading)
    pending = trading.line(trading.current, -50000, status="pending")
    problem = refused(trading.post, "matchTransfer", bankTransactionId=pending, counterpartId=into)
    assert problem.code == "invalid_state"
    close(trading)
    problem = refused(trading.post, "matchTransfer", bankTransactionId=out, counterpartId=into)
    assert problem.code == "period_closed"


# -- payments of invoices


def test_a_payment_takes_its_part_of_a_bank_line_and_gives_it_back(trading: Trading) -> None:
    invoice = trading.invoice(legalEntityId=trading.owner, businessId=trading.trade)
    line = trading.line(trading.current, 15000)
    paid = trading.post("recordPayment", invoiceId=invoice["id"], bankTransactionId=line)
    assert (paid["status"], paid["balanceDue"]) == ("paid", "0.00")
    assert [(p["amount"], p["date"], p["bankTransactionId"]) for p in paid["payments"]] == [
        ("120.00", "2026-11-02", line)
    ]
    (row,), _ = trading.get("listAllocations", f"invoiceId={invoice['id']}")
    assert (row["category"], row["purpose"], row["amount"], row["sourceId"], row["businessId"]) == (
        "not_pnl",
        "invoice_payment",
        "120.00",
        line,
        trading.trade,
    )
    assert trading.left(line) == 3000
    trading.post("removePayment", invoiceId=invoice["id"], position=1)
    assert (trading.left(line), trading.of_line(line)) == (15000, [])


def test_a_payment_is_taken_back_where_it_was_recorded(trading: Trading) -> None:
    invoice = trading.invoice()
    line = trading.line(trading.current, 12000)
    trading.post("recordPayment", invoiceId=invoice["id"], bankTransactionId=line)
    (row,) = trading.of_line(line)
    for operation in ("removeAllocation", "updateAllocation"):
        problem = refused(trading.post, operation, allocationId=row.id)
        assert (problem.code, problem.extra["currentState"]) == ("invalid_state", "invoice_payment")
        assert f"{invoice['id']}: take it back with accounting.removePayment." in problem.message


def test_a_payment_of_less_than_is_due_takes_what_the_line_has(trading: Trading) -> None:
    invoice = trading.invoice()
    line = trading.line(trading.current, 5000)
    paid = trading.post("recordPayment", invoiceId=invoice["id"], bankTransactionId=line)
    assert (paid["status"], paid["balanceDue"], trading.left(line)) == ("part_paid", "70.00", 0)
    problem = refused(trading.post, "recordPayment", invoiceId=trading.invoice()["id"], bankTransactionId=line)
    assert fields_of(problem) == [("amount", "out_of_range")]


def test_a_payment_of_which_charges_were_kept(trading: Trading) -> None:
    invoice = trading.invoice()
    line = trading.line(trading.current, 11500)
    paid = trading.post("recordPayment", invoiceId=invoice["id"], bankTransactionId=line, charges="5")
    assert (paid["status"], paid["payments"][0]["amount"], trading.left(line)) == ("paid", "120.00", 0)
    rows, _ = trading.get("listAllocations", f"bankTransactionId={line}")
    assert {(row["category"], row["direction"], row["amount"], row["businessId"]) for row in rows} == {
        ("not_pnl", "in", "120.00", None),
        ("financeCharges", "out", "5.00", trading.trade),
    }
    for row in rows:
        assert refused(trading.post, "removeAllocation", allocationId=row["id"]).code == "invalid_state"
    trading.post("removePayment", invoiceId=invoice["id"], position=1)
    assert (trading.left(line), trading.of_line(line)) == (11500, [])


def test_a_payment_of_which_all_was_kept(trading: Trading) -> None:
    line = trading.line(trading.current, 5000)
    body = {"invoiceId": trading.invoice()["id"], "bankTransactionId": line, "amount": "20.00", "charges": "20.00"}
    paid = trading.post("recordPayment", **body)
    assert (paid["balanceDue"], trading.left(line)) == ("100.00", 5000)


def test_charges_that_are_none(trading: Trading) -> None:
    invoice = trading.invoice()["id"]
    line, nobodys = trading.line(trading.current, 11500), trading.line(trading.account(), 11500)
    for fields, path, code in (
        ({"charges": "5"}, "bankTransactionId", "required"),
        ({"bankTransactionId": line, "charges": "-1"}, "charges", "out_of_range"),
        ({"bankTransactionId": line, "amount": "4", "charges": "5"}, "charges", "out_of_range"),
        ({"bankTransactionId": line, "charges": "0.001"}, "charges", "invalid_decimal"),
        ({"bankTransactionId": line, "amount": "120", "charges": "4.99"}, "amount", "out_of_range"),
        ({"bankTransactionId": nobodys, "charges": "5"}, "charges", "conflict"),
    ):
        problem = refused(trading.post, "recordPayment", invoiceId=invoice, **fields)
        assert fields_of(problem) == [(path, code)]


def test_charges_in_what_their_business_does_not_count_in(trading: Trading) -> None:
    invoice = trading.invoice(currency="EUR", fxRate="0.85")["id"]
    euros = trading.account(trading.owner, trading.trade, currency="EUR")
    line = trading.line(euros, 11500, currency="EUR")
    problem = refused(trading.post, "recordPayment", invoiceId=invoice, bankTransactionId=line, charges="5")
    assert fields_of(problem) == [("charges", "currency_mismatch")]
    assert trading.post("recordPayment", invoiceId=invoice, bankTransactionId=line)["balanceDue"] == "5.00"


def test_a_business_of_another_owner_bears_no_charges(trading: Trading) -> None:
    elm = trading.unregistered_entity(name="Elm")
    business = trading.business(elm)
    invoice = trading.invoice(legalEntityId=elm, businessId=business)["id"]
    account = trading.account()
    line = trading.line(account, 9500)
    paid = trading.post("recordPayment", invoiceId=invoice, bankTransactionId=line, charges="5")
    assert (paid["status"], trading.left(line)) == ("paid", 0)
    trading.post("removePayment", invoiceId=invoice, position=1)
    trading.write(lambda tx: tx.run("UPDATE bank_accounts SET legal_entity_id = :owner", owner=trading.owner))
    problem = refused(trading.post, "recordPayment", invoiceId=invoice, bankTransactionId=line, charges="5")
    assert fields_of(problem) == [("bankTransactionId", "conflict")]


def test_a_line_pays_an_invoice_once(trading: Trading) -> None:
    invoice = trading.invoice()["id"]
    line = trading.line(trading.current, 12000)
    trading.post("recordPayment", invoiceId=invoice, bankTransactionId=line, amount="20")
    problem = refused(trading.post, "recordPayment", invoiceId=invoice, bankTransactionId=line, amount="20")
    assert fields_of(problem) == [("bankTransactionId", "conflict")]


def test_one_line_pays_two_invoices(trading: Trading) -> None:
    line = trading.line(trading.current, 24000)
    for _ in range(2):
        paid = trading.post("recordPayment", invoiceId=trading.invoice()["id"], bankTransactionId=line)
        assert paid["status"] == "paid"
    assert trading.left(line) == 0


def test_what_pays_no_invoice(trading: Trading) -> None:
    invoice = trading.invoice(legalEntityId=trading.owner)
    line = trading.line(trading.current, 5000)
    elm = trading.account(trading.unregistered_entity(name="Elm"))
    euros = trading.account(trading.owner, currency="EUR")
    for fields, path, code in (
        ({"bankTransactionId": "btx_x"}, "bankTransactionId", "unknown_reference"),
        ({"bankTransactionId": trading.line(trading.current, -5000)}, "bankTransactionId", "conflict"),
        ({"bankTransactionId": trading.line(elm, 5000)}, "bankTransactionId", "conflict"),
        (
            {"bankTransactionId": trading.line(euros, 5000, currency="EUR")},
            "bankTransactionId",
            "currency_mismatch",
        ),
        ({"bankTransactionId": line, "date": "2026-11-03"}, "date", "conflict"),
        ({"bankTransactionId": line, "amount": "50.01"}, "amount", "out_of_range"),
    ):
        problem = refused(trading.post, "recordPayment", invoiceId=invoice["id"], **fields)
        assert fields_of(problem) == [(path, code)]
    pending = trading.line(trading.current, 5000, status="pending")
    problem = refused(trading.post, "recordPayment", invoiceId=invoice["id"], bankTransactionId=pending)
    assert problem.code == "invalid_state"
    assert trading.left(line) == 5000


def test_a_payment_in_a_closed_period(trading: Trading) -> None:
    invoice, other = trading.invoice(), trading.invoice()
    line, second = trading.line(trading.current, 12000), trading.line(trading.current, 12000)
    trading.post("recordPayment", invoiceId=invoice["id"], bankTransactionId=line)
    close(trading)
    problem = refused(trading.post, "recordPayment", invoiceId=other["id"], bankTransactionId=second)
    assert problem.code == "period_closed"
    problem = refused(trading.post, "removePayment", invoiceId=invoice["id"], position=1)
    assert problem.code == "period_closed"
    assert [row.invoice_id for row in trading.of_line(line)] == [invoice["id"]]


def test_a_payment_beyond_the_parts_of_a_line(trading: Trading) -> None:
    line = trading.line(trading.current, 100000)
    penny = {"category": "turnover", "amount": "0.01"}
    for _ in range(allocations.MAX_PER_LINE // 100):
        trading.post("allocate", bankTransactionId=line, parts=[penny] * 100)
    problem = refused(trading.post, "recordPayment", invoiceId=trading.invoice()["id"], bankTransactionId=line)
    assert problem.code == "limit_reached"


# -- the list


def test_latest_money_first_page_by_page(trading: Trading) -> None:
    days = ("2026-11-05", "2026-11-01", "2026-11-09", "2026-11-05")
    made = [trading.part(trading.line(trading.current, -100, date=day)) for day in days]
    ordered = [made[2], made[3], made[0], made[1]]
    first, cursor = trading.get("listAllocations", "limit=3")
    assert first == ordered[:3]
    assert trading.get("listAllocations", f"limit=3&cursor={cursor}") == (ordered[3:], None)
    assert trading.walk("listAllocations", "limit=1&fromDate=2026-11-02&toDate=2026-11-05") == [made[3], made[0]]


def test_filters(trading: Trading) -> None:
    paid, sold = trading.line(trading.current, -1000), trading.line(trading.current, 2000)
    cost, sale = trading.part(paid), trading.part(sold, "turnover")
    for query, found in (
        (f"bankTransactionId={paid}", [cost]),
        (f"businessId={trading.trade}", [sale, cost]),
        ("businessId=biz_x", []),
        ("category=turnover", [sale]),
        ("direction=out", [cost]),
        ("matchedBy=rule", []),
        ("matchedBy=user", [sale, cost]),
        ("propertyId=prop_x", []),
        ("tenancyId=tcy_x", []),
        ("invoiceId=inv_x", []),
    ):
        assert trading.get("listAllocations", query)[0] == found, query
    assert fields_of(refused(trading.get, "listAllocations", "fromDate=2026-11-02&toDate=2026-11-01")) == [
        ("toDate", "date_order")
    ]


def test_changes_are_followed_in_their_order(trading: Trading) -> None:
    first, second = (trading.part(trading.line(trading.current, -1000)) for _ in range(2))
    trading.store.clock.advance(1_000_000)
    since = "updatedSince=2026-11-20T09:30:00.500Z"
    assert trading.get("listAllocations", since) == ([], None)
    trading.post("updateAllocation", allocationId=first["id"], description="x")
    assert [row["id"] for row in trading.walk("listAllocations", f"{since}&limit=1")] == [first["id"]]
    every = trading.walk("listAllocations", "updatedSince=2026-11-20T00:00:00Z&limit=1")
    assert [row["id"] for row in every] == [second["id"], first["id"]]


def test_totals_are_of_all_pages(trading: Trading) -> None:
    for amount in (-1000, -250, 99):
        trading.part(trading.line(trading.current, amount), "adminCosts")
    listing = trading.listing("listAllocations", "limit=1&includeTotals=true")
    assert listing.extra == b',"totals":[{"currency":"GBP","count":3,"moneyIn":"0.99","moneyOut":"12.50"}]'
    listing = trading.listing("listAllocations", "direction=in&includeTotals=true")
    assert listing.extra == b',"totals":[{"currency":"GBP","count":1,"moneyIn":"0.99","moneyOut":"0.00"}]'
    assert trading.listing("listAllocations", "direction=in").extra == b""


@pytest.mark.parametrize(
    "query",
    [
        "",
        "bankTransactionId=x",
        "invoiceId=x",
        "businessId=x",
        "propertyId=x",
        "tenancyId=x",
        "unitId=x",
        "mortgageId=x",
        "ruleId=x",
        "ruleId=x&category=turnover&matchedBy=rule",
        "category=turnover",
        "direction=in",
        "matchedBy=rule",
        "fromDate=2026-01-01&toDate=2026-12-31",
        "businessId=x&fromDate=2026-01-01",
        "updatedSince=2026-01-01T00:00:00Z",
    ],
)
def test_no_page_sorts_or_scans(trading: Trading, query: str) -> None:
    plans: list[str] = []

    class Explaining(ReadTx):
        def each(self, sql: str, /, **values: object) -> Iterator[tuple[object, ...]]:
            plans.extend(row[3] for row in super().rows(f"EXPLAIN QUERY PLAN {sql}", **values))
            return super().each(sql, **values)

    def explain(tx: ReadTx) -> None:
        explaining = object.__new__(Explaining)
        explaining.__dict__.update(tx.__dict__)
        list_allocations(explaining, trading.caller, trading.decoders["listAllocations"].query(query))

    trading.store.read(explain, trading.org_id)
    assert plans
    assert not [step for step in plans if "TEMP B-TREE" in step or "SCAN" in step], plans
    indexed = {
        "category": "allocations_by_category",
        "direction": "allocations_by_direction",
        "matchedBy": "allocations_by_matching",
        "businessId": "allocations_by_business",
        "mortgageId": "allocations_by_mortgage",
        "ruleId": "allocations_by_rule",
        "updatedSince": "allocations_by_change",
    }
    assert all(index in plans[0] for name, index in indexed.items() if query.startswith(name)), plans


def test_today_is_a_day_of_the_books(trading: Trading) -> None:
    part = {"category": "adminCosts", "businessId": trading.trade, "direction": "out", "amount": "1"}
    (row,) = trading.post("allocate", parts=[{**part, "description": "Stamps"}])["allocations"]
    assert row["date"] == datetime.date(2026, 11, 20).isoformat()


@pytest.mark.parametrize("query", ["", "businessId=x", "category=turnover", "direction=in", "toDate=2026-12-31"])
def test_totals_come_from_an_index_alone(trading: Trading, query: str) -> None:
    plans: list[str] = []

    class Explaining(ReadTx):
        def rows(self, sql: str, /, **values: object) -> list[tuple[Any, ...]]:
            plans.extend(row[3] for row in super().rows(f"EXPLAIN QUERY PLAN {sql}", **values))
            return super().rows(sql, **values)

    def explain(tx: ReadTx) -> None:
        explaining = object.__new__(Explaining)
        explaining.__dict__.update(tx.__dict__)
        list_allocations(
            explaining, trading.caller, trading.decoders["listAllocations"].query(f"{query}&includeTotals=true")
        )

    trading.store.read(explain, trading.org_id)
    assert "USING COVERING INDEX" in plans[0], plans


@pytest.mark.parametrize("query", ["", "businessId=x&", "category=turnover&fromDate=2026-01-01&"])
def test_a_page_of_a_range_begins_at_its_last_day(trading: Trading, query: str) -> None:
    """Else it would pass over all that lies behind it: an index is entered at one place."""
    given: list[dict[str, object]] = []

    class Noting(ReadTx):
        def each(self, sql: str, /, **values: object) -> Iterator[tuple[object, ...]]:
            given.append(values)
            return super().each(sql, **values)

    def note(tx: ReadTx) -> None:
        noting = object.__new__(Noting)
        noting.__dict__.update(tx.__dict__)
        list_allocations(noting, trading.caller, trading.decoders["listAllocations"].query(f"{query}toDate=2026-03-31"))

    trading.store.read(note, trading.org_id)
    assert [("to_date" in values, values["after_at"]) for values in given] == [(False, "2026-03-31")]
