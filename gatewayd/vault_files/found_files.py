"""Walks a folder of this machine for files that are to become documents. Blocks: call it on a thread.

Nothing is reached through a symbolic link, also where somebody puts one there meanwhile: each folder is opened in the
one above it. Hidden files stay, and what programs leave while they write.
"""

import os
import stat
import unicodedata
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple

from gatewayd.areas.vault.folders.rows import MAX_DEPTH
from gatewayd.contract.names import without_hidden

NAME_MAX: Final = 255  # characters, Domain B7
_LEFT: Final = frozenset({"thumbs.db", "desktop.ini", "$recycle.bin", "system volume information", "lost+found"})
_UNFINISHED: Final = (".part", ".partial", ".crdownload", ".download", ".tmp", ".swp", "~")


class Identity(NamedTuple):
    """What tells whether a file is still the one that it was."""

    inode: int
    size_bytes: int
    modified_ns: int


class FoundFile(NamedTuple):
    """A regular file. `folder` is open for as long as the walk stands here; `parts` are the names down to it."""

    folder: int
    parts: tuple[str, ...]
    identity: Identity

    @property
    def path(self) -> str:
        """Its path from where the walk began, for people."""
        return "/".join(readable(part) for part in self.parts)


class Passed(NamedTuple):
    """What is there and is no document, and why."""

    parts: tuple[str, ...]
    reason: str

    @property
    def path(self) -> str:
        """As of a file."""
        return "/".join(readable(part) for part in self.parts)


Walk = Generator[FoundFile | Passed, None, None]


def walk(root: Path) -> Walk:
    """What lies in a folder and below it, by name; of a file that alone. Raises `OSError` where it cannot be read.

    Close the generator where it is left early.
    """
    if root.is_file():
        yield from _alone(root.resolve())
        return
    with _opened(os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)) as folder:
        yield from _walk(folder, ())


def open_file(file: FoundFile) -> int:
    """A descriptor to read it by. Raises `OSError`, also for what is no regular file any more."""
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    descriptor = os.open(file.parts[-1], flags, dir_fd=file.folder)
    if identity_of(descriptor) != file.identity:
        os.close(descriptor)
        raise OSError(0, "it is being changed")
    return descriptor


def identity_of(descriptor: int) -> Identity | None:
    """Of an open regular file; None: it is something else."""
    return _identity(os.fstat(descriptor))


def is_still(file: FoundFile) -> bool:
    """Whether its name leads to the same file, unchanged."""
    try:
        status = os.stat(file.parts[-1], dir_fd=file.folder, follow_symlinks=False)
    except OSError:
        return False
    return _identity(status) == file.identity


def readable(name: str) -> str:
    """A name as the vault takes it: bytes that are no UTF-8, slashes, and what is not seen are replaced.

    Letters with accents are one character each, however the file system writes them, so that a name stays one name.
    """
    text = unicodedata.normalize("NFC", os.fsencode(name).decode("utf-8", "replace"))
    text = "".join("_" if each == "/" or unicodedata.category(each) == "Cc" else each for each in text)
    text = without_hidden(text)
    if len(text) > NAME_MAX:
        stem, dot, ending = text.rpartition(".")
        kept = f".{ending}" if dot and stem and len(ending) <= 16 else ""
        text = text[: NAME_MAX - len(kept)] + kept
    return text if text.strip() else "_"


def _alone(path: Path) -> Iterator[FoundFile]:
    with _opened(os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)) as folder:
        identity = _identity(os.stat(path.name, dir_fd=folder, follow_symlinks=False))
        if identity is not None:
            yield FoundFile(folder, (path.name,), identity)


def _walk(folder: int, parts: tuple[str, ...]) -> Iterator[FoundFile | Passed]:
    for name in _names(folder):
        here = (*parts, name)
        try:
            status = os.stat(name, dir_fd=folder, follow_symlinks=False)
            if stat.S_ISDIR(status.st_mode):
                yield from _below(folder, here)
            elif (identity := _identity(status)) is not None:
                yield FoundFile(folder, here, identity)
            else:
                kind = "a symbolic link" if stat.S_ISLNK(status.st_mode) else "no regular file"
                yield Passed(here, f"it is {kind}")
        except FileNotFoundError:  # it went meanwhile
            continue
        except OSError as error:
            yield Passed(here, f"it cannot be read: {error.strerror}")


def _below(folder: int, here: tuple[str, ...]) -> Iterator[FoundFile | Passed]:
    if len(here) > MAX_DEPTH:
        yield Passed(here, f"folders lie at most {MAX_DEPTH} deep in each other")
        return
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
    with _opened(os.open(here[-1], flags, dir_fd=folder)) as below:
        yield from _walk(below, here)


def _names(folder: int) -> Sequence[str]:
    return sorted(name for name in os.listdir(folder) if not _stays(name))


def _stays(name: str) -> bool:
    folded = name.casefold()
    return name.startswith((".", "~$")) or folded in _LEFT or folded.endswith(_UNFINISHED)


def _identity(status: os.stat_result) -> Identity | None:
    if not stat.S_ISREG(status.st_mode):
        return None
    return Identity(status.st_ino, status.st_size, status.st_mtime_ns)


@contextmanager
def _opened(descriptor: int) -> Iterator[int]:
    try:
        yield descriptor
    finally:
        os.close(descriptor)
