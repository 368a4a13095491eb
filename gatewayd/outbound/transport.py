"""Opens connections to strangers' servers, and to nothing else.

A name is resolved once; if any answer is not public, all are refused; the connection goes to a vetted answer, never to
the name again, so an answer that changes in between (DNS rebinding) has no second chance. TLS checks the original name.
Proxies of the environment are not consulted. Deadlines are the caller's: wrap every call in a cancel scope.
"""

import ssl
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import trio

from gatewayd.outbound.addresses import IPAddress, IPNetwork, parse_address, refusal, unmapped
from gatewayd.outbound.errors import AddressBlockedError, ConnectError, NameLookupError, OutboundError, TlsError
from gatewayd.outbound.listeners import Listener, is_own, no_listeners
from gatewayd.outbound.phases import Phases
from gatewayd.outbound.resolver import Resolver, SystemResolver
from gatewayd.outbound.targets import Target

SECONDS_PER_ADDRESS: Final = 1.0  # Chosen: a black-holed address costs this much, unless it is the last one
MAX_ADDRESSES_TRIED: Final = 8  # Chosen: all are vetted, this many are tried

GuardedStream = trio.SocketStream | trio.SSLStream[trio.SocketStream]


@dataclass(slots=True)
class Policy:
    """What the operator allows beyond the public internet over https. The networks may change: all hold the one."""

    allow_networks: tuple[IPNetwork, ...] = ()
    allow_http: bool = False
    ca_file: str | None = None  # PEM file trusted besides the system's store
    own_listeners: Callable[[], Iterable[Listener]] = no_listeners  # asked at each connect; refused in any case

    def change(self, allow_networks: tuple[IPNetwork, ...]) -> None:
        """Allow these networks, and no others, from the next look on."""
        self.allow_networks = allow_networks


class GuardedTransport:
    """The only way out of the daemon to addresses that users name."""

    def __init__(self, policy: Policy, resolve: Resolver | None = None) -> None:
        """Raises OSError or ssl.SSLError when `ca_file` cannot be read."""
        self.policy = policy
        self._ssl_context = _make_context(policy.ca_file) if policy.ca_file else None
        self._loading = trio.Lock()
        self._resolve: Resolver = resolve or SystemResolver()

    @property
    def ssl_context(self) -> ssl.SSLContext:
        """The one TLS context, made when it is first asked for: reading the system's certificates takes 25 ms."""
        if self._ssl_context is None:
            self._ssl_context = _make_context(None)
        return self._ssl_context

    async def connect(self, target: Target, phases: Phases | None = None) -> GuardedStream:
        """Opens a connection ready for the request. Raises OutboundError."""
        if not target.tls and not self.policy.allow_http:
            raise AddressBlockedError("plain http is not allowed here")
        stream = await self.open_tcp(target.host, target.port, phases)
        if not target.tls:
            return stream
        return await self.start_tls(stream, target.host, phases)

    async def open_tcp(self, host: str, port: int, phases: Phases | None = None) -> trio.SocketStream:
        """Resolves, vets and connects. Raises AddressBlockedError, NameLookupError or ConnectError."""
        phases = phases or Phases()
        phases.enter("dns")
        addresses = await self.vetted(host, port)
        phases.enter("connect")
        return await _connect_first(addresses[:MAX_ADDRESSES_TRIED], port)

    async def vetted(self, host: str, port: int) -> tuple[IPAddress, ...]:
        """The addresses a connection may go to: never empty. One lookup; none when `host` is an address."""
        literal = parse_address(host)
        addresses = (unmapped(literal),) if literal is not None else await self._look_up(host, port)
        for address in addresses:
            why = refusal(address, self.policy.allow_networks)
            if why is None and is_own(address, port, self.policy.own_listeners()):
                why = "this daemon's own listener"
            if why is not None:
                raise AddressBlockedError(f"{host} is {address}: {why}")
        return addresses

    async def _look_up(self, host: str, port: int) -> tuple[IPAddress, ...]:
        try:
            texts = await self._resolve(host, port)
        except (OSError, UnicodeError) as error:
            raise NameLookupError(f"{host}: {error}") from error
        parsed = [parse_address(text) for text in texts]
        addresses = tuple(dict.fromkeys(unmapped(address) for address in parsed if address is not None))
        if not addresses or None in parsed:
            raise NameLookupError(f"{host}: no usable address in the answer")
        return addresses

    async def start_tls(
        self, stream: trio.SocketStream, server_hostname: str, phases: Phases | None = None
    ) -> trio.SSLStream[trio.SocketStream]:
        """Shakes hands, checking the certificate against the original name; closes the stream on any failure.

        Raises TlsError, or ConnectError when the connection broke under the handshake.
        """
        if phases is not None:
            phases.enter("tls")
        done = False
        try:
            if self._ssl_context is None:
                await self._load_context()
            encrypted = trio.SSLStream(stream, self.ssl_context, server_hostname=server_hostname, https_compatible=True)
            await encrypted.do_handshake()
            done = True
        except trio.BrokenResourceError as error:
            raise broken(error, f"handshake with {server_hostname}") from error
        finally:
            if not done:
                stream.socket.close()
        return encrypted

    async def _load_context(self) -> None:
        """Once, however many wait for it."""
        async with self._loading:
            if self._ssl_context is None:
                thread = trio.CapacityLimiter(1)
                self._ssl_context = await trio.to_thread.run_sync(_make_context, None, limiter=thread)


def _make_context(ca_file: str | None) -> ssl.SSLContext:
    """Raises `OSError` or `ssl.SSLError`."""
    context = ssl.create_default_context()
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_alpn_protocols(["http/1.1"])
    if ca_file:
        context.load_verify_locations(ca_file)
    return context


def broken(error: BaseException, doing: str) -> OutboundError:
    """The failure behind trio's BrokenResourceError, whose own message is empty: the reason is down the cause chain."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ssl.SSLCertVerificationError):
            return TlsError(f"{doing}: certificate: {cause.verify_message}")
        if isinstance(cause, ssl.SSLError):
            return TlsError(f"{doing}: {cause.reason or cause}")
        if isinstance(cause, OSError):
            return ConnectError(f"{doing}: {cause.strerror or cause}")
        cause = cause.__cause__ or cause.__context__
    return ConnectError(f"{doing}: connection broken")


async def _connect_first(addresses: Sequence[IPAddress], port: int) -> trio.SocketStream:
    """Connects to the first address that accepts, in order. Raises ConnectError naming what each one said."""
    failures: list[str] = []
    for position, address in enumerate(addresses, start=1):
        seconds = float("inf") if position == len(addresses) else SECONDS_PER_ADDRESS
        with trio.move_on_after(seconds):
            try:
                return await _connect(address, port)
            except OSError as error:
                failures.append(f"{address} port {port}: {error.strerror or error}")
                continue
        failures.append(f"{address} port {port}: no answer in {SECONDS_PER_ADDRESS} s")
    raise ConnectError("; ".join(failures))


async def _connect(address: IPAddress, port: int) -> trio.SocketStream:
    family = trio.socket.AF_INET if address.version == 4 else trio.socket.AF_INET6
    sock = trio.socket.socket(family, trio.socket.SOCK_STREAM)
    connected = False
    try:
        await sock.connect((str(address), port))
        connected = True
    finally:
        if not connected:
            sock.close()
    return trio.SocketStream(sock)
