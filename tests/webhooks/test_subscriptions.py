"""Subscriptions: what may receive, what is shown of the secret, and what a change or a deletion does to the queue."""

import base64
from ipaddress import ip_network
from typing import Any
from urllib.parse import urlencode

import msgspec
import pytest
from msgspec import UNSET

from gatewayd.clock import DAY, HOUR, from_wire
from gatewayd.contract.decoding import RequestDecoder
from gatewayd.errors import Problem
from gatewayd.events import RECORDED
from gatewayd.outbound.transport import Policy
from gatewayd.webhooks import AREA, handlers
from gatewayd.webhooks.queue import delivery_queue, receivers
from gatewayd.webhooks.subscribers import subscriptions
from gatewayd.webhooks.subscribers.subscription_shapes import (
    CreatedSubscription,
    CreateSubscription,
    GetSubscription,
    ListSubscriptions,
    Removed,
    RemoveSubscription,
    UpdatedSubscription,
    UpdateSubscription,
)
from gatewayd.webhooks.subscribers.subscriptions import MAX_PER_ORGANIZATION
from tests.support.store import START, MemoryStore, make_caller
from tests.support.subscribing import emit, subscribe
from tests.support.wire import shown
from tests.webhooks.ended_deliveries import finish

URL = "https://receiver.example/hooks"
STRICT = Policy()


def update(
    store: MemoryStore, org_id: str, request: UpdateSubscription, policy: Policy = STRICT
) -> UpdatedSubscription:
    caller = make_caller(org_id)
    return store.write(lambda tx: subscriptions.update_subscription(tx, caller, request, policy=policy), org_id)


def remove(store: MemoryStore, org_id: str, request: RemoveSubscription) -> Removed:
    return store.write(lambda tx: subscriptions.remove_subscription(tx, make_caller(org_id), request), org_id)


def items(store: MemoryStore, org_id: str, request: ListSubscriptions | None = None) -> list[bytes]:
    request = request or ListSubscriptions()
    listing = store.read(lambda tx: subscriptions.list_subscriptions(tx, make_caller(org_id), request), org_id)
    return [bytes(item) for item in msgspec.json.decode(listing.data, type=list[msgspec.Raw])]


def listed(store: MemoryStore, org_id: str) -> dict[str, Any]:
    """The one subscription there is, as lists show it."""
    (item,) = items(store, org_id)
    decoded: dict[str, Any] = msgspec.json.decode(item)
    return decoded


def live_secrets(store: MemoryStore, org_id: str, subscription_id: str) -> tuple[str, ...]:
    receiver = store.read(lambda tx: receivers.find_receiver(tx, org_id, subscription_id, store.clock.now()))
    assert receiver is not None
    return receiver.secrets


def mark_failing(store: MemoryStore, org_id: str, subscription_id: str, told_at: int | None) -> None:
    """As the engine does: it has been failing since the start."""
    sql = """
    UPDATE webhook_subscriptions SET failing_since = :since, failing_told_at = :told_at
    WHERE org_id = :org_id AND id = :id
    """
    store.write(lambda tx: tx.run(sql, id=subscription_id, since=START, told_at=told_at), org_id)


def field_errors(error: Problem) -> list[tuple[str, str]]:
    assert error.code == "validation_failed"
    return [(one.path, one.code) for one in error.errors]


def statuses(store: MemoryStore, org_id: str) -> list[str]:
    sql = "SELECT status FROM deliveries WHERE org_id = :org_id ORDER BY id"
    return [row[0] for row in store.read(lambda tx: tx.rows(sql), org_id)]


# -- create


def test_create_answers_the_subscription_with_its_secret(store: MemoryStore) -> None:
    org_id = store.org()
    made = subscribe(store, org_id, URL, "lead.created", "form.submitted")
    assert made == CreatedSubscription(
        id=made.id,
        external_id=None,
        url=URL,
        events=["lead.created", "form.submitted"],
        enabled=True,
        disabled_reason=None,
        disabled_at=None,
        failing_since=None,
        disables_at=None,
        secret_prefix=made.secret[:10],
        previous_secret_expires_at=None,
        created_by=make_caller(org_id).reference,
        created_at=from_wire("2026-11-20T09:30:00.000Z"),
        updated_at=from_wire("2026-11-20T09:30:00.000Z"),
        version=1,
        secret=made.secret,
    )
    assert made.id.startswith("wsub_")
    assert made.secret.startswith("whsec_")
    assert len(base64.b64decode(made.secret.removeprefix("whsec_"), validate=True)) == 32


def test_events_are_deduplicated_in_their_order(store: MemoryStore) -> None:
    made = subscribe(store, store.org(), URL, "opportunity.stage_changed", "lead.created", "opportunity.stage_changed")
    assert made.events == ["opportunity.stage_changed", "lead.created"]


def test_no_two_secrets_are_the_same_and_none_is_in_the_database(store: MemoryStore) -> None:
    org_id = store.org()
    made = [subscribe(store, org_id, URL) for _ in range(3)]
    assert len({one.secret for one in made}) == 3
    image = store.stored()
    for one in made:
        assert one.secret[10:].encode() not in image
        assert base64.b64decode(one.secret.removeprefix("whsec_")) not in image


@pytest.mark.parametrize(
    "url",
    [
        "http://receiver.example/",
        "ftp://receiver.example/",
        "https://user:word@receiver.example/",
        "https://127.0.0.1/",
        "https://2130706433/",
        "https://0177.0.0.1/",
        "https://256.1.1.1/",
        "https://xn--0.com/",
        "https://[::1]/",
        "https://[::ffff:10.0.0.1]/",
        "https://10.0.0.8:8443/x",
        "https://169.254.169.254/",
        "https://localhost/",
        "https://a.localhost:8443/",
        "https://receiver.example/#part",
        "receiver.example",
        "https:///hooks",
    ],
)
def test_validation_failed_invalid_url_for_what_may_not_receive(store: MemoryStore, url: str) -> None:
    with pytest.raises(Problem) as refused:
        subscribe(store, store.org(), url)
    assert field_errors(refused.value) == [("url", "invalid_url")]


def test_the_operator_can_allow_networks_and_plain_http(store: MemoryStore) -> None:
    org_id = store.org()
    policy = Policy(allow_networks=(ip_network("127.0.0.0/8"),), allow_http=True)
    for url in ("https://127.0.0.1:8443/", "http://localhost:8000/hooks"):
        assert subscribe(store, org_id, url, policy=policy).url == url
    with pytest.raises(Problem):
        subscribe(store, org_id, "https://10.0.0.8/", policy=policy)


def test_validation_failed_unknown_event_names_each_one(store: MemoryStore) -> None:
    with pytest.raises(Problem) as refused:
        subscribe(store, store.org(), "http://receiver.example/", "lead.created", "lead.deleted", "lead*")
    assert field_errors(refused.value) == [
        ("url", "invalid_url"),
        ("events[1]", "unknown_event"),
        ("events[2]", "unknown_event"),
    ]


def test_limit_reached_counts_one_organizations_subscriptions(store: MemoryStore) -> None:
    org_id, other = store.org(), store.org("Other Ltd")
    for _ in range(MAX_PER_ORGANIZATION):
        subscribe(store, org_id, URL)
    with pytest.raises(Problem) as refused:
        subscribe(store, org_id, URL)
    assert refused.value.code == "limit_reached"
    subscribe(store, other, URL)


# -- list


def test_list_is_newest_first_and_without_secrets(store: MemoryStore) -> None:
    org_id, other = store.org(), store.org("Other Ltd")
    made = [subscribe(store, org_id, URL) for _ in range(2)]
    subscribe(store, other, URL)
    found = items(store, org_id)
    assert [msgspec.json.decode(item)["id"] for item in found] == [made[1].id, made[0].id]
    for one, item in zip(reversed(made), found, strict=True):
        assert "secret" not in msgspec.json.decode(item)
        assert one.secret.encode() not in item
        assert msgspec.json.decode(item)["secretPrefix"] == one.secret[:10]


def test_list_goes_on_where_a_page_ended(store: MemoryStore) -> None:
    org_id = store.org()
    made = [subscribe(store, org_id, URL) for _ in range(2)]
    first = ListSubscriptions(limit=1)
    listing = store.read(lambda tx: subscriptions.list_subscriptions(tx, make_caller(org_id), first), org_id)
    second = items(store, org_id, ListSubscriptions(limit=1, cursor=listing.next_cursor))
    assert msgspec.json.decode(second[0])["id"] == made[0].id


# -- update


def test_update_changes_what_is_given_and_answers_no_secret(store: MemoryStore) -> None:
    org_id = store.org()
    made = subscribe(store, org_id, URL)
    store.clock.advance(HOUR)
    changed = update(store, org_id, UpdateSubscription(id=made.id, url="https://b.example/", events=["form.submitted"]))
    assert (changed.url, changed.events, changed.enabled, changed.version) == (
        "https://b.example/",
        ["form.submitted"],
        True,
        2,
    )
    assert changed.updated_at == from_wire("2026-11-20T10:30:00.000Z")
    assert "secret" not in shown(changed)
    assert msgspec.json.decode(items(store, org_id)[0])["url"] == "https://b.example/"


@pytest.mark.parametrize("name", ["update", "remove", "sendTest", "recover"])
def test_a_subscription_is_named_by_its_former_name_too(name: str) -> None:
    decoder = RequestDecoder(next(row for row in AREA.operations if row.id == f"webhooks.{name}"))
    more = {"since": "2026-11-20T09:30:00Z"} if name == "recover" else {}

    def read(**named: str) -> msgspec.Struct:
        return decoder.body(msgspec.json.encode({**named, **more}))

    assert read(subscriptionId="wsub_a") == read(id="wsub_a", subscriptionId="wsub_a") == read(id="wsub_a")
    with pytest.raises(Problem) as refused:
        read()
    assert field_errors(refused.value) == [("id", "required")]
    with pytest.raises(Problem) as refused:
        read(id="wsub_a", subscriptionId="wsub_b")
    assert field_errors(refused.value) == [("subscriptionId", "conflict")]


def test_update_without_a_change_leaves_the_version(store: MemoryStore) -> None:
    org_id = store.org()
    made = subscribe(store, org_id, URL)
    unchanged = update(store, org_id, UpdateSubscription(id=made.id, url=URL, events=["lead.created"], enabled=True))
    assert unchanged.version == 1


def test_version_conflict_changes_nothing(store: MemoryStore) -> None:
    org_id = store.org()
    made = subscribe(store, org_id, URL)
    with pytest.raises(Problem) as refused:
        update(store, org_id, UpdateSubscription(id=made.id, enabled=False, expected_version=2))
    assert refused.value.code == "version_conflict"
    assert msgspec.json.decode(items(store, org_id)[0])["enabled"] is True


def test_validation_failed_when_an_update_names_a_private_url_or_an_unknown_event(store: MemoryStore) -> None:
    org_id = store.org()
    made = subscribe(store, org_id, URL)
    request = UpdateSubscription(id=made.id, url="https://10.0.0.1/", events=["nothing"])
    with pytest.raises(Problem) as refused:
        update(store, org_id, request)
    assert field_errors(refused.value) == [("url", "invalid_url"), ("events[0]", "unknown_event")]


def test_not_found_for_another_organizations_subscription(store: MemoryStore) -> None:
    org_id, other = store.org(), store.org("Other Ltd")
    theirs = subscribe(store, other, URL)
    for unknown in (theirs.id, "wsub_nothing"):
        with pytest.raises(Problem) as refused:
            update(store, org_id, UpdateSubscription(id=unknown, enabled=False))
        assert refused.value.code == "not_found"
        with pytest.raises(Problem) as refused:
            remove(store, org_id, RemoveSubscription(id=unknown))
        assert refused.value.code == "not_found"
    assert msgspec.json.decode(items(store, other)[0])["enabled"] is True


def test_disabling_holds_what_is_pending_and_enabling_wakes_the_dispatcher(store: MemoryStore) -> None:
    org_id = store.org()
    made = subscribe(store, org_id, URL)
    emit(store, org_id)
    store.announced.clear()
    disabled = update(store, org_id, UpdateSubscription(id=made.id, enabled=False))
    assert disabled.disabled_reason == "caller"
    emit(store, org_id)
    assert statuses(store, org_id) == ["pending"]
    assert store.announced == {RECORDED}
    enabled = update(store, org_id, UpdateSubscription(id=made.id, enabled=True))
    assert (enabled.enabled, enabled.disabled_reason) == (True, None)
    assert store.announced == {RECORDED, "deliveries"}


def test_rotation_answers_a_new_secret_and_keeps_the_old_one_a_day(store: MemoryStore) -> None:
    org_id = store.org()
    made = subscribe(store, org_id, URL)
    changed = update(store, org_id, UpdateSubscription(id=made.id, rotate_secret=True))
    assert isinstance(changed.secret, str)
    assert changed.secret != made.secret
    assert changed.secret_prefix == changed.secret[:10]

    assert live_secrets(store, org_id, made.id) == (changed.secret, made.secret)
    store.clock.advance(24 * HOUR - 1)
    assert live_secrets(store, org_id, made.id) == (changed.secret, made.secret)
    store.clock.advance(1)
    assert live_secrets(store, org_id, made.id) == (changed.secret,)


def test_a_rotation_under_way_is_shown_until_it_ends(store: MemoryStore) -> None:
    org_id = store.org()
    made = subscribe(store, org_id, URL)
    changed = update(store, org_id, UpdateSubscription(id=made.id, rotate_secret=True))
    assert changed.previous_secret_expires_at == from_wire("2026-11-21T09:30:00.000Z")
    store.clock.advance(24 * HOUR - 1)
    assert listed(store, org_id)["previousSecretExpiresAt"] == "2026-11-21T09:30:00.000Z"
    store.clock.advance(1)
    assert listed(store, org_id)["previousSecretExpiresAt"] is None


def test_a_rotation_can_be_ended_at_once(store: MemoryStore) -> None:
    org_id = store.org()
    made = subscribe(store, org_id, URL)
    second = update(store, org_id, UpdateSubscription(id=made.id, rotate_secret=True))
    ended = update(store, org_id, UpdateSubscription(id=made.id, end_rotation=True))
    assert (ended.secret, ended.previous_secret_expires_at, ended.version) == (UNSET, None, 3)
    assert live_secrets(store, org_id, made.id) == (second.secret,)
    assert update(store, org_id, UpdateSubscription(id=made.id, end_rotation=True)).version == 3


def test_a_rotation_without_overlap_leaves_the_new_secret_alone(store: MemoryStore) -> None:
    org_id = store.org()
    made = subscribe(store, org_id, URL)
    changed = update(store, org_id, UpdateSubscription(id=made.id, rotate_secret=True, end_rotation=True))
    assert isinstance(changed.secret, str)
    assert live_secrets(store, org_id, made.id) == (changed.secret,)


def test_a_second_rotation_drops_the_first_secret(store: MemoryStore) -> None:
    org_id = store.org()
    made = subscribe(store, org_id, URL)
    second, third = (update(store, org_id, UpdateSubscription(id=made.id, rotate_secret=True)) for _ in range(2))
    assert live_secrets(store, org_id, made.id) == (third.secret, second.secret)


def test_a_receiver_never_shows_its_secrets(store: MemoryStore) -> None:
    org_id = store.org()
    made = subscribe(store, org_id, URL)
    receiver = store.read(lambda tx: receivers.find_receiver(tx, org_id, made.id, store.clock.now()))
    assert "whsec_" not in repr(receiver)


# -- failing and missing


def test_failing_is_shown_with_its_end_once_that_was_announced(store: MemoryStore) -> None:
    org_id = store.org()
    made = subscribe(store, org_id, URL)
    mark_failing(store, org_id, made.id, None)
    shown = listed(store, org_id)
    assert (shown["failingSince"], shown["disablesAt"]) == ("2026-11-20T09:30:00.000Z", None)
    mark_failing(store, org_id, made.id, START + DAY)
    shown = listed(store, org_id)
    assert (shown["failingSince"], shown["disablesAt"]) == ("2026-11-20T09:30:00.000Z", "2026-11-25T09:30:00.000Z")


@pytest.mark.parametrize(
    "change", [{"url": "https://b.example/"}, {"enabled": False}, {"url": URL}, {"events": ["form.submitted"]}]
)
def test_another_receiver_or_a_new_start_has_not_failed_yet(store: MemoryStore, change: dict[str, Any]) -> None:
    org_id = store.org()
    made = subscribe(store, org_id, URL)
    mark_failing(store, org_id, made.id, START + DAY)
    answer = update(store, org_id, msgspec.convert({"id": made.id, **change}, UpdateSubscription))
    kept = change in ({"url": URL}, {"events": ["form.submitted"]})
    assert (answer.failing_since is not None, answer.disables_at is not None) == (kept, kept)


@pytest.mark.parametrize("reason", ["caller", "receiver_gone", "failing"])
def test_enabling_again_says_what_was_missed(store: MemoryStore, reason: str) -> None:
    org_id = store.org()
    made = subscribe(store, org_id, URL)
    emit(store, org_id)
    finish(store, org_id, "exhausted")  # before
    store.clock.advance(HOUR)
    disable = """
    UPDATE webhook_subscriptions SET enabled = 0, disabled_reason = :reason, disabled_at = :now WHERE org_id = :org_id
    """
    store.write(lambda tx: tx.run(disable, reason=reason), org_id)
    store.clock.advance(HOUR)
    emit(store, org_id, 2)
    store.clock.advance(HOUR)
    answer = update(store, org_id, UpdateSubscription(id=made.id, enabled=True))
    assert (answer.enabled, answer.disabled_reason, answer.missed) == (True, None, 2)
    assert answer.missed_since == from_wire("2026-11-20T10:30:00.000Z")
    again = shown(update(store, org_id, UpdateSubscription(id=made.id, enabled=True)))
    assert "missed" not in again
    assert "missedSince" not in again


def test_what_failed_before_it_was_disabled_for_failing_is_missed_too(store: MemoryStore) -> None:
    org_id = store.org()
    made = subscribe(store, org_id, URL)
    mark_failing(store, org_id, made.id, START + DAY)
    emit(store, org_id)
    finish(store, org_id, "exhausted")
    store.clock.advance(5 * DAY)
    disable = """
    UPDATE webhook_subscriptions SET enabled = 0, disabled_reason = 'failing', disabled_at = :now
    WHERE org_id = :org_id
    """
    store.write(lambda tx: tx.run(disable), org_id)
    answer = update(store, org_id, UpdateSubscription(id=made.id, enabled=True))
    assert (answer.missed, answer.missed_since) == (1, from_wire("2026-11-20T09:30:00.000Z"))
    assert (answer.failing_since, answer.disables_at, answer.disabled_at) == (None, None, None)


def test_no_more_is_counted_than_says_enough(store: MemoryStore) -> None:
    org_id = store.org()
    made = subscribe(store, org_id, URL, enabled=False)
    emit(store, org_id, subscriptions.MISSED_COUNTED + 1)
    assert update(store, org_id, UpdateSubscription(id=made.id, enabled=True)).missed == subscriptions.MISSED_COUNTED


def test_a_subscription_is_found_by_the_callers_own_identifier(store: MemoryStore) -> None:
    org_id = store.org()
    policy, caller = Policy(allow_http=True), make_caller(org_id)

    def create(external_id: str | None) -> CreatedSubscription:
        request = CreateSubscription(url=URL, events=["lead.created"], external_id=external_id)
        return store.write(lambda tx: subscriptions.create_subscription(tx, caller, request, policy=policy), org_id)

    made, other = create("crm-1"), create(None)
    assert (made.external_id, other.external_id) == ("crm-1", None)
    listed = items(store, org_id, ListSubscriptions(external_id="crm-1"))
    assert [msgspec.json.decode(item)["id"] for item in listed] == [made.id]
    with pytest.raises(Problem) as refused:
        create("crm-1")
    assert (refused.value.code, refused.value.extra["existingId"]) == ("already_exists", made.id)
    with pytest.raises(Problem, match="already_exists"):
        update(store, org_id, UpdateSubscription(id=other.id, external_id="crm-1"))
    assert update(store, org_id, UpdateSubscription(id=made.id, external_id=None)).external_id is None
    assert update(store, org_id, UpdateSubscription(id=other.id, external_id="crm-1")).external_id == "crm-1"


# -- delete


def test_another_version_than_was_read_is_not_deleted(store: MemoryStore) -> None:
    org_id = store.org()
    made = subscribe(store, org_id, URL)
    with pytest.raises(Problem, match="version_conflict"):
        remove(store, org_id, RemoveSubscription(id=made.id, expected_version=made.version + 1))
    assert remove(store, org_id, RemoveSubscription(id=made.id, expected_version=made.version)).id == made.id


def test_delete_removes_the_subscription_and_cancels_what_is_pending(store: MemoryStore) -> None:
    org_id = store.org()
    made, kept = subscribe(store, org_id, URL), subscribe(store, org_id, "https://b.example/")
    emit(store, org_id, 2)
    answer = remove(store, org_id, RemoveSubscription(id=made.id))
    assert msgspec.to_builtins(answer) == {"id": made.id, "deleted": True}
    assert [msgspec.json.decode(item)["id"] for item in items(store, org_id)] == [kept.id]
    sql = "SELECT status, COUNT(*) FROM deliveries WHERE org_id = :org_id AND subscription_id = :id GROUP BY status"
    assert store.read(lambda tx: tx.rows(sql, id=made.id), org_id) == [("cancelled", 2)]
    assert store.read(lambda tx: tx.rows(sql, id=kept.id), org_id) == [("pending", 2)]


def test_a_long_queue_is_cancelled_by_and_by(store: MemoryStore) -> None:
    org_id = store.org()
    made = subscribe(store, org_id, URL)
    emit(store, org_id, delivery_queue.CANCEL_AT_ONCE + 1)
    store.announced.clear()
    remove(store, org_id, RemoveSubscription(id=made.id))
    assert statuses(store, org_id).count("cancelled") == delivery_queue.CANCEL_AT_ONCE
    assert store.announced == {"deliveries"}


# -- rows


def test_the_rows_are_those_of_the_specification() -> None:
    rows = {(row.method, row.path): row for row in AREA.operations}
    assert sorted(row.id for row in rows.values() if not row.extension) == [
        "webhooks.create",
        "webhooks.list",
        "webhooks.listDeliveries",
        "webhooks.remove",
        "webhooks.update",
    ]
    assert sorted(row.id for row in rows.values() if row.extension) == [
        "webhooks.get",
        "webhooks.getDelivery",
        "webhooks.recover",
        "webhooks.resendDelivery",
        "webhooks.sendTest",
    ]
    assert rows["POST", "/webhooks/subscriptions"].secret
    assert rows["POST", "/webhooks/subscriptions/update"].secret
    assert all(
        row.scopes == (("webhooks:read",) if row.method == "GET" else ("webhooks:write",)) for row in rows.values()
    )


def test_every_example_is_a_request_its_row_accepts() -> None:
    for row in AREA.operations:
        decoder = RequestDecoder(row)
        if row.has_body:
            decoder.body(msgspec.json.encode(row.example))
        else:
            decoder.query(urlencode(row.example, doseq=True))


def test_handlers_of_two_policies_do_not_know_each_other(store: MemoryStore) -> None:
    org_id = store.org()
    strict_create = handlers(STRICT)["webhooks.create"]
    open_create = handlers(Policy(allow_networks=(ip_network("127.0.0.0/8"),)))["webhooks.create"]
    request = CreateSubscription(url="https://127.0.0.1/", events=["lead.created"])
    caller = make_caller(org_id)
    with pytest.raises(Problem):
        store.write(lambda tx: strict_create(tx, caller, request), org_id)
    assert store.write(lambda tx: open_create(tx, caller, request), org_id).url == "https://127.0.0.1/"


def test_a_subscription_is_read_by_its_id_without_its_secret(store: MemoryStore) -> None:
    org_id, other = store.org(), store.org("Other Ltd")
    request = GetSubscription(id=subscribe(store, org_id, URL).id)
    answer = store.read(lambda tx: subscriptions.get_subscription(tx, make_caller(org_id), request), org_id)
    assert shown(answer) == listed(store, org_id)
    with pytest.raises(Problem, match="not_found"):
        store.read(lambda tx: subscriptions.get_subscription(tx, make_caller(other), request), other)


def test_those_that_are_enabled_or_not_are_listed(store: MemoryStore) -> None:
    org_id = store.org()
    made = {enabled: subscribe(store, org_id, URL, enabled=enabled).id for enabled in (True, False)}
    for enabled, subscription_id in made.items():
        (item,) = items(store, org_id, ListSubscriptions(enabled=enabled))
        assert msgspec.json.decode(item)["id"] == subscription_id
