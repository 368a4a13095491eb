"""Uploads under way in a bucket: each is objects that follow one another, which all daemons see.

uploads/NAME/OFFSET   what came from there on, in twenty digits; what counts is what follows from 0 without a gap

NAME is as of a folder. One request at a time writes objects of a name (`upload_files`), each behind the last: an object
is written whole or not at all, counts from then on, and is told as received afterwards. What waits to be written lies
on the disk of the daemon that received it. Where it is not known whether one was written or deleted, it may still be
later: such a name is not gone on with, but copied, as that of a daemon that is dead.
"""

import contextlib
import os
import secrets
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import BinaryIO, Final

from gatewayd.clock import Instant
from gatewayd.store.failures import StoreFailure
from gatewayd.store.files.blobs import BlobInfo, Blobs
from gatewayd.store.files.partial_blobs import FOLDER_NAME, PartialBlob, PartialBlobs
from gatewayd.store.files.private_files import make_folder, make_private
from gatewayd.store.objects.answers import Listed
from gatewayd.store.objects.bucket import objects_of
from gatewayd.store.objects.exchanges import NoObject
from gatewayd.store.settings import Bucket

PIECE_BYTES: Final = 8 << 20  # Chosen: of one object; it is in memory while it is sent
_OFFSET_DIGITS: Final = 20


class ObjectPartials(PartialBlobs):
    """The uploads under way in one bucket. Every method waits for the network, and raises `StoreFailure`."""

    def __init__(self, bucket: Bucket, directory: Path) -> None:
        """`directory` is for what waits to be sent. Raises `OSError`."""
        make_folder(directory, directory.parent)
        super().__init__(directory)
        self._objects = objects_of(bucket)
        self._uncertain: set[str] = set()

    def size(self, name: str) -> int:
        """How many bytes are there, durable."""
        return _end(self._counting(name))

    def open(self, name: str) -> PartialBlob:
        """Go on behind what is there."""
        return _ObjectPartial(self, name, self.size(name))

    def is_certain(self, name: str) -> bool:
        """Whether every request about its objects was answered; asked once, when somebody ended who wrote them."""
        is_certain = name not in self._uncertain
        self._uncertain.discard(name)
        return is_certain

    def adopt(self, name: str, blobs: Blobs) -> BlobInfo:
        """Make a blob of a whole upload, of an empty one too."""
        with blobs.draft(self.size(name)) as draft:
            for chunk in self.chunks(name):
                draft.write(chunk)
            return draft.save()

    def chunks(self, name: str) -> Iterator[bytes]:
        """What counts of an upload, a part at a time."""
        for each in self._counting(name):
            try:
                yield from self._objects.stream(each.key)
            except NoObject:
                raise StoreFailure("the upload was changed while it was read") from None

    def copy(self, name: str, to: str) -> None:
        """Make other objects of what counts of an upload."""
        for each in self._counting(name):
            try:
                self._objects.copy(each.key, _key(to, _offset(each)))
            except NoObject:
                raise StoreFailure("the upload was changed while it was copied") from None

    def is_older(self, name: str, before: Instant) -> bool:
        """Whether nothing was written of it since an instant of the store's clock."""
        return all(each.modified_at < before for each in self._objects.list(_folder(name)))

    def discard(self, name: str) -> None:
        """Delete what came, the last of it first: what a kill leaves is the beginning, which counts as it did."""
        self.path(name)
        with self.watched(name):
            for each in reversed([*self._objects.list(_folder(name))]):
                self._objects.delete(each.key)

    def begin_anew(self, name: str) -> None:
        """Delete what came; what comes then has another name, lest something of it arrives that was sent before."""
        self._uncertain.add(name)
        self.discard(name)

    def list_names(self) -> list[str]:
        """Every upload of which something is there."""
        return sorted(name for name in self._objects.list_folders(f"{FOLDER_NAME}/") if self.is_name(name))

    @contextlib.contextmanager
    def watched(self, name: str) -> Iterator[None]:
        """Work on the objects of a name, which is uncertain from then on where it fails."""
        try:
            yield
        except BaseException:
            self._uncertain.add(name)
            raise

    def write(self, name: str, offset: int, content: bytes) -> None:
        """Write what follows, durable."""
        with self.watched(name):
            self._objects.put(_key(name, offset), content)

    def spool(self) -> BinaryIO:
        """A file of no name, for what waits to be sent."""
        path = self.folder / secrets.token_hex(16)
        try:
            file = os.fdopen(make_private(path, os.O_RDWR, self.folder), "w+b")
            path.unlink()
        except OSError as error:
            raise StoreFailure(f"the upload cannot be stored: {error.strerror}") from error
        return file

    def _counting(self, name: str) -> list[Listed]:
        """The objects that follow one another from the beginning on."""
        self.path(name)
        parts = [each for each in self._objects.list(_folder(name)) if _is_part(each.key)]
        if not parts or _offset(parts[0]) != 0:
            return []
        follow = [_offset(this) + this.size_bytes == _offset(then) for this, then in pairwise(parts)]
        return parts[: follow.index(False) + 1] if False in follow else parts


class _ObjectPartial(PartialBlob):
    """An upload that is gone on with. `size` counts what waits on the disk too; `sync` and `trust` send it."""

    def __init__(self, partials: ObjectPartials, name: str, size: int) -> None:
        self._partials = partials
        self._name = name
        self.size = self._sent = size
        self._doubted: int | None = None
        self._failed = False
        self._spool = partials.spool()

    def write(self, part: bytes | bytearray) -> None:
        """Append."""
        with _refusals():
            self._spool.write(part)
        self.size += len(part)

    def sync(self) -> None:
        """Send what waits, unless it is in doubt: then it has no need to be durable yet."""
        if self._doubted is None:
            self._send()

    def doubt(self) -> None:
        """What is written from now on is sent only once `trust` is called."""
        self._send()
        self._doubted = self.size

    def trust(self) -> None:
        """What was written since `doubt` counts."""
        self._doubted = None
        self._send()

    def distrust(self) -> None:
        """Take back what was written since `doubt`, if that is in question."""
        if self._doubted is not None:
            with _refusals():
                self._spool.seek(0)
                self._spool.truncate()
            self.size, self._doubted = self._doubted, None

    def close(self) -> None:
        """Nothing more is written now. What came of a part that was cut short is sent, as a folder has it."""
        if self._spool.closed:
            return
        try:
            self.distrust()
            if not self._failed:
                self._send()
        finally:
            self._spool.close()

    def _send(self) -> None:
        self._failed = True
        with _refusals():
            self._spool.seek(0)
            while self._sent < self.size and (piece := self._spool.read(PIECE_BYTES)):
                self._partials.write(self._name, self._sent, piece)
                self._sent += len(piece)
            self._spool.seek(0)
            self._spool.truncate()
        self._failed = False


@contextlib.contextmanager
def _refusals() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise StoreFailure(f"the upload cannot be stored: {error.strerror}") from error


def _folder(name: str) -> str:
    return f"{FOLDER_NAME}/{name}/"


def _key(name: str, offset: int) -> str:
    return f"{_folder(name)}{offset:0{_OFFSET_DIGITS}}"


def _is_part(key: str) -> bool:
    last = key.rpartition("/")[2]
    return len(last) == _OFFSET_DIGITS and last.isascii() and last.isdigit()


def _offset(part: Listed) -> int:
    return int(part.key.rpartition("/")[2])


def _end(parts: list[Listed]) -> int:
    return _offset(parts[-1]) + parts[-1].size_bytes if parts else 0
