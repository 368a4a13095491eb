"""Logs: events through structlog, a lean line per request beside it, and the thread that writes both.

Nothing here is configured for the whole process: two daemons in one process log to streams of their own. A log never
fails its caller and, where a `LogWriter` writes it, never holds it up: what cannot be written is dropped and counted.
"""

from gatewayd.logs.access import Access, AccessLog
from gatewayd.logs.events import Level, LogFormat, Logger, Threshold, make_logger, make_writer
from gatewayd.logs.redaction import is_secret_key
from gatewayd.logs.writer import LineWriter, LogWriter

__all__ = [
    "Access",
    "AccessLog",
    "Level",
    "LineWriter",
    "LogFormat",
    "LogWriter",
    "Logger",
    "Threshold",
    "is_secret_key",
    "make_logger",
    "make_writer",
]
