"""Periods and obligations: what is open, what is due, and the closing of books (Spec §4)."""

from functools import partial

from gatewayd.areas.periods import feeds, obligation_sync, obligations, operations, seals
from gatewayd.contract.operation import Area, Handlers

AREA = Area(
    "periods",
    "Periods and obligations",
    (
        *operations.OPERATIONS,
        *obligations.OPERATIONS,
        *feeds.OPERATIONS,
        *seals.OPERATIONS,
        *obligation_sync.OPERATIONS,
    ),
)


def handlers(public_url: str) -> Handlers:
    """The handlers of a daemon that clients reach at `public_url`, where calendar feeds are read."""
    return {"obligations.createFeed": partial(feeds.create_feed, public_url=public_url)}
