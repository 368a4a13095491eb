"""Documents: from the record to the confirmed upload, where they lie, and the trash."""

import hashlib

import pytest

from gatewayd.areas.vault import trash
from gatewayd.areas.vault.documents import uploads
from gatewayd.clock import DAY, HOUR, SECOND, Instant
from gatewayd.errors import Problem
from gatewayd.ledger import named_files
from tests.areas.accounting.books import fields_of
from tests.areas.vault.cabinet import Cabinet
from tests.support.plans import plan_of

PAPER = hashlib.sha256(b"paper").hexdigest()


def refusal(cabinet: Cabinet, operation: str, **fields: object) -> Problem:
    with pytest.raises(Problem) as refused:
        cabinet.post(operation, **fields)
    return refused.value


def test_a_document_is_there_once_its_bytes_are_confirmed(cabinet: Cabinet) -> None:
    made = cabinet.record("Boiler.PDF", documentDate="2026-03-02", contractId="C-1")
    document, upload = made["document"], made["upload"]
    assert (document["status"], document["sizeBytes"], document["sha256"]) == ("pending_upload", None, None)
    assert (document["mimeType"], document["originalName"]) == ("application/pdf", "Boiler.PDF")
    assert (upload["method"], upload["headers"]) == ("PUT", {"Content-Type": "application/pdf"})
    assert upload["url"].startswith("http://127.0.0.1:8080/vault/uploads/gwd_upl_")
    assert refusal(cabinet, "confirmUpload", documentId=document["id"]).code == "upload_missing"
    cabinet.land(made)
    assert cabinet.one("getDocument", f"documentId={document['id']}")["sizeBytes"] is None
    done = cabinet.post("confirmUpload", documentId=document["id"], sizeBytes=5, sha256=PAPER)
    assert (done["status"], done["sizeBytes"], done["sha256"]) == ("uploaded", 5, PAPER)
    assert cabinet.post("confirmUpload", documentId=document["id"]) == done, "again changes nothing"


@pytest.mark.parametrize(
    ("name", "media_type"),
    [
        ("lease.docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
        ("Mileage.2026.XLSX", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
        ("wages.ods", "application/vnd.oasis.opendocument.spreadsheet"),
        ("minutes.odt", "application/vnd.oasis.opendocument.text"),
        ("photo.webp", "image/webp"),
        ("boiler.eml", "message/rfc822"),
        ("notes.txt.gz", "application/octet-stream"),
        ("docx", "application/octet-stream"),
    ],
)
def test_the_name_says_what_a_document_is(cabinet: Cabinet, name: str, media_type: str) -> None:
    """As IANA registers them."""
    assert cabinet.record(name)["document"]["mimeType"] == media_type


@pytest.mark.parametrize("said", [{"sizeBytes": 4}, {"sha256": "0" * 64}])
def test_other_bytes_than_were_meant_are_not_confirmed(cabinet: Cabinet, said: dict[str, object]) -> None:
    made = cabinet.record()
    cabinet.land(made)
    assert refusal(cabinet, "confirmUpload", documentId=made["document"]["id"], **said).code == "checksum_mismatch"
    declared = cabinet.record(**said)
    with pytest.raises(Problem, match="checksum_mismatch"):
        cabinet.land(declared)
    assert refusal(cabinet, "confirmUpload", documentId=declared["document"]["id"]).code == "upload_missing"


def test_an_upload_url_takes_bytes_once(cabinet: Cabinet) -> None:
    made = cabinet.record()
    token = made["upload"]["url"].rpartition("/")[2]
    cabinet.land(made)
    assert cabinet.store.write(lambda tx: uploads.receive(tx, token, 1, "0" * 64)) is None


def test_how_much_will_come_is_said_once(cabinet: Cabinet) -> None:
    def declared(token: str, size: int) -> int | None:
        found = cabinet.store.write(lambda tx: uploads.declare(tx, token, size, 0))
        return None if found is None else found.row.declared_size_bytes

    made = cabinet.record()
    token = made["upload"]["url"].rpartition("/")[2]
    assert [declared(token, size) for size in (5, 7)] == [5, 5]
    cabinet.land(made)
    assert declared(token, 5) is None, "its bytes are there"
    assert declared("gwd_upl_other", 5) is None


def test_an_upload_is_ended_once(cabinet: Cabinet) -> None:
    made = cabinet.record()
    token = made["upload"]["url"].rpartition("/")[2]
    ended = [cabinet.store.write(lambda tx: uploads.end(tx, token)) for _ in range(2)]
    assert [None if row is None else row.id for row in ended] == [made["document"]["id"], None]


def test_an_upload_ends_after_a_day(cabinet: Cabinet) -> None:
    """Domain B7."""
    made, landed = cabinet.record(), cabinet.record()
    cabinet.land(landed)
    cabinet.store.clock.advance(24 * HOUR - SECOND)
    token = made["upload"]["url"].rpartition("/")[2]
    assert cabinet.store.read(lambda tx: uploads.find(tx, token)) is not None
    cabinet.store.clock.advance(SECOND)
    assert cabinet.store.read(lambda tx: uploads.find(tx, token)) is None
    document_id = made["document"]["id"]
    assert cabinet.one("getDocument", f"documentId={document_id}")["status"] == "upload_expired"
    assert refusal(cabinet, "confirmUpload", documentId=document_id).code == "upload_expired"
    assert cabinet.post("confirmUpload", documentId=landed["document"]["id"])["status"] == "uploaded"


def test_bytes_that_are_there_may_be_refused(cabinet: Cabinet) -> None:
    first = cabinet.document()
    cabinet.document()  # allowed, where nobody asks
    refused = refusal(cabinet, "createDocumentRecord", name="x.pdf", sha256=PAPER, onDuplicate="reject")
    assert (refused.code, refused.extra["existingId"]) == ("duplicate_content", first["id"])
    unsaid = cabinet.record(onDuplicate="reject")
    cabinet.land(unsaid)
    assert refusal(cabinet, "confirmUpload", documentId=unsaid["document"]["id"]).code == "duplicate_content"
    elsewhere = Cabinet(cabinet.store, "Other")
    elsewhere.record(sha256=PAPER, onDuplicate="reject")  # another organization's bytes are its own


def test_too_large_is_told_before_anything_is_sent(cabinet: Cabinet) -> None:
    assert refusal(cabinet, "createDocumentRecord", name="x", sizeBytes=(100 << 20) + 1).code == "payload_too_large"
    assert cabinet.record("x", sizeBytes=100 << 20)["upload"]["maxBytes"] == 100 << 20


def test_what_a_document_names_has_to_exist(cabinet: Cabinet) -> None:
    client = {"type": "client", "id": "cli_00000000000000000000000000"}
    refused = refusal(cabinet, "createDocumentRecord", name="x", folderId="fld_0", links=[client, client])
    assert fields_of(refused) == [
        ("folderId", "unknown_reference"),
        ("links[0].id", "unknown_reference"),
        ("links[1].id", "unknown_reference"),
        ("links[1]", "conflict"),
    ]


def test_the_orders_of_a_folder(cabinet: Cabinet) -> None:
    folder = cabinet.folder("F")
    for name, content, date in (
        ("banana", b"12345", "2026-01-02"),
        ("Apple", b"1", None),
        ("cherry", b"123", "2026-03-01"),
        ("apple", b"123", "2025-01-01"),
    ):
        cabinet.document(name, content, folderId=folder, documentDate=date)
    cabinet.record("pending", folderId=folder)
    cabinet.document("elsewhere")

    def order(sort: str) -> list[str]:
        return cabinet.names("getFolderDocuments", f"folderId={folder}&sort={sort}&limit=2")

    assert order("name") == ["Apple", "apple", "banana", "cherry", "pending"]
    assert order("createdAt") == ["pending", "apple", "cherry", "Apple", "banana"]
    assert order("documentDate") == ["cherry", "banana", "apple", "pending", "Apple"]
    assert order("size") == ["banana", "apple", "cherry", "Apple", "pending"]
    for sort in ("name", "createdAt", "documentDate", "size"):
        natural = order(sort)
        way, back = ("asc", "desc") if sort == "name" else ("desc", "asc")
        assert order(f"{sort}&order={way}") == natural
        assert order(f"{sort}&order={back}") == natural[::-1]


@pytest.mark.parametrize("sort", ["name&order=desc", "createdAt&order=asc", "documentDate&order=asc", "size&order=asc"])
def test_an_order_backwards_is_its_index_too(cabinet: Cabinet, sort: str) -> None:
    steps = plan_of(cabinet, "getFolderDocuments", f"folderId={cabinet.folder('F')}&sort={sort}")
    assert not [step for step in steps if "ORDER BY" in step], steps


def test_starred_ones_and_the_trash_are_found_as_others_are(cabinet: Cabinet) -> None:
    for name in "abc":
        made = cabinet.document(name, externalId=f"x-{name}")
        cabinet.post("toggleDocumentStar", documentId=made["id"], starred=True)
    pending = cabinet.record("d", externalId="x-d")["document"]
    cabinet.post("toggleDocumentStar", documentId=pending["id"], starred=True)
    assert cabinet.names("getStarredDocuments", "externalId=x-b") == ["b"]
    assert cabinet.names("getStarredDocuments", "externalId=x-e") == []
    assert cabinet.names("getStarredDocuments", "parseStatus=queued&limit=1") == ["c", "b", "a"]
    assert cabinet.names("getStarredDocuments", "parseStatus=none") == ["d"]
    for row in cabinet.walk("getStarredDocuments", ""):
        cabinet.post("deleteDocument", documentId=row["id"])
    assert cabinet.names("listTrash", "externalId=x-b") == ["b"]
    assert cabinet.names("listTrash", "externalId=x-b&parseStatus=failed") == []
    assert cabinet.names("listTrash", "limit=1") == ["d", "c", "b", "a"]
    assert cabinet.names("listTrash", "parseStatus=none") == cabinet.names("listTrash", "limit=1&parseStatus=none")


def test_below_a_folder_and_at_the_top(cabinet: Cabinet) -> None:
    outer = cabinet.folder("Outer")
    inner = cabinet.folder("Inner", outer)
    cabinet.document("in outer", folderId=outer)
    cabinet.document("in inner", folderId=inner)
    cabinet.document("at the top")
    assert cabinet.names("getFolderDocuments", f"folderId={outer}") == ["in outer"]
    below = cabinet.names("getFolderDocuments", f"folderId={outer}&recursive=true&limit=1&sort=name")
    assert below == ["in inner", "in outer"]
    assert cabinet.names("getOrganizationDocuments") == ["at the top"]
    cabinet.document("beside it")
    for order, names in (("asc", ["at the top", "beside it"]), ("desc", ["beside it", "at the top"])):
        assert cabinet.names("getOrganizationDocuments", f"sort=name&order={order}&limit=1") == names


def test_a_page_begins_behind_a_document_whatever_becomes_of_it(cabinet: Cabinet) -> None:
    names = [f"{'ö' * 240}{number}" for number in range(3)]
    made = [cabinet.document(name) for name in names]
    page, cursor = cabinet.get("getOrganizationDocuments", "sort=name&limit=1")
    assert [one["name"] for one in page] == names[:1]
    cabinet.post("deleteDocument", documentId=made[0]["id"])
    rest, _ = cabinet.get("getOrganizationDocuments", f"sort=name&limit=1&cursor={cursor}")
    assert [one["name"] for one in rest] == names[1:2]


def test_one_call_changes_name_folder_and_star(cabinet: Cabinet) -> None:
    folder = cabinet.folder("F")
    made = cabinet.document()
    changed = cabinet.post("updateDocument", documentId=made["id"], name="b.pdf", folderId=folder, starred=True)
    assert (changed["name"], changed["folderId"], changed["starred"]) == ("b.pdf", folder, True)
    assert changed["originalName"] == "scan.pdf"
    assert cabinet.post("updateDocument", documentId=made["id"], folderId=None)["folderId"] is None
    assert fields_of(refusal(cabinet, "updateDocument", documentId=made["id"])) == [("name", "required")]
    refused = refusal(cabinet, "updateDocument", documentId=made["id"], folderId="fld_0")
    assert fields_of(refused) == [("folderId", "unknown_reference")]
    assert refusal(cabinet, "updateDocument", documentId=made["id"], starred=True, expectedVersion=1).code == (
        "version_conflict"
    )


@pytest.mark.parametrize(
    ("operation", "values"),
    [
        ("confirmUpload", {}),
        ("reparseDocument", {}),
        ("toggleDocumentStar", {"starred": True}),
        ("updateDocumentFolder", {"folderId": None}),
        ("updateDocumentContractId", {"contractId": "C-1"}),
        ("setDocumentThumbnailUrl", {"thumbnailUrl": "https://example.com/1.webp"}),
        ("deleteDocument", {}),
        ("restoreDocument", {}),
    ],
)
def test_another_version_than_was_read_is_refused(cabinet: Cabinet, operation: str, values: dict[str, object]) -> None:
    made = cabinet.document()
    if operation == "restoreDocument":
        cabinet.post("deleteDocument", documentId=made["id"])
        made = {**made, "version": made["version"] + 1}
    refused = refusal(cabinet, operation, documentId=made["id"], expectedVersion=made["version"] + 1, **values)
    assert refused.code == "version_conflict"
    assert cabinet.post(operation, documentId=made["id"], expectedVersion=made["version"], **values)["id"] == made["id"]


def test_names_may_be_alike_unless_one_asks_for_its_own(cabinet: Cabinet) -> None:
    first, second = cabinet.document("a.pdf"), cabinet.document("b.pdf")
    refused = refusal(cabinet, "updateDocument", documentId=second["id"], name="A.PDF", unique=True)
    assert (refused.code, refused.extra["existingId"]) == ("name_taken", first["id"])
    assert cabinet.post("updateDocument", documentId=second["id"], name="A.PDF")["name"] == "A.PDF"


def test_a_star_is_given_taken_and_told(cabinet: Cabinet) -> None:
    first, second = cabinet.document("a"), cabinet.document("b")
    for made in (first, second):
        assert cabinet.post("toggleDocumentStar", documentId=made["id"])["starred"] is True
    assert cabinet.names("getStarredDocuments", "limit=1") == ["b", "a"]
    assert cabinet.post("toggleDocumentStar", documentId=first["id"])["starred"] is False
    again = cabinet.post("toggleDocumentStar", documentId=first["id"], starred=False)
    assert (again["starred"], again["version"]) == (False, 5), "what is so already costs no version"
    assert cabinet.names("getStarredDocuments") == ["b"]


def test_the_small_changes(cabinet: Cabinet) -> None:
    folder, made = cabinet.folder("F"), cabinet.document()
    moved = cabinet.post("updateDocumentFolder", documentId=made["id"], folderId=folder)
    assert moved["folderId"] == folder
    assert fields_of(refusal(cabinet, "updateDocumentFolder", documentId=made["id"], folderId="fld_0")) == [
        ("folderId", "unknown_reference")
    ]
    assert cabinet.post("updateDocumentContractId", documentId=made["id"], contractId="C")["contractId"] == "C"
    assert cabinet.post("updateDocumentContractId", documentId=made["id"], contractId=None)["contractId"] is None
    url = "https://example.com/1.webp"
    assert cabinet.post("setDocumentThumbnailUrl", documentId=made["id"], thumbnailUrl=url)["thumbnailUrl"] == url
    for bad in ("http://example.com/1.webp", "javascript:alert(1)", "/other/1", "https://a b", ""):
        refused = refusal(cabinet, "setDocumentThumbnailUrl", documentId=made["id"], thumbnailUrl=bad)
        assert [path for path, _ in fields_of(refused)] == ["thumbnailUrl"]


def test_many_move_together_or_not_at_all(cabinet: Cabinet) -> None:
    folder = cabinet.folder("F")
    ids = [cabinet.document(name)["id"] for name in "ab"]
    unknown = "doc_00000000000000000000000000"
    refused = refusal(cabinet, "bulkMoveDocuments", documentIds=[*ids, unknown], folderId=folder)
    assert (refused.code, refused.extra["missingIds"]) == ("not_found", [unknown])
    assert cabinet.names("getFolderDocuments", f"folderId={folder}") == []
    moved = cabinet.post("bulkMoveDocuments", documentIds=[unknown, *ids, ids[0]], folderId=folder, partial=True)
    assert moved == {"moved": ids, "failed": [{"id": unknown, "code": "not_found"}]}
    assert cabinet.names("getFolderDocuments", f"folderId={folder}&sort=name") == ["a", "b"]
    assert cabinet.post("bulkMoveDocuments", documentIds=ids, folderId=None)["failed"] == []


def test_what_somebody_read_last(cabinet: Cabinet) -> None:
    me = cabinet.caller.reference
    made = {name: cabinet.document(name)["id"] for name in "abc"}
    for name in ("a", "b", "a", "c"):
        cabinet.read_by(me, made[name])
        cabinet.store.clock.advance(SECOND)
    cabinet.read_by("usr_other", made["b"])
    recent, cursor = cabinet.get("getRecentDocuments", "")
    assert ([one["name"] for one in recent], cursor) == (["c", "a", "b"], None)
    assert recent[2]["readAt"] < recent[2]["lastAccessedAt"], "somebody else read it since"
    assert [one["name"] for one in cabinet.get("getRecentDocuments", "limit=1")[0]] == ["c"]
    cabinet.post("deleteDocument", documentId=made["c"])
    assert [one["name"] for one in cabinet.get("getRecentDocuments", "")[0]] == ["a", "b"]


def test_what_is_deleted_is_not_there(cabinet: Cabinet) -> None:
    made = cabinet.document()
    assert cabinet.post("deleteDocument", documentId=made["id"]) == {"id": made["id"], "deleted": True}
    assert refusal(cabinet, "deleteDocument", documentId=made["id"]).code == "not_found"
    assert refusal(cabinet, "toggleDocumentStar", documentId=made["id"]).code == "not_found"
    assert cabinet.names("getOrganizationDocuments") == []
    cabinet.document()  # the same bytes may come again
    assert refusal(cabinet, "createDocumentRecord", name="x", sha256=PAPER, onDuplicate="reject")


def test_an_external_id_is_taken_once(cabinet: Cabinet) -> None:
    first = cabinet.document(externalId="paper-7")
    refused = refusal(cabinet, "createDocumentRecord", name="x", externalId="paper-7")
    assert (refused.code, refused.extra["existingId"]) == ("already_exists", first["id"])
    second = cabinet.document("y")
    assert refusal(cabinet, "updateDocument", documentId=second["id"], externalId="paper-7").code == "already_exists"
    assert cabinet.names("getOrganizationDocuments", "externalId=paper-7") == ["scan.pdf"]


def test_what_lies_in_the_trash_is_listed_and_comes_back(cabinet: Cabinet) -> None:
    folder = cabinet.folder("F")
    kept, lost = cabinet.document("a", folderId=folder), cabinet.document("b", folderId=folder)
    pending = cabinet.record("c")["document"]
    for made in (kept, lost, pending):
        cabinet.post("deleteDocument", documentId=made["id"])
    assert cabinet.names("listTrash", "limit=2") == ["c", "b", "a"]
    back = cabinet.post("restoreDocument", documentId=kept["id"])
    assert (back["status"], back["folderId"], back["deletedAt"]) == ("uploaded", folder, None)
    assert refusal(cabinet, "restoreDocument", documentId=kept["id"]).code == "invalid_state"
    cabinet.post("deleteFolder", folderId=folder)
    assert cabinet.names("listTrash") == ["c", "b", "a"]
    assert cabinet.post("restoreDocument", documentId=lost["id"])["folderId"] is None
    again = cabinet.post("restoreDocument", documentId=pending["id"])
    assert again["status"] == "pending_upload"
    cabinet.store.clock.advance(24 * HOUR)
    assert cabinet.one("getDocument", f"documentId={pending['id']}")["status"] == "upload_expired"


def test_the_trash_is_emptied_after_its_days(cabinet: Cabinet) -> None:
    old, young, kept = (cabinet.document(name) for name in "abc")
    cabinet.read_by("usr_1", old["id"])
    cabinet.post("deleteDocument", documentId=old["id"])
    cabinet.store.clock.advance(DAY)
    before = Instant(cabinet.store.now())
    cabinet.post("deleteDocument", documentId=young["id"])
    assert cabinet.store.write(lambda tx: trash.purge_some(tx, before)) == 1
    assert cabinet.names("listTrash") == ["b"]
    assert cabinet.names("getOrganizationDocuments") == [kept["name"]]
    assert refusal(cabinet, "restoreDocument", documentId=old["id"]).code == "not_found"


def test_a_file_is_named_as_long_as_any_document_has_it(cabinet: Cabinet) -> None:
    first, second = cabinet.document(), cabinet.document("twin")
    for made in (first, second):
        assert cabinet.store.read(lambda tx: named_files.is_named(tx, PAPER)), "also in the trash"
        cabinet.post("deleteDocument", documentId=made["id"])
    cabinet.store.write(lambda tx: trash.purge_some(tx, Instant(cabinet.store.now() + DAY)))
    assert not cabinet.store.read(lambda tx: named_files.is_named(tx, PAPER))


def test_a_document_in_the_trash_is_read_where_that_is_asked_for(cabinet: Cabinet) -> None:
    document_id = cabinet.document()["id"]
    cabinet.post("deleteDocument", documentId=document_id)
    with pytest.raises(Problem, match="not_found"):
        cabinet.one("getDocument", f"documentId={document_id}&includeDeleted=false")
    answer = cabinet.one("getDocument", f"documentId={document_id}&includeDeleted=true")
    assert [answer] == cabinet.walk("listTrash", "")
    cabinet.post("restoreDocument", documentId=document_id)
    assert cabinet.one("getDocument", f"documentId={document_id}&includeDeleted=true")["status"] == "uploaded"
