"""The profiles of banks' CSV exports: which of them a file is of, and its mapping (Domain E).

They are data: `profiles/accounts.toml` says what its keys mean.
"""

import functools
from collections.abc import Iterable

from msgspec import Struct, structs

from gatewayd.statements.csv_headings import folded
from gatewayd.statements.profile_files import profiles_in, texts_of
from gatewayd.statements.shapes import Mapping

BY_HEADING = frozenset({"reference", "balance", "counterparty_account", "transaction_id", "merchant_category_code"})
"""Columns that not all exports of a profile have."""


class ProfileMapping(Mapping, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The mapping of a profile. What differs from file to file is filled in for each."""


class Profile(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A bank's export: its headings, how it is read, where and when that was seen."""

    name: str
    bank: str
    headings: tuple[str, ...]
    mapping: ProfileMapping
    source: str
    seen: str  # year and month of the source
    currency: str = "GBP"  # where no column says


@functools.cache  # of the program's own files
def bank_profiles() -> tuple[Profile, ...]:
    """All of them, in the order in which they count."""
    return tuple(profile for text in texts_of("bank") for profile in profiles_in(text, Profile))


def profile_of(headings: Iterable[str]) -> Profile | None:
    """The profile of a line of headings: that with most of them, or None."""
    found = {folded(heading) for heading in headings}
    matching = [profile for profile in bank_profiles() if found.issuperset(map(folded, profile.headings))]
    return max(matching, key=lambda profile: len(profile.headings), default=None)


def mapping_of(profile: Profile, headings: Iterable[str], delimiter: str, header_row: int) -> Mapping:
    """The profile's mapping for a file; columns that it has no headings of are left out."""
    found = {folded(heading) for heading in headings}
    given = structs.asdict(profile.mapping)
    for name, column in given.items():
        if name == "description":
            given[name] = tuple(one for one in column if folded(one) in found)
        elif name in BY_HEADING and isinstance(column, str) and folded(column) not in found:
            given[name] = None
    return Mapping(**{**given, "delimiter": delimiter, "header_row": header_row, "profile": profile.name})
