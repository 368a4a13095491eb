"""Limits of turnover, a dated table. Pure; minor units of GBP."""

from typing import NamedTuple


class DatedLimit(NamedTuple):
    """What holds from an ISO date on."""

    first: str
    limit: int


_CONSOLIDATED_EXPENSES = (
    DatedLimit("2024-04-06", 90_000_00),  # MTD guide, consolidated expenses: turnover below 90,000
)


def consolidated_expenses_limit(date: str) -> int | None:
    """The turnover of a tax year below which expenses may be one figure; None where the table does not say."""
    return next((row.limit for row in reversed(_CONSOLIDATED_EXPENSES) if row.first <= date), None)
