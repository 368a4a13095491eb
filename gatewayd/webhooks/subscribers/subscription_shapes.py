"""Webhook subscriptions as they cross the wire (Spec §2, §4 Webhooks)."""

from typing import Annotated, Literal

from msgspec import UNSET, Meta, UnsetType

from gatewayd.clock import Instant
from gatewayd.contract.pages import SyncRequest
from gatewayd.contract.updates import updates
from gatewayd.contract.wire import ExternalId, Id, Request, Response, Timestamp, Version
from gatewayd.webhooks.subscribers.validation import EventName, Events, SubscriptionRequest, Url

DisabledReason = Literal["caller", "receiver_gone", "failing", "maker_left", "restored"]


class Subscription(Response, frozen=True, kw_only=True):
    """Who is told of which events."""

    id: Id
    external_id: str | None
    url: str
    """Where events are posted."""
    events: Annotated[list[EventName], Meta(extra={"words": True})]
    """The kinds of events that are sent."""
    enabled: bool
    """False: nothing is sent. What is queued waits, and events that happen meanwhile are not queued."""
    disabled_reason: DisabledReason | None
    """`caller`: somebody disabled it; `receiver_gone`: the receiver answered 410; `failing`: five days of nothing but
    failures; `maker_left`: whoever made it was removed; `restored`: a backup was restored. After the last two an owner
    alone enables it, whose it is from then on. Null: it is enabled."""
    disabled_at: Timestamp | None
    """When it was disabled. Null: it is enabled."""
    failing_since: Timestamp | None
    """The first failed attempt after the last success, or after its URL was changed. Null: there was none."""
    disables_at: Timestamp | None
    """When further failures will disable it, once half of that time is over. Null: that is not foreseen."""
    secret_prefix: str
    """How its signing secret begins, to tell which one it is."""
    previous_secret_expires_at: Timestamp | None
    """Until when the secret before the last rotation signs too. Null: the present one signs alone."""
    created_by: str
    """The user who made it, else the credential; `operator`: whoever runs the server."""
    created_at: Timestamp
    updated_at: Timestamp
    version: int


class SubscriptionRow(Subscription, frozen=True, kw_only=True):
    """A subscription as it is stored: with its encrypted secrets, and when the operator was told that it fails.

    `user_id` is with whose membership it ends; None: with nobody's.
    """

    user_id: str | None
    failing_told_at: Instant | None
    secret_sealed: bytes
    previous_secret_sealed: bytes | None


class CreatedSubscription(Subscription, frozen=True, kw_only=True):
    """A new subscription, with the signing secret that is shown this once (Spec §2)."""

    secret: str
    """The signing secret; it is shown this once."""


class UpdatedSubscription(Subscription, frozen=True, kw_only=True):
    """The subscription as it now is."""

    secret: str | UnsetType = UNSET
    """The new signing secret, shown this once. Absent unless `rotateSecret` was given."""
    missed: int | UnsetType = UNSET
    """How many events since `missedSince` did not arrive, at most 1,000: `webhooks.recover` sends them. Absent unless
    it was enabled again."""
    missed_since: Timestamp | UnsetType = UNSET
    """From when on `missed` counts. Absent unless it was enabled again."""


class Removed(Response, frozen=True, kw_only=True):
    """What was deleted."""

    id: Id
    deleted: Literal[True]
    """Always true."""


class ListSubscriptions(SyncRequest, frozen=True, kw_only=True):
    """Filters of the list."""

    external_id: ExternalId | None = None
    enabled: bool | None = None
    """True: only those that events are sent to; false: only those that are disabled."""


class GetSubscription(Request, frozen=True, kw_only=True):
    """Which subscription."""

    id: Id


class CreateSubscription(Request, frozen=True, kw_only=True):
    """A new subscription."""

    url: Url
    events: Events
    external_id: ExternalId | None = None


@updates(CreateSubscription, of=Subscription)
class UpdateSubscription(SubscriptionRequest, frozen=True, kw_only=True):
    """The fields to change.

    `rotateSecret` makes a new secret and answers it; the old one signs for 24 hours more, beside the new one.
    `endRotation` drops the old one at once, of this rotation or the last.
    """

    url: Url | UnsetType = UNSET
    events: Events | UnsetType = UNSET
    enabled: bool | UnsetType = UNSET
    external_id: ExternalId | UnsetType | None = UNSET
    rotate_secret: bool = False
    """Whether to make a new secret and answer it; the old one signs beside it for 24 hours more."""
    end_rotation: bool = False
    """Whether to drop the old secret at once, of this rotation or the last."""
    expected_version: Version | None = None


class RemoveSubscription(SubscriptionRequest, frozen=True, kw_only=True):
    """Which subscription."""

    expected_version: Version | None = None
