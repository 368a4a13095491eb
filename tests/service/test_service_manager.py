"""sd_notify against a real datagram socket, in the file system and abstract."""

import os
import re
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from gatewayd.service_manager import Notifier, from_environ


@pytest.fixture(params=["path", "abstract"])
def manager(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[socket.socket, str]]:
    """A listening manager and the text of $NOTIFY_SOCKET that leads to it."""
    name = str(tmp_path / "notify") if request.param == "path" else f"@gatewayd-test-{os.getpid()}"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listener:
        listener.bind(name.replace("@", "\0", 1) if request.param == "abstract" else name)
        listener.settimeout(5)
        yield listener, name


def test_states_arrive(manager: tuple[socket.socket, str]) -> None:
    listener, name = manager
    notifier = from_environ({"NOTIFY_SOCKET": name})
    notifier.ready("serving on\n127.0.0.1:8080\nREADY=0")
    notifier.status("draining 3 requests")
    notifier.watchdog()
    notifier.reloading()
    notifier.stopping()
    said = [listener.recv(1000) for _ in range(5)]
    # sd_notify(3): on the clock that the manager compares with, in microseconds
    assert re.fullmatch(rb"RELOADING=1\nMONOTONIC_USEC=([0-9]+)", said[3])
    assert 0 <= time.monotonic_ns() // 1000 - int(said.pop(3).rpartition(b"=")[2]) < 60_000_000
    assert said == [
        b"READY=1\nSTATUS=serving on 127.0.0.1:8080 READY=0",
        b"STATUS=draining 3 requests",
        b"WATCHDOG=1",
        b"STOPPING=1\nSTATUS=stopping",
    ]


@pytest.mark.parametrize("address", ["", "vsock:2:1", "relative", "/a\0b"])
def test_nothing_happens_without_a_manager_we_can_reach(address: str) -> None:
    notifier = from_environ({"NOTIFY_SOCKET": address, "WATCHDOG_USEC": "1000000"})
    assert notifier == Notifier()
    notifier.ready()
    notifier.watchdog()


def test_a_manager_that_went_away_is_no_error(tmp_path: Path) -> None:
    for name in (str(tmp_path / "gone"), "@gatewayd-test-gone", "/" + "x" * 200):
        notifier = from_environ({"NOTIFY_SOCKET": name})
        assert notifier.address is not None
        notifier.ready()
        notifier.stopping()


def test_a_manager_that_hangs_is_not_waited_for(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listener:
        listener.bind(str(tmp_path / "notify"))
        listener.setblocking(False)
        notifier = Notifier(str(tmp_path / "notify"))
        sent = 10_000
        for _ in range(sent):
            notifier.watchdog()
        received = 0
        while True:
            try:
                listener.recv(100)
            except BlockingIOError:
                break
            received += 1
        assert 0 < received < sent  # the queue was full, and nobody blocked


@pytest.mark.parametrize(
    ("environ", "seconds"),
    [
        ({}, None),
        ({"WATCHDOG_USEC": "30000000"}, 15.0),
        ({"WATCHDOG_USEC": "30000000", "WATCHDOG_PID": "77"}, 15.0),
        ({"WATCHDOG_USEC": "30000000", "WATCHDOG_PID": "78"}, None),
        ({"WATCHDOG_USEC": "0"}, None),
        ({"WATCHDOG_USEC": "-5"}, None),
        ({"WATCHDOG_USEC": "soon"}, None),
    ],
)
def test_the_watchdog_is_answered_twice_an_interval(environ: dict[str, str], seconds: float | None) -> None:
    assert from_environ({"NOTIFY_SOCKET": "/run/x"} | environ, pid=77).watchdog_seconds == seconds
