"""The tax service behind `forward`: the driver with an application that always gives the same answer of about 1 kB."""

from typing import Any

import msgspec
import trio

from tests.bench.floor import serve

_STARTS = ("01-01", "04-01", "07-01", "10-01")
_ENDS = ("03-31", "06-30", "09-30", "12-31")
_DUES = ("05-07", "08-07", "11-07", "02-07")


def _obligations() -> list[dict[str, str]]:
    """Ten quarters, the last one open, as the authority writes them (domain model §D1)."""
    listed: list[dict[str, str]] = []
    for number in range(10):
        year, quarter = 2024 + number // 4, number % 4
        due = f"{year + (quarter == 3)}-{_DUES[quarter]}"
        period = {"start": f"{year}-{_STARTS[quarter]}", "end": f"{year}-{_ENDS[quarter]}", "due": due}
        ending = {"status": "O"} if number == 9 else {"status": "F", "received": due}
        listed.append({"periodKey": f"{year % 100}A{1 + quarter}", **period, **ending})
    return listed


BODY = msgspec.json.encode({"obligations": _obligations()})
_HEADERS = [
    (b"content-type", b"application/json"),
    (b"content-length", b"%d" % len(BODY)),
    (b"x-correlationid", b"0d2af5e2-5c02-4b39-8a6a-7f5a4a1f4b1c"),
    (b"cache-control", b"no-store"),
]


async def _answer(scope: Any, receive: Any, send: Any) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": _HEADERS})
    await send({"type": "http.response.body", "body": BODY})


if __name__ == "__main__":
    trio.run(serve, _answer)
