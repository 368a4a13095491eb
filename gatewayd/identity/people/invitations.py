"""Invitations: a link by which somebody joins an organization, once. Owns the table `invitations`.

Who invites is shown the link once, and it is mailed where mail is sent. The token in it is 256 random bits, of which
the hash is stored. The invitation names an address: whoever has its account joins with it, and who has none makes it.

It works as long as whoever made it could make it: it ends with their membership, where they are disabled, and with a
role that may not give what it gives. While the organization is suspended it rests.
"""

from typing import Final, NamedTuple

from gatewayd.clock import DAY, Instant
from gatewayd.contract.caller import Role
from gatewayd.errors import Problem, invalid_state, not_found
from gatewayd.identity import audit
from gatewayd.identity.open_access import Opening, Sought
from gatewayd.identity.people import memberships, organizations, suspensions, users
from gatewayd.identity.random_tokens import hash_token, make_token
from gatewayd.store import ReadTx, Row, WriteTx

PREFIX: Final = "gwd_inv_"  # logs hide what begins so
LIFETIME: Final = 7 * DAY  # Chosen
OPEN_MAX: Final = 50  # Chosen: of an organization
PER_DAY_MAX: Final = 100  # Chosen: made in 24 hours for one organization, revoked ones too
RETENTION: Final = 30 * DAY  # Chosen: for so long what has ended is kept
SWEEP_ROWS: Final = 500  # of one transaction

_COLUMNS = "i.id, i.org_id, i.user_id, i.email, i.role, i.new_user_id, i.created_by, i.expires_at, i.created_at"
_OPEN = "i.accepted_at IS NULL AND i.revoked_at IS NULL AND i.expires_at > :at"
# That whoever made it could make it now: what ends it says so too, and this is the last word.
_MAKER_MAY = """
(i.user_id IS NULL OR EXISTS (
    SELECT 1 FROM memberships m JOIN users u ON u.id = m.user_id
    WHERE m.org_id = i.org_id AND m.user_id = i.user_id AND u.disabled_at IS NULL
        AND (m.role = 'owner' OR (m.role = 'admin' AND i.role <> 'owner'))
))
"""
_INSERT = """
INSERT INTO invitations (id, org_id, user_id, hash, email, email_folded, role, new_user_id, created_by, expires_at,
    created_at)
VALUES (:id, :org_id, :user_id, :hash, :email, :email_folded, :role, :new_user_id, :created_by, :expires_at, :now)
"""
_LIST_OPEN = f"""
SELECT {_COLUMNS} FROM invitations i
WHERE i.org_id = :org_id AND i.id >= :first AND {_OPEN}
    AND (CAST(:user_id AS TEXT) IS NULL OR i.user_id = :user_id)
ORDER BY i.id LIMIT :limit
"""
_FIND_ANY_ORG = f"SELECT {_COLUMNS} FROM invitations i WHERE i.hash = :hash AND {_OPEN} AND {_MAKER_MAY}"
_OPEN_OF_ADDRESS = f"""
SELECT i.id FROM invitations i WHERE i.org_id = :org_id AND i.email_folded = :email_folded AND {_OPEN}
"""
_COUNT_OPEN = """
SELECT count(id) FROM invitations
WHERE org_id = :org_id AND accepted_at IS NULL AND revoked_at IS NULL AND expires_at > :at
"""
_COUNT_MADE = "SELECT count(id) FROM invitations WHERE org_id = :org_id AND created_at > :since"
_OWNER_ANY_ORG = "SELECT org_id FROM invitations WHERE id = :id"
_ACCEPT = """
UPDATE invitations SET accepted_at = :now, accepted_by = :accepted_by
WHERE org_id = :org_id AND id = :id AND accepted_at IS NULL AND revoked_at IS NULL
"""
_REVOKE = """
UPDATE invitations SET revoked_at = :now
WHERE org_id = :org_id AND id = :id AND accepted_at IS NULL AND revoked_at IS NULL AND expires_at > :now
"""
_OF_MAKER = """
SELECT id, role FROM invitations
WHERE org_id = :org_id AND user_id = :user_id AND accepted_at IS NULL AND revoked_at IS NULL AND expires_at > :at
ORDER BY id
"""
_SWEEP_ANY_ORG = """
DELETE FROM invitations WHERE id IN (
    SELECT id FROM invitations WHERE expires_at < :before LIMIT :count
)
"""


class Invitation(NamedTuple):
    """One that is open. `user_id` None: the operator invites. `new_user_id` is for an account that is made by it."""

    id: str
    org_id: str
    user_id: str | None
    email: str
    role: Role
    new_user_id: str
    created_by: str
    expires_at: Instant
    created_at: Instant


class NewInvitation(NamedTuple):
    """One to be made. `user_id` None: by the operator."""

    email: str
    role: Role
    user_id: str | None


def make(tx: WriteTx, wanted: NewInvitation) -> tuple[Invitation, str]:
    """Invite an address into the transaction's organization; answers the token of the link too, which is not stored.

    Raises `Problem`: `forbidden` where the maker may not give that role; `validation_failed`; `already_exists` for a
    member, or where the address has an invitation that is open; `limit_reached`; `organization_suspended`.
    """
    organization = organizations.get(tx, tx.org_id)
    suspensions.refuse(tx, organization.id)
    email, role = users.validate_email(wanted.email), memberships.validate_role(wanted.role)
    if wanted.user_id is not None:
        memberships.require_manager(tx, wanted.user_id, role)
    folded = users.fold_email(email)
    known = users.find(tx, email)
    if known is not None and memberships.is_member(tx, known.id):
        raise Problem("already_exists", f"{known.email} is a member of this organization already.")
    if tx.value(_OPEN_OF_ADDRESS, email_folded=folded, at=tx.now) is not None:
        message = f"{email} is invited already: revoke that invitation first, for its link is not shown again."
        raise Problem("already_exists", message)
    _check_room(tx)
    token, id_ = make_token(PREFIX), tx.new_id("ivt")
    made = Invitation(
        id=id_,
        org_id=tx.org_id,
        user_id=wanted.user_id,
        email=email,
        role=role,
        new_user_id=tx.new_id("usr"),
        created_by=wanted.user_id or audit.OPERATOR,
        expires_at=Instant(tx.now + LIFETIME),
        created_at=tx.now,
    )
    values = made._asdict()
    del values["org_id"], values["created_at"]
    tx.run(_INSERT, **values, email_folded=folded, hash=hash_token(token))
    _record(tx, "invitation.created", made, made.created_by)
    return made, token


def list_invitations(tx: ReadTx) -> list[Invitation]:
    """Those of the transaction's organization that are open, oldest first."""
    rows = tx.rows(_LIST_OPEN, user_id=None, first="", limit=OPEN_MAX, at=tx.now)
    return [_invitation(row) for row in rows]


def get(tx: ReadTx, id_: str) -> Invitation:
    """One of the transaction's organization that is open. Raises `Problem` `not_found`."""
    row = tx.row(_LIST_OPEN, user_id=None, first=id_, limit=1, at=tx.now)
    if row is None or row[0] != id_:
        raise not_found("invitation")
    return _invitation(row)


def find(tx: ReadTx, token: str) -> Invitation | None:
    """What a link invites to, without using it; None when it is unknown, or does not work (any more)."""
    row = tx.row(_FIND_ANY_ORG, hash=hash_token(token), at=tx.now)
    if row is None or suspensions.is_suspended(tx, row[1]):
        return None
    return _invitation(row)


def accept(tx: WriteTx, invitation: Invitation, user_id: str) -> None:
    """Let the person in to whom the address belongs; the link is used up.

    The transaction acts for the organization afterwards. Raises `Problem`: `forbidden` for somebody else,
    `already_exists` for a member, `invalid_state` where it was used or ended meanwhile.
    """
    tx.bind(invitation.org_id)
    user = users.get(tx, user_id)
    if users.fold_email(user.email) != users.fold_email(invitation.email):
        raise Problem("forbidden", f"This invitation is for {invitation.email}.")
    if not tx.run(_ACCEPT, id=invitation.id, accepted_by=user_id):
        raise invalid_state("The invitation was used or revoked.", "ended", ("open",))
    _record(tx, "invitation.accepted", invitation, user_id)
    memberships.add(tx, user_id, invitation.role, user_id)


def revoke(tx: WriteTx, id_: str, actor: str) -> None:
    """End one of the transaction's organization. Raises `Problem` `not_found` where it is not open."""
    invitation = get(tx, id_)
    tx.run(_REVOKE, id=id_)
    _record(tx, "invitation.revoked", invitation, actor)


def end_beyond(tx: WriteTx, user_id: str, role: Role, actor: str) -> int:
    """End what a member with that role could not have made; answers how many."""
    made = tx.rows(_OF_MAKER, user_id=user_id, at=tx.now)
    beyond = [id_ for id_, gives in made if not memberships.manages(role, gives)]
    for id_ in beyond:
        tx.run(_REVOKE, id=id_)
        act = audit.Act(actor=actor, action="invitation.revoked", subject=id_, org_id=tx.org_id)
        audit.record(tx, act)
    return len(beyond)


def list_open(tx: ReadTx, sought: Sought) -> list[Opening]:
    """Those that let somebody in, by id."""
    rows = tx.rows(_LIST_OPEN, user_id=sought.user_id, first=sought.first, limit=sought.limit, at=sought.at)
    return [
        Opening(each.id, each.email, each.user_id, each.created_by, each.created_at, each.expires_at, None)
        for each in map(_invitation, rows)
    ]


def organization_of(tx: ReadTx, id_: str) -> str:
    """Whose it is, for the operator of the instance. Raises `Problem` `not_found`."""
    org_id = tx.value(_OWNER_ANY_ORG, id=id_)
    if org_id is None:
        raise not_found("invitation")
    return str(org_id)


def sweep(tx: WriteTx) -> int:
    """Delete at most `SWEEP_ROWS` that ended long ago; returns how many."""
    return tx.run(_SWEEP_ANY_ORG, before=tx.now - RETENTION, count=SWEEP_ROWS)


def _check_room(tx: WriteTx) -> None:
    """Raises `Problem` `limit_reached`."""
    if tx.value(_COUNT_OPEN, at=tx.now) >= OPEN_MAX:
        message = f"An organization has at most {OPEN_MAX} open invitations: revoke one that is not needed."
        raise Problem("limit_reached", message)
    if tx.value(_COUNT_MADE, since=tx.now - DAY) >= PER_DAY_MAX:
        raise Problem("limit_reached", f"An organization invites at most {PER_DAY_MAX} times in 24 hours.")


def _record(tx: WriteTx, action: audit.Action, invitation: Invitation, actor: str) -> None:
    detail: audit.Detail = {"email": invitation.email, "role": invitation.role}
    act = audit.Act(actor=actor, action=action, subject=invitation.id, org_id=invitation.org_id, detail=detail)
    audit.record(tx, act)


def _invitation(row: Row) -> Invitation:
    id_, org_id, user_id, email, role, new_user_id, created_by, expires_at, created_at = row
    return Invitation(
        id=id_,
        org_id=org_id,
        user_id=user_id,
        email=email,
        role=role,
        new_user_id=new_user_id,
        created_by=created_by,
        expires_at=Instant(expires_at),
        created_at=Instant(created_at),
    )
