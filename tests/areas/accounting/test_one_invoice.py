"""One invoice through its operations: read, issue, void, delete, payments. The moves are tested with `moves`."""

import pytest

from gatewayd.errors import Problem
from gatewayd.ledger.calendar import period_locks
from tests.areas.accounting.books import LINE, Books, Json, fields_of
from tests.support.store import MemoryStore


def refused(books: Books, operation: str, **body: object) -> Problem:
    with pytest.raises(Problem) as caught:
        books.post(operation, **body)
    return caught.value


def get(books: Books, invoice_id: str) -> Json:
    return books.one("getInvoice", f"invoiceId={invoice_id}")


def close(books: Books, entity: str) -> None:
    books.store.write(lambda tx: period_locks.close(tx, entity, "2026-11-01", "2026-11-30"), books.org_id)


def test_get_shows_the_whole_invoice(registered: Books) -> None:
    for made in (registered.invoice(status="draft"), registered.invoice(dueDate="2026-11-20")):
        assert get(registered, made["id"]) == made
    registered.store.clock.advance(86_400_000_000)
    assert get(registered, made["id"]) == {**made, "isOverdue": True}


def test_issue(registered: Books) -> None:
    draft = registered.invoice(status="draft", currency="BTN")
    assert fields_of(refused(registered, "issueInvoice", invoiceId=draft["id"])) == [("fxRate", "required")]
    registered.post("updateInvoice", invoiceId=draft["id"], currency="EUR")
    draft = get(registered, draft["id"])
    issued = registered.post("issueInvoice", invoiceId=draft["id"], fxRate="0.85", expectedVersion=2)
    assert (issued["status"], issued["number"], issued["vatTotalBase"]) == ("issued", "INV-000001", "17.00")
    assert issued["lines"] == draft["lines"]
    problem = refused(registered, "issueInvoice", invoiceId=draft["id"])
    assert (problem.code, problem.extra["currentState"]) == ("invalid_state", "issued")


def test_issue_in_a_closed_period(store: MemoryStore) -> None:
    books = Books(store)
    entity = books.entity()
    draft = books.invoice(status="draft")
    close(books, entity)
    assert refused(books, "issueInvoice", invoiceId=draft["id"]).code == "period_closed"


def test_void(registered: Books) -> None:
    invoice = registered.invoice()
    void = registered.post("voidInvoice", invoiceId=invoice["id"], reason="Made out twice")
    assert (void["status"], void["voidReason"], void["number"]) == ("void", "Made out twice", invoice["number"])
    assert get(registered, invoice["id"]) == void
    assert refused(registered, "voidInvoice", invoiceId=invoice["id"], reason="x").code == "invalid_state"
    assert fields_of(refused(registered, "voidInvoice", invoiceId=invoice["id"], reason=" "))[0][0] == "reason"


def test_void_in_a_closed_period(store: MemoryStore) -> None:
    books = Books(store)
    entity = books.entity()
    invoice = books.invoice()
    close(books, entity)
    assert refused(books, "voidInvoice", invoiceId=invoice["id"], reason="x").code == "period_closed"


def test_delete_a_draft_and_nothing_else(registered: Books) -> None:
    draft, issued = registered.invoice(status="draft"), registered.invoice()
    assert registered.post("deleteInvoice", invoiceId=draft["id"]) == {"id": draft["id"], "deleted": True}
    with pytest.raises(Problem, match="not_found"):
        get(registered, draft["id"])
    assert refused(registered, "deleteInvoice", invoiceId=issued["id"]).code == "invalid_state"


def test_payments(registered: Books) -> None:
    invoice = registered.invoice()
    part = registered.post("recordPayment", invoiceId=invoice["id"], amount="20", date="2026-11-01", method="card")
    assert (part["status"], part["balanceDue"]) == ("part_paid", "100.00")
    paid = registered.post("recordPayment", invoiceId=invoice["id"], reference="r", expectedVersion=2)
    assert [(p["position"], p["date"], p["amount"], p["method"], p["reference"]) for p in paid["payments"]] == [
        (1, "2026-11-01", "20.00", "card", None),
        (2, "2026-11-20", "100.00", None, "r"),
    ]
    left = registered.post("removePayment", invoiceId=invoice["id"], position=1)
    assert (left["status"], left["balanceDue"]) == ("part_paid", "20.00")
    assert [payment["position"] for payment in left["payments"]] == [2]
    assert get(registered, invoice["id"]) == left


def test_payments_that_are_none(registered: Books) -> None:
    invoice, draft = registered.invoice(), registered.invoice(status="draft")
    assert refused(registered, "recordPayment", invoiceId=draft["id"]).code == "invalid_state"
    problem = refused(registered, "recordPayment", invoiceId=invoice["id"], date="2026-11-21")
    assert fields_of(problem) == [("date", "out_of_range")]
    assert refused(registered, "removePayment", invoiceId=invoice["id"], position=1).code == "invalid_state"
    registered.post("recordPayment", invoiceId=invoice["id"], amount="1")
    assert refused(registered, "removePayment", invoiceId=invoice["id"], position=2).code == "not_found"


MOVES: list[tuple[str, Json]] = [
    ("issueInvoice", {}),
    ("voidInvoice", {"reason": "x"}),
    ("deleteInvoice", {}),
    ("recordPayment", {}),
    ("removePayment", {"position": 1}),
]


@pytest.mark.parametrize(("operation", "more"), MOVES)
def test_a_move_at_another_version(registered: Books, operation: str, more: Json) -> None:
    invoice = registered.invoice(status="draft", lines=[LINE])
    problem = refused(registered, operation, invoiceId=invoice["id"], expectedVersion=2, **more)
    assert (problem.code, problem.extra) == ("version_conflict", {"currentVersion": 1})
    assert get(registered, invoice["id"]) == invoice


@pytest.mark.parametrize(("operation", "more"), MOVES)
def test_another_organizations_invoice_is_not_found(
    store: MemoryStore, registered: Books, operation: str, more: Json
) -> None:
    foreign = Books(store).invoice()
    assert refused(registered, operation, invoiceId=foreign["id"], **more).code == "not_found"
    with pytest.raises(Problem, match="not_found"):
        get(registered, foreign["id"])


@pytest.mark.parametrize("more", ["", "&status=draft&status=issued", "&updatedSince=2026-01-01T00:00:00Z"])
def test_found_by_external_id(registered: Books, more: str) -> None:
    made, other = registered.invoice(externalId="x"), registered.invoice(externalId="y")
    assert registered.get("listInvoices", f"externalId=x{more}")[0] == [made]
    assert registered.get("listInvoices", f"externalId=z{more}")[0] == []
    registered.post("updateClient", clientId=other["clientId"], externalId="c")
    assert [client["id"] for client in registered.get("listClients", "externalId=c")[0]] == [other["clientId"]]
    assert registered.get("listClients", "externalId=x")[0] == []
