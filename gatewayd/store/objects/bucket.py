"""The objects of one bucket below its prefix: put, read, copied, listed and deleted by their keys."""

import contextlib
import hashlib
import time
from collections.abc import Iterator, Sequence
from functools import lru_cache, partial
from pathlib import Path
from typing import Final
from xml.sax.saxutils import escape

from gatewayd.clock import Instant
from gatewayd.store.failures import StoreFailure
from gatewayd.store.objects import answers
from gatewayd.store.objects.answers import Listed, Listing
from gatewayd.store.objects.exchanges import (
    ASK_SECONDS,
    CHUNK_BYTES,
    WHOLE_SECONDS,
    Answer,
    Ask,
    Body,
    Exchanges,
    NoObject,
)
from gatewayd.store.settings import Bucket

PART_BYTES: Final = 64 << 20  # Chosen: what is larger goes in parts of so much; a store asks for 5 MiB at least
SLOWEST_BYTES: Final = 1 << 17  # Chosen: of a second, for what is in memory
PARTS_MAX: Final = 10_000  # "Amazon S3 multipart upload limits"


class Objects:
    """What lies in one bucket. Every method blocks, within bounds, and raises `StoreFailure`. Threads may share it."""

    def __init__(self, bucket: Bucket) -> None:
        self.bucket = bucket
        self._exchanges = Exchanges(bucket)

    def get(self, key: str) -> bytes:
        """A small object, whole. Raises `NoObject`."""
        return self._exchanges.ask(Ask("GET", key), bytes_of)

    def stream(self, key: str) -> Iterator[bytes]:
        """An object, a part at a time. Raises `NoObject`."""
        return self._exchanges.stream(key)

    def put(self, key: str, content: bytes) -> None:
        """Write an object, whole or not at all."""
        seconds = ASK_SECONDS + len(content) / SLOWEST_BYTES
        self._put(Ask("PUT", key, body=Body.of(content)), seconds)

    def put_file(self, key: str, path: Path, size_bytes: int, sha256: str) -> None:
        """Write an object of a file whose digest is known, whole or not at all. Raises `OSError` too."""
        if size_bytes <= PART_BYTES:
            self._put(Ask("PUT", key, body=Body(size_bytes, sha256, path=path)), WHOLE_SECONDS)
        else:
            self._put_in_parts(key, path, size_bytes)

    def copy(self, source: str, key: str) -> None:
        """Write an object that has the bytes of another. Raises `NoObject`."""
        headers = {"x-amz-copy-source": f"/{self.bucket.name}/{self.bucket.prefix}{source}"}
        request = Ask("PUT", key, headers=headers)
        self._exchanges.ask(request, partial(_field, "CopyObjectResult", "ETag"))

    def delete(self, key: str) -> None:
        """Delete an object; nothing happens where there is none."""
        try:
            self._exchanges.ask(Ask("DELETE", key), bytes_of)
        except NoObject:
            return

    def list(self, prefix: str) -> Iterator[Listed]:
        """Every object whose key begins so, in the order of their keys."""
        for page in self._pages(prefix, {}):
            yield from (each._replace(key=self._own(each.key)) for each in page.objects)

    def list_folders(self, prefix: str) -> Iterator[str]:
        """What stands between a prefix and the next slash of the keys behind it."""
        for page in self._pages(prefix, {"delimiter": "/"}):
            yield from (self._own(each).removeprefix(prefix).rstrip("/") for each in page.folders)

    def instant(self, key: str) -> Instant:
        """What the store's clock says now. It is asked by an object of this key, which then is gone."""
        self.put(key, b"")
        try:
            found = [each.modified_at for each in self.list(key) if each.key == key]
        finally:
            self.delete(key)
        if not found:
            raise self._exchanges.failure("it lists nothing of what was written there")
        return found[0]

    def give_up_unfinished(self, prefix: str, before: Instant) -> None:
        """Delete the parts of what was begun before an instant of the store's clock and never finished."""
        behind: tuple[str, str] | None = ("", "")
        while behind is not None:
            markers = {"key-marker": behind[0], "upload-id-marker": behind[1]} if behind[0] else {}
            query = {"uploads": "", "prefix": self.bucket.prefix + prefix, **markers}
            found, behind = self._exchanges.ask(Ask("GET", query=query), lambda got: answers.unfinished_of(got.body))
            for each in found:
                if each.begun_at < before:
                    self._give_up(self._own(each.key), each.id)

    # -- how

    def _own(self, key: str) -> str:
        return key.removeprefix(self.bucket.prefix)

    def _pages(self, prefix: str, more: dict[str, str]) -> Iterator[Listing]:
        query = {"list-type": "2", "encoding-type": "url", "prefix": self.bucket.prefix + prefix, **more}
        while True:
            page = self._exchanges.ask(Ask("GET", query=query), lambda got: answers.listing_of(got.body))
            yield page
            if page.next is None:
                return
            query = {**query, "continuation-token": page.next}

    def _put(self, request: Ask, seconds: float = ASK_SECONDS) -> str:
        """Answers the tag that the object, or the part of one, has then."""
        try:
            return self._exchanges.ask(request, lambda got: got.etag, seconds)
        except NoObject:
            raise self._exchanges.failure("it does not know what is written to (404)") from None

    def _put_in_parts(self, key: str, path: Path, size_bytes: int) -> None:
        deadline = time.monotonic() + WHOLE_SECONDS
        made = partial(_field, "InitiateMultipartUploadResult", "UploadId")
        upload_id = self._exchanges.ask(Ask("POST", key, {"uploads": ""}), made)
        is_done = False
        try:
            tags = []
            for number, part in enumerate(_parts_of(path, size_bytes), 1):
                query = {"partNumber": str(number), "uploadId": upload_id}
                tags.append(self._put(Ask("PUT", key, query, body=part), deadline - time.monotonic()))
            self._finish(key, upload_id, tags, size_bytes, deadline - time.monotonic())
            is_done = True
        finally:
            if not is_done:
                with contextlib.suppress(StoreFailure):  # what is left of it is swept
                    self._give_up(key, upload_id)

    def _finish(self, key: str, upload_id: str, tags: Sequence[str], size_bytes: int, seconds: float) -> None:
        parts = "".join(
            f"<Part><PartNumber>{number}</PartNumber><ETag>{escape(tag)}</ETag></Part>"
            for number, tag in enumerate(tags, 1)
        )
        body = Body.of(f"<CompleteMultipartUpload>{parts}</CompleteMultipartUpload>".encode())
        request = Ask("POST", key, {"uploadId": upload_id}, body=body)
        try:
            self._exchanges.ask(request, partial(_field, "CompleteMultipartUploadResult", "ETag"), seconds)
        except NoObject:  # an earlier try was heard, and its answer was not
            if not any(each.key == key and each.size_bytes == size_bytes for each in self.list(key)):
                raise self._exchanges.failure("it has forgotten what was sent to it in parts") from None

    def _give_up(self, key: str, upload_id: str) -> None:
        with contextlib.suppress(NoObject):
            self._exchanges.ask(Ask("DELETE", key, {"uploadId": upload_id}), bytes_of)


@lru_cache(maxsize=4)
def objects_of(bucket: Bucket) -> Objects:
    """The same for the same bucket: its connections are kept for whoever comes next."""
    return Objects(bucket)


def bytes_of(got: Answer) -> bytes:
    """The body."""
    return got.body


def _field(root: str, name: str, got: Answer) -> str:
    """Raises `Unreadable`."""
    return answers.text_of(got.body, root, name)


def _parts_of(path: Path, size_bytes: int) -> Iterator[Body]:
    """A file in parts, each with its digest. Raises `OSError`."""
    part_bytes = max(PART_BYTES, -(-size_bytes // PARTS_MAX))
    for offset in range(0, size_bytes, part_bytes):
        size, digest = min(part_bytes, size_bytes - offset), hashlib.sha256()
        with path.open("rb") as file:
            file.seek(offset)
            left = size
            while left and (chunk := file.read(min(left, CHUNK_BYTES))):
                left -= len(chunk)
                digest.update(chunk)
        yield Body(size, digest.hexdigest(), path=path, offset=offset)
