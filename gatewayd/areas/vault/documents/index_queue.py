"""Which documents search has to look at anew. Owns the table `vault_index_queue`.

Whatever changes what a document is found by puts it here, in its own transaction; the engine of search takes it out
once the index says what is so now. That holds for names, for text that was read, and for what goes into the trash.
"""

from typing import Final, NamedTuple

from gatewayd.store import ReadTx, WriteTx

TOPIC: Final = "vault.index"

_PUT = """
INSERT INTO vault_index_queue (org_id, document_id, revision, queued_at) VALUES (:org_id, :document_id, 1, :now)
ON CONFLICT (org_id, document_id) DO UPDATE SET revision = vault_index_queue.revision + 1
"""
_PUT_ALL = """
INSERT INTO vault_index_queue (org_id, document_id, revision, queued_at)
SELECT d.org_id, d.id, 1, :now FROM vault_documents d
WHERE d.org_id = :org_id AND d.id > :after AND d.status = 'uploaded' ORDER BY d.id LIMIT :count
ON CONFLICT (org_id, document_id) DO UPDATE SET revision = vault_index_queue.revision + 1
"""
PUT_ALL_ANY_ORG: Final = """
INSERT INTO vault_index_queue (org_id, document_id, revision, queued_at)
SELECT d.org_id, d.id, 1, :now FROM vault_documents d WHERE d.status = 'uploaded'
"""
"""Of a database without an index: all documents are put into it."""
_LAST_OF = """
SELECT max(s.id) FROM (
    SELECT d.id FROM vault_documents d
    WHERE d.org_id = :org_id AND d.id > :after AND d.status = 'uploaded' ORDER BY d.id LIMIT :count
) s
"""
_TAKE_OUT = """
DELETE FROM vault_index_queue
WHERE org_id = :org_id AND document_id = :document_id AND revision = :revision AND queued_at = :queued_at
"""
_SELECT_ONE = """
SELECT 1 FROM vault_index_queue
WHERE org_id = :org_id AND document_id = :document_id AND revision = :revision AND queued_at = :queued_at
"""
_SELECT = """
SELECT document_id, revision, queued_at FROM vault_index_queue
WHERE org_id = :org_id ORDER BY queued_at, document_id LIMIT :count
"""
_NEXT_ANY_ORG = "SELECT org_id FROM vault_index_queue WHERE org_id > :after ORDER BY org_id LIMIT 1"
_COUNT_ANY_ORG = "SELECT count(*) FROM vault_index_queue"


class Waiting(NamedTuple):
    """A document that waits, and what of it is meant: its revision, of those since it was queued."""

    document_id: str
    revision: int
    queued_at: int


def put(tx: WriteTx, document_id: str) -> None:
    """Have a document indexed anew, or taken out of the index where it is no more."""
    tx.run(_PUT, document_id=document_id, now=tx.now)
    tx.announce(TOPIC)


def put_some(tx: WriteTx, after: str, count: int) -> str | None:
    """Have at most `count` documents of the organization indexed anew, from behind the id `after` on.

    Answers the last one's id; None: there are no more.
    """
    last: str | None = tx.value(_LAST_OF, after=after, count=count)
    if last is not None:
        tx.run(_PUT_ALL, after=after, count=count, now=tx.now)
        tx.announce(TOPIC)
    return last


def take_out(tx: WriteTx, one: Waiting) -> None:
    """A document is indexed; one that has changed since waits again."""
    tx.run(_TAKE_OUT, document_id=one.document_id, revision=one.revision, queued_at=one.queued_at)


def is_waiting(tx: ReadTx, one: Waiting) -> bool:
    """Whether it still waits as it is meant: it has not changed since, nor has another process indexed it."""
    return tx.row(_SELECT_ONE, document_id=one.document_id, revision=one.revision, queued_at=one.queued_at) is not None


def waiting(tx: ReadTx, count: int) -> list[Waiting]:
    """Those of the organization that have waited longest."""
    return [Waiting(*row) for row in tx.rows(_SELECT, count=count)]


def next_organization(tx: ReadTx, after: str) -> str | None:
    """The organization behind `after`, in the order of ids, that has something to index; then from the first again."""
    found: str | None = tx.value(_NEXT_ANY_ORG, after=after)
    return found if found is not None or not after else next_organization(tx, "")


def length(tx: ReadTx) -> int:
    """How many documents wait, of all organizations."""
    return int(tx.value(_COUNT_ANY_ORG))
