"""One billing client: read, changed, archived."""

import msgspec
import pytest

from gatewayd.areas.accounting.clients.rows import CLIENTS
from gatewayd.areas.accounting.clients.shapes import VatCheck
from gatewayd.errors import Problem
from gatewayd.store import WriteTx
from tests.areas.accounting.books import BRITISH_VAT_NUMBER, LINE, OTHER_BRITISH_VAT_NUMBER, Books, Json, fields_of
from tests.support.store import MemoryStore


def refused(books: Books, operation: str, **body: object) -> Problem:
    with pytest.raises(Problem) as caught:
        books.post(operation, **body)
    return caught.value


def test_get_shows_what_the_list_shows(books: Books) -> None:
    client_id = books.client("Ann", vatNumber=BRITISH_VAT_NUMBER)
    books.invoice(clientId=client_id)
    client = books.one("getClient", f"clientId={client_id}")
    assert client == books.get("listClients")[0][0]
    assert client["balances"]["outstanding"] == "100.00"


def test_update_changes_what_is_given_and_clears_what_is_null(books: Books) -> None:
    made = books.post("createClient", name="Ann", email="a@example.com", phone="1", notes="n", ccEmails=["c@d.example"])
    books.invoice(clientId=made["id"])
    books.store.clock.advance(1_000_000)
    changed = books.post(
        "updateClient", clientId=made["id"], expectedVersion=1, email="b@example.com", phone=None, paymentTermsDays=7
    )
    same = {name: value for name, value in made.items() if name not in ("updatedAt", "balances")}
    assert {name: changed[name] for name in same} == {
        **same,
        "email": "b@example.com",
        "phone": None,
        "paymentTermsDays": 7,
        "version": 2,
    }
    assert changed["updatedAt"] > made["updatedAt"]
    assert changed["balances"]["outstanding"] == "100.00"
    assert books.one("getClient", f"clientId={made['id']}") == changed


def test_update_checks_the_client_as_it_becomes(books: Books) -> None:
    client_id = books.client("Ann", vatNumber=BRITISH_VAT_NUMBER, companyNumber="01234567")
    problem = refused(books, "updateClient", clientId=client_id, vatNumber="980780685", companyNumber="12x")
    assert fields_of(problem) == [("vatNumber", "invalid_vrn"), ("companyNumber", "invalid_company_number")]
    american = books.client("Bob", vatNumber="123456789", countryCode="US")
    assert fields_of(refused(books, "updateClient", clientId=american, countryCode="GB")) == [
        ("vatNumber", "invalid_vrn")
    ]
    changed = books.post("updateClient", clientId=client_id, vatNumber=OTHER_BRITISH_VAT_NUMBER, companyNumber="123")
    assert (changed["vatNumber"], changed["companyNumber"]) == ("434031494", "00000123")


@pytest.mark.parametrize("country", ["US", "FR", "GG"])
def test_a_client_that_moves_keeps_a_vat_number_with_its_country(registered: Books, country: str) -> None:
    client = registered.client(vatNumber=BRITISH_VAT_NUMBER)
    line = {**LINE, "vatCode": "reverse_charge_domestic_standard"}
    moved = registered.post("updateClient", clientId=client, countryCode=country)
    assert moved["vatNumber"] == f"GB{BRITISH_VAT_NUMBER}"
    assert registered.invoice(clientId=client, lines=[line])["status"] == "issued"
    assert registered.post("updateClient", clientId=client, notes="n")["vatNumber"] == f"GB{BRITISH_VAT_NUMBER}"
    assert registered.post("updateClient", clientId=client, countryCode="IM")["vatNumber"] == BRITISH_VAT_NUMBER
    given = registered.post("updateClient", clientId=client, countryCode="US", vatNumber=BRITISH_VAT_NUMBER)
    assert given["vatNumber"] == BRITISH_VAT_NUMBER  # of the country that is given with it


def test_another_vat_number_was_not_checked(books: Books) -> None:
    client_id = books.client("Ann", vatNumber=BRITISH_VAT_NUMBER)

    def check(tx: WriteTx) -> None:
        checked = VatCheck(valid=True, checked_at=tx.now, consultation_number=None)
        CLIENTS.update(tx, msgspec.structs.replace(CLIENTS.get(tx, client_id), vat_check=checked))

    books.store.write(check, books.org_id)
    assert books.post("updateClient", clientId=client_id, vatNumber=f"GB{BRITISH_VAT_NUMBER}")["vatCheck"]["valid"]
    assert books.post("updateClient", clientId=client_id, vatNumber=None)["vatCheck"] is None


def test_cis_registered_is_another_name_in_an_update_too(books: Books) -> None:
    client_id = books.client("Ann")
    assert books.post("updateClient", clientId=client_id, cisRegistered=True)["cisContractor"] is True
    assert books.post("updateClient", clientId=client_id, cisContractor=False)["cisRegistered"] is False
    problem = refused(books, "updateClient", clientId=client_id, cisContractor=False, cisRegistered=True)
    assert fields_of(problem) == [("cisRegistered", "conflict")]


def test_update_to_an_external_id_that_is_taken(books: Books) -> None:
    first, second = books.client("Ann", externalId="x"), books.client("Bob")
    problem = refused(books, "updateClient", clientId=second, externalId="x")
    assert (problem.code, problem.extra) == ("already_exists", {"existingId": first, "field": "externalId"})
    assert books.post("updateClient", clientId=first, externalId="x", notes="n")["externalId"] == "x"
    assert books.post("updateClient", clientId=first, externalId=None)["externalId"] is None


def test_update_to_the_name_or_number_of_another(books: Books) -> None:
    first = books.client("Ann", vatNumber=BRITISH_VAT_NUMBER)
    second = books.client("Bob")
    for change in ({"name": " ANN "}, {"vatNumber": BRITISH_VAT_NUMBER}):
        problem = refused(books, "updateClient", clientId=second, **change)
        assert (problem.code, problem.extra) == ("possible_duplicate", {"existingId": first})
    assert books.post("updateClient", clientId=second, name="Ann", allowDuplicate=True)["name"] == "Ann"
    assert books.post("updateClient", clientId=second, email="a@example.com")["version"] == 3


def test_update_at_another_version(books: Books) -> None:
    client_id = books.client("Ann")
    problem = refused(books, "updateClient", clientId=client_id, expectedVersion=2, name="Bob")
    assert (problem.code, problem.extra) == ("version_conflict", {"currentVersion": 1})


def test_archive(books: Books) -> None:
    client_id = books.client("Ann")
    invoice = books.invoice(clientId=client_id)
    archived = books.post("archiveClient", clientId=client_id, expectedVersion=1)
    assert (archived["status"], archived["archivedAt"]) == ("archived", "2026-11-20T09:30:00.000Z")
    assert books.get("listClients")[0] == []
    assert books.one("getClient", f"clientId={client_id}") == archived
    assert archived["balances"]["outstanding"] == invoice["balanceDue"]
    problem = refused(books, "createInvoice", clientId=client_id, lines=[{"description": "x", "unitPrice": "1"}])
    assert fields_of(problem) == [("clientId", "conflict")]


def test_an_archived_client_comes_back_by_an_update(books: Books) -> None:
    client_id = books.client("Ann")
    books.post("archiveClient", clientId=client_id)
    another = books.client("Ann")
    problem = refused(books, "updateClient", clientId=client_id, status="active")
    assert (problem.code, problem.extra) == ("possible_duplicate", {"existingId": another})
    back = books.post("updateClient", clientId=client_id, status="active", name="Ann B.")
    assert (back["status"], back["archivedAt"]) == ("active", None)
    assert books.invoice(clientId=client_id)["clientId"] == client_id
    problem = refused(books, "updateClient", clientId=client_id, status="archived")
    assert fields_of(problem) == [("status", "invalid_enum")]


def test_archive_again_or_at_another_version(books: Books) -> None:
    client_id = books.client("Ann")
    assert refused(books, "archiveClient", clientId=client_id, expectedVersion=2).code == "version_conflict"
    books.post("archiveClient", clientId=client_id)
    problem = refused(books, "archiveClient", clientId=client_id)
    assert (problem.code, problem.extra["currentState"]) == ("invalid_state", "archived")


def test_another_organizations_client_is_not_found(store: MemoryStore, books: Books) -> None:
    foreign = Books(store).client("Ann")
    body: Json = {"clientId": foreign}
    assert refused(books, "updateClient", **body, name="Bob").code == "not_found"
    assert refused(books, "archiveClient", **body).code == "not_found"
    with pytest.raises(Problem, match="not_found"):
        books.one("getClient", f"clientId={foreign}")


def test_a_client_of_before_countries_were_checked_can_be_read_and_changed(registered: Books) -> None:
    client = registered.client()
    sql = """
    UPDATE clients SET country_code = 'UK', billing_address = replace(billing_address, '"GB"', '"UK"'),
        wire = CAST(replace(CAST(wire AS TEXT), '"GB"', '"UK"') AS BLOB)
    """
    registered.store.connection.execute(sql)
    assert registered.one("getClient", f"clientId={client}")["billingAddress"]["countryCode"] == "UK"
    assert registered.post("updateClient", clientId=client, notes="n")["countryCode"] == "UK"
    assert registered.invoice(clientId=client)["clientSnapshot"]["billingAddress"]["countryCode"] == "UK"
    with pytest.raises(Problem) as caught:
        registered.post("updateClient", clientId=client, countryCode="UK")
    assert fields_of(caught.value) == [("countryCode", "invalid_enum")]
    assert registered.post("updateClient", clientId=client, countryCode="GB")["countryCode"] == "GB"
