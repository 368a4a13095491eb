"""Client ID Metadata Documents: a client's id is the address of what it says about itself, which is fetched and kept.

draft-ietf-oauth-client-id-metadata-document §5: over the guarded transport, bounded in size and time, without
following redirects, and kept for as long as the answer's headers say, within bounds of ours.
"""

import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from ipaddress import IPv4Address
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

import msgspec
import trio

from gatewayd.clock import SECOND, Clock, Instant
from gatewayd.identity.clients.client_metadata import METADATA_BYTES_MAX, ClientMetadata, validate_document
from gatewayd.identity.clients.oauth_errors import DirectFailure, OAuthFailure
from gatewayd.outbound.errors import AddressBlockedError, OutboundError, ProtocolError, TargetError
from gatewayd.outbound.targets import parse_target
from gatewayd.outbound.transport import GuardedTransport

if TYPE_CHECKING:
    import httpx

FETCH_SECONDS = 5.0  # Chosen: a person waits; both tries together
RETRY_WAIT_SECONDS = 0.2  # Chosen
FETCHES_AT_ONCE = 8  # Chosen
HEADER_BYTES_MAX = 32 * 1024  # Chosen
FRESH_SECONDS_MIN = 5 * 60  # Chosen
FRESH_SECONDS_MAX = 24 * 60 * 60  # Chosen
FRESH_SECONDS_DEFAULT = 60 * 60  # Chosen: for an answer that says nothing
FAILED_SECONDS = 30  # Chosen: how long an address that failed is not asked again
FAILED_MAX = 1_000  # Chosen

_MAX_AGE = re.compile(r"(?:^|[\s,])max-age\s*=\s*\"?([0-9]{1,9})", re.IGNORECASE)
_KEEP_NOT = re.compile(r"(?:^|[\s,])(?:no-store|no-cache)\b", re.IGNORECASE)


class Document(NamedTuple):
    """What was fetched, and until when it may be used without asking again."""

    metadata: ClientMetadata
    fresh_until: Instant


class ClientDocuments:
    """Fetches documents. Make one for each daemon, and close it."""

    def __init__(
        self, transport: GuardedTransport, clock: Clock, user_agent: str, fetch_seconds: float = FETCH_SECONDS
    ) -> None:
        self._transport = transport
        self._user_agent = user_agent
        self._client: httpx.AsyncClient | None = None
        self._clock = clock
        self._fetch_seconds = fetch_seconds
        self._limiter = trio.CapacityLimiter(FETCHES_AT_ONCE)
        self._threads = trio.CapacityLimiter(FETCHES_AT_ONCE)
        self._under_way: dict[str, trio.Event] = {}
        self._failed: dict[str, tuple[Instant, str]] = {}

    async def aclose(self) -> None:
        """Close the connections that are kept."""
        if self._client is not None:
            await self._client.aclose()

    @asynccontextmanager
    async def turn(self, url: str) -> AsyncIterator[None]:
        """One at a time for each address: whoever waited looks first whether the document has come meanwhile."""
        while url in self._under_way:
            await self._under_way[url].wait()
        done = self._under_way[url] = trio.Event()
        try:
            yield
        finally:
            del self._under_way[url]
            done.set()

    async def fetch(self, url: str) -> Document:
        """The document at a client id, whose host is written as it is meant.

        Raises `DirectFailure` `invalid_client`, with a sentence for the developer of the client.
        """
        _check_host(url)
        self._refuse_failed(url)
        try:
            return await self._fetch(url)
        except DirectFailure as failure:
            self._note_failed(url, failure)
            raise

    async def _fetch(self, url: str) -> Document:
        try:
            with trio.fail_after(self._fetch_seconds):
                async with self._limiter:
                    response, body = await self._get_with_one_retry(url)
        except trio.TooSlowError:
            raise _unreadable(f"there was no whole answer in {self._fetch_seconds:g} seconds") from None
        except OutboundError as error:
            raise _unreadable(f"it cannot be fetched ({error.code})") from error
        now = self._clock.now()
        try:
            metadata = validate_document(url, _object(response, body))
        except OAuthFailure as failure:
            raise _unreadable(failure.description) from None
        return Document(metadata, Instant(now + fresh_seconds(response.headers) * SECOND))

    async def _get_with_one_retry(self, url: str) -> "tuple[httpx.Response, bytes]":
        import tenacity  # and asyncio with it: for those who fetch documents alone

        retrying = tenacity.AsyncRetrying(
            stop=tenacity.stop_after_attempt(2),
            wait=tenacity.wait_fixed(RETRY_WAIT_SECONDS),
            retry=tenacity.retry_if_exception(_may_pass),
            sleep=trio.sleep,
            reraise=True,
        )
        return await retrying(self._get, url)

    async def _get(self, url: str) -> "tuple[httpx.Response, bytes]":
        if self._client is None:
            made = await trio.to_thread.run_sync(_make_client, self._transport, self._user_agent, limiter=self._threads)
            self._client = self._client or made  # two may have begun at once; one that was not used holds nothing
        async with self._client.stream("GET", url, headers={"accept": "application/json"}) as response:
            if response.status_code >= 500:
                raise ProtocolError(f"status {response.status_code}")
            body = b"".join([part async for part in response.aiter_raw()])
        return response, body

    def _refuse_failed(self, url: str) -> None:
        until, description = self._failed.get(url, (Instant(0), ""))
        if self._clock.now() < until:
            raise DirectFailure("invalid_client", description)

    def _note_failed(self, url: str, failure: DirectFailure) -> None:
        if len(self._failed) >= FAILED_MAX:
            self._failed.clear()
        self._failed[url] = Instant(self._clock.now() + FAILED_SECONDS * SECOND), failure.description


def _check_host(url: str) -> None:
    """Raises `DirectFailure` for a host that nobody can have, or that libraries read as different addresses.

    Chosen: `0177.0.0.1` is 127.0.0.1 to some and 177.0.0.1 to others, and a client id is compared as a string.
    """
    try:
        target = parse_target(url)
    except TargetError as error:
        raise _unreadable(f"its address cannot be used. {error.detail.removesuffix('.')}") from None
    if isinstance(target.address, IPv4Address) and target.host != urlsplit(url).hostname:
        raise _unreadable(f"its host has to be written as {target.host}")


def _make_client(transport: GuardedTransport, user_agent: str) -> "httpx.AsyncClient":
    """On a thread, and for the first document only: httpx takes a tenth of a second to import."""
    from gatewayd.outbound.http_client import make_client

    return make_client(transport, user_agent, METADATA_BYTES_MAX + HEADER_BYTES_MAX)


def fresh_seconds(headers: Mapping[str, str]) -> int:
    """How long an answer may be used, of its `Cache-Control` (RFC 9111 §5.2.2), within our bounds."""
    control = headers.get("cache-control", "")
    if _KEEP_NOT.search(control):
        return FRESH_SECONDS_MIN
    match = _MAX_AGE.search(control)
    seconds = int(match[1]) if match is not None else FRESH_SECONDS_DEFAULT
    return min(max(seconds, FRESH_SECONDS_MIN), FRESH_SECONDS_MAX)


def _object(response: "httpx.Response", body: bytes) -> dict[str, object]:
    if response.status_code != 200:
        raise _unreadable(f"its address answers {response.status_code}")
    content_type = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    if content_type != "application/json" and not content_type.endswith("+json"):
        raise _unreadable("it is not served as application/json")
    if response.headers.get("content-encoding", "identity").lower() != "identity":
        raise _unreadable("it is served with a content coding that was not asked for")
    if len(body) > METADATA_BYTES_MAX:
        raise _unreadable(f"it is larger than {METADATA_BYTES_MAX} bytes")
    try:
        return msgspec.json.decode(body, type=dict[str, object])
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        raise _unreadable("it is no JSON object") from None


def _may_pass(error: BaseException) -> bool:
    """Whether a second try may go better."""
    return isinstance(error, OutboundError) and not isinstance(error, AddressBlockedError)


def _unreadable(why: str) -> DirectFailure:
    return DirectFailure("invalid_client", f"The client's metadata document cannot be used: {why}.")
