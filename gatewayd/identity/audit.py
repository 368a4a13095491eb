"""The audit log: what was done to organizations, people and credentials, by whom and when. Owns `audit_log`.

Nothing in it is changed. It ends by its age (`sweep`), and where an organization is deleted, with it. What anybody can
cause who shows no credential is bounded: see `record_stranger`.
"""

from typing import Final, Literal, get_args

import msgspec

from gatewayd.clock import DAY, Instant
from gatewayd.contract.wire import Response, Timestamp
from gatewayd.ids import first_at
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
    "user.reset_link_made",
    "user.reset_asked",
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
    "user.signed_in",
    "user.sign_in_failed",
    "user.signed_out",
    "user.signed_out_everywhere",
    "network.sign_in_failed",
    "network.reset_asked",
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
    "client.registered",
    "client.secret_rotated",
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
NOBODY: Final = "nobody"
"""The actor where nobody knows who it was: somebody who could not sign in."""

PAGE_MAX = 1_000  # Chosen
ACTIONS: Final[tuple[Action, ...]] = get_args(Action)
SIGN_IN_ACTIONS: Final[tuple[Action, ...]] = (
    "user.signed_in",
    "user.sign_in_failed",
    "user.signed_out",
    "network.sign_in_failed",
    "user.reset_asked",
    "network.reset_asked",
)
"""Who came and went, and from where: kept for less long than what was done."""
STRANGERS_ACTIONS: Final[tuple[Action, ...]] = ("network.sign_in_failed", "network.reset_asked")
STRANGERS_MAX: Final = 1_000  # Chosen: entries that anybody can cause; the newest stay
SWEEP_ROWS: Final = 500  # of one transaction
RETENTION_DAYS: Final = 2_557  # as the setting `audit.retention_days` says where it is left alone
SIGN_IN_RETENTION_DAYS: Final = 400  # and `audit.sign_in_retention_days`

TABLE: Final = "audit_log"
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
_DROP_STRANGERS_ANY_ORG = """
DELETE FROM audit_log WHERE id IN (
    SELECT id FROM audit_log WHERE action = :action ORDER BY id DESC LIMIT :count OFFSET :kept
)
"""
_SWEEP_ANY_ORG = """
DELETE FROM audit_log WHERE id IN (SELECT id FROM audit_log WHERE id < :before ORDER BY id LIMIT :count)
"""
_SWEEP_ACTION_ANY_ORG = """
DELETE FROM audit_log WHERE id IN (
    SELECT id FROM audit_log WHERE action = :action AND id < :before ORDER BY id LIMIT :count
)
"""


class AuditEntry(Response, frozen=True, kw_only=True):
    """One thing that was done. `actor` is the id of a user or a client, `operator` or `nobody`; `subject` the id it was
    done to.
    """

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
    """Add one entry, in the transaction of what it is about. What follows from it is given the act."""
    id_ = tx.new_id("aud")
    tx.run(
        _INSERT,
        id=id_,
        about_org=act.org_id,
        actor=act.actor,
        action=act.action,
        subject=act.subject,
        detail=msgspec.json.encode(act.detail).decode(),
    )
    tx.changed(TABLE, id_, None, act)


def record_stranger(tx: WriteTx, act: Act) -> None:
    """Add one entry that a stranger caused; of these the newest `STRANGERS_MAX` are kept.

    So nobody who has no account fills the disk, nor pushes out what concerns somebody who has one.
    """
    record(tx, act)
    drop_strangers(tx)


def drop_strangers(tx: WriteTx) -> None:
    """Let the newest `STRANGERS_MAX` entries of strangers stay, of each of their actions."""
    for action in STRANGERS_ACTIONS:
        tx.run(_DROP_STRANGERS_ANY_ORG, action=action, kept=STRANGERS_MAX, count=SWEEP_ROWS)


class Retention(msgspec.Struct, frozen=True):
    """How long entries are kept, in days: `audit.retention_days`, and of sign-ins `audit.sign_in_retention_days`."""

    days: int = RETENTION_DAYS
    sign_in_days: int = SIGN_IN_RETENTION_DAYS

    def sweep(self, tx: WriteTx) -> int:
        """Delete at most `SWEEP_ROWS` entries that are older; returns how many."""
        left = SWEEP_ROWS - tx.run(_SWEEP_ANY_ORG, before=_first(tx, self.days), count=SWEEP_ROWS)
        before = _first(tx, min(self.days, self.sign_in_days))
        for action in SIGN_IN_ACTIONS:
            if left > 0:
                left -= tx.run(_SWEEP_ACTION_ANY_ORG, action=action, before=before, count=left)
        return SWEEP_ROWS - left


def _first(tx: ReadTx, days: int) -> str:
    """The least id that is not older than so many days: ids tell when they were made."""
    return first_at("aud", tx.now - days * DAY)


def list_entries(tx: ReadTx, limit: int = 100) -> list[AuditEntry]:
    """The newest entries about the transaction's organization, newest first; at most `PAGE_MAX`."""
    return [entry_of(row) for row in tx.rows(_LIST, limit=min(limit, PAGE_MAX))]


def list_all(tx: ReadTx, limit: int = 100) -> list[AuditEntry]:
    """The newest entries of the whole instance, newest first; at most `PAGE_MAX`."""
    return [entry_of(row) for row in tx.rows(_LIST_ALL, limit=min(limit, PAGE_MAX))]


def entry_of(row: Row) -> AuditEntry:
    """The entry of a row `(id, org_id, at, actor, action, subject, detail)`."""
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
