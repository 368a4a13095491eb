"""Runs operations for callers who were admitted: the three kinds, each in its own way, and what a key is good for.

read    in the loop's own transaction under its budget, past it again on a thread
write   in the writer; the answer is JSON before the transaction is committed
call    in the caller's task; under a key it is reserved before, and its answer takes the reservation's place; where it
        breaks off, the key says that nobody knows what it did

What callers pay for, and when, is told in metering.py.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, Final, NamedTuple

import msgspec
import trio

from gatewayd.contract.caller import Caller
from gatewayd.contract.operation import Operation
from gatewayd.contract.received_file import ReceivedFile
from gatewayd.errors import Problem
from gatewayd.http1.request import Request
from gatewayd.http1.response import Response
from gatewayd.ledger.credits import charging
from gatewayd.performing import holding, idempotency, metering, reservations
from gatewayd.performing.answers import encoded
from gatewayd.performing.idempotency import Record
from gatewayd.performing.reservations import Price, Reservation
from gatewayd.store import ReadTx, Store, StoreFailure, WriteTx

RECORD_SECONDS: Final = 5.0  # Chosen: a disk that is full or busy for longer will be so for the next caller too
RECORD_WAIT: Final = 0.1  # Chosen: before the second attempt; doubled after each
ERROR_STATUS: Final = 400


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
        Raises what the handler raises, and `Problem` for a key that is malformed, or was used with another request, and
        `insufficient_credits` where the caller is metered and cannot pay, `forbidden` where it is held to what the
        operation does not keep to.
        """
        holding.refuse(caller.held, operation)
        if operation.kind == "read":
            return await self._perform_read(operation, caller, request)
        digest = incoming.sha256 if isinstance(incoming, ReceivedFile) else ""
        record = None if key is None else idempotency.record_of(key, operation, caller, request, digest)
        try:
            if operation.kind == "write":
                return await self._perform_write(operation, caller, request, record)
            arguments = (self._deps, caller, request, *([] if incoming is None else [incoming]))
            if record is None and not caller.metered:
                return await operation.handler(*arguments)
            return await self._perform_call(operation, caller, arguments, record)
        except idempotency.Replay as replay:
            return Replayed(replay.body)

    async def read_on_thread(self, operation: Operation, caller: Caller, request: msgspec.Struct) -> object:
        """What the handler of a read answers that turned out to be too long for the event loop."""
        return await self._store.read_later(lambda tx: holding.answer(tx, operation, caller, request), caller.org_id)

    async def require_credits(self, operation: Operation, caller: Caller, request: msgspec.Struct) -> None:
        """Raises `Problem` `insufficient_credits` for who cannot pay for it now: before a file is received for it, say.

        Not for what comes with a key: it may have been done, and is then answered whatever is left.
        """
        if not caller.metered:
            return
        amount = await self._store.read(lambda tx: metering.uncovered(tx, operation, request), caller.org_id)
        if amount:  # but for what has fallen due and is not booked
            await self._store.write(lambda tx: charging.require(tx, amount), caller.org_id)

    async def _perform_read(self, operation: Operation, caller: Caller, request: msgspec.Struct) -> object:
        read = self._store.read_later if operation.long else self._store.read
        if not caller.metered:
            return await read(lambda tx: holding.answer(tx, operation, caller, request), caller.org_id)
        await self.require_credits(operation, caller, request)

        def work(tx: ReadTx) -> tuple[list[metering.Due], object]:
            return metering.dues(tx, operation, request), holding.answer(tx, operation, caller, request)

        owed, value = await read(work, caller.org_id)
        if owed:
            await self._store.write(lambda tx: metering.charge(tx, caller, owed), caller.org_id)
        return value

    async def _perform_write(
        self, operation: Operation, caller: Caller, request: msgspec.Struct, record: Record | None
    ) -> bytes:
        def work(tx: WriteTx) -> bytes:
            if record is not None:
                idempotency.begin(tx, record)
            if caller.metered:
                metering.charge(tx, caller, metering.dues(tx, operation, request))
            tx.overrides = caller.overrides
            body = encoded(operation.handler(tx, caller, request))
            if record is not None:
                idempotency.keep(tx, record, body)
            return body

        return await self._store.write(work, caller.org_id)

    async def _perform_call(
        self, operation: Operation, caller: Caller, arguments: tuple[Any, ...], record: Record | None
    ) -> object:
        org_id = caller.org_id
        _, _, request, *_ = arguments

        def reserve(tx: WriteTx) -> Reservation:
            owed = metering.dues(tx, operation, request) if caller.metered else []
            return reservations.reserve(tx, record, Price(owed, metering.subject_of(caller)), self._call_seconds)

        reserved = await self._store.write(reserve, org_id)
        try:
            value = await operation.handler(*arguments)
            body = b"" if record is None else encoded(value)
        except Problem:  # told by the handler, which has done nothing that may not be done again
            await self._record(lambda tx: reservations.forget(tx, reserved), org_id)
            raise
        except BaseException:  # cancelled, or a fault in the midst of it
            await self._record(lambda tx: reservations.break_off(tx, reserved), org_id)
            raise
        spared = operation.spares(value)
        end = reservations.forget if _is_refusal(value) else partial(reservations.complete, body=body, spared=spared)
        await self._record(lambda tx: end(tx, reserved), org_id)
        return value if record is None else body

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


def _is_refusal(value: object) -> bool:
    """Whether it is an error that somebody else answered. Chosen: it was passed on, and costs nothing."""
    return type(value) is Response and value.status >= ERROR_STATUS


def read_in(tx: ReadTx, operation: Operation, caller: Caller, request: msgspec.Struct) -> object:
    """Run a read in a transaction that is bound to no organization yet."""
    tx.bind(caller.org_id)
    value: object = holding.answer(tx, operation, caller, request)
    return value
