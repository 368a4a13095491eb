"""The probe rows over an organization whose plan meters it, and what tests do with them."""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

from gatewayd.contract.caller import Caller
from gatewayd.http1.request import Request as HttpRequest
from gatewayd.http1.response import Response as HttpResponse
from tests.http import probes
from tests.http.probes import Deps, Word
from tests.support import purses
from tests.support.api import Fields, Reply, TestedApi, Tuning, open_api

READ, WRITE, CALL = "/probe/read", "/probe/write", "/probe/call"
ROWS = {READ: "probe.read", WRITE: "probe.write", CALL: "probe.call"}


async def relay(deps: Deps, caller: Caller, request: Word, incoming: HttpRequest) -> HttpResponse:
    """Pass on an answer whose status is the word."""
    return HttpResponse(int(request.word), ((b"content-type", b"application/json"),), b"{}")


OPERATIONS = (
    *probes.OPERATIONS,
    probes.row(
        "probe.relay",
        "call",
        relay,
        "/probe/relay",
        method="GET",
        takes_incoming=True,
        relays=True,
        work="probe.forward",
    ),
    probes.row(
        "probe.find",
        "read",
        probes.read,
        "/probe/find",
        work="probe.find.deep",
        does_work=lambda request: request.count > 0,
    ),
    probes.row(
        "probe.seek",
        "call",
        probes.call,
        "/probe/seek",
        work="probe.seek.deep",
        did_work=lambda answer: answer.said != "shallow",
    ),
)


class Metered:
    """The probe rows, whose organization `org_a` (token `good`) has a plan; `org_b` (token `b`) has none."""

    def __init__(self, api: TestedApi, deps: Deps) -> None:
        self.api = api
        self.deps = deps

    async def price(self, name: str, amount: int, days: int = 0) -> None:
        await self.api.store.write(lambda tx: purses.price(tx, name, amount, days))

    async def grant(self, amount: int) -> None:
        await self.api.store.write(lambda tx: purses.grant(tx, amount), "org_a")

    async def charged(self, org_id: str = "org_a") -> list[tuple[str, int]]:
        return await self.api.store.read(purses.charged, org_id)

    async def held(self) -> int:
        return await self.api.store.read(purses.held, "org_a")

    async def balance(self) -> int:
        return await self.api.store.read(purses.balance, "org_a")

    async def send(self, path: str, word: str = "w", *, key: str | None = None, token: str = "good") -> Reply:
        fields: Fields = [] if key is None else [(b"idempotency-key", key.encode())]
        fields = [*fields, (b"content-type", b"application/json")]
        if path in (READ, "/probe/busy", "/probe/long", "/probe/find", "/probe/relay"):
            return await self.api("GET", path, query={"word": word}, token=token, headers=fields)
        return await self.api("POST", path, json={"word": word}, token=token, headers=fields)


@asynccontextmanager
async def metered(image: bytes, directory: Path, deps: Deps | None = None) -> AsyncIterator[Metered]:
    deps = deps or Deps()
    async with open_api(directory, image, OPERATIONS, Tuning(deps=deps)) as api:
        await api.org("org_b", "b")
        await api.store.write(purses.put_on_plan, "org_a")
        yield Metered(api, deps)


class OpenMetered:
    """`async with open_metered() as box`, or with what calls are given."""

    def __init__(self, image: bytes, directory: Path) -> None:
        self._image = image
        self._directory = directory

    def __call__(self, deps: Deps | None = None) -> AbstractAsyncContextManager[Metered]:
        return metered(self._image, self._directory, deps)


def refused(reply: Reply) -> bool:
    return (reply.status, reply.code if reply.status == 402 else "") == (402, "insufficient_credits")
