"""The profiles of brokers' CSV exports: which of them a file is of, and its mapping (Domain E)."""

from collections.abc import Iterable, Sequence
from typing import Any

from gatewayd.statements.csv_headings import folded
from gatewayd.statements.shapes import Column
from gatewayd.statements.shapes import Mapping as ColumnMapping
from gatewayd.statements.trades.british_profiles import BRITISH
from gatewayd.statements.trades.profile import Place, Profile, Signs
from gatewayd.statements.trades.world_profiles import WORLD

PROFILES = (*BRITISH, *WORLD)
_MANY = 5  # Chosen: with fewer headings, one that is another makes it another file
_SEVERAL = ("description", "fees", "taxes")


def profile_of(headings: Iterable[str]) -> Profile | None:
    """The profile of a line of headings: that with most of them, or None."""
    found = {folded(heading) for heading in headings}
    found.discard("")
    matching = [
        one for one in PROFILES if not one.lacks(found) and not (one.is_whole and len(found) > len(one.headings))
    ]
    return max(matching, key=lambda profile: len(profile.headings), default=None)


def nearest_of(headings: Iterable[str]) -> Profile | None:
    """The profile of which a line of headings has all but one, as a broker may have renamed it; or None."""
    found = {folded(heading) for heading in headings}
    near = [one for one in PROFILES if len(one.headings) >= _MANY and one.lacks(found) == 1]
    return max(near, key=lambda profile: len(profile.headings), default=None)


def signs_of(name: str | None) -> Signs:
    """What the signs of the amounts of this profile say; `some` where there is none of that name."""
    return next((profile.signs for profile in PROFILES if profile.name == name), "some")


def mapping_of(profile: Profile, headings: Sequence[str], delimiter: str, header_row: int) -> ColumnMapping:
    """The profile's mapping for a file with these headings."""
    values: dict[str, Any] = {**profile.flags, "delimiter": delimiter, "header_row": header_row}
    for name, candidates in profile.columns.items():
        there = tuple(column for one in candidates if (column := _column(one, headings)) is not None)
        if name in _SEVERAL:
            values[name] = there
        elif there:
            values[name] = there[0]
    return ColumnMapping(**values, profile=profile.name)


def _column(place: Place, headings: Sequence[str]) -> Column | None:
    """The column of a place in a file; None: it has none."""
    found = [folded(heading) for heading in headings]
    if isinstance(place, str):
        return place if folded(place) in found else None
    heading, behind = place
    at = found.index(folded(heading)) + behind if folded(heading) in found else len(found)
    return at if at < len(found) and not found[at] else None
