"""Events: a logger of its own for each stream, whose lines a `LineWriter` or a `LogWriter` takes."""

import json
import logging
from typing import Final, Literal, Protocol, TextIO, cast

import structlog
from structlog.typing import EventDict, FilteringBoundLogger, Processor

from gatewayd.logs.redaction import redact
from gatewayd.logs.writer import LineWriter, LogWriter

Logger = FilteringBoundLogger
LogFormat = Literal["auto", "console", "json"]
Level = Literal["debug", "info", "warning", "error"]

_SEVERITIES: Final = {name.lower(): number for name, number in logging.getLevelNamesMapping().items()}


class Lines(Protocol):
    """What takes the lines of a logger, by the level's name."""

    def debug(self, line: str) -> None: ...

    def info(self, line: str) -> None: ...

    def warning(self, line: str) -> None: ...

    def error(self, line: str) -> None: ...

    def critical(self, line: str) -> None: ...


class Threshold:
    """The least severe event that is written, which may change. A processor: the first, so that the rest costs nothing.

    Raises `structlog.DropEvent` for what is below.
    """

    def __init__(self, level: Level) -> None:
        self.change(level)

    def change(self, level: Level) -> None:
        """Hold events to another level from the next one on."""
        self._least = _SEVERITIES[level]

    def __call__(self, _logger: object, method: str, event: EventDict) -> EventDict:
        if _SEVERITIES[method] < self._least:
            raise structlog.DropEvent
        return event


def make_logger(
    format: LogFormat,  # noqa: A002 - the setting's name
    level: Level | Threshold,
    stream: TextIO,
    lines: Lines | None = None,
) -> Logger:
    """A logger of its own for one stream; `auto` is console on a terminal, else JSON lines.

    `lines` takes what it says; None: each line is written where it is said, for what serves nobody.
    """
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
        LineWriter(stream) if lines is None else lines,
        processors=[
            level if isinstance(level, Threshold) else Threshold(level),
            redact,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.StackInfoRenderer(),
            *last,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.DEBUG),  # the threshold may go down to it
        context_class=dict,
        cache_logger_on_first_use=False,
    )
    return cast(Logger, logger.bind())


def make_writer(format: LogFormat, stream: TextIO) -> LogWriter:  # noqa: A002
    """The thread that writes to a stream, for a logger and an access log of this format."""
    last = _LastLine()
    logger = make_logger(format, "warning", stream, last)

    def tell_dropped(count: int) -> str:
        logger.warning("log_lines_dropped", count=count)
        return last.line

    return LogWriter(stream, tell_dropped)


class _LastLine:
    """Keeps what a logger said last."""

    def __init__(self) -> None:
        self.line = ""

    def keep(self, line: str) -> None:
        self.line = line

    debug = info = warning = error = critical = keep


def is_console(format: LogFormat, stream: TextIO) -> bool:  # noqa: A002
    """Whether lines are for a person's eyes."""
    return format == "console" or (format == "auto" and stream.isatty())


def _json_line(_logger: object, _method: str, event: EventDict) -> str:
    first = {name: event.pop(name) for name in ("timestamp", "level", "event")}
    try:
        return json.dumps({**first, **event}, default=repr, allow_nan=False)
    except (ValueError, RecursionError):  # not a number, or a value that holds itself
        return json.dumps(first | {name: repr(value) for name, value in event.items()}, default=repr)


def _printable(_logger: object, _method: str, event: EventDict) -> EventDict:
    """Escapes control characters: what a client sent must not steer the terminal of the operator."""
    return {name: escaped(value) if isinstance(value, str) else value for name, value in event.items()}


def escaped(text: str) -> str:
    """The text, with whatever would steer a terminal written out."""
    return text if text.isprintable() else "".join(each if each.isprintable() else ascii(each)[1:-1] for each in text)
