"""Webhook subscriptions (Spec §2, §4 Webhooks). Owns the table `webhook_subscriptions`.

The signing secret is shown when it is made and never again. A rotation keeps the old one valid beside the new one for
`ROTATION_OVERLAP`, so that a receiver can change over without missing a delivery.
"""

import functools
import secrets
from dataclasses import dataclass, field
from ipaddress import IPv4Address
from typing import Annotated, Any, Final, Literal, NamedTuple

from msgspec import UNSET, Meta, UnsetType

from gatewayd.clock import HOUR, Instant, to_wire
from gatewayd.contract.caller import Caller
from gatewayd.contract.operation import Operation
from gatewayd.contract.pages import Listing, Page, SyncRequest
from gatewayd.contract.wire import Id, Request, Response, Timestamp, Version, encode
from gatewayd.errors import FieldError, Problem, invalid, invalid_field, not_found, version_conflict
from gatewayd.events import EVENT_KINDS, TOPIC
from gatewayd.ledger.lists import sync_page
from gatewayd.outbound.addresses import IPAddress, refusal, unmapped
from gatewayd.outbound.errors import TargetError
from gatewayd.outbound.targets import parse_target
from gatewayd.outbound.transport import Policy
from gatewayd.store import ReadTx, Row, StoreFailure, WriteTx
from gatewayd.webhooks import queue
from gatewayd.webhooks.signature import new_secret, secret_prefix

KIND: Final = "subscription"
MAX_PER_ORGANIZATION: Final = 50  # Chosen
ROTATION_OVERLAP: Final = 24 * HOUR  # Chosen: the old secret signs on for a day
LOOPBACK: Final = IPv4Address("127.0.0.1")  # what `localhost` means everywhere (RFC 6761 §6.3)

EventName = Annotated[
    str, Meta(description="An event kind.", examples=["lead.created"], extra_json_schema={"enum": list(EVENT_KINDS)})
]
Events = Annotated[list[EventName], Meta(min_length=1, max_length=100, description="The event kinds to be sent.")]
Url = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=2048,
        description="Where events are posted: https, without a user name, not a private address.",
        examples=["https://example.com/hooks"],
        extra_json_schema={"format": "uri"},
    ),
]
DisabledReason = Literal["caller", "receiver_gone", "failing"]


class Subscription(Response, frozen=True, kw_only=True):
    """Who is told of which events.

    `disabledReason` is `receiver_gone` after the receiver answered 410, `failing` after five days of nothing but
    failures. `failingSince` is the first failed attempt after the last success.
    """

    id: Id
    url: str
    events: list[EventName]
    enabled: bool
    disabled_reason: DisabledReason | None
    disabled_at: Timestamp | None
    failing_since: Timestamp | None
    secret_prefix: str
    created_by: str
    created_at: Timestamp
    updated_at: Timestamp
    version: int


class CreatedSubscription(Subscription, frozen=True, kw_only=True):
    """A new subscription, with the signing secret that is shown this once (Spec §2)."""

    secret: str


class UpdatedSubscription(Subscription, frozen=True, kw_only=True):
    """The subscription as it now is; the new signing secret is there only in the answer to `rotateSecret`."""

    secret: str | UnsetType = UNSET


class Removed(Response, frozen=True, kw_only=True):
    """What was deleted."""

    id: Id
    deleted: Literal[True]


class ListSubscriptions(SyncRequest, frozen=True, kw_only=True):
    """Paging of the list."""


class CreateSubscription(Request, frozen=True, kw_only=True):
    """A new subscription."""

    url: Url
    events: Events


class Named(Request, frozen=True, kw_only=True):
    """Root of requests that name a subscription in the body: by `id`, or by its alias `subscriptionId`."""

    id: Id | UnsetType = UNSET
    subscription_id: Annotated[Id, Meta(description="The same as `id`.")] | UnsetType = UNSET

    @property
    def target(self) -> str:
        """The id given. Raises `Problem` `validation_failed` when there is none, or two that differ."""
        given = {one for one in (self.id, self.subscription_id) if isinstance(one, str)}
        if len(given) > 1:
            raise invalid_field("subscriptionId", "conflict", "It differs from id: give one of the two.")
        if not given:
            raise invalid_field("id", "required", "This field is needed.")
        return given.pop()


class UpdateSubscription(Named, frozen=True, kw_only=True):
    """The fields to change. `rotateSecret` makes a new secret and answers it; the old one is valid 24 hours more."""

    url: Url | UnsetType = UNSET
    events: Events | UnsetType = UNSET
    enabled: bool | UnsetType = UNSET
    rotate_secret: bool = False
    expected_version: Version | None = None


class RemoveSubscription(Named, frozen=True, kw_only=True):
    """Which subscription."""


class Stored(NamedTuple):
    """A row, as `_COLUMNS` has it."""

    id: str
    updated_at: Instant
    url: str
    events: str
    enabled: int
    disabled_reason: DisabledReason | None
    disabled_at: Instant | None
    failing_since: Instant | None
    secret_sealed: bytes
    secret_prefix: str
    previous_secret_sealed: bytes | None
    previous_secret_expires_at: int | None
    created_by: str
    created_at: Instant
    version: int


@dataclass(frozen=True, slots=True)
class Receiver:
    """Where deliveries go. `secrets` newest first; empty when they do not open with this instance's key."""

    url: str
    enabled: bool
    secrets: tuple[str, ...] = field(repr=False)


_COLUMNS = ", ".join(Stored._fields)
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
    failing_told_at = CASE WHEN :failing_since IS NULL THEN NULL ELSE failing_told_at END,
    secret_sealed = :secret_sealed, secret_prefix = :secret_prefix, previous_secret_sealed = :previous_secret_sealed,
    previous_secret_expires_at = :previous_secret_expires_at, updated_at = :now, version = version + 1
WHERE org_id = :org_id AND id = :id
"""
_DISABLE_GONE = """
UPDATE webhook_subscriptions SET enabled = 0, disabled_reason = 'receiver_gone', disabled_at = :now,
    updated_at = :now, version = version + 1
WHERE org_id = :org_id AND id = :id AND url = :url AND enabled = 1
"""
_SELECT_RECEIVER = """
SELECT url, enabled, secret_sealed, previous_secret_sealed, previous_secret_expires_at FROM webhook_subscriptions
WHERE org_id = :org_id AND id = :id
"""
_SELECT_ORGANIZATION = "SELECT org_id FROM webhook_subscriptions WHERE id = :id"
_DELETE = "DELETE FROM webhook_subscriptions WHERE org_id = :org_id AND id = :id"


def list_subscriptions(tx: ReadTx, caller: Caller, request: ListSubscriptions) -> Listing:
    """List webhook subscriptions; secrets are never in it."""
    return sync_page(tx, request, _SELECT_PAGE, {}, _item)


def create_subscription(
    tx: WriteTx, caller: Caller, request: CreateSubscription, *, policy: Policy
) -> CreatedSubscription:
    """Create a webhook subscription. The answer holds the signing secret, which is not shown again."""
    errors = [*_url_errors(request.url, policy), *_event_errors(request.events)]
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
        events=_joined(request.events),
        secret_sealed=tx.seal(secret, secret_context(subscription_id)),
        secret_prefix=secret_prefix(secret),
        created_by=caller.reference,
    )
    stored = _stored(tx, subscription_id)
    return CreatedSubscription(**_shown(stored), secret=secret)


def update_subscription(
    tx: WriteTx, caller: Caller, request: UpdateSubscription, *, policy: Policy
) -> UpdatedSubscription:
    """Change a webhook subscription. While it is disabled its deliveries wait; enabling it sends them."""
    stored = _stored(tx, request.target)
    if request.expected_version is not None and request.expected_version != stored.version:
        raise version_conflict(request.expected_version, stored.version)
    changed, secret = _changed(tx, stored, request, policy)
    if changed != stored:
        tx.run(_UPDATE, **changed._asdict())
        if changed.enabled and not stored.enabled:
            tx.announce(TOPIC)
        changed = _stored(tx, stored.id)
    return UpdatedSubscription(**_shown(changed), secret=secret)


def remove_subscription(tx: WriteTx, caller: Caller, request: RemoveSubscription) -> Removed:
    """Delete a webhook subscription and cancel its pending deliveries."""
    stored = _stored(tx, request.target)
    tx.run(_DELETE, id=stored.id)
    queue.cancel_pending(tx, tx.org_id, stored.id)
    tx.announce(TOPIC)  # where more wait than one transaction cancels, the dispatcher goes on with it
    return Removed(id=stored.id, deleted=True)


def disable_gone(tx: WriteTx, org_id: str, subscription_id: str, url: str) -> bool:
    """Switch off a subscription whose receiver at `url` is gone for good; False where it was changed meanwhile."""
    return tx.run(_DISABLE_GONE, org_id=org_id, id=subscription_id, url=url) == 1


def receiver(tx: ReadTx, org_id: str, subscription_id: str, at: Instant) -> Receiver | None:
    """Who gets the deliveries of a subscription at that instant; None when it was deleted."""
    row = tx.row(_SELECT_RECEIVER, org_id=org_id, id=subscription_id)
    if row is None:
        return None
    url, enabled, sealed, previous, previous_expires_at = row
    live = [sealed] if previous is None or previous_expires_at <= at else [sealed, previous]
    try:
        opened = tuple([tx.unseal(one, secret_context(subscription_id)) for one in live])
    except StoreFailure:
        opened = ()  # another instance key: its attempts fail and say so, the other subscriptions go on
    return Receiver(url, bool(enabled), opened)


def org_of(tx: ReadTx, subscription_id: str) -> str:
    """The organization of a subscription, for the operator. Raises `Problem` `not_found`."""
    org_id = tx.value(_SELECT_ORGANIZATION, id=subscription_id)
    if org_id is None:
        raise not_found(KIND)
    return str(org_id)


def secret_context(subscription_id: str) -> str:
    """What the secrets of a subscription are sealed under."""
    return f"webhook_subscriptions.secret:{subscription_id}"


def _stored(tx: ReadTx, subscription_id: str) -> Stored:
    row = tx.row(_SELECT_ONE, id=subscription_id)
    if row is None:
        raise not_found(KIND)
    return Stored(*row)


def _changed(
    tx: WriteTx, stored: Stored, request: UpdateSubscription, policy: Policy
) -> tuple[Stored, str | UnsetType]:
    """The row as the request wants it, and the new secret if it asks for one."""
    errors: list[FieldError] = []
    changes: dict[str, Any] = {}
    if request.url is not UNSET:
        errors += _url_errors(request.url, policy)
        changes["url"] = request.url
    if request.events is not UNSET:
        errors += _event_errors(request.events)
        changes["events"] = _joined(request.events)
    if errors:
        raise invalid(*errors)
    if request.enabled is not UNSET and request.enabled != bool(stored.enabled):
        changes["enabled"] = int(request.enabled)
        changes["disabled_reason"] = None if request.enabled else "caller"
        changes["disabled_at"] = None if request.enabled else tx.now
        changes["failing_since"] = None
    if not request.rotate_secret:
        return stored._replace(**changes), UNSET
    secret = new_secret(secrets.token_bytes)
    changes["secret_sealed"] = tx.seal(secret, secret_context(stored.id))
    changes["secret_prefix"] = secret_prefix(secret)
    changes["previous_secret_sealed"] = stored.secret_sealed
    changes["previous_secret_expires_at"] = tx.now + ROTATION_OVERLAP
    return stored._replace(**changes), secret


def _url_errors(url: str, policy: Policy) -> list[FieldError]:
    """Names are looked up and vetted at each connection; what can be told from the URL alone is told here."""
    try:
        target = parse_target(url, allow_http=policy.allow_http)
    except TargetError as error:
        return [FieldError("url", "invalid_url", error.detail)]
    address: IPAddress | None = target.address
    if address is None and (target.host == "localhost" or target.host.endswith(".localhost")):
        address = LOOPBACK
    if address is not None and refusal(unmapped(address), policy.allow_networks) is not None:
        return [FieldError("url", "invalid_url", "The address is not public.")]
    return []


def _event_errors(names: list[str]) -> list[FieldError]:
    message = f"Use one of: {', '.join(EVENT_KINDS)}."
    return [
        FieldError(f"events[{i}]", "unknown_event", message) for i, name in enumerate(names) if name not in EVENT_KINDS
    ]


def _joined(names: list[str]) -> str:
    return " ".join(dict.fromkeys(names))


def _shown(stored: Stored) -> dict[str, Any]:
    return {
        "id": stored.id,
        "url": stored.url,
        "events": stored.events.split(" "),
        "enabled": bool(stored.enabled),
        "disabled_reason": stored.disabled_reason,
        "disabled_at": None if stored.disabled_at is None else to_wire(stored.disabled_at),
        "failing_since": None if stored.failing_since is None else to_wire(stored.failing_since),
        "secret_prefix": stored.secret_prefix,
        "created_by": stored.created_by,
        "created_at": to_wire(stored.created_at),
        "updated_at": to_wire(stored.updated_at),
        "version": stored.version,
    }


def _item(row: Row) -> bytes:
    return encode(Subscription(**_shown(Stored(*row))))


def operations(policy: Policy) -> tuple[Operation, ...]:
    """The rows; `policy` says which URLs may receive."""
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
            handler=functools.partial(update_subscription, policy=policy),
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
