"""`Idempotency-Key`: a write that is sent twice acts once. Owns the table `idempotency_keys`.

The record is written in the transaction of the operation itself, and the one writer runs operations in turn, so two
requests with one key that arrive together are told apart there: the second finds the first's answer.

A call has no transaction around it: it is reserved before, under a lease that is longer than it may take, and the
answer takes the reservation's place. So a record is in one of three states:

    under way    no answer, and the lease runs
    done         the answer, which whoever repeats the request is given
    unknown      no answer, and the lease has ended: the process was killed or hangs, the call broke off, or its answer
                 could not be kept. Nobody knows what it did, so it is never run again under this key

A call that ends after all, later than its lease, still leaves its answer there.
"""

import hashlib
from dataclasses import dataclass
from typing import NamedTuple

import msgspec

from gatewayd.clock import DAY, SECOND, Instant
from gatewayd.contract.caller import Caller
from gatewayd.contract.operation import Operation
from gatewayd.errors import Problem
from gatewayd.store import ReadTx, WriteTx

KEPT = DAY  # domain model §0.2: 24 h
LEASE_MARGIN = 60 * SECOND  # Chosen: what a call reads and writes beside waiting for others, on a disk that is busy
MAX_KEY_CHARACTERS = 255
SWEEP_ROWS = 1_000

_SELECT = """
SELECT request_hash, response, sealed, lease_until FROM idempotency_keys
WHERE org_id = :org_id AND credential_id = :credential_id AND key = :key AND created_at > :oldest
"""
_INSERT = """
INSERT INTO idempotency_keys (
    org_id, credential_id, key, request_hash, operation, response, sealed, lease_until, created_at
) VALUES (:org_id, :credential_id, :key, :request_hash, :operation, :response, :sealed, :lease_until, :now)
ON CONFLICT (org_id, credential_id, key) DO UPDATE SET
    request_hash = :request_hash, operation = :operation, response = :response, sealed = :sealed,
    lease_until = :lease_until, created_at = :now
"""
_COMPLETE = """
UPDATE idempotency_keys SET response = :response, lease_until = NULL, created_at = :now
WHERE org_id = :org_id AND credential_id = :credential_id AND key = :key AND lease_until = :lease_until
"""
_DELETE = """
DELETE FROM idempotency_keys
WHERE org_id = :org_id AND credential_id = :credential_id AND key = :key AND lease_until = :lease_until
"""
_END_LEASE = """
UPDATE idempotency_keys SET lease_until = :now
WHERE org_id = :org_id AND credential_id = :credential_id AND key = :key AND lease_until = :lease_until
"""
_FORGET = """
UPDATE idempotency_keys SET response = NULL, lease_until = :now
WHERE org_id = :org_id AND credential_id = :credential_id AND key = :key
"""
_SWEEP_ANY_ORG = """
DELETE FROM idempotency_keys WHERE (org_id, credential_id, key) IN (
    SELECT org_id, credential_id, key FROM idempotency_keys WHERE created_at <= :before ORDER BY created_at LIMIT :count
)
"""


_UNKNOWN_ANY_ORG = """
SELECT o.name, k.operation, k.lease_until FROM idempotency_keys k LEFT JOIN organizations o ON o.id = k.org_id
WHERE k.response IS NULL AND k.lease_until <= :now AND k.created_at > :oldest
ORDER BY k.lease_until DESC LIMIT :count
"""


class UnknownOutcome(NamedTuple):
    """A call of which nobody knows what it did, and since when. `organization` is its name."""

    organization: str
    operation: str
    since: Instant


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


def record_of(key: str, operation: Operation, caller: Caller, request: msgspec.Struct, file: str = "") -> Record:
    """The record a request would leave. Raises `Problem` `invalid_request` for a key that is too long or not text.

    Two requests are the same when they name the same operation, decode to the same values, override the same and bring
    the same file, of which `file` is the digest.
    """
    text = key.strip()
    if not 0 < len(text) <= MAX_KEY_CHARACTERS or not text.isprintable():
        raise Problem("invalid_request", f"An Idempotency-Key is 1 to {MAX_KEY_CHARACTERS} printable characters.")
    said = b"".join(b"\0" + name.encode() for name in sorted(caller.overrides))
    content = operation.id.encode() + b"\0" + msgspec.json.encode(request) + file.encode() + said
    digest = hashlib.sha256(content).digest()
    return Record(caller.credential_id, text, digest, operation.id, operation.secret)


def begin(tx: WriteTx, record: Record) -> None:
    """Look for an earlier request under the key.

    Raises `Replay` with its answer, or `Problem` `idempotency_conflict` when it was another request, has not ended, or
    nobody knows what it did.
    """
    row = tx.row(_SELECT, credential_id=record.credential_id, key=record.key, oldest=tx.now - KEPT)
    if row is None:
        return
    request_hash, response, sealed, lease_until = row
    if request_hash != record.request_hash:
        raise Problem(
            "idempotency_conflict", "This Idempotency-Key was used with another request: send this one under a new key."
        )
    if response is None:
        raise _under_way() if lease_until > tx.now else _unknown()
    raise Replay(tx.unseal(response, record._context).encode() if sealed else response)


def _under_way() -> Problem:
    return Problem(
        "idempotency_conflict",
        "The first request with this key is still running: send it again, under the same key, after a second.",
        extra={"outcome": "pending"},
        headers=((b"retry-after", b"1"),),
    )


def _unknown() -> Problem:
    """Chosen: a caller is told to look, since only it can tell whether to do it again."""
    return Problem(
        "idempotency_conflict",
        "The first request with this key broke off, and whether it was done is not known. See what is there, then send "
        "it under another key if it is to be done again.",
        extra={"outcome": "unknown"},
    )


def keep(tx: WriteTx, record: Record, body: bytes) -> None:
    """Remember the answer of what was done in this transaction."""
    _put(tx, record, _stored(tx, record, body), None)


def lease(tx: WriteTx, seconds: float) -> Instant:
    """Until when a call that may take so long is taken to be under way."""
    return Instant(tx.now + round(seconds * SECOND) + LEASE_MARGIN)


def reserve(tx: WriteTx, record: Record, lease_until: Instant) -> None:
    """Mark a call as under way until then, which `begin` has found nothing of."""
    _put(tx, record, None, lease_until)


def complete(tx: WriteTx, record: Record, lease_until: Instant, body: bytes) -> None:
    """Remember the answer of a call that was reserved until then, also one that has broken off since for others."""
    response = _stored(tx, record, body)
    tx.run(_COMPLETE, credential_id=record.credential_id, key=record.key, lease_until=lease_until, response=response)


def _stored(tx: WriteTx, record: Record, body: bytes) -> bytes:
    return tx.seal(body.decode(), record._context) if record.sealed else body


def _put(tx: WriteTx, record: Record, response: bytes | None, lease_until: Instant | None) -> None:
    tx.run(
        _INSERT,
        credential_id=record.credential_id,
        key=record.key,
        request_hash=record.request_hash,
        operation=record.operation,
        response=response,
        sealed=int(record.sealed),
        lease_until=lease_until,
    )


def forget(tx: WriteTx, record: Record, lease_until: Instant) -> None:
    """The call that was reserved until then was refused, with nothing done: the key may be used again."""
    tx.run(_DELETE, credential_id=record.credential_id, key=record.key, lease_until=lease_until)


def break_off(tx: WriteTx, record: Record, lease_until: Instant) -> None:
    """The call that was reserved until then broke off: from now on, not from then, nobody knows what it did."""
    tx.run(_END_LEASE, credential_id=record.credential_id, key=record.key, lease_until=lease_until)


def forget_response(tx: WriteTx, credential_id: str, key: str) -> None:
    """Give up the answer that is kept under a key: it was done, and nobody knows how it ended."""
    tx.run(_FORGET, credential_id=credential_id, key=key)


def unknown_outcomes(tx: ReadTx, count: int) -> list[UnknownOutcome]:
    """The newest calls that broke off, of whichever organization."""
    rows = tx.rows(_UNKNOWN_ANY_ORG, now=tx.now, oldest=tx.now - KEPT, count=count)
    return [UnknownOutcome(name or "", operation, Instant(since)) for name, operation, since in rows]


def sweep(tx: WriteTx) -> int:
    """Delete up to `SWEEP_ROWS` records older than 24 h and answer how many that was."""
    return tx.run(_SWEEP_ANY_ORG, before=tx.now - KEPT, count=SWEEP_ROWS)
