"""Webhook subscriptions (Spec §2, §4 Webhooks). Owns the table `webhook_subscriptions`.

The signing secret is shown when it is made and never again. A rotation keeps the old one valid beside the new one for
`ROTATION_OVERLAP`, so that a receiver can change over without missing a delivery.
"""

import secrets
from typing import Any, Final

from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from gatewayd.clock import HOUR, Instant
from gatewayd.contract.caller import Caller
from gatewayd.contract.operation import AT_CATALOGUE, Operation
from gatewayd.contract.pages import Listing, SyncPage
from gatewayd.contract.wire import encode
from gatewayd.errors import FieldError, Problem, invalid, invalid_state
from gatewayd.events import TOPIC
from gatewayd.ledger.lists import Source, sync_page
from gatewayd.outbound.transport import Policy
from gatewayd.store import ReadTx, RemovableTable, Row, WriteTx
from gatewayd.webhooks.queue import delivery_queue
from gatewayd.webhooks.queue.receivers import Address, secret_context
from gatewayd.webhooks.settings import WebhookSettings
from gatewayd.webhooks.signature import new_secret, secret_prefix
from gatewayd.webhooks.subscribers import missed_events
from gatewayd.webhooks.subscribers.subscription_shapes import (
    CreatedSubscription,
    CreateSubscription,
    DisabledReason,
    GetSubscription,
    ListSubscriptions,
    Removed,
    RemoveSubscription,
    Subscription,
    SubscriptionRow,
    UpdatedSubscription,
    UpdateSubscription,
)
from gatewayd.webhooks.subscribers.time_range import RETENTION_DAYS, TimeRange
from gatewayd.webhooks.subscribers.validation import event_errors, url_errors

MAX_PER_ORGANIZATION: Final = 50  # Chosen
MISSED_COUNTED: Final = 1000  # Chosen: enough to say that there is something to recover
FOR_AN_OWNER: Final[tuple[DisabledReason, ...]] = ("maker_left", "restored")
"""What an owner alone ends the wait for: nobody has said since that the receiver is still to be told."""
DISABLE_AFTER: Final = WebhookSettings().disable_after
ROTATION_OVERLAP: Final = 24 * HOUR  # Chosen: the old secret signs on for a day


def _disables_at(tx: ReadTx, row: SubscriptionRow) -> Instant | None:
    """When failing on will disable it, once the operator was warned of that."""
    if not row.enabled or row.failing_told_at is None or row.failing_since is None:
        return None
    return Instant(row.failing_since + DISABLE_AFTER)


SUBSCRIPTIONS: Final = RemovableTable(
    "webhook_subscriptions",
    SubscriptionRow,
    kind="subscription",
    prefix="wsub",
    derived={"disables_at": _disables_at},
)
_COUNT = "SELECT COUNT(*) FROM webhook_subscriptions WHERE org_id = :org_id"
_AT_ADDRESS = "WHERE org_id = :org_id AND id = :id AND url = :url AND enabled = 1"
_DISABLE = f"""
UPDATE webhook_subscriptions SET enabled = 0, disabled_reason = :reason, disabled_at = :now, updated_at = :updated_at,
    version = version + 1
{_AT_ADDRESS} AND (CAST(:failing_upto AS BIGINT) IS NULL OR failing_since <= :failing_upto)
"""
# Chosen: what is recorded of a receiver's health is no change that a caller's `expectedVersion` could run into.
_MARK_FAILING = f"""
UPDATE webhook_subscriptions SET failing_since = :at, updated_at = :updated_at
{_AT_ADDRESS} AND (failing_since IS NULL OR failing_since > :at)
"""
_MARK_WARNED = f"""
UPDATE webhook_subscriptions SET failing_told_at = :at, updated_at = :updated_at
{_AT_ADDRESS} AND failing_since IS NOT NULL AND failing_told_at IS NULL
"""
_CLEAR_FAILING = f"""
UPDATE webhook_subscriptions SET failing_since = NULL, failing_told_at = NULL, updated_at = :updated_at
{_AT_ADDRESS}
"""


def list_subscriptions(tx: ReadTx, caller: Caller, request: ListSubscriptions) -> Listing[Subscription]:
    """List webhook subscriptions; secrets are never in it."""

    def render(row: Row) -> bytes:
        return encode(Subscription(**_shown(SUBSCRIPTIONS.read(tx, row), tx.now)))

    filters = {
        "enabled = 1": request.enabled or None,
        "enabled = 0": True if request.enabled is False else None,
        "external_id = :external_id": request.external_id,
    }
    return sync_page(tx, request, Source(SUBSCRIPTIONS, [SUBSCRIPTIONS.select]), filters, render)


def get_subscription(tx: ReadTx, caller: Caller, request: GetSubscription) -> Subscription:
    """Get one webhook subscription; its secret is never in it."""
    return Subscription(**_shown(SUBSCRIPTIONS.get(tx, request.id), tx.now))


def create_subscription(
    tx: WriteTx, caller: Caller, request: CreateSubscription, *, policy: Policy
) -> CreatedSubscription:
    """Create a webhook subscription. The answer holds the signing secret, which is not shown again."""
    errors = [*url_errors(request.url, policy), *event_errors(request.events)]
    if errors:
        raise invalid(*errors)
    if tx.value(_COUNT) >= MAX_PER_ORGANIZATION:
        raise Problem("limit_reached", f"An organization has at most {MAX_PER_ORGANIZATION} webhook subscriptions.")
    secret = new_secret(secrets.token_bytes)
    row = SUBSCRIPTIONS.new(
        tx,
        request,
        events=_unique(request.events),
        enabled=True,
        secret_prefix=secret_prefix(secret),
        user_id=caller.user_id,
        created_by=caller.reference,
    )
    row = SUBSCRIPTIONS.insert(tx, replace(row, secret_sealed=tx.seal(secret, secret_context(row.id))))
    return CreatedSubscription(**_shown(row, tx.now), secret=secret)


def update_subscription(
    tx: WriteTx, caller: Caller, request: UpdateSubscription, *, policy: Policy, retention_days: int = RETENTION_DAYS
) -> UpdatedSubscription:
    """Change a webhook subscription. While it is disabled its deliveries wait; enabling it sends them.

    An owner alone enables what waits for one: `disabledReason` `maker_left` or `restored`.
    """
    before = SUBSCRIPTIONS.get(tx, request.id, request.expected_version)
    after, secret = _apply(tx, before, request, policy)
    if after.enabled and before.disabled_reason in FOR_AN_OWNER:
        if caller.role != "owner":
            raise Problem("forbidden", "An owner of the organization alone enables this subscription again.")
        after = replace(after, user_id=caller.user_id)
    missed: dict[str, Any] = {}
    if after != before:
        if after.enabled and not before.enabled:
            missed = _missed_fields(tx, before, after.events, retention_days)
            tx.announce(TOPIC)
        after = SUBSCRIPTIONS.update(tx, after)
    return UpdatedSubscription(**_shown(after, tx.now), secret=secret, **missed)


def remove_subscription(tx: WriteTx, caller: Caller, request: RemoveSubscription) -> Removed:
    """Delete a webhook subscription and cancel its pending deliveries."""
    stored = SUBSCRIPTIONS.get(tx, request.id, request.expected_version)
    SUBSCRIPTIONS.delete(tx, stored.id)
    delivery_queue.cancel_pending(tx, tx.org_id, stored.id)
    tx.announce(TOPIC)  # where more wait than one transaction cancels, the dispatcher goes on with it
    return Removed(id=stored.id, deleted=True)


def replace_lost_secret(tx: WriteTx, subscription_id: str) -> None:
    """Put a secret that nobody knows in the place of one that does not open with the instance key.

    Chosen: the subscription is disabled, for its receiver would refuse what is signed with it. What happens meanwhile
    can be recovered, and `rotateSecret` tells the caller a secret that they can use.
    """
    stored, secret = SUBSCRIPTIONS.get(tx, subscription_id), new_secret(secrets.token_bytes)
    changes: dict[str, Any] = {
        "secret_sealed": tx.seal(secret, secret_context(stored.id)),
        "secret_prefix": secret_prefix(secret),
        "previous_secret_sealed": None,
        "previous_secret_expires_at": None,
    }
    if stored.enabled:
        changes |= {"enabled": False, "disabled_reason": "caller", "disabled_at": tx.now}
        changes |= {"failing_since": None, "failing_told_at": None}
    SUBSCRIPTIONS.update(tx, replace(stored, **changes))


def end_lost_rotation(tx: WriteTx, subscription_id: str) -> None:
    """Give up the secret of before a rotation: the new one signs alone."""
    stored = SUBSCRIPTIONS.get(tx, subscription_id)
    SUBSCRIPTIONS.update(tx, replace(stored, previous_secret_sealed=None, previous_secret_expires_at=None))


def disable(tx: WriteTx, address: Address, reason: DisabledReason, failing_upto: Instant | None = None) -> bool:
    """Disable a subscription; with `failing_upto` only if it has been failing since that instant or longer.

    False where it has not, or where the subscription was changed meanwhile.
    """
    values = {"reason": reason, "failing_upto": failing_upto, "updated_at": tx.updated_at}
    return tx.run(_DISABLE, **address._asdict(), **values) == 1


def mark_failing(tx: WriteTx, address: Address, at: Instant) -> None:
    """Record the first failed attempt after a success; later ones change nothing."""
    tx.run(_MARK_FAILING, **address._asdict(), at=at, updated_at=tx.updated_at)


def mark_warned(tx: WriteTx, address: Address, at: Instant) -> bool:
    """Record that the operator is told now; False where that was done before, or the receiver no longer fails."""
    return tx.run(_MARK_WARNED, **address._asdict(), at=at, updated_at=tx.updated_at) == 1


def clear_failing(tx: WriteTx, address: Address) -> None:
    """Record that an attempt succeeded."""
    tx.run(_CLEAR_FAILING, **address._asdict(), updated_at=tx.updated_at)


def check_enabled(stored: SubscriptionRow) -> None:
    """Raises `Problem` `invalid_state` for a subscription to which nothing is sent."""
    if not stored.enabled:
        why = f"The subscription is disabled ({stored.disabled_reason}): enable it first, with `webhooks.update`."
        raise invalid_state(why, "disabled", ("enabled",))


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
        changes["events"] = _unique(request.events)
    if errors:
        raise invalid(*errors)
    if request.enabled is not UNSET and request.enabled != stored.enabled:
        changes["enabled"] = request.enabled
        changes["disabled_reason"] = None if request.enabled else "caller"
        changes["disabled_at"] = None if request.enabled else tx.now
        changes["failing_since"] = changes["failing_told_at"] = None
    if request.external_id is not UNSET:
        changes["external_id"] = request.external_id
    secret: str | UnsetType = UNSET
    if request.rotate_secret:
        secret = new_secret(secrets.token_bytes)
        changes["secret_sealed"] = tx.seal(secret, secret_context(stored.id))
        changes["secret_prefix"] = secret_prefix(secret)
        changes["previous_secret_sealed"] = stored.secret_sealed
        changes["previous_secret_expires_at"] = Instant(tx.now + ROTATION_OVERLAP)
    if request.end_rotation:
        changes["previous_secret_sealed"] = changes["previous_secret_expires_at"] = None
    return replace(stored, **changes), secret


def _missed_fields(tx: ReadTx, was: SubscriptionRow, events: list[str], retention_days: int) -> dict[str, Any]:
    """What a subscription that was disabled until now did not get."""
    since = Instant(min(at for at in (was.disabled_at, was.failing_since, tx.now) if at is not None))
    time_range = TimeRange(since).within_retention(tx.now, retention_days)
    found, _ = missed_events.search(tx, missed_events.MissedSearch(was.id, time_range, events))
    return {"missed": min(len(found), MISSED_COUNTED), "missed_since": time_range.since}


def _unique(kinds: list[str]) -> list[str]:
    return list(dict.fromkeys(kinds))


def _shown(row: SubscriptionRow, now: Instant) -> dict[str, Any]:
    """The fields of the response: a secret that no longer signs is not told of."""
    fields: dict[str, Any] = {name: getattr(row, name) for name in Subscription.__struct_fields__}
    if row.previous_secret_expires_at is not None and row.previous_secret_expires_at <= now:
        fields["previous_secret_expires_at"] = None
    return fields


OPERATIONS = (
    Operation(
        id="webhooks.list",
        kind="read",
        method="GET",
        path="/webhooks/subscriptions",
        scopes=("webhooks:read",),
        request=ListSubscriptions,
        response=SyncPage[Subscription],
        handler=list_subscriptions,
        example={"limit": 50},
    ),
    Operation(
        id="webhooks.get",
        kind="read",
        method="GET",
        path="/webhooks/subscriptions/:id",
        scopes=("webhooks:read",),
        request=GetSubscription,
        response=Subscription,
        handler=get_subscription,
        extension=True,
        example={"id": "wsub_01k0000000000000000000000a"},
    ),
    Operation(
        id="webhooks.create",
        kind="write",
        method="POST",
        path="/webhooks/subscriptions",
        scopes=("webhooks:write",),
        request=CreateSubscription,
        response=CreatedSubscription,
        handler=AT_CATALOGUE,
        errors=("already_exists", "limit_reached"),
        secret=True,
        example={"url": "https://crm.oakandson.example/hooks", "events": ["lead.created", "opportunity.stage_changed"]},
    ),
    Operation(
        id="webhooks.update",
        kind="write",
        method="POST",
        path="/webhooks/subscriptions/update",
        scopes=("webhooks:write",),
        request=UpdateSubscription,
        response=UpdatedSubscription,
        handler=AT_CATALOGUE,
        errors=("already_exists", "version_conflict", "forbidden"),
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
        errors=("version_conflict",),
        example={"id": "wsub_01k0000000000000000000000a"},
    ),
)
