"""Bills: what is entered, what becomes of it, and how it is paid."""

from typing import Any

import pytest

from gatewayd.errors import Problem
from gatewayd.ledger.allocating import allocations
from gatewayd.ledger.allocating.allocation_shapes import Part
from gatewayd.ledger.calendar import period_locks
from tests.areas.accounting.bill_books import BOARDS, BillBooks, Json, lines
from tests.areas.accounting.books import fields_of
from tests.ledger.lets import insert_property, insert_tenancy, insert_unit
from tests.support.store import MemoryStore, make_caller

TODAY = "2026-11-20"


@pytest.fixture
def books(store: MemoryStore) -> BillBooks:
    return BillBooks(store)


def listed(books: BillBooks, query: str = "") -> list[str]:
    return [row["id"] for row in books.get("listBills", query)[0]]


# -- what is entered


def test_a_bill_comes_to_what_is_printed(books: BillBooks) -> None:
    bill = books.bill(
        number="SI 20417", lines=lines({}, {"vatCode": "reduced", "amount": "9.99"}, {"amount": "-10.00"})
    )
    assert (bill["netTotal"], bill["vatTotal"], bill["grossTotal"]) == ("99.99", "18.50", "118.49")
    assert [(line["net"], line["vat"], line["gross"]) for line in bill["lines"]] == [
        ("100.00", "20.00", "120.00"),
        ("9.99", "0.50", "10.49"),
        ("-10.00", "-2.00", "-12.00"),
    ]
    assert (bill["status"], bill["balanceDue"], bill["dueDate"], bill["isOverdue"]) == (
        "awaiting_payment",
        "118.49",
        "2026-12-02",  # 30 days, as of clients
        False,
    )
    assert (bill["legalEntityId"], bill["businessId"]) == (books.entity_id, books.business_id)
    assert "warnings" not in bill
    assert books.now(bill) == bill


def test_what_the_supplier_rounded_binds(books: BillBooks) -> None:
    """33.33 at 20 % is 6.67, and 6.66 where it is rounded down (VAT Notice 700 paragraph 17.5)."""
    bill = books.bill(lines=lines({"amount": "33.33", "vatAmount": "6.66"}))
    assert (bill["grossTotal"], bill["warnings"]) == (
        "39.99",
        [
            {
                "path": "lines[0].vat",
                "code": "vat_differs",
                "message": "At the rate of standard on 2026-11-02 it would be 6.67.",
            }
        ],
    )
    bill = books.bill(amountsAre="inclusive", lines=lines({"amount": "120.00"}, {"amount": "50.00", "vatCode": None}))
    assert [(line["net"], line["vat"]) for line in bill["lines"]] == [("100.00", "20.00"), ("50.00", "0.00")]
    assert books.wrong(lines=lines({"vatAmount": "19.00"})) == [("lines[0].vatAmount", "conflict")]


def test_every_field_comes_to_the_bill(books: BillBooks) -> None:
    asked: Json = {
        "billDate": "2026-10-20",
        "taxPoint": "2026-10-10",
        "dueDate": "2026-11-01",
        "number": "A/1",
        "currency": "EUR",
        "fxRate": "0.8",
        "amountsAre": "inclusive",
        "notes": "N",
        "status": "draft",
        "externalId": "E1",
        "businessId": books.business_id,
    }
    line = {"capitalGoods": True, "disallowablePercent": "12.50", "category": "adminCosts"}
    found = books.bill(**asked, lines=lines(line))
    assert {name: found[name] for name in asked} == asked
    (made,) = found["lines"]
    assert (made["capitalGoods"], made["disallowable"], made["disallowablePercent"]) == (True, "12.50", "12.5")
    assert [warning["code"] for warning in found["warnings"]] == ["bill_after_tax_point"]
    assert listed(books, "externalId=E1") == [found["id"]]
    assert books.refused("createBill", billDate=TODAY, lines=[BOARDS], externalId="E1").code == "already_exists"


def test_a_line_is_for_what_is_let(store: MemoryStore) -> None:
    books = BillBooks(store, type="uk_property", name="Lets")
    let = books.write(lambda tx: insert_property(tx, books.business_id))
    other = books.trade(books.entity_id, type="self_employment")
    line = {"category": "repairsAndMaintenance", "propertyId": let}
    bill = books.bill(lines=lines(line))
    assert (bill["businessId"], bill["lines"][0]["propertyId"]) == (books.business_id, let)
    assert books.wrong(businessId=other, lines=lines({"propertyId": let})) == [("lines[0].propertyId", "conflict")]
    nowhere = {**line, "unitId": "unit_01k0000000000000000000000x", "tenancyId": "tcy_01k0000000000000000000000x"}
    assert books.wrong(businessId=books.business_id, lines=lines(nowhere)) == [
        ("lines[0].unitId", "unknown_reference"),
        ("lines[0].tenancyId", "unknown_reference"),
    ]
    assert books.wrong(lines=lines({"category": "other"})) == [("businessId", "required")]
    unit, tenancy = books.write(lambda tx: (insert_unit(tx, let), insert_tenancy(tx, let)))
    of_it = {**line, "unitId": unit, "capitalGoods": True, "vatCode": None}
    (changed,) = books.post("updateBill", billId=bill["id"], lines=lines(of_it))["lines"]
    assert (changed["unitId"], changed["propertyId"], changed["capitalGoods"]) == (unit, let, True)
    (changed,) = books.post("updateBill", billId=bill["id"], lines=lines({**line, "tenancyId": tenancy}))["lines"]
    assert (changed["tenancyId"], changed["unitId"]) == (tenancy, None)


def test_what_is_wrong_is_told_together(books: BillBooks) -> None:
    errors = books.wrong(
        dueDate="2026-11-01",
        taxPoint="1970-01-01",
        documentIds=["doc_x"],
        lines=lines({"category": "turnover"}, {"amount": "0"}, {"amount": "1.005"}, {"vatAmount": "-1"}),
    )
    assert sorted(errors) == [
        ("documentIds[0]", "unknown_reference"),
        ("dueDate", "date_order"),
        ("lines[0].category", "conflict"),
        ("lines[1].amount", "out_of_range"),
        ("lines[2].amount", "invalid_decimal"),
        ("lines[3].vatAmount", "out_of_range"),
        ("taxPoint", "out_of_range"),
    ]


def test_who_charges_whom_has_to_be_said(books: BillBooks) -> None:
    assert books.wrong(supplierId=None) == [("supplierId", "required")]
    assert books.wrong(supplierId="cli_x") == [("supplierId", "unknown_reference")]
    assert books.wrong(businessId="biz_x") == [("businessId", "unknown_reference")]
    assert books.wrong(claimant="Ash") == [("claimant", "conflict")]
    assert books.wrong(creditsBillId="bill_x") == [("creditsBillId", "conflict")]
    bill = books.bill(supplierId=books.client("Quarry Ltd", paymentTermsDays=7))
    assert bill["dueDate"] == "2026-11-09"
    books.post("archiveClient", clientId=bill["supplierId"])
    assert books.wrong(supplierId=bill["supplierId"]) == [("supplierId", "conflict")]
    assert books.post("updateBill", billId=bill["id"], notes="N")["notes"] == "N"
    assert books.wrong(creditsBillId=bill["id"]) == [("creditsBillId", "conflict")]
    books.trade(books.entity_id, name="Other")
    assert books.wrong() == [("businessId", "required")]


def test_an_expense_claim_is_owed_to_who_paid(books: BillBooks) -> None:
    claim = {"kind": "expense_claim", "lines": lines({"category": "carVanTravelExpenses", "vatCode": "zero"})}
    assert books.wrong(**claim) == [("claimant", "required")]
    made = books.bill(**claim, claimant="Ash", allowDuplicate=False)
    assert (made["claimant"], made["supplierId"], made["dueDate"]) == ("Ash", None, "2026-11-02")
    again = books.refused("createBill", billDate="2026-11-02", claimant="Ash", **claim)
    assert (again.code, again.extra) == ("possible_duplicate", {"existingId": made["id"]})
    assert books.bill(**claim, claimant="Birch", allowDuplicate=False)["status"] == "awaiting_payment"
    assert listed(books, "kind=expense_claim&supplierId=cli_x") == []


def test_what_was_entered_already_is_told(books: BillBooks) -> None:
    made = books.bill(number="SI-20417", allowDuplicate=False)
    same: Json = {"supplierId": books.supplier, "billDate": "2026-11-05", "number": "si 20417"}
    refused = books.refused("createBill", lines=lines({"amount": "1.00"}), **same)
    assert (refused.code, refused.extra) == ("possible_duplicate", {"existingId": made["id"]})
    same = {"supplierId": books.supplier, "billDate": "2026-11-02", "number": "SI-20418", "lines": [BOARDS]}
    assert books.refused("createBill", **same).extra == {"existingId": made["id"]}
    other = books.bill(number="SI-20418", supplierId=books.client("Quarry Ltd"), allowDuplicate=False)
    books.bill(number="SI-20417", allowDuplicate=True)
    assert books.refused("updateBill", billId=other["id"], supplierId=books.supplier).code == "possible_duplicate"
    moved = books.post("updateBill", billId=other["id"], supplierId=books.supplier, allowDuplicate=True)
    assert moved["supplierId"] == books.supplier
    books.post("voidBill", billId=made["id"], reason="Entered twice")
    assert books.post("updateBill", billId=other["id"], notes="N")["version"] == 3


def test_a_rate_is_taken_or_asked_for(books: BillBooks) -> None:
    taken = books.bill(currency="EUR", billDate="2026-01-05")
    assert (taken["fxRateSource"], taken["fxRateDate"]) == ("hmrc", "2026-01-01")
    assert [warning["code"] for warning in taken["warnings"]] == ["fx_rate_taken"]
    assert books.wrong(currency="EUR", billDate="1999-01-05") == [("fxRate", "required")]
    assert books.wrong(fxRate="0.8") == [("fxRate", "conflict")]
    given = books.bill(currency="EUR", fxRate="0.8", billDate="2026-01-05")
    assert books.post("updateBill", billId=given["id"], notes="N")["fxRate"] == "0.8"
    assert books.post("updateBill", billId=given["id"], currency="USD")["fxRateSource"] == "hmrc"
    assert books.post("updateBill", billId=given["id"], currency="GBP")["fxRate"] is None
    foreign = books.bill(currency="EUR", fxRate="0.8", number="F")
    note = books.credit_of(foreign, "10.00", status="draft")
    assert note["fxRate"] == "0.8"
    assert books.post("updateBill", billId=note["id"], notes="N")["fxRate"] == "0.8"
    assert books.wrong(kind="credit_note", creditsBillId=foreign["id"], fxRate="0.8") == [("fxRate", "conflict")]


# -- what becomes of it


def test_a_draft_becomes_owed_or_is_deleted(books: BillBooks) -> None:
    draft = books.bill(status="draft")
    assert books.refused("recordBillPayment", billId=draft["id"]).code == "invalid_state"
    assert books.refused("voidBill", billId=draft["id"], reason="R").code == "invalid_state"
    owed = books.post("updateBill", billId=draft["id"], status="awaiting_payment", expectedVersion=1)
    assert (owed["status"], owed["version"], owed["lines"]) == ("awaiting_payment", 2, draft["lines"])
    assert books.refused("deleteBill", billId=draft["id"]).code == "invalid_state"
    assert books.refused("deleteBill", billId=draft["id"], expectedVersion=1).code == "version_conflict"
    other = books.bill(status="draft")
    assert books.post("deleteBill", billId=other["id"], expectedVersion=1) == {"id": other["id"], "deleted": True}
    assert listed(books) == [draft["id"]]
    removed = books.listing("listBills", "updatedSince=2026-11-20T00:00:00Z").extra
    assert other["id"].encode() in removed


def test_each_field_of_a_bill_changes(store: MemoryStore) -> None:
    books = BillBooks(store)
    other = books.trade(books.entity_id, name="Other", accountingBasis="accruals")
    bill = books.bill(businessId=books.business_id, lines=lines({"vatAmount": "19.99"}))
    asked: Json = {
        "billDate": "2026-10-20",
        "taxPoint": "2026-10-20",
        "dueDate": "2026-11-21",
        "supplierId": books.client("Quarry Ltd"),
        "businessId": other,
        "number": "B 2",
        "currency": "EUR",
        "fxRate": "0.9",
        "notes": "N",
        "externalId": "E2",
    }
    changed = books.post("updateBill", billId=bill["id"], **asked)
    assert {name: changed[name] for name in asked} == asked
    assert (changed["lines"][0]["vat"], changed["createdAt"], changed["version"]) == ("19.99", bill["createdAt"], 2)
    gross = books.post(
        "updateBill",
        billId=bill["id"],
        amountsAre="inclusive",
        documentIds=[],
        lines=lines({"amount": "60.00", "vatAmount": "10.00", "disallowablePercent": "50"}),
    )
    assert (gross["netTotal"], gross["lines"][0]["disallowable"]) == ("50.00", "30.00")
    again = books.post("updateBill", billId=bill["id"], notes=None)
    assert (again["lines"], again["notes"]) == (gross["lines"], None)
    claim = books.bill(kind="expense_claim", claimant="Ash", businessId=other)
    assert books.post("updateBill", billId=claim["id"], claimant="Birch")["claimant"] == "Birch"
    assert books.refused("updateBill", billId=claim["id"], externalId="E2").code == "already_exists"
    assert books.refused("updateBill", billId=bill["id"], expectedVersion=1).code == "version_conflict"


def test_what_is_paid_changes_no_more(books: BillBooks) -> None:
    bill = books.bill()
    part = books.paid(bill, amount="20.00", expectedVersion=1)
    assert (part["status"], part["balanceDue"]) == ("part_paid", "100.00")
    for operation, more in (("updateBill", {"notes": "N"}), ("voidBill", {"reason": "R"})):
        assert books.refused(operation, billId=bill["id"], **more).code == "invalid_state"
    assert books.refused("recordBillPayment", billId=bill["id"], expectedVersion=1).code == "version_conflict"
    assert (
        books.refused("removeBillPayment", billId=bill["id"], position=1, expectedVersion=1).code == "version_conflict"
    )
    assert books.refused("removeBillPayment", billId=bill["id"], position=2).code == "not_found"
    back = books.post("removeBillPayment", billId=bill["id"], position=1)
    assert (back["status"], back["payments"], back["paidTotal"]) == ("awaiting_payment", [], "0.00")
    assert books.refused("voidBill", billId=bill["id"], reason="R", expectedVersion=1).code == "version_conflict"
    void = books.post("voidBill", billId=bill["id"], reason="Entered twice")
    assert (void["status"], void["voidReason"], void["balanceDue"]) == ("void", "Entered twice", "0.00")


def test_a_credit_note_takes_back_no_more_than_was_billed(books: BillBooks) -> None:
    bill = books.bill(lines=lines({}, {"amount": "50.00", "vatCode": "zero"}))
    assert (bill["grossTotal"], bill["vatTotal"]) == ("170.00", "20.00")
    of: Json = {"kind": "credit_note", "billDate": "2026-11-10"}
    assert books.wrong(**of) == [("creditsBillId", "required")]
    assert books.wrong(**of, creditsBillId="bill_x") == [("creditsBillId", "unknown_reference")]
    of["creditsBillId"] = bill["id"]
    assert books.wrong(**of, lines=lines({"amount": "150.00"})) == [("lines", "out_of_range")]  # 30.00 of VAT
    note = books.bill(**of, number="C 1", fxRate=None)
    assert (note["supplierId"], note["businessId"], note["status"]) == (books.supplier, books.business_id, "paid")
    assert books.now(bill)["balanceDue"] == "50.00"
    assert books.wrong(**of) == [("lines", "out_of_range")]
    assert books.wrong(**of, currency="EUR", supplierId="cli_x", businessId="biz_x") == [
        ("supplierId", "conflict"),
        ("businessId", "conflict"),
        ("currency", "conflict"),
    ]
    assert books.wrong(**{**of, "creditsBillId": note["id"]}) == [("creditsBillId", "conflict")]
    assert books.wrong(**{**of, "billDate": "2026-11-01"}) == [("taxPoint", "date_order")]
    assert books.refused("recordBillPayment", billId=note["id"]).code == "invalid_state"
    assert listed(books, f"creditsBillId={bill['id']}") == [note["id"]]
    assert books.post("voidBill", billId=note["id"], reason="R")["status"] == "void"
    assert books.now(bill)["balanceDue"] == "170.00"
    draft = books.bill(**of, status="draft")
    assert books.now(bill)["balanceDue"] == "170.00"
    books.post("updateBill", billId=draft["id"], status="awaiting_payment")
    assert (books.now(bill)["balanceDue"], books.now(bill)["status"]) == ("50.00", "part_paid")
    unowed = books.bill(status="draft")
    assert books.refused("createBill", **{**of, "creditsBillId": unowed["id"]}, lines=[BOARDS]).code == "invalid_state"


# -- how it is paid


def test_a_bank_line_pays_its_part_and_gets_it_back(books: BillBooks) -> None:
    bill = books.bill()
    line = books.line(books.bank, -100_00, date="2026-11-12")
    paid = books.paid(bill, bankTransactionId=line, reference="R", method="bank_transfer")
    assert (paid["balanceDue"], paid["status"], books.line_of(line).unallocated) == ("20.00", "part_paid", 0)
    assert paid["payments"] == [
        {
            "position": 1,
            "date": "2026-11-12",
            "amount": "100.00",
            "bankTransactionId": line,
            "method": "bank_transfer",
            "reference": "R",
            "fxRate": None,
            "fxRateSource": None,
        }
    ]
    (part,) = books.of_line(line)
    with pytest.raises(Problem) as caught:
        allocations.refuse_bound(part)
    assert (caught.value.code, "removeBillPayment" in caught.value.message) == ("invalid_state", True)
    again = books.refused("recordBillPayment", billId=bill["id"], bankTransactionId=line)
    assert fields_of(again) == [("bankTransactionId", "conflict")]
    back = books.post("removeBillPayment", billId=bill["id"], position=1)
    assert (back["status"], books.of_line(line), books.line_of(line).unallocated) == ("awaiting_payment", [], -100_00)


def test_a_bank_line_that_cannot_have_paid_is_refused(store: MemoryStore) -> None:
    books = BillBooks(store)
    bill = books.bill()
    other = books.account(books.unregistered_entity(name="Elm"))
    for line, code in (
        ("btx_x", "unknown_reference"),
        (books.line(books.bank, 120_00), "conflict"),
        (books.line(other, -120_00), "conflict"),
        (books.line(books.bank, -120_00, currency="USD"), "currency_mismatch"),
    ):
        refused = books.refused("recordBillPayment", billId=bill["id"], bankTransactionId=line)
        assert fields_of(refused) == [("bankTransactionId", code)]
    pending = books.line(books.bank, -120_00, status="pending")
    assert books.refused("recordBillPayment", billId=bill["id"], bankTransactionId=pending).code == "invalid_state"
    line = books.line(books.bank, -50_00)
    for more, error in (
        ({"amount": "60.00"}, ("amount", "out_of_range")),
        ({"amount": "0"}, ("amount", "out_of_range")),
        ({"amount": "1.001"}, ("amount", "invalid_decimal")),
        ({"date": "2026-11-01"}, ("date", "conflict")),
    ):
        assert fields_of(books.refused("recordBillPayment", billId=bill["id"], bankTransactionId=line, **more)) == [
            error
        ]
    assert fields_of(books.refused("recordBillPayment", billId=bill["id"], date="2026-11-21")) == [
        ("date", "out_of_range")
    ]
    with pytest.raises(Problem) as caught:
        books.allocate(line, Part("not_pnl", "bill_payment", business_id=books.business_id))
    assert fields_of(caught.value) == [("parts[0].purpose", "conflict")]


def test_a_line_has_so_many_parts(books: BillBooks) -> None:
    line = books.line(books.bank, -500_00)
    drawings = Part("not_pnl", "drawings", business_id=books.business_id, amount=1)
    books.allocate(line, *[drawings] * allocations.MAX_PER_LINE)
    bill = books.bill()
    refused = books.refused("recordBillPayment", billId=bill["id"], bankTransactionId=line)
    assert refused.code == "limit_reached"
    refused = books.refused("payBills", bills=[{"billId": bill["id"]}], bankTransactionId=line)
    assert refused.code == "limit_reached"
    assert books.now(bill)["payments"] == []


def test_one_payment_pays_several_bills_or_none(books: BillBooks) -> None:
    first, second = books.bill(), books.bill(lines=lines({"amount": "50.00"}))
    line = books.line(books.bank, -150_00, date="2026-11-12")
    asked = [{"billId": first["id"]}, {"billId": second["id"]}]
    refused = books.refused("payBills", bills=[*asked[:1], {**asked[1], "amount": "60.00"}], bankTransactionId=line)
    assert fields_of(refused) == [("bills[1].amount", "out_of_range")]
    assert (books.now(first)["payments"], books.of_line(line)) == ([], [])
    paid = books.post("payBills", bills=asked, bankTransactionId=line)["bills"]
    assert [(bill["status"], bill["balanceDue"]) for bill in paid] == [("paid", "0.00"), ("part_paid", "30.00")]
    assert books.line_of(line).unallocated == 0
    rest = books.post("payBills", bills=asked[1:], date="2026-11-15", method="cash", reference="R")["bills"][0]
    assert (rest["status"], rest["paidDate"], rest["payments"][1]["method"]) == ("paid", "2026-11-15", "cash")
    assert rest["payments"][1]["reference"] == "R"
    assert books.refused("payBills", bills=asked[1:]).code == "invalid_state"
    assert fields_of(books.refused("payBills", bills=[{"billId": "bill_x"}])) == [
        ("bills[0].billId", "unknown_reference")
    ]
    third = books.bill()
    twice = [{"billId": third["id"], "amount": "1.00"}] * 2
    assert fields_of(books.refused("payBills", bills=twice)) == [("bills[1].billId", "conflict")]


def test_no_more_comes_back_than_was_paid_too_much(books: BillBooks) -> None:
    bill = books.bill()
    books.paid(bill, amount="120.00")
    books.credit_of(bill, "50.00")
    assert fields_of(books.refused("recordBillPayment", billId=bill["id"], amount="60.01")) == [
        ("amount", "out_of_range")
    ]
    out = books.line(books.bank, -60_00)
    refused = books.refused("recordBillPayment", billId=bill["id"], bankTransactionId=out)
    assert fields_of(refused) == [("bankTransactionId", "conflict")]
    back = books.line(books.bank, 60_00, date="2026-11-15")
    done = books.paid(bill, bankTransactionId=back)
    assert (done["balanceDue"], done["payments"][1]["amount"], done["status"]) == ("0.00", "-60.00", "paid")
    assert books.line_of(back).unallocated == 0
    assert books.refused("removeBillPayment", billId=bill["id"], position=1).code == "invalid_state"
    books.post("removeBillPayment", billId=bill["id"], position=2)
    assert books.post("removeBillPayment", billId=bill["id"], position=1)["balanceDue"] == "60.00"


def test_a_foreign_bill_is_paid_at_the_rate_that_is_said(books: BillBooks) -> None:
    bill = books.bill(currency="EUR", fxRate="0.80")
    line = books.line(books.bank, -100_00)
    refused = books.refused("recordBillPayment", billId=bill["id"], bankTransactionId=line)
    assert fields_of(refused) == [("amount", "required")]
    paid = books.paid(bill, bankTransactionId=line, amount="60.00", fxRate="0.85")
    assert (paid["payments"][0]["fxRate"], books.line_of(line).unallocated) == ("0.85", -49_00)
    paid = books.paid(bill, date="2026-01-05")
    assert paid["payments"][1]["fxRateSource"] == "hmrc"


# -- closed periods, other organizations, lists


def test_nothing_moves_in_a_closed_period(books: BillBooks) -> None:
    bill = books.bill(billDate="2026-10-02")
    paid = books.bill(billDate="2026-10-03")
    books.paid(paid, date="2026-10-20")
    line = books.line(books.bank, -120_00, date="2026-10-20")
    books.write(lambda tx: period_locks.close(tx, books.entity_id, "2026-10-01", "2026-10-31"))
    of: Any = {"billId": bill["id"]}
    for operation, body in (
        ("createBill", {"billDate": "2026-10-05", "supplierId": books.supplier, "lines": [BOARDS]}),
        ("createBill", {"billDate": TODAY, "taxPoint": "2026-10-31", "supplierId": books.supplier, "lines": [BOARDS]}),
        ("updateBill", {**of, "notes": "N"}),
        ("updateBill", {**of, "billDate": TODAY, "taxPoint": TODAY}),
        ("voidBill", {**of, "reason": "R"}),
        ("recordBillPayment", {**of, "date": "2026-10-20"}),
        ("recordBillPayment", {**of, "bankTransactionId": line}),
        ("payBills", {"bills": [of], "date": "2026-10-20"}),
        ("removeBillPayment", {"billId": paid["id"], "position": 1}),
    ):
        assert books.refused(operation, **body).code == "period_closed", operation
    draft = books.bill(billDate="2026-10-05", status="draft")
    assert books.refused("updateBill", billId=draft["id"], status="awaiting_payment").code == "period_closed"
    assert books.paid(bill, date=TODAY)["status"] == "paid"
    assert books.credit_of(paid, "10.00")["status"] == "paid"


def test_another_organizations_bill_is_not_there(store: MemoryStore) -> None:
    books, others = BillBooks(store), BillBooks(store)
    bill = others.bill()
    with pytest.raises(Problem) as caught:
        books.now(bill)
    assert caught.value.code == "not_found"
    for operation in ("updateBill", "voidBill", "deleteBill", "recordBillPayment"):
        more = {"reason": "R"} if operation == "voidBill" else {}
        assert books.refused(operation, billId=bill["id"], **more).code == "not_found"
    assert fields_of(books.refused("payBills", bills=[{"billId": bill["id"]}])) == [
        ("bills[0].billId", "unknown_reference")
    ]
    assert books.wrong(supplierId=others.supplier) == [("supplierId", "unknown_reference")]
    assert books.wrong(kind="credit_note", creditsBillId=bill["id"]) == [("creditsBillId", "unknown_reference")]
    line = others.line(others.bank, -120_00)
    own = books.bill()
    refused = books.refused("recordBillPayment", billId=own["id"], bankTransactionId=line)
    assert fields_of(refused) == [("bankTransactionId", "unknown_reference")]
    assert listed(books) == [own["id"]]


def test_bills_are_listed_by_what_they_say(books: BillBooks) -> None:
    late = books.bill(dueDate="2026-11-19")
    due = books.bill(dueDate=TODAY)
    books.bill(status="draft", dueDate="2026-11-10")
    assert listed(books, "status=overdue") == [late["id"]]
    assert books.now(late)["isOverdue"] is True
    assert listed(books, "status=awaiting_payment") == [due["id"], late["id"]]
    assert listed(books, f"supplierId={books.supplier}&limit=1") == [listed(books)[0]]
    assert len(listed(books, f"businessId={books.business_id}&legalEntityId={books.entity_id}&kind=bill")) == 3
    assert listed(books, "businessId=biz_x") == listed(books, "legalEntityId=ent_x") == []
    books.caller = make_caller(books.org_id)
    assert len(books.walk("listBills", "limit=2")) == 3
