"""Logs: events through structlog, and a lean line per request beside it.

Nothing here is configured for the whole process: two daemons in one process log to streams of their own. A log never
fails its caller: what a full disk or a closed pipe refuses is dropped and counted.
"""

import json
import logging
import re
import threading
from collections import deque
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final, Literal, TextIO, cast

import msgspec
import structlog
from structlog.typing import EventDict, FilteringBoundLogger, Processor

Logger = FilteringBoundLogger
LogFormat = Literal["auto", "console", "json"]
Level = Literal["debug", "info", "warning", "error"]

FLUSH_LINES = 256  # Chosen: about 64 KiB
WAITING_LINES_MAX = 4_096  # Chosen: what may gather while a stream blocks, about 1 MiB; more is dropped
NESTING_MAX = 8  # levels of a logged value that are looked into
REDACTED = "[redacted]"
SECRET_WORDS: Final = frozenset(
    {"apikey", "authorization", "bearer", "code", "cookie", "credential", "key", "otp", "pass", "passphrase"}
    | {"password", "secret", "signature", "token", "totp", "verifier"}
)
# Chosen: what such words mean before one of these names the secret without giving it away.
HARMLESS_LAST_WORDS: Final = frozenset({"count", "endpoint", "file", "id", "kind", "path"})
HARMLESS_KEYS: Final = frozenset({"error_code", "exit_code", "response_code", "status_code"})
WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
SECRET_TEXT = re.compile(r"(?i)\b(bearer|basic)( +|%20)[\w.~+/=-]{6,}|\b(whsec_|gwd_)[\w+/=-]+")


def make_logger(format: LogFormat, level: Level, stream: TextIO) -> Logger:  # noqa: A002 - the setting's name
    """A logger of its own to one stream; `auto` is console on a terminal, else JSON lines."""
    last: list[Processor]
    if is_console(format, stream):
        console = structlog.dev.ConsoleRenderer(
            colors=stream.isatty(), exception_formatter=structlog.dev.plain_traceback
        )
        last = [_printable, console]
    else:
        traceback = structlog.tracebacks.ExceptionDictTransformer(show_locals=False)  # locals hold secrets
        last = [structlog.processors.ExceptionRenderer(traceback), _json_line]
    logger = structlog.wrap_logger(
        LineWriter(stream),
        processors=[
            _redact,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.StackInfoRenderer(),
            *last,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelNamesMapping()[level.upper()]),
        context_class=dict,
        cache_logger_on_first_use=False,
    )
    return cast(Logger, logger.bind())


def is_console(format: LogFormat, stream: TextIO) -> bool:  # noqa: A002
    """Whether lines are for a person's eyes."""
    return format == "console" or (format == "auto" and stream.isatty())


class LineWriter:
    """The end of the pipeline: whole lines to a stream, from any thread. `dropped` counts lines that it refused."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._lock = threading.Lock()
        self.dropped = 0

    def write(self, line: str) -> None:
        with self._lock:
            if not _written(self._stream, SECRET_TEXT.sub(_hide, line) + "\n"):
                self.dropped += 1

    debug = info = warning = error = critical = write


def _written(stream: TextIO, text: str) -> bool:
    try:
        stream.write(text)
        stream.flush()
    except (OSError, ValueError):  # disk full, pipe closed; ValueError: the stream itself was closed
        return False
    return True


def _hide(match: re.Match[str]) -> str:
    return f"{match[1] or match[3]}{match[2] or ''}{REDACTED}"


# --- redaction -------------------------------------------------------------------------------------------------------


def is_secret_key(name: str) -> bool:
    """Whether a value under this name must not be printed: `access_token`, `apiKey`, `Set-Cookie`, `code`."""
    if name in HARMLESS_KEYS:
        return False
    words = [word.lower() for word in WORD.findall(name)]
    return any(word in SECRET_WORDS or word.removesuffix("s") in SECRET_WORDS for word in words) and (
        words[-1] not in HARMLESS_LAST_WORDS
    )


def _redact(_logger: object, _method: str, event: EventDict) -> EventDict:
    return {name: REDACTED if is_secret_key(name) else _without_secrets(value) for name, value in event.items()}


def _without_secrets(value: object, depth: int = 0) -> object:
    if not isinstance(value, Mapping | list | tuple) or _is_exc_info(value):
        return value
    if depth == NESTING_MAX:
        return "..."
    if isinstance(value, Mapping):
        return {
            str(name): REDACTED if is_secret_key(str(name)) else _without_secrets(each, depth + 1)
            for name, each in value.items()
        }
    if len(value) == 2 and isinstance(value[0], str | bytes):  # a header, as ASGI and httpx list them
        name = value[0] if isinstance(value[0], str) else value[0].decode("latin-1")
        return [name, REDACTED if is_secret_key(name) else _without_secrets(value[1], depth + 1)]
    return [_without_secrets(each, depth + 1) for each in value]


def _is_exc_info(value: object) -> bool:
    return isinstance(value, tuple) and len(value) == 3 and isinstance(value[1], BaseException)


# --- rendering -------------------------------------------------------------------------------------------------------


def _json_line(_logger: object, _method: str, event: EventDict) -> str:
    first = {name: event.pop(name) for name in ("timestamp", "level", "event")}
    try:
        return json.dumps({**first, **event}, default=repr, allow_nan=False)
    except (ValueError, RecursionError):  # not a number, or a value that holds itself
        return json.dumps(first | {name: repr(value) for name, value in event.items()}, default=repr)


def _printable(_logger: object, _method: str, event: EventDict) -> EventDict:
    """Escapes control characters: what a client sent must not steer the terminal of the operator."""
    return {name: _escaped(value) if isinstance(value, str) else value for name, value in event.items()}


def _escaped(text: str) -> str:
    return text if text.isprintable() else "".join(each if each.isprintable() else ascii(each)[1:-1] for each in text)


# --- requests --------------------------------------------------------------------------------------------------------


class Access(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What is told of one request: never its path, which may hold a token, nor its headers or body.

    `operation` is an operation id or another fixed label; `caller` the kind of credential; `None`: unknown.
    """

    request_id: str
    operation: str
    status: int
    milliseconds: float
    organization: str | None = None
    caller: str | None = None


class AccessLog:
    """One line per request, kept until 256 are together or `flush` is called, which is due at least every second.

    `add` belongs to one thread; `flush` may run in another, so that a stream that blocks need not stop the event loop.
    Lines are made when they are written: many at a time cost a third of one at a time between other work.
    `dropped` counts requests whose lines the stream refused or kept waiting too long.
    """

    def __init__(self, format: LogFormat, stream: TextIO) -> None:  # noqa: A002
        self._stream = stream
        self._line = self._console_line if is_console(format, stream) else self._json_line
        self._encode = msgspec.json.Encoder().encode
        self._waiting: deque[tuple[int, Access]] = deque()
        self._lock = threading.Lock()
        self._second = -1
        self._second_text = ""
        self.dropped = 0

    def add(self, now: int, access: Access) -> None:
        """`now`: microseconds since the epoch, the end of the request."""
        waiting = self._waiting
        if len(waiting) >= WAITING_LINES_MAX:
            self.dropped += 1
            return
        waiting.append((now, access))
        if len(waiting) >= FLUSH_LINES and self._lock.acquire(blocking=False):
            try:
                self._write_lines()
            finally:
                self._lock.release()

    def flush(self) -> None:
        with self._lock:
            self._write_lines()

    def _write_lines(self) -> None:
        taken = [self._waiting.popleft() for _ in range(len(self._waiting))]
        lines = [self._line(now, access) for now, access in taken]
        if lines and not _written(self._stream, b"".join(lines).decode()):
            self.dropped += len(lines)

    def _json_line(self, now: int, access: Access) -> bytes:
        head = f'{{"timestamp":"{self._date(now)}.{now % 1_000_000:06}Z","level":"info","event":"request",'
        return head.encode() + self._encode(access)[1:] + b"\n"

    def _console_line(self, now: int, access: Access) -> bytes:
        text = (
            f"{self._date(now)}Z {access.status} {access.operation} {access.milliseconds:.1f} ms"
            f" {access.organization or '-'} {access.caller or '-'} {access.request_id}"
        )
        return _escaped(text).encode() + b"\n"

    def _date(self, now: int) -> str:
        second = now // 1_000_000
        if second != self._second:
            self._second = second
            self._second_text = datetime.fromtimestamp(second, UTC).strftime("%Y-%m-%dT%H:%M:%S")
        return self._second_text
