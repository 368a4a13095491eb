"""The days that made a position, beside it (Domain F.1)."""

from typing import Final

from msgspec.structs import replace

from gatewayd.areas.assets.gains.explaining import Subject, explain
from gatewayd.areas.assets.pools.holding_rows import Key
from gatewayd.areas.assets.positions.choosing import Choice
from gatewayd.areas.assets.positions.shapes import Position, PositionExplanation
from gatewayd.store import ReadTx

DAYS_SHOWN: Final = 100  # Chosen: beside each position; the rest is on pages of its own


def explained(tx: ReadTx, choice: Choice, position: Position) -> Position:
    """The position with its explanation, where it is that of one pool or one account."""
    subject = _subject(choice, position)
    if subject is None:
        return position
    found = explain(tx, subject, choice.date, "", DAYS_SHOWN)
    return replace(position, explanation=PositionExplanation(days=found.days, more=found.following is not None))


def _subject(choice: Choice, position: Position) -> Subject | None:
    if position.pool_scope == "entity":
        return Subject(Key(choice.whose.legal_entity_id, position.instrument_id), True, position.base_currency)
    if position.account_id is None or position.method == "fifo":
        return None
    return Subject(Key(position.account_id, position.instrument_id), False, position.base_currency)
