"""One file from an address that the operator named: by the guarded way, whole, and no larger or later than allowed."""

from typing import Final

import trio

from gatewayd.http1.request import Request
from gatewayd.outbound.errors import DeadlineError, ProtocolError
from gatewayd.outbound.http_client import OneServer
from gatewayd.outbound.targets import parse_target
from gatewayd.outbound.transport import GuardedTransport

SECONDS_MAX: Final = 60.0  # Chosen: from the first look-up to the last byte
_ACCEPT: Final = (b"Accept", b"text/csv, text/plain;q=0.9, */*;q=0.1")


async def download(
    transport: GuardedTransport, url: str, max_bytes: int, user_agent: str, seconds: float = SECONDS_MAX
) -> bytes:
    """What a GET of the URL brings. No redirect is followed.

    Raises `OutboundError`: `TargetError` for what is no such URL, `AddressBlockedError`, `ProtocolError` for another
    answer than 200 or one that is too large, `DeadlineError`.
    """
    target = parse_target(url, allow_http=transport.policy.allow_http)
    server = OneServer(transport, f"{target.scheme}://{target.authority}")
    request = Request("GET", target.request_target, [_ACCEPT, (b"User-Agent", user_agent.encode("ascii"))])
    try:
        with trio.fail_after(seconds):
            response = await server.send(request, max_bytes)
    except trio.TooSlowError:
        raise DeadlineError(f"{target.host} gave no whole answer within {seconds:g} seconds") from None
    finally:
        with trio.CancelScope(shield=True):
            await server.aclose()
    if response.status != 200:
        raise ProtocolError(f"{target.host} answers {response.status}, and not with a file")
    return response.body
