"""What a seller's papers look like: `accounting.getPaper` and `accounting.setPaper`."""

import pytest

from gatewayd.errors import Problem
from gatewayd.store import WriteTx
from tests.areas.accounting.books import ADDRESS, Books, fields_of

_ADD_DOCUMENT = """
INSERT INTO vault_documents (id, org_id, name, name_key, original_name, mime_type, size_bytes, sha256, starred,
    links, created_by, status, on_duplicate, upload_expires_at, date_key, size_key, created_at, updated_at, version)
VALUES (:id, :org_id, 'logo', 'logo', 'logo', :mime_type, :size_bytes, 'ab', 0, '[]', 'test', :status, 'allow', 0, '',
    :size_bytes, 0, 0, 1)
"""


def document(books: Books, mime_type: str = "image/png", size_bytes: int = 100, status: str = "uploaded") -> str:
    def add(tx: WriteTx) -> str:
        id_ = tx.new_id("doc")
        tx.run(_ADD_DOCUMENT, id=id_, mime_type=mime_type, size_bytes=size_bytes, status=status)
        return id_

    return books.store.write(add, books.org_id)


def codes(paper: dict[str, object]) -> list[str]:
    warnings = paper["warnings"]
    assert isinstance(warnings, list)
    return [warning["code"] for warning in warnings]


def test_a_seller_that_said_nothing(registered: Books) -> None:
    paper = registered.one("getPaper", "")
    assert (paper["version"], paper["accentColor"], paper["logoDocumentId"]) == (0, None, None)
    assert codes(paper) == ["bank_account_missing"]


def test_what_is_set_is_shown_and_what_is_absent_stays(registered: Books) -> None:
    logo = document(registered)
    said = {
        "tradingName": "Oak & Son",
        "owners": "J. Oak, 1 Mill Lane, Leeds",
        "accentColor": "#7a3b12",
        "logoDocumentId": logo,
        "register": "Scotland",
        "registeredOffice": {**ADDRESS, "line2": "Harbourside", "county": "Avon", "postcode": "BS1 4AA"},
        "terms": "14 days.",
        "footer": "Makers of kitchens",
    }
    first = registered.post("setPaper", **said)
    assert {name: first[name] for name in said} == said
    second = registered.post("setPaper", footer=None, expectedVersion=1)
    assert (second["footer"], second["terms"], second["version"]) == (None, "14 days.", 2)
    assert registered.one("getPaper", "") == second


def test_each_seller_has_papers_of_its_own(registered: Books) -> None:
    entity = registered.entity(name="Ash", vatNumber="434031494")
    registered.post("setPaper", legalEntityId=entity, terms="Of Ash")
    assert registered.one("getPaper", f"legalEntityId={entity}")["terms"] == "Of Ash"
    with pytest.raises(Problem) as refused:
        registered.one("getPaper", "")
    assert fields_of(refused.value) == [("legalEntityId", "required")]


def test_an_organization_sells_in_its_own_name(books: Books) -> None:
    books.post("setPaper", terms="At once")
    paper = books.one("getPaper", "")
    assert (paper["legalEntityId"], paper["terms"]) == (None, "At once")
    assert codes(paper) == ["address_missing", "bank_account_missing"]


def test_a_version_that_is_not_expected(registered: Books) -> None:
    for expected in (1, 7):
        with pytest.raises(Problem) as refused:
            registered.post("setPaper", terms="x", expectedVersion=expected)
        assert refused.value.code == "version_conflict"


def test_logos_that_are_none(registered: Books) -> None:
    other = Books(registered.store, "Other")
    for id_, code in (
        ("doc_01k0000000000000000000000a", "unknown_reference"),
        (document(other), "unknown_reference"),
        (document(registered, status="deleted"), "unknown_reference"),
        (document(registered, mime_type="image/svg+xml"), "conflict"),
        (document(registered, size_bytes=1 << 20), "conflict"),
    ):
        with pytest.raises(Problem) as refused:
            registered.post("setPaper", logoDocumentId=id_)
        assert fields_of(refused.value) == [("logoDocumentId", code)]


def test_an_account_of_somebody_else(registered: Books) -> None:
    with pytest.raises(Problem) as refused:
        registered.post("setPaper", bankAccountId="bac_01k0000000000000000000000a")
    assert fields_of(refused.value) == [("bankAccountId", "unknown_reference")]


@pytest.mark.parametrize(
    ("entity", "said", "code"),
    [
        ({"type": "partnership"}, {}, "owners_missing"),
        ({"type": "sole_trader"}, {"tradingName": "Oak & Son"}, "owners_missing"),
        ({"address": None}, {}, "address_missing"),
    ],
)
def test_what_a_paper_lacks(books: Books, entity: dict[str, object], said: dict[str, object], code: str) -> None:
    books.entity(**entity)
    paper = books.post("setPaper", **{"terms": "x", **said})
    assert codes(paper) == [code, "bank_account_missing"]


def test_whose_own_name_is_printed_needs_no_owners(books: Books) -> None:
    books.entity(legalName="Jo Oak")
    assert codes(books.post("setPaper", tradingName="Oak & Son")) == ["bank_account_missing"]


def test_a_logo_that_went(registered: Books) -> None:
    logo = document(registered)
    registered.post("setPaper", logoDocumentId=logo)
    gone = "UPDATE vault_documents SET status = 'deleted' WHERE org_id = :org_id AND id = :id"
    registered.store.write(lambda tx: tx.run(gone, id=logo), registered.org_id)
    assert codes(registered.one("getPaper", "")) == ["bank_account_missing", "logo_missing"]
