"""What the interpreter and libraries write to standard error by themselves, sent the way of the log.

Warnings, uncaught exceptions of threads, and `logging` where nobody set it up: each of them writes to `sys.stderr` from
where it happens, which may be the event loop.
"""

import io
import threading
from typing import TextIO

from gatewayd.logs.writer import LogWriter


class QueuedStandardError(io.TextIOBase):
    """Stands in for `sys.stderr` while a daemon serves: whole lines go to its log as they are."""

    def __init__(self, stream: TextIO, writer: LogWriter) -> None:
        super().__init__()
        self._stream = stream
        self._writer = writer
        self._lock = threading.RLock()
        self._begun = ""

    def write(self, text: str, /) -> int:
        """Take text; it is queued once its line ends."""
        with self._lock:
            *lines, self._begun = (self._begun + text).split("\n")
            for line in lines:
                self._writer.write(line)
        return len(text)

    def writable(self) -> bool:
        return True

    def isatty(self) -> bool:
        return self._stream.isatty()

    def fileno(self) -> int:
        """The descriptor itself, for those who must write when nothing else works."""
        return self._stream.fileno()
