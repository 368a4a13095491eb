"""The checks of `gatewayd doctor`, looked at by the daemon itself: none holds a page, and each fails alone."""

import io
import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import trio

from gatewayd.clock import SettableClock
from gatewayd.config import ROOT, load
from gatewayd.console.instance import Finding as Shown
from gatewayd.daemon.examining import THREADS, Examination, OwnInstance
from gatewayd.daemon.instance import memory_bytes
from gatewayd.doctor import checks
from gatewayd.doctor.checks import Check
from gatewayd.doctor.data_directory import data_directory
from gatewayd.doctor.database import database
from gatewayd.doctor.examined import Examined
from gatewayd.doctor.findings import Finding
from gatewayd.identity.people import organizations
from gatewayd.logs import make_logger
from gatewayd.store import Store
from gatewayd.store.database import open_store
from gatewayd.store.settings import DATABASE_NAME, StoreSettings
from tests.support.store import START

SECONDS = 120.0  # nothing is measured with it
SOON = 0.05


class Trial:
    """Checks in the place of the daemon's own, and a store that they look at."""

    def __init__(self, store: Store, config: Path) -> None:
        self._stream = io.StringIO()
        self.examination = Examination(make_logger("json", "info", self._stream))
        self.examined = OwnInstance(lambda: load(config, {}), {}, SettableClock(START), ROOT, store)

    async def run(self, seconds: float = SECONDS) -> list[Shown]:
        return await self.examination.run(self.examined, seconds)

    @property
    def errors(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self._stream.getvalue().splitlines()]


@pytest.fixture
async def trial(database_image: bytes, tmp_path: Path) -> Any:
    (tmp_path / DATABASE_NAME).write_bytes(database_image)
    config = tmp_path / "gatewayd.toml"
    config.write_text(f'[store]\ndirectory = "{tmp_path}"\n')
    config.chmod(0o600)
    async with open_store(StoreSettings(directory=tmp_path), SettableClock(START)) as store:
        yield Trial(store, config)


def looks(monkeypatch: pytest.MonkeyPatch, *found: Check) -> None:
    monkeypatch.setattr(checks, "CHECKS", found)


def well(examined: Examined) -> Iterator[Finding]:
    yield Finding("disk", True, "All is well.")


async def test_findings_come_in_order_with_what_to_do(trial: Trial, monkeypatch: pytest.MonkeyPatch) -> None:
    def several(examined: Examined) -> Iterator[Finding]:
        yield Finding("proxy", False, "None is named.")
        yield Finding("clock", True, "It goes on.")

    looks(monkeypatch, Check("proxy", several), Check("disk", well))
    assert await trial.run() == [
        Shown("proxy", "wrong", "None is named.", "Name the proxy in server.trusted_proxies."),
        Shown("clock", "well", "It goes on."),
        Shown("disk", "well", "All is well."),
    ]


async def test_what_hangs_is_not_waited_for_and_keeps_one_thread(trial: Trial, monkeypatch: pytest.MonkeyPatch) -> None:
    over, begun = threading.Event(), threading.Semaphore(0)

    def hangs(examined: Examined) -> Iterator[Finding]:
        begun.release()
        over.wait(SECONDS)
        yield Finding("database", True, "At last.")

    looks(monkeypatch, Check("database", hangs), Check("disk", well))
    try:
        with trio.fail_after(SECONDS):
            late, disk = await trial.run(SOON)
            assert (late.about, late.state) == ("database", "unknown")
            assert late.sentence.startswith("It could not be found out within 0.05 seconds.")
            assert disk == Shown("disk", "well", "All is well.")
            for _ in range(THREADS + 2):  # whoever looks again and again makes no more of them
                assert (await trial.run(SOON))[0].state == "unknown"
        count = 0
        while begun.acquire(blocking=False):
            count += 1
        assert count <= THREADS
    finally:
        over.set()
    looks(monkeypatch, Check("disk", well))
    assert [each.state for each in await trial.run()] == ["well"]
    assert trial.errors == []


async def test_a_check_that_fails_fails_alone(trial: Trial, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(examined: Examined) -> Iterator[Finding]:
        yield Finding("search", True, "Not told.")
        raise RuntimeError("a fault of ours")

    looks(monkeypatch, Check("search", fails), Check("disk", well))
    assert await trial.run() == [
        Shown("search", "unknown", "The check itself failed; the log says how."),
        Shown("disk", "well", "All is well."),
    ]
    (error,) = trial.errors
    assert (error["event"], error["check"]) == ("check_failed", "search")


async def test_a_check_reads_by_the_store_that_is_open(trial: Trial, monkeypatch: pytest.MonkeyPatch) -> None:
    def reads(examined: Examined) -> Iterator[Finding]:
        count = len(examined.read(organizations.list_all))
        yield Finding("disk", True, f"{count} organizations.")

    looks(monkeypatch, Check("disk", reads))
    ((_, _, sentence, _),) = await trial.run()
    assert sentence == "0 organizations."


async def test_the_doctors_own_checks_look_at_it(trial: Trial, monkeypatch: pytest.MonkeyPatch) -> None:
    looks(monkeypatch, Check("database", database), Check("data directory", data_directory))
    found = {each.about: each for each in await trial.run()}
    assert found["database"].state == "well", found
    assert "nothing is wrong" in found["database"].sentence
    assert "data directory" in found


def test_memory_is_what_the_kernel_tells() -> None:
    assert (memory_bytes() or 0) > 1_000_000
