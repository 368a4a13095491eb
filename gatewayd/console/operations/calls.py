"""Operations as pages call them: for the person who is signed in, in the organization that the page is of.

A page gives values and gets values, as a program gives and gets JSON: what a request takes is told by its row alone,
and a page knows no more of an area than its callers do.
"""

from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import urlencode

import msgspec
import trio
from quart import request

from gatewayd.console.browser import organization, signed_in
from gatewayd.contract.caller import Caller
from gatewayd.contract.operation import Operation
from gatewayd.contract.received_file import ReceivedFile
from gatewayd.contract.scopes import FULL_ACCESS
from gatewayd.identity.people import memberships, suspensions
from gatewayd.identity.people.users import User
from gatewayd.performing.admission import Call, Gate
from gatewayd.performing.answers import encoded
from gatewayd.performing.performer import Performer, Replayed
from gatewayd.performing.prepared import PreparedOperation, prepare
from gatewayd.store import ReadTx, Store


class Operations:
    """The operations of one daemon, for people."""

    def __init__(self, store: Store, performer: Performer, gate: Gate, operations: Iterable[Operation]) -> None:
        self._store = store
        self._performer = performer
        self._gate = gate
        self._prepared = {operation.id: prepare(operation) for operation in operations}

    def row(self, operation_id: str) -> Operation:
        """The operation of this id. Raises `KeyError`: a page names one that is not there."""
        return self._prepared[operation_id].operation

    @property
    def answers(self) -> dict[type[msgspec.Struct], list[Any]]:
        """What each request is answered with, as far as operations share it."""
        found: dict[type[msgspec.Struct], list[Any]] = {}
        for each in self._prepared.values():
            found.setdefault(each.operation.request, []).append(each.operation.response)
        return found

    async def call(
        self, operation_id: str, values: Mapping[str, Any], key: str | None = None, file: ReceivedFile | None = None
    ) -> Any:
        """What it answers, as JSON says it.

        `values` are text where it is a GET or takes a `file`, and what JSON has where it is not. What was done under
        the same `key` before is not done again, and answered the same. Raises `Problem` as the API would answer it,
        `SignInNeeded`, and `NotFound` for who belongs nowhere.
        """
        prepared = self._prepared[operation_id]
        _, user = signed_in()
        given = _decoded(prepared, values)
        org_id = organization().id
        client = request.scope.get("client")
        call = Call(trio.current_time(), client[0] if client else None)
        try:
            caller = await self._store.read(lambda tx: self._let(tx, call, user, org_id, prepared), org_id)
            answer = await self._performer.perform(prepared.operation, caller, given, key, file)
        finally:
            self._gate.leave(call)
        return msgspec.json.decode(answer.body if isinstance(answer, Replayed) else encoded(answer))

    def _let(self, tx: ReadTx, call: Call, user: User, org_id: str, prepared: PreparedOperation) -> Caller:
        suspensions.refuse(tx, org_id)
        caller = Caller(
            kind="person",
            credential_id=user.id,
            org_id=org_id,
            user_id=user.id,
            role=memberships.role_of(tx, user.id),
            scopes=FULL_ACCESS,
        )
        return self._gate.let(tx, call, caller, prepared)


def _decoded(prepared: PreparedOperation, values: Mapping[str, Any]) -> msgspec.Struct:
    if prepared.operation.method == "GET" or prepared.operation.takes_file:
        return prepared.decoder.query(urlencode(values, doseq=True))
    return prepared.decoder.body(msgspec.json.encode(values))
