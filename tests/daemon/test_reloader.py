"""When the reloader looks, what it takes, and what it says: all or nothing, and each complaint once."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import pytest
import trio
from trio.testing import MockClock

from gatewayd.config import Config, ConfigError, load
from gatewayd.config.reading import Problem
from gatewayd.daemon.reload import CERTIFICATE_SECONDS, Install, Reloader
from gatewayd.service_manager import Notifier

pytestmark = pytest.mark.either_engine("its subject is the settings")

TLS = '[server]\ntls_certificate = "{0}/c.pem"\ntls_key = "{0}/c.key"\n'


class Lines:
    """A log whose reader waits for the next line."""

    def __init__(self) -> None:
        self._send, self._receive = trio.open_memory_channel[tuple[str, dict[str, object]]](99)

    def note(self, event: str, **values: object) -> None:
        self._send.send_nowait((event, values))

    debug = info = warning = error = note

    async def next(self) -> tuple[str, dict[str, object]]:
        return await self._receive.receive()


@dataclass
class Part:
    """A part that can be made to refuse; `held` is what it was told."""

    held: list[str] = field(default_factory=list)
    complaint: str = ""

    def prepare(self, config: Config) -> Install:
        if self.complaint:
            raise OSError(self.complaint)
        return partial(self.held.append, config.log.level)


@dataclass
class Scene:
    """A reloader at work. `problems` make the settings unreadable."""

    folder: Path
    lines: Lines = field(default_factory=Lines)
    server: Part = field(default_factory=Part)
    other: Part = field(default_factory=Part)
    settings: str = ""
    problems: tuple[str, ...] = ()
    reloader: Reloader = field(init=False)

    def __post_init__(self) -> None:
        self.settings = TLS.format(self.folder)
        self.reloader = Reloader(self.load(), self.load, Notifier(), self.lines)
        self.reloader.add(self.server.prepare, self.other.prepare)

    def load(self) -> Config:
        if self.problems:
            raise ConfigError([Problem("log.level", problem) for problem in self.problems])
        return load(self.settings, {"STATE_DIRECTORY": "/nonexistent"})

    async def reloaded(self) -> tuple[str, dict[str, object]]:
        """Ask, and wait for the first line about it."""
        self.reloader.ask()
        return await self.lines.next()


@pytest.fixture
async def scene(tmp_path: Path, mock_clock: MockClock) -> AsyncIterator[Scene]:
    for name in ("c.pem", "c.key"):
        (tmp_path / name).write_text("first")
    made = Scene(tmp_path)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(made.reloader.run, "serving", made.server.prepare)
        yield made
        nursery.cancel_scope.cancel()


async def look(mock_clock: MockClock) -> None:
    """Let the next look at the files come."""
    await trio.testing.wait_all_tasks_blocked()
    mock_clock.jump(CERTIFICATE_SECONDS + 1)


async def test_all_parts_take_the_settings_or_none(scene: Scene) -> None:
    scene.settings += "[log]\nlevel = 'error'\n[limits]\njson_body_bytes = 5000\n"
    for complaint in ("no room", "no room still"):
        scene.other.complaint = complaint
        assert await scene.reloaded() == ("reload_refused", {"problems": [complaint]})
    assert (scene.server.held, scene.other.held, scene.reloader.failed) == ([], [], True)
    scene.server.complaint = "no key"
    assert await scene.reloaded() == ("reload_refused", {"problems": ["no key", "no room still"]})
    scene.server.complaint = scene.other.complaint = ""
    assert await scene.reloaded() == ("reloaded", {"settings": ("log.level",)})
    assert await scene.lines.next() == ("settings_need_restart", {"settings": ("limits.json_body_bytes",)})
    assert (scene.server.held, scene.other.held, scene.reloader.failed) == (["error"], ["error"], False)
    assert scene.reloader.config.limits == Config().limits


async def test_settings_that_cannot_be_read_change_nothing_and_are_one_line(scene: Scene) -> None:
    scene.problems = ("must be one of these", "unknown key")
    said = ("reload_refused", {"problems": ["log.level: must be one of these", "log.level: unknown key"]})
    assert await scene.reloaded() == said
    assert (scene.server.held, scene.reloader.failed) == ([], True)
    scene.problems = ()
    assert await scene.reloaded() == ("reloaded", {"settings": ()})
    assert not scene.reloader.failed


async def test_a_file_that_changes_is_taken_and_one_that_does_not_is_left_alone(
    scene: Scene, mock_clock: MockClock
) -> None:
    await look(mock_clock)
    await look(mock_clock)
    (scene.folder / "c.pem").write_text("second")
    await look(mock_clock)
    assert await scene.lines.next() == ("certificate_reloaded", {"file": str(scene.folder / "c.pem")})
    assert (scene.server.held, scene.other.held) == (["info"], [])  # the certificate alone, and once


async def test_what_does_not_fit_is_said_once_and_looked_at_until_it_does(scene: Scene, mock_clock: MockClock) -> None:
    (scene.folder / "c.pem").write_text("second")
    scene.server.complaint = "they do not fit"
    await look(mock_clock)
    assert await scene.lines.next() == ("certificate_refused", {"reason": "they do not fit"})
    assert scene.reloader.failed
    await look(mock_clock)  # nothing is said
    await trio.testing.wait_all_tasks_blocked()
    scene.server.complaint = "it is half a file"
    await look(mock_clock)
    assert await scene.lines.next() == ("certificate_refused", {"reason": "it is half a file"})
    scene.server.complaint = ""
    await look(mock_clock)  # though no file has changed since
    assert (await scene.lines.next())[0] == "certificate_reloaded"
    assert (scene.server.held, scene.reloader.failed) == (["info"], False)


async def test_a_refused_reload_is_told_until_the_next_one(scene: Scene, mock_clock: MockClock) -> None:
    scene.problems = ("unknown key",)
    await scene.reloaded()
    (scene.folder / "c.pem").write_text("second")
    await look(mock_clock)
    assert (await scene.lines.next())[0] == "certificate_reloaded"
    assert scene.reloader.failed
