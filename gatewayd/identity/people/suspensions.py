"""Organizations that nobody acts for: suspended until they are resumed, or being deleted.

Nothing is ended by it: keys, tokens, links, upload URLs and feeds are refused, webhooks wait, and all of it goes on as
it was once the organization is resumed. Each door asks here with the credential in its hand.
"""

from typing import Final

from gatewayd.errors import Problem, invalid_field, invalid_state
from gatewayd.identity import audit
from gatewayd.identity.people import organizations
from gatewayd.identity.people.organizations import Organization
from gatewayd.store import ReadTx, WriteTx

REASON_MAX: Final = 1_000  # Chosen, characters


def is_suspended(tx: ReadTx, org_id: str) -> bool:
    """Whether nobody may act for it."""
    return organizations.is_suspended(tx, org_id)


def refuse(tx: ReadTx, org_id: str) -> None:
    """Raises `Problem` `organization_suspended` for one that nobody may act for."""
    if not is_suspended(tx, org_id):
        return
    organization = organizations.get(tx, org_id)
    if organization.deleting_since is not None:
        raise Problem("organization_suspended", f"The organization {organization.name} is being deleted.")
    why = f": {organization.suspended_reason}" if organization.suspended_reason else "."
    raise Problem(
        "organization_suspended", f"The organization {organization.name} is suspended by whoever runs this server{why}"
    )


def suspend(tx: WriteTx, org_id: str, reason: str | None, actor: str) -> Organization:
    """Let nobody act for it, from the next request on; again gives another reason.

    Raises `Problem`: `not_found`, `validation_failed` for a reason that is too long.
    """
    organizations.get(tx, org_id)
    if reason is not None and len(reason) > REASON_MAX:
        raise invalid_field("reason", "out_of_range", f"At most {REASON_MAX} characters.")
    organizations.note_suspension(tx, org_id, reason)
    _record(tx, "organization.suspended", org_id, actor, {"reason": reason})
    return organizations.get(tx, org_id)


def resume(tx: WriteTx, org_id: str, actor: str) -> Organization:
    """Let everybody in again whom it let in before. Raises `Problem` `not_found`, or `invalid_state` of a deletion."""
    organization = organizations.get(tx, org_id)
    if organization.deleting_since is not None:
        message = f"{organization.name} is being deleted, and does not come back: only one that is suspended does."
        raise invalid_state(message, "deleting", ("suspended",))
    if organization.suspended_at is not None:
        organizations.note_resumption(tx, org_id)
        _record(tx, "organization.resumed", org_id, actor, {})
    return organizations.get(tx, org_id)


def begin_deletion(tx: WriteTx, org_id: str, actor: str) -> Organization:
    """Let nobody act for it any more: all that it has is to be deleted. Raises `Problem` `not_found`."""
    if organizations.get(tx, org_id).deleting_since is None:
        organizations.note_deletion(tx, org_id)
        _record(tx, "organization.deleting", org_id, actor, {})
    return organizations.get(tx, org_id)


def end_deletion(tx: WriteTx, organization: Organization, actor: str) -> bool:
    """Delete the organization itself, of which nothing is left; False where another process was first."""
    if not organizations.remove(tx, organization.id):
        return False
    detail: audit.Detail = {"name": organization.name}
    audit.record(
        tx, audit.Act(actor=actor, action="organization.deleted", subject=organization.id, org_id=None, detail=detail)
    )
    return True


def _record(tx: WriteTx, action: audit.Action, org_id: str, actor: str, detail: audit.Detail) -> None:
    audit.record(tx, audit.Act(actor=actor, action=action, subject=org_id, org_id=org_id, detail=detail))
