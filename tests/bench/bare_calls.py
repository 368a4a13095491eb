"""The httpx call alone: one shared client on trio with kept connections, as often as it is told."""

from collections.abc import Iterator
from functools import partial

import httpx
import trio

from tests.bench.peers.deliveries import phases

GIVEN = phases.settings()


async def _calls(at_once: int) -> None:
    left = iter(range(GIVEN["count"]))
    async with httpx.AsyncClient(trust_env=False) as client, trio.open_nursery() as nursery:
        for _ in range(at_once):
            nursery.start_soon(_in_turn, client, left)


async def _in_turn(client: httpx.AsyncClient, left: Iterator[int]) -> None:
    for _ in left:
        (await client.get(GIVEN["url"])).raise_for_status()


if __name__ == "__main__":
    phases.run({str(at_once): partial(trio.run, _calls, at_once) for at_once in GIVEN["at_once"]})
