"""Processes that are killed, and processes that write side by side."""

import contextlib
import os
import random
from pathlib import Path

import pytest

from gatewayd.store.settings import DATABASE_NAME
from gatewayd.store.sqlite import connections
from tests.store.opening import child

SECONDS = 120.0
KILLS_EACH = 3
ROUNDS = int(os.environ.get("GATEWAYD_STORE_KILLS", "9"))


def _ids(directory: Path) -> set[str]:
    connection = connections.open_writer(directory / DATABASE_NAME, 5)
    try:
        assert connection.pragma("integrity_check") == "ok"
        return {str(row[0]) for row in connection.execute("SELECT id FROM notes")}
    finally:
        connection.close()


@pytest.mark.parametrize("start", range(0, ROUNDS, KILLS_EACH))
def test_what_was_acknowledged_outlives_a_kill(tmp_path: Path, start: int) -> None:
    chance = random.Random(start)
    printed: set[str] = set()
    for number in range(start, start + KILLS_EACH):
        with child("tests.store.writing_child", str(tmp_path), f"r{number}", "8", "0") as process:
            assert process.stdout is not None
            for _ in range(chance.randrange(1, 300)):
                printed.add(process.stdout.readline().strip())
            process.kill()
            printed |= {line.strip() for line in process.stdout if line.endswith("\n")}
        assert process.returncode == -9
        assert printed <= _ids(tmp_path)


def test_processes_that_write_at_once_lose_nothing(tmp_path: Path) -> None:
    printed: list[str] = []
    with contextlib.ExitStack() as started:
        processes = [
            started.enter_context(child("tests.store.writing_child", str(tmp_path), label, "4", "25"))
            for label in ("a", "b")
        ]
        for process in processes:
            assert process.stdout is not None
            printed += process.stdout.read().split()  # to its end, however long that takes
            assert process.wait(SECONDS) == 0
    assert len(printed) == 200
    assert _ids(tmp_path) == set(printed)
