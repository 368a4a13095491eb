"""What can have a price: the names of work, and the units that each is charged by (Domain B8)."""

from collections.abc import Mapping
from typing import Final

from gatewayd.errors import FieldError
from gatewayd.ledger.credits.shapes import Unit

PricedWork = Mapping[str, tuple[Unit, ...]]
"""Every operation and every other work that is charged for, and by which units."""

IMPORTED: Final = "billing.importEntries"
"""What imported usage is said to be of, where nothing else is known of it."""
_MOST_NAMED: Final = 3


def name_fault(path: str, name: str, priced: PricedWork) -> FieldError | None:
    """What is wrong with a name that nothing is ever charged under, with those that were probably meant."""
    if name in priced:
        return None
    nearest = _nearest(name, priced)
    meant = f": did you mean {' or '.join(nearest)}?" if nearest else "; operations have their ids."
    return FieldError(path, "unknown_reference", f"Nothing is charged as {name}{meant}")


def unit_fault(path: str, unit: Unit, name: str, priced: PricedWork) -> FieldError | None:
    """What is wrong with a unit that such work is not counted in."""
    units = priced.get(name, (unit,))
    return None if unit in units else FieldError(path, "conflict", f"{name} is charged by {' and by '.join(units)}.")


def _nearest(name: str, priced: PricedWork) -> list[str]:
    """Names that are written alike, letter case apart; else those of the same last word."""
    from difflib import get_close_matches  # for mistakes alone

    folded = {known.lower(): known for known in priced}
    alike = get_close_matches(name.lower(), folded, _MOST_NAMED, cutoff=0.7)
    last = name.rpartition(".")[2].lower()
    return [folded[one] for one in alike] or sorted(
        known for known in priced if known.lower().rpartition(".")[2] == last
    )[:_MOST_NAMED]
