"""The program of docs/copying.md keeps a copy that equals its source, whatever happens to it."""

import contextlib
import json
import os
import random
import re
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import trio

from gatewayd.clock import DAY, HOUR, SECOND, Instant, from_wire
from gatewayd.contract.pages import SyncRequest
from gatewayd.contract.scopes import ALL_SCOPES
from gatewayd.importing.parts import Sizes
from gatewayd.ledger.named_files import NAMING
from gatewayd.store.backups.backup import Looking, back_up
from gatewayd.store.backups.restoring import restore
from gatewayd.store.files.manifests import KEY_NAME
from gatewayd.store.files.restored import find_restored
from gatewayd.store.rows import removals
from tests.contract.conftest import OpenCatalogue, Seeded, engines_of
from tests.contract.happenings import Happenings, shown_whole
from tests.contract.rows import BY_ID, OPERATIONS, query_of
from tests.support.api import TestedApi, Tuning, reopen_api
from tests.support.engines import Engines

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


# -- what was taken back, and what is forgotten


@asynccontextmanager
async def opened(directory: Path, now: Instant | None = None) -> AsyncIterator[TestedApi]:
    """The catalogue over the store of a directory, at an instant; more than a few lines of a file come in hidden."""
    engines = Engines()
    async with (
        reopen_api(directory, OPERATIONS, Tuning(deps=engines)) as api,
        engines_of(api, directory, engines, Sizes(at_once=10, chunk=3)),
    ):
        if now is not None:
            api.clock.advance(now - api.clock.now())
        api.token("org_a", "good", ALL_SCOPES)
        yield api


async def test_a_copy_begins_anew_where_a_restore_took_back_what_it_knows(seeded: Seeded, tmp_path: Path) -> None:
    first, second, file = tmp_path / "first", tmp_path / "second", tmp_path / "copy.json"
    shutil.copytree(seeded.directory, first)
    looking = Looking(NAMING)
    async with opened(first) as api:
        walk = Walk(api, seeded.ids, file, 7)
        await walk.go(40, (SECOND,))
        back_up(first, tmp_path / "backup", api.clock.now(), looking, first / KEY_NAME)
        api.clock.advance(SECOND)
        await walk.go(60, (SECOND,))
        now = Instant(api.clock.now() + SECOND)
    restore(tmp_path / "backup", second, now, looking)
    async with opened(second, Instant(now + SECOND)) as api:
        restored = find_restored(second)
        assert restored is not None
        took_back = from_wire(restored.backup_made_at), from_wire(restored.restored_at)
        await api.store.write(lambda tx: removals.note_restore(tx, *took_back))  # as the daemon does when it starts
        walk = Walk(api, seeded.ids, file, 8)
        await walk.compare()
        begun_anew = walk.copier.answers.count(410)
        assert 0 < begun_anew < len(PROGRAM.LISTS)  # what had not changed since the backup is kept
        await walk.go(60, (SECOND,))
        assert walk.copier.answers.count(410) == begun_anew


async def test_a_copy_that_slept_for_too_long_begins_anew_and_one_that_is_up_to_date_does_not(
    seeded: Seeded, tmp_path: Path
) -> None:
    shutil.copytree(seeded.directory, tmp_path, dirs_exist_ok=True)
    async with opened(tmp_path) as api:
        asleep, awake = (Walk(api, seeded.ids, tmp_path / name, 9) for name in ("asleep", "awake"))
        await asleep.compare()
        api.clock.advance(SECOND + 123_456)  # between two milliseconds, which is how exact an answer is
        made = await api("POST", "/crm/createLead", json={"source": "fair"})
        rules = await api("GET", "/allocations/rules")
        rule_id = rules.json()["data"][0]["id"]
        removed = await api("DELETE", f"/allocations/rules/{rule_id}")
        assert (made.status, removed.status) == (200, 200)
        await awake.compare()
        api.clock.advance(91 * DAY)
        before = Instant(api.clock.now() - removals.KEPT)
        assert await api.store.write(lambda tx: removals.forget_some(tx, before)) == 1
        for walk in (asleep, awake):
            await walk.compare(members_of_today())
        assert asleep.copier.answers.count(410) == 1
        assert 410 not in awake.copier.answers
        fresh = Walk(api, seeded.ids, tmp_path / "fresh", 9)
        await fresh.compare()  # of pages that end before what is forgotten
        assert 410 not in fresh.copier.answers


async def test_a_copy_follows_a_file_that_comes_in_piece_by_piece(seeded: Seeded, tmp_path: Path) -> None:
    shutil.copytree(seeded.directory, tmp_path, dirs_exist_ok=True)
    async with opened(tmp_path) as api:
        walk = Walk(api, seeded.ids, tmp_path / "copy.json", 10)
        await walk.compare()
        deleted = await api("DELETE", f"/allocations/rules/{seeded.ids['rule']}")  # what is allocated is not undone
        assert deleted.status == 200
        for _ in range(3):
            values = {"accountId": seeded.ids["bac"], "preview": False}
            await beside(walk, partial(walk.happenings.import_statement, 60, **values))
            imports = await api("GET", "/imports", query={"status": "applied", "limit": 1})
            import_id = imports.json()["data"][0]["id"]
            undo = partial(walk.happenings.send, BY_ID["banking.undoImport"], {"importId": import_id})
            await beside(walk, undo)
        assert walk.happenings.done["banking.importStatement"] == 3
        assert walk.happenings.done["banking.undoImport"] == 3, walk.happenings.refused


async def beside(walk: Walk, work: Callable[[], Awaitable[object]]) -> None:
    """Let the copy be brought up to date again and again while something is done, and compare it then."""
    async with trio.open_nursery() as nursery:

        async def pull() -> None:
            while True:
                await walk.copier.pull()

        nursery.start_soon(pull)
        await work()
        nursery.cancel_scope.cancel()
    await walk.compare()
