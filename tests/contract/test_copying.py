"""The program of docs/copying.md keeps a copy that equals its source, whatever happens to it."""

import contextlib
import json
import os
import random
import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import trio

from gatewayd.clock import HOUR, SECOND
from gatewayd.contract.pages import SyncRequest
from tests.contract.conftest import OpenCatalogue
from tests.contract.happenings import Happenings, shown_whole
from tests.contract.rows import OPERATIONS, query_of
from tests.support.api import TestedApi

PAGE = Path(__file__).parents[2] / "docs" / "copying.md"
WALKS = int(os.environ.get("GATEWAYD_COPIES", "2"))
ACTS = 500
COMPARED = 0.02  # how often of all acts the copy is compared with the source
WITHIN_THE_DAY = (0, 1, 700, SECOND, 20 * SECOND, -300, -SECOND)  # it is set back at times
DAYS = (0, 5 * HOUR, 40 * HOUR, -SECOND)

Members = Mapping[str, frozenset[str]]
"""Members of the rows of lists, by the path."""
NOTHING: Members = {}

Get = Callable[[str], tuple[int, Any]]


class Stopped(Exception):
    """The program was ended."""


def recipe() -> Any:
    """The program of the page, as a module."""
    (text,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    module = ModuleType("copying")
    exec(compile(text, str(PAGE), "exec"), module.__dict__)
    return module


PROGRAM = recipe()


class Copier:
    """The program at work on a file, which is ended at some of its requests."""

    def __init__(self, api: TestedApi, file: Path, chance: random.Random) -> None:
        self.api, self.file, self.chance = api, file, chance
        self.left: int | None = None
        self.answers: list[int] = []

    @property
    def lists(self) -> dict[str, Any]:
        lists: dict[str, Any] = json.loads(self.file.read_text())
        return lists

    async def pull(self, requests: int | None = None) -> None:
        """Let it run, or for so many requests and no longer; it is started anew each time."""
        self.left = requests
        with contextlib.suppress(Stopped):
            await trio.to_thread.run_sync(self._run)

    def _run(self) -> None:
        PROGRAM.Copy(self.file, self._get).pull()

    def _get(self, path: str) -> tuple[int, Any]:
        if self.left is not None:
            self.left -= 1
            if self.left < 0:
                raise Stopped
        path, _, query = path.partition("?")
        limit = f"limit={self.chance.randrange(1, 101)}"
        ask = partial(self.api, "GET", path, query=query.replace("limit=100", limit))
        reply = trio.from_thread.run(ask)
        self.answers.append(reply.status)
        assert reply.status in (200, 410), (path, reply.body)
        return reply.status, reply.json()


async def rows_of(api: TestedApi, path: str, more: str) -> dict[str, Any]:
    """All rows of a list as it is without `updatedSince`."""
    rows: dict[str, Any] = {}
    path, _, query = path.partition("?")
    parameters = "&".join(part for part in (query, more, "limit=100") if part)
    cursor = ""
    while True:
        reply = await api("GET", path, query=parameters + cursor)
        assert reply.status == 200, (path, reply.body)
        answer = reply.json()
        rows |= {row["id"]: row for row in answer["data"]}
        if answer["nextCursor"] is None:
            return rows
        cursor = f"&cursor={answer['nextCursor']}"


WHOLE = {
    operation.path: query_of(dict(shown_whole(operation)))
    for operation in OPERATIONS
    if issubclass(operation.request, SyncRequest)
}


def members_of_today() -> Members:
    """What the page says that follows from the date alone, in its table."""
    rows = re.findall(r"^\| `(/\S+)` \| (.*) \|$", PAGE.read_text(), re.MULTILINE)
    return {path: frozenset(re.findall(r"`(\w+)`", names)) for path, names in rows}


async def differences(api: TestedApi, copier: Copier, unlike: Members) -> list[str]:
    """Where the copy is not what the source answers, but for some members."""
    lists = copier.lists
    paths = [*PROGRAM.LISTS, *(f"/accounts/{id_}/transactions?status=all" for id_ in lists["/accounts"]["rows"])]
    found = []
    for path in paths:
        source = await rows_of(api, path, WHOLE.get(path.partition("?")[0], ""))
        copy = lists[path]["rows"]
        for id_ in source.keys() | copy.keys():
            row, kept = source.get(id_), copy.get(id_)
            if row is None or kept is None:
                found.append(f"{path} {id_} is only in the {'copy' if row is None else 'source'}")
            elif row != kept:
                names = {name for name in row if row[name] != kept.get(name)} - unlike.get(
                    path.partition("?")[0], set()
                )
                if names:
                    found.append(f"{path} {id_} {[(n, kept.get(n), row[n]) for n in sorted(names)]}")
    return found


def test_the_program_follows_all_lists_that_can_be_followed() -> None:
    followed = {path.partition("?")[0] for path in PROGRAM.LISTS}
    rows = {
        operation.path
        for operation in OPERATIONS
        if issubclass(operation.request, SyncRequest) and ":" not in operation.path
    }
    of_lets = "/landlord/listLinkedTransactions"  # those of /allocations that name a property
    assert followed == rows - {of_lets}


class Walk:
    """Acts at random, and a copy that is brought up to date between them, or a part of the way."""

    def __init__(self, api: TestedApi, ids: dict[str, str], file: Path, seed: int) -> None:
        self.api, self.chance = api, random.Random(seed)
        self.copier = Copier(api, file, self.chance)
        self.happenings = Happenings(api, ids, seed)

    async def go(self, acts: int, moves: Sequence[int], unlike: Members = NOTHING) -> None:
        """So many acts, behind each of which the clock moves. The copy is compared at times, and in the end."""
        for _ in range(acts):
            await self.happenings.act()
            self.api.clock.advance(self.chance.choice(moves))
            if self.chance.random() < COMPARED:
                await self.compare(unlike)
            elif self.chance.random() < 0.2:
                await self.copier.pull(self.chance.randrange(40))
        await self.compare(unlike)

    async def compare(self, unlike: Members = NOTHING) -> None:
        """Bring the copy up to date: then it is what the source is, but for members of its rows that are `unlike`."""
        await self.copier.pull()
        found = await differences(self.api, self.copier, unlike)
        assert found == [], self.happenings.last


@pytest.mark.parametrize("seed", range(WALKS))
async def test_a_copy_equals_its_source_whatever_happens(
    open_catalogue: OpenCatalogue, tmp_path: Path, seed: int
) -> None:
    async with open_catalogue() as (api, ids):
        walk = Walk(api, ids, tmp_path / "copy.json", seed)
        await walk.go(ACTS, WITHIN_THE_DAY)
        assert len(walk.happenings.done) > 60
        assert set(walk.copier.answers) == {200}


@pytest.mark.parametrize("seed", range(WALKS))
async def test_days_that_pass_change_what_the_page_says_alone(
    open_catalogue: OpenCatalogue, tmp_path: Path, seed: int
) -> None:
    async with open_catalogue() as (api, ids):
        walk = Walk(api, ids, tmp_path / "copy.json", seed)
        await walk.go(ACTS // 5, DAYS, members_of_today())
