"""The whole path with real sockets: an event is appended, and a receiver with other people's verifiers gets it."""

import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import standardwebhooks
import stripe
import svix.webhooks
import trio
import trustme

from gatewayd import events
from gatewayd.clock import SystemClock
from gatewayd.contract.caller import Caller
from gatewayd.outbound.addresses import parse_networks
from gatewayd.outbound.transport import GuardedTransport, Policy
from gatewayd.store import Store, WriteTx
from gatewayd.store.database import open_store
from gatewayd.store.settings import StoreSettings
from gatewayd.webhooks import deliveries
from gatewayd.webhooks.deliveries import ListDeliveries
from gatewayd.webhooks.dispatch.dispatcher import Dispatcher, DispatcherParts
from gatewayd.webhooks.schedule import RetryPolicy
from gatewayd.webhooks.sender import Sender
from gatewayd.webhooks.settings import WebhookSettings
from gatewayd.webhooks.subscribers import subscriptions
from gatewayd.webhooks.subscribers.subscription_shapes import CreatedSubscription, CreateSubscription
from tests.support.store import make_caller
from tests.webhooks.harness import RecordingLog
from tests.webhooks.receivers import OK, Receiver, answering, open_receiver

LEAD = {"lead_id": "lead_1", "source": "Über uns", "status": "new"}
UNAVAILABLE = b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n"
ORG_ID = "org_flow"


def authority_at(path: Path) -> ssl.SSLContext:
    """A certificate for 127.0.0.1; its authority is left at `path`."""
    authority = trustme.CA()
    authority.cert_pem.write_to_path(str(path))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    return context


@asynccontextmanager
async def opened(directory: Path) -> AsyncIterator[Store]:
    async with open_store(StoreSettings(directory=directory), SystemClock()) as store:
        yield store


@asynccontextmanager
async def dispatching(store: Store, settings: WebhookSettings, log: RecordingLog) -> AsyncIterator[Dispatcher]:
    sender = Sender(GuardedTransport(settings.policy), user_agent="gatewayd/test", timeout_seconds=60)
    dispatcher = Dispatcher(
        DispatcherParts(store=store, sender=sender, clock=SystemClock(), settings=settings, log=log)
    )
    async with trio.open_nursery() as nursery:
        await nursery.start(dispatcher.run)
        yield dispatcher
        nursery.cancel_scope.cancel()
    await sender.aclose()


async def subscribed(store: Store, url: str, policy: Policy) -> tuple[Caller, CreatedSubscription]:
    caller = make_caller(ORG_ID)
    request = CreateSubscription(url=url, events=["lead.created"])

    def work(tx: WriteTx) -> CreatedSubscription:
        tx.run("INSERT INTO organizations (id, name, created_at) VALUES (:org_id, 'Flow Ltd', :now)")
        return subscriptions.create_subscription(tx, caller, request, policy=policy)

    return caller, await store.write(work, ORG_ID)


async def appended(store: Store) -> None:
    await store.write(lambda tx: events.append(tx, "lead.created", LEAD), ORG_ID)


async def record(store: Store, caller: Caller, subscription_id: str) -> dict[str, Any]:
    request = ListDeliveries(id=subscription_id)
    page = await store.read(lambda tx: deliveries.list_deliveries(tx, caller, request, max_attempts=8), caller.org_id)
    (found,) = msgspec.json.decode(page.data, type=list[dict[str, Any]])
    return found


async def finished(store: Store, caller: Caller, subscription_id: str) -> dict[str, Any]:
    """The one delivery's record once it is completed."""
    with trio.fail_after(60):
        while (found := await record(store, caller, subscription_id))["completedAt"] is None:
            await trio.sleep(0.01)
    return found


def received(receiver: Receiver, number: int) -> tuple[dict[str, str], bytes]:
    """Headers, names in lower case, and body of one request."""
    head, _, body = receiver.requests[number].partition(b"\r\n\r\n")
    pairs = [line.partition(b":") for line in head.split(b"\r\n")[1:]]
    return {name.decode().lower(): value.decode().strip() for name, _, value in pairs}, body


def verified_by_all(headers: dict[str, str], body: bytes, secret: str) -> None:
    """Raises what one of the verifiers of other people raises."""
    stripe.WebhookSignature.verify_header(body, headers["x-service-signature"], secret, 300)
    standardwebhooks.Webhook(secret).verify(body, headers)
    svix.webhooks.Webhook(secret).verify(body, headers)


async def test_an_event_reaches_a_receiver_that_verifies_it_with_its_own_package(tmp_path: Path) -> None:
    tls = authority_at(tmp_path / "ca.pem")
    policy = Policy(allow_networks=parse_networks(["127.0.0.0/8"]), ca_file=str(tmp_path / "ca.pem"))
    log = RecordingLog()
    async with opened(tmp_path / "data") as store, open_receiver(answering(OK), tls) as receiver:
        caller, made = await subscribed(store, f"https://127.0.0.1:{receiver.port}/hooks?from=us", policy)
        async with dispatching(store, WebhookSettings(policy=policy), log):
            await appended(store)
            delivery = await finished(store, caller, made.id)
    headers, body = received(receiver, 0)
    verified_by_all(headers, body, made.secret)
    assert receiver.requests[0].startswith(b"POST /hooks?from=us HTTP/1.1\r\n")
    assert headers["content-type"] == "application/json"
    assert headers["user-agent"] == "gatewayd/test"
    assert headers["x-service-event"] == "lead.created"
    assert headers["x-service-delivery"] == headers["webhook-id"] == delivery["id"]
    decoded = msgspec.json.decode(body)
    assert decoded.pop("eventId") == decoded.pop("sequence").partition("-")[2]
    assert decoded == {"id": delivery["id"], "event": "lead.created", "data": LEAD, "sentAt": delivery["createdAt"]}
    assert (delivery["status"], delivery["attempts"], delivery["responseCode"]) == ("succeeded", 1, 200)
    assert log.lines == []


async def test_a_retry_has_the_same_body_and_a_new_signature(tmp_path: Path) -> None:
    tls = authority_at(tmp_path / "ca.pem")
    policy = Policy(allow_networks=parse_networks(["127.0.0.0/8"]), ca_file=str(tmp_path / "ca.pem"))
    settings = WebhookSettings(policy=policy, retry=RetryPolicy(first_retry_seconds=1))
    async with opened(tmp_path / "data") as store, open_receiver(answering(UNAVAILABLE, OK), tls) as receiver:
        caller, made = await subscribed(store, f"https://127.0.0.1:{receiver.port}/", policy)
        async with dispatching(store, settings, RecordingLog()):
            await appended(store)
            delivery = await finished(store, caller, made.id)
    first, second = received(receiver, 0), received(receiver, 1)
    for headers, body in (first, second):
        verified_by_all(headers, body, made.secret)
    assert first[1] == second[1]
    assert first[0]["webhook-id"] == second[0]["webhook-id"]
    assert first[0]["x-service-signature"] != second[0]["x-service-signature"]
    assert (delivery["status"], delivery["attempts"]) == ("succeeded", 2)


async def test_a_private_address_behind_an_accepted_url_is_blocked_and_the_reason_kept_from_users(
    tmp_path: Path,
) -> None:
    """The allow-list was narrowed after the subscription was made."""
    wide = Policy(allow_networks=parse_networks(["127.0.0.0/8"]), allow_http=True)
    log = RecordingLog()
    async with opened(tmp_path / "data") as store, open_receiver(answering(OK)) as receiver:
        caller, made = await subscribed(store, f"http://127.0.0.1:{receiver.port}/", wide)
        async with dispatching(store, WebhookSettings(policy=Policy(allow_http=True)), log) as dispatcher:
            await appended(store)
            with trio.fail_after(60):
                while dispatcher.counts.retried == 0 or (await record(store, caller, made.id))["status"] == "pending":
                    await trio.sleep(0.01)
            delivery = await record(store, caller, made.id)
    assert receiver.requests == []
    assert (delivery["status"], delivery["lastError"]) == ("retrying", "blocked_address")
    ((level, event, values),) = log.lines
    assert (level, event) == ("info", "delivery_attempt_failed")
    assert "127.0.0.1" in str(values["detail"])
