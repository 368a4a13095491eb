"""The states of a business and the moves between them, as a table (domain model B2). Pure.

    pending --its commencement date--> active <--setStatus--> dormant
    active, dormant --setStatus, effectiveDate--> ceased --setStatus, in the same tax year--> active
    any --archive--> archived --setStatus--> the one before

Kept are active, dormant and ceased. `pending` is active with a commencement date to come, so that no job moves it on;
`archived` is in the way of the state before and leaves it as it is.
"""

from collections.abc import Mapping
from typing import Literal

from gatewayd.ledger.tax_calendar import tax_year_of

StoredStatus = Literal["active", "dormant", "ceased"]
LiveStatus = Literal["pending", "active", "dormant", "ceased"]
Status = Literal["pending", "active", "dormant", "ceased", "archived"]

MOVES: Mapping[LiveStatus, tuple[LiveStatus, ...]] = {
    "pending": (),
    "active": ("dormant", "ceased"),
    "dormant": ("active", "ceased"),
    "ceased": ("active",),
}
"""For each state, where `setStatus` leads from it."""


def unarchived(stored: StoredStatus, commencement_date: str | None, today: str) -> LiveStatus:
    """The state on a day, archived or not. Dates are ISO."""
    if stored == "active" and commencement_date is not None and commencement_date > today:
        return "pending"
    return stored


def reachable(current: LiveStatus, cessation_date: str | None, today: str) -> tuple[LiveStatus, ...]:
    """Where `setStatus` leads today. A business that ceased comes back within the tax year of its cessation only."""
    if current == "ceased" and cessation_date is not None and tax_year_of(cessation_date) != tax_year_of(today):
        return ()
    return MOVES[current]
