"""The list of all documents: each filter, its orders, and that whoever follows it has what is there."""

import hashlib
from typing import Any

import msgspec
import pytest

from gatewayd.areas.vault import trash
from gatewayd.areas.vault.documents.rows import UPLOAD_LASTS
from gatewayd.areas.vault.documents.shapes import ListAllDocuments
from gatewayd.areas.vault.parses import rows as parses
from gatewayd.areas.vault.parses.rows import Failure
from gatewayd.areas.vault.search import SearchFilters
from gatewayd.clock import HOUR, SECOND
from gatewayd.errors import Problem
from gatewayd.store import WriteTx
from tests.areas.accounting.books import fields_of
from tests.areas.vault.cabinet import Cabinet
from tests.ledger import lets
from tests.support.document_reading import NOTHING_FOUND
from tests.support.plans import plan_of
from tests.support.store import MemoryStore


def since(cabinet: Cabinet) -> str:
    """From now on."""
    cabinet.store.clock.advance(SECOND)
    moment = cabinet.document("now")["createdAt"]
    cabinet.store.clock.advance(SECOND)
    return f"updatedSince={moment}"


def changes(cabinet: Cabinet, query: str) -> dict[str, Any]:
    """By name what has changed since, without what `since` made."""
    return {row["name"]: row for row in cabinet.walk("listDocuments", query) if row["name"] != "now"}


def test_each_filter_finds_its_documents_in_its_order(cabinet: Cabinet) -> None:
    outer = cabinet.folder("Outer")
    inner = cabinet.folder("Inner", outer)
    cabinet.document("a", folderId=outer, documentDate="2026-03-05", externalId="x-1")
    cabinet.document("b", folderId=inner, documentDate="2026-04-01", contractId="k-1")
    starred = cabinet.document("c")
    cabinet.post("toggleDocumentStar", documentId=starred["id"], starred=True)
    cabinet.record("d", documentDate="2026-03-05")
    gone = cabinet.document("e", folderId=outer, documentDate="2026-03-06")
    cabinet.post("deleteDocument", documentId=gone["id"])
    for query, found in (
        ("", "dcba"),
        (f"folderId={outer}", "a"),
        ("folderId=root", "dc"),
        (f"folderId={inner}", "b"),
        ("status=uploaded", "cba"),
        ("status=pending_upload", "d"),
        ("status=upload_expired", ""),
        ("status=deleted", "e"),
        (f"status=deleted&folderId={outer}", "e"),
        ("starred=true", "c"),
        ("starred=false", "dba"),
        ("contractId=k-1", "b"),
        ("externalId=x-1", "a"),
        ("parseStatus=queued", "cba"),
        ("parseStatus=none", "d"),
        ("fromDate=2026-03-05", "bda"),
        ("fromDate=2026-03-06", "b"),
        ("toDate=2026-03-31", "da"),
        ("fromDate=2026-03-05&toDate=2026-03-31", "da"),
        ("documentDateFrom=2026-03-05&documentDateTo=2026-03-31", "da"),
        ("documentDateFrom=2026-03-05&order=asc", "adb"),
        ("documentDateFrom=2026-03-05&documentDateTo=2026-03-31&order=asc", "ad"),
        ("documentDateTo=2026-03-31&order=asc", "ad"),
        ("documentDateTo=2026-03-31&sort=createdAt", "da"),
        ("documentDateFrom=2026-03-05&documentDateTo=2026-03-31&sort=createdAt&order=asc", "ad"),
        ("sort=createdAt", "dcba"),
        ("order=asc", "abcd"),
        ("sort=documentDate", "bdac"),
        ("sort=documentDate&order=asc&starred=false", "adb"),
        (f"folderIds={outer}", "ba"),
        (f"folderIds={inner}", "b"),
        (f"folderIds={inner},{outer}&order=asc", "ab"),
        (f"folderIds={outer}&folderId={outer}", "a"),
        ("folderIds=fld_01k0000000000000000000000x", ""),
    ):
        for limit in (1, 2, 50):
            assert "".join(cabinet.names("listDocuments", f"{query}&limit={limit}".lstrip("&"))) == found, query
    cabinet.store.clock.advance(UPLOAD_LASTS)
    assert cabinet.names("listDocuments", "status=upload_expired") == ["d"]
    assert cabinet.names("listDocuments", "status=pending_upload") == []


def test_what_changes_is_told_with_those_in_the_trash(cabinet: Cabinet) -> None:
    folder_id = cabinet.folder("Receipts")
    for name in ("renamed", "deleted", "of the folder", "untouched"):
        cabinet.document(name, folderId=folder_id if name == "of the folder" else None)
    ids = {row["name"]: row["id"] for row in cabinet.walk("listDocuments", "")}
    moment = since(cabinet)
    cabinet.post("updateDocument", documentId=ids["renamed"], name="new name")
    cabinet.post("deleteDocument", documentId=ids["deleted"])
    cabinet.post("deleteFolder", folderId=folder_id)
    told = changes(cabinet, moment)
    assert {name: row["status"] for name, row in told.items()} == {
        "new name": "uploaded",
        "deleted": "deleted",
        "of the folder": "deleted",
    }
    assert told["of the folder"]["folderId"] is None
    assert changes(cabinet, f"{moment}&status=deleted").keys() == {"deleted", "of the folder"}
    assert changes(cabinet, f"{moment}&status=uploaded").keys() == {"new name"}


def test_what_leaves_the_trash_at_its_top_is_a_change(cabinet: Cabinet) -> None:
    """Its folder is deleted after it."""
    folder_id = cabinet.folder("Receipts")
    made = cabinet.document("deleted", folderId=folder_id)
    cabinet.post("deleteDocument", documentId=made["id"])
    moment = since(cabinet)
    cabinet.post("deleteFolder", folderId=folder_id)
    assert changes(cabinet, moment)["deleted"]["folderId"] is None


def test_what_is_gone_for_good_is_removed(cabinet: Cabinet) -> None:
    made = cabinet.document("gone")
    cabinet.post("deleteDocument", documentId=made["id"])
    moment = since(cabinet)
    cabinet.store.write(lambda tx: trash.forget(tx, made["id"]), cabinet.org_id)
    assert changes(cabinet, moment) == {}
    assert (
        f'"removed":[{{"id":"{made["id"]}","status":"removed"'
        in cabinet.listing("listDocuments", moment).extra.decode()
    )


def test_how_far_its_reading_has_come_is_a_change_and_no_edit(cabinet: Cabinet) -> None:
    read, damaged, again = (cabinet.document(name) for name in ("read", "damaged", "again"))
    moment = since(cabinet)

    def attempt(tx: WriteTx) -> None:
        n, _ = parses.begin(tx, read["id"])
        assert parses.succeed(tx, read["id"], n, 12, ("plain", "en", NOTHING_FOUND))
        n, retries = parses.begin(tx, damaged["id"])
        assert parses.fail(tx, damaged["id"], n, retries, Failure("damaged", "It is damaged.", True))
        parses.begin(tx, again["id"])

    cabinet.store.write(attempt, cabinet.org_id)
    told = changes(cabinet, moment)
    assert {name: row["parse"]["status"] for name, row in told.items()} == {
        "read": "succeeded",
        "damaged": "skipped",
        "again": "running",
    }
    assert told["read"]["version"] == read["version"]
    assert told["read"]["updatedAt"] > read["updatedAt"]
    assert changes(cabinet, f"{moment}&parseStatus=skipped").keys() == {"damaged"}
    moment = since(cabinet)
    cabinet.post("reparseDocument", documentId=damaged["id"])
    assert {name: row["parse"]["status"] for name, row in changes(cabinet, moment).items()} == {"damaged": "queued"}


def test_dates_that_are_turned_are_refused(cabinet: Cabinet) -> None:
    with pytest.raises(Problem) as caught:
        cabinet.listing("listDocuments", "fromDate=2026-03-02&toDate=2026-03-01")
    assert fields_of(caught.value) == [("documentDateTo", "date_order")]
    turned = "createdFrom=2026-03-02T00:00:00Z&createdTo=2026-03-01T00:00:00Z"
    with pytest.raises(Problem) as caught:
        cabinet.listing("listDocuments", turned)
    assert fields_of(caught.value) == [("createdTo", "date_order")]


def test_changes_have_an_order_of_their_own(cabinet: Cabinet) -> None:
    with pytest.raises(Problem) as caught:
        cabinet.listing("listDocuments", "updatedSince=2026-01-01T00:00:00Z&sort=createdAt&order=desc")
    assert fields_of(caught.value) == [("sort", "conflict"), ("order", "conflict")]


def test_documents_are_found_by_their_bytes_their_type_and_what_they_belong_to(
    cabinet: Cabinet, store: MemoryStore
) -> None:
    business = cabinet.business(cabinet.entity())
    house = store.write(lambda tx: lets.insert_property(tx, business), cabinet.org_id)
    other = store.write(lambda tx: lets.insert_property(tx, business), cabinet.org_id)
    cabinet.document("a.pdf", b"one", links=[{"type": "property", "id": house}])
    cabinet.document("b.png", b"two", links=[{"type": "property", "id": other}])
    cabinet.document("c.txt", b"one")
    stranger = Cabinet(store)
    stranger.document("theirs.pdf", b"one")
    one = hashlib.sha256(b"one").hexdigest()
    for query, found in (
        (f"sha256={one}", ["c.txt", "a.pdf"]),
        (f"sha256={one}&order=asc", ["a.pdf", "c.txt"]),
        (f"sha256={one}&mimeType=text/plain", ["c.txt"]),
        (f"sha256={'0' * 64}", []),
        ("mimeType=application/pdf", ["a.pdf"]),
        ("mimeType=application/pdf,image/png", ["b.png", "a.pdf"]),
        ("mimeType=image/gif", []),
        (f"propertyId={house}", ["a.pdf"]),
        (f"propertyId={house}&mimeType=image/png", []),
        ("propertyId=prop_01k0000000000000000000000x", []),
    ):
        assert cabinet.names("listDocuments", f"{query}&limit=1") == found, query
        if "order" not in query:
            assert changes(cabinet, f"{query}&updatedSince=1970-01-01T00:00:00Z&limit=1").keys() == set(found), query
    assert stranger.names("listDocuments", f"sha256={one}") == ["theirs.pdf"]
    assert stranger.names("listDocuments", f"propertyId={house}") == []


def test_the_time_of_creation_includes_both_ends(cabinet: Cabinet) -> None:
    at = []
    for name in "abc":
        at.append(cabinet.document(name)["createdAt"])
        cabinet.store.clock.advance(2 * HOUR)
    for query, found in (
        (f"createdFrom={at[1]}", "cb"),
        (f"createdTo={at[1]}", "ba"),
        (f"createdFrom={at[1]}&createdTo={at[1]}", "b"),
        (f"createdFrom={at[0]}&createdTo={at[1]}&order=asc", "ab"),
        (f"createdFrom={at[1]}&order=asc", "bc"),
        (f"createdTo={at[1]}&sort=documentDate", "ba"),
    ):
        for limit in (1, 50):
            assert "".join(cabinet.names("listDocuments", f"{query}&limit={limit}")) == found, query
    assert changes(cabinet, f"updatedSince={at[0]}&createdTo={at[1]}").keys() == {"a", "b"}


def test_the_list_and_the_search_have_the_same_filters() -> None:
    """But for what a search has nothing of: states that it does not look in, what has one document, and changes."""
    of_list = {name.encode_name for name in msgspec.structs.fields(ListAllDocuments)}
    of_search = {name.encode_name for name in msgspec.structs.fields(SearchFilters)}
    assert of_search - of_list == {"mimeTypes"}  # a former name
    pages = {"limit", "cursor", "sort", "order", "updatedSince"}
    assert of_list - of_search - pages == {"status", "externalId", "sha256"}


def test_another_organizations_documents_are_not_there(cabinet: Cabinet, store: MemoryStore) -> None:
    folder_id = cabinet.folder("Receipts")
    cabinet.document(folderId=folder_id)
    other = Cabinet(store)
    for query in ("", f"folderId={folder_id}", "updatedSince=2026-01-01T00:00:00Z"):
        assert other.walk("listDocuments", query) == []


@pytest.mark.parametrize(
    ("query", "index"),
    [
        ("", "vault_documents_by_id"),
        ("status=uploaded", "vault_documents_by_id"),
        ("status=pending_upload", "vault_documents_to_come"),
        ("status=upload_expired", "vault_documents_to_come"),
        ("status=deleted", "vault_documents_in_trash"),
        ("starred=true", "vault_documents_starred"),
        ("starred=true&status=uploaded", "vault_documents_starred"),
        ("folderId=root", "vault_documents_by_creation"),
        ("folderId=root&fromDate=2026-01-01", "vault_documents_by_date"),
        ("contractId=k-1", "vault_documents_of_contract"),
        ("externalId=x", "vault_documents_by_external_id"),
        ("fromDate=2026-01-01", "vault_documents_by_document_date"),
        ("toDate=2026-01-01", "vault_documents_by_document_date"),
        ("order=asc", "vault_documents_by_id"),
        ("documentDateTo=2026-01-01&sort=createdAt", "vault_documents_by_id"),
        ("sort=documentDate&order=asc", "vault_documents_by_document_date"),
        ("folderIds=fld_1,fld_2", "vault_documents_by_id"),
        ("mimeType=application/pdf", "vault_documents_by_id"),
        ("propertyId=prop_1", "vault_documents_by_id"),
        ("createdFrom=2026-01-01T00:00:00Z&createdTo=2026-02-01T00:00:00Z", "vault_documents_by_id"),
        ("updatedSince=2026-01-01T00:00:00Z", "vault_documents_by_change"),
        ("updatedSince=2026-01-01T00:00:00Z&status=deleted", "vault_documents_by_change"),
    ],
)
def test_a_page_comes_from_the_index_with_its_order(cabinet: Cabinet, query: str, index: str) -> None:
    steps = plan_of(cabinet, "listDocuments", query)
    assert any(step.startswith("SEARCH d ") and f"USING INDEX {index} " in step for step in steps), steps
    assert "externalId" in query or not [step for step in steps if "ORDER BY" in step], steps


def test_what_has_the_same_bytes_is_found_by_their_index(cabinet: Cabinet) -> None:
    steps = plan_of(cabinet, "listDocuments", f"sha256={'0' * 64}")
    assert any("vault_documents_by_content (" in step for step in steps), steps
    assert not [step for step in steps if "ORDER BY" in step or step.endswith("(org_id=?)")], steps
