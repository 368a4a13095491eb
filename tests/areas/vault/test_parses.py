"""How far the reading of documents has come: shown with them, listed, counted, asked for anew."""

from functools import partial

import pytest

from gatewayd.areas.vault.parses import rows
from gatewayd.areas.vault.parses.rows import WAITS, Failure
from gatewayd.clock import HOUR, SECOND
from gatewayd.errors import Problem
from gatewayd.store import WriteTx
from tests.areas.vault.cabinet import Cabinet
from tests.support.document_reading import NOTHING_FOUND

DAMAGED, ENCRYPTED = Failure("damaged", "It is damaged.", False), Failure("encrypted", "It is encrypted.", True)
SORTS = ("name", "createdAt", "documentDate", "size")


def attempt(cabinet: Cabinet, document_id: str, failure: Failure | None = None) -> None:
    """Let an attempt that is due be made."""

    def end(tx: WriteTx) -> None:
        n, retries = rows.begin(tx, document_id)
        if failure is not None:
            assert rows.fail(tx, document_id, n, retries, failure)
        else:
            assert rows.succeed(tx, document_id, n, 12, ("plain", "en", NOTHING_FOUND))

    cabinet.store.write(end, cabinet.org_id)


def shown(cabinet: Cabinet, document_id: str) -> tuple[str, int, str | None]:
    parse = cabinet.one("getDocument", f"documentId={document_id}")["parse"]
    return parse["status"], parse["attempt"], parse["errorCode"]


def test_a_document_shows_how_far_its_reading_has_come(cabinet: Cabinet) -> None:
    made = cabinet.record()
    document_id = made["document"]["id"]
    assert shown(cabinet, document_id) == ("none", 0, None)
    cabinet.land(made)
    confirmed = cabinet.post("confirmUpload", documentId=document_id)
    assert (confirmed["parse"]["status"], confirmed["parse"]["attempt"], confirmed["extracted"]) == ("queued", 1, None)
    cabinet.store.write(partial(rows.begin, document_id=document_id), cabinet.org_id)
    assert shown(cabinet, document_id) == ("running", 1, None)
    assert cabinet.post("reparseDocument", documentId=document_id)["parse"]["status"] == "running", "it is under way"
    ended = partial(rows.fail, document_id=document_id, attempt=1, retries=0, failure=DAMAGED)
    assert cabinet.store.write(ended, cabinet.org_id)
    assert shown(cabinet, document_id) == ("failed", 1, "damaged")
    assert not cabinet.store.write(ended, cabinet.org_id), "it has ended"
    queued = cabinet.post("reparseDocument", documentId=document_id)["parse"]
    assert (queued["status"], queued["attempt"]) == ("queued", 2)
    nothing = dict.fromkeys(("startedAt", "finishedAt", "errorCode", "errorMessage"))
    assert queued == queued | nothing, "those of the attempt before are listed, and not this one's"
    assert cabinet.post("reparseDocument", documentId=document_id)["parse"]["attempt"] == 2, "again changes nothing"
    attempt(cabinet, document_id)
    found = cabinet.one("getDocument", f"documentId={document_id}")
    assert found["parse"] == {
        "status": "succeeded",
        "attempt": 2,
        "startedAt": found["parse"]["startedAt"],
        "finishedAt": found["parse"]["finishedAt"],
        "errorCode": None,
        "errorMessage": None,
        "engine": "plain",
        "textChars": 12,
        "language": "en",
        "truncated": False,
    }
    assert (found["extracted"]["kind"], found["extracted"]["confidence"]) == ("other", 0.0)
    assert "certificate" not in found["extracted"]
    assert cabinet.get("getOrganizationDocuments")[0] == [found]
    cabinet.read_by("usr_a", document_id)


def test_an_attempt_that_is_queued_anew_has_no_times_so_far(cabinet: Cabinet) -> None:
    document_id = cabinet.document()["id"]
    attempt(cabinet, document_id)
    before = cabinet.one("getDocument", f"documentId={document_id}")["parse"]
    assert None not in (before["startedAt"], before["finishedAt"])
    asked = cabinet.post("reparseDocument", documentId=document_id)["parse"]
    waiting = {"status": "queued", "attempt": 2, "startedAt": None, "finishedAt": None}
    assert asked == before | waiting, "the text of before is kept until then"
    cabinet.store.write(partial(rows.begin, document_id=document_id), cabinet.org_id)
    (left,) = cabinet.store.read(partial(rows.left_running, holder="nobody", count=9))
    cabinet.store.write(partial(rows.interrupt, left=left, counted=True), cabinet.org_id)
    again = cabinet.one("getDocument", f"documentId={document_id}")["parse"]
    assert again == before | waiting | {"attempt": 3}


def test_what_is_not_uploaded_is_not_read(cabinet: Cabinet) -> None:
    pending, deleted = cabinet.record()["document"]["id"], cabinet.document()["id"]
    with pytest.raises(Problem) as refused:
        cabinet.post("reparseDocument", documentId=pending)
    assert refused.value.code == "not_uploaded"
    cabinet.post("deleteDocument", documentId=deleted)
    for ask in (partial(cabinet.post, "reparseDocument", documentId=deleted),):
        with pytest.raises(Problem) as refused:
            ask()
        assert refused.value.code == "not_found"


def test_attempts_are_listed_latest_first(cabinet: Cabinet) -> None:
    document_id = cabinet.document()["id"]
    for failure in (DAMAGED, DAMAGED, None):
        attempt(cabinet, document_id, failure)
        cabinet.store.clock.advance(HOUR)
        if failure is None:
            cabinet.post("reparseDocument", documentId=document_id)
    attempt(cabinet, document_id, ENCRYPTED)
    listed = cabinet.walk("listParseAttempts", f"documentId={document_id}")
    assert [(one["n"], one["status"], one["errorCode"], one["engine"]) for one in listed] == [
        (4, "skipped", "encrypted", None),
        (3, "succeeded", None, "plain"),
        (2, "failed", "damaged", None),
        (1, "failed", "damaged", None),
    ]
    assert listed[0]["errorMessage"] == "It is encrypted."


def test_failed_documents_are_counted_and_not_attempts(cabinet: Cabinet) -> None:
    bad, worse, good, deleted = (cabinet.document()["id"] for _ in range(4))
    for _ in range(3):
        attempt(cabinet, bad, DAMAGED)
    attempt(cabinet, worse, DAMAGED)
    attempt(cabinet, good)
    attempt(cabinet, deleted, DAMAGED)
    attempt(cabinet, cabinet.document()["id"], ENCRYPTED)
    assert cabinet.one("countFailedDocuments", "") == {"count": 3}
    cabinet.post("deleteDocument", documentId=deleted)
    assert cabinet.one("countFailedDocuments", "") == {"count": 2}
    assert Cabinet(cabinet.store, "Elm Ltd").one("countFailedDocuments", "") == {"count": 0}
    cabinet.post("reparseDocument", documentId=worse)
    assert cabinet.one("countFailedDocuments", "") == {"count": 1}


@pytest.mark.parametrize("sort", SORTS)
def test_lists_by_how_far_reading_has_come(cabinet: Cabinet, sort: str) -> None:
    top, below = cabinet.folder("top"), ""
    below = cabinet.folder("below", top)
    expected: dict[str, list[str]] = {}
    for n in range(12):
        status = ("failed", "succeeded", "skipped", "queued")[n % 4]
        made = cabinet.document(
            f"{n:02}", b"x" * n, folderId=(top, below)[n // 4 % 2], documentDate=f"2026-01-{n + 1:02}"
        )
        expected.setdefault(status, []).append(made["name"])
        if status != "queued":
            attempt(cabinet, made["id"], {"failed": DAMAGED, "skipped": ENCRYPTED}.get(status))
    pending = cabinet.record("99", folderId=top)["document"]["name"]
    asked = f"folderId={top}&recursive=true&sort={sort}"
    for status, names in expected.items():
        found = cabinet.names("getFolderDocuments", f"{asked}&parseStatus={status}")
        assert found == (names if sort == "name" else names[::-1]), status
    assert cabinet.names("getFolderDocuments", f"{asked}&parseStatus=none") == [pending]
    flat = cabinet.names("getFolderDocuments", f"folderId={top}&sort={sort}&parseStatus=failed")
    assert sorted(flat) == ["00", "08"]
    assert cabinet.names("getOrganizationDocuments", "parseStatus=failed") == []


def test_a_retry_that_waits_in_the_trash_is_due_when_it_comes_back(cabinet: Cabinet) -> None:
    document_id = cabinet.document()["id"]
    attempt(cabinet, document_id, DAMAGED)

    def heads() -> object:
        return cabinet.store.read(lambda tx: rows.next_head(tx, ""), cabinet.org_id)

    assert heads() is not None
    cabinet.post("deleteDocument", documentId=document_id)
    assert heads() is None
    cabinet.post("restoreDocument", documentId=document_id)
    attempt(cabinet, document_id)
    cabinet.post("deleteDocument", documentId=document_id)
    cabinet.post("restoreDocument", documentId=document_id)
    assert heads() is None, "it was read"
    assert cabinet.store.read(lambda tx: rows.is_due(tx, tx.now), cabinet.org_id)
    assert not cabinet.store.read(lambda tx: rows.is_due(tx, tx.now + SECOND), cabinet.org_id)
    assert cabinet.store.read(lambda tx: rows.is_due(tx, tx.now + WAITS[-1] + SECOND), cabinet.org_id)
