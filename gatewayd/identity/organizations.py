"""Organizations: every request acts on behalf of one (Spec §1)."""

from gatewayd.clock import Instant
from gatewayd.contract.wire import Response, Timestamp
from gatewayd.errors import invalid_field, not_found
from gatewayd.identity import audit
from gatewayd.store import ReadTx, Row, WriteTx

NAME_LENGTH_MAX = 160
LIST_LIMIT = 10_000  # Chosen: an instance serves a firm and its clients, hardly ever more than hundreds

_INSERT = "INSERT INTO organizations (id, name, created_at) VALUES (:id, :name, :now)"
_GET = "SELECT id, name, created_at FROM organizations WHERE id = :id"
_LIST = "SELECT id, name, created_at FROM organizations ORDER BY id LIMIT :limit"


class Organization(Response, frozen=True, kw_only=True):
    """One organization of the instance."""

    id: str
    name: str
    created_at: Timestamp


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


def validate_name(path: str, name: str) -> str:
    """The name without spaces around it. Raises `Problem` `validation_failed` naming `path`."""
    name = name.strip()
    if not 1 <= len(name) <= NAME_LENGTH_MAX:
        raise invalid_field(path, "out_of_range", f"A name has 1 to {NAME_LENGTH_MAX} characters.")
    if not name.isprintable():
        raise invalid_field(path, "invalid_format", "A name has no control characters and no line breaks.")
    return name


def _organization(row: Row) -> Organization:
    org_id, name, created_at = row
    return Organization(id=org_id, name=name, created_at=Instant(created_at))
