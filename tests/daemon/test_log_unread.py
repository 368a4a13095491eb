"""A log that nobody reads, or that cannot be written, holds up no request and no end."""

import json
import os
import re
import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.daemon.instance import ROOT, SECONDS, Firm, Instance, Running, Supervisor, environment

pytestmark = pytest.mark.either_engine("its subject is the log")

INVOICES = "/api/rpc/invoices"
REQUESTS = 5_000
UNLIMITED = "[limits]\nrequests_per_minute = 0\n"
_STOP_SECONDS = 15.0  # of which the daemon gives its log two


@contextmanager
def serving_into(instance: Instance, standard_error: int) -> Iterator[Running]:
    """The daemon with such a standard error, which is told by nobody else."""
    manager = Supervisor()
    process = subprocess.Popen(
        [sys.executable, "-m", "gatewayd", "serve", "--config", str(instance.config)],
        env=environment(NOTIFY_SOCKET=manager.name),
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=standard_error,
    )
    log = instance.directory / "log"
    log.touch()
    running = Running(process, manager, log)
    try:
        running.wait_ready()
        yield running
    finally:
        if process.poll() is None:
            process.kill()
            process.wait(SECONDS)
        manager.close()


def mix_of(firm: Firm) -> list[tuple[str, str]]:
    """Paths and keys: health, a request that is refused, one that is admitted, a page."""
    return [("/healthz", ""), (INVOICES, "gwd_nonsense"), (INVOICES, firm.key), ("/sign-in", "")]


def ask_all(running: Running, asked: Sequence[tuple[str, str]], count: int) -> Counter[int]:
    """So many requests on one connection, many at a time; how many had each status."""
    mix = b"".join(
        f"GET {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n\r\n".encode()
        for path, token in asked
    )
    answered: Counter[int] = Counter()
    with running.connect() as peer:
        for _ in range(count // (25 * len(asked))):
            peer.sendall(25 * mix)
            received = b""
            while len(found := re.findall(rb"HTTP/1\.1 (\d+) ", received)) < 25 * len(asked):
                piece = peer.recv(1 << 16)
                assert piece, received
                received += piece
            answered.update(map(int, found))
    return answered


def of_the_mix(count: int) -> Counter[int]:
    """What is answered where all is well."""
    return Counter({200: count * 3 // 4, 401: count // 4})


def test_a_pipe_that_nobody_reads_stops_neither_requests_nor_the_end(tmp_path: Path) -> None:
    instance = Instance(tmp_path, UNLIMITED)
    firm = instance.firm()
    reader, writer = os.pipe()
    try:
        with serving_into(instance, writer) as running:
            assert ask_all(running, mix_of(firm), REQUESTS) == of_the_mix(REQUESTS)
            running.terminate()
            assert running.process.wait(_STOP_SECONDS) == 0
    finally:
        os.close(reader)
        os.close(writer)


def closed_pipe() -> int:
    reader, writer = os.pipe()
    os.close(reader)
    return writer


@pytest.mark.parametrize("make", [closed_pipe, lambda: os.open("/dev/full", os.O_WRONLY)], ids=["closed", "full"])
def test_a_log_that_cannot_be_written_stops_nothing(instance: Instance, make: Callable[[], int]) -> None:
    firm = instance.firm()
    descriptor = make()
    try:
        with serving_into(instance, descriptor) as running:
            assert ask_all(running, mix_of(firm), 100) == of_the_mix(100)
            assert running.end() == 0
    finally:
        os.close(descriptor)


def test_a_log_that_is_read_again_says_what_was_lost(instance: Instance) -> None:
    reader, writer = os.pipe()
    with os.fdopen(reader) as pipe, serving_into(instance, writer) as running:
        os.close(writer)
        assert ask_all(running, [("/api/rpc/nothing", "")], REQUESTS) == Counter({404: REQUESTS})
        told: list[str] = []
        reading = threading.Thread(target=lambda: told.extend(pipe))
        reading.start()
        assert running.end() == 0
        reading.join(SECONDS)
    lines = [json.loads(line) for line in told]
    requests = sum(line["event"] == "request" for line in lines)
    lost = sum(line["count"] for line in lines if line["event"] == "log_lines_dropped")
    assert lost > 0
    assert requests + lost >= REQUESTS  # of events some may be lost too
    assert lines[-1]["event"] == "stopped"


_FAULT = """
import sys
from types import SimpleNamespace
from gatewayd.cli.instance import serve
serve.LAST_WORDS_SECONDS = 1
with serve._last_words(SimpleNamespace(started=True)):
    raise LookupError("x" * 200_000)
"""


def test_a_fault_that_nobody_reads_of_ends_the_process(tmp_path: Path) -> None:
    reader, writer = os.pipe()
    try:
        process = subprocess.Popen([sys.executable, "-c", _FAULT], stderr=writer, cwd=ROOT, env=environment())
        assert process.wait(SECONDS) == -signal.SIGALRM
    finally:
        os.close(reader)
        os.close(writer)
