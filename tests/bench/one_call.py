"""The driver with an application that makes one httpx call and answers what that answered: no more than must be.

python -m tests.bench.one_call ORIGIN     one shared client with kept connections, nothing tried twice
"""

import sys
from typing import Any

import httpx
import trio

from tests.bench.floor import serve


async def _main(origin: str) -> None:
    async with httpx.AsyncClient(base_url=origin, trust_env=False) as client:

        async def call(scope: Any, receive: Any, send: Any) -> None:
            answer = await client.get(f"{scope['path']}?{scope['query_string'].decode()}")
            headers = [
                (b"content-type", answer.headers["content-type"].encode()),
                (b"content-length", b"%d" % len(answer.content)),
            ]
            await send({"type": "http.response.start", "status": answer.status_code, "headers": headers})
            await send({"type": "http.response.body", "body": answer.content})

        await serve(call)


if __name__ == "__main__":
    trio.run(_main, sys.argv[1])
