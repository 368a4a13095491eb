"""What is open to the outside, as it crosses the wire."""

from typing import Annotated, Literal

from msgspec import Meta

from gatewayd.contract.pages import PageRequest
from gatewayd.contract.wire import DateText, Id, Request, Response, Timestamp
from gatewayd.identity.open_access import AccessKind


class OpenAccess(Response, frozen=True, kw_only=True):
    """Something that works without whoever made it: a link, a URL, a feed, a receiver, an app or a key.

    `userId` is with whose membership it ends, null where that is nobody's: the operator made it, or it is not known who
    did. `isMember` false: they belong to the organization no more, or never did. `expiresAt` null: it goes on until it
    is ended. `canBeHandedOver`: to another member, when they leave.
    """

    id: Id
    kind: AccessKind
    name: str
    user_id: Id | None
    email: str | None
    is_member: bool
    created_by: str
    created_at: Timestamp
    expires_at: Timestamp | None
    last_used: DateText | None
    can_be_handed_over: bool


class ListAccess(PageRequest, frozen=True, kw_only=True):
    """Whose, and of which kind; by default all."""

    user_id: Annotated[Id, Meta(description="With whose membership it ends.")] | None = None
    kind: AccessKind | None = None


class EndAccess(Request, frozen=True, kw_only=True):
    """What to end."""

    id: Id


class AccessEnded(Response, frozen=True, kw_only=True):
    """What was ended."""

    id: Id
    kind: AccessKind
    name: str
    ended: Literal[True]
