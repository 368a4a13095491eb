"""The pulse tells of every commit and fails without harm, and a snapshot is begun only where it has moved."""

import stat
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from gatewayd.store.sqlite import connections
from gatewayd.store.sqlite.snapshot import Pulse, Snapshot


def test_every_beat_is_seen_by_all_who_look(tmp_path: Path) -> None:
    here, there = Pulse(tmp_path / "pulse"), Pulse(tmp_path / "pulse")
    seen = {here.read()}
    for beating in (here, there, here):
        beating.beat()
        assert here.read() == there.read()
        seen.add(here.read())
    assert len(seen) == 4
    assert (tmp_path / "pulse").read_bytes() == here.read()
    assert (tmp_path / "pulse").stat().st_size == 8
    assert stat.S_IMODE((tmp_path / "pulse").stat().st_mode) == 0o600
    here.close()
    there.close()


def test_a_pulse_that_is_closed_tells_nothing(tmp_path: Path) -> None:
    pulse = Pulse(tmp_path / "pulse")
    pulse.beat()
    open_files = len(list(Path("/proc/self/fd").iterdir()))
    pulse.close()
    pulse.close()
    pulse.beat()
    assert pulse.read() is None
    assert len(list(Path("/proc/self/fd").iterdir())) == open_files - 1


@pytest.mark.parametrize("path", ["/proc/self/mem", "/"], ids=["cannot be read", "cannot be opened"])
def test_a_pulse_that_fails_tells_nothing(path: str) -> None:
    pulse = Pulse(Path(path))
    assert pulse.read() is None
    pulse.close()


def test_a_full_disk_stops_no_commit() -> None:
    pulse = Pulse(Path("/dev/full"))
    pulse.beat()
    pulse.close()


@pytest.fixture
def connection(tmp_path: Path) -> Iterator[apsw.Connection]:
    opened = connections.open_writer(tmp_path / "a.db", 1)
    yield opened
    opened.close()


def test_a_snapshot_is_taken_anew_only_after_a_beat(connection: apsw.Connection, tmp_path: Path) -> None:
    run: list[str] = []

    def note(_: object, statement: str, __: object) -> bool:
        run.append(statement)
        return True

    pulse = Pulse(tmp_path / "pulse")
    snapshot = Snapshot(connection, pulse)
    assert not snapshot.is_open
    connection.exec_trace = note
    pulse.beat()
    version = snapshot.take()
    assert run == ["BEGIN", "PRAGMA data_version"]
    assert [snapshot.take() for _ in range(3)] == [version] * 3
    assert len(run) == 2
    pulse.beat()
    assert snapshot.take() == version  # a beat alone is a false alarm
    assert run[2:] == ["ROLLBACK", "BEGIN", "PRAGMA data_version"]
    snapshot.release()
    snapshot.release()
    assert (run[5:], snapshot.is_open, connection.in_transaction) == (["ROLLBACK"], False, False)
    pulse.close()
    for _ in range(2):  # nothing can be told any more: each time anew
        snapshot.take()
    assert run[6:] == ["BEGIN", "PRAGMA data_version", "ROLLBACK", "BEGIN", "PRAGMA data_version"]
