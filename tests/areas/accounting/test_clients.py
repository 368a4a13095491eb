"""Billing clients: creating, duplicates, listing, balances."""

import msgspec
import pytest

from gatewayd.areas.accounting.clients.rows import CLIENTS
from gatewayd.areas.accounting.clients.shapes import VatCheck
from gatewayd.clock import DAY
from gatewayd.errors import Problem
from gatewayd.store import WriteTx
from tests.areas.accounting.books import Books, fields_of
from tests.support.store import MemoryStore


def refused(books: Books, **body: object) -> Problem:
    with pytest.raises(Problem) as caught:
        books.post("createClient", **body)
    return caught.value


def test_create_with_everything(books: Books) -> None:
    address = {"line1": "4 Quay St", "line2": None, "town": "Bristol", "county": None, "postcode": "BS1 4SB"}
    body = {
        "name": "Harbour Joinery Ltd",
        "kind": "company",
        "contactName": "Ann",
        "email": "ann@harbour.example",
        "ccEmails": ["bob@harbour.example"],
        "phone": "0117 000000",
        "billingAddress": {**address, "countryCode": "GB"},
        "companyNumber": "01234567",
        "countryCode": "GB",
        "currency": "EUR",
        "paymentTermsDays": 14,
        "defaultVatTreatment": "reduced",
        "cisContractor": True,
        "endUser": True,
        "language": "en-GB",
        "notes": "Quay entrance",
        "externalId": "crm-7",
    }
    client = books.post("createClient", **body, vatNumber="GB 980 7806 84")
    assert {name: client[name] for name in body} == body
    assert client["vatNumber"] == "980780684"
    assert client["status"] == "active"
    assert client["cisRegistered"] is True
    assert client["version"] == 1
    nothing = {"outstanding": "0.00", "overdue": "0.00", "credit": "0.00", "currency": "EUR"}
    assert client["balances"] == {**nothing, "byCurrency": []}


def test_defaults(books: Books) -> None:
    client = books.post("createClient", name="Ann")
    names = ("kind", "countryCode", "currency", "paymentTermsDays", "cisContractor", "endUser", "language", "ccEmails")
    assert [client[name] for name in names] == ["company", "GB", "GBP", 30, False, False, "en", []]


def test_country_is_by_default_that_of_the_address(books: Books) -> None:
    client = books.post("createClient", name="Ann", billingAddress={"line1": "1 Rue A", "countryCode": "FR"})
    assert client["countryCode"] == "FR"


def test_cis_registered_is_an_alias(books: Books) -> None:
    assert books.post("createClient", name="Ann", cisRegistered=True)["cisContractor"] is True


def test_cis_alias_that_differs_is_a_conflict(books: Books) -> None:
    problem = refused(books, name="Ann", cisRegistered=True, cisContractor=False)
    assert fields_of(problem) == [("cisRegistered", "conflict")]


def test_invalid_vrn_and_company_number(books: Books) -> None:
    problem = refused(books, name="Ann", vatNumber="980780685", companyNumber="12")
    assert fields_of(problem) == [("vatNumber", "invalid_vrn")]
    problem = refused(books, name="Ann", companyNumber="ABC")
    assert fields_of(problem) == [("companyNumber", "invalid_company_number")]


def test_already_exists(books: Books) -> None:
    first = books.post("createClient", name="Ann", externalId="x")
    problem = refused(books, name="Bob", externalId="x")
    assert (problem.code, problem.extra) == ("already_exists", {"existingId": first["id"], "field": "externalId"})


def test_an_external_id_of_another_organization_is_free(store: MemoryStore, books: Books) -> None:
    Books(store).client(externalId="x")
    assert books.post("createClient", name="Ann", externalId="x")["externalId"] == "x"


@pytest.mark.parametrize(
    "body",
    [
        {"name": " harbour   LTD"},
        {"name": "Other", "vatNumber": "GB980780684"},
        {"name": "Other", "companyNumber": "1234567"},
    ],
)
def test_possible_duplicate(books: Books, body: dict[str, object]) -> None:
    first = books.client("Harbour Ltd", vatNumber="980780684", companyNumber="01234567")
    problem = refused(books, **body)
    assert (problem.code, problem.extra["existingId"]) == ("possible_duplicate", first)
    assert books.post("createClient", **body, allowDuplicate=True)["id"] != first


def test_another_organizations_client_is_no_duplicate(store: MemoryStore, books: Books) -> None:
    Books(store).client("Harbour Ltd")
    assert books.post("createClient", name="Harbour Ltd")["name"] == "Harbour Ltd"


def test_a_refused_client_leaves_nothing(books: Books) -> None:
    books.client("Harbour Ltd")
    refused(books, name="Harbour Ltd")
    assert len(books.get("listClients")[0]) == 1


def archive(books: Books, client_id: str) -> None:
    def work(tx: WriteTx) -> None:
        tx.run("UPDATE clients SET archived_at = :now WHERE org_id = :org_id AND id = :id", id=client_id)

    books.store.write(work, books.org_id)


def names(books: Books, query: str) -> list[str]:
    return [client["name"] for client in books.get("listClients", query)[0]]


def test_list_is_newest_first_and_hides_archived(books: Books) -> None:
    books.client("Ann")
    old = books.client("Bob")
    books.client("Cy")
    archive(books, old)
    assert names(books, "") == ["Cy", "Ann"]
    assert names(books, "includeArchived=true") == ["Cy", "Bob", "Ann"]
    assert names(books, "status=archived") == ["Bob"]
    assert names(books, "status=active") == ["Cy", "Ann"]


def test_list_shows_the_callers_organization_alone(store: MemoryStore, books: Books) -> None:
    Books(store).client("Ann")
    assert names(books, "includeArchived=true") == []


@pytest.mark.parametrize(
    ("q", "found"),
    [
        ("HARB", ["Harbour 100% Ltd"]),
        ("0%25", ["Harbour 100% Ltd"]),
        ("%25", ["Harbour 100% Ltd"]),
        ("_", ["a_b"]),
        ("!", []),
        ("ann@", ["Ann"]),
        ("9807", ["Ann"]),
    ],
)
def test_q_takes_wildcards_literally(books: Books, q: str, found: list[str]) -> None:
    books.client("Harbour 100% Ltd")
    books.client("a_b")
    books.client("Ann", email="ann@example.com", vatNumber="980780684")
    assert names(books, f"q={q}") == found


def test_updated_since_is_inclusive_and_oldest_first(books: Books) -> None:
    for name in ("Ann", "Bob", "Cy"):
        books.client(name)
        books.store.clock.advance(DAY)
    assert names(books, "updatedSince=2026-11-21T09:30:00Z") == ["Bob", "Cy"]
    assert names(books, "updatedSince=2026-11-21T09:30:00.000001Z") == ["Cy"]


def test_walk_meets_each_client_once(books: Books) -> None:
    made = [books.client(f"Client {number}") for number in range(25)]
    assert [client["id"] for client in books.walk("listClients", "limit=7")] == made[::-1]
    assert [client["id"] for client in books.walk("listClients", "limit=7&updatedSince=2026-01-01T00:00:00Z")] == made


def test_invalid_cursor(books: Books) -> None:
    for number in range(3):
        books.client(f"Client {number}")
    cursor = books.get("listClients", "limit=2")[1]
    for query in (f"cursor={cursor}&q=Client", "cursor=abc"):
        with pytest.raises(Problem) as caught:
            books.get("listClients", query)
        assert caught.value.code == "invalid_cursor"


def test_balances_count_open_invoices_in_the_clients_own_currency(store: MemoryStore, books: Books) -> None:
    ann, bob = books.client("Ann"), books.client("Bob", currency="EUR")
    books.invoice(clientId=ann, dueDate="2026-11-20")
    books.invoice(clientId=ann, issueDate="2026-10-01", dueDate="2026-11-19")
    books.invoice(clientId=ann, currency="USD")
    books.invoice(clientId=ann, status="draft")
    books.invoice(clientId=bob, issueDate="2026-10-01", dueDate="2026-11-20")
    balances = {client["name"]: client["balances"] for client in books.get("listClients")[0]}
    of_ann = {"outstanding": "200.00", "overdue": "100.00", "credit": "0.00", "currency": "GBP"}
    dollars = {"outstanding": "100.00", "overdue": "0.00", "credit": "0.00", "currency": "USD"}
    of_bob = {"outstanding": "100.00", "overdue": "0.00", "credit": "0.00", "currency": "EUR"}
    assert balances["Ann"] == {**of_ann, "byCurrency": [of_ann, dollars]}
    assert balances["Bob"] == {**of_bob, "byCurrency": [of_bob]}
    store.clock.advance(DAY)
    balances = {client["name"]: client["balances"] for client in books.get("listClients")[0]}
    assert balances["Ann"]["overdue"] == "200.00"
    assert balances["Bob"]["overdue"] == "100.00"


def test_what_is_kept_equals_what_the_columns_give(books: Books) -> None:
    books.client("Ann", vatNumber="980780684", ccEmails=["a@example.com"], cisContractor=True)
    books.client("Bob", billingAddress={"line1": "1", "countryCode": "FR"}, notes="é\n")

    found = books.store.read(lambda tx: CLIENTS.stale(tx, "", 500), books.org_id)
    assert [stale for _, stale in found] == [False, False]


def test_a_vat_check_is_shown(books: Books) -> None:
    client = books.client("Ann", vatNumber="980780684")

    def check(tx: WriteTx) -> None:
        check = VatCheck(valid=True, checked_at=tx.now, consultation_number="C-1")
        CLIENTS.update(tx, msgspec.structs.replace(CLIENTS.get(tx, client), vat_check=check))

    books.store.write(check, books.org_id)
    (found,), _ = books.get("listClients")
    assert found["vatCheck"] == {
        "valid": True,
        "checkedAt": "2026-11-20T09:30:00.000Z",
        "consultationNumber": "C-1",
    }


def test_what_is_owed_in_other_currencies_is_told(books: Books) -> None:
    client = books.client("Quay Ltd")
    nothing = books.one("getClient", f"clientId={client}")["balances"]
    assert (nothing["outstanding"], nothing["byCurrency"]) == ("0.00", [])
    terms = {"clientId": client, "issueDate": "2026-10-01", "supplyDate": "2026-10-01"}
    dollars = {"currency": "USD", "fxRate": "0.8", **terms}
    books.invoice(dueDate="2026-10-31", **dollars)
    books.invoice(dueDate="2026-11-30", **dollars)
    over = books.invoice(currency="EUR", fxRate="0.9", **terms)
    books.post("recordPayment", invoiceId=over["id"], amount="130", date="2026-10-02", fxRate="0.9")
    books.post("recordClientPayment", clientId=client, amount="5", currency="JPY", fxRate="0.005")
    balances = books.one("getClient", f"clientId={client}")["balances"]
    assert (balances["currency"], balances["outstanding"], balances["credit"]) == ("GBP", "0.00", "0.00")
    names = ("currency", "outstanding", "overdue", "credit")
    assert [tuple(each[name] for name in names) for each in balances["byCurrency"]] == [
        ("EUR", "0.00", "0.00", "30.00"),
        ("JPY", "0", "0", "5"),
        ("USD", "200.00", "100.00", "0.00"),
    ]
    books.invoice(currency="GBP", **terms)
    (listed,) = books.walk("listClients", "q=quay")
    assert [each["currency"] for each in listed["balances"]["byCurrency"]] == ["EUR", "GBP", "JPY", "USD"]
    assert listed["balances"]["byCurrency"][1]["outstanding"] == listed["balances"]["outstanding"] == "100.00"
