"""Which business of ours is which source of the tax authority's, and where the two differ. Pure."""

from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Final, NamedTuple, TypeVar

from gatewayd.areas.businesses.shapes import BusinessRow
from gatewayd.contract.wire import Address
from gatewayd.tax.business_details import ListedSource, Source

UNSPECIFIED: Final = "property_unspecified"
_PROPERTIES: Final = frozenset({"uk_property", "foreign_property", UNSPECIFIED})

Value = str | Address | None
Item = TypeVar("Item")


class Difference(NamedTuple):
    """One field, by the name of its column, that we and the authority have different values for."""

    field: str
    local: Value
    remote: Value


def match_sources(businesses: Iterable[BusinessRow], listed: Mapping[str, ListedSource]) -> dict[str, BusinessRow]:
    """Our businesses of one person by the authority's id of what they are there.

    By that id first, of archived ones too; then, of those that nobody has told yet, where there is one on both sides:
    by type and name (Chosen), then by type alone.
    """
    businesses = list(businesses)
    found = {row.tax_business_id: row for row in businesses if row.tax_business_id in listed}
    pairs = {str(tax_business_id): row for tax_business_id, row in found.items()}
    untold = [row for row in businesses if row.tax_business_id is None and row.archived_at is None]
    for ours, theirs in ((_our_name, _their_name), (_our_type, _their_type)):
        taken = {row.id for row in pairs.values()}
        left = [one for tax_business_id, one in listed.items() if tax_business_id not in pairs]
        unique = _unique(left, theirs)
        for key, row in _unique((row for row in untold if row.id not in taken), ours).items():
            if key in unique:
                pairs[unique[key].tax_business_id] = row
    return pairs


def differences(row: BusinessRow | None, source: Source) -> list[Difference]:
    """Where they differ, in the order of the authority's fields; `row` None: we have no such business.

    What the authority does not say is no difference, but for a cessation: a business that has ceased with us goes on
    there. A property of which it does not say where it is may be anywhere.
    """
    if row is None:
        return [Difference(field, None, remote) for field, remote in source.values.items()]
    found = [
        Difference(field, local, remote)
        for field, remote in source.values.items()
        if (local := _local(row, field)) != remote and not (remote == UNSPECIFIED and local in _PROPERTIES)
    ]
    if row.cessation_date is not None and "cessation_date" not in source.values:
        found.append(Difference("cessation_date", row.cessation_date, None))
    return found


def _local(row: BusinessRow, field: str) -> Value:
    value: Value = getattr(row, field)
    return value


def _unique(items: Iterable[Item], key_of: Callable[[Item], Hashable | None]) -> dict[Hashable, Item]:
    """Those that have their key for themselves; None is no key."""
    found: dict[Hashable, list[Item]] = {}
    for item in items:
        key = key_of(item)
        if key is not None:
            found.setdefault(key, []).append(item)
    return {key: group[0] for key, group in found.items() if len(group) == 1}


def _our_type(row: BusinessRow) -> str:
    return row.type


def _their_type(one: ListedSource) -> str:
    return one.type


def _our_name(row: BusinessRow) -> tuple[str, str]:
    return row.type, (row.trading_name or row.name).casefold()


def _their_name(one: ListedSource) -> tuple[str, str] | None:
    return None if one.trading_name is None else (one.type, one.trading_name.casefold())
