"""`/admin/backups`: the last backup that is known here, whether it was looked at, and how to make and restore one."""

import shlex
from functools import partial
from pathlib import Path
from typing import Final

import trio
from quart import Quart, render_template

from gatewayd.clock import DAY, Clock, Instant, from_wire
from gatewayd.console.addresses import ADMIN_BACKUPS
from gatewayd.console.administration.administrators import administrator
from gatewayd.console.components.shapes import Cell, Tone
from gatewayd.console.components.words import day, moment, size
from gatewayd.console.pages import add_page
from gatewayd.console.parts import ConsoleParts
from gatewayd.store import StoreFailure
from gatewayd.store.files.known_backups import KnownBackups, LastBackup, find_known
from gatewayd.store.files.restored import Restored, find_restored

OLD: Final = 7 * DAY  # Chosen: a week's work is the most that anybody would enter again
_FOLDER: Final = "/var/backups/gatewayd"
"""Chosen: where the commands say that backups go while none is known."""


class Backups:
    """The page of backups."""

    def __init__(self, parts: ConsoleParts) -> None:
        self._directory: Path = parts.store.directory
        self._clock: Clock = parts.clock
        self._thread = trio.CapacityLimiter(1)

    def add_to(self, app: Quart) -> None:
        """Put the page where it belongs."""
        add_page(app, "GET", ADMIN_BACKUPS, self.show)

    async def show(self) -> str:
        administrator()
        look = partial(_look, self._directory)
        known, restored, faults = await trio.to_thread.run_sync(look, limiter=self._thread)
        last, now = known.last, self._clock.now()
        folder = str(Path(last.directory).parent) if last is not None else _FOLDER
        source = last.directory if last is not None else f"{_FOLDER}/DIR"
        return await render_template(
            "administration/backups.html",
            verdict=_verdict(known, now),
            facts=[] if last is None else _facts(last),
            restored=_words_of_restore(restored),
            faults=faults,
            rows=last.rows if last is not None else "",
            commands=[
                ("Make one each night, and keep a fortnight of them", f"gatewayd backup --into {shlex.quote(folder)}"),
                ("Look whether one is whole", f"gatewayd verify {shlex.quote(source)}"),
                ("Restore one into an empty data directory", f"gatewayd restore {shlex.quote(source)}"),
            ],
        )


def _look(directory: Path) -> tuple[KnownBackups, Restored | None, list[str]]:
    """What the data directory says, and a sentence for each of its files that cannot be read. On a thread."""
    known, restored, faults = KnownBackups(), None, []
    try:
        known = find_known(directory)
    except StoreFailure as error:
        faults.append(f"{error}.")
    try:
        restored = find_restored(directory)
    except StoreFailure as error:
        faults.append(f"{error}.")
    return known, restored, faults


def _verdict(known: KnownBackups, now: Instant) -> tuple[Tone, str]:
    """Whether one could go back to it today, and how that is drawn."""
    last, damaged = known.last, known.damaged_at
    if damaged is not None and (last is None or damaged > last.made_at):
        return "danger", (
            f"What was copied on {moment(from_wire(damaged))} was damaged, and is no backup. Run gatewayd verify."
        )
    if last is None:
        return "danger", "No backup is known. Make one: what is lost here cannot be brought back without it."
    if not last.is_whole:
        return "danger", "The last backup was whole when it was made, and is not any more: make another one."
    if now - from_wire(last.made_at) >= OLD:
        return "warning", f"The last backup is of {day(last.made_at)}: what came since would be lost."
    return "success", "The last backup is whole."


def _facts(last: LastBackup) -> list[tuple[str, Cell]]:
    looked_at = "It was read again when it was made, and was whole."
    if last.verified_at is not None:
        found = "it was whole" if last.is_whole else "it was not whole"
        looked_at = f"Looked at once more on {moment(from_wire(last.verified_at))}: {found}."
    lacks_key = "It is not in it. Keep a copy of it elsewhere, or sealed secrets are lost."
    return [
        ("Made", Cell(at=from_wire(last.made_at), kind="moment")),
        ("At", Cell(text=last.directory, kind="code")),
        ("Size", Cell(text=f"{size(last.size_bytes)} in {last.files:,} files")),
        ("Verified", Cell(text=looked_at)),
        ("Instance key", Cell(text="It is in it." if last.with_key else lacks_key)),
    ]


def _words_of_restore(restored: Restored | None) -> str:
    """Empty: this store was never restored."""
    if restored is None:
        return ""
    made, when = from_wire(restored.backup_made_at), from_wire(restored.restored_at)
    return f"This store was restored on {moment(when)} from a backup of {moment(made)}."
