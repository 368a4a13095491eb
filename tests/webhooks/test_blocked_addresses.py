"""Names that lead where no webhook may go: an event to each, and what is recorded and who is touched."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import trio

from gatewayd import events
from gatewayd.clock import SystemClock
from gatewayd.outbound.addresses import parse_networks
from gatewayd.outbound.transport import GuardedTransport, Policy
from gatewayd.store import Store, WriteTx
from gatewayd.store.database import open_store
from gatewayd.store.settings import StoreSettings
from gatewayd.webhooks.dispatch.dispatcher import Dispatcher, DispatcherParts
from gatewayd.webhooks.schedule import RetryPolicy
from gatewayd.webhooks.sender import Sender
from gatewayd.webhooks.settings import WebhookSettings
from gatewayd.webhooks.subscribers import subscriptions
from gatewayd.webhooks.subscribers.subscription_shapes import CreateSubscription
from tests.outbound.test_addresses import BLOCKED
from tests.support.store import make_caller
from tests.webhooks.harness import RecordingLog
from tests.webhooks.receivers import OK, Receiver, closing, open_receiver

LEAD = {"lead_id": "lead_1", "source": "web", "status": "new"}
ORG_ID = "org_blocked"
SUBSCRIPTIONS_AT_ONCE = 40  # an organization has at most 50
PUBLIC = "127.0.0.1"  # stands for a public address: the one that is allowed
INSIDE = "127.0.0.2"  # is not

_SELECT_ENDS = """
SELECT s.url, d.attempts, d.status, d.response_code, d.last_error
FROM deliveries d JOIN webhook_subscriptions s ON s.id = d.subscription_id WHERE d.last_error IS NOT NULL ORDER BY d.id
"""


@dataclass
class Names:
    """A name server: each answer of a name is given once, the last one for ever. `asked` in order."""

    answers: dict[str, list[list[str]]] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)

    async def __call__(self, host: str, port: int) -> Sequence[str]:
        await trio.lowlevel.checkpoint()
        self.asked.append(host)
        left = self.answers[host]
        return left.pop(0) if len(left) > 1 else left[0]


@dataclass
class Harness:
    """A store and a dispatcher with the real transport, under a name server of ours."""

    store: Store
    names: Names
    log: RecordingLog
    dispatcher: Dispatcher
    policy: Policy

    async def subscribe(self, *urls: str) -> None:
        caller = make_caller(ORG_ID)

        def work(tx: WriteTx) -> None:
            for url in urls:
                request = CreateSubscription(url=url, events=["lead.created"])
                subscriptions.create_subscription(tx, caller, request, policy=self.policy)

        await self.store.write(work, ORG_ID)

    async def emit(self) -> None:
        await self.store.write(lambda tx: events.append(tx, "lead.created", LEAD), ORG_ID)

    async def ends(self, count: int) -> list[tuple[str, int, str, int | None, str]]:
        """Of deliveries that failed, once there are so many: URL, attempts, status, response code, last error."""
        while True:
            rows = await self.store.read(lambda tx: tx.rows(_SELECT_ENDS))
            if len(rows) >= count:
                return rows
            await trio.sleep(0.01)


@asynccontextmanager
async def harness(directory: Path, **answers: list[list[str]]) -> AsyncIterator[Harness]:
    """For the length of the block; each delivery has one attempt."""
    policy = Policy(parse_networks([PUBLIC]), allow_http=True)
    settings = WebhookSettings(policy=policy, retry=RetryPolicy(max_attempts=1))
    names, log = Names({f"{name}.example": given for name, given in answers.items()}), RecordingLog()
    with trio.fail_after(60):
        async with open_store(StoreSettings(directory=directory), SystemClock()) as store:
            await store.write(_add_organization, ORG_ID)
            sender = Sender(GuardedTransport(policy, names), user_agent="gatewayd/test", timeout_seconds=60)
            dispatcher = Dispatcher(
                DispatcherParts(store=store, sender=sender, clock=SystemClock(), settings=settings, log=log)
            )
            async with trio.open_nursery() as nursery:
                await nursery.start(dispatcher.run)
                yield Harness(store, names, log, dispatcher, policy)
                nursery.cancel_scope.cancel()
            await sender.aclose()


def _add_organization(tx: WriteTx) -> int:
    return tx.run("INSERT INTO organizations (id, name, created_at) VALUES (:org_id, 'Blocked Ltd', :now)")


@asynccontextmanager
async def trapped(receiver: Receiver) -> AsyncIterator[list[str]]:
    """A trap on the same port of the address inside; answers who came to it."""
    came: list[str] = []

    async def catch(stream: trio.SocketStream) -> None:
        came.append(stream.socket.getsockname()[0])
        await stream.aclose()

    async with trio.open_nursery() as nursery:
        listeners = await trio.open_tcp_listeners(receiver.port, host=INSIDE)
        nursery.start_soon(trio.serve_listeners, catch, listeners)
        yield came
        async with await trio.open_tcp_stream(INSIDE, receiver.port) as stream:  # whoever came before was counted
            await stream.receive_some()
        came.pop()
        nursery.cancel_scope.cancel()


@pytest.mark.parametrize("part", range(-(-len(BLOCKED) // SUBSCRIPTIONS_AT_ONCE)))
async def test_a_name_is_accepted_and_its_deliveries_are_blocked(tmp_path: Path, part: int) -> None:
    """One for each block of the tables: what a name means is only known when it is looked up."""
    some = dict(list(BLOCKED.items())[part * SUBSCRIPTIONS_AT_ONCE : (part + 1) * SUBSCRIPTIONS_AT_ONCE])
    async with harness(tmp_path, **{name: [list(answer)] for name, answer in some.items()}) as at:
        urls = [f"https://{name}.example/hooks" for name in some]
        await at.subscribe(*urls)
        await at.emit()
        assert await at.ends(len(urls)) == [(url, 1, "exhausted", None, "blocked_address") for url in urls]
        assert sorted(at.names.asked) == sorted(f"{name}.example" for name in some)
    assert at.log.events("error") == []
    details = [str(values["detail"]) for _, event, values in at.log.lines if event == "delivery_exhausted"]
    assert len(details) == len(some)
    assert all(" is " in detail for detail in details)


@pytest.mark.parametrize("answer", [[PUBLIC, INSIDE], [INSIDE, PUBLIC], [PUBLIC, "::ffff:127.0.0.2"], [PUBLIC, "::1"]])
async def test_one_answer_inside_blocks_the_name_and_touches_neither(tmp_path: Path, answer: list[str]) -> None:
    async with (
        open_receiver(closing(OK)) as receiver,
        trapped(receiver) as came,
        harness(tmp_path, mixed=[answer]) as at,
    ):
        url = f"http://mixed.example:{receiver.port}/hooks"
        await at.subscribe(url)
        await at.emit()
        assert await at.ends(1) == [(url, 1, "exhausted", None, "blocked_address")]
        assert receiver.connections == 0
    assert came == []


async def test_a_name_that_changes_its_mind_is_asked_once_for_each_connection(tmp_path: Path) -> None:
    """Rebinding: the second answer would be the one that is connected to, if the name were asked again."""
    answers = [[PUBLIC], [INSIDE], [PUBLIC]]
    async with (
        open_receiver(closing(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")) as receiver,
        trapped(receiver) as came,
        harness(tmp_path, rebinding=answers) as at,
    ):
        url = f"http://rebinding.example:{receiver.port}/hooks"
        await at.subscribe(url)
        await at.emit()
        while at.dispatcher.counts.succeeded < 1:
            await trio.sleep(0.01)
        assert (receiver.connections, at.names.asked) == (1, ["rebinding.example"])
        await at.emit()
        assert await at.ends(1) == [(url, 1, "exhausted", None, "blocked_address")]
        assert (receiver.connections, len(at.names.asked)) == (1, 2)
    assert came == []


@pytest.mark.parametrize("status", ["301 Moved", "302 Found", "303 See Other", "307 Temporary", "308 Permanent"])
async def test_a_redirect_is_not_followed(tmp_path: Path, status: str) -> None:
    async def redirecting(receiver: Receiver, stream: trio.SocketStream | trio.SSLStream[trio.SocketStream]) -> None:
        await receiver.request(stream)
        head = f"HTTP/1.1 {status}\r\nLocation: http://{INSIDE}:{receiver.port}/\r\nContent-Length: 0\r\n\r\n"
        await stream.send_all(head.encode())

    async with (
        open_receiver(redirecting) as receiver,
        trapped(receiver) as came,
        harness(tmp_path, redirecting=[[PUBLIC]]) as at,
    ):
        url = f"http://redirecting.example:{receiver.port}/hooks"
        await at.subscribe(url)
        await at.emit()
        assert await at.ends(1) == [(url, 1, "exhausted", int(status[:3]), "redirect_refused")]
        assert receiver.connections == 1
    assert came == []


async def test_the_trap_catches_who_may_come(tmp_path: Path) -> None:
    """So that its silence says something."""
    async with open_receiver(closing(OK)) as receiver, trapped(receiver) as came:
        stream = await trio.open_tcp_stream(INSIDE, receiver.port)
        await stream.receive_some()
        await stream.aclose()
    assert came == [INSIDE]
