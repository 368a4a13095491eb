"""The guarded transport on loopback: what it vets, where it connects, and what its refusals say."""

import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from ipaddress import ip_address
from pathlib import Path

import pytest
import trio
import trustme

from gatewayd.outbound.addresses import parse_networks
from gatewayd.outbound.errors import AddressBlockedError, ConnectError, NameLookupError, OutboundError, TlsError
from gatewayd.outbound.listeners import Listener, is_local, is_own, no_listeners
from gatewayd.outbound.resolver import SystemResolver
from gatewayd.outbound.targets import parse_target
from gatewayd.outbound.transport import GuardedTransport, Policy
from tests.outbound.test_addresses import BLOCKED
from tests.outbound.test_targets import LOOPBACK_SPELLINGS

LOOPBACK = parse_networks(["127.0.0.0/8", "::1"])


class FakeResolver:
    """Answers from a list, one entry per call, the last one for ever."""

    def __init__(self, *answers: Sequence[str] | OSError) -> None:
        self.answers = list(answers)
        self.calls: list[tuple[str, int]] = []

    async def __call__(self, host: str, port: int) -> Sequence[str]:
        await trio.lowlevel.checkpoint()
        self.calls.append((host, port))
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, OSError):
            raise answer
        return answer


@asynccontextmanager
async def listening(
    handler: Callable[[trio.SocketStream], Awaitable[object]], host: str = "127.0.0.1", port: int = 0
) -> AsyncIterator[int]:
    """Serves for the length of the block; on a free port unless one is given."""
    with trio.fail_after(60):
        async with trio.open_nursery() as nursery:
            listeners = await trio.open_tcp_listeners(port, host=host)
            nursery.start_soon(trio.serve_listeners, handler, listeners)
            yield listeners[0].socket.getsockname()[1]
            nursery.cancel_scope.cancel()


async def echo_once(stream: trio.SocketStream) -> None:
    async with stream:
        await stream.send_all(await stream.receive_some(100))


async def knock(port: int, host: str = "127.0.0.1") -> None:
    """Connect to a trap on loopback and wait until it has seen that, and so whoever came before."""
    async with await trio.open_tcp_stream(host, port) as stream:
        await stream.receive_some()


def open_transport(
    resolver: FakeResolver, own_listeners: Callable[[], Iterable[Listener]] = no_listeners
) -> GuardedTransport:
    return GuardedTransport(Policy(LOOPBACK, allow_http=True, own_listeners=own_listeners), resolver)


async def refused(transport: GuardedTransport, url: str) -> OutboundError:
    with trio.fail_after(60), pytest.raises(OutboundError) as caught:
        await transport.connect(parse_target(url, allow_http=True))
    return caught.value


async def test_a_name_is_looked_up_once_and_the_vetted_address_is_used() -> None:
    resolver = FakeResolver(["127.0.0.1"], ["10.0.0.1"])  # what a rebinding name server would answer next
    async with listening(echo_once) as port:
        stream = await open_transport(resolver).connect(
            parse_target(f"http://receiver.example:{port}/", allow_http=True)
        )
        assert isinstance(stream, trio.SocketStream)
        assert stream.socket.getpeername() == ("127.0.0.1", port)
        await stream.send_all(b"hello")
        assert await stream.receive_some() == b"hello"
        await stream.aclose()
        assert resolver.calls == [("receiver.example", port)]


async def test_each_new_connection_is_vetted_again() -> None:
    resolver = FakeResolver(["127.0.0.1"], ["10.0.0.1"])
    transport = open_transport(resolver)
    async with listening(echo_once) as port:
        url = f"http://receiver.example:{port}/"
        await (await transport.connect(parse_target(url, allow_http=True))).aclose()
        assert (await refused(transport, url)).code == "blocked_address"
        assert len(resolver.calls) == 2


@pytest.mark.parametrize(
    "answer",
    [
        ["93.184.216.34", "10.0.0.1"],
        ["10.0.0.1", "93.184.216.34"],
        ["93.184.216.34", "2606:4700::1111", "::ffff:192.168.0.1"],
        [*(f"93.184.216.{last}" for last in range(20)), "fd00:ec2::254"],  # past the number that would be tried
    ],
)
async def test_one_non_public_answer_refuses_the_name(answer: list[str]) -> None:
    error = await refused(GuardedTransport(Policy(), FakeResolver(answer)), "https://mixed.example/")
    assert isinstance(error, AddressBlockedError)
    assert "mixed.example is " in error.detail


@pytest.fixture(scope="module")
def strict() -> GuardedTransport:
    """Nothing is allowed; a name resolves to what stands under it in `BLOCKED`."""

    async def resolve(host: str, port: int) -> Sequence[str]:
        await trio.lowlevel.checkpoint()
        return BLOCKED[host.removesuffix(".example")]

    return GuardedTransport(Policy(), resolve)


@pytest.mark.parametrize("name", BLOCKED)
async def test_a_name_that_resolves_into_a_block_is_refused(strict: GuardedTransport, name: str) -> None:
    assert (await refused(strict, f"https://{name}.example/")).code == "blocked_address"


@pytest.mark.parametrize("text", [text for texts in BLOCKED.values() for text in texts if "%" not in text])
async def test_a_literal_inside_a_block_is_refused(strict: GuardedTransport, text: str) -> None:
    host = f"[{text}]" if ":" in text else text
    assert (await refused(strict, f"https://{host}/")).code == "blocked_address"


@pytest.mark.parametrize("host", [*LOOPBACK_SPELLINGS, "[::1]", "[::ffff:127.0.0.1]", "0", "[::]", "localhost"])
async def test_no_spelling_reaches_a_listener_on_loopback(host: str) -> None:
    trapped: list[int] = []

    async def trap(stream: trio.SocketStream) -> None:
        trapped.append(stream.socket.getsockname()[1])
        await stream.aclose()

    transport = GuardedTransport(Policy(allow_http=True))
    async with listening(trap) as port, listening(trap, "::1", port):
        error = await refused(transport, f"http://{host}:{port}/")
        await knock(port)
        await knock(port, "::1")
    assert (error.code, trapped) == ("blocked_address", [port, port])


@pytest.mark.parametrize("answers", [["93.184.216.34", "127.0.0.1"], ["127.0.0.1", "93.184.216.34"]])
async def test_a_mixed_answer_reaches_neither(answers: list[str]) -> None:
    trapped: list[int] = []

    async def trap(stream: trio.SocketStream) -> None:
        trapped.append(stream.socket.getsockname()[1])
        await stream.aclose()

    async with listening(trap) as port:
        transport = GuardedTransport(Policy(allow_http=True), FakeResolver(answers))
        assert (await refused(transport, f"http://mixed.example:{port}/")).code == "blocked_address"
        await knock(port)
    assert trapped == [port]


async def test_an_answer_with_a_zone_is_refused_though_its_network_is_allowed() -> None:
    policy = Policy(parse_networks(["fe80::/10", "::1"]))
    for answer in ("fe80::1%1", "::1%1"):
        assert (await refused(GuardedTransport(policy, FakeResolver([answer])), "https://x.example/")).code == (
            "blocked_address"
        )


@pytest.mark.parametrize(
    "url",
    ["https://127.1/", "https://2130706433/", "https://[::1]/", "https://[::ffff:a00:1]/", "https://169.254.169.254/"],
)
async def test_literal_addresses_are_vetted_without_a_lookup(url: str) -> None:
    resolver = FakeResolver(OSError("never asked"))
    assert (await refused(GuardedTransport(Policy(), resolver), url)).code == "blocked_address"
    assert resolver.calls == []


async def test_plain_http_needs_leave_at_connect_time_too() -> None:
    error = await refused(GuardedTransport(Policy(), FakeResolver(["93.184.216.34"])), "http://example.com/")
    assert (error.code, error.detail) == ("blocked_address", "plain http is not allowed here")


@pytest.mark.parametrize("answer", [socket.gaierror(-2, "Name or service not known"), [], ["not an address"]])
async def test_lookup_failures(answer: list[str] | OSError) -> None:
    error = await refused(GuardedTransport(Policy(), FakeResolver(answer)), "https://gone.example/")
    assert isinstance(error, NameLookupError)
    assert error.code == "dns"
    assert error.detail.startswith("gone.example: ")


async def test_addresses_are_tried_in_order() -> None:
    async with listening(echo_once) as port:
        transport = open_transport(FakeResolver(["127.0.0.9", "127.0.0.1"]))  # nobody listens on the first one
        stream = await transport.open_tcp("receiver.example", port)
        assert stream.socket.getpeername()[0] == "127.0.0.1"
        await stream.aclose()


async def test_a_black_hole_costs_a_second_and_the_next_address_is_tried(mock_clock: trio.testing.MockClock) -> None:
    mock_clock.rate = 20
    with socket.socket() as hole, socket.socket() as filler, socket.socket() as open_port, trio.fail_after(100):
        open_port.bind(("127.0.0.1", 0))
        open_port.listen()
        port = open_port.getsockname()[1]
        hole.bind(("127.0.0.9", port))
        hole.listen(0)
        filler.connect(("127.0.0.9", port))  # an accept queue of one, taken: further SYNs are dropped
        started = trio.current_time()
        stream = await open_transport(FakeResolver(["127.0.0.9", "127.0.0.1"])).open_tcp("receiver.example", port)
        assert stream.socket.getpeername()[0] == "127.0.0.1"
        assert trio.current_time() - started >= 1
        await stream.aclose()


async def test_when_no_address_accepts_each_refusal_is_named() -> None:
    with socket.socket() as bound:  # bound, not listening: connections are refused
        bound.bind(("127.0.0.1", 0))
        port = bound.getsockname()[1]
        error = await refused(open_transport(FakeResolver(["127.0.0.9", "127.0.0.1"])), f"http://x.example:{port}/")
    assert isinstance(error, ConnectError)
    assert error.detail.count("Connection refused") == 2


async def test_ipv6_literals_connect() -> None:
    async with listening(echo_once, "::1") as port:
        stream = await open_transport(FakeResolver([])).connect(parse_target(f"http://[::1]:{port}/", allow_http=True))
        await stream.aclose()


@pytest.mark.parametrize("bound", ["127.0.0.1", "0.0.0.0", "::", "::ffff:127.0.0.1", "localhost"])
@pytest.mark.parametrize("answer", ["127.0.0.1", "::ffff:127.0.0.1"])
async def test_own_listeners_are_refused_even_in_allowed_networks(bound: str, answer: str) -> None:
    transport = open_transport(FakeResolver([answer]), own_listeners=lambda: [(bound, 8443)])
    error = await refused(transport, "https://me.example:8443/")
    assert (error.code, "own listener" in error.detail) == ("blocked_address", True)


async def test_own_listeners_are_asked_at_each_connect() -> None:
    listeners: list[tuple[str, int]] = []
    async with listening(echo_once) as port:
        transport = open_transport(FakeResolver(["127.0.0.1"]), own_listeners=lambda: listeners)
        url = f"http://me.example:{port}/"
        await (await transport.connect(parse_target(url, allow_http=True))).aclose()
        listeners.append(("0.0.0.0", port))
        assert (await refused(transport, url)).code == "blocked_address"


def test_another_port_or_another_machine_is_not_ours() -> None:
    wildcard = [("0.0.0.0", 443)]
    assert not is_own(ip_address("127.0.0.1"), 8443, wildcard)
    assert not is_own(ip_address("93.184.216.34"), 443, wildcard)
    assert not is_own(ip_address("127.0.0.2"), 443, [("127.0.0.1", 443)])
    assert is_own(ip_address("64:ff9b::127.0.0.1"), 443, wildcard)


@pytest.mark.parametrize("bound", ["0.0.0.0", "::", "localhost"])
def test_a_wildcard_is_reached_through_any_address_of_this_machine(bound: str) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect(("203.0.113.1", 9))  # a datagram socket: no packet leaves
        mine = ip_address(probe.getsockname()[0])
    for address in (mine, ip_address("127.0.0.1"), ip_address("127.9.9.9"), ip_address("::1")):
        assert is_own(address, 443, [(bound, 443)]), address


@pytest.mark.parametrize(
    "text", ["::127.0.0.1", "::ffff:0:127.0.0.1", "2002:7f00:1::1", "64:ff9b:1::127.0.0.1", "2606:4700::5efe:127.0.0.1"]
)
def test_an_embedding_of_our_address_leads_to_us(text: str) -> None:
    assert is_own(ip_address(text), 443, [("127.0.0.1", 443)])
    assert not is_own(ip_address(text), 443, [("127.0.0.2", 443)])


def test_local_addresses_are_told_without_sending() -> None:
    assert is_local(ip_address("127.0.0.77"))
    assert is_local(ip_address("::1"))
    assert not is_local(ip_address("192.0.2.1"))
    assert not is_local(ip_address("2001:db8::1"))


async def test_the_system_resolver_reads_names_of_this_machine() -> None:
    with trio.fail_after(60):
        assert "127.0.0.1" in await SystemResolver()("localhost", 443)


async def test_a_lookup_that_hangs_is_abandoned_at_the_deadline(autojump_clock: trio.testing.MockClock) -> None:
    async def hang(host: str, port: int) -> Sequence[str]:
        await trio.sleep_forever()
        raise AssertionError

    with trio.move_on_after(10) as deadline:
        await GuardedTransport(Policy(), hang).connect(parse_target("https://slow.example/"))
    assert deadline.cancelled_caught


async def test_a_ca_file_is_trusted_beside_the_system_store(tmp_path: Path) -> None:
    authority = trustme.CA()
    authority.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
    plain = GuardedTransport(Policy()).ssl_context.cert_store_stats()["x509"]
    extended = GuardedTransport(Policy(ca_file=str(tmp_path / "ca.pem"))).ssl_context.cert_store_stats()["x509"]
    assert extended == plain + 1


def test_a_missing_ca_file_is_an_error_at_start(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="No such file"):
        GuardedTransport(Policy(ca_file=str(tmp_path / "none.pem")))


async def test_a_broken_handshake_closes_the_socket() -> None:
    gone = trio.Event()

    async def garbage(stream: trio.SocketStream) -> None:
        await stream.receive_some(1)
        await stream.send_all(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        while await stream.receive_some():
            pass
        gone.set()

    async with listening(garbage) as port:
        error = await refused(open_transport(FakeResolver(["127.0.0.1"])), f"https://plain.example:{port}/")
        assert isinstance(error, TlsError)
        assert "WRONG_VERSION_NUMBER" in error.detail
        await gone.wait()
