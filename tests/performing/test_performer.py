"""Operations run without any door: each kind in its own way, once under a key."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import NamedTuple

import pytest

from gatewayd.clock import SettableClock
from gatewayd.contract.caller import Caller
from gatewayd.errors import Problem
from gatewayd.following import reactions
from gatewayd.performing.performer import Performer, Replayed, encoded
from gatewayd.store import Store, WriteTx
from gatewayd.store.database import open_store
from gatewayd.store.settings import DATABASE_NAME, StoreSettings
from tests.http.probes import OPERATIONS, Deps, Said, Word
from tests.support.store import START, make_caller

ROWS = {operation.id: operation for operation in OPERATIONS}
_ADD_ORG = "INSERT INTO organizations (id, name, created_at) VALUES (:id, :id, :now)"
_NAME = "SELECT name FROM organizations WHERE id = 'org_a'"


class Running(NamedTuple):
    """A performer, its store, and what calls are given."""

    performer: Performer
    store: Store
    deps: Deps
    caller: Caller

    async def __call__(self, row: str, word: str = "!", key: str | None = None) -> object:
        return await self.performer.perform(ROWS[row], self.caller, Word(word=word), key)


@pytest.fixture
async def run(database_image: bytes, tmp_path: Path) -> AsyncIterator[Running]:
    (tmp_path / DATABASE_NAME).write_bytes(database_image)
    deps = Deps()

    def add(tx: WriteTx) -> None:
        tx.run(_ADD_ORG, id="org_a")

    async with open_store(StoreSettings(directory=tmp_path), SettableClock(START), reactions=reactions) as store:
        await store.write(add)
        yield Running(Performer(store, deps), store, deps, make_caller("org_a"))


async def name(run: Running) -> object:
    return await run.store.read(lambda tx: tx.value(_NAME))


async def test_each_kind_answers_for_the_organization_of_its_caller(run: Running) -> None:
    assert await run("probe.read") == Said(said="!", org="org_a")
    assert await run("probe.write") == b'{"said":"org_a!","org":"org_a"}'
    assert await run("probe.call") == Said(said="!", org="org_a")


async def test_a_long_read_goes_to_a_thread_at_once(run: Running) -> None:
    assert await run("probe.long") == Said(said="!1", org="org_a")
    assert run.store.long_reads == 1


@pytest.mark.parametrize("row", ["probe.write", "probe.call"])
async def test_under_a_key_it_acts_once(run: Running, row: str) -> None:
    first = await run(row, key="k1")
    assert await run(row, key="k1") == Replayed(encoded(first))
    assert await run(row, key="k2") != Replayed(encoded(first))
    assert (await name(run), run.deps.calls) == (("org_a!!", []) if row == "probe.write" else ("org_a", ["!", "!"]))


async def test_a_key_belongs_to_one_request(run: Running) -> None:
    await run("probe.write", key="k1")
    with pytest.raises(Problem, match="idempotency_conflict"):
        await run("probe.write", "?", key="k1")
    assert await name(run) == "org_a!"


async def test_a_read_has_no_use_of_a_key(run: Running) -> None:
    assert await run("probe.read", key="k1") == await run("probe.read", key="k1") == Said(said="!", org="org_a")
    with pytest.raises(Problem, match="invalid_request"):
        await run("probe.write", key=" ")


@pytest.mark.parametrize("key", [None, "k1"])
async def test_what_fails_leaves_nothing_behind(run: Running, key: str | None) -> None:
    with pytest.raises(LookupError):
        await run("probe.write", "raise", key=key)
    assert await name(run) == "org_a"
    assert await run("probe.write", "!", key=key) == b'{"said":"org_a!","org":"org_a"}'
