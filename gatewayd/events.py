"""The outbox: what happened, written with the change itself, and one delivery for each subscription that wants it.

An event, its deliveries and the change behind it are one transaction: no crash can leave one of them without the
others. An event nobody subscribed to is stored too: a subscription may ask for it later. Only this file inserts into
`deliveries`; only `webhooks/delivery_queue.py` updates them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Generic, NamedTuple, TypeVar

import msgspec

from gatewayd.clock import Instant, to_wire
from gatewayd.contract.wire import Timestamp, encode
from gatewayd.errors import invalid_field
from gatewayd.store import WriteTx

TOPIC: Final = "deliveries"
"""Announced when there are new deliveries to send."""

D = TypeVar("D")


class EventData(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Root of the events' data. snake_case on the wire, as Spec §2 writes `lead_id`."""


class LeadCreated(EventData, frozen=True, kw_only=True):
    """A new lead was created in the CRM (Spec §2, §6)."""

    lead_id: str
    source: str
    status: str


class OpportunityStageChanged(EventData, frozen=True, kw_only=True):
    """An opportunity moved to a different pipeline stage (Spec §6)."""

    # Chosen: Spec §6 does not show the fields.
    opportunity_id: str
    pipeline_id: str
    from_stage: str
    to_stage: str
    changed_by: str
    lead_id: str | None


class ObligationDue(EventData, frozen=True, kw_only=True):
    """Something is due. Dates are London's; `days_until_due` is negative once the day has passed."""

    obligation_id: str
    kind: str
    legal_entity_id: str
    business_id: str | None
    period_start_date: str
    period_end_date: str
    due_date: str
    days_until_due: int
    confidence: str


class CertificateExpiring(EventData, frozen=True, kw_only=True):
    """A certificate of a property is about to expire. Dates are London's."""

    certificate_id: str
    type: str
    property_id: str
    unit_id: str | None
    business_id: str
    expiry_date: str
    days_until_expiry: int


class TenancyEnding(EventData, frozen=True, kw_only=True):
    """A tenancy is about to end, or a notice expires, or its term is over. Dates are London's.

    `notice_by` null: without a notice, on the day agreed, or of a notice of which nobody said whose it is. `continues`:
    after `end_date` it goes on until somebody leaves, as it does past a landlord's notice on a home.
    """

    tenancy_id: str
    property_id: str
    unit_id: str | None
    business_id: str
    end_date: str
    days_until_end: int
    notice_by: str | None
    continues: bool


class RentOverdue(EventData, frozen=True, kw_only=True):
    """Rent was due and has not come. `arrears` is all that the tenancy owes, a decimal string of `currency`."""

    tenancy_id: str
    property_id: str
    unit_id: str | None
    business_id: str
    due_date: str
    days_overdue: int
    arrears: str
    currency: str


class CreditsLow(EventData, frozen=True, kw_only=True):
    """Credits run low under the organization's plan. Both amounts are decimal strings, of credits."""

    plan_id: str
    balance: str
    included_credits: str


class FormSubmitted(EventData, frozen=True, kw_only=True):
    """Reserved for forms (Spec §6): may be subscribed to, and is not sent yet."""

    # Chosen: the least that a form's event can say; nothing fires it.
    form_id: str
    submission_id: str


class EventBody(msgspec.Struct, Generic[D], frozen=True, kw_only=True, rename="camel"):
    """What a receiver gets: the bytes are the same in every attempt of one delivery, and of its replays (Spec §2).

    `id` is the first delivery's, so that a receiver recognises what it is sent again (Spec §6). `sentAt` is the instant
    of the event, also where it is sent again later: the signature says when an attempt is made.
    """

    id: str
    event: str
    data: D
    sent_at: Timestamp


@dataclass(frozen=True, slots=True, kw_only=True)
class EventKind:
    """One row of the table of events.

    `fired` is False for a kind that is only reserved; `extension` kinds are not in the specification.
    """

    name: str
    meaning: str
    data: type[EventData]
    sample: EventData
    fired: bool = True
    extension: bool = False


_OBLIGATION: Final = ObligationDue(
    obligation_id="obl_01kaqg1r00n2p3q4r5s6t7v8w9",
    kind="vat_return",
    legal_entity_id="ent_01kaqe0000a1b2c3d4e5f6g7h8",
    business_id=None,
    period_start_date="2026-07-01",
    period_end_date="2026-09-30",
    due_date="2026-11-07",
    days_until_due=14,
    confidence="confirmed",
)

_KINDS: Final = (
    EventKind(
        name="lead.created",
        meaning="A new lead is created in the CRM.",
        data=LeadCreated,
        sample=LeadCreated(lead_id="lead_01kaqf6m40a1b2c3d4e5f6g7h8", source="website", status="new"),
    ),
    EventKind(
        name="opportunity.stage_changed",
        meaning="An opportunity moves to a different pipeline stage.",
        data=OpportunityStageChanged,
        sample=OpportunityStageChanged(
            opportunity_id="opp_01kaqf7t80m9n8p7q6r5s4t3v2",
            pipeline_id="default",
            from_stage="proposal",
            to_stage="won",
            changed_by="usr_01kaqexz00w1x2y3z4a5b6c7d8",
            lead_id="lead_01kaqf6m40a1b2c3d4e5f6g7h8",
        ),
    ),
    EventKind(
        name="form.submitted",
        meaning="Reserved for a future forms feature. Subscribing is accepted, but no events are delivered yet.",
        data=FormSubmitted,
        sample=FormSubmitted(form_id="form_contact", submission_id="sub_01kaqf9v00e1f2g3h4j5k6m7n8"),
        fired=False,
    ),
    EventKind(
        name="obligation.due_soon",
        meaning="An open obligation is due within `obligations.due_soon_days`, 14 by default. Once for a due date.",
        data=ObligationDue,
        sample=_OBLIGATION,
        extension=True,
    ),
    EventKind(
        name="obligation.overdue",
        meaning="The due date of an open obligation has passed in London. Once for a due date.",
        data=ObligationDue,
        sample=msgspec.structs.replace(_OBLIGATION, days_until_due=-1),
        extension=True,
    ),
    EventKind(
        name="certificate.expiring",
        meaning="The certificate of a property that is let expires within 60 days. Once for an expiry date.",
        data=CertificateExpiring,
        sample=CertificateExpiring(
            certificate_id="cert_01kaqg2m80a1b2c3d4e5f6g7h8",
            type="gas_safety",
            property_id="prop_01kaqg2b40n2p3q4r5s6t7v8w9",
            unit_id=None,
            business_id="biz_01kaqe1m40w1x2y3z4a5b6c7d8",
            expiry_date="2027-01-19",
            days_until_expiry=60,
        ),
        extension=True,
    ),
    EventKind(
        name="tenancy.ending",
        meaning="A tenancy or its term ends, or a notice expires, within 60 days. Once for a date.",
        data=TenancyEnding,
        sample=TenancyEnding(
            tenancy_id="tcy_01kaqg3a00m9n8p7q6r5s4t3v2",
            property_id="prop_01kaqg2b40n2p3q4r5s6t7v8w9",
            unit_id=None,
            business_id="biz_01kaqe1m40w1x2y3z4a5b6c7d8",
            end_date="2027-01-19",
            days_until_end=60,
            notice_by="tenant",
            continues=False,
        ),
        extension=True,
    ),
    EventKind(
        name="rent.overdue",
        meaning="Rent that was due has not been received by the day after. Once for a due date.",
        data=RentOverdue,
        sample=RentOverdue(
            tenancy_id="tcy_01kaqg3a00m9n8p7q6r5s4t3v2",
            property_id="prop_01kaqg2b40n2p3q4r5s6t7v8w9",
            unit_id=None,
            business_id="biz_01kaqe1m40w1x2y3z4a5b6c7d8",
            due_date="2026-11-01",
            days_overdue=1,
            arrears="950.00",
            currency="GBP",
        ),
        extension=True,
    ),
    EventKind(
        name="credits.low",
        meaning="Less than a tenth of what the plan includes each month is left, or nothing. Once each time.",
        data=CreditsLow,
        sample=CreditsLow(plan_id="plan_01kaqg4b00a1b2c3d4e5f6g7h8", balance="18.5", included_credits="200"),
        extension=True,
    ),
)
EVENT_KINDS: Final[Mapping[str, EventKind]] = {kind.name: kind for kind in _KINDS}
"""The closed set of event kinds (Spec §6), in its order, and behind them this service's own."""


class NewDelivery(NamedTuple):
    """A delivery to be inserted for a recorded event.

    `replayed_from`: the one it repeats, None: it is the first; `original_id`: the first of those that were repeated.
    """

    event_id: str
    kind: str
    due_at: Instant
    replayed_from: str | None = None
    original_id: str | None = None
    test: int = 0


_INSERT_EVENT = """
INSERT INTO events (id, org_id, kind, data, test, created_at) VALUES (:id, :org_id, :kind, :data, :test, :now)
"""
_SELECT_SUBSCRIBERS = """
SELECT id, events FROM webhook_subscriptions WHERE org_id = :org_id AND enabled = 1 ORDER BY id
"""
_INSERT_DELIVERY = """
INSERT INTO deliveries (id, org_id, subscription_id, event_id, event, status, attempts, in_flight, due_at,
    replayed_from, original_id, test, created_at)
VALUES (:id, :org_id, :subscription_id, :event_id, :kind, 'pending', 0, 0, :due_at, :replayed_from, :original_id,
    :test, :now)
"""


def append(tx: WriteTx, kind: str, data: Mapping[str, object]) -> str:
    """Record an event of the transaction's organization, with a delivery for each enabled subscription to its kind.

    Returns the event's id. Raises `Problem` `validation_failed` for a kind that is unknown or never fired, and for
    data that is not the kind's.
    """
    event_id = _insert_event(tx, kind, _validate_data(kind, data), test=0)
    for subscription_id in [row[0] for row in tx.rows(_SELECT_SUBSCRIBERS) if kind in row[1].split(" ")]:
        insert_deliveries(tx, subscription_id, [NewDelivery(event_id, kind, tx.now)])
    return event_id


def append_test(tx: WriteTx, kind: str, subscription_id: str) -> str:
    """Record a test event with the sample of its kind, for one subscription alone. Returns the delivery's id."""
    event_id = _insert_event(tx, kind, EVENT_KINDS[kind].sample, test=1)
    (delivery_id,) = insert_deliveries(tx, subscription_id, [NewDelivery(event_id, kind, tx.now, test=1)])
    return delivery_id


def insert_deliveries(tx: WriteTx, subscription_id: str, new_deliveries: Sequence[NewDelivery]) -> list[str]:
    """Insert deliveries of recorded events for one subscription. Returns their ids."""
    ids = [tx.new_id("wdlv") for _ in new_deliveries]
    for delivery_id, one in zip(ids, new_deliveries, strict=True):
        tx.run(_INSERT_DELIVERY, id=delivery_id, subscription_id=subscription_id, **one._asdict())
    if ids:
        tx.announce(TOPIC)
    return ids


def _insert_event(tx: WriteTx, kind: str, data: EventData, *, test: int) -> str:
    event_id = tx.new_id("evt")
    tx.run(_INSERT_EVENT, id=event_id, kind=kind, data=encode(data), test=test)
    return event_id


def _validate_data(kind: str, data: Mapping[str, object]) -> EventData:
    known = EVENT_KINDS.get(kind)
    if known is None or not known.fired:
        fired = ", ".join(name for name, one in EVENT_KINDS.items() if one.fired)
        why = "is not known" if known is None else "is reserved and not sent yet"
        raise invalid_field("event", "unknown_event", f"{kind!r} {why}; use one of: {fired}.")
    try:
        return msgspec.convert(data, known.data)
    except msgspec.ValidationError as error:
        raise invalid_field("data", "invalid_format", f"{error}.") from None


def render_body(message_id: str, kind: str, data: bytes, sent_at: Instant) -> bytes:
    """The JSON of an `EventBody` around data that is JSON already; the same arguments give the same bytes."""
    # Ids, kinds and timestamps are ours and hold nothing that JSON escapes.
    head = f'{{"id":"{message_id}","event":"{kind}","data":'.encode()
    return b'%b%b,"sentAt":"%b"}' % (head, data, to_wire(sent_at).encode())
