"""Documents that a real daemon reads: their text after the upload, and nothing lost to kills in the midst of it."""

import random
from typing import Any

from gatewayd.areas.vault.parses import rows
from gatewayd.store import WriteTx
from tests.daemon.conftest import NO_LIMIT
from tests.daemon.instance import Instance, Running, serving, until

DOCUMENTS = 40
KILLS = 6
SCOPES = ["vault:read", "vault:write"]
_ATTEMPTS = "SELECT document_id, n, status FROM vault_parse_attempts ORDER BY document_id, n"
_PAGES = "SELECT document_id, text FROM vault_pages ORDER BY document_id, number"
_COUNT_LEFT = "SELECT count(*) FROM vault_parses WHERE status <> 'succeeded'"
_COUNT_ENDED = "SELECT count(*) FROM vault_parse_attempts WHERE status <> 'running'"
_QUEUEABLE = "SELECT document_id FROM vault_parses WHERE org_id = :org_id AND status = 'succeeded'"


def upload(running: Running, key: str, name: str, content: bytes) -> str:
    """A document, uploaded and confirmed."""
    made = running.call(key, "POST", "/api/rpc/vault/documents", {"name": name}).json()
    url = made["upload"]["url"].partition("/vault/")[2]
    assert running.client.put(f"/vault/{url}", content=content).status_code == 200
    document_id = str(made["document"]["id"])
    confirmed = running.call(key, "POST", f"/api/rpc/vault/documents/{document_id}/confirm-upload", {})
    assert confirmed.json()["parse"]["status"] == "queued"
    return document_id


def test_an_uploaded_document_is_read(instance: Instance) -> None:
    firm = instance.firm()
    key = instance.key(firm.org_id, firm.user_id, SCOPES).key
    with serving(instance) as running:
        document_id = upload(running, key, "bill.txt", b"Boiler service, paid in full.\n")

        def shown() -> dict[str, Any]:
            found: dict[str, Any] = running.call(key, "GET", f"/api/rpc/vault/documents/{document_id}").json()
            return found

        until(lambda: shown()["parse"]["status"] == "succeeded")
        path = f"/api/rpc/vault/documents/{document_id}/download?variant=text"
        url = running.call(key, "GET", path).json()["url"].partition("/vault/")[2]
        assert "Boiler service, paid in full." in running.client.get(f"/vault/{url}").text
        assert running.call(key, "GET", "/api/rpc/vault/documents/failed-count").json() == {"count": 0}
        assert instance.run("document", "reparse", document_id).returncode == 0
        until(lambda: (shown()["parse"]["status"], shown()["parse"]["attempt"]) == ("succeeded", 2))
        assert running.end() == 0


def queue_all(tx: WriteTx) -> None:
    for (document_id,) in tx.rows(_QUEUEABLE):
        rows.queue_anew(tx, document_id)


def test_kills_lose_no_document_and_no_attempt(instance: Instance) -> None:
    instance = Instance(instance.directory, NO_LIMIT)
    firm, chance = instance.firm(), random.Random(15)
    key = instance.key(firm.org_id, firm.user_id, SCOPES).key
    with serving(instance) as running:
        ids = [upload(running, key, f"{n}.txt", f"Document {n}".encode()) for n in range(DOCUMENTS)]
        running.process.kill()
    for _ in range(KILLS):
        instance.write(queue_all, firm.org_id)
        with serving(instance) as running:
            goal = ended(instance) + chance.randrange(1, DOCUMENTS // 2)
            until(lambda goal=goal: ended(instance) >= goal)
            running.process.kill()
    with serving(instance) as running:
        until(lambda: instance.seen(_COUNT_LEFT) == [(0,)])
        assert running.end() == 0
    pages = instance.read(lambda tx: dict(tx.rows(_PAGES)))
    assert pages == {id_: f"Document {n}" for n, id_ in enumerate(ids)}
    attempts: dict[str, list[tuple[int, str]]] = {}
    for document_id, n, status in instance.read(lambda tx: tx.rows(_ATTEMPTS)):
        attempts.setdefault(document_id, []).append((n, status))
    for found in attempts.values():
        assert [n for n, _ in found] == list(range(1, len(found) + 1))
        assert {status for _, status in found[:-1]} <= {"interrupted", "succeeded"}
        assert found[-1][1] == "succeeded"


def ended(instance: Instance) -> int:
    """How many attempts have."""
    ((count,),) = instance.seen(_COUNT_ENDED)
    return int(count)
