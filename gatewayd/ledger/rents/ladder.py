"""Which money paid which rent: the oldest rent is paid first, by the money that came first (Domain F.7). Pure."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from gatewayd.ledger.rents.schedule import Due


class Payment(NamedTuple):
    """An allocation of rent: its ISO date and its amount in minor units, + in and - given back.

    `written_off`: it is no money, but says that none will come.
    """

    allocation_id: str
    date: str
    amount: int
    written_off: int = 0


class Rung(NamedTuple):
    """A rent with what has come for it and what of it was written off, minor units, and the allocations of both."""

    due: Due
    received: int
    allocation_ids: list[str]
    written_off: int = 0

    @property
    def outstanding(self) -> int:
        """What is still to come."""
        return self.due.amount - self.received - self.written_off


def settle(dues: Iterable[Due], payments: Sequence[Payment], before: int = 0) -> Iterator[Rung]:
    """Each rent with what paid it. `payments` are in the order of their dates; `before` is what earlier rents take.

    Chosen: money that is given back is what came last, of the money before it.
    """
    kept = _kept(payments)
    kept.reverse()  # the first is at the end
    _take(kept, before)
    for due in dues:
        ids, left, lost = _take(kept, due.amount)
        yield Rung(due, due.amount - left - lost, ids, lost)


class _Kept(NamedTuple):
    id: str
    amount: int
    written_off: int


def _kept(payments: Sequence[Payment]) -> list[_Kept]:
    """What is left of each payment after what was given back."""
    kept: list[_Kept] = []
    given_back = 0
    for id_, _, amount, written_off in payments:
        kept.append(_Kept(id_, max(amount, 0), written_off))
        given_back += max(-amount, 0)
        _, given_back, _ = _take(kept, given_back)
    return kept


def _take(kept: list[_Kept], amount: int) -> tuple[list[str], int, int]:
    """Take an amount from the end of what is kept: whose it was, how much was not there, and what was written off."""
    ids, lost = [], 0
    while amount and kept:
        last = kept.pop()
        taken = min(last.amount, amount)
        amount -= taken
        lost += taken if last.written_off else 0
        if taken:
            ids.append(last.id)
        if taken < last.amount:
            kept.append(last._replace(amount=last.amount - taken))
    return ids, amount, lost
