"""Files that operations are given: written beside the database a part at a time, and never whole in memory."""

from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import trio

from gatewayd.contract.received_file import ReceivedFile
from gatewayd.errors import Problem
from gatewayd.http1 import bodies
from gatewayd.shares import Shares
from gatewayd.store.files.incoming_files import IncomingFile

MAX_AT_ONCE: Final = 8  # Chosen: so many files of the largest size lie on the disk at a time
WAIT_SECONDS: Final = 10.0  # Chosen: for a place, before anything of the file is read
DEFAULT_BYTES: Final = 1 << 20


@dataclass(kw_only=True)
class FilePlaces:
    """Where files are received, and how large those of each area may be."""

    folder: Path
    max_bytes: Mapping[str, int] = field(default_factory=dict)
    shares: Shares = field(default_factory=lambda: Shares("imported files", MAX_AT_ONCE, wait_seconds=WAIT_SECONDS))
    _threads: trio.CapacityLimiter = field(default_factory=lambda: trio.CapacityLimiter(2), init=False)

    def most(self, area: str) -> int:
        """How many bytes a file for an operation of this area may have."""
        return self.max_bytes.get(area, DEFAULT_BYTES)

    @asynccontextmanager
    async def receive_from(
        self, source: AsyncGenerator[bytearray, None], declared: int, area: str, org_id: str
    ) -> AsyncIterator[ReceivedFile]:
        """The file that comes from `source`, for the length of the block. A place for it is the organization's.

        `declared` are as many bytes as it is said to have at least; 0: nobody says. Raises `Problem`:
        `payload_too_large`, `rate_limited` or `unavailable` where too many arrive together, `request_timeout` for one
        that is too slow, or `invalid_request` where it ended early; `StoreFailure` for a disk that is full.
        """
        limit = self.most(area)
        if declared > limit:
            raise _too_large(limit)
        async with self.shares.place(org_id):
            file = await trio.to_thread.run_sync(IncomingFile, self.folder, limiter=self._threads)
            try:
                await self._write(file, source, limit)
                yield ReceivedFile(file.path, file.size, file.sha256)
            finally:
                file.discard()

    async def _write(self, file: IncomingFile, source: AsyncGenerator[bytearray, None], limit: int) -> None:
        try:
            async with aclosing(source) as parts:
                async for part in parts:
                    if file.size + len(part) > limit:
                        raise _too_large(limit)
                    await trio.to_thread.run_sync(file.write, part, limiter=self._threads)
        except bodies.BodyCutShort:
            raise Problem("invalid_request", "The body ended before its end.") from None
        except bodies.BodyTooSlow as error:
            raise Problem("request_timeout", str(error), headers=((b"connection", b"close"),)) from None
        await trio.to_thread.run_sync(file.close, limiter=self._threads)


def _too_large(limit: int) -> Problem:
    return Problem("payload_too_large", f"A file may have at most {limit} bytes.")
