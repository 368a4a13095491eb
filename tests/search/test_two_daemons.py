"""Two daemons with one PostgreSQL: what one has indexed the other finds, and goes on with."""

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import NamedTuple

import pytest
import trio

from gatewayd.search import engine
from gatewayd.store.settings import StoreSettings
from tests.search.conftest import (
    DEADLINE,
    ORG,
    OTHER,
    FakeEmbedder,
    Shelf,
    add_organizations,
    counted,
    opened_shelf,
)
from tests.support.postgres import Server
from tests.support.postgres_store import Databases


class Daemons(NamedTuple):
    """Both of them, each with a clock of its own."""

    one: Shelf
    other: Shelf


OpenDaemons = Callable[..., AbstractAsyncContextManager[Daemons]]


@pytest.fixture(scope="module")
def template(postgresql: Server) -> Iterator[str]:
    databases = Databases(postgresql)
    yield databases.template
    databases.close()


@pytest.fixture
def open_daemons(postgresql: Server, template: str, tmp_path: Path) -> Iterator[OpenDaemons]:
    name = postgresql.new_database(template)
    settings = StoreSettings(directory=tmp_path, url=postgresql.address(name))

    @asynccontextmanager
    async def opened(one: FakeEmbedder, other: FakeEmbedder) -> AsyncIterator[Daemons]:
        async with (
            opened_shelf(settings, one, lambda store: store) as first,
            opened_shelf(settings, other, lambda store: store) as second,
        ):
            await add_organizations(first.store)
            yield Daemons(first, second)

    yield opened
    postgresql.drop(name)


async def test_what_one_has_indexed_the_other_finds(open_daemons: OpenDaemons) -> None:
    async with open_daemons(FakeEmbedder(), FakeEmbedder()) as (one, other):
        boiler = await one.add("The boiler was serviced.", "a.txt")
        assert await other.ids("serviced") == [boiler]
        assert await other.ids("heating", mode="vector") == [boiler], "and its signs are kept from now on"
        nearer = await one.add("The boiler, the radiator, the heating.", "b.txt")
        assert sorted(await other.ids("heating", mode="vector")) == sorted([boiler, nearer])
        await other.read_anew(boiler, "The rent was paid.")
        assert (await one.ids("serviced"), await one.ids("rent")) == ([], [boiler])


async def test_documents_that_both_index_at_once_are_counted_once(open_daemons: OpenDaemons) -> None:
    async with open_daemons(FakeEmbedder(), FakeEmbedder()) as (one, other):
        other.clock.advance(1_000_000_000)
        texts = [f"Letter {n} of the tenant, INV-{n:04}." for n in range(24)]
        ids = [
            await (one, other)[n % 2].add(text, f"{n}.txt", (ORG, OTHER)[n % 3 == 2]) for n, text in enumerate(texts)
        ]
        for id_ in ids[::5]:
            if id_ in ids[0::3] + ids[1::3]:
                await one.read_anew(id_, "Of the landlord.")
        for daemon in (one, other):
            await daemon.indexed()
        for org in (ORG, OTHER):
            known, there = await one.store.read_later(counted, org)
            assert known == there
        assert len(await other.ids("tenant", limit=50)) + len(await one.ids("landlord", limit=50)) == 16
        assert len(await one.ids("tenant", OTHER, limit=50)) == 8


async def test_what_one_could_give_no_vectors_the_other_does(
    open_daemons: OpenDaemons, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As where it is killed between the two."""
    monkeypatch.setattr(engine, "SCAN_AGAIN_SECONDS", 0.05)
    async with open_daemons(FakeEmbedder(model=None), FakeEmbedder()) as (one, other):
        id_ = await one.add("The boiler was serviced.")
        await one.indexed()
        with trio.fail_after(DEADLINE):
            await other.indexed()
        found = await other.search("heating", mode="vector")
        assert ([hit.document.id for hit in found.data], found.mode_used) == ([id_], "vector")
