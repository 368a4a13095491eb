"""An answer that is a file: sent as it lies on the disk, a part at a time."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A file as the handler of a row that `gives_file` answers it. `name` is what a browser saves it under, in ASCII.

    What is at `path` stays as it is while it is sent.
    """

    path: Path
    size_bytes: int
    name: str
    media_type: str
