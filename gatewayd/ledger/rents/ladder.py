"""Which money paid which rent: the oldest rent is paid first, by the money that came first (Domain F.7). Pure."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from gatewayd.ledger.rents.schedule import Due


class Payment(NamedTuple):
    """An allocation of rent: its ISO date and its amount in minor units, + in and - given back."""

    allocation_id: str
    date: str
    amount: int


class Rung(NamedTuple):
    """A rent with what has come for it, in minor units, and the allocations that it came by."""

    due: Due
    received: int
    allocation_ids: list[str]

    @property
    def outstanding(self) -> int:
        """What is still to come."""
        return self.due.amount - self.received


def settle(dues: Iterable[Due], payments: Sequence[Payment], before: int = 0) -> Iterator[Rung]:
    """Each rent with what paid it. `payments` are in the order of their dates; `before` is what earlier rents take.

    Chosen: money that is given back is what came last, of the money before it.
    """
    kept = _kept(payments)
    kept.reverse()  # the first is at the end
    _take(kept, before)
    for due in dues:
        ids, left = _take(kept, due.amount)
        yield Rung(due, due.amount - left, ids)


def _kept(payments: Sequence[Payment]) -> list[tuple[str, int]]:
    """What is left of each payment after what was given back."""
    kept: list[tuple[str, int]] = []
    given_back = 0
    for id_, _, amount in payments:
        kept.append((id_, max(amount, 0)))
        given_back += max(-amount, 0)
        _, given_back = _take(kept, given_back)
    return kept


def _take(kept: list[tuple[str, int]], amount: int) -> tuple[list[str], int]:
    """Take an amount from the end of what is kept: whose it was, and how much of it was not there."""
    ids = []
    while amount and kept:
        id_, there = kept.pop()
        taken = min(there, amount)
        amount -= taken
        if taken:
            ids.append(id_)
        if taken < there:
            kept.append((id_, there - taken))
    return ids, amount
