"""What stands in the store of a call that is under way: its `Idempotency-Key`, and its price, held until it has ended.

Both end with the lease, so that a process that is killed leaves no credits held for longer, and charges nothing.
"""

from dataclasses import dataclass
from typing import NamedTuple

from gatewayd.clock import Instant
from gatewayd.ledger.credits import charging
from gatewayd.ledger.credits.shapes import Subject
from gatewayd.performing import idempotency
from gatewayd.performing.idempotency import Record
from gatewayd.performing.metering import Due
from gatewayd.store import WriteTx


class Price(NamedTuple):
    """What a call costs, under each name, and what the charges are said to be about."""

    dues: list[Due]
    subject: Subject


@dataclass(frozen=True, slots=True)
class Reservation:
    """One call. `record` None: it came without a key; `holds` are the ids of what is held, in the order of the dues."""

    record: Record | None
    lease_until: Instant
    price: Price
    holds: tuple[str, ...]


def reserve(tx: WriteTx, record: Record | None, price: Price, seconds: float) -> Reservation:
    """Mark a call that may take so long as under way, and hold what it costs.

    Raises as `idempotency.begin` does, and `Problem` `insufficient_credits`.
    """
    lease_until = idempotency.lease(tx, seconds)
    if record is not None:
        idempotency.begin(tx, record)
    holds = tuple(charging.hold(tx, due.name, due.amount, tx.new_id("op"), lease_until) for due in price.dues)
    if record is not None:
        idempotency.reserve(tx, record, lease_until)
    return Reservation(record, lease_until, price, holds)


def complete(tx: WriteTx, reservation: Reservation, body: bytes, spared: str) -> None:
    """It was done: remember its answer where it has a key, and charge what was held, but not for what was `spared`."""
    if reservation.record is not None:
        idempotency.complete(tx, reservation.record, reservation.lease_until, body)
    for hold_id, due in zip(reservation.holds, reservation.price.dues, strict=True):
        if due.name == spared:
            charging.release(tx, hold_id)
        else:
            charging.settle(tx, hold_id, due.amount, reservation.price.subject)


def forget(tx: WriteTx, reservation: Reservation) -> None:
    """It was refused, with nothing done: its key may be used again, and it costs nothing."""
    if reservation.record is not None:
        idempotency.forget(tx, reservation.record, reservation.lease_until)
    _release(tx, reservation)


def break_off(tx: WriteTx, reservation: Reservation) -> None:
    """It broke off: nobody knows what it did, and it costs nothing."""
    if reservation.record is not None:
        idempotency.break_off(tx, reservation.record, reservation.lease_until)
    _release(tx, reservation)


def _release(tx: WriteTx, reservation: Reservation) -> None:
    for hold_id in reservation.holds:
        charging.release(tx, hold_id)
