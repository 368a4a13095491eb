"""Who answers tax questions, and how a service over the network is asked: rate limit, breaker, one wait for a 429."""

import math
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Final, Protocol

import trio

from gatewayd.errors import Problem
from gatewayd.http1.log import Log
from gatewayd.http1.request import Request
from gatewayd.http1.response import Response
from gatewayd.outbound.errors import OutboundError
from gatewayd.tax.authority.headers import value_of
from gatewayd.tax.authority.rate_limit import Breaker, RateLimit

TOO_MANY: Final = 429
RETRY_AFTER_SECONDS: Final = 1.0  # Chosen: where a 429 does not say how long to wait
LATER: Final = b"1"  # seconds, the same in Retry-After


class Authority(Protocol):
    """Answers requests for one organization. Raises `Problem`; a deadline is the caller's.

    With `fresh`, an answer that was kept is not served.
    """

    async def answer(self, request: Request, org_id: str, *, fresh: bool = False) -> Response: ...


class Transport(Protocol):
    """A way to the service. Raises `OutboundError`."""

    async def send(self, request: Request) -> Response: ...


async def _alone() -> float:
    return 0.0


class RemoteAuthority:
    """A service over the network: calls wait their turn, and where it is down they are refused at once.

    `settling` answers how many seconds it is until every daemon keeps to its share of the limit.
    """

    def __init__(
        self,
        transport: Transport,
        limit: RateLimit,
        breaker: Breaker,
        log: Log,
        settling: Callable[[], Awaitable[float]] = _alone,
    ) -> None:
        self._settling = settling
        self._transport = transport
        self._limit = limit
        self._breaker = breaker
        self._log = log

    async def answer(self, request: Request, org_id: str, *, fresh: bool = False) -> Response:
        if not await self._wait_for_turn(org_id):
            raise self._queue_full(org_id)
        response = await self._send(request)
        if response.status != TOO_MANY:
            return response
        self._limit.hold(org_id, trio.current_time(), _retry_after(response))
        if _retry_after(response) > self._limit.queue_seconds or not await self._wait_for_turn(org_id):
            return _with_retry_after(response)
        response = await self._send(request)
        return _with_retry_after(response) if response.status == TOO_MANY else response

    async def _wait_for_turn(self, org_id: str) -> bool:
        """False: there is no room in the queue, or too much was asked of it meanwhile. Raises `StoreFailure`."""
        settling = await self._settling()
        if settling > self._limit.queue_seconds:
            return False
        await trio.sleep(settling)
        decided = trio.Event()
        turn = self._limit.enter(org_id, trio.current_time(), decided.set)
        if turn is None:
            return False
        try:
            while turn.granted is None:
                with trio.move_on_at(self._limit.next_at(org_id)):
                    await decided.wait()
                self._limit.advance(org_id, trio.current_time())
        finally:
            self._limit.leave(turn)
        return turn.granted

    async def _send(self, request: Request) -> Response:
        with self._watch():
            try:
                return await self._transport.send(request)
            except OutboundError as error:
                self._log.warning("tax_upstream_failed", error_code=error.code, detail=error.detail)
                raise Problem(
                    "tax_upstream_error",
                    "The tax service could not be reached, or broke off.",
                    extra={"upstream": {"status": None, "code": error.code}},
                ) from error

    @contextmanager
    def _watch(self) -> Iterator[None]:
        """Ask the breaker first, and tell it how the call ended. Raises `Problem` `unavailable`."""
        seconds = self._breaker.enter(trio.current_time())
        if seconds > 0:
            raise Problem(
                "unavailable",
                "The tax service is down. Try again later.",
                headers=((b"retry-after", b"%d" % math.ceil(seconds)),),
            )
        deadline = trio.current_effective_deadline()
        told = False
        try:
            yield
            self._breaker.succeeded()
            told = True
        except Problem:
            self._note_failed()
            told = True
            raise
        finally:
            if not told and trio.current_time() >= deadline:
                self._note_failed()
            elif not told:
                self._breaker.abandoned()

    def _note_failed(self) -> None:
        was_open = self._breaker.is_open
        self._breaker.failed(trio.current_time())
        if self._breaker.is_open and not was_open:
            self._log.warning("tax_upstream_down")

    def _queue_full(self, org_id: str) -> Problem:
        seconds = math.ceil(self._limit.wait_seconds(org_id, trio.current_time()))
        return Problem(
            "rate_limited",
            "Too many requests to the tax service are waiting.",
            headers=((b"retry-after", b"%d" % max(1, seconds)),),
        )


def _retry_after(response: Response) -> float:
    """The seconds that a 429 asks for. A date is passed on and not waited for."""
    text = value_of(response.headers, b"retry-after")
    if text is None:
        return RETRY_AFTER_SECONDS
    return float(text) if text.isascii() and text.isdigit() and len(text) < 6 else math.inf


def _with_retry_after(response: Response) -> Response:
    if value_of(response.headers, b"retry-after") is not None:
        return response
    return response.plus([(b"Retry-After", LATER)])
