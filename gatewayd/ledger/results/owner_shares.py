"""What of a business with property, and of each property, is the legal entity's own. Owns `former_owner_shares`.

A share that is said without a day holds from the day after the last closed one on, and closed days keep theirs (Domain
C1); the owners of a property may have days. A row says which one holds up to its day. A property without a share has
that of its business.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from gatewayd.ledger.calendar import period_locks
from gatewayd.ledger.dates.date_ranges import DateRange, after, before, cut
from gatewayd.store import ReadTx, WriteTx

_SELECT_FORMER = """
SELECT property_id, last_day, percent FROM former_owner_shares
WHERE org_id = :org_id AND business_id = :business_id ORDER BY property_id, last_day
"""
_SELECT_OWN = """
SELECT id, owner_share_percent FROM properties
WHERE org_id = :org_id AND business_id = :business_id AND owner_share_percent IS NOT NULL
"""
_SELECT_ON = """
SELECT percent FROM former_owner_shares
WHERE org_id = :org_id AND business_id = :business_id AND property_id = :of AND last_day >= :day
ORDER BY last_day LIMIT 1
"""
_DELETE_FROM = """
DELETE FROM former_owner_shares
WHERE org_id = :org_id AND business_id = :business_id AND property_id = :of AND last_day >= :last_day
"""
_INSERT = """
INSERT INTO former_owner_shares (org_id, business_id, property_id, last_day, percent)
VALUES (:org_id, :business_id, :of, :last_day, :percent)
"""


class Share(NamedTuple):
    """A share, a decimal, that holds up to an ISO date; None: as the business says."""

    last_day: str
    percent: str | None


class OwnerShares(NamedTuple):
    """The share that holds now, and those that closed days keep, oldest first; `percent` None: that of `of`."""

    percent: str | None
    former: Sequence[Share] = ()
    of: "OwnerShares | None" = None

    def on(self, date: str) -> str:
        """The share of an ISO date, a decimal."""
        percent = next((share.percent for share in self.former if date <= share.last_day), self.percent)
        if percent is not None:
            return percent
        assert self.of is not None  # a business has a share
        return self.of.on(date)

    def changes(self) -> Iterator[str]:
        """The days on which the share may become another."""
        for share in self.former:
            yield after(share.last_day)
        if self.of is not None:
            yield from self.of.changes()

    def spans(self, date_range: DateRange) -> list[DateRange]:
        """The range in parts of one share each, oldest first."""
        return cut(date_range, self.changes())


def of_business(tx: ReadTx, business_id: str, percent: str) -> OwnerShares:
    """The share of a business, of which `percent` holds now."""
    return OwnerShares(percent, _former(tx, business_id).get("", ()))


def of_properties(
    tx: ReadTx, business_id: str, percent: str, property_ids: Iterable[str] | None = None
) -> dict[str | None, OwnerShares]:
    """The shares of properties of a business; None: of those that have, or had on closed days, one of their own."""
    former = _former(tx, business_id)
    of_business = OwnerShares(percent, former.get("", ()))
    own: dict[str, str] = dict(tx.rows(_SELECT_OWN, business_id=business_id))
    ids = sorted({*own, *former} - {""}) if property_ids is None else property_ids
    return {id_: OwnerShares(own.get(id_), former.get(id_, ()), of_business) for id_ in ids}


def keep(tx: WriteTx, business_id: str, property_id: str | None, percent: str | None, last_closed: str | None) -> None:
    """Note before a change that `percent` held so far: closed days keep what they have. None: no day is closed."""
    named = {"business_id": business_id, "of": property_id or ""}
    if last_closed is not None:
        row = tx.row(_SELECT_ON, day=last_closed, **named)
        percent = percent if row is None else row[0]
    tx.run(_DELETE_FROM, last_day=last_closed or "", **named)
    if last_closed is not None:
        tx.run(_INSERT, last_day=last_closed, percent=percent, **named)


class Of(NamedTuple):
    """Whose share: of a property of a business."""

    business_id: str
    property_id: str


class Step(NamedTuple):
    """A share from an ISO date on, empty for the first; `percent` None: as the business says."""

    first: str
    percent: str | None


def keep_steps(tx: WriteTx, of: Of, percent: str | None, steps: Sequence[Step], last_closed: str | None) -> None:
    """Note which shares hold when, before a change of the last: `percent` did so far. `steps` are oldest first.

    Closed days keep what they have. Raises `Problem` `period_closed` where a step with a day says otherwise of one.
    """
    closed = last_closed or ""
    was = OwnerShares(percent, _former(tx, of.business_id).get(of.property_id, ()))
    for step in steps:
        if step.first and step.first <= closed and _raw(was, closed) != _raw_of(steps, closed):
            raise period_locks.refusal(step.first, "closed")
    keep(tx, of.business_id, of.property_id, percent, last_closed)
    for step, following in pairwise(steps):
        last = before(following.first)
        if last > closed:
            named = {"business_id": of.business_id, "of": of.property_id}
            tx.run(_INSERT, last_day=last, percent=step.percent, **named)


def _raw(shares: OwnerShares, date: str) -> str | None:
    return next((share.percent for share in shares.former if date <= share.last_day), shares.percent)


def _raw_of(steps: Sequence[Step], date: str) -> str | None:
    return [step.percent for step in steps if step.first <= date][-1]


def _former(tx: ReadTx, business_id: str) -> dict[str, list[Share]]:
    """By property, and of the business itself under the empty name."""
    former: dict[str, list[Share]] = {}
    for property_id, last_day, percent in tx.rows(_SELECT_FORMER, business_id=business_id):
        former.setdefault(property_id, []).append(Share(last_day, percent))
    return former
