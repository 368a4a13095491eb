"""The floor of a delivery: sign and POST on trio and h11 over 32 kept connections, from memory, recording nothing."""

import time
from urllib.parse import urlsplit

import h11
import trio

from gatewayd.webhooks.signature import signed_headers
from tests.bench.peers.deliveries import phases

CONNECTIONS = 32
RECEIVE_BYTES = 16 * 1024
GIVEN = phases.settings()


def _prepared() -> list[tuple[str, str, bytes]]:
    """Id, path and body of each event."""
    events = [phases.event(number) for number in range(GIVEN["count"])]
    paths = [f"/{number % GIVEN['receivers']}" for number in range(GIVEN["count"])]
    return [(str(one["id"]), path, phases.signed(one)[1]) for one, path in zip(events, paths, strict=True)]


async def _deliver(prepared: list[tuple[str, str, bytes]]) -> None:
    place = urlsplit(GIVEN["url"])
    left = iter(prepared)

    async def connection() -> None:
        stream = await trio.open_tcp_stream(str(place.hostname), int(place.port or 80))
        http = h11.Connection(h11.CLIENT)
        async with stream:
            for identity, path, body in left:
                await _exchange(stream, http, _request(identity, path, body, place.netloc), body)

    async with trio.open_nursery() as nursery:
        for _ in range(CONNECTIONS):
            nursery.start_soon(connection)


def _request(identity: str, path: str, body: bytes, authority: str) -> h11.Request:
    fields = [
        (b"Host", authority.encode()),
        (b"User-Agent", b"gatewayd/0"),
        (b"Content-Type", b"application/json"),
        (b"Content-Length", b"%d" % len(body)),
        (b"X-Service-Event", b"lead.created"),
        (b"X-Service-Delivery", identity.encode()),
    ]
    now = int(time.time())
    signed = signed_headers((phases.SECRET,), identity, now, body)
    fields += [(name.encode(), value.encode()) for name, value in signed]
    return h11.Request(method=b"POST", target=path.encode(), headers=fields)


async def _exchange(stream: trio.SocketStream, http: h11.Connection, request: h11.Request, body: bytes) -> None:
    head = http.send(request)
    http.send(h11.Data(data=body))
    http.send(h11.EndOfMessage())
    await stream.send_all((head or b"") + body)
    while True:
        event = http.next_event()
        if event is h11.NEED_DATA:
            http.receive_data(bytes(await stream.receive_some(RECEIVE_BYTES)))
        elif isinstance(event, h11.Response) and event.status_code != 204:
            raise SystemExit(f"answered {event.status_code}")
        elif isinstance(event, h11.EndOfMessage):
            break
    http.start_next_cycle()


def main() -> None:
    """Prepared before it is told to deliver."""
    prepared = _prepared()
    phases.run({"deliver": lambda: trio.run(_deliver, prepared)})


if __name__ == "__main__":
    main()
