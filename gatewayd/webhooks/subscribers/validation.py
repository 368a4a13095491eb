"""Validation of what requests name: a subscription, event kinds, the URL of a receiver."""

import difflib
from collections.abc import Collection, Sequence
from ipaddress import IPv4Address
from typing import Annotated, ClassVar, Final

from msgspec import Meta

from gatewayd.contract.wire import Id, Request
from gatewayd.errors import FieldError
from gatewayd.events import EVENT_KINDS, WILDCARDS
from gatewayd.outbound.addresses import IPAddress, refusal, unmapped
from gatewayd.outbound.errors import TargetError
from gatewayd.outbound.targets import parse_target
from gatewayd.outbound.transport import Policy

MOST_NAMED: Final = 12  # Chosen: kinds that a message lists
LOOPBACK: Final = IPv4Address("127.0.0.1")  # what `localhost` means everywhere (RFC 6761 §6.3)

NAMES: Final = (*EVENT_KINDS, *WILDCARDS)
EventName = Annotated[
    str,
    Meta(
        description="An event kind, or a pattern that stands for several: `invoice.*` all of a resource, "
        "`accounting.*` all of an area, `*` all there are and those to come. `events.listKinds` tells what each means.",
        examples=["lead.created"],
        extra_json_schema={"enum": list(NAMES)},
    ),
]
KindName = Annotated[str, Meta(title="EventKind", extra_json_schema={"enum": list(EVENT_KINDS)})]
"""What an event is: never a pattern."""
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
    """Root of requests that name a subscription in the body."""

    former_names: ClassVar = {"subscriptionId": "id"}

    id: Id


def names_within(kinds: Collection[str]) -> list[str]:
    """The kinds, and the patterns that stand for none but these."""
    return [*kinds, *(pattern for pattern, names in WILDCARDS.items() if set(kinds).issuperset(names))]


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
        message = "The address is not public: expected a host that the internet can reach, such as hooks.example.com."
        return [FieldError("url", "invalid_url", message)]
    return []


def event_errors(names: Sequence[str], known: Collection[str] = NAMES, path: str = "events") -> list[FieldError]:
    """An error for each kind or pattern that is not `known`, with those that are most like it."""
    return [
        FieldError(f"{path}[{index}]", "unknown_event", unknown_event(name, known))
        for index, name in enumerate(names)
        if name not in known
    ]


def unknown_event(name: str, known: Collection[str]) -> str:
    """What is said of a kind that is not known: all that are, where they are few, else those most like it."""
    if len(known) <= MOST_NAMED:
        return f"{name!r} is none of its event kinds. Use one of: {', '.join(known)}."
    close = difflib.get_close_matches(name, known, n=3)
    likely = f" Did you mean {' or '.join(close)}?" if close else ""
    return f"There is no event kind {name[:64]!r}.{likely} GET /events/kinds lists them all."
