"""What calls are charged: whether anything has a price, what one call costs, and that it is paid for (Domain B8, C8).

A call may have a price under the id of its row, and under what it does that is priced apart (`Operation.work`). Where
nothing has one, nothing is looked up for it and nothing is written. Else it depends on the kind of the row:

    read    refused before it runs where too little is left; charged after it, before its answer is sent
    write   charged in its own savepoint, before its handler runs
    call    the price is held before it runs, and settled or released after it: see reservations.py

So what is refused or fails costs nothing, and nothing is done for who cannot pay. An operation that was done before
under the same key is answered without being charged, as it does not run.
"""

from typing import NamedTuple

import msgspec

from gatewayd.contract.caller import Caller
from gatewayd.contract.operation import Operation
from gatewayd.ledger.credits import charging, plans
from gatewayd.ledger.credits.charging import Charge
from gatewayd.ledger.credits.shapes import Subject
from gatewayd.performing.prepared import PreparedOperation
from gatewayd.store import ReadTx, WriteTx


class Due(NamedTuple):
    """What one call costs under one name, millionths of a credit. `is_soft`: the plan refuses nobody."""

    name: str
    amount: int
    is_soft: bool


class PricedNames:
    """The names that have a price, now or on another day, as of the newest state of the database that was looked at."""

    def __init__(self) -> None:
        self._seen: tuple[int | None, frozenset[str]] = (None, frozenset())

    def may_charge(self, tx: ReadTx, prepared: PreparedOperation, caller: Caller) -> bool:
        """Whether a call of the row may cost its caller something.

        Asked of the database only once anything was committed since the last time, by whichever process, and where the
        row has a price.
        """
        version, names = self._seen
        if version is None or version != tx.version:
            names = charging.priced_by_call(tx)
            self._seen = (tx.version, names)
        if not names or names.isdisjoint(prepared.priced_as):
            return False
        tx.bind(caller.org_id)
        return charging.is_metered(tx)


def dues(tx: ReadTx, operation: Operation, request: msgspec.Struct) -> list[Due]:
    """What this request costs the organization now; empty: nothing."""
    soft = plans.soft_limit(tx)
    if soft is None:
        return []
    priced = [Due(name, charging.price_of(tx, name), soft) for name in operation.charged_as(request)]
    return [due for due in priced if due.amount > 0]


def uncovered(tx: ReadTx, operation: Operation, request: msgspec.Struct) -> int:
    """What this request costs now, in millionths, where it isn't sure that so many are left; 0: it is."""
    amount = sum(due.amount for due in dues(tx, operation, request))
    return 0 if charging.is_covered(tx, amount) else amount


def charge(tx: WriteTx, caller: Caller, owed: list[Due]) -> None:
    """Enter each, or none of them: raises `Problem` `insufficient_credits`. The subject is the credential that called.

    Chosen: each call that runs has an operation id of its own. What is sent again under its `Idempotency-Key` does not
    run, and what is sent without one is another call.
    """
    subject = subject_of(caller)
    for due in owed:
        charged = Charge(
            operation=due.name,
            amount=due.amount,
            operation_id=tx.new_id("op"),
            subject_type=subject.type,
            subject_id=subject.id,
        )
        charging.charge_anew(tx, charged, beyond=due.is_soft)


def subject_of(caller: Caller) -> Subject:
    """What a charge is said to be about: the credential that called."""
    return Subject(type=caller.kind, id=caller.credential_id)
