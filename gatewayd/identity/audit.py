"""The audit log: what was done to organizations, people and credentials, by whom and when. Append-only."""

from typing import Literal

import msgspec

from gatewayd.clock import Instant
from gatewayd.contract.wire import Response, Timestamp
from gatewayd.store import ReadTx, Row, WriteTx

Action = Literal[
    "organization.created",
    "organization.renamed",
    "organization.rezoned",
    "organization.suspended",
    "organization.resumed",
    "organization.deleting",
    "organization.deleted",
    "user.created",
    "user.password_reset",
    "user.password_changed",
    "user.password_removed",
    "user.totp_on",
    "user.totp_off",
    "user.recovery_code_used",
    "user.passkey_added",
    "user.passkey_removed",
    "user.unlocked",
    "network.unlocked",
    "clock.accepted",
    "user.disabled",
    "user.enabled",
    "user.signed_out_everywhere",
    "membership.added",
    "membership.role_changed",
    "membership.removed",
    "invitation.created",
    "invitation.accepted",
    "invitation.revoked",
    "key.created",
    "key.rotated",
    "key.revoked",
    "key.tax_requested",
    "key.tax_approved",
    "key.tax_refused",
    "key.tax_withdrawn",
    "client.revoked",
    "client.tax_requested",
    "client.tax_approved",
    "client.tax_refused",
    "client.tax_withdrawn",
    "grant.created",
    "grant.revoked",
    "grant.code_replayed",
    "grant.refresh_reused",
    "feed.created",
    "feed.revoked",
    "link.revoked",
    "upload.ended",
    "subscription.disabled",
    "access.handed_over",
    "tax.connected",
    "tax.disconnected",
    "credits.granted",
    "credits.voided",
    "credits.refunded",
    "credits.adjusted",
    "credits.imported",
    "plan.created",
    "plan.retired",
    "plan.set",
    "cost.set",
]
Detail = dict[str, str | list[str] | None]

OPERATOR = "operator"
"""The actor where the command line on the machine itself did it."""

PAGE_MAX = 1_000  # Chosen

_INSERT = """
INSERT INTO audit_log (id, org_id, at, actor, action, subject, detail)
VALUES (:id, :about_org, :now, :actor, :action, :subject, :detail)
"""
_LIST = """
SELECT id, org_id, at, actor, action, subject, detail FROM audit_log
WHERE org_id = :org_id ORDER BY id DESC LIMIT :limit
"""
_LIST_ALL = """
SELECT id, org_id, at, actor, action, subject, detail FROM audit_log ORDER BY id DESC LIMIT :limit
"""


class AuditEntry(Response, frozen=True, kw_only=True):
    """One thing that was done. `actor` is a user id, a client id or `operator`; `subject` the id it was done to."""

    id: str
    org_id: str | None
    at: Timestamp
    actor: str
    action: str
    subject: str
    detail: Detail


class Act(msgspec.Struct, frozen=True, kw_only=True):
    """An entry to be recorded. `org_id` is None for what concerns the whole instance. `detail` never holds a secret."""

    actor: str
    action: Action
    subject: str
    org_id: str | None
    detail: Detail = {}


def record(tx: WriteTx, act: Act) -> None:
    """Add one entry, in the transaction of what it is about."""
    tx.run(
        _INSERT,
        id=tx.new_id("aud"),
        about_org=act.org_id,
        actor=act.actor,
        action=act.action,
        subject=act.subject,
        detail=msgspec.json.encode(act.detail).decode(),
    )


def list_entries(tx: ReadTx, limit: int = 100) -> list[AuditEntry]:
    """The newest entries about the transaction's organization, newest first; at most `PAGE_MAX`."""
    return [_entry(row) for row in tx.rows(_LIST, limit=min(limit, PAGE_MAX))]


def list_all(tx: ReadTx, limit: int = 100) -> list[AuditEntry]:
    """The newest entries of the whole instance, newest first; at most `PAGE_MAX`."""
    return [_entry(row) for row in tx.rows(_LIST_ALL, limit=min(limit, PAGE_MAX))]


def _entry(row: Row) -> AuditEntry:
    entry_id, org_id, at, actor, action, subject, detail = row
    return AuditEntry(
        id=entry_id,
        org_id=org_id,
        at=Instant(at),
        actor=actor,
        action=action,
        subject=subject,
        detail=msgspec.json.decode(detail, type=Detail),
    )
