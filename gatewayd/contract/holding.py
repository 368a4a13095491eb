"""What a caller may be held to, and how operations keep to it: some legal entities, and some days (decision 0040)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import msgspec

OwnedKind = Literal[
    "allocation",
    "asset_account",
    "asset_transaction",
    "bank_account",
    "bank_transaction",
    "bill",
    "business",
    "certificate",
    "invoice",
    "legal_entity",
    "mortgage",
    "obligation",
    "period",
    "portfolio",
    "property",
    "quote",
    "recurring_invoice",
    "tenancy",
    "unit",
    "valuation",
]
"""Resources that are one legal entity's, which their id leads to."""


class Held(msgspec.Struct, frozen=True, kw_only=True):
    """What a caller is held to. It reads alone, and only by operations that say how they are held.

    `entities` are ids of legal entities, one at least. None: all of the organization, and what is nobody's.
    `first` and `last` are days, YYYY-MM-DD, both inclusive. None: no day is too early, or too late.
    """

    entities: frozenset[str] | None
    first: str | None
    last: str | None

    @property
    def to_days(self) -> bool:
        """True where not every day is open."""
        return self.first is not None or self.last is not None

    def has_day(self, day: str) -> bool:
        """Whether a day, YYYY-MM-DD, is one of its."""
        return (self.first is None or self.first <= day) and (self.last is None or day <= self.last)


@dataclass(frozen=True, slots=True, kw_only=True)
class Days:
    """The fields of a request that bound its answer to days, by their names in Python.

    `sums`: the answer is a sum over them, which have to be given, as what is chosen without them may be other days.
    `tax_year` names them too, where it has a field. `refused` are fields that would lead past them.
    """

    first: str = "from_date"
    last: str = "to_date"
    sums: bool = False
    tax_year: str = ""
    refused: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldBy:
    """How an operation, a read, is held to the legal entities and days of its caller.

    `entity` is the field of the request that names the legal entity, and `leads` are those that lead to one: whatever
    is given has to lead to one of the caller's, and something has to be given, or the one that there is, is filled in.
    `by_handler`: the handler asks the caller itself, as what it lists are legal entities.

    Of the days one thing is said; nothing: it is refused to who is held to days.
    `days` are fields that bound them. `day_of` are members of the answer that have to lie within them.
    `today`: it tells how things are today, which has to be one of them. `undated`: it tells of no day.
    """

    entity: str = ""
    leads: Mapping[str, OwnedKind] = field(default_factory=dict)
    by_handler: bool = False
    days: Days | None = None
    day_of: tuple[str, ...] = ()
    today: bool = False
    undated: bool = False

    @property
    def keeps_days(self) -> bool:
        """True where who is held to days may ask for it."""
        return self.days is not None or bool(self.day_of) or self.today or self.undated
