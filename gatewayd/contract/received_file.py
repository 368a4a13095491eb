"""A request body that is a file: received whole, apart from memory, before its operation runs."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class ReceivedFile:
    """A file as the handler of a row that `takes_file` is given it.

    It is removed when the handler returns: who needs it longer moves it. `sha256` is in lower-case hexadecimal.
    """

    path: Path
    size_bytes: int
    sha256: str
