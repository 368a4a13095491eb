"""Webhook subscriptions (Spec §2, §4 Webhooks). Owns the table `webhook_subscriptions`.

The signing secret is shown when it is made and never again. A rotation keeps the old one valid beside the new one for
`ROTATION_OVERLAP`, so that a receiver can change over without missing a delivery.
"""

import functools
import secrets
from typing import Any, Final, NamedTuple

from msgspec import UNSET, UnsetType

from gatewayd.clock import HOUR, Instant
from gatewayd.contract.caller import Caller
from gatewayd.contract.operation import Operation
from gatewayd.contract.pages import Listing, Page
from gatewayd.contract.wire import encode
from gatewayd.errors import FieldError, Problem, invalid, invalid_state, not_found, version_conflict
from gatewayd.events import TOPIC
from gatewayd.ledger.lists import sync_page
from gatewayd.outbound.transport import Policy
from gatewayd.store import ReadTx, Row, WriteTx
from gatewayd.webhooks import delivery_queue, missed_events
from gatewayd.webhooks.receivers import Address, secret_context
from gatewayd.webhooks.settings import WebhookSettings
from gatewayd.webhooks.signature import new_secret, secret_prefix
from gatewayd.webhooks.subscription_shapes import (
    CreatedSubscription,
    CreateSubscription,
    DisabledReason,
    ListSubscriptions,
    Removed,
    RemoveSubscription,
    Subscription,
    UpdatedSubscription,
    UpdateSubscription,
)
from gatewayd.webhooks.time_range import RETENTION_DAYS, TimeRange
from gatewayd.webhooks.validation import event_errors, url_errors

KIND: Final = "subscription"
MAX_PER_ORGANIZATION: Final = 50  # Chosen
MISSED_COUNTED: Final = 1000  # Chosen: enough to say that there is something to recover
DISABLE_AFTER: Final = WebhookSettings().disable_after
ROTATION_OVERLAP: Final = 24 * HOUR  # Chosen: the old secret signs on for a day


class SubscriptionRow(NamedTuple):
    """A row, as `_COLUMNS` has it."""

    id: str
    updated_at: Instant
    url: str
    events: str
    enabled: int
    disabled_reason: DisabledReason | None
    disabled_at: Instant | None
    failing_since: Instant | None
    failing_told_at: Instant | None
    secret_sealed: bytes
    secret_prefix: str
    previous_secret_sealed: bytes | None
    previous_secret_expires_at: Instant | None
    created_by: str
    created_at: Instant
    version: int


_COLUMNS = ", ".join(SubscriptionRow._fields)
_SELECT_PAGE = f"SELECT {_COLUMNS} FROM webhook_subscriptions WHERE org_id = :org_id"
_SELECT_ONE = f"{_SELECT_PAGE} AND id = :id"
_COUNT = "SELECT COUNT(*) FROM webhook_subscriptions WHERE org_id = :org_id"
_INSERT = """
INSERT INTO webhook_subscriptions (id, org_id, url, events, enabled, disabled_reason, secret_sealed, secret_prefix,
    created_by, created_at, updated_at, version)
VALUES (:id, :org_id, :url, :events, 1, NULL, :secret_sealed, :secret_prefix, :created_by, :now, :now, 1)
"""
_UPDATE = """
UPDATE webhook_subscriptions SET url = :url, events = :events, enabled = :enabled, disabled_reason = :disabled_reason,
    disabled_at = :disabled_at, failing_since = :failing_since,
    failing_told_at = :failing_told_at,
    secret_sealed = :secret_sealed, secret_prefix = :secret_prefix, previous_secret_sealed = :previous_secret_sealed,
    previous_secret_expires_at = :previous_secret_expires_at, updated_at = :now, version = version + 1
WHERE org_id = :org_id AND id = :id
"""
_AT_ADDRESS = "WHERE org_id = :org_id AND id = :id AND url = :url AND enabled = 1"
_DISABLE = f"""
UPDATE webhook_subscriptions SET enabled = 0, disabled_reason = :reason, disabled_at = :now, updated_at = :now,
    version = version + 1
{_AT_ADDRESS} AND (CAST(:failing_upto AS BIGINT) IS NULL OR failing_since <= :failing_upto)
"""
# Chosen: what is recorded of a receiver's health is no change that a caller's `expectedVersion` could run into.
_MARK_FAILING = f"""
UPDATE webhook_subscriptions SET failing_since = :at {_AT_ADDRESS} AND (failing_since IS NULL OR failing_since > :at)
"""
_MARK_WARNED = f"""
UPDATE webhook_subscriptions SET failing_told_at = :at
{_AT_ADDRESS} AND failing_since IS NOT NULL AND failing_told_at IS NULL
"""
_CLEAR_FAILING = f"""
UPDATE webhook_subscriptions SET failing_since = NULL, failing_told_at = NULL {_AT_ADDRESS}
"""
_SELECT_ORGANIZATION = "SELECT org_id FROM webhook_subscriptions WHERE id = :id"
_DELETE = "DELETE FROM webhook_subscriptions WHERE org_id = :org_id AND id = :id"


def list_subscriptions(tx: ReadTx, caller: Caller, request: ListSubscriptions) -> Listing[Subscription]:
    """List webhook subscriptions; secrets are never in it."""

    def render(row: Row) -> bytes:
        return encode(Subscription(**_wire_fields(SubscriptionRow(*row), tx.now)))

    return sync_page(tx, request, _SELECT_PAGE, {}, render)


def create_subscription(
    tx: WriteTx, caller: Caller, request: CreateSubscription, *, policy: Policy
) -> CreatedSubscription:
    """Create a webhook subscription. The answer holds the signing secret, which is not shown again."""
    errors = [*url_errors(request.url, policy), *event_errors(request.events)]
    if errors:
        raise invalid(*errors)
    if tx.value(_COUNT) >= MAX_PER_ORGANIZATION:
        raise Problem("limit_reached", f"An organization has at most {MAX_PER_ORGANIZATION} webhook subscriptions.")
    subscription_id = tx.new_id("wsub")
    secret = new_secret(secrets.token_bytes)
    tx.run(
        _INSERT,
        id=subscription_id,
        url=request.url,
        events=_join_kinds(request.events),
        secret_sealed=tx.seal(secret, secret_context(subscription_id)),
        secret_prefix=secret_prefix(secret),
        created_by=caller.reference,
    )
    return CreatedSubscription(**_wire_fields(find(tx, subscription_id), tx.now), secret=secret)


def update_subscription(
    tx: WriteTx, caller: Caller, request: UpdateSubscription, *, policy: Policy, retention_days: int = RETENTION_DAYS
) -> UpdatedSubscription:
    """Change a webhook subscription. While it is disabled its deliveries wait; enabling it sends them."""
    stored = find(tx, request.target)
    if request.expected_version is not None and request.expected_version != stored.version:
        raise version_conflict(request.expected_version, stored.version)
    changed, secret = _apply(tx, stored, request, policy)
    missed: dict[str, Any] = {}
    if changed != stored:
        tx.run(_UPDATE, **changed._asdict())
        if changed.enabled and not stored.enabled:
            missed = _missed_fields(tx, stored, changed.events, retention_days)
            tx.announce(TOPIC)
        changed = find(tx, stored.id)
    return UpdatedSubscription(**_wire_fields(changed, tx.now), secret=secret, **missed)


def remove_subscription(tx: WriteTx, caller: Caller, request: RemoveSubscription) -> Removed:
    """Delete a webhook subscription and cancel its pending deliveries."""
    stored = find(tx, request.target)
    tx.run(_DELETE, id=stored.id)
    delivery_queue.cancel_pending(tx, tx.org_id, stored.id)
    tx.announce(TOPIC)  # where more wait than one transaction cancels, the dispatcher goes on with it
    return Removed(id=stored.id, deleted=True)


def disable(tx: WriteTx, address: Address, reason: DisabledReason, failing_upto: Instant | None = None) -> bool:
    """Disable a subscription; with `failing_upto` only if it has been failing since that instant or longer.

    False where it has not, or where the subscription was changed meanwhile.
    """
    return tx.run(_DISABLE, **address._asdict(), reason=reason, failing_upto=failing_upto) == 1


def mark_failing(tx: WriteTx, address: Address, at: Instant) -> None:
    """Record the first failed attempt after a success; later ones change nothing."""
    tx.run(_MARK_FAILING, **address._asdict(), at=at)


def mark_warned(tx: WriteTx, address: Address, at: Instant) -> bool:
    """Record that the operator is told now; False where that was done before, or the receiver no longer fails."""
    return tx.run(_MARK_WARNED, **address._asdict(), at=at) == 1


def clear_failing(tx: WriteTx, address: Address) -> None:
    """Record that an attempt succeeded."""
    tx.run(_CLEAR_FAILING, **address._asdict())


def find(tx: ReadTx, subscription_id: str) -> SubscriptionRow:
    """A subscription of the organization. Raises `Problem` `not_found`."""
    row = tx.row(_SELECT_ONE, id=subscription_id)
    if row is None:
        raise not_found(KIND)
    return SubscriptionRow(*row)


def check_enabled(stored: SubscriptionRow) -> None:
    """Raises `Problem` `invalid_state` for a subscription to which nothing is sent."""
    if not stored.enabled:
        why = f"The subscription is disabled ({stored.disabled_reason}): enable it first."
        raise invalid_state(why, "disabled", ("enabled",))


def org_of(tx: ReadTx, subscription_id: str) -> str:
    """The organization of a subscription, for the operator. Raises `Problem` `not_found`."""
    org_id = tx.value(_SELECT_ORGANIZATION, id=subscription_id)
    if org_id is None:
        raise not_found(KIND)
    return str(org_id)


def _apply(
    tx: WriteTx, stored: SubscriptionRow, request: UpdateSubscription, policy: Policy
) -> tuple[SubscriptionRow, str | UnsetType]:
    """The row as the request wants it, and the new secret if it asks for one."""
    errors: list[FieldError] = []
    changes: dict[str, Any] = {}
    if request.url is not UNSET:
        errors += url_errors(request.url, policy)
        changes["url"] = request.url
        if request.url != stored.url:  # what failed was the other receiver
            changes["failing_since"] = changes["failing_told_at"] = None
    if request.events is not UNSET:
        errors += event_errors(request.events)
        changes["events"] = _join_kinds(request.events)
    if errors:
        raise invalid(*errors)
    if request.enabled is not UNSET and request.enabled != bool(stored.enabled):
        changes["enabled"] = int(request.enabled)
        changes["disabled_reason"] = None if request.enabled else "caller"
        changes["disabled_at"] = None if request.enabled else tx.now
        changes["failing_since"] = changes["failing_told_at"] = None
    secret: str | UnsetType = UNSET
    if request.rotate_secret:
        secret = new_secret(secrets.token_bytes)
        changes["secret_sealed"] = tx.seal(secret, secret_context(stored.id))
        changes["secret_prefix"] = secret_prefix(secret)
        changes["previous_secret_sealed"] = stored.secret_sealed
        changes["previous_secret_expires_at"] = tx.now + ROTATION_OVERLAP
    if request.end_rotation:
        changes["previous_secret_sealed"] = changes["previous_secret_expires_at"] = None
    return stored._replace(**changes), secret


def _missed_fields(tx: ReadTx, was: SubscriptionRow, events: str, retention_days: int) -> dict[str, Any]:
    """What a subscription that was disabled until now did not get."""
    since = Instant(min(at for at in (was.disabled_at, was.failing_since, tx.now) if at is not None))
    time_range = TimeRange(since).within_retention(tx.now, retention_days)
    found, _ = missed_events.search(tx, missed_events.MissedSearch(was.id, time_range, events.split(" ")))
    return {"missed": min(len(found), MISSED_COUNTED), "missed_since": time_range.since}


def _join_kinds(kinds: list[str]) -> str:
    return " ".join(dict.fromkeys(kinds))


def _wire_fields(stored: SubscriptionRow, now: Instant) -> dict[str, Any]:
    warned = stored.enabled and stored.failing_told_at is not None
    disables_at = Instant(stored.failing_since + DISABLE_AFTER) if warned and stored.failing_since is not None else None
    expires_at = stored.previous_secret_expires_at
    return {
        "id": stored.id,
        "url": stored.url,
        "events": stored.events.split(" "),
        "enabled": bool(stored.enabled),
        "disabled_reason": stored.disabled_reason,
        "disabled_at": _instant(stored.disabled_at),
        "failing_since": _instant(stored.failing_since),
        "disables_at": _instant(disables_at),
        "secret_prefix": stored.secret_prefix,
        "previous_secret_expires_at": _instant(expires_at) if expires_at is not None and expires_at > now else None,
        "created_by": stored.created_by,
        "created_at": Instant(stored.created_at),
        "updated_at": Instant(stored.updated_at),
        "version": stored.version,
    }


def _instant(instant: Instant | None) -> Instant | None:
    return None if instant is None else Instant(instant)


def operations(policy: Policy, retention_days: int) -> tuple[Operation, ...]:
    """The rows; `policy` says which URLs may receive, `retention_days` how long finished deliveries are kept."""
    return (
        Operation(
            id="webhooks.list",
            kind="read",
            method="GET",
            path="/webhooks/subscriptions",
            scopes=("webhooks:read",),
            request=ListSubscriptions,
            response=Page[Subscription],
            handler=list_subscriptions,
            example={"limit": 50},
        ),
        Operation(
            id="webhooks.create",
            kind="write",
            method="POST",
            path="/webhooks/subscriptions",
            scopes=("webhooks:write",),
            request=CreateSubscription,
            response=CreatedSubscription,
            handler=functools.partial(create_subscription, policy=policy),
            errors=("limit_reached",),
            secret=True,
            example={"url": "https://example.com/hooks", "events": ["lead.created", "opportunity.stage_changed"]},
        ),
        Operation(
            id="webhooks.update",
            kind="write",
            method="POST",
            path="/webhooks/subscriptions/update",
            scopes=("webhooks:write",),
            request=UpdateSubscription,
            response=UpdatedSubscription,
            handler=functools.partial(update_subscription, policy=policy, retention_days=retention_days),
            errors=("version_conflict",),
            secret=True,
            example={"id": "wsub_01k0000000000000000000000a", "enabled": False},
        ),
        Operation(
            id="webhooks.remove",
            kind="write",
            method="POST",
            path="/webhooks/subscriptions/delete",
            scopes=("webhooks:write",),
            request=RemoveSubscription,
            response=Removed,
            handler=remove_subscription,
            example={"id": "wsub_01k0000000000000000000000a"},
        ),
    )
