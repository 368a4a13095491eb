"""What the pages write down."""

from typing import Protocol


class Log(Protocol):
    """The calls of a structlog logger that the pages make."""

    def info(self, event: str, **values: object) -> object: ...

    def error(self, event: str, **values: object) -> object: ...
