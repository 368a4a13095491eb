"""What the program writes events down with."""

from typing import Protocol


class Log(Protocol):
    """The calls of a structlog logger that are made here; `exc_info` among the values brings a traceback."""

    def debug(self, event: str, **values: object) -> object: ...

    def info(self, event: str, **values: object) -> object: ...

    def warning(self, event: str, **values: object) -> object: ...

    def error(self, event: str, **values: object) -> object: ...


class Outage:
    """What is tried again and again: told when it begins to fail, and when it works again, not each time.

    `event` is logged as an error, `over` once that has passed.
    """

    def __init__(self, log: Log, event: str, over: str) -> None:
        self._log = log
        self._event = event
        self._over = over
        self._lasts = False

    def failed(self, error: Exception, **values: object) -> None:
        if not self._lasts:
            self._log.error(self._event, exc_info=error, **values)
        self._lasts = True

    def succeeded(self) -> None:
        if self._lasts:
            self._log.info(self._over)
        self._lasts = False


class NoLog:
    """A log that nobody reads: for a command, which tells what goes wrong by itself."""

    def debug(self, event: str, **values: object) -> None:
        """Say nothing."""

    info = warning = error = debug
