"""Answers that are files: one that lies on the disk, sent a part at a time, or one that was written whole.

`name` is what a browser saves it under, in ASCII.
"""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A file as the handler of a call that `gives_file` answers it: what is at `path` stays while it is sent."""

    path: Path
    size_bytes: int
    name: str
    media_type: str


@dataclass(frozen=True, slots=True)
class WrittenFile:
    """A file as the handler of a read, or of a call that has it in memory, answers it where its row `gives_file`."""

    content: bytes
    name: str
    media_type: str
