"""`Idempotency-Key`: a POST that is sent twice acts once. Owns the table `idempotency_keys`.

The record is written in the transaction of the operation itself, and the one writer runs operations in turn, so two
requests with one key that arrive together are told apart there: the second finds the first's answer.
"""

import hashlib
from dataclasses import dataclass

import msgspec

from gatewayd.clock import DAY
from gatewayd.contract.caller import Caller
from gatewayd.contract.operation import Operation
from gatewayd.errors import Problem
from gatewayd.store import WriteTx

KEPT = DAY  # domain model §0.2: 24 h
MAX_KEY_CHARACTERS = 255
SWEEP_ROWS = 1_000

_SELECT = """
SELECT request_hash, response, sealed FROM idempotency_keys
WHERE org_id = :org_id AND credential_id = :credential_id AND key = :key AND created_at > :oldest
"""
_INSERT = """
INSERT INTO idempotency_keys (org_id, credential_id, key, request_hash, operation, response, sealed, created_at)
VALUES (:org_id, :credential_id, :key, :request_hash, :operation, :response, :sealed, :now)
ON CONFLICT (org_id, credential_id, key) DO UPDATE SET
    request_hash = :request_hash, operation = :operation, response = :response, sealed = :sealed, created_at = :now
"""
_DELETE = """
DELETE FROM idempotency_keys WHERE org_id = :org_id AND credential_id = :credential_id AND key = :key
"""
_DELETE_INTERRUPTED_ANY_ORG = "DELETE FROM idempotency_keys WHERE response IS NULL"
_SWEEP_ANY_ORG = """
DELETE FROM idempotency_keys WHERE (org_id, credential_id, key) IN (
    SELECT org_id, credential_id, key FROM idempotency_keys WHERE created_at <= :before ORDER BY created_at LIMIT :count
)
"""


class Replay(Exception):
    """The operation was done before; this is its answer, byte for byte."""

    def __init__(self, body: bytes) -> None:
        super().__init__("replay")
        self.body = body


@dataclass(frozen=True, slots=True)
class Record:
    """One request under its key."""

    credential_id: str
    key: str
    request_hash: bytes
    operation: str
    sealed: bool

    @property
    def _context(self) -> str:
        return f"idempotency_keys.response:{self.credential_id}:{self.key}"


def record_of(key: bytes, operation: Operation, caller: Caller, request: msgspec.Struct) -> Record:
    """The record a request would leave. Raises `Problem` `invalid_request` for a key that is too long or not text.

    Two requests are the same when they name the same operation and decode to the same values.
    """
    text = key.decode("latin-1").strip()
    if not 0 < len(text) <= MAX_KEY_CHARACTERS or not text.isprintable():
        raise Problem("invalid_request", f"An Idempotency-Key is 1 to {MAX_KEY_CHARACTERS} printable characters.")
    digest = hashlib.sha256(operation.id.encode() + b"\0" + msgspec.json.encode(request)).digest()
    return Record(caller.credential_id, text, digest, operation.id, operation.secret)


def begin(tx: WriteTx, record: Record) -> None:
    """Look for an earlier request under the key.

    Raises `Replay` with its answer, or `Problem` `idempotency_conflict` when it was another request or has not ended.
    """
    row = tx.row(_SELECT, credential_id=record.credential_id, key=record.key, oldest=tx.now - KEPT)
    if row is None:
        return
    request_hash, response, sealed = row
    if request_hash != record.request_hash:
        raise Problem("idempotency_conflict", "This Idempotency-Key was used with another request.")
    if response is None:
        raise Problem(
            "idempotency_conflict",
            "The first request with this key is still running.",
            headers=((b"retry-after", b"1"),),
        )
    raise Replay(tx.unseal(response, record._context).encode() if sealed else response)


def keep(tx: WriteTx, record: Record, body: bytes | None) -> None:
    """Remember the answer; None marks a call that is under way."""
    stored = tx.seal(body.decode(), record._context) if body is not None and record.sealed else body
    tx.run(
        _INSERT,
        credential_id=record.credential_id,
        key=record.key,
        request_hash=record.request_hash,
        operation=record.operation,
        response=stored,
        sealed=int(record.sealed),
    )


def forget(tx: WriteTx, record: Record) -> None:
    """The call failed: the key may be used again."""
    tx.run(_DELETE, credential_id=record.credential_id, key=record.key)


def forget_interrupted(tx: WriteTx) -> int:
    """At start: forget the calls that were under way when the process ended, and answer how many there were.

    Chosen: a retry then acts again, as after a call that failed, instead of meeting a conflict for 24 h.
    """
    return tx.run(_DELETE_INTERRUPTED_ANY_ORG)


def sweep(tx: WriteTx) -> int:
    """Delete up to `SWEEP_ROWS` records older than 24 h and answer how many that was."""
    return tx.run(_SWEEP_ANY_ORG, before=tx.now - KEPT, count=SWEEP_ROWS)
