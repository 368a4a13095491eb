"""The way to the one configured tax service: httpx over the guarded transport, bytes in and bytes out.

Nothing is decoded, no redirect is followed, no cookie is kept. An answer is read up to `ANSWER_BYTES_MAX`. Deadlines
are the caller's: wrap every call in a cancel scope.
"""

from collections.abc import AsyncIterator
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Final
from urllib.parse import urlsplit

import httpx
import tenacity
import trio

from gatewayd.outbound.errors import AddressBlockedError, OutboundError, ProtocolError, TlsError
from gatewayd.outbound.http_client import make_client
from gatewayd.outbound.transport import GuardedTransport
from gatewayd.tax.exchange import Answered, Outgoing

ANSWER_BYTES_MAX: Final = 5 << 20  # Domain model §D3
RETRY_WAIT_SECONDS: Final = 0.2  # Chosen


class Upstream:
    """The connections to one service. To be closed."""

    def __init__(self, transport: GuardedTransport, address: str, user_agent: str) -> None:
        """`address` is an origin with an optional path, without a closing slash."""
        parts = urlsplit(address)
        self._origin = httpx.URL(f"{parts.scheme}://{parts.netloc}")
        self._path = parts.path
        self._client = make_client(transport, user_agent)
        self._client.cookies = CookieJar(policy=DefaultCookiePolicy(allowed_domains=()))

    async def aclose(self) -> None:
        """Close the connections that are kept."""
        await self._client.aclose()

    async def send(self, outgoing: Outgoing) -> Answered:
        """The service's answer. A GET that got no answer, or one of the 5xx, is tried once more.

        Raises `OutboundError`.
        """
        if outgoing.body is not None:
            return await self._send_once(outgoing)
        retrying = tenacity.AsyncRetrying(
            stop=tenacity.stop_after_attempt(2),
            wait=tenacity.wait_fixed(RETRY_WAIT_SECONDS),
            retry=tenacity.retry_if_exception(_may_pass) | tenacity.retry_if_result(_is_fault),
            sleep=trio.sleep,
            retry_error_callback=_last,
        )
        return await retrying(self._send_once, outgoing)

    async def _send_once(self, outgoing: Outgoing) -> Answered:
        request = httpx.Request(
            "GET" if outgoing.body is None else "POST",
            self._origin.copy_with(raw_path=(self._path + outgoing.line).encode("ascii")),
            headers=list(outgoing.fields),
            content=outgoing.body,
        )
        request.stream = _Content(outgoing.body)
        try:
            answer = await self._client.send(request, stream=True)
            try:
                return Answered(answer.status_code, answer.headers.raw, await _body(answer))
            finally:
                await answer.aclose()
        except httpx.HTTPError as error:  # such as a redirect to what is no address
            raise ProtocolError(f"{type(error).__name__}: {error}") from error


class _Content(httpx.AsyncByteStream):
    """A request's body, or none. httpx's own is a generator, which a deadline may leave behind unclosed."""

    def __init__(self, body: bytes | None) -> None:
        self._left = [] if body is None else [body]

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self

    async def __anext__(self) -> bytes:
        if not self._left:
            raise StopAsyncIteration
        return self._left.pop()


async def _body(answer: httpx.Response) -> bytes:
    body = bytearray()
    with trio.CancelScope() as reading:
        async for part in answer.aiter_raw():
            body += part
            if len(body) > ANSWER_BYTES_MAX:
                reading.cancel()  # from within: httpcore cannot be left in the middle of a body without a warning
    if len(body) > ANSWER_BYTES_MAX:
        raise AnswerTooLargeError(f"the answer is larger than {ANSWER_BYTES_MAX} bytes")
    return bytes(body)


class AnswerTooLargeError(ProtocolError):
    """The answer goes past `ANSWER_BYTES_MAX`."""


def _may_pass(error: BaseException) -> bool:
    """Whether a second try may go better."""
    return isinstance(error, OutboundError) and not isinstance(
        error, AddressBlockedError | TlsError | AnswerTooLargeError
    )


def _is_fault(answered: Answered) -> bool:
    return answered.status >= 500


def _last(state: tenacity.RetryCallState) -> Answered:
    """What the second try has come to. Raises what it raised."""
    assert state.outcome is not None
    answered: Answered = state.outcome.result()
    return answered
