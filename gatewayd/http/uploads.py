"""Bodies that are files: taken off the connection a part at a time, and never whole in memory."""

from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import trio

from gatewayd.contract.operation import Operation
from gatewayd.contract.received_file import ReceivedFile
from gatewayd.errors import Problem
from gatewayd.http1 import bodies
from gatewayd.http1.asgi import Receive
from gatewayd.http1.request import Request
from gatewayd.shares import Shares
from gatewayd.store.files.incoming_files import IncomingFile

PART_BYTES: Final = 1 << 20  # is written at once
MAX_AT_ONCE: Final = 8  # Chosen: so many files of the largest size lie on the disk at a time
WAIT_SECONDS: Final = 10.0  # Chosen: for a place, before anything of the body is read
DEFAULT_BYTES: Final = 1 << 20


@dataclass(kw_only=True)
class Uploads:
    """Where files are received, and how large those of each area may be."""

    folder: Path
    max_bytes: Mapping[str, int] = field(default_factory=dict)
    shares: Shares = field(default_factory=lambda: Shares("imported files", MAX_AT_ONCE, wait_seconds=WAIT_SECONDS))
    _threads: trio.CapacityLimiter = field(default_factory=lambda: trio.CapacityLimiter(2), init=False)

    @asynccontextmanager
    async def receive(
        self, request: Request, receive: Receive, operation: Operation, org_id: str
    ) -> AsyncIterator[ReceivedFile]:
        """The file that a body is, for the length of the block. A place for it is the organization's.

        Raises `Problem`: `unsupported_media_type`, `payload_too_large`, `rate_limited` or `unavailable` where too many
        arrive together, `request_timeout` for one that is too slow, or `invalid_request` where it ended early;
        `StoreFailure` for a disk that is full.
        """
        _refuse_form(request)
        limit = self.max_bytes.get(operation.area, DEFAULT_BYTES)
        if bodies.declared_length(request) > limit:
            raise _too_large(limit)
        async with self.shares.place(org_id):
            file = await trio.to_thread.run_sync(IncomingFile, self.folder, limiter=self._threads)
            try:
                await self._write(file, receive, limit)
                yield ReceivedFile(file.path, file.size, file.sha256)
            finally:
                file.discard()

    async def _write(self, file: IncomingFile, receive: Receive, limit: int) -> None:
        try:
            async with aclosing(bodies.parts(receive, PART_BYTES)) as parts:
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


def _refuse_form(request: Request) -> None:
    if bodies.media_type(request).startswith(b"multipart/"):
        raise Problem("unsupported_media_type", "Send the file itself as the body, not a form that holds it.")
    if bodies.is_coded(request):
        raise Problem("unsupported_media_type", "Send the body as it is, without Content-Encoding.")
