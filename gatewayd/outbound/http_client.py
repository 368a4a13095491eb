"""httpx over the guarded transport: for the few exchanges with strangers that want a whole HTTP client.

What goes wrong on the way comes out as `OutboundError`, as it does everywhere on this floor. Redirects and proxies of
the environment are not followed; deadlines are the caller's: wrap every exchange in a cancel scope.
"""

import contextlib
import math
import ssl
from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator
from typing import Any

import httpcore
import httpx
import trio

from gatewayd.http1.request import Request
from gatewayd.http1.response import Response
from gatewayd.outbound.errors import ConnectError, DeadlineError, ProtocolError
from gatewayd.outbound.transport import GuardedStream, GuardedTransport, broken

CONNECTIONS_MAX = 16  # Chosen
IDLE_SECONDS = 5.0  # Chosen


def make_client(transport: GuardedTransport, user_agent: str, max_bytes: int | None = None) -> httpx.AsyncClient:
    """A client that connects through `transport` alone. To be closed.

    `max_bytes` is what one connection may bring, headers and bodies together; then each serves one exchange. It is
    kept where bytes come in, since httpcore cannot be left in the middle of a body without a warning.
    """
    return httpx.AsyncClient(
        transport=_GuardedHttp(transport, max_bytes),
        headers={"user-agent": user_agent, "accept-encoding": "identity"},
        timeout=None,
        follow_redirects=False,
        trust_env=False,
    )


class ResponseTooLargeError(ProtocolError):
    """The response goes past what is wanted of it."""


class OneServer:
    """Kept connections to one server, below httpx: nothing is decoded, followed or remembered. To be closed."""

    def __init__(self, transport: GuardedTransport, address: str) -> None:
        """`address` is an origin; a path in it goes before that of every request."""
        self._pool = _pool(transport, None)
        url = httpx.URL(address)
        self._url = httpcore.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=b"")
        self._authority = url.netloc
        self._path = url.raw_path.rstrip(b"/")

    async def aclose(self) -> None:
        """Close the connections that are kept."""
        await self._pool.aclose()

    async def send(self, request: Request, max_bytes: int) -> Response:
        """The whole response. `Host` and `Content-Length` are added to the request's header fields.

        Raises `OutboundError`, `ResponseTooLargeError` where the body is larger than `max_bytes`.
        """
        url, target, body = self._url, self._path + request.target.encode("ascii"), request.body
        has_body = bool(body) or request.method != "GET"
        length = [(b"Content-Length", b"%d" % len(body))] if has_body else []
        sent = httpcore.Request(
            request.method,
            httpcore.URL(scheme=url.scheme, host=url.host, port=url.port, target=target),
            headers=[(b"Host", self._authority), *length, *request.headers],
            content=_Content(body if has_body else None),
        )
        with _raise_outbound_errors():
            response = await self._pool.handle_async_request(sent)
            try:
                return Response(response.status, response.headers, await _read_body(response, max_bytes))
            finally:
                await response.aclose()


class _Content:
    """A request's body, or none. httpcore's own is a generator, which a deadline may leave behind unclosed."""

    def __init__(self, body: bytes | None) -> None:
        self._left = [] if body is None else [body]

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self

    async def __anext__(self) -> bytes:
        if not self._left:
            raise StopAsyncIteration
        return self._left.pop()


async def _read_body(response: httpcore.Response, max_bytes: int) -> bytes:
    assert isinstance(response.stream, AsyncIterable)
    body = bytearray()
    with trio.CancelScope() as reading:
        async for part in response.stream:
            body += part
            if len(body) > max_bytes:
                reading.cancel()  # from within: httpcore cannot be left in the middle of a body without a warning
    if len(body) > max_bytes:
        raise ResponseTooLargeError(f"the response is larger than {max_bytes} bytes")
    return bytes(body)


def _pool(transport: GuardedTransport, max_bytes: int | None) -> httpcore.AsyncConnectionPool:
    return httpcore.AsyncConnectionPool(
        ssl_context=transport.ssl_context,
        max_connections=CONNECTIONS_MAX,
        max_keepalive_connections=None if max_bytes is None else 0,
        keepalive_expiry=IDLE_SECONDS,
        network_backend=_GuardedBackend(transport, math.inf if max_bytes is None else max_bytes),
    )


class _GuardedHttp(httpx.AsyncBaseTransport):
    """httpx's side of a pool of httpcore's."""

    def __init__(self, transport: GuardedTransport, max_bytes: int | None) -> None:
        self._pool = _pool(transport, max_bytes)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        url = httpcore.URL(
            scheme=request.url.raw_scheme,
            host=request.url.raw_host,
            port=request.url.port,
            target=request.url.raw_path,
        )
        sent = httpcore.Request(
            method=request.method, url=url, headers=request.headers.raw, content=request.stream, extensions={}
        )
        with _raise_outbound_errors():
            response = await self._pool.handle_async_request(sent)
        return httpx.Response(
            response.status, headers=response.headers, stream=_Body(response), extensions=response.extensions
        )

    async def aclose(self) -> None:
        await self._pool.aclose()


class _Body(httpx.AsyncByteStream):
    def __init__(self, response: httpcore.Response) -> None:
        self._response = response

    async def __aiter__(self) -> AsyncIterator[bytes]:
        assert isinstance(self._response.stream, AsyncIterable)
        with _raise_outbound_errors():
            async for part in self._response.stream:
                yield part

    async def aclose(self) -> None:
        await self._response.aclose()


class _GuardedBackend(httpcore.AsyncNetworkBackend):
    """Where httpcore gets its connections: resolved once, vetted, and connected to the vetted address."""

    def __init__(self, transport: GuardedTransport, max_bytes: float) -> None:
        self._transport = transport
        self._max_bytes = max_bytes

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        with _within(timeout):
            stream = await self._transport.open_tcp(host.strip("[]"), port)
        return _GuardedNetworkStream(self._transport, stream, self._max_bytes)

    async def connect_unix_socket(
        self, path: str, timeout: float | None = None, socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None
    ) -> httpcore.AsyncNetworkStream:
        raise ConnectError("strangers have no sockets here")

    async def sleep(self, seconds: float) -> None:
        await trio.sleep(seconds)


class _GuardedNetworkStream(httpcore.AsyncNetworkStream):
    def __init__(self, transport: GuardedTransport, stream: GuardedStream, bytes_left: float) -> None:
        self._transport = transport
        self._stream = stream
        self._bytes_left = bytes_left

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        with _within(timeout):
            received = bytes(await self._stream.receive_some(max_bytes))
        self._bytes_left -= len(received)
        if self._bytes_left < 0:
            raise ProtocolError("the response is too large")
        return received

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        if not buffer:
            return  # httpcore writes the end of a request that has no body, too
        with _within(timeout):
            await self._stream.send_all(buffer)

    async def aclose(self) -> None:
        await trio.aclose_forcefully(self._stream)

    async def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.AsyncNetworkStream:
        assert isinstance(self._stream, trio.SocketStream)
        with _within(timeout):
            encrypted = await self._transport.start_tls(self._stream, (server_hostname or "").strip("[]"))
        return _GuardedNetworkStream(self._transport, encrypted, self._bytes_left)

    def get_extra_info(self, info: str) -> Any:
        """httpcore asks whether an idle connection has something to read: then its peer has closed it."""
        if info != "is_readable":
            return None
        stream = self._stream
        socket = stream.transport_stream.socket if isinstance(stream, trio.SSLStream) else stream.socket
        return socket.is_readable()


@contextlib.contextmanager
def _within(timeout: float | None) -> Iterator[None]:
    try:
        with contextlib.nullcontext() if timeout is None else trio.fail_after(timeout):
            yield
    except trio.TooSlowError:
        raise DeadlineError(f"no answer in {timeout} s") from None
    except (trio.BrokenResourceError, trio.ClosedResourceError) as error:
        raise broken(error, "exchange") from error


@contextlib.contextmanager
def _raise_outbound_errors() -> Iterator[None]:
    try:
        yield
    except httpcore.TimeoutException as error:
        raise DeadlineError(str(error)) from error
    except httpcore.ProtocolError as error:
        raise ProtocolError(str(error)) from error
    except (httpcore.NetworkError, httpcore.UnsupportedProtocol) as error:
        raise ConnectError(str(error)) from error
