"""What a VAT invoice has to print (VAT Regulations 1995 reg. 14): refused without the seller's address, a warning
without the client's."""

import pytest

from gatewayd.areas.legal_entities.operations import update_legal_entity
from gatewayd.areas.legal_entities.shapes import UpdateLegalEntity
from gatewayd.contract.wire import Address
from gatewayd.errors import Problem
from tests.areas.accounting.books import LINE, OTHER_BRITISH_VAT_NUMBER, Books, Json, fields_of, lines
from tests.support.store import MemoryStore

TAXED = ["standard", "reduced", "zero", "export_goods_zero", "reverse_charge_domestic_standard", "margin_scheme"]
NOT_TAXED = ["exempt", "outside_scope"]


@pytest.fixture
def homeless(store: MemoryStore) -> Books:
    """An organization whose one legal entity is registered for VAT and has no address."""
    books = Books(store)
    books.entity(address=None)
    return books


def refused(books: Books, **body: object) -> Problem:
    with pytest.raises(Problem) as caught:
        books.invoice(**body)
    return caught.value


@pytest.mark.parametrize("code", TAXED)
def test_no_vat_invoice_without_the_sellers_address(homeless: Books, code: str) -> None:
    client = homeless.client(vatNumber=OTHER_BRITISH_VAT_NUMBER)
    body: Json = {"clientId": client, "lines": lines({"vatCode": "exempt"}, {"vatCode": code})}
    problem = refused(homeless, **body)
    assert fields_of(problem) == [("legalEntityId", "seller_address_required")]
    (entity,) = homeless.store.read(lambda tx: tx.rows("SELECT id FROM legal_entities"), homeless.org_id)
    assert entity[0] in problem.errors[0].message
    assert "address" in problem.errors[0].message
    draft = homeless.invoice(status="draft", **body)
    with pytest.raises(Problem) as caught:
        homeless.post("issueInvoice", invoiceId=draft["id"])
    assert fields_of(caught.value) == [("legalEntityId", "seller_address_required")]
    give_address(homeless, entity[0])
    issued = homeless.post("issueInvoice", invoiceId=draft["id"])
    assert (issued["number"], issued["sellerSnapshot"]["address"]["line1"]) == ("INV-000001", "12 Oak Street")


def give_address(books: Books, entity: str) -> None:
    request = UpdateLegalEntity(id=entity, address=Address(line1="12 Oak Street", country_code="GB"))
    books.store.write(lambda tx: update_legal_entity(tx, books.caller, request), books.org_id)


@pytest.mark.parametrize("code", NOT_TAXED)
def test_what_bears_no_vat_needs_no_address(homeless: Books, code: str) -> None:
    invoice = homeless.invoice(clientId=homeless.client(billingAddress=None), lines=lines({"vatCode": code}))
    assert (invoice["status"], invoice.get("warnings")) == ("issued", None)


def test_sellers_who_are_not_registered_need_no_address(store: MemoryStore, homeless: Books) -> None:
    assert homeless.invoice(supplyDate="1999-12-31")["status"] == "issued"  # before the registration
    unregistered = Books(store)
    client = unregistered.client(billingAddress=None)
    assert "warnings" not in unregistered.invoice(clientId=client, lines=lines({"vatCode": "zero"}))
    unregistered.unregistered_entity(address=None)
    assert "warnings" not in unregistered.invoice(clientId=client)


def test_what_was_issued_elsewhere_was_printed_elsewhere(homeless: Books) -> None:
    invoice = homeless.invoice(origin="imported", number="OLD-1")
    assert (invoice["status"], invoice["sellerSnapshot"]["address"]) == ("issued", None)


def test_a_credit_note_says_where_its_seller_is_too(homeless: Books) -> None:
    invoice = homeless.invoice(origin="imported", number="OLD-1")
    problem = refused(homeless, kind="credit_note", creditsInvoiceId=invoice["id"], lines=[LINE])
    assert fields_of(problem) == [("legalEntityId", "seller_address_required")]


def test_without_the_clients_address_there_is_a_warning(registered: Books) -> None:
    client = registered.client(billingAddress=None)
    warning = {
        "path": "clientSnapshot.billingAddress",
        "code": "client_address_missing",
        "message": "A VAT invoice prints the client's address: the client has no `billingAddress`.",
    }
    invoice = registered.invoice(clientId=client)
    assert (invoice["status"], invoice.pop("warnings")) == ("issued", [warning])
    assert registered.one("getInvoice", f"invoiceId={invoice['id']}") == invoice
    draft = registered.invoice(clientId=client, status="draft")
    assert "warnings" not in draft
    assert registered.post("issueInvoice", invoiceId=draft["id"])["warnings"] == [warning]


def test_with_both_addresses_there_is_none(registered: Books) -> None:
    assert "warnings" not in registered.invoice()


def codes(invoice: Json) -> list[str]:
    return [warning["code"] for warning in invoice.get("warnings", [])]


GERMAN = {"vatNumber": "DE136695976", "billingAddress": {"line1": "1 Weg", "countryCode": "DE"}}


@pytest.mark.parametrize(
    ("code", "client", "warned"),
    [
        ("ni_eu_goods_zero", GERMAN, []),
        ("ni_eu_goods_zero", {"vatNumber": OTHER_BRITISH_VAT_NUMBER}, ["client_vat_number_missing"]),
        ("ni_eu_goods_zero", {}, ["client_vat_number_missing"]),
        ("reverse_charge_services_overseas", GERMAN, []),
        ("reverse_charge_services_overseas", {}, ["client_in_united_kingdom"]),
        ("export_goods_zero", {}, ["client_in_united_kingdom"]),
        ("zero", {}, []),
    ],
)
def test_codes_of_clients_elsewhere(registered: Books, code: str, client: Json, warned: list[str]) -> None:
    """Notice 725 for goods from Northern Ireland; the others are of who is not here. It is issued all the same."""
    body = {"clientId": registered.client(**client), "lines": lines({"vatCode": code})}
    issued = registered.invoice(**body)
    assert (issued["status"], codes(issued)) == ("issued", warned)
    draft = registered.invoice(status="draft", **body)
    assert codes(draft) == []
    assert codes(registered.post("issueInvoice", invoiceId=draft["id"])) == warned


@pytest.mark.parametrize(
    ("notes", "description", "warned"),
    [
        (None, "A table", ["margin_scheme_unnamed"]),
        ("Margin scheme", "A table", ["margin_scheme_unnamed"]),
        ("Margin scheme: second-hand goods", "A table", []),
        (None, "A table\nMARGIN SCHEME: ANTIQUES or collectors' items", []),
    ],
)
def test_a_margin_scheme_is_named(registered: Books, notes: str | None, description: str, warned: list[str]) -> None:
    """One of the references of reg. 14(1)(n), which only the seller knows."""
    sold = lines({"vatCode": "margin_scheme", "description": description})
    assert codes(registered.invoice(notes=notes, lines=sold)) == warned
