"""Blobs in a bucket, and what was fetched of them or sent there on the disk, so that what reads them has a path.

blobs/ab/DIGEST.SUFFIX   the bytes; a suffix of its own each time that they are stored. One without is as good
damaged/DIGEST.SUFFIX    what was set aside

An object is deleted by its whole key, and bytes that somebody stores in the same moment have another one: there is no
way to delete an object only where nobody wrote it meanwhile. On the disk, files have the digest as their name, as
blobs of a folder have, and are there once what was fetched has it. What was read least lately goes.
"""

import contextlib
import hashlib
import os
import re
import secrets
import threading
from collections.abc import Callable, Iterator
from itertools import groupby
from pathlib import Path
from typing import BinaryIO, Final

from gatewayd.clock import SECOND, Instant
from gatewayd.store.failures import StoreFailure
from gatewayd.store.files.blobs import DIGEST, BlobDraft, BlobInfo, Blobs, BlobTooLarge, Fault
from gatewayd.store.files.directory import free_bytes
from gatewayd.store.files.incoming_files import RESERVE_BYTES
from gatewayd.store.files.private_files import make_folder
from gatewayd.store.objects.answers import Listed
from gatewayd.store.objects.bucket import objects_of
from gatewayd.store.objects.exchanges import WHOLE_SECONDS, NoObject
from gatewayd.store.settings import Bucket

FOLDER: Final = "blobs/"
DAMAGED: Final = "damaged/"
SUFFIX: Final = re.compile(r"(?:\.[0-9a-f]{16})?")
PROBE: Final = re.compile(r"blobs/probe\.[0-9a-f]{16}")
UNDER_WAY_FOR: Final = int(WHOLE_SECONDS + 60) * SECOND
"""How old an object may seem that is named only now: what goes in parts bears the time at which it began."""
READ_FOR_NS: Final = 600 * SECOND * 1_000  # Chosen: whoever was given a path has opened it by then
CHECKED_PARTS: Final = 32  # Chosen: what is kept is looked at when so small a part of what may be was added
LOCKS: Final = 32


class ObjectBlobs(Blobs):
    """The blobs of one bucket. Every method waits for the network, unless the bytes are on the disk.

    Raises `StoreFailure` wherever the bucket cannot be asked.
    """

    def __init__(self, bucket: Bucket, directory: Path) -> None:
        """`directory` is for what is fetched. Nothing is asked yet. Raises `OSError`."""
        make_folder(directory, directory.parent)
        super().__init__(directory, is_shared=True)
        self._objects = objects_of(bucket)
        self._kept = _Kept(self.folder, bucket.cache_bytes)
        self._locks = [threading.Lock() for _ in range(LOCKS)]

    def as_the_disk_tells(self, now: Instant) -> Instant:
        """The instant that an object written now would bear, in whole seconds."""
        return self._objects.instant(f"{FOLDER}probe.{secrets.token_hex(8)}")

    def draft(self, max_bytes: int) -> BlobDraft:
        """As of a folder: what is saved is in the bucket first."""
        return BlobDraft(self.folder, self._drafts, max_bytes, self._send)

    def adopt(self, path: Path) -> BlobInfo:
        """Store a whole file, which stays."""
        with path.open("rb") as file, self.draft(os.fstat(file.fileno()).st_size) as draft:
            while chunk := file.read(1 << 20):
                draft.write(chunk)
            return draft.save()

    def path(self, sha256: str) -> Path:
        """Where the bytes are on the disk: they are fetched where they are not.

        Raises `ValueError`, `FileNotFoundError` as of a folder; `StoreFailure` also where the bytes are damaged.
        """
        path = self._path(sha256)
        if self._touched(path):
            return path
        with self._locks[int(sha256[:8], 16) % LOCKS]:  # what several want is fetched once
            if not self._touched(path):
                self._fetch(sha256)
        return path

    def at_hand(self, sha256: str) -> Path | None:
        """Where the bytes are, if they are on the disk."""
        path = self._path(sha256)
        return path if self._touched(path) else None

    def digests(self) -> set[str]:
        """The names of all blobs, here and there."""
        try:
            return {info.sha256 for info in self.found()} | {info.sha256 for info in super().found()}
        except OSError as error:
            raise StoreFailure(f"{self.folder} cannot be read: {error.strerror}") from error

    def size_of(self, sha256: str) -> int | None:
        """How many bytes the bucket has of it, whatever is on the disk; None: none of it."""
        copies = self._copies(sha256)
        return copies[-1].size_bytes if copies else None

    def send(self, path: Path, sha256: str) -> bool:
        """Bring a file that has this name in a folder of blobs to the bucket; answers whether its bytes have it too.

        Raises `OSError`.
        """
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
            size = file.tell()
        if digest == sha256:
            self._objects.put_file(f"{FOLDER}{sha256[:2]}/{sha256}.{secrets.token_hex(8)}", path, size, sha256)
        return digest == sha256

    def copy_out(self, sha256: str, to: BinaryIO) -> None:
        """Write the bytes into a file, past the disk. Raises `FileNotFoundError`; what is damaged is copied as it is.

        Of several copies it is a good one, where there is one.
        """
        begin = to.tell()
        for each in reversed(self._copies(sha256)):
            to.seek(begin)
            to.truncate()
            with contextlib.suppress(NoObject):
                digest = hashlib.sha256()
                for part in self._objects.stream(each.key):
                    digest.update(part)
                    to.write(part)
                if digest.hexdigest() == sha256:
                    return
        if to.tell() == begin:
            raise FileNotFoundError(sha256)

    def found(self) -> Iterator[BlobInfo]:
        """Every blob of the bucket, named or not."""
        for sha256, copies in self._by_digest():
            yield BlobInfo(sha256, copies[-1].size_bytes)

    def fault_of(self, sha256: str, size_bytes: int) -> Fault | None:
        """What is wrong with the bytes in the bucket; None: nothing. What is damaged on the disk is removed there."""
        path = self._path(sha256)
        with contextlib.suppress(OSError), path.open("rb") as file:
            if hashlib.file_digest(file, "sha256").hexdigest() != sha256:
                path.unlink()
        fault: Fault = "lost"
        for each in self._copies(sha256):
            with contextlib.suppress(NoObject):
                if each.size_bytes == size_bytes and self._digest_of(each.key) == sha256:
                    return None
                fault = "damaged"
        return fault

    def set_aside(self, directory: Path, sha256: str) -> str:
        """As of a folder; what is damaged stays in the bucket, under another name."""
        for each in self._copies(sha256):
            with contextlib.suppress(NoObject):
                self._objects.copy(each.key, f"{DAMAGED}{sha256}.{secrets.token_hex(8)}")
            self._objects.delete(each.key)
        return f"{self._objects.bucket.url}/{DAMAGED}{sha256}"

    def remove(self, sha256: str) -> None:
        """Delete the bytes, here and there."""
        for each in self._copies(sha256):
            self._objects.delete(each.key)
        self._path(sha256).unlink(missing_ok=True)

    def remove_old(self, sha256: str, before: Instant) -> bool:
        """Delete bytes that were stored before an instant, and answer whether some were there, and nothing is now.

        What may still have been under way then stays, for the sweep.
        """
        copies, settled = self._copies(sha256), Instant(before - UNDER_WAY_FOR)
        old = [each for each in copies if each.modified_at < settled]
        for each in old:
            self._objects.delete(each.key)
        self._path(sha256).unlink(missing_ok=True)
        return bool(old) and len(old) == len(copies)

    def sweep(self, is_named: Callable[[str], bool], before: Instant) -> int:
        """As of a folder; of bytes that were stored twice, the last copy stays. What is on the disk is swept too."""
        swept = super().sweep(is_named, before)
        for sha256, copies in self._by_digest():
            for each in copies[:-1] if is_named(sha256) else copies:
                swept += self._delete_old(each, before)
        for each in self._objects.list(f"{FOLDER}probe."):
            if PROBE.fullmatch(each.key):
                swept += self._delete_old(each, before)
        self._objects.give_up_unfinished(FOLDER, before)
        return swept

    # -- how

    def _path(self, sha256: str) -> Path:
        if not DIGEST.fullmatch(sha256):
            raise ValueError("a blob is named by 64 lower-case hexadecimal digits")
        return self.folder / sha256[:2] / sha256

    def _touched(self, path: Path) -> bool:
        """Whether a file is there, which was read now. Raises `StoreFailure` where the disk cannot tell."""
        try:
            os.utime(path)
        except FileNotFoundError:
            return False
        except OSError as error:
            raise StoreFailure(f"{path} cannot be read: {error.strerror}") from error
        return True

    def _copies(self, sha256: str) -> list[Listed]:
        """The objects with these bytes, the oldest first."""
        self._path(sha256)
        key = f"{FOLDER}{sha256[:2]}/{sha256}"
        return _in_time(each for each in self._objects.list(key) if SUFFIX.fullmatch(each.key, len(key)))

    def _by_digest(self) -> Iterator[tuple[str, list[Listed]]]:
        """All objects by what they are named after, the oldest first. What is not ours is passed over."""
        ours = (each for each in self._objects.list(FOLDER) if _digest_in(each.key))
        for sha256, copies in groupby(ours, lambda each: _digest_in(each.key)):
            yield sha256, _in_time(copies)

    def _delete_old(self, each: Listed, before: Instant) -> bool:
        if each.modified_at >= before:
            return False
        self._objects.delete(each.key)
        return True

    def _digest_of(self, key: str) -> str:
        """Raises `NoObject`."""
        digest = hashlib.sha256()
        for part in self._objects.stream(key):
            digest.update(part)
        return digest.hexdigest()

    def _send(self, path: Path, info: BlobInfo) -> None:
        key = f"{FOLDER}{info.sha256[:2]}/{info.sha256}.{secrets.token_hex(8)}"
        self._objects.put_file(key, path, info.size_bytes, info.sha256)
        self._kept.add(info.size_bytes)

    def _fetch(self, sha256: str) -> None:
        """Bring bytes to the disk. Raises `FileNotFoundError`, `StoreFailure`."""
        copies = self._copies(sha256)
        for each in reversed(copies):
            if free_bytes(self.folder) < RESERVE_BYTES + each.size_bytes:
                raise StoreFailure("the disk has no room for the document, which is fetched")
            max_bytes = each.size_bytes
            with contextlib.suppress(NoObject, BlobTooLarge), BlobDraft(self.folder, self._drafts, max_bytes) as draft:
                for part in self._objects.stream(each.key):
                    draft.write(part)
                if draft.sha256 == sha256:
                    self._kept.add(each.size_bytes)
                    draft.save()
                    return
        if self._copies(sha256):  # and not deleted meanwhile
            raise StoreFailure(f"the bytes of {sha256} in {self._objects.bucket.url} are not those that were stored")
        raise FileNotFoundError(sha256)


class _Kept:
    """What is on the disk of a bucket, by this process and others, within its bound. Threads may share it."""

    def __init__(self, folder: Path, max_bytes: int) -> None:
        self._folder = folder
        self._max_bytes = max_bytes
        self._lock = threading.Lock()
        self._added = max_bytes  # nothing was looked at yet

    def add(self, size_bytes: int) -> None:
        """So many bytes come on top now; what was read least lately makes room."""
        with self._lock:
            self._added += size_bytes
            if self._added * CHECKED_PARTS < self._max_bytes:
                return
            self._added = 0
        with contextlib.suppress(OSError):  # another process is at the same; the disk is asked for room elsewhere
            self._make_room(size_bytes)

    def _make_room(self, coming: int) -> None:
        """Delete down to what leaves room for some processes, each of which adds a little before it looks.

        What was read just now stays, by the disk's own clock: somebody is about to open it.
        """
        found = []
        for path in self._folder.glob("??/*"):
            with contextlib.suppress(FileNotFoundError):
                status = path.stat()
                found.append((status.st_mtime_ns, status.st_size, path))
        found.sort()
        left = coming + sum(size for _, size, _ in found)
        for modified_ns, size, path in found:
            if left * 4 <= self._max_bytes * 3 or modified_ns > found[-1][0] - READ_FOR_NS:
                return
            path.unlink(missing_ok=True)
            left -= size


def _in_time(copies: "Iterator[Listed]") -> list[Listed]:
    return sorted(copies, key=lambda each: (each.modified_at, each.key))


def _digest_in(key: str) -> str:
    """What a blob's key says that its bytes are; empty for another's."""
    sha256 = key[len(FOLDER) + 3 : len(FOLDER) + 67]
    is_ours = DIGEST.fullmatch(sha256) and key.startswith(f"{FOLDER}{sha256[:2]}/{sha256}")
    return sha256 if is_ours and SUFFIX.fullmatch(key, len(FOLDER) + 67) else ""
