"""Periods and obligations: what is open, what is due, and the closing of books (Spec §4)."""

from gatewayd.areas.periods import feeds, obligations, operations
from gatewayd.contract.operation import Area


def area(public_url: str) -> Area:
    """The rows of a daemon that clients see at `public_url`, where calendar feeds are read."""
    rows = (*operations.OPERATIONS, *obligations.OPERATIONS, *feeds.operations(public_url))
    return Area("periods", "Periods and obligations", rows)


AREA = area("http://127.0.0.1:8080")
"""The same at the address that is the default."""
