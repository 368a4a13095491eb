"""Whose a property was when (Domain B4). Pure.

Owners with the same first day are its owners from that day on, in the place of all before them; those without one are
its owners up to the first such day.
"""

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from gatewayd.areas.landlord.properties import rules
from gatewayd.areas.landlord.register.properties import PropertyOwner
from gatewayd.errors import FieldError
from gatewayd.ledger.results.owner_shares import Step
from gatewayd.money import canonical

_EARLIEST = "1900-01-01"


def merged(before: Sequence[PropertyOwner], given: Sequence[PropertyOwner]) -> list[PropertyOwner]:
    """The owners after a change: where all that are given have a day, those of earlier days stay."""
    first = min((_day(one) for one in given), default="")
    kept = [one for one in before if _day(one) < first]
    owners = [replace(one, share_percent=canonical(one.share_percent)) for one in given]
    return sorted([*kept, *owners], key=_day)


def steps(owners: Sequence[PropertyOwner], legal_entity_id: str) -> list[Step]:
    """The share of the legal entity of the business from each day on, oldest first; None: as the business says."""
    return [Step(day, rules.own_share(those, legal_entity_id)) for day, those in _sets(owners)]


def mistakes(owners: Sequence[PropertyOwner], legal_entity_id: str, path: str, today: str) -> Iterator[FieldError]:
    """What is wrong with the owners of each day together, and with the days."""
    for _, those in _sets(owners):
        yield from rules.share_mistakes(those, legal_entity_id, path)
    for day in sorted({_day(one) for one in owners} - {""}):
        if not _EARLIEST <= day <= today:
            message = f"Give a day from {_EARLIEST} to {today}: who will own it is entered when they do."
            yield FieldError(path, "out_of_range", message)


def _sets(owners: Sequence[PropertyOwner]) -> list[tuple[str, list[PropertyOwner]]]:
    days = sorted({"", *map(_day, owners)})
    return [(day, [one for one in owners if _day(one) == day]) for day in days]


def _day(owner: PropertyOwner) -> str:
    """The first day as an owner; empty: from the first on."""
    return "" if owner.from_date is None else owner.from_date.isoformat()
