"""Organizations: every request acts on behalf of one (Spec §1)."""

import zoneinfo
from itertools import islice

from gatewayd import clock
from gatewayd.clock import Instant
from gatewayd.contract.names import hidden_in
from gatewayd.contract.wire import Response, Timestamp
from gatewayd.errors import invalid_field, not_found
from gatewayd.identity import audit
from gatewayd.store import ReadTx, Row, WriteTx

NAME_LENGTH_MAX = 160
LIST_LIMIT = 10_000  # Chosen: an instance serves a firm and its clients, hardly ever more than hundreds

LAST = "~"
"""Sorts after every id."""
ZONE_LENGTH_MAX = 64
ZONE_DEFAULT = "Europe/London"

_COLUMNS = "id, name, created_at, suspended_at, suspended_reason, deleting_since, time_zone"
_INSERT = "INSERT INTO organizations (id, name, created_at, time_zone) VALUES (:id, :name, :now, :time_zone)"
_GET = f"SELECT {_COLUMNS} FROM organizations WHERE id = :id"
_LIST = f"SELECT {_COLUMNS} FROM organizations ORDER BY id LIMIT :limit"
_LIST_BEFORE = f"SELECT {_COLUMNS} FROM organizations WHERE id < :before ORDER BY id DESC LIMIT :limit"
_IS_SUSPENDED = "SELECT 1 FROM organizations WHERE id = :id AND suspended_at IS NOT NULL"
_SUSPEND = "UPDATE organizations SET suspended_at = :now, suspended_reason = :reason WHERE id = :id"
_RESUME = "UPDATE organizations SET suspended_at = NULL, suspended_reason = NULL WHERE id = :id"
_MARK = "UPDATE organizations SET suspended_at = coalesce(suspended_at, :now), deleting_since = :now WHERE id = :id"
_DELETE = "DELETE FROM organizations WHERE id = :id AND deleting_since IS NOT NULL"
_SELECT_ZONE = "SELECT time_zone FROM organizations WHERE id = :org_id"
_SET_ZONE = "UPDATE organizations SET time_zone = :time_zone WHERE id = :id"
_RENAME = "UPDATE organizations SET name = :name WHERE id = :id"


class Organization(Response, frozen=True, kw_only=True, omit_defaults=True):
    """One organization of the instance."""

    id: str
    name: str
    """What it is called; others may be called the same."""
    created_at: Timestamp
    time_zone: str
    """The IANA name of the time zone at whose midnights days of credits end; days of the books are London's."""
    suspended_at: Timestamp | None = None
    """Since when nobody acts for it. Absent: it is not suspended."""
    suspended_reason: str | None = None
    """Why it is suspended, as whoever is refused is told. Absent: nobody said, or it is not."""
    deleting_since: Timestamp | None = None
    """Since when it is being deleted, piece by piece. Absent: it is not."""


def create(tx: WriteTx, name: str, actor: str, time_zone: str = ZONE_DEFAULT) -> Organization:
    """Make an organization; two may have the same name. Raises `Problem` `validation_failed`."""
    name = validate_name("name", name)
    validate_zone("timeZone", time_zone)
    org_id = tx.new_id("org")
    tx.run(_INSERT, id=org_id, name=name, time_zone=time_zone)
    audit.record(tx, audit.Act(actor=actor, action="organization.created", subject=org_id, org_id=org_id))
    return Organization(id=org_id, name=name, created_at=tx.now, time_zone=time_zone)


def get(tx: ReadTx, org_id: str) -> Organization:
    """One organization. Raises `Problem` `not_found`."""
    row = tx.row(_GET, id=org_id)
    if row is None:
        raise not_found("organization")
    return _organization(row)


def list_all(tx: ReadTx) -> list[Organization]:
    """Every organization, oldest first."""
    return [_organization(row) for row in tx.rows(_LIST, limit=LIST_LIMIT)]


def list_page(tx: ReadTx, text: str | None, before: str | None, count: int) -> list[Organization]:
    """The newest organizations whose name has this text in it, in any letter case, behind the id `before`.

    None: all. Chosen: they are looked at one by one, up to `LIST_LIMIT`, for engines fold letters differently.
    """
    sought = (text or "").casefold()
    every = (_organization(row) for row in tx.each(_LIST_BEFORE, before=before or LAST, limit=LIST_LIMIT))
    return list(islice((each for each in every if sought in each.name.casefold()), count))


def rename(tx: WriteTx, org_id: str, name: str, actor: str) -> Organization:
    """Give it another name. Raises `Problem` `not_found` or `validation_failed`."""
    before, name = get(tx, org_id), validate_name("name", name)
    if before.name != name:
        tx.run(_RENAME, id=org_id, name=name)
        detail: audit.Detail = {"from": before.name, "to": name}
        act = audit.Act(actor=actor, action="organization.renamed", subject=org_id, org_id=org_id, detail=detail)
        audit.record(tx, act)
    return get(tx, org_id)


def set_time_zone(tx: WriteTx, org_id: str, time_zone: str, actor: str) -> Organization:
    """Let its days end in another zone from now on. Raises `Problem` `not_found` or `validation_failed`.

    Chosen: what has an instant already keeps it, such as credits that were given.
    """
    before = get(tx, org_id)
    validate_zone("timeZone", time_zone)
    if before.time_zone != time_zone:
        tx.run(_SET_ZONE, id=org_id, time_zone=time_zone)
        detail: audit.Detail = {"from": before.time_zone, "to": time_zone}
        act = audit.Act(actor=actor, action="organization.rezoned", subject=org_id, org_id=org_id, detail=detail)
        audit.record(tx, act)
    return get(tx, org_id)


def time_zone_of(tx: ReadTx) -> zoneinfo.ZoneInfo:
    """The zone of the organization that the transaction acts for.

    Chosen: London's where the machine does not know it any more, or has no such organization.
    """
    name = tx.value(_SELECT_ZONE)
    return clock.time_zone(name or ZONE_DEFAULT) or clock.LONDON


def is_suspended(tx: ReadTx, org_id: str) -> bool:
    """Whether it is suspended, or being deleted."""
    return tx.row(_IS_SUSPENDED, id=org_id) is not None


def note_suspension(tx: WriteTx, org_id: str, reason: str | None) -> None:
    """Write down that it is suspended: see `suspensions`, also for what follows."""
    tx.run(_SUSPEND, id=org_id, reason=reason)


def note_resumption(tx: WriteTx, org_id: str) -> None:
    """Write down that it is suspended no more."""
    tx.run(_RESUME, id=org_id)


def note_deletion(tx: WriteTx, org_id: str) -> None:
    """Write down that it is being deleted, and suspended until then."""
    tx.run(_MARK, id=org_id)


def remove(tx: WriteTx, org_id: str) -> bool:
    """Delete its row, of one that is being deleted and has no other; answers whether it was there."""
    return tx.run(_DELETE, id=org_id) > 0


def validate_name(path: str, name: str) -> str:
    """The name without spaces around it. Raises `Problem` `validation_failed` naming `path`."""
    name = name.strip()
    if not 1 <= len(name) <= NAME_LENGTH_MAX:
        raise invalid_field(path, "out_of_range", f"A name has 1 to {NAME_LENGTH_MAX} characters.")
    if (hidden := hidden_in(name)) is not None:
        raise invalid_field(path, "invalid_format", hidden)
    if not name.isprintable():
        raise invalid_field(path, "invalid_format", "A name has no control characters and no line breaks.")
    return name


def validate_zone(path: str, name: str) -> None:
    """Raises `Problem` `validation_failed` naming `path` for what is no time zone."""
    if not 1 <= len(name) <= ZONE_LENGTH_MAX or clock.time_zone(name) is None:
        raise invalid_field(
            path, "invalid_format", "There is no such time zone: expected an IANA name such as Europe/London."
        )


def _organization(row: Row) -> Organization:
    org_id, name, created_at, suspended_at, reason, deleting_since, time_zone = row
    return Organization(
        id=org_id,
        name=name,
        created_at=Instant(created_at),
        time_zone=time_zone,
        suspended_at=None if suspended_at is None else Instant(suspended_at),
        suspended_reason=reason,
        deleting_since=None if deleting_since is None else Instant(deleting_since),
    )
