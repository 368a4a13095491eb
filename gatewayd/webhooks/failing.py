"""What an ended attempt means for its subscription: gone, failing since when, told of it, switched off.

The claim carries what the subscription's row said, so that a success after a success asks nothing of the database.
What ended on our side says nothing about the receiver.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from gatewayd.clock import Instant
from gatewayd.store import WriteTx
from gatewayd.webhooks import subscriptions
from gatewayd.webhooks.claims import Claim
from gatewayd.webhooks.settings import WebhookSettings

GONE: Final = "the receiver answered 410"
FAILING: Final = "nothing but failures"


class Sign(StrEnum):
    """What an attempt says about its receiver."""

    WELL = "well"
    FAILED = "failed"
    EXHAUSTED = "exhausted"  # it failed, and the delivery has no attempt left
    GONE = "gone"
    NOTHING = "nothing"  # it ended on our side


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """What the operator is told once it is durable. `reason` None: it was not switched off, but will be."""

    claim: Claim
    reason: str | None
    failing_since: Instant | None = None
    disabled_at: Instant | None = None  # when it will be, if nothing succeeds until then


def note(tx: WriteTx, claim: Claim, sign: Sign, settings: WebhookSettings, at: Instant) -> Notice | None:
    """Record at an attempt's end what it says about its receiver."""
    if sign is Sign.NOTHING:
        return None
    if sign is Sign.WELL:
        if claim.failing_since is not None:
            subscriptions.clear_failing(tx, claim.address)
        return None
    if sign is Sign.GONE:
        gone = subscriptions.disable(tx, claim.address, "receiver_gone")
        return Notice(claim=claim, reason=GONE) if gone else None
    return _failed(tx, claim, sign, settings, at)


def _failed(tx: WriteTx, claim: Claim, sign: Sign, settings: WebhookSettings, at: Instant) -> Notice | None:
    since = claim.failing_since
    if since is None or since > at:  # the first one, or noted by a clock that was ahead
        subscriptions.note_failing(tx, claim.address, at)
        return None
    failing_upto = Instant(at - settings.disable_after)
    if sign is Sign.EXHAUSTED and since <= failing_upto:
        disabled = subscriptions.disable(tx, claim.address, "failing", failing_upto)
        return Notice(claim=claim, reason=FAILING, failing_since=since) if disabled else None
    told = claim.failing_told or at - since < settings.tell_after
    if told or not subscriptions.note_told(tx, claim.address, at):
        return None
    disabled_at = Instant(max(at, since + settings.disable_after))
    return Notice(claim=claim, reason=None, failing_since=since, disabled_at=disabled_at)
