"""The way to the one configured tax service: the guarded transport, bytes in and bytes out.

Nothing is decoded, no redirect is followed, no cookie is kept. An answer is read up to `ANSWER_BYTES_MAX`. Deadlines
are the caller's: wrap every call in a cancel scope.
"""

from typing import Final

import tenacity
import trio

from gatewayd.http1.request import Request
from gatewayd.http1.response import Response
from gatewayd.outbound.errors import AddressBlockedError, OutboundError, TlsError
from gatewayd.outbound.http_client import OneServer, ResponseTooLargeError
from gatewayd.outbound.transport import GuardedTransport

ANSWER_BYTES_MAX: Final = 5 << 20  # Domain model §D3
RETRY_WAIT_SECONDS: Final = 0.2  # Chosen


class Upstream:
    """The connections to one service. To be closed."""

    def __init__(self, transport: GuardedTransport, address: str) -> None:
        """`address` is an origin with an optional path, without a closing slash."""
        self._server = OneServer(transport, address)

    async def aclose(self) -> None:
        """Close the connections that are kept."""
        await self._server.aclose()

    async def send(self, request: Request) -> Response:
        """The service's answer. A GET that got no answer, or one of the 5xx, is tried once more.

        Raises `OutboundError`.
        """
        if request.method != "GET":
            return await self._send_once(request)
        retrying = tenacity.AsyncRetrying(
            stop=tenacity.stop_after_attempt(2),
            wait=tenacity.wait_fixed(RETRY_WAIT_SECONDS),
            retry=tenacity.retry_if_exception(_may_pass) | tenacity.retry_if_result(_is_fault),
            sleep=trio.sleep,
            retry_error_callback=_last,
        )
        return await retrying(self._send_once, request)

    async def _send_once(self, request: Request) -> Response:
        return await self._server.send(request, ANSWER_BYTES_MAX)


def _may_pass(error: BaseException) -> bool:
    """Whether a second try may go better."""
    return isinstance(error, OutboundError) and not isinstance(
        error, AddressBlockedError | TlsError | ResponseTooLargeError
    )


def _is_fault(response: Response) -> bool:
    return response.status >= 500


def _last(state: tenacity.RetryCallState) -> Response:
    """What the second try has come to. Raises what it raised."""
    assert state.outcome is not None
    response: Response = state.outcome.result()
    return response
