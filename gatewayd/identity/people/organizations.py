"""Organizations: every request acts on behalf of one (Spec §1)."""

from gatewayd.clock import Instant
from gatewayd.contract.names import hidden_in
from gatewayd.contract.wire import Response, Timestamp
from gatewayd.errors import invalid_field, not_found
from gatewayd.identity import audit
from gatewayd.store import ReadTx, Row, WriteTx

NAME_LENGTH_MAX = 160
LIST_LIMIT = 10_000  # Chosen: an instance serves a firm and its clients, hardly ever more than hundreds

_COLUMNS = "id, name, created_at, suspended_at, suspended_reason, deleting_since"
_INSERT = "INSERT INTO organizations (id, name, created_at) VALUES (:id, :name, :now)"
_GET = f"SELECT {_COLUMNS} FROM organizations WHERE id = :id"
_LIST = f"SELECT {_COLUMNS} FROM organizations ORDER BY id LIMIT :limit"
_IS_SUSPENDED = "SELECT 1 FROM organizations WHERE id = :id AND suspended_at IS NOT NULL"
_SUSPEND = "UPDATE organizations SET suspended_at = :now, suspended_reason = :reason WHERE id = :id"
_RESUME = "UPDATE organizations SET suspended_at = NULL, suspended_reason = NULL WHERE id = :id"
_MARK = "UPDATE organizations SET suspended_at = coalesce(suspended_at, :now), deleting_since = :now WHERE id = :id"
_DELETE = "DELETE FROM organizations WHERE id = :id AND deleting_since IS NOT NULL"
_RENAME = "UPDATE organizations SET name = :name WHERE id = :id"


class Organization(Response, frozen=True, kw_only=True, omit_defaults=True):
    """One organization of the instance.

    `suspendedAt`: nobody acts for it since then. `deletingSince`: it is being deleted.
    """

    id: str
    name: str
    created_at: Timestamp
    suspended_at: Timestamp | None = None
    suspended_reason: str | None = None
    deleting_since: Timestamp | None = None


def create(tx: WriteTx, name: str, actor: str) -> Organization:
    """Make an organization; two may have the same name. Raises `Problem` `validation_failed`."""
    name = validate_name("name", name)
    org_id = tx.new_id("org")
    tx.run(_INSERT, id=org_id, name=name)
    audit.record(tx, audit.Act(actor=actor, action="organization.created", subject=org_id, org_id=org_id))
    return Organization(id=org_id, name=name, created_at=tx.now)


def get(tx: ReadTx, org_id: str) -> Organization:
    """One organization. Raises `Problem` `not_found`."""
    row = tx.row(_GET, id=org_id)
    if row is None:
        raise not_found("organization")
    return _organization(row)


def list_all(tx: ReadTx) -> list[Organization]:
    """Every organization, oldest first."""
    return [_organization(row) for row in tx.rows(_LIST, limit=LIST_LIMIT)]


def rename(tx: WriteTx, org_id: str, name: str, actor: str) -> Organization:
    """Give it another name. Raises `Problem` `not_found` or `validation_failed`."""
    before, name = get(tx, org_id), validate_name("name", name)
    if before.name != name:
        tx.run(_RENAME, id=org_id, name=name)
        detail: audit.Detail = {"from": before.name, "to": name}
        act = audit.Act(actor=actor, action="organization.renamed", subject=org_id, org_id=org_id, detail=detail)
        audit.record(tx, act)
    return get(tx, org_id)


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


def _organization(row: Row) -> Organization:
    org_id, name, created_at, suspended_at, reason, deleting_since = row
    return Organization(
        id=org_id,
        name=name,
        created_at=Instant(created_at),
        suspended_at=None if suspended_at is None else Instant(suspended_at),
        suspended_reason=reason,
        deleting_since=None if deleting_since is None else Instant(deleting_since),
    )
