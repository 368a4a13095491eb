"""httpx without a queue, durable in nothing: `sequence`, `per_task` or `shared`, as the settings' `form` says."""

import asyncio
from collections.abc import Awaitable, Callable

import httpx
from phases import event, run, settings, signed, url_of

IN_FLIGHT = 32
GIVEN = settings()


def _in_sequence() -> None:
    with httpx.Client(timeout=10, trust_env=False) as client:
        for number in range(GIVEN["count"]):
            headers, body = signed(event(number))
            client.post(url_of(number, GIVEN), content=body, headers=headers).raise_for_status()


async def _post(client: httpx.AsyncClient, number: int) -> None:
    headers, body = signed(event(number))
    answer = await client.post(url_of(number, GIVEN), content=body, headers=headers)
    answer.raise_for_status()


async def _with_its_own(number: int) -> None:
    async with httpx.AsyncClient(timeout=10, trust_env=False) as client:
        await _post(client, number)


async def _shared() -> None:
    limits = httpx.Limits(max_connections=IN_FLIGHT, max_keepalive_connections=IN_FLIGHT)
    async with httpx.AsyncClient(timeout=10, trust_env=False, limits=limits) as client:
        await _at_once(lambda number: _post(client, number))


async def _at_once(deliver: Callable[[int], Awaitable[None]]) -> None:
    """Keep `IN_FLIGHT` going until all are delivered."""
    numbers = iter(range(GIVEN["count"]))

    async def worker() -> None:
        for number in numbers:
            await deliver(number)

    await asyncio.gather(*(worker() for _ in range(IN_FLIGHT)))


FORMS = {
    "sequence": _in_sequence,
    "per_task": lambda: asyncio.run(_at_once(_with_its_own)),
    "shared": lambda: asyncio.run(_shared()),
}

if __name__ == "__main__":
    run({"deliver": FORMS[GIVEN["form"]]})
