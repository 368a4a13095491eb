"""Grants of credits (Domain B8): giving them, taking them back. Extensions, for administrators of the instance."""

import datetime
from typing import Annotated, Literal

from msgspec import Meta

from gatewayd.areas.billing import entering
from gatewayd.areas.billing.administration import positive, record
from gatewayd.clock import Instant, from_moment, midnight
from gatewayd.contract.caller import Caller
from gatewayd.contract.operation import Operation
from gatewayd.contract.pages import MAX_KEY, Listing, Page, PageRequest, cursor_key, fill, next_cursor
from gatewayd.contract.wire import CreditsText, Date, Id, Request, Since, encode, project
from gatewayd.errors import invalid_field
from gatewayd.identity.people import organizations
from gatewayd.identity.people.users import require_administrator
from gatewayd.ledger.credits import booking, grants
from gatewayd.ledger.credits.entries import NewEntry
from gatewayd.ledger.credits.grants import NewGrant
from gatewayd.ledger.credits.shapes import Category, CreditGrant, GrantRow
from gatewayd.store import ReadTx, WriteTx

Description = Annotated[str, Meta(min_length=1, max_length=500, pattern=r"\S")]


class GrantCredits(Request, frozen=True, kw_only=True):
    """Credits to be given."""

    amount: CreditsText
    """How many credits are given; they pay first what is owed."""
    type: Literal["grant", "purchase"] = "grant"
    """`purchase`: they were paid for, and their category is `paid`."""
    category: Category | None = None
    """Whether they were given or paid for. By default `promotional`, and `paid` of a purchase."""
    priority: Annotated[int, Meta(ge=0, le=10_000)] = grants.PRIORITY
    """Grants with a lower number are drawn from first."""
    expires_at: Since | None = None
    """When what is left expires. By default never; not together with `expiresDate`."""
    expires_date: Date | None = None
    """The last day on which they can be used, in the organization's time zone."""
    description: Description | None = None


class ListGrants(PageRequest, frozen=True, kw_only=True):
    """The list of grants."""


class VoidGrant(Request, frozen=True, kw_only=True):
    """Which grant, and why."""

    id: Id
    description: Description | None = None
    """Why; kept with the entry."""


def grant_credits(tx: WriteTx, caller: Caller, request: GrantCredits) -> CreditGrant:
    """Give credits to the organization, which pay first what it owes. An administrator of the instance does.

    They are drawn from by priority, then by expiry, promotional before paid ones, the oldest first.
    """
    require_administrator(tx, caller)
    expires_at = _end_of(tx, request)
    grant = NewGrant(
        source=request.type,
        amount=positive("amount", request.amount),
        category=request.category or ("paid" if request.type == "purchase" else "promotional"),
        priority=request.priority,
        description=request.description,
        expires_at=expires_at,
    )
    entry = NewEntry(type=request.type, amount=grant.amount, description=request.description)
    made = booking.give(tx, grant, entry).grant
    record(tx, caller, "credits.granted", made.id)
    return _shown_grant(tx, made)


def _end_of(tx: ReadTx, request: GrantCredits) -> Instant | None:
    """When the credits expire; None: never. Raises `Problem` `validation_failed`."""
    if request.expires_date is None:
        path, end = "expiresAt", None if request.expires_at is None else from_moment(request.expires_at)
    elif request.expires_at is not None:
        raise invalid_field("expiresDate", "conflict", "Give expiresDate or expiresAt, not both.")
    elif request.expires_date == datetime.date.max:
        raise invalid_field("expiresDate", "out_of_range", "No day follows it.")
    else:
        behind = request.expires_date + datetime.timedelta(days=1)
        path, end = "expiresDate", midnight(behind, organizations.time_zone_of(tx))
    if end is not None and end <= tx.now:
        raise invalid_field(path, "out_of_range", "It is past: expected a later one.")
    return end


def list_grants(tx: ReadTx, caller: Caller, request: ListGrants) -> Listing[CreditGrant]:
    """List grants, newest first, with what is left of each."""
    key = cursor_key(request, str)
    items: list[bytes] = []

    def size(row: GrantRow) -> int:
        items.append(encode(_shown_grant(tx, row)))
        return len(items[-1])

    rows = grants.newest(tx, MAX_KEY if key is None else str(key[0]), request.limit + 1)
    taken, more = fill(rows, request.limit, size)
    return Listing.of(items[: len(taken)], next_cursor(request, (taken[-1].id,)) if more else None)


def void_grant(tx: WriteTx, caller: Caller, request: VoidGrant) -> CreditGrant:
    """Take back what is left of a grant. An administrator of the instance does.

    What is held of it for work under way stays with that work, and expires where it is not used.
    """
    require_administrator(tx, caller)
    grant = entering.void(tx, request.id, request.description)
    record(tx, caller, "credits.voided", grant.id)
    return _shown_grant(tx, grant)


def _shown_grant(tx: ReadTx, grant: GrantRow) -> CreditGrant:
    return project(grant, CreditGrant, status=entering.status_of(tx, grant))


OPERATIONS = (
    Operation(
        id="billing.grantCredits",
        kind="write",
        method="POST",
        path="/billing/grants",
        scopes=("billing:write",),
        request=GrantCredits,
        response=CreditGrant,
        handler=grant_credits,
        errors=("conflict", "forbidden", "out_of_range"),
        extension=True,
        example={"amount": "500", "type": "purchase", "description": "Top-up for the autumn"},
    ),
    Operation(
        id="billing.listGrants",
        kind="read",
        method="GET",
        path="/billing/grants",
        scopes=("billing:read",),
        request=ListGrants,
        response=Page[CreditGrant],
        handler=list_grants,
        extension=True,
        example={"limit": 20},
    ),
    Operation(
        id="billing.voidGrant",
        kind="write",
        method="POST",
        path="/billing/grants/void",
        scopes=("billing:write",),
        request=VoidGrant,
        response=CreditGrant,
        handler=void_grant,
        errors=("forbidden", "invalid_state"),
        extension=True,
        example={"id": "gra_01k0000000000000000000000a", "description": "Given twice"},
    ),
)
