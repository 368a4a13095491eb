"""Logs: shape of lines, secrets that never appear, streams that fail."""

import io
import json
import os
import threading
from typing import TextIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatewayd.logs import FLUSH_LINES, WAITING_LINES_MAX, Access, AccessLog, LineWriter, is_secret_key, make_logger

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
    access_log = AccessLog("json", stream)
    access_log.add(NOW, ACCESS)
    access_log.flush()
    assert access_log.dropped == 1
    stream.close()


def test_an_access_line_waits_for_the_flush() -> None:
    stream = io.StringIO()
    access_log = AccessLog("json", stream)
    access_log.add(NOW, ACCESS)
    access_log.add(NOW + 1_000_000, Access(request_id="req_2", operation="unknown", status=404, milliseconds=0.5))
    assert stream.getvalue() == ""
    access_log.flush()
    access_log.flush()
    assert lines(stream) == [
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


def test_many_access_lines_are_written_without_a_flush() -> None:
    stream = io.StringIO()
    access_log = AccessLog("json", stream)
    count = 0
    while not stream.getvalue():
        access_log.add(NOW, ACCESS)
        count += 1
        assert count <= FLUSH_LINES
    assert len(lines(stream)) == count == FLUSH_LINES


def test_an_access_line_for_the_console_is_plain() -> None:
    terminal = Terminal()
    access_log = AccessLog("auto", terminal)
    access_log.add(NOW, ACCESS)
    access_log.flush()
    assert terminal.getvalue() == "2023-11-14T22:13:20Z 200 accounting.listInvoices 1.2 ms org_1 key req_1\n"


class Stuck(io.StringIO):
    """A stream whose reader stopped reading, until it is released."""

    def __init__(self) -> None:
        super().__init__()
        self.entered = threading.Event()
        self.released = threading.Event()

    def write(self, text: str) -> int:
        self.entered.set()
        assert self.released.wait(10)
        return super().write(text)


def test_a_stuck_stream_neither_blocks_requests_nor_fills_the_memory() -> None:
    stream = Stuck()
    access_log = AccessLog("json", stream)
    access_log.add(NOW, ACCESS)
    flushing = threading.Thread(target=access_log.flush)
    flushing.start()
    assert stream.entered.wait(10)
    added = 2 * WAITING_LINES_MAX
    for _ in range(added):
        access_log.add(NOW, ACCESS)
    stream.released.set()
    flushing.join(10)
    access_log.flush()
    assert access_log.dropped > 0
    assert len(lines(stream)) == 1 + added - access_log.dropped
