"""Webhook subscriptions as they cross the wire (Spec §2, §4 Webhooks)."""

from typing import Annotated, Literal

from msgspec import UNSET, Meta, UnsetType

from gatewayd.clock import Instant
from gatewayd.contract.pages import SyncRequest
from gatewayd.contract.wire import Id, Request, Response, Timestamp, Version
from gatewayd.webhooks.validation import EventName, Events, SubscriptionRequest, Url

DisabledReason = Literal["caller", "receiver_gone", "failing", "maker_left", "restored"]


class Subscription(Response, frozen=True, kw_only=True):
    """Who is told of which events.

    `disabledReason` is `receiver_gone` after the receiver answered 410, `failing` after five days of nothing but
    failures, `maker_left` after whoever made it was removed, `restored` after a backup was restored: of these two an
    owner alone enables it again, whose it is from then on. `failingSince` is the first failed attempt after the last
    success; `disablesAt`, once it is foreseeable, when that will disable it. Until `previousSecretExpiresAt` the secret
    before the last rotation signs too.
    """

    id: Id
    url: str
    events: Annotated[list[EventName], Meta(extra={"words": True})]
    enabled: bool
    disabled_reason: DisabledReason | None
    disabled_at: Timestamp | None
    failing_since: Timestamp | None
    disables_at: Timestamp | None
    secret_prefix: str
    previous_secret_expires_at: Timestamp | None
    created_by: str
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


class UpdatedSubscription(Subscription, frozen=True, kw_only=True):
    """The subscription as it now is; the new signing secret is there only in the answer to `rotateSecret`.

    Where it was enabled again, `missed` counts the events since `missedSince` that did not arrive, at most 1,000:
    `webhooks.recover` sends them.
    """

    secret: str | UnsetType = UNSET
    missed: int | UnsetType = UNSET
    missed_since: Timestamp | UnsetType = UNSET


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


class UpdateSubscription(SubscriptionRequest, frozen=True, kw_only=True):
    """The fields to change.

    `rotateSecret` makes a new secret and answers it; the old one signs for 24 hours more, beside the new one.
    `endRotation` drops the old one at once, of this rotation or the last.
    """

    url: Url | UnsetType = UNSET
    events: Events | UnsetType = UNSET
    enabled: bool | UnsetType = UNSET
    rotate_secret: bool = False
    end_rotation: bool = False
    expected_version: Version | None = None


class RemoveSubscription(SubscriptionRequest, frozen=True, kw_only=True):
    """Which subscription."""
