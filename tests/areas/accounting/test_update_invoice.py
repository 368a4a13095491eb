"""A draft that changes becomes the draft that would have been made so."""

import pytest

from gatewayd.errors import Problem
from tests.areas.accounting.books import LINE, Books, Json, fields_of
from tests.support.store import MemoryStore

OWN = ("id", "version", "createdAt", "updatedAt")


def refused(books: Books, **body: object) -> Problem:
    with pytest.raises(Problem) as caught:
        books.post("updateInvoice", **body)
    return caught.value


def update(books: Books, invoice: Json, **changes: object) -> Json:
    changed = books.post("updateInvoice", invoiceId=invoice["id"], **changes)
    assert books.one("getInvoice", f"invoiceId={invoice['id']}") == changed
    assert (changed["id"], changed["createdAt"]) == (invoice["id"], invoice["createdAt"])
    assert (changed["version"], changed["status"], changed["number"]) == (invoice["version"] + 1, "draft", None)
    return changed


def without_own(invoice: Json) -> Json:
    return {name: value for name, value in invoice.items() if name not in OWN}


DETAILED = {
    "lines": [
        {**LINE, "quantity": "7.5", "unitPrice": "85", "unit": "hours", "cisLabour": True},
        {**LINE, "unitPrice": "49.99", "quantity": "2", "vatCode": "reduced", "discountPercent": "2.5"},
    ],
    "issueDate": "2026-11-10",
    "supplyDate": "2026-11-02",
    "dueDate": "2026-12-24",
    "currency": "EUR",
    "fxRate": "0.85",
    "amountsAre": "inclusive",
    "vatRounding": "total",
    "discountAmount": "3.33",
    "reference": "r",
    "poNumber": "p",
    "notes": "n",
    "terms": "t",
    "externalId": "x",
}


def test_nothing_given_changes_nothing(registered: Books) -> None:
    draft = registered.invoice(status="draft", **DETAILED)
    assert without_own(update(registered, draft)) == without_own(draft)


@pytest.mark.parametrize("name", DETAILED)
def test_each_field_alone_makes_the_draft_that_is_made_with_it(registered: Books, name: str) -> None:
    client = registered.client()
    dates = {"issueDate": "2026-11-20", "supplyDate": "2026-11-20", "dueDate": "2026-12-30"}
    plain: Json = {"status": "draft", "clientId": client, **dates, "currency": "USD"}
    changes = {name: DETAILED[name]}
    changed = update(registered, registered.invoice(**plain), **changes)
    registered.post("deleteInvoice", invoiceId=changed["id"])
    assert without_own(changed) == without_own(registered.invoice(**{**plain, **changes}))


def test_null_is_what_leaving_out_is(registered: Books) -> None:
    client = registered.client(paymentTermsDays=5)
    draft = registered.invoice(status="draft", clientId=client, **DETAILED)
    nulls = {name: None for name in DETAILED if name != "lines"}
    changed = update(registered, draft, **nulls)
    made = registered.invoice(status="draft", clientId=client, lines=DETAILED["lines"])
    assert without_own(changed) == without_own(made)
    assert fields_of(refused(registered, invoiceId=draft["id"], lines=None)) == [
        ("lines", "required"),
    ]


def test_another_client_and_seller(store: MemoryStore) -> None:
    books = Books(store)
    first = books.entity()
    draft = books.invoice(status="draft", legalEntityId=first, lines=[{**LINE, "vatCode": "standard"}])
    second = books.unregistered_entity(name="Elm")
    assert fields_of(refused(books, invoiceId=draft["id"], legalEntityId=second)) == [
        ("lines[0].vatCode", "vat_not_registered")
    ]
    client = books.client("Quay")
    changed = update(books, draft, clientId=client, legalEntityId=second, lines=[LINE])
    assert (changed["clientId"], changed["legalEntityId"], changed["vatTotal"]) == (client, second, "0.00")


def test_codes_that_were_left_out_follow_the_seller_and_the_client(store: MemoryStore) -> None:
    books = Books(store)
    first, second = books.entity(), books.unregistered_entity(name="Elm")
    draft = books.invoice(status="draft", legalEntityId=first)
    assert draft["vatTotal"] == "20.00"
    changed = update(books, draft, legalEntityId=second)
    assert (changed["vatTotal"], changed["lines"][0]["vatCode"]) == ("0.00", "outside_scope")
    exporting = books.client("Quay", defaultVatTreatment="zero")
    changed = update(books, changed, legalEntityId=first, clientId=exporting)
    assert (changed["vatTotal"], changed["lines"][0]["vatCode"]) == ("0.00", "zero")
    assert update(books, changed, amountsAre="no_vat")["lines"][0]["vatCode"] == "outside_scope"


def test_parties_that_a_draft_has_may_be_archived_and_new_ones_may_not(registered: Books) -> None:
    draft, other = registered.invoice(status="draft"), registered.client("Quay")
    for client in (draft["clientId"], other):
        registered.post("archiveClient", clientId=client)
    assert update(registered, draft, notes="n")["notes"] == "n"
    assert fields_of(refused(registered, invoiceId=draft["id"], clientId=other)) == [("clientId", "conflict")]
    assert fields_of(refused(registered, invoiceId=draft["id"], clientId="cli_x")) == [
        ("clientId", "unknown_reference")
    ]


def test_the_seller_that_a_draft_has_may_be_archived(registered: Books) -> None:
    old = registered.unregistered_entity(name="Elm")
    draft = registered.invoice(status="draft", legalEntityId=old)
    other = registered.invoice(status="draft", legalEntityId=registered.unregistered_entity(name="Ash"))
    registered.store.write(lambda tx: tx.run("UPDATE legal_entities SET archived_at = :now WHERE id = :id", id=old))
    assert update(registered, draft, notes="n")["legalEntityId"] == old
    assert fields_of(refused(registered, invoiceId=other["id"], legalEntityId=old)) == [("legalEntityId", "conflict")]


def test_terms_move_the_due_date(registered: Books) -> None:
    draft = registered.invoice(status="draft")
    assert update(registered, draft, paymentTermsDays=3)["dueDate"] == "2026-11-23"
    problem = refused(registered, invoiceId=draft["id"], paymentTermsDays=3, dueDate="2026-12-01")
    assert fields_of(problem) == [("paymentTermsDays", "conflict")]
    problem = refused(registered, invoiceId=draft["id"], issueDate="2026-12-01")
    assert fields_of(problem) == [("dueDate", "date_order")]


def test_another_currency_forgets_the_rate(registered: Books) -> None:
    draft = registered.invoice(status="draft", currency="EUR", fxRate="0.85")
    changed = update(registered, draft, currency="USD")
    assert (changed["currency"], changed["fxRate"], changed["vatTotalBase"]) == ("USD", None, None)


def test_a_full_credit_stays_a_copy(registered: Books) -> None:
    invoice = registered.invoice(lines=[LINE, {**LINE, "unitPrice": "7.77"}], vatRounding="total")
    credit = registered.credit(invoice["id"], status="draft")
    registered.store.write(
        lambda tx: tx.run("UPDATE legal_entities SET vat_status = 'not_registered' WHERE org_id = :org_id"),
        registered.org_id,
    )
    changed = update(registered, credit, notes="n")
    assert without_own(changed) == {**without_own(credit), "notes": "n"}


def test_a_credit_note_in_part_and_whole(registered: Books) -> None:
    invoice = registered.invoice()
    credit = registered.credit(invoice["id"], status="draft", lines=[{**LINE, "unitPrice": "10"}])
    assert update(registered, credit, lines=None)["grossTotal"] == "120.00"
    part = registered.post("updateInvoice", invoiceId=credit["id"], lines=[{**LINE, "unitPrice": "20"}])
    assert part["grossTotal"] == "24.00"
    problem = refused(registered, invoiceId=credit["id"], lines=[{**LINE, "unitPrice": "101"}])
    assert fields_of(problem) == [("lines", "out_of_range")]
    assert registered.post("issueInvoice", invoiceId=credit["id"])["number"] == "CN-000001"


def test_a_change_names_nothing_of_another_organization(store: MemoryStore, registered: Books) -> None:
    other = Books(store)
    foreign = other.business(other.entity())
    draft = registered.invoice(status="draft")
    problem = refused(registered, invoiceId=draft["id"], businessId=foreign)
    assert fields_of(problem) == [("businessId", "unknown_reference")]


def test_what_was_issued_stays(registered: Books) -> None:
    invoice = registered.invoice()
    problem = refused(registered, invoiceId=invoice["id"], notes="n")
    assert (problem.code, problem.extra["allowedStates"]) == ("invalid_state", ["draft"])


def test_version_external_id_and_organization(store: MemoryStore, registered: Books) -> None:
    first, second = registered.invoice(externalId="x"), registered.invoice(status="draft")
    problem = refused(registered, invoiceId=second["id"], externalId="x")
    assert (problem.code, problem.extra["existingId"]) == ("already_exists", first["id"])
    assert refused(registered, invoiceId=second["id"], expectedVersion=2).code == "version_conflict"
    foreign = Books(store).invoice(status="draft")
    assert refused(registered, invoiceId=foreign["id"], notes="n").code == "not_found"
