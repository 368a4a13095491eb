"""The profiles of brokers' CSV exports: which of them a file is of, and its mapping (Domain E).

They are data: `profiles/brokers.toml` says what its keys mean.
"""

import functools
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, Literal

from msgspec import Struct

from gatewayd.statements.csv.rows import folded
from gatewayd.statements.profile_files import profiles_in, texts_of
from gatewayd.statements.shapes import Column
from gatewayd.statements.shapes import Mapping as ColumnMapping

_MANY = 5  # Chosen: with fewer headings, one that is another makes it another file
_SEVERAL = ("description", "fees", "taxes")

Signs = Literal["sure", "some", "none"]
"""What the signs of a profile's amounts say: `sure`, that what goes out has a minus, always; `some`, that a minus goes
out and what has none may do either; `none`, nothing of money."""

Field = Literal[
    "date",
    "value_date",
    "type",
    "direction",
    "isin",
    "sedol",
    "symbol",
    "instrument",
    "quantity",
    "price",
    "price_currency",
    "amount",
    "paid_in",
    "paid_out",
    "currency",
    "transaction_id",
    "exchange_rate",
    "ex_date",
    "original_amount",
    "original_currency",
    "description",
    "fees",
    "taxes",
]
"""The fields of a mapping that a profile has columns for."""


class Unheaded(Struct, frozen=True, forbid_unknown_fields=True):
    """A column without a heading: the one behind that of a heading."""

    behind: str


Place = str | Unheaded


class Profile(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A broker's export: how it is known and read, where and when that was seen.

    Where `is_whole`, a file has no other headings. Of several places for one column the first that the file has counts.
    """

    name: str
    broker: str
    headings: tuple[str, ...]
    columns: dict[Field, tuple[Place, ...]]
    source: str
    seen: str  # year and month of the source
    currency: str | None = None  # where no column says; None: the account's
    date_format: str | None = None
    pence: bool = False
    signs: Signs = "some"
    is_whole: bool = False
    decimal: Literal["point", "found"] = "point"  # found: out of the amounts, as it is that of the customer's country

    def lacks(self, present: AbstractSet[str]) -> int:
        """How many of its headings are not among these folded ones."""
        return sum(folded(heading) not in present for heading in self.headings)


@functools.cache  # of the program's own file
def broker_profiles() -> tuple[Profile, ...]:
    """All of them, in the order in which they count."""
    return tuple(profile for text in texts_of("broker") for profile in profiles_in(text, Profile))


def profile_of(headings: Iterable[str]) -> Profile | None:
    """The profile of a line of headings: that with most of them, or None."""
    present = {folded(heading) for heading in headings}
    present.discard("")
    matching = [
        profile
        for profile in broker_profiles()
        if not profile.lacks(present) and not (profile.is_whole and len(present) > len(profile.headings))
    ]
    return max(matching, key=lambda profile: len(profile.headings), default=None)


def nearest_of(headings: Iterable[str]) -> Profile | None:
    """The profile of which a line of headings has all but one, as a broker may have renamed it; or None."""
    present = {folded(heading) for heading in headings}
    near = [profile for profile in broker_profiles() if len(profile.headings) >= _MANY and profile.lacks(present) == 1]
    return max(near, key=lambda profile: len(profile.headings), default=None)


def signs_of(name: str | None) -> Signs:
    """What the signs of the amounts of this profile say; `some` where there is none of that name."""
    return next((profile.signs for profile in broker_profiles() if profile.name == name), "some")


def mapping_of(profile: Profile, headings: Sequence[str], delimiter: str, header_row: int) -> ColumnMapping:
    """The profile's mapping for a file with these headings."""
    values: dict[str, Any] = {"date_format": profile.date_format, "pence": profile.pence}
    for name, candidates in profile.columns.items():
        there = tuple(column for candidate in candidates if (column := _column(candidate, headings)) is not None)
        if name in _SEVERAL:
            values[name] = there
        elif there:
            values[name] = there[0]
    return ColumnMapping(**values, delimiter=delimiter, header_row=header_row, profile=profile.name)


def _column(place: Place, headings: Sequence[str]) -> Column | None:
    """The column of a place in a file; None: it has none."""
    folded_names = [folded(heading) for heading in headings]
    if isinstance(place, str):
        return place if folded(place) in folded_names else None
    heading = folded(place.behind)
    at = folded_names.index(heading) + 1 if heading in folded_names else len(folded_names)
    return at if at < len(folded_names) and not folded_names[at] else None
