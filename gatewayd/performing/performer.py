"""Runs operations for callers who were admitted: the three kinds, each in its own way, and what a key is good for.

read    in the loop's own transaction under its budget, past it again on a thread
write   in the writer; the answer is JSON before the transaction is committed
call    in the caller's task; under a key it is reserved before, and its answer takes the reservation's place; where it
        breaks off, the key says that nobody knows what it did
"""

from collections.abc import Callable
from typing import Any, Final, NamedTuple

import msgspec
import trio

from gatewayd.contract.caller import Caller
from gatewayd.contract.operation import Operation
from gatewayd.contract.pages import Listing
from gatewayd.contract.received_file import ReceivedFile
from gatewayd.contract.wire import encode
from gatewayd.errors import Problem
from gatewayd.http1.request import Request
from gatewayd.performing import idempotency
from gatewayd.performing.idempotency import Record
from gatewayd.store import ReadTx, Store, StoreFailure, WriteTx

RECORD_SECONDS: Final = 5.0  # Chosen: a disk that is full or busy for longer will be so for the next caller too
RECORD_WAIT: Final = 0.1  # Chosen: before the second attempt; doubled after each


class Replayed(NamedTuple):
    """What was answered when the operation was done under the same key before."""

    body: bytes


class Performer:
    """The operations of one daemon. `deps` is what rows of kind `call` are given to work with.

    `call_seconds` is the longest that such a row may wait for others.
    """

    def __init__(self, store: Store, deps: object = None, call_seconds: float = 30.0) -> None:
        self._store = store
        self._deps = deps
        self._call_seconds = call_seconds

    async def perform(
        self,
        operation: Operation,
        caller: Caller,
        request: msgspec.Struct,
        key: str | None = None,
        incoming: Request | ReceivedFile | None = None,
    ) -> object:
        """What its handler answers, or JSON where that was written down; `Replayed` under a key that was used before.

        A read has no use of a `key`. `incoming` is the request as it came or the file in it, for rows that take it.
        Raises what the handler raises, and `Problem` for a key that is malformed, or was used with another request.
        """
        if operation.kind == "read":
            read = self._store.read_later if operation.long else self._store.read
            return await read(lambda tx: operation.handler(tx, caller, request), caller.org_id)
        digest = incoming.sha256 if isinstance(incoming, ReceivedFile) else ""
        record = None if key is None else idempotency.record_of(key, operation, caller, request, digest)
        try:
            if operation.kind == "write":
                return await self._write(operation, caller, request, record)
            arguments = (self._deps, caller, request, *([] if incoming is None else [incoming]))
            if record is None:
                return await operation.handler(*arguments)
            return await self._call(operation, caller, arguments, record)
        except idempotency.Replay as replay:
            return Replayed(replay.body)

    async def read_on_thread(self, operation: Operation, caller: Caller, request: msgspec.Struct) -> object:
        """What the handler of a read answers that turned out to be too long for the event loop."""
        return await self._store.read_later(lambda tx: operation.handler(tx, caller, request), caller.org_id)

    async def _write(
        self, operation: Operation, caller: Caller, request: msgspec.Struct, record: Record | None
    ) -> bytes:
        def work(tx: WriteTx) -> bytes:
            if record is not None:
                idempotency.begin(tx, record)
            tx.overrides = caller.overrides
            body = encoded(operation.handler(tx, caller, request))
            if record is not None:
                idempotency.keep(tx, record, body)
            return body

        return await self._store.write(work, caller.org_id)

    async def _call(self, operation: Operation, caller: Caller, arguments: tuple[object, ...], record: Record) -> bytes:
        write, org_id = self._store.write, caller.org_id
        lease = await write(lambda tx: idempotency.reserve(tx, record, self._call_seconds), org_id)
        try:
            body = encoded(await operation.handler(*arguments))
        except Problem:  # told by the handler, which has done nothing that may not be done again
            await self._record(lambda tx: idempotency.forget(tx, record, lease), org_id)
            raise
        except BaseException:  # cancelled, or a fault in the midst of it
            await self._record(lambda tx: idempotency.break_off(tx, record, lease), org_id)
            raise
        await self._record(lambda tx: idempotency.complete(tx, record, lease, body), org_id)
        return body

    async def _record(self, work: Callable[[WriteTx], None], org_id: str) -> None:
        """Write down how a call has ended, and try again for `RECORD_SECONDS` where the store cannot.

        After that the caller is told all the same what came of the call, since it is done. The reservation stays, and
        from the end of its lease says that nobody knows.
        """
        give_up, wait = trio.current_time() + RECORD_SECONDS, RECORD_WAIT
        with trio.CancelScope(shield=True):
            while True:
                try:
                    return await self._store.write(work, org_id)
                except StoreFailure:
                    if trio.current_time() >= give_up:
                        return None
                await trio.sleep(wait)
                wait *= 2


def read_in(tx: ReadTx, operation: Operation, caller: Caller, request: msgspec.Struct) -> object:
    """Run a read in a transaction that is bound to no organization yet."""
    tx.bind(caller.org_id)
    value: object = operation.handler(tx, caller, request)
    return value


def encoded(value: object) -> bytes:
    """The JSON of what a handler answers."""
    if isinstance(value, bytes):
        return value
    return _listing(value) if type(value) is Listing else encode(value)


def _listing(page: Listing[Any]) -> bytes:
    """The JSON of a page: its items are spliced, not encoded."""
    cursor = b"null" if page.next_cursor is None else b'"%b"' % page.next_cursor.encode("ascii")
    return b"".join((b'{"data":[', *page.pieces, b'],"nextCursor":', cursor, page.extra, b"}"))
