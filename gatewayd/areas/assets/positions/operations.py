"""Positions (Spec §4, Domain A3, B3 and C5): their operation."""

from typing import Final

from msgspec.structs import replace

from gatewayd.areas.assets.gains.explaining import Subject, explain
from gatewayd.areas.assets.pools.holding_rows import Key
from gatewayd.areas.assets.positions import building, choosing
from gatewayd.areas.assets.positions.choosing import Choice
from gatewayd.areas.assets.positions.shapes import ListPositions, Position, PositionExplanation
from gatewayd.contract.caller import Caller
from gatewayd.contract.holding import HeldBy
from gatewayd.contract.operation import Operation
from gatewayd.contract.pages import Listing, Page, cursor_key, fill, next_cursor
from gatewayd.contract.wire import encode
from gatewayd.store import ReadTx

DAYS_SHOWN: Final = 100  # Chosen: beside each position; the rest is on pages of its own


def list_positions(tx: ReadTx, caller: Caller, request: ListPositions) -> Listing[Position]:
    """List what is held on a day, by instrument: of one portfolio, account or legal entity.

    Of a portfolio or legal entity, accounts without a wrapper are one position of an instrument, and each account with
    one is a position of its own. A missing price is null, and one of more than 7 days before is stale. What happened
    after the day is not known to it, also not to the identification of disposals. `explain` adds the days that made
    each: their transactions, what disposals were matched with, and the pool before and after.
    """
    choice = choosing.choose(tx, request)
    key = cursor_key(request, str, int)
    after, skipped = ("", 0) if key is None else (str(key[0]), int(key[1]))
    count = request.limit + skipped + 1
    built = building.build(tx, choice, after=after, closed=request.include_closed, count=count).positions
    shown = built[skipped:]
    items = (encode(_explained(tx, choice, position) if request.explain else position) for position in shown)
    page, more = fill(items, request.limit, len)
    cursor = None
    if more:
        cursor = next_cursor(request, _page_key(built, after, skipped + len(page)))
    return Listing.of(page, cursor)


def _page_key(built: list[Position], after: str, done: int) -> tuple[str, int]:
    """The last instrument whose positions are all on pages, and how many of the one behind it are too."""
    last = after
    complete = 0
    for index in range(1, done + 1):
        if index == len(built) or built[index].instrument_id != built[index - 1].instrument_id:
            last, complete = built[index - 1].instrument_id, index
    return last, done - complete


def _explained(tx: ReadTx, choice: Choice, position: Position) -> Position:
    """The position with its explanation, where it is that of one pool or one account."""
    subject = _subject_of(choice, position)
    if subject is None:
        return position
    explained = explain(tx, subject, choice.date, "", DAYS_SHOWN)
    return replace(position, explanation=PositionExplanation(days=explained.days, more=explained.following is not None))


def _subject_of(choice: Choice, position: Position) -> Subject | None:
    if position.pool_scope == "entity":
        return Subject(Key(choice.whose.legal_entity_id, position.instrument_id), True, position.base_currency)
    if position.account_id is None or position.method == "fifo":
        return None
    return Subject(Key(position.account_id, position.instrument_id), False, position.base_currency)


OPERATIONS = (
    Operation(
        id="assets.listPositions",
        kind="read",
        method="GET",
        path="/assets/listPositions",
        scopes=("accounting:read",),
        request=ListPositions,
        response=Page[Position],
        handler=list_positions,
        held=HeldBy(entity="legal_entity_id", leads={"account_id": "asset_account", "portfolio_id": "portfolio"}),
        long=True,
        example={"portfolioId": "prt_01k0000000000000000000000a", "asOfDate": "2026-11-01"},
    ),
)
