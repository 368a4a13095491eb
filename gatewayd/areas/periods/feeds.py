"""Calendar feeds, as operations: addresses under which calendar programs read what is due."""

from typing import Annotated, Final

from msgspec import Meta

from gatewayd.contract.caller import Caller
from gatewayd.contract.operation import AT_CATALOGUE, Operation
from gatewayd.contract.pages import Listing, SyncPage, SyncRequest
from gatewayd.contract.wire import ExternalId, Id, Name, Request, Version, encode, project
from gatewayd.errors import invalid
from gatewayd.identity.keys import calendar_feeds
from gatewayd.identity.keys.calendar_feeds import CALENDAR_FEEDS, CalendarFeed, NewFeed
from gatewayd.ledger.lists import Source, sync_page
from gatewayd.ledger.references import unknown_reference
from gatewayd.ledger.taxpayers import owners
from gatewayd.store import ReadTx, Row, WriteTx

PATH: Final = "/calendar/"
"""Where feeds are served, beside the API; the token and `.ics` follow."""
ENDING: Final = ".ics"


class CreateFeed(Request, frozen=True, kw_only=True):
    """A new feed."""

    name: Name = "Tax deadlines"
    """What calendar programs call it."""
    legal_entity_id: Id | None = None
    """Whose deadlines it has; by default those of all legal entities of the organization."""
    external_id: ExternalId | None = None


class ListFeeds(SyncRequest, frozen=True, kw_only=True):
    """Filters of the list."""

    external_id: ExternalId | None = None
    legal_entity_id: Id | None = None
    """Only those of this legal entity's deadlines, without those of all."""


class GetFeed(Request, frozen=True, kw_only=True):
    """Which feed."""

    id: Id


class RevokeFeed(Request, frozen=True, kw_only=True):
    """Which feed to end."""

    id: Id
    expected_version: Version | None = None


class CreatedFeed(CalendarFeed, frozen=True, kw_only=True):
    """A new feed with its address, which is shown this once."""

    url: Annotated[str, Meta(description="For a calendar program. Whoever has it can read the deadlines.")]


def create_feed(tx: WriteTx, caller: Caller, request: CreateFeed, *, public_url: str) -> CreatedFeed:
    """Create an address under which a calendar program reads what is due.

    It is answered this once. It names what is due, for whom and when, and nothing else; it ends when it is revoked, or
    with the membership of who made it.
    """
    if request.legal_entity_id is not None and owners.find(tx, request.legal_entity_id) is None:
        raise invalid(unknown_reference("legalEntityId", "legal_entity"))
    wanted = NewFeed(request.name, request.legal_entity_id, caller.user_id, caller.reference, request.external_id)
    row, token = calendar_feeds.create(tx, wanted)
    return project(row, CreatedFeed, url=f"{public_url}{PATH}{token}{ENDING}")


def list_feeds(tx: ReadTx, caller: Caller, request: ListFeeds) -> Listing[CalendarFeed]:
    """List calendar feeds, revoked ones too; their addresses are never in it."""
    table = CALENDAR_FEEDS
    filters = {
        "external_id = :external_id": request.external_id,
        "legal_entity_id = :legal_entity_id": request.legal_entity_id,
    }

    def item(row: Row) -> bytes:
        return encode(project(table.read(tx, row), CalendarFeed))

    return sync_page(tx, request, Source(table, [table.select]), filters, item)


def get_feed(tx: ReadTx, caller: Caller, request: GetFeed) -> CalendarFeed:
    """Get one calendar feed, revoked or not; its address is never in it."""
    return project(CALENDAR_FEEDS.get(tx, request.id), CalendarFeed)


def revoke_feed(tx: WriteTx, caller: Caller, request: RevokeFeed) -> CalendarFeed:
    """End a calendar feed: from the next request on its address is not found."""
    return project(calendar_feeds.revoke(tx, request.id, caller.reference, request.expected_version), CalendarFeed)


OPERATIONS = (
    Operation(
        id="obligations.createFeed",
        kind="write",
        method="POST",
        path="/obligations/feeds/create",
        scopes=("periods:write",),
        request=CreateFeed,
        response=CreatedFeed,
        handler=AT_CATALOGUE,
        errors=("already_exists", "limit_reached"),
        secret=True,
        extension=True,
        example={"name": "Deadlines of Oak & Son", "legalEntityId": "ent_01k0000000000000000000000a"},
    ),
    Operation(
        id="obligations.listFeeds",
        kind="read",
        method="GET",
        path="/obligations/feeds/list",
        scopes=("periods:read",),
        request=ListFeeds,
        response=SyncPage[CalendarFeed],
        handler=list_feeds,
        extension=True,
        example={"limit": 20},
    ),
    Operation(
        id="obligations.getFeed",
        kind="read",
        method="GET",
        path="/obligations/feeds/get",
        scopes=("periods:read",),
        request=GetFeed,
        response=CalendarFeed,
        handler=get_feed,
        extension=True,
        example={"id": "cal_01k0000000000000000000000a"},
    ),
    Operation(
        id="obligations.revokeFeed",
        kind="write",
        method="POST",
        path="/obligations/feeds/revoke",
        scopes=("periods:write",),
        request=RevokeFeed,
        response=CalendarFeed,
        handler=revoke_feed,
        errors=("invalid_state", "version_conflict"),
        extension=True,
        example={"id": "cal_01k0000000000000000000000a"},
    ),
)
