"""What is open to the outside, as operations: the list of it by who made it, and the end of one."""

from typing import Annotated, Final, Literal

from msgspec import Meta

from gatewayd.access import kinds
from gatewayd.access.kinds import KINDS, End, Kind
from gatewayd.clock import Instant
from gatewayd.contract.caller import Caller
from gatewayd.contract.operation import Operation
from gatewayd.contract.pages import Listing, Page, PageRequest, cursor_key, fill, next_cursor
from gatewayd.contract.wire import DateText, Id, Request, Response, Timestamp, encode
from gatewayd.errors import Problem
from gatewayd.identity.open_access import FIRST, AccessKind, Opening, Sought, after
from gatewayd.identity.people import memberships, users
from gatewayd.store import ReadTx, WriteTx


class OpenAccess(Response, frozen=True, kw_only=True):
    """Something that works without whoever made it: a link, URL, feed, receiver, app, key or invitation."""

    id: Id
    kind: AccessKind
    """What it is."""
    name: str
    """What people know it by: the name of a document, a feed or a key, the URL of a receiver, the hosts of an app, or
    the address that is invited."""
    user_id: Id | None
    """With whose membership it ends. Null: with nobody's, for it is the organization's own key or was made with one,
    the operator made it, or who did is not known."""
    email: str | None
    """Their address. Null: `userId` is null, or the person is gone."""
    is_member: bool
    """False: they belong to the organization no more, or never did."""
    created_by: str
    """The user who made it, else the credential; `operator`: whoever runs the server."""
    created_at: Timestamp
    expires_at: Timestamp | None
    """When it ends by itself. Null: it goes on until somebody ends it."""
    last_used: DateText | None
    """The day, UTC, on which it was used last. Null: it never was, or nobody keeps count."""
    can_be_handed_over: bool
    """True: it can be handed over to another member when they leave; false: it ends."""


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
    """What it is."""
    name: str
    """What people know it by."""
    ended: Literal[True]
    """Always true."""


def list_access(tx: ReadTx, caller: Caller, request: ListAccess) -> Listing[OpenAccess]:
    """List what is open to the outside and works without whoever made it, by kind.

    Links to documents, upload URLs, calendar feeds, webhook subscriptions, connected apps, API keys and invitations, as
    far as they work now. Owners and administrators see those of everybody, members their own.
    """
    if not caller.is_admin and request.user_id not in (None, caller.user_id):
        raise Problem("forbidden", "Owners and administrators alone see what others made.")
    whose = request.user_id if caller.is_admin else caller.user_id
    key = cursor_key(request, int, str)
    begins, first = (0, FIRST) if key is None else (key[0], after(key[1]))
    openings: list[tuple[int, Opening]] = []
    for number, kind in enumerate(KINDS):
        if number >= begins and request.kind in (None, kind.name) and len(openings) <= request.limit:
            sought = Sought(whose, first if number == begins else FIRST, request.limit + 1 - len(openings), tx.now)
            openings += [(number, each) for each in kind.list_open(tx, sought)]
    written: list[bytes] = []

    def size(numbered: tuple[int, Opening]) -> int:
        written.append(encode(shown(tx, KINDS[numbered[0]], numbered[1])))
        return len(written[-1])

    taken, more = fill(openings, request.limit, size)
    last = (taken[-1][0], taken[-1][1].id) if more else None
    return Listing.of(written[: len(taken)], None if last is None else next_cursor(request, last))


def end_access(tx: WriteTx, caller: Caller, request: EndAccess) -> AccessEnded:
    """End something that is open to the outside: from the next request on it opens nothing.

    A webhook subscription is switched off, and can be enabled again. Owners and administrators end what anybody made,
    members what they made themselves.
    """
    kind, opening = kinds.find(tx, request.id)
    if not caller.is_admin and opening.user_id != caller.user_id:
        raise Problem("forbidden", "Owners and administrators alone end what others made.")
    kind.end(tx, opening.id, End(caller.reference))
    return AccessEnded(id=opening.id, kind=kind.name, name=opening.name, ended=True)


def shown(tx: ReadTx, kind: Kind, opening: Opening) -> OpenAccess:
    """One of a kind, with who made it."""
    known = None if opening.user_id is None else users.find_by_id(tx, opening.user_id)
    return OpenAccess(
        id=opening.id,
        kind=kind.name,
        name=opening.name,
        user_id=opening.user_id,
        email=None if known is None else known.email,
        is_member=known is not None and memberships.is_member(tx, known.id),
        created_by=opening.created_by,
        created_at=Instant(opening.created_at),
        expires_at=None if opening.expires_at is None else Instant(opening.expires_at),
        last_used=opening.last_used,
        can_be_handed_over=kind.hand_over is not None,
    )


OPERATIONS: Final = (
    Operation(
        id="access.list",
        kind="read",
        method="GET",
        path="/access/list",
        scopes=("access:read",),
        request=ListAccess,
        response=Page[OpenAccess],
        handler=list_access,
        errors=("forbidden",),
        extension=True,
        example={"limit": 50},
    ),
    Operation(
        id="access.end",
        kind="write",
        method="POST",
        path="/access/end",
        scopes=("access:write",),
        request=EndAccess,
        response=AccessEnded,
        handler=end_access,
        errors=("forbidden",),
        extension=True,
        example={"id": "lnk_01k0000000000000000000000a"},
    ),
)
