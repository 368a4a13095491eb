"""The API at two daemons on one PostgreSQL: a proof that comes to both at once opens one of them."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
import trio

from gatewayd.clock import SettableClock
from gatewayd.http.api import Api, ApiParts
from gatewayd.http1.cors import Cors
from gatewayd.identity.tokens import used_proofs
from gatewayd.identity.tokens.authentication import Authenticator
from gatewayd.identity.tokens.used_proofs import ProofQuota
from gatewayd.performing.rate_limits import RateLimits
from gatewayd.store import Store
from gatewayd.store.database import open_store
from gatewayd.store.settings import StoreSettings
from tests.http.probes import OPERATIONS, Deps
from tests.identity.test_dpop import BoundTokenVerifier
from tests.support.api import Errors, FakeAuthenticator, Reply, TestedApi
from tests.support.dpop import KeyHolder
from tests.support.postgres import Server
from tests.support.store import START

ISSUER = "https://books.example.com"
TOKEN = "planted-access-token"
READ, WRITE = "/probe/read", "/probe/write"
_ADD_ORG = "INSERT INTO organizations (id, name, created_at) VALUES ('org_1', 'o', :now)"
_NAME = "SELECT name FROM organizations WHERE id = 'org_1'"


class Daemons:
    """Several, with a store each on one database, for a token that is bound to a key."""

    def __init__(self, stores: list[Store]) -> None:
        self.stores = stores
        self.holder, self.errors = KeyHolder(), Errors()
        self._apis = [self._api(store) for store in stores]

    def _api(self, store: Store) -> TestedApi:
        limits = RateLimits(0, 64)
        authenticator = Authenticator([BoundTokenVerifier(self.holder.thumbprint)], shared=store.is_shared)
        parts = ApiParts(
            operations=OPERATIONS,
            store=store,
            authenticate=authenticator.authenticate,
            limits=limits,
            cors=Cors(()),
            log=self.errors,
            observe=lambda exchange, answer: None,
            public_url=ISSUER,
            deps=Deps(),
        )
        return TestedApi(Api(parts), store, SettableClock(START), FakeAuthenticator(), self.errors, limits, [])

    def proof(self, method: str, path: str) -> str:
        return self.holder.proof(method, ISSUER + path, START, TOKEN)

    async def ask(self, daemon: int, method: str, path: str, proof: str, word: str = "w") -> Reply:
        headers = [(b"authorization", f"DPoP {TOKEN}".encode()), (b"dpop", proof.encode())]
        if method == "GET":
            return await self._apis[daemon](method, path, token=None, query={"word": word}, headers=headers)
        return await self._apis[daemon](method, path, token=None, json={"word": word}, headers=headers)

    async def ask_all(self, method: str, path: str, times: int, word: str = "w") -> list[int]:
        """The statuses of each daemon's answers to one proof that is shown so often to each, all at once."""
        shown, statuses = self.proof(method, path), list[int]()

        async def ask(daemon: int) -> None:
            statuses.append((await self.ask(daemon, method, path, shown, word)).status)

        async with trio.open_nursery() as nursery:
            for daemon in [*range(len(self.stores))] * times:
                nursery.start_soon(ask, daemon)
        return sorted(statuses)


@pytest.fixture
async def daemons(postgresql: Server, tmp_path: Path) -> AsyncIterator[Daemons]:
    name = postgresql.new_database()
    async with AsyncExitStack() as open_stores:
        stores = []
        for number in range(2):
            settings = StoreSettings(directory=tmp_path / str(number), url=postgresql.address(name))
            opening = open_store(settings, SettableClock(START), tmp_path / "instance.key")
            stores.append(await open_stores.enter_async_context(opening))
        await stores[0].write(lambda tx: tx.run(_ADD_ORG))
        made = Daemons(stores)
        yield made
        assert made.errors.logged == []
    postgresql.drop(name)


async def test_a_read(daemons: Daemons) -> None:
    for _ in range(5):
        assert await daemons.ask_all("GET", READ, 4) == [200, *[401] * 7]


async def test_a_write_is_done_once(daemons: Daemons) -> None:
    for _ in range(5):
        assert await daemons.ask_all("POST", WRITE, 4, "x") == [200, *[401] * 7]
    assert await daemons.stores[1].read(lambda tx: tx.value(_NAME)) == "oxxxxx"


async def test_what_is_refused_behind_the_door_uses_the_proof_up_too(daemons: Daemons) -> None:
    shown = daemons.proof("GET", READ)
    assert (await daemons.ask(0, "GET", READ, shown, "")).status == 422
    second = await daemons.ask(1, "GET", READ, shown)
    assert (second.status, 'error="invalid_dpop_proof"' in second["www-authenticate"]) == (401, True)


async def test_the_quota_of_a_key_is_of_all_daemons(daemons: Daemons, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(used_proofs, "REQUESTS", ProofQuota("request", 3))
    replies = [await daemons.ask(number % 2, "GET", READ, daemons.proof("GET", READ)) for number in range(5)]
    assert [reply.status for reply in replies] == [200, 200, 200, 429, 429]
    assert replies[-1]["retry-after"] == "60"


async def test_a_proof_of_a_request_over_the_rate_limit_stays(daemons: Daemons) -> None:
    shown = daemons.proof("GET", READ)
    daemons._apis[0].limits.change(1, 64)
    assert (await daemons.ask(0, "GET", READ, daemons.proof("GET", READ))).status == 200
    assert (await daemons.ask(0, "GET", READ, shown)).status == 429
    assert (await daemons.ask(1, "GET", READ, shown)).status == 200
