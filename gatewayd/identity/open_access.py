"""What is open to the outside: whatever somebody made that works without them, as each kind of it tells.

The kinds are put together in `gatewayd.access`.
"""

from typing import Literal, NamedTuple

AccessKind = Literal[
    "api_key", "connected_app", "calendar_feed", "document_link", "upload_url", "webhook_subscription", "invitation"
]
FIRST = ""
"""Sorts before every id."""


class Sought(NamedTuple):
    """Which of a kind are listed, by id: those from `first` on, at most `limit`.

    `user_id` None: whoever made them. `at` is the instant at which they are open.
    """

    user_id: str | None
    first: str
    limit: int
    at: int


class Opening(NamedTuple):
    """One of them. `user_id` is with whose membership it ends; None: with nobody's, for it is the organization's own
    key or was made with one, the operator made it, or who did is not known. `expires_at` None: it ends only when it is
    ended. `last_used` is an ISO date.
    """

    id: str
    name: str
    user_id: str | None
    created_by: str
    created_at: int
    expires_at: int | None
    last_used: str | None


def after(id_: str) -> str:
    """What sorts right behind an id."""
    return f"{id_}!"
