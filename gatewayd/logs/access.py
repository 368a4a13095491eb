"""The access log: a line for each request that was answered."""

from datetime import UTC, datetime
from functools import partial
from typing import TextIO

import msgspec

from gatewayd.logs.events import LogFormat, escaped, is_console
from gatewayd.logs.writer import LogWriter


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
    """One line per request, made and written by the thread of a `LogWriter`. `add` belongs to one thread."""

    def __init__(self, format: LogFormat, stream: TextIO, writer: LogWriter) -> None:  # noqa: A002
        """`stream` is what `writer` writes to."""
        self._line = self._console_line if is_console(format, stream) else self._json_line
        self._encode = msgspec.json.Encoder().encode
        self._add = writer.add
        self._second = -1
        self._second_text = ""

    def add(self, now: int, access: Access) -> None:
        """`now`: microseconds since the epoch, the end of the request."""
        self._add(partial(self._line, now, access))

    def _json_line(self, now: int, access: Access) -> bytes:
        head = f'{{"timestamp":"{self._date(now)}.{now % 1_000_000:06}Z","level":"info","event":"request",'
        return head.encode() + self._encode(access)[1:] + b"\n"

    def _console_line(self, now: int, access: Access) -> bytes:
        text = (
            f"{self._date(now)}Z {access.status} {access.operation} {access.milliseconds:.1f} ms"
            f" {access.organization or '-'} {access.caller or '-'} {access.request_id}"
        )
        return escaped(text).encode() + b"\n"

    def _date(self, now: int) -> str:
        second = now // 1_000_000
        if second != self._second:
            self._second = second
            self._second_text = datetime.fromtimestamp(second, UTC).strftime("%Y-%m-%dT%H:%M:%S")
        return self._second_text
