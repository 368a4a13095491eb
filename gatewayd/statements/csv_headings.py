"""Headings of a CSV: how they are compared, and whose profile they are."""

from collections.abc import Iterable, Sequence

from msgspec import structs

from gatewayd.statements.csv_profile import Profile
from gatewayd.statements.csv_profiles import PROFILES
from gatewayd.statements.shapes import Mapping


def folded(heading: str) -> str:
    """A heading as it is compared: without case, outer spaces, and a byte order mark."""
    return " ".join(heading.replace("\ufeff", "").split()).casefold()


def repeats(headings: Sequence[str], cells: Sequence[str]) -> bool:
    """True for the headings once more, as files have them that were joined."""
    said = [folded(cell) for cell in cells]
    while said and not said[-1]:
        said.pop()
    return bool(said) and said == [folded(heading) for heading in headings]


def profile_of(headings: Iterable[str]) -> Profile | None:
    """The profile of a line of headings: that with most of them, or None."""
    found = {folded(heading) for heading in headings}
    matching = [profile for profile in PROFILES if found.issuperset(map(folded, profile.headings))]
    return max(matching, key=lambda profile: len(profile.headings), default=None)


def mapping_of(profile: Profile, headings: Iterable[str], delimiter: str, header_row: int) -> Mapping:
    """The profile's mapping for a file; columns that it has no headings of are left out."""
    found = {folded(heading) for heading in headings}
    given = structs.asdict(profile.mapping)
    for name, column in given.items():
        if name == "description":
            given[name] = tuple(one for one in column if folded(one) in found)
        elif name in _BY_HEADING and isinstance(column, str) and folded(column) not in found:
            given[name] = None
    return Mapping(**{**given, "delimiter": delimiter, "header_row": header_row, "profile": profile.name})


_BY_HEADING = frozenset({"reference", "balance", "counterparty_account", "transaction_id", "merchant_category_code"})
"""Columns that not all exports of a profile have."""
