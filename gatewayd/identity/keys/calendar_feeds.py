"""Calendar feeds: whoever has the token of one may read an organization's deadlines. Owns the table `calendar_feeds`.

Calendar programs send no credential but the address, so the token stands in it: 256 random bits, of which the hash is
stored. It opens nothing else, and ends with the membership of who made it.
"""

from typing import Final, NamedTuple

from msgspec.structs import replace

from gatewayd.contract.wire import Id, Response, Timestamp
from gatewayd.errors import Problem, invalid_state
from gatewayd.identity import audit
from gatewayd.identity.open_access import Opening, Sought
from gatewayd.identity.people import suspensions
from gatewayd.identity.random_tokens import hash_token, make_token
from gatewayd.store import ReadTx, Table, WriteTx

PREFIX: Final = "gwd_cal_"  # logs hide what begins so
MAX_PER_ORGANIZATION: Final = 50  # Chosen

_COUNT = "SELECT count(id) FROM calendar_feeds WHERE org_id = :org_id AND revoked_at IS NULL"
_SELECT_ANY_ORG = """
SELECT org_id, id, name, legal_entity_id FROM calendar_feeds WHERE hash = :hash AND revoked_at IS NULL
"""
_SELECT_OPEN = """
SELECT id, name, user_id, created_by, created_at FROM calendar_feeds
WHERE org_id = :org_id AND id >= :first AND revoked_at IS NULL
    AND (CAST(:user_id AS TEXT) IS NULL OR user_id = :user_id)
ORDER BY id LIMIT :limit
"""
_HAND_OVER = """
UPDATE calendar_feeds SET user_id = :user_id, updated_at = :updated_at, version = version + 1
WHERE org_id = :org_id AND id = :id AND revoked_at IS NULL
"""


class CalendarFeed(Response, frozen=True, kw_only=True):
    """A feed as lists show it, which is without its address."""

    id: Id
    external_id: str | None
    name: str
    """What calendar programs call it."""
    legal_entity_id: Id | None
    """Whose deadlines it has. Null: those of all legal entities of the organization."""
    created_by: str
    """The user who made it, else the credential; `operator`: whoever runs the server."""
    revoked_at: Timestamp | None
    """Since when its address is not found. Null: it works."""
    created_at: Timestamp
    updated_at: Timestamp
    version: int


class CalendarFeedRow(CalendarFeed, frozen=True, kw_only=True):
    """A feed as it is stored. `user_id` None: the operator made it."""

    user_id: str | None
    hash: bytes


class OpenFeed(NamedTuple):
    """What a token opens."""

    org_id: str
    id: str
    name: str
    legal_entity_id: str | None


CALENDAR_FEEDS: Final = Table("calendar_feeds", CalendarFeedRow, kind="calendar feed", prefix="cal")


class NewFeed(NamedTuple):
    """A feed to be made. `user_id` None: by the operator; `created_by` is what is shown of who made it."""

    name: str
    legal_entity_id: str | None
    user_id: str | None
    created_by: str
    external_id: str | None = None


def create(tx: WriteTx, wanted: NewFeed) -> tuple[CalendarFeedRow, str]:
    """Make a feed; answers it and its token, which is not stored.

    Raises `Problem`: `limit_reached`, `already_exists`.
    """
    if tx.value(_COUNT) >= MAX_PER_ORGANIZATION:
        raise Problem("limit_reached", f"An organization has at most {MAX_PER_ORGANIZATION} calendar feeds.")
    token = make_token(PREFIX)
    row = CALENDAR_FEEDS.insert(tx, CALENDAR_FEEDS.new(tx, None, hash=hash_token(token), **wanted._asdict()))
    _record(tx, "feed.created", wanted.created_by, row.id, tx.org_id)
    return row, token


def find(tx: ReadTx, token: str) -> OpenFeed | None:
    """What a token opens; None for one that is unknown or revoked, or of an organization that is suspended."""
    row = tx.row(_SELECT_ANY_ORG, hash=hash_token(token))
    return None if row is None or suspensions.is_suspended(tx, row[0]) else OpenFeed(*row)


def revoke(tx: WriteTx, feed_id: str, actor: str, expected_version: int | None = None) -> CalendarFeedRow:
    """End a feed, from the next request on.

    Raises `Problem`: `not_found`, `version_conflict`, or `invalid_state` where it has ended.
    """
    row = CALENDAR_FEEDS.get(tx, feed_id, expected_version)
    if row.revoked_at is not None:
        message = "The feed is revoked already: nobody reads it any more. `obligations.createFeed` makes another."
        raise invalid_state(message, "revoked", ())
    row = CALENDAR_FEEDS.update(tx, replace(row, revoked_at=tx.now))
    _record(tx, "feed.revoked", actor, row.id, tx.org_id)
    return row


def list_open(tx: ReadTx, sought: Sought) -> list[Opening]:
    """The feeds that can be read, by id."""
    rows = tx.rows(_SELECT_OPEN, user_id=sought.user_id, first=sought.first, limit=sought.limit)
    return [Opening._make((*row, None, None)) for row in rows]


def hand_over(tx: WriteTx, feed_id: str, user_id: str) -> None:
    """Let a feed end with the membership of somebody else."""
    tx.run(_HAND_OVER, id=feed_id, user_id=user_id, updated_at=tx.updated_at)


def _record(tx: WriteTx, action: audit.Action, actor: str, feed_id: str, org_id: str) -> None:
    audit.record(tx, audit.Act(actor=actor, action=action, subject=feed_id, org_id=org_id))
