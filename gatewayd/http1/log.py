"""What the program writes events down with."""

from typing import Protocol


class Log(Protocol):
    """The calls of a structlog logger that are made here; `exc_info` among the values brings a traceback."""

    def debug(self, event: str, **values: object) -> object: ...

    def info(self, event: str, **values: object) -> object: ...

    def warning(self, event: str, **values: object) -> object: ...

    def error(self, event: str, **values: object) -> object: ...


class NoLog:
    """A log that nobody reads: for a command, which tells what goes wrong by itself."""

    def debug(self, event: str, **values: object) -> None:
        """Say nothing."""

    info = warning = error = debug
