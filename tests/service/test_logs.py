"""Logs: shape of lines, secrets that never appear, streams that fail."""

import io
import json
import os
import resource
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatewayd.logs import Access, AccessLog, LineWriter, LogWriter, Threshold, is_secret_key, make_logger, make_writer
from gatewayd.logs.writer import FLUSH_LINES, WAITING_CHARACTERS_MAX, WAITING_LINES_MAX

SECONDS = 60.0  # the longest that anything here waits
NOW = 1_700_000_000_000_456  # 2023-11-14T22:13:20.000456Z
ACCESS = Access(
    request_id="req_1",
    operation="accounting.listInvoices",
    status=200,
    milliseconds=1.25,
    organization="org_1",
    caller="key",
)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class FullDisk(io.StringIO):
    def write(self, text: str) -> int:
        raise OSError(28, "No space left on device")


def lines(stream: io.StringIO) -> list[dict[str, object]]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def test_json_lines_have_time_level_and_event() -> None:
    stream = io.StringIO()
    make_logger("json", "info", stream).bind(organization="org_1").warning("disk_low", free_bytes=5, path=os.sep)
    (line,) = lines(stream)
    assert list(line)[:3] == ["timestamp", "level", "event"]
    assert str(line.pop("timestamp")).endswith("Z")
    assert line == {"level": "warning", "event": "disk_low", "organization": "org_1", "free_bytes": 5, "path": "/"}


def test_two_loggers_have_streams_and_levels_of_their_own() -> None:
    first, second = io.StringIO(), io.StringIO()
    loud, quiet = make_logger("json", "debug", first), make_logger("json", "error", second)
    for logger in (loud, quiet):
        logger.debug("one")
        logger.error("two")
    assert [line["event"] for line in lines(first)] == ["one", "two"]
    assert [line["event"] for line in lines(second)] == ["two"]


def test_a_threshold_that_changes_holds_for_every_copy_of_the_logger() -> None:
    stream, threshold = io.StringIO(), Threshold("error")
    logger = make_logger("json", threshold, stream)
    copy = logger.bind(organization="org_1")
    copy.info("dropped")
    threshold.change("debug")
    copy.debug("kept")
    threshold.change("warning")
    logger.info("dropped")
    logger.warning("kept too")
    assert [line["event"] for line in lines(stream)] == ["kept", "kept too"]


def test_auto_is_console_on_a_terminal_only() -> None:
    terminal, pipe = Terminal(), io.StringIO()
    for stream in (terminal, pipe):
        make_logger("auto", "info", stream).info("hello")
    assert "hello" in terminal.getvalue()
    assert not terminal.getvalue().startswith("{")
    assert lines(pipe)[0]["event"] == "hello"


def fail(password: str) -> None:
    raise LookupError("gone")


@pytest.mark.parametrize("format_", ["json", "console"])
def test_tracebacks_have_frames_and_no_locals(format_: str) -> None:
    stream = io.StringIO()
    logger = make_logger("json" if format_ == "json" else "console", "info", stream)
    try:
        fail("hunter2")
    except LookupError:
        logger.exception("broke")
    assert "LookupError" in stream.getvalue()
    assert "gone" in stream.getvalue()
    assert "hunter2" not in stream.getvalue().replace('fail("hunter2")', "")
    if format_ == "json":
        (line,) = lines(stream)
        stacks = line["exception"]
        assert isinstance(stacks, list)
        assert [stack["frames"][-1]["name"] for stack in stacks] == ["fail"]


@pytest.mark.parametrize(
    "name",
    [
        *(
            "authorization",
            "Authorization",
            "HTTP_AUTHORIZATION",
            "token",
            "access_token",
            "refreshToken",
            "token_value",
        ),
        *("key", "api_key", "apiKey", "APIKey", "x-api-key", "key_file_bytes", "secret", "client_secret", "secrets"),
        *("password", "new_password", "code", "code_verifier", "Cookie", "Set-Cookie", "TOTP", "X-Service-Signature"),
    ],
)
def test_names_of_secrets(name: str) -> None:
    assert is_secret_key(name)


@pytest.mark.parametrize(
    "name", ["key_id", "tokenEndpoint", "key_file", "status_code", "monkey", "encoded", "operation", "caller", "", "42"]
)
def test_harmless_names(name: str) -> None:
    assert not is_secret_key(name)


@pytest.mark.parametrize("format_", ["json", "console"])
@pytest.mark.parametrize(
    "value",
    [
        {"token": "PLANTED"},
        {"outer": {"client_secret": "PLANTED"}},
        {"rows": [{"password": "PLANTED"}, ("cookie", "PLANTED")]},
        {"headers": [(b"authorization", b"PLANTED"), (b"host", b"x")]},
        {"text": "Authorization was Bearer PLANTED123"},
        {"text": "signed with whsec_PLANTED"},
        {"text": "the key gwd_PLANTED0123456789 was used"},
        {"rows": {1: {"code": "PLANTED"}}},
    ],
)
def test_secrets_are_never_printed(format_: str, value: dict[str, object]) -> None:
    stream = io.StringIO()
    make_logger("json" if format_ == "json" else "console", "info", stream).info("event", **value)
    assert "PLANTED" not in stream.getvalue()
    assert "[redacted]" in stream.getvalue()


def test_a_client_cannot_steer_the_terminal() -> None:
    terminal = Terminal()
    make_logger("console", "info", terminal).info("seen\x1b[2J", agent="\x1b]0;owned\x07")
    assert "\x1b[2J" not in terminal.getvalue()
    assert "\x1b]0" not in terminal.getvalue()


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(json_values)
def test_any_value_makes_one_valid_line(value: object) -> None:
    stream = io.StringIO()
    make_logger("json", "info", stream).info("event", value=value)
    (line,) = stream.getvalue().splitlines()
    assert json.loads(line)["event"] == "event"


def test_a_value_that_holds_itself_makes_a_line() -> None:
    stream = io.StringIO()
    loop: list[object] = []
    loop += [loop, 1, 2]
    make_logger("json", "info", stream).info("event", value=loop, other=float("inf"))
    assert lines(stream)[0]["event"] == "event"


@pytest.mark.parametrize("broken", ["disk", "pipe", "closed"])
def test_a_stream_that_fails_fails_nobody(broken: str) -> None:
    stream: TextIO = FullDisk()
    if broken == "pipe":
        reader, writer = os.pipe()
        os.close(reader)
        stream = io.TextIOWrapper(os.fdopen(writer, "wb", buffering=0), write_through=True)
    elif broken == "closed":
        stream = io.StringIO()
        stream.close()
    make_logger("json", "info", stream).info("event")
    writer_end = LineWriter(stream)
    writer_end.write("line")
    assert writer_end.dropped == 1
    writer = make_writer("json", stream)
    make_logger("json", "info", stream, writer).info("event")
    AccessLog("json", stream, writer).add(NOW, ACCESS)
    writer.close(SECONDS)
    assert writer.dropped == 2
    stream.close()


# -- the thread that writes


def test_events_and_access_lines_come_in_their_order() -> None:
    stream = io.StringIO()
    writer = make_writer("json", stream)
    log, access_log = make_logger("json", "info", stream, writer), AccessLog("json", stream, writer)
    log.info("first")
    access_log.add(NOW, ACCESS)
    access_log.add(NOW + 1_000_000, Access(request_id="req_2", operation="unknown", status=404, milliseconds=0.5))
    log.info("last", note="Bearer abcdefgh")
    assert stream.getvalue() == ""
    writer.start()
    writer.close(SECONDS)
    first, *requests, last = lines(stream)
    assert (first["event"], last["event"], last["note"]) == ("first", "last", "Bearer [redacted]")
    assert requests == [
        {
            "timestamp": "2023-11-14T22:13:20.000456Z",
            "level": "info",
            "event": "request",
            "request_id": "req_1",
            "operation": "accounting.listInvoices",
            "status": 200,
            "milliseconds": 1.25,
            "organization": "org_1",
            "caller": "key",
        },
        {
            "timestamp": "2023-11-14T22:13:21.000456Z",
            "level": "info",
            "event": "request",
            "request_id": "req_2",
            "operation": "unknown",
            "status": 404,
            "milliseconds": 0.5,
        },
    ]


def test_an_access_line_for_the_console_is_plain() -> None:
    terminal = Terminal()
    writer = make_writer("auto", terminal)
    AccessLog("auto", terminal, writer).add(NOW, ACCESS)
    writer.close(SECONDS)
    assert terminal.getvalue() == "2023-11-14T22:13:20Z 200 accounting.listInvoices 1.2 ms org_1 key req_1\n"


class Held(io.StringIO):
    """A stream whose reader stopped reading, until it is released. `entered` is released at each write."""

    def __init__(self) -> None:
        super().__init__()
        self.entered = threading.Semaphore(0)
        self.released = threading.Event()

    def write(self, text: str) -> int:
        self.entered.release()
        assert self.released.wait(SECONDS)
        return super().write(text)


@contextmanager
def stuck() -> Iterator[tuple[Held, LogWriter]]:
    """A writer whose thread is stuck in a line, until the stream is released; it has ended at the end."""
    stream = Held()
    writer = make_writer("json", stream)
    writer.start()
    writer.write('{"event":"stuck"}')
    assert stream.entered.acquire(timeout=SECONDS)
    yield stream, writer
    stream.released.set()
    writer.close(SECONDS)


def test_what_a_stuck_stream_keeps_waiting_is_bounded_and_what_was_lost_is_told() -> None:
    added = 2 * WAITING_LINES_MAX
    with stuck() as (stream, writer):
        access_log = AccessLog("json", stream, writer)
        for _ in range(added):
            access_log.add(NOW, ACCESS)
        writer.write('{"event":"too late"}')
        assert writer.dropped == added - WAITING_LINES_MAX + 1
    told = lines(stream)
    assert [line["event"] for line in told] == ["stuck", *WAITING_LINES_MAX * ["request"], "log_lines_dropped"]
    assert (told[-1]["count"], told[-1]["level"]) == (WAITING_LINES_MAX + 1, "warning")


def test_tracebacks_that_wait_are_bounded_by_their_length() -> None:
    long = json.dumps({"event": "x" * (WAITING_CHARACTERS_MAX // 4)})
    with stuck() as (stream, writer):
        for _ in range(6):
            writer.write(long)
        assert writer.dropped == 3
        stream.released.set()
        assert stream.entered.acquire(timeout=SECONDS)  # they are taken, and there is room again
        writer.write(long)
    assert len(lines(stream)) == 1 + 3 + 1 + 1
    assert writer.dropped == 3


def test_many_lines_are_written_before_the_second_has_ended() -> None:
    stream = Held()
    stream.released.set()
    writer = make_writer("json", stream)
    access_log = AccessLog("json", stream, writer)
    for _ in range(FLUSH_LINES):
        access_log.add(NOW, ACCESS)
    writer.start()
    assert stream.entered.acquire(timeout=SECONDS)
    writer.close(SECONDS)
    assert len(lines(stream)) == FLUSH_LINES


def test_the_end_does_not_wait_for_what_is_stuck() -> None:
    with stuck() as (stream, writer):
        writer.write('{"event":"waits"}')
        writer.close(0)
        writer.write('{"event":"after the end"}')
        assert writer.dropped == 1
    assert [line["event"] for line in lines(stream)] == ["stuck", "waits", "log_lines_dropped"]


@pytest.mark.parametrize("patient", [True, False])
def test_a_pipe_that_is_read_again_gets_what_waited(patient: bool) -> None:
    """Whoever shares the pipe may have made it non-blocking."""
    reader, end = os.pipe()
    os.set_blocking(end, patient)
    with os.fdopen(end, "w") as stream, os.fdopen(reader) as pipe:
        writer = make_writer("json", stream)
        writer.start()
        count = 2_000  # 200 kB: a pipe holds 64 KiB
        for number in range(count):
            writer.write(json.dumps({"event": "e" * 80, "number": number}))
        read = [json.loads(pipe.readline()) for _ in range(count)]
        writer.close(SECONDS)
    assert [line["number"] for line in read] == list(range(count))
    assert writer.dropped == 0


def test_a_full_disk_tears_no_line_but_its_own(tmp_path: Path) -> None:
    file = tmp_path / "log"
    line = json.dumps({"event": "e" * 80})
    unlimited = resource.getrlimit(resource.RLIMIT_FSIZE)
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        with file.open("w") as stream:
            writer = make_writer("json", stream)
            resource.setrlimit(resource.RLIMIT_FSIZE, (150, unlimited[1]))
            for _ in range(3):
                writer.write(line)
            writer._write_waiting()
            assert writer.dropped == 2
            resource.setrlimit(resource.RLIMIT_FSIZE, unlimited)
            writer.write(line)
            writer.close(SECONDS)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, unlimited)
        signal.signal(signal.SIGXFSZ, before)
    first, torn, second, told = file.read_text().splitlines()
    assert (first, second) == (line, line)
    assert torn == line[: len(torn)]
    assert json.loads(told)["count"] == 2


_LIBRARIES = """
import io, logging, sys, threading, warnings
from contextlib import redirect_stderr
from gatewayd.logs import make_writer
from gatewayd.logs.standard_error import QueuedStandardError

writer = make_writer("json", sys.stdout)
with redirect_stderr(QueuedStandardError(sys.stdout, writer)):
    print("a line", "in parts", file=sys.stderr)
    logging.getLogger("somebody.elses").warning("careful: %s", "gwd_" + "a" * 40)
    warnings.warn("old")
    broken = threading.Thread(target=lambda: 1 / 0)
    broken.start()
    broken.join()
writer.close(10)
"""


def test_what_libraries_write_to_standard_error_takes_the_same_way() -> None:
    ran = subprocess.run([sys.executable, "-c", _LIBRARIES], capture_output=True, text=True, timeout=60, check=True)
    assert ran.stderr == ""
    assert ran.stdout.splitlines()[:2] == ["a line in parts", "careful: gwd_[redacted]"]
    assert "UserWarning: old\n" in ran.stdout
    assert ran.stdout.endswith("ZeroDivisionError: division by zero\n")


class Talkative(str):
    """A line that, as the finalizer of something may, writes to the log while the log counts it."""

    __slots__ = ("writer",)
    writer: LogWriter

    def __len__(self) -> int:
        self.writer.write('{"event":"finalized"}')
        return super().__len__()


def test_a_finalizer_may_write_in_the_midst_of_writing() -> None:
    stream = io.StringIO()
    writer = make_writer("json", stream)
    line = Talkative('{"event":"first"}')
    line.writer = writer
    writing = threading.Thread(target=writer.write, args=(line,), daemon=True)
    writing.start()
    writing.join(SECONDS)
    assert not writing.is_alive()
    writer.close(SECONDS)
    assert [each["event"] for each in lines(stream)] == ["finalized", "first"]


def test_one_line_that_is_longer_than_all_that_may_wait_is_written() -> None:
    stream = io.StringIO()
    writer = make_writer("json", stream)
    writer.write(json.dumps({"event": "x" * 2 * WAITING_CHARACTERS_MAX}))
    writer.close(SECONDS)
    assert (len(lines(stream)), writer.dropped) == (1, 0)
