"""What people correct of what was read in a document, and what the next documents of its sender learn of that."""

import pytest
from msgspec.structs import replace

from gatewayd.areas.vault.parses import learning
from gatewayd.areas.vault.parses import rows as parses
from gatewayd.areas.vault.proposals import rows as proposals
from gatewayd.errors import Problem
from gatewayd.extraction.shapes import Facts, ToldValue
from gatewayd.parsing.results import settled
from gatewayd.store import ReadTx, WriteTx
from tests.areas.accounting.books import Books, Json, fields_of
from tests.areas.vault.cabinet import Cabinet
from tests.areas.vault.test_certificate_proposals import house, landlord, record
from tests.areas.vault.test_proposals import BILL, line, open_documents
from tests.support.store import MemoryStore

__all__ = ["landlord"]
VOLT = replace(
    BILL,
    counterparty="Voltedge",
    total="1240.00",
    currency="GBP",
    date="2026-10-20",
    vat_number="GB502808317",
    vat_numbers=["GB502808317"],
    bank_accounts=["309021 00418872"],
    senders=["Voltedge", "Thistle Lettings Limited"],
    told=[
        ToldValue(kind="money", label="consumerunit", value="1240.00"),
        ToldValue(kind="money", label="vat", value="248.00"),
        ToldValue(kind="money", label="sumtobesettled", value="1488.00"),
        ToldValue(kind="date", label="due", value="2026-10-31"),
        ToldValue(kind="number", label="ourjob", value="VE-2291"),
    ],
)
NEXT = replace(
    VOLT,
    counterparty="VOLTEDGE E1ECTRICAL",
    total="90.00",
    reference=None,
    told=[
        ToldValue(kind="money", label="testing", value="90.00"),
        ToldValue(kind="money", label="vat", value="18.00"),
        ToldValue(kind="money", label="sumtobesettled", value="108.00"),
        ToldValue(kind="number", label="ourjob", value="VE-2340"),
    ],
)


def read(cabinet: Cabinet, document_id: str, facts: Facts) -> None:
    """Let a document be read, as the daemon stores it."""

    def end(tx: WriteTx) -> None:
        n, _ = parses.begin(tx, document_id)
        found, is_ours = settled(tx, facts)
        assert parses.succeed(tx, document_id, n, 12, ("plain", "en", found))
        if not is_ours:
            proposals.note(tx, document_id, found)

    cabinet.store.write(end, cabinet.org_id)


def bill(cabinet: Cabinet, facts: Facts = VOLT) -> str:
    document_id = str(cabinet.document("bill.pdf", facts.counterparty.encode() if facts.counterparty else b"x")["id"])
    read(cabinet, document_id, facts)
    return document_id


def extracted(cabinet: Cabinet, document_id: str) -> Json:
    found: Json = cabinet.one("getDocument", f"documentId={document_id}")["extracted"]
    return found


def test_what_is_corrected_is_shown_and_stays_when_it_is_read_anew(cabinet: Cabinet) -> None:
    document_id = bill(cabinet)
    changes = {
        "kind": "receipt",
        "counterparty": "Voltedge Electrical Ltd",
        "vatNumber": "GB434031439",
        "reference": "VE-2291",
        "date": "2026-10-21",
        "dueDate": "2026-10-31",
        "total": "1488",
        "net": "1240",
        "vat": "248",
        "currency": "EUR",
    }
    corrected = cabinet.post("correctFacts", documentId=document_id, **changes)
    amounts = {"total": "1488.00", "net": "1240.00", "vat": "248.00"}
    assert {name: corrected["extracted"][name] for name in changes} == changes | amounts
    assert corrected["extracted"]["corrected"] == sorted(changes)
    assert corrected["extracted"]["confidences"]["total"] == 1.0
    assert corrected["documentDate"] == "2026-10-21"
    cabinet.post("reparseDocument", documentId=document_id)
    read(cabinet, document_id, VOLT)
    assert {name: extracted(cabinet, document_id)[name] for name in changes} == changes | amounts


def test_a_total_is_corrected_and_what_it_contradicts_is_cleared(cabinet: Cabinet) -> None:
    document_id = bill(cabinet, replace(VOLT, net="1000.00", vat="240.00"))
    cabinet.post("correctFacts", documentId=document_id, total="1488.00")
    assert [extracted(cabinet, document_id)[name] for name in ("total", "net", "vat")] == ["1488.00", None, None]


@pytest.mark.parametrize(
    ("changes", "wrong"),
    [
        ({"total": "120.00", "net": "100.00", "vat": "21.00"}, {("total", "conflict")}),
        ({"total": "0.00"}, {("total", "out_of_range")}),
        ({"total": "1.005"}, {("total", "invalid_decimal")}),
        ({"date": "2026-10-20", "dueDate": "2026-10-19"}, {("dueDate", "out_of_range")}),
    ],
)
def test_what_cannot_be_is_refused(cabinet: Cabinet, changes: Json, wrong: set[tuple[str, str]]) -> None:
    document_id = bill(cabinet)
    with pytest.raises(Problem) as caught:
        cabinet.post("correctFacts", documentId=document_id, **changes)
    assert set(fields_of(caught.value)) == wrong
    assert extracted(cabinet, document_id)["corrected"] == []


def test_a_document_that_nothing_could_be_read_in_is_told_of_by_hand(cabinet: Cabinet) -> None:
    document_id = str(cabinet.document("photo.jpg", b"photo")["id"])
    assert cabinet.one("getDocument", f"documentId={document_id}")["extracted"] is None
    line_id = line(cabinet, date="2026-10-30")
    cabinet.post("correctFacts", documentId=document_id, kind="receipt", total="120.50", date="2026-10-30")
    (found,), _ = cabinet.get("listProposals", f"documentId={document_id}")
    assert [each["bankTransactionId"] for each in found["proposals"] if each["kind"] == "bank_line"] == [line_id]
    cabinet.post("correctFacts", documentId=document_id, total=None)
    assert open_documents(cabinet) == []


def test_facts_of_what_was_never_uploaded_are_not_corrected(cabinet: Cabinet) -> None:
    document_id = cabinet.record()["document"]["id"]
    with pytest.raises(Problem) as caught:
        cabinet.post("correctFacts", documentId=document_id, total="1.00")
    assert caught.value.code == "not_uploaded"


def test_only_the_version_that_was_seen_is_corrected(cabinet: Cabinet) -> None:
    document_id = bill(cabinet)
    version = cabinet.one("getDocument", f"documentId={document_id}")["version"]
    with pytest.raises(Problem) as caught:
        cabinet.post("correctFacts", documentId=document_id, expectedVersion=version + 1, total="1.00")
    assert caught.value.code == "version_conflict"
    cabinet.post("correctFacts", documentId=document_id, expectedVersion=version, total="1.00")


def test_the_senders_next_bill_is_read_as_the_last_was_corrected(cabinet: Cabinet) -> None:
    document_id = bill(cabinet)
    right = {"counterparty": "Voltedge Electrical Ltd", "total": "1488.00", "vat": "248.00", "reference": "VE-2291"}
    cabinet.post("correctFacts", documentId=document_id, **right)
    found = extracted(cabinet, bill(cabinet, NEXT))
    assert (found["counterparty"], found["total"], found["vat"]) == ("Voltedge Electrical Ltd", "108.00", "18.00")
    assert found["reference"] == "VE-2340"
    assert found["corrected"] == [], "it was learned, and nobody has corrected it"
    other = replace(NEXT, vat_numbers=["GB434031439"], vat_number="GB434031439", bank_accounts=[])
    assert extracted(cabinet, bill(cabinet, other))["total"] == "90.00", "another firm's"


def test_a_name_alone_tells_a_sender_that_has_neither_vat_number_nor_account(cabinet: Cabinet) -> None:
    plain = replace(VOLT, vat_number=None, vat_numbers=[], bank_accounts=[])
    cabinet.post("correctFacts", documentId=bill(cabinet, plain), total="1488.00")
    again = replace(NEXT, counterparty="Voltedge Ltd", vat_number=None, vat_numbers=[], bank_accounts=[])
    assert extracted(cabinet, bill(cabinet, again))["total"] == "108.00"


def test_another_organization_learns_nothing(cabinet: Cabinet, store: MemoryStore) -> None:
    cabinet.post("correctFacts", documentId=bill(cabinet), total="1488.00")
    stranger = Cabinet(store, "Another Ltd")
    assert extracted(stranger, bill(stranger, NEXT))["total"] == "90.00"


def test_what_is_learned_is_bounded(cabinet: Cabinet, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(learning, "MOST", 3)
    for number in range(4):
        facts = replace(VOLT, vat_numbers=[f"GB{number}"], bank_accounts=[])
        cabinet.post("correctFacts", documentId=bill(cabinet, facts), counterparty=f"Firm {number}")
    kept = cabinet.store.read(lambda tx: tx.rows("SELECT count(*) FROM vault_learned"), cabinet.org_id)
    assert kept == [(3,)]


def test_a_bill_is_corrected_while_it_is_accepted(cabinet: Cabinet) -> None:
    line_id, document_id = line(cabinet), bill(cabinet, replace(VOLT, total="120.50", date="2026-10-30"))
    changes = {
        "kind": "invoice",
        "counterparty": "Voltedge Electrical Ltd",
        "vatNumber": None,
        "reference": "VE-2291",
        "date": "2026-10-29",
        "dueDate": "2026-11-30",
        "total": "148.80",
        "net": "124.00",
        "vat": "24.80",
        "currency": "GBP",
    }
    accepted = cabinet.post("acceptProposal", documentId=document_id, bankTransactionId=line_id, **changes)
    assert [link["id"] for link in accepted["links"]] == [line_id]
    assert {name: accepted["extracted"][name] for name in changes} == changes
    assert extracted(cabinet, bill(cabinet, NEXT))["counterparty"] == "Voltedge Electrical Ltd"


def test_whose_account_it_is_is_learned_of_a_bill_that_is_accepted_as_it_was_read(cabinet: Cabinet) -> None:
    line_id, document_id = line(cabinet), bill(cabinet, replace(VOLT, total="120.50", date="2026-10-30"))
    cabinet.post("acceptProposal", documentId=document_id, bankTransactionId=line_id)
    garbled = replace(NEXT, vat_number=None, vat_numbers=[])
    assert extracted(cabinet, bill(cabinet, garbled))["counterparty"] == "Voltedge"


def test_a_certificate_is_corrected_while_it_is_accepted(cabinet: Cabinet, landlord: object) -> None:
    property_id, document_id = house(landlord), record(cabinet)  # type: ignore[arg-type]
    changes = {
        "type": "epc",
        "reference": "1111-2222-3333-4444-5555",
        "issuerName": "Avon Heating and Gas Ltd",
        "issuerRegistration": "512346",
        "result": None,
        "rating": "B",
        "score": 82,
    }
    made = cabinet.post("acceptCertificate", documentId=document_id, propertyId=property_id, **changes)
    assert {name: made[name] for name in changes} == changes


_OLD = """
UPDATE vault_parses SET extracted = '{"kind":"invoice","date":"2026-10-30","total":"120.50","currency":"GBP",
"counterparty":"Alder & Finch Ltd","vat_number":null,"reference":"INV-2204","confidence":0.9,"certificate":null}'
WHERE org_id = :org_id
"""


def test_what_an_older_version_read_is_shown_and_can_be_corrected(cabinet: Cabinet) -> None:
    document_id = bill(cabinet)
    cabinet.store.write(lambda tx: tx.run(_OLD), cabinet.org_id)
    found = extracted(cabinet, document_id)
    assert (found["total"], found["net"], found["dueDate"], found["source"]) == ("120.50", None, None, "text")
    assert set(found["confidences"].values()) == {None}
    cabinet.post("correctFacts", documentId=document_id, counterparty="Alder and Finch")
    again = replace(BILL, counterparty="Alder & Finch Ltd", vat_numbers=[], bank_accounts=[])
    assert extracted(cabinet, bill(cabinet, again))["counterparty"] == "Alder and Finch"


# -- who sent it


def known(cabinet: Cabinet, facts: Facts) -> tuple[Facts, bool]:
    def look(tx: ReadTx) -> tuple[Facts, bool]:
        return settled(tx, facts)

    return cabinet.store.read(look, cabinet.org_id)


def test_the_firm_itself_is_never_the_sender(cabinet: Cabinet) -> None:
    cabinet.entity(name="Thistle", legalName="Thistle Lettings Limited", vatNumber="434031439")
    to_us = replace(VOLT, counterparty="THISTLE LETTINGS LTD", senders=["THISTLE LETTINGS LTD", "Voltedge"])
    found, is_ours = known(cabinet, to_us)
    assert (found.counterparty, is_ours) == ("Voltedge", False)
    with_our_number = replace(to_us, vat_number="GB434031439", vat_numbers=["GB434031439", "GB502808317"])
    found, is_ours = known(cabinet, with_our_number)
    assert (found.counterparty, found.vat_number, is_ours) == ("Voltedge", None, False)
    of_ours = replace(to_us, vat_number="GB434031439", vat_numbers=["GB434031439"])
    found, is_ours = known(cabinet, of_ours)
    assert (found.counterparty, is_ours) == (None, True), "an invoice of its own"
    document_id = bill(cabinet, of_ours)
    assert document_id not in open_documents(cabinet)


def test_a_supplier_is_known_by_its_vat_number_and_by_its_name(cabinet: Cabinet) -> None:
    books = Books(cabinet.store)
    books.org_id, books.caller = cabinet.org_id, cabinet.caller
    numbered = books.post("createClient", name="Voltedge Electrical Ltd", vatNumber="GB502808317", countryCode="GB")
    by_number, by_name = numbered["id"], books.post("createClient", name="Orchard Vale Wholesale")["id"]
    found, _ = known(cabinet, replace(VOLT, counterparty="STORES"))
    assert found.counterparty == "Voltedge Electrical Ltd"
    found, _ = known(cabinet, replace(BILL, counterparty="ORCHARD VALE WHOLESALE LTD"))
    assert found.counterparty == "Orchard Vale Wholesale"
    document_id = bill(cabinet, replace(VOLT, total="120.50", net="100.42", vat="20.08", due_date="2026-11-19"))
    (shown,), _ = cabinet.get("listProposals", f"documentId={document_id}")
    assert shown["supplierId"] == by_number
    assert (shown["net"], shown["vat"], shown["dueDate"]) == ("100.42", "20.08", "2026-11-19")
    document_id = bill(cabinet, replace(BILL, counterparty="Orchard Vale Wholesale"))
    (shown,), _ = cabinet.get("listProposals", f"documentId={document_id}")
    assert shown["supplierId"] == by_name
