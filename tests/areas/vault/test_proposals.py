"""What documents propose: the bank line that a bill or receipt belongs to; accepted or dismissed by people."""

import datetime
from functools import partial

import pytest
from msgspec.structs import replace

from gatewayd.areas.businesses.profit_and_loss.operations import get_business_pnl
from gatewayd.areas.businesses.profit_and_loss.shapes import GetBusinessPnl
from gatewayd.areas.vault import trash
from gatewayd.areas.vault.parses import rows as parses
from gatewayd.areas.vault.proposals import rows
from gatewayd.errors import Problem
from gatewayd.extraction.shapes import Facts
from gatewayd.ledger.allocating import allocations, bank_lines
from gatewayd.ledger.allocating.allocation_shapes import Allocation, Part
from gatewayd.ledger.calendar import period_locks
from gatewayd.store import WriteTx
from tests.areas.accounting.books import Json, fields_of
from tests.areas.vault.cabinet import Cabinet
from tests.ledger import bank_books
from tests.support.document_reading import NOTHING_FOUND
from tests.support.store import MemoryStore, make_caller

BILL = replace(
    NOTHING_FOUND,
    kind="invoice",
    date="2026-10-30",
    total="120.50",
    currency="GBP",
    counterparty="Alder & Finch Ltd",
    reference="INV-2204",
    confidence=0.9,
)
DRAWINGS = Part(category="not_pnl", purpose="drawings")
DAY = datetime.date(2026, 11, 2)


def line(cabinet: Cabinet, amount: int = -12050, *, currency: str = "GBP", **fields: object) -> str:
    def insert(tx: WriteTx) -> str:
        account_id = bank_books.insert_account(tx, currency=currency)
        return bank_books.insert_line(tx, account_id, amount, currency=currency, **fields)

    return cabinet.store.write(insert, cabinet.org_id)


def read(cabinet: Cabinet, document_id: str, facts: Facts) -> None:
    """Let a document be read, with what was found."""

    def end(tx: WriteTx) -> None:
        n, _ = parses.begin(tx, document_id)
        assert parses.succeed(tx, document_id, n, 12, ("plain", "en", facts))
        rows.note(tx, document_id, facts)

    cabinet.store.write(end, cabinet.org_id)


def bill(cabinet: Cabinet, facts: Facts = BILL, **fields: object) -> str:
    """A document that was read."""
    document_id = str(cabinet.document("bill.pdf", b"paper", **fields)["id"])
    read(cabinet, document_id, facts)
    return document_id


def proposals(cabinet: Cabinet, document_id: str) -> list[Json]:
    (found,), _ = cabinet.get("listProposals", f"documentId={document_id}")
    return [each for each in found["proposals"] if each["kind"] != "bill"]


def proposed(cabinet: Cabinet, document_id: str) -> list[str]:
    return [str(each["bankTransactionId"]) for each in proposals(cabinet, document_id)]


def open_documents(cabinet: Cabinet, query: str = "") -> list[str]:
    return [str(item["documentId"]) for item in cabinet.walk("listProposals", query)]


def refusal(cabinet: Cabinet, operation: str, **body: object) -> Problem:
    with pytest.raises(Problem) as caught:
        cabinet.post(operation, **body)
    return caught.value


def allocate(cabinet: Cabinet, line_id: str, part: Part = DRAWINGS) -> list[Allocation]:
    def work(tx: WriteTx) -> list[Allocation]:
        return allocations.allocate(tx, bank_lines.get(tx, line_id), [part])

    return cabinet.store.write(work, cabinet.org_id)


def documented(cabinet: Cabinet, line_id: str) -> list[list[str]]:
    return [
        row.document_ids for row in cabinet.store.read(partial(allocations.of_line, line_id=line_id), cabinet.org_id)
    ]


def test_a_bill_proposes_the_line_that_paid_it(cabinet: Cabinet) -> None:
    line_id, document_id = line(cabinet), bill(cabinet)
    (found,) = proposals(cabinet, document_id)
    assert (found["bankTransactionId"], found["kind"], found["amount"]) == (line_id, "bank_line", "120.50")
    assert found["reason"] == "120.50 GBP went out 3 days after its date."
    assert cabinet.one("getDocument", f"documentId={document_id}")["links"] == [], "nothing is done by itself"


@pytest.mark.parametrize(
    ("amount", "fields"),
    [
        (12050, {}),
        (-12051, {}),
        (-12050, {"status": "pending"}),
        (-12050, {"date": "2026-10-19"}),
        (-12050, {"date": "2026-11-10"}),
        (-12050, {"date": "2027-01-15", "description": "ALDER FINCH INV-2204"}),
        (-12050, {"currency": "EUR"}),
    ],
)
def test_other_lines_are_not_proposed(cabinet: Cabinet, amount: int, fields: dict[str, str]) -> None:
    line(cabinet, amount, **fields)
    assert proposals(cabinet, bill(cabinet)) == []


@pytest.mark.parametrize(
    ("changes", "is_proposed"),
    [
        ({"total": None}, None),
        ({"kind": "bank_statement"}, None),
        ({"kind": "receipt"}, True),
        ({"currency": None}, True),
        ({"currency": "XXZ"}, False),
        ({"date": None}, False),
        ({"total": "NaN"}, False),
        ({"total": "120.505"}, False),
        ({"total": "-120.50"}, False),
        ({"total": "9" * 40}, False),
        ({"date": "9999-12-30"}, False),
        ({"date": "0001-01-01"}, False),
    ],
)
def test_what_was_read_decides(cabinet: Cabinet, changes: dict[str, str], is_proposed: bool | None) -> None:
    """None: the document is not even listed."""
    line(cabinet)
    document_id = bill(cabinet, replace(BILL, **changes))
    assert open_documents(cabinet) == ([] if is_proposed is None else [document_id])
    if is_proposed is not None:
        assert bool(proposals(cabinet, document_id)) is is_proposed


def test_a_line_that_names_the_sender_or_the_number_is_likelier_and_may_be_later(cabinet: Cabinet) -> None:
    plain, named = line(cabinet), line(cabinet, description="FPO ALDER & FINCH")
    both = line(cabinet, description="ALDER FINCH", reference="INV 2204", date="2026-12-15")
    document_id = bill(cabinet)
    found = proposals(cabinet, document_id)
    assert [each["bankTransactionId"] for each in found] == [named, both, plain]
    assert found[1]["reason"] == (
        "120.50 GBP went out 46 days after its date, the sender is named, its number is in the text."
    )
    assert found[0]["score"] > found[1]["score"] > found[2]["score"]


def test_lines_that_are_as_likely_are_less_sure(cabinet: Cabinet) -> None:
    line(cabinet)
    document_id = bill(cabinet)
    (alone,) = proposals(cabinet, document_id)
    line(cabinet)
    assert [each["score"] for each in proposals(cabinet, document_id)] == [alone["score"] - 20] * 2


def test_a_copy_of_an_own_invoice_is_no_bill(cabinet: Cabinet) -> None:
    line(cabinet)
    cabinet.entity(name="Alder & Finch Ltd")
    assert proposals(cabinet, bill(cabinet)) == []


def test_the_date_that_a_person_gave_goes_before_the_one_that_was_read(cabinet: Cabinet) -> None:
    line_id = line(cabinet)
    document_id = bill(cabinet, replace(BILL, date="2020-01-01"), documentDate="2026-11-02")
    assert proposed(cabinet, document_id) == [line_id]


def test_to_accept_links_the_document_and_documents_what_is_allocated(cabinet: Cabinet) -> None:
    line_id, document_id = line(cabinet), bill(cabinet)
    allocate(cabinet, line_id)
    assert documented(cabinet, line_id) == [[]]
    answered = cabinet.post("acceptProposal", documentId=document_id, bankTransactionId=line_id)
    assert answered["links"] == [{"type": "bank_transaction", "id": line_id}]
    assert documented(cabinet, line_id) == [[document_id]]
    assert open_documents(cabinet) == []
    assert cabinet.get("listProposals", f"documentId={document_id}")[0] == []
    again = cabinet.post("acceptProposal", documentId=document_id, bankTransactionId=line_id)
    assert again["version"] == answered["version"], "to accept it again changes nothing"
    assert refusal(cabinet, "dismissProposal", documentId=document_id).code == "invalid_state"
    assert proposed(cabinet, bill(cabinet)) == [], "the line has a document"


def test_what_is_allocated_later_has_the_document_too(cabinet: Cabinet) -> None:
    line_id, document_id = line(cabinet), bill(cabinet)
    cabinet.post("acceptProposal", documentId=document_id, bankTransactionId=line_id)
    assert [row.document_ids for row in allocate(cabinet, line_id)] == [[document_id]]


def test_an_allocation_has_twenty_documents_at_most(cabinet: Cabinet) -> None:
    line_id = line(cabinet)
    link = [{"type": "bank_transaction", "id": line_id}]
    document_ids = [str(cabinet.document(f"bill {number}.pdf", links=link)["id"]) for number in range(21)]
    assert [row.document_ids for row in allocate(cabinet, line_id)] == [document_ids[:20]]
    assert [len(ids) for ids in documented(cabinet, line_id)] == [20]


def test_profit_and_loss_counts_the_expense_as_documented(cabinet: Cabinet) -> None:
    business_id = cabinet.business(cabinet.entity())
    line_id, document_id = line(cabinet), bill(cabinet)
    allocate(cabinet, line_id, Part(category="adminCosts", business_id=business_id))
    request = GetBusinessPnl(id=business_id, from_date=DAY, to_date=DAY)

    def evidence() -> tuple[str, str, int]:
        found = cabinet.store.read(lambda tx: get_business_pnl(tx, cabinet.caller, request), cabinet.org_id).evidence
        return str(found.expenses), str(found.documented), found.missing

    assert evidence() == ("120.50", "0.00", 1)
    cabinet.post("acceptProposal", documentId=document_id, bankTransactionId=line_id)
    assert evidence() == ("120.50", "120.50", 0)


def test_only_what_is_proposed_can_be_accepted(cabinet: Cabinet) -> None:
    line(cabinet)
    other, document_id = line(cabinet, -1), bill(cabinet)
    assert (
        refusal(cabinet, "acceptProposal", documentId=document_id, bankTransactionId=other).code == "validation_failed"
    )
    plain = cabinet.document("plain.txt")["id"]
    for operation, body in (("acceptProposal", {"bankTransactionId": other}), ("dismissProposal", {})):
        assert refusal(cabinet, operation, documentId=plain, **body).code == "invalid_state"


def test_what_was_dismissed_is_not_proposed_again(cabinet: Cabinet) -> None:
    line_id, document_id = line(cabinet), bill(cabinet)
    cabinet.post("dismissProposal", documentId=document_id)
    cabinet.post("dismissProposal", documentId=document_id)
    cabinet.post("reparseDocument", documentId=document_id)
    read(cabinet, document_id, BILL)
    assert open_documents(cabinet) == []
    accepted = refusal(cabinet, "acceptProposal", documentId=document_id, bankTransactionId=line_id)
    assert accepted.code == "invalid_state"


def test_another_reading_may_take_a_proposal_back(cabinet: Cabinet) -> None:
    document_id = bill(cabinet)
    assert open_documents(cabinet, "kind=bank_line") == [document_id]
    cabinet.post("reparseDocument", documentId=document_id)
    read(cabinet, document_id, NOTHING_FOUND)
    assert open_documents(cabinet) == []


def test_documents_are_listed_in_pages_the_newest_first(cabinet: Cabinet) -> None:
    made = [bill(cabinet) for _ in range(5)]
    cabinet.post("deleteDocument", documentId=made[2])
    assert open_documents(cabinet, "limit=2") == [made[4], made[3], made[1], made[0]]


def test_nothing_is_seen_or_decided_for_another_organization(cabinet: Cabinet, store: MemoryStore) -> None:
    line_id, document_id = line(cabinet), bill(cabinet)
    other = Cabinet(store, "Elm Ltd")
    assert open_documents(other) == []
    for operation, body in (("acceptProposal", {"bankTransactionId": line_id}), ("dismissProposal", {})):
        refused = refusal(other, operation, documentId=document_id, **body)
        assert ("documentId", "unknown_reference") in fields_of(refused)
    foreign = bill(other)
    assert proposals(other, foreign) == [], "the line is somebody else's"
    with pytest.raises(Problem):
        other.get("listProposals", f"documentId={document_id}")


def test_links_by_hand_count_as_well_and_can_be_taken_back(cabinet: Cabinet) -> None:
    line_id, document_id = line(cabinet), str(cabinet.document()["id"])
    allocate(cabinet, line_id)
    link = {"type": "bank_transaction", "id": line_id}
    cabinet.post("updateDocument", documentId=document_id, links=[link])
    assert documented(cabinet, line_id) == [[document_id]]
    cabinet.post("updateDocument", documentId=document_id, links=[])
    assert documented(cabinet, line_id) == [[]]


def test_who_may_not_change_the_books_makes_and_takes_no_links_to_bank_lines(cabinet: Cabinet) -> None:
    entity_id = cabinet.entity()
    link, other = (
        {"type": "bank_transaction", "id": line(cabinet)},
        {"type": "business", "id": cabinet.business(entity_id)},
    )
    linked = cabinet.document(links=[link])
    cabinet.caller = make_caller(cabinet.org_id, scopes=frozenset({"vault:read", "vault:write"}))
    plain = cabinet.document(links=[other])
    for operation, body in (
        ("createDocumentRecord", {"name": "b.pdf", "links": [link]}),
        ("updateDocument", {"documentId": plain["id"], "links": [other, link]}),
        ("updateDocument", {"documentId": linked["id"], "links": []}),
    ):
        refused = refusal(cabinet, operation, **body)
        assert refused.code == "insufficient_scope"
        assert refused.extra == {"requiredScopes": ["vault:write", "accounting:write"]}
    kept = cabinet.post("updateDocument", documentId=linked["id"], name="other.pdf", links=[other, link])
    assert kept["links"] == [other, link], "what it has already is no change of the books"


def test_a_document_has_at_most_twenty_links(cabinet: Cabinet) -> None:
    line_id, document_id, entity_id = line(cabinet), bill(cabinet), cabinet.entity()
    links = [{"type": "business", "id": cabinet.business(entity_id)} for _ in range(20)]
    cabinet.post("updateDocument", documentId=document_id, links=links)
    refused = refusal(cabinet, "acceptProposal", documentId=document_id, bankTransactionId=line_id)
    assert (refused.code, refused.extra) == ("limit_reached", {"limit": 20})
    assert open_documents(cabinet) == [document_id], "it is still to be decided"
    cabinet.post("updateDocument", documentId=document_id, links=links[1:])
    answered = cabinet.post("acceptProposal", documentId=document_id, bankTransactionId=line_id)
    assert len(answered["links"]) == 20


def test_a_document_without_its_bytes_proves_nothing(cabinet: Cabinet) -> None:
    line_id = line(cabinet)
    allocate(cabinet, line_id)
    made = cabinet.record(links=[{"type": "bank_transaction", "id": line_id}])
    assert documented(cabinet, line_id) == [[]]
    cabinet.land(made)
    cabinet.post("confirmUpload", documentId=made["document"]["id"])
    assert documented(cabinet, line_id) == [[made["document"]["id"]]]


def test_a_document_in_the_trash_does_not_stand_in_the_way(cabinet: Cabinet) -> None:
    line_id, document_id = line(cabinet), bill(cabinet)
    cabinet.post("acceptProposal", documentId=document_id, bankTransactionId=line_id)
    cabinet.post("deleteDocument", documentId=document_id)
    assert [row.document_ids for row in allocate(cabinet, line_id)] == [[]]


@pytest.mark.parametrize(("billed", "first", "last"), [(None, "11-01", "11-30"), ("2026-10-30", "10-01", "10-31")])
def test_what_is_closed_stays_as_it_is(cabinet: Cabinet, billed: str | None, first: str, last: str) -> None:
    """The day of the money, and that of the bill."""
    entity_id = cabinet.entity()
    line_id = cabinet.store.write(
        lambda tx: bank_books.insert_line(tx, bank_books.insert_account(tx, entity_id), -12050), cabinet.org_id
    )
    document_id = bill(cabinet)
    allocate(cabinet, line_id, DRAWINGS._replace(document_date=billed))
    closed = partial(period_locks.close, legal_entity_id=entity_id, start_date=f"2026-{first}", end_date=f"2026-{last}")
    assert cabinet.store.write(closed, cabinet.org_id)
    cabinet.post("acceptProposal", documentId=document_id, bankTransactionId=line_id)
    assert documented(cabinet, line_id) == [[]]


def test_a_document_that_goes_for_good_takes_its_proposal_along(cabinet: Cabinet) -> None:
    line_id, document_id = line(cabinet), bill(cabinet)
    cabinet.post("acceptProposal", documentId=document_id, bankTransactionId=line_id)
    cabinet.post("deleteDocument", documentId=document_id)
    cabinet.store.write(partial(trash.forget, document_id=document_id), cabinet.org_id)
    assert cabinet.store.read(partial(rows.find, document_id=document_id), cabinet.org_id) is None
    assert cabinet.store.read(partial(bank_lines.documents_of, line_id=line_id), cabinet.org_id) == []
