"""Memberships: who belongs to an organization, and with which role. An organization keeps at least one owner."""

from typing import get_args

from gatewayd.clock import Instant
from gatewayd.contract.caller import Role
from gatewayd.contract.wire import Response, Timestamp
from gatewayd.errors import Problem, invalid_field, invalid_state, not_found
from gatewayd.identity import audit
from gatewayd.identity.clients import grants
from gatewayd.identity.people import organizations, users
from gatewayd.store import ReadTx, Row, WriteTx

ROLES: tuple[Role, ...] = get_args(Role)
LIST_LIMIT = 10_000  # Chosen

_INSERT = """
INSERT INTO memberships (org_id, user_id, role, created_at) VALUES (:org_id, :user_id, :role, :now)
ON CONFLICT (org_id, user_id) DO NOTHING
"""
_ROLE = "SELECT role FROM memberships WHERE org_id = :org_id AND user_id = :user_id"
_LIST = """
SELECT org_id, user_id, role, created_at FROM memberships WHERE org_id = :org_id ORDER BY user_id LIMIT :limit
"""
_OF_USER = """
SELECT org_id, user_id, role, created_at FROM memberships WHERE user_id = :user_id ORDER BY org_id LIMIT :limit
"""
_LIST_ALL = "SELECT org_id, user_id, role, created_at FROM memberships ORDER BY user_id, org_id LIMIT :limit"
_ACTIVE = """
SELECT 1 FROM memberships m JOIN users u ON u.id = m.user_id JOIN organizations o ON o.id = m.org_id
WHERE m.org_id = :org_id AND m.user_id = :user_id AND u.disabled_at IS NULL AND o.suspended_at IS NULL
"""
# What is left to whom nobody else could let in: a disabled owner is none.
_SOLELY_OWNED_ANY_ORG = """
SELECT m.org_id FROM memberships m
WHERE m.user_id = :user_id AND m.role = 'owner' AND NOT EXISTS (
    SELECT 1 FROM memberships o JOIN users u ON u.id = o.user_id
    WHERE o.org_id = m.org_id AND o.user_id <> :user_id AND o.role = 'owner' AND u.disabled_at IS NULL
)
ORDER BY m.org_id LIMIT :limit
"""
_CHANGE = "UPDATE memberships SET role = :role WHERE org_id = :org_id AND user_id = :user_id"
_DELETE = "DELETE FROM memberships WHERE org_id = :org_id AND user_id = :user_id"


class Membership(Response, frozen=True, kw_only=True):
    """One person in one organization."""

    org_id: str
    user_id: str
    role: Role
    created_at: Timestamp


def add(tx: WriteTx, user_id: str, role: Role, actor: str) -> Membership:
    """Make a user a member of the transaction's organization.

    Raises `Problem`: `not_found` for the organization or the user, `already_exists` for a member.
    """
    organizations.get(tx, tx.org_id)
    user = users.get(tx, user_id)
    validate_role(role)
    if not tx.run(_INSERT, user_id=user_id, role=role):
        raise Problem("already_exists", f"{user.email} is a member of this organization already.")
    _record(tx, "membership.added", user_id, actor, {"role": role})
    return Membership(org_id=tx.org_id, user_id=user_id, role=role, created_at=tx.now)


def change_role(tx: WriteTx, user_id: str, role: Role, actor: str) -> None:
    """Give a member another role. Raises `Problem` `not_found`, or `invalid_state` for the last owner."""
    validate_role(role)
    before = role_of(tx, user_id)
    if before == role:
        return
    _check_other_owner(tx, user_id)
    tx.run(_CHANGE, user_id=user_id, role=role)
    _record(tx, "membership.role_changed", user_id, actor, {"from": before, "to": role})


def remove(tx: WriteTx, user_id: str, actor: str) -> int:
    """Remove a member and end the apps they connected; returns how many. Raises as `change_role` does.

    Their keys stop working, and are theirs again should they come back: see `deprovisioning.remove_member`.
    """
    before = role_of(tx, user_id)
    _check_other_owner(tx, user_id)
    tx.run(_DELETE, user_id=user_id)
    _record(tx, "membership.removed", user_id, actor, {"role": before})
    return grants.revoke_membership(tx, user_id, actor)


def role_of(tx: ReadTx, user_id: str) -> Role:
    """The user's role in the transaction's organization. Raises `Problem` `not_found`."""
    role: Role | None = tx.value(_ROLE, user_id=user_id)
    if role is None:
        raise not_found("member")
    return role


def is_member(tx: ReadTx, user_id: str) -> bool:
    """Whether the user belongs to the transaction's organization, disabled or not."""
    return tx.value(_ROLE, user_id=user_id) is not None


def is_active(tx: ReadTx, user_id: str) -> bool:
    """Whether the user belongs to the transaction's organization and is not disabled: may get new credentials."""
    return tx.value(_ACTIVE, user_id=user_id) is not None


def list_members(tx: ReadTx) -> list[Membership]:
    """The members of the transaction's organization."""
    return [_membership(row) for row in tx.rows(_LIST, limit=LIST_LIMIT)]


def of_user(tx: ReadTx, user_id: str) -> list[Membership]:
    """The organizations one person belongs to, oldest first."""
    return [_membership(row) for row in tx.rows(_OF_USER, user_id=user_id, limit=LIST_LIMIT)]


def solely_owned(tx: ReadTx, user_id: str) -> list[str]:
    """The organizations whose only owner who is not disabled is this user, or would be: none but they is left."""
    return [org_id for (org_id,) in tx.rows(_SOLELY_OWNED_ANY_ORG, user_id=user_id, limit=LIST_LIMIT)]


def list_all(tx: ReadTx) -> list[Membership]:
    """Every membership of the instance, by user."""
    return [_membership(row) for row in tx.rows(_LIST_ALL, limit=LIST_LIMIT)]


def manages(role: Role, other: Role) -> bool:
    """Whether who has `role` may give `other`, and change or remove who has it.

    Chosen: owners all, administrators all but owners.
    """
    return role == "owner" or (role == "admin" and other != "owner")


def require_manager(tx: ReadTx, user_id: str, *roles: Role) -> None:
    """Let through who may manage these roles here. Raises `Problem`: `not_found` for no member, `forbidden`."""
    role = role_of(tx, user_id)
    if not all(manages(role, each) for each in roles):
        who = "Owners" if role == "admin" else "Owners and administrators"
        raise Problem("forbidden", f"{who} of the organization do this.")


def validate_role(role: str) -> Role:
    """The role of that name. Raises `Problem` `validation_failed`."""
    for each in ROLES:
        if each == role:
            return each
    raise invalid_field("role", "invalid_enum", f"Expected one of: {', '.join(ROLES)}.")


def _check_other_owner(tx: ReadTx, user_id: str) -> None:
    """Called before somebody may stop being an owner. Raises `Problem` `invalid_state` for the last one."""
    if tx.org_id in solely_owned(tx, user_id):  # Chosen: without an owner nobody could let anyone in again
        message = "An organization keeps at least one owner: make somebody else owner first."
        raise invalid_state(message, "sole_owner", ("one_of_several",))


def _record(tx: WriteTx, action: audit.Action, user_id: str, actor: str, detail: audit.Detail) -> None:
    audit.record(tx, audit.Act(actor=actor, action=action, subject=user_id, org_id=tx.org_id, detail=detail))


def _membership(row: Row) -> Membership:
    org_id, user_id, role, created_at = row
    return Membership(org_id=org_id, user_id=user_id, role=role, created_at=Instant(created_at))
