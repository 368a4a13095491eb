"""Bills that were read propose the bill of a supplier; people accept it as it is, or with what is otherwise."""

from typing import ClassVar

import pytest
from msgspec.structs import replace

from gatewayd.areas.accounting import AREA
from gatewayd.contract.decoding import RequestDecoder
from gatewayd.errors import Problem
from gatewayd.extraction.shapes import Facts
from gatewayd.ledger.calendar import period_locks
from tests.areas.accounting.books import Json, fields_of
from tests.areas.vault import test_proposals
from tests.areas.vault.cabinet import Cabinet
from tests.areas.vault.test_proposals import BILL
from tests.ledger.lets import insert_property, insert_tenancy, insert_unit
from tests.support.rows import served
from tests.support.store import MemoryStore

_ACCOUNTING = {operation.id.partition(".")[2]: operation for operation in served(AREA)}


class BilledCabinet(Cabinet):
    """An organization with a vault and a trade that is charged."""

    operations: ClassVar = {**_ACCOUNTING, **Cabinet.operations}
    decoders: ClassVar = {**{name: RequestDecoder(row) for name, row in _ACCOUNTING.items()}, **Cabinet.decoders}

    def __init__(self, store: MemoryStore) -> None:
        super().__init__(store)
        self.entity_id = self.entity()
        self.business_id = self.business(self.entity_id)

    def proposed(self, document_id: str) -> list[Json]:
        listed, _ = self.get("listProposals", f"documentId={document_id}")
        return [one for found in listed for one in found["proposals"] if one["kind"] == "bill"]

    def accept(self, document_id: str, **fields: object) -> Json:
        return self.post("acceptBill", **{"documentId": document_id, "category": "costOfGoods", **fields})

    def refused(self, document_id: str, **fields: object) -> Problem:
        with pytest.raises(Problem) as caught:
            self.accept(document_id, **fields)
        return caught.value


@pytest.fixture
def cabinet(store: MemoryStore) -> BilledCabinet:
    return BilledCabinet(store)


def test_a_bill_proposes_itself_with_its_supplier(cabinet: BilledCabinet) -> None:
    document = test_proposals.bill(cabinet)
    (found,) = cabinet.proposed(document)
    assert (found["score"], found["bill"]["supplierId"], found["amount"]) == (55, None, None)
    supplier = cabinet.client("ALDER & Finch ltd")
    (found,) = cabinet.proposed(document)
    assert (found["kind"], found["score"], found["bill"]) == (
        "bill",
        80,
        {
            "supplierId": supplier,
            "supplierName": "Alder & Finch Ltd",
            "number": "INV-2204",
            "billDate": "2026-10-30",
            "dueDate": None,
            "gross": "120.50",
            "vat": None,
            "currency": "GBP",
        },
    )
    assert found["reason"] == "It is a bill of 120.50 GBP, and its sender is a client."
    cabinet.client("Alder & Finch Ltd")  # which of the two, nobody can tell
    assert cabinet.proposed(document)[0]["bill"]["supplierId"] is None


def test_a_supplier_is_known_by_the_vat_number(cabinet: BilledCabinet) -> None:
    supplier = cabinet.client("Another name", vatNumber="GB434031494")
    document = test_proposals.bill(cabinet, replace(BILL, vat_number="GB434031494"))
    assert cabinet.proposed(document)[0]["bill"]["supplierId"] == supplier


@pytest.mark.parametrize(
    "facts",
    [  # none of an amount, a currency, a date, or of another
        replace(BILL, total="0.00"),
        replace(BILL, total="1.005"),
        replace(BILL, currency="ZZZ"),
        replace(BILL, date=None),
        replace(BILL, counterparty="Oak"),
    ],
)
def test_what_is_no_bill_of_another_is_not_proposed(cabinet: BilledCabinet, facts: Facts) -> None:
    assert cabinet.proposed(test_proposals.bill(cabinet, facts)) == []


def test_to_accept_enters_the_bill_with_its_document(cabinet: BilledCabinet) -> None:
    supplier, document = cabinet.client("Alder & Finch Ltd"), test_proposals.bill(cabinet)
    made = cabinet.accept(document, vatCode="standard")
    assert (made["supplierId"], made["number"], made["billDate"], made["documentIds"]) == (
        supplier,
        "INV-2204",
        "2026-10-30",
        [document],
    )
    assert (made["netTotal"], made["vatTotal"], made["grossTotal"]) == ("100.42", "20.08", "120.50")
    assert (made["status"], made["kind"], made["businessId"]) == ("awaiting_payment", "bill", cabinet.business_id)
    assert cabinet.accept(document) == made
    assert cabinet.get("listProposals", f"documentId={document}")[0] == []
    again = test_proposals.bill(cabinet)
    assert cabinet.proposed(again) == []  # its number is entered
    assert cabinet.refused(again).code == "possible_duplicate"


def test_the_vat_and_the_due_date_that_were_read_are_taken(cabinet: BilledCabinet) -> None:
    """As they are printed, which a supplier may have rounded otherwise."""
    cabinet.client("Alder & Finch Ltd")
    document = test_proposals.bill(cabinet, replace(BILL, net="100.41", vat="20.09", due_date="2026-11-13"))
    (found,) = cabinet.proposed(document)
    assert (found["bill"]["vat"], found["bill"]["dueDate"]) == ("20.09", "2026-11-13")
    made = cabinet.accept(document, vatCode="standard")
    assert (made["netTotal"], made["vatTotal"], made["dueDate"]) == ("100.41", "20.09", "2026-11-13")
    odd = test_proposals.bill(cabinet, replace(BILL, reference="2", vat="120.50", due_date="2026-10-29"))
    (found,) = cabinet.proposed(odd)
    assert (found["bill"]["vat"], found["bill"]["dueDate"]) == (None, None)
    late = test_proposals.bill(cabinet, replace(BILL, reference="3", total="12.00", vat="2.00", due_date="2026-11-01"))
    made = cabinet.accept(late, billDate="2026-11-02")
    assert (made["vatTotal"], made["dueDate"]) == ("2.00", "2026-12-02")


def test_everything_can_be_otherwise(cabinet: BilledCabinet) -> None:
    document, supplier = test_proposals.bill(cabinet), cabinet.client("Quarry Ltd")
    let = cabinet.store.write(lambda tx: insert_property(tx, cabinet.business_id), cabinet.org_id)
    unit = cabinet.store.write(lambda tx: insert_unit(tx, let), cabinet.org_id)
    tenancy = cabinet.store.write(lambda tx: insert_tenancy(tx, let), cabinet.org_id)
    line = {
        "description": "A lathe",
        "amount": "60.00",
        "category": "maintenanceCosts",
        "vatCode": "standard",
        "vatAmount": "10.00",
        "disallowablePercent": "20",
        "capitalGoods": True,
        "propertyId": let,
        "unitId": unit,
        "tenancyId": tenancy,
    }
    asked: Json = {
        "supplierId": supplier,
        "businessId": cabinet.business_id,
        "number": "Q 1",
        "billDate": "2026-10-28",
        "taxPoint": "2026-10-27",
        "dueDate": "2026-11-01",
        "currency": "EUR",
    }
    made = cabinet.accept(document, **asked, lines=[line], allowDuplicate=True)
    assert {name: made[name] for name in asked} == asked
    (kept,) = made["lines"]
    assert (kept["gross"], kept["vat"], kept["disallowable"], kept["tenancyId"]) == ("60.00", "10.00", "12.00", tenancy)
    claim = cabinet.accept(test_proposals.bill(cabinet), claimant="Ash")
    assert (claim["kind"], claim["claimant"]) == ("expense_claim", "Ash")


def test_what_was_not_found_has_to_be_said(cabinet: BilledCabinet) -> None:
    document = test_proposals.bill(cabinet, replace(BILL, date=None))
    refused = cabinet.refused(document, category=None)
    assert fields_of(refused) == [("billDate", "required"), ("category", "required")]
    assert fields_of(cabinet.refused(document, billDate="2026-10-30")) == [("supplierId", "required")]
    no_amount = test_proposals.bill(cabinet, replace(BILL, total="1.005"))
    assert fields_of(cabinet.refused(no_amount)) == [("lines", "required")]
    assert fields_of(cabinet.refused("doc_x")) == [("documentId", "unknown_reference")]


def test_what_is_decided_or_closed_is_not_accepted(cabinet: BilledCabinet) -> None:
    cabinet.client("Alder & Finch Ltd")
    letter = test_proposals.bill(cabinet, replace(BILL, kind="letter"))
    assert cabinet.refused(letter).code == "invalid_state"
    dismissed = test_proposals.bill(cabinet)
    cabinet.post("dismissProposal", documentId=dismissed)
    assert cabinet.refused(dismissed).code == "invalid_state"
    paid = test_proposals.bill(cabinet)
    line = test_proposals.line(cabinet)
    cabinet.post("acceptProposal", documentId=paid, bankTransactionId=line)
    assert cabinet.refused(paid).code == "invalid_state"
    document = test_proposals.bill(cabinet)
    entity, range_ = cabinet.entity_id, ("2026-10-01", "2026-10-31")
    cabinet.store.write(lambda tx: period_locks.close(tx, entity, *range_), cabinet.org_id)
    assert cabinet.refused(document).code == "period_closed"
    assert cabinet.accept(document, billDate="2026-11-02")["status"] == "awaiting_payment"
    line = test_proposals.line(cabinet)
    with pytest.raises(Problem) as caught:
        cabinet.post("acceptProposal", documentId=document, bankTransactionId=line)
    assert caught.value.code == "invalid_state"


def test_nothing_is_made_of_another_organizations_document(cabinet: BilledCabinet, store: MemoryStore) -> None:
    document, others = test_proposals.bill(cabinet), BilledCabinet(store)
    assert fields_of(others.refused(document)) == [("documentId", "unknown_reference")]
