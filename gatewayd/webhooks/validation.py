"""Validation of what requests name: a subscription, event kinds, the URL of a receiver."""

from collections.abc import Sequence
from ipaddress import IPv4Address
from typing import Annotated, Final

from msgspec import UNSET, Meta, UnsetType

from gatewayd.contract.wire import Id, Request
from gatewayd.errors import FieldError, invalid_field
from gatewayd.events import EVENT_KINDS
from gatewayd.outbound.addresses import IPAddress, refusal, unmapped
from gatewayd.outbound.errors import TargetError
from gatewayd.outbound.targets import parse_target
from gatewayd.outbound.transport import Policy

LOOPBACK: Final = IPv4Address("127.0.0.1")  # what `localhost` means everywhere (RFC 6761 §6.3)

_OWN: Final = ", ".join(f"`{name}`" for name, kind in EVENT_KINDS.items() if kind.extension)
EventName = Annotated[
    str,
    Meta(
        description=f"An event kind. This service's own are {_OWN}.",
        examples=["lead.created"],
        extra_json_schema={"enum": list(EVENT_KINDS)},
    ),
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


class SubscriptionRequest(Request, frozen=True, kw_only=True):
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


def url_errors(url: str, policy: Policy) -> list[FieldError]:
    """Errors that the URL alone shows; host names are looked up and vetted at each connection."""
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


def event_errors(kinds: Sequence[str], known: Sequence[str] = tuple(EVENT_KINDS)) -> list[FieldError]:
    """An error for each kind that is not `known`."""
    message = f"Use one of: {', '.join(known)}."
    return [FieldError(f"events[{i}]", "unknown_event", message) for i, kind in enumerate(kinds) if kind not in known]
