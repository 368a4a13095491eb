"""The outbox: one transaction for an event and its deliveries, and bodies that never change."""

import msgspec
import pytest

from gatewayd import events
from gatewayd.catalogue import AREAS
from gatewayd.clock import Instant, from_wire
from gatewayd.contract.wire import encode
from gatewayd.errors import Problem
from gatewayd.events.own_kinds import LeadCreated
from gatewayd.events.resources import RESOURCES
from gatewayd.store import WriteTx
from tests.support.store import START, MemoryStore
from tests.support.subscribing import subscribe
from tests.support.wire import read_as

LEAD = {"lead_id": "lead_1", "source": "website", "status": "new"}
_DELIVERIES = """
SELECT subscription_id, event, status, attempts, due_at FROM deliveries WHERE org_id = :org_id ORDER BY id
"""

OWN = (
    *("obligation.due_soon", "obligation.overdue", "certificate.expiring", "tenancy.ending", "rent.overdue"),
    *("invoice.overdue", "invoice.mail_failed", "quote.mail_failed"),
    *("credits.low", "document.parsed", "document.parse_failed"),
)


def test_every_kind_of_the_specification_is_known_with_a_sample_of_its_data() -> None:
    promised = ["lead.created", "opportunity.stage_changed", "form.submitted"]
    assert list(events.EVENT_KINDS)[: len(promised) + len(OWN)] == [*promised, *OWN]
    assert len(events.EVENT_KINDS) > len(promised) + len(OWN) + len(RESOURCES)
    assert [name for name, kind in events.EVENT_KINDS.items() if not kind.extension] == promised
    for name, kind in events.EVENT_KINDS.items():
        assert kind.name == name
        assert msgspec.json.decode(encode(kind.sample), type=kind.data) == kind.sample


def test_samples_are_spelled_as_the_specification_spells_them() -> None:
    spelled = {name: list(msgspec.to_builtins(kind.sample)) for name, kind in events.EVENT_KINDS.items()}
    assert spelled["lead.created"] == ["lead_id", "source", "status"]
    assert spelled["opportunity.stage_changed"] == [
        "opportunity_id",
        "pipeline_id",
        "from_stage",
        "to_stage",
        "changed_by",
        "lead_id",
    ]


def test_the_pattern_of_an_area_stands_for_all_that_it_tells_of() -> None:
    areas = {operation.id.partition(".")[0] for area in AREAS for operation in area.operations}
    of_areas = {pattern: names for pattern, names in events.WILDCARDS.items() if pattern.removesuffix(".*") in areas}
    named = {name for names in of_areas.values() for name in names}
    assert named == events.EVENT_KINDS.keys() - {"form.submitted"}
    assert of_areas["crm.*"][:2] == ("lead.created", "opportunity.stage_changed")
    assert {"certificate.expiring", "tenancy.ending", "rent.overdue", "tenancy.ended"} <= set(of_areas["landlord.*"])
    assert set(of_areas["billing.*"]) == {"credits.low"}


def test_data_of_a_resource_begin_with_its_id() -> None:
    for resource in RESOURCES:
        names = list(msgspec.json.decode(encode(resource.sample)))
        assert names[0] == f"{resource.name}_id"
        assert names[-2:] == ["version", "changed"]


def test_an_event_becomes_a_delivery_for_each_enabled_subscription_to_its_kind(store: MemoryStore) -> None:
    org_id = store.org()
    first = subscribe(store, org_id, "https://a.example/", "lead.created")
    second = subscribe(store, org_id, "https://b.example/", "opportunity.stage_changed", "lead.created")
    subscribe(store, org_id, "https://c.example/", "opportunity.stage_changed")
    subscribe(store, org_id, "https://d.example/", "lead.created", enabled=False)
    other = store.org("Other Ltd")
    subscribe(store, other, "https://e.example/", "lead.created")
    store.announced.clear()
    event_id = store.write(lambda tx: events.append(tx, "lead.created", LEAD), org_id)
    assert event_id.startswith("evt_")
    assert store.read(lambda tx: tx.rows(_DELIVERIES), org_id) == [
        (first.id, "lead.created", "pending", 0, START),
        (second.id, "lead.created", "pending", 0, START),
    ]
    assert store.read(lambda tx: tx.rows(_DELIVERIES), other) == []
    assert store.announced == {events.TOPIC, events.RECORDED}


def test_an_event_nobody_subscribed_to_is_kept_and_wakes_nobody(store: MemoryStore) -> None:
    org_id = store.org()
    event_id = store.write(lambda tx: events.append(tx, "lead.created", LEAD), org_id)
    assert store.read(lambda tx: tx.rows("SELECT id FROM events WHERE org_id = :org_id"), org_id) == [(event_id,)]
    assert store.announced == {events.RECORDED}


def test_an_event_stands_or_falls_with_the_transaction_of_its_change(store: MemoryStore) -> None:
    org_id = store.org()
    subscribe(store, org_id, "https://a.example/", "lead.created")
    store.announced.clear()

    def change_and_fail(tx: WriteTx) -> None:
        events.append(tx, "lead.created", LEAD)
        raise LookupError("the change failed")

    with pytest.raises(LookupError, match="the change failed"):
        store.write(change_and_fail, org_id)
    assert store.read(lambda tx: tx.value("SELECT COUNT(*) FROM events WHERE org_id = :org_id"), org_id) == 0
    assert store.read(lambda tx: tx.rows(_DELIVERIES), org_id) == []
    assert store.announced == set()


def test_a_test_event_has_the_sample_and_one_delivery_whoever_else_subscribes(store: MemoryStore) -> None:
    org_id = store.org()
    made = subscribe(store, org_id, "https://a.example/", "form.submitted")
    subscribe(store, org_id, "https://b.example/", "form.submitted")
    delivery_id = store.write(lambda tx: events.append_test(tx, "form.submitted", made.id), org_id)
    sql = """
    SELECT d.id, d.subscription_id, d.test, d.due_at, e.test, e.data
    FROM deliveries d JOIN events e ON e.id = d.event_id WHERE d.org_id = :org_id
    """
    sample = encode(events.EVENT_KINDS["form.submitted"].sample)
    assert store.read(lambda tx: tx.rows(sql), org_id) == [(delivery_id, made.id, 1, START, 1, sample)]


@pytest.mark.parametrize("kind", ["form.submitted", "lead.deleted", ""])
def test_a_kind_that_is_reserved_or_unknown_is_refused(store: MemoryStore, kind: str) -> None:
    org_id = store.org()
    with pytest.raises(Problem) as refused:
        store.write(lambda tx: events.append(tx, kind, {"form_id": "f", "submission_id": "s"}), org_id)
    assert [error.code for error in refused.value.errors] == ["unknown_event"]


@pytest.mark.parametrize("data", [{}, LEAD | {"extra": 1}, LEAD | {"status": 7}, {"leadId": "lead_1"}])
def test_data_that_is_not_the_kinds_is_refused(store: MemoryStore, data: dict[str, object]) -> None:
    org_id = store.org()
    with pytest.raises(Problem) as refused:
        store.write(lambda tx: events.append(tx, "lead.created", data), org_id)
    assert [error.path for error in refused.value.errors] == ["data"]
    assert store.read(lambda tx: tx.value("SELECT COUNT(*) FROM events WHERE org_id = :org_id"), org_id) == 0


def test_a_body_is_the_json_of_its_struct() -> None:
    sample = events.EVENT_KINDS["lead.created"].sample
    at = Instant(1_795_000_000_123_456)
    sent = events.SentEvent("evt_7", "lead.created", encode(sample), at, events.sequence_of(at + 5, "evt_7"))
    body = events.render_body("wdlv_1", sent)
    decoded = read_as(body, events.EventBody[LeadCreated])
    assert decoded == events.EventBody(
        id="wdlv_1",
        event="lead.created",
        data=sample,
        sent_at=from_wire("2026-11-18T11:06:40.123Z"),
        event_id="evt_7",
        sequence="1795000000123461-evt_7",
    )
    assert body == encode(decoded)
    assert {"event", "data", "sentAt"} <= msgspec.json.decode(body).keys()  # Spec §2


def test_text_of_the_data_is_json_in_the_body_too(store: MemoryStore) -> None:
    data = LEAD | {"source": 'quotes " and \\ and é'}
    org_id = store.org()
    store.write(lambda tx: events.append(tx, "lead.created", data), org_id)
    stored = store.read(lambda tx: tx.value("SELECT data FROM events WHERE org_id = :org_id"), org_id)
    sent = events.SentEvent("evt_1", "lead.created", stored, START, events.sequence_of(START, "evt_1"))
    body = msgspec.json.decode(events.render_body("wdlv_1", sent))
    assert body["data"] == data
