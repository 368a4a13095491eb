"""Bodies that are files, as programs send them."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from gatewayd.contract.operation import Operation
from gatewayd.contract.received_file import ReceivedFile
from gatewayd.errors import Problem
from gatewayd.http1 import bodies
from gatewayd.http1.asgi import Receive
from gatewayd.http1.request import Request
from gatewayd.performing.file_places import MAX_AT_ONCE, WAIT_SECONDS, FilePlaces

__all__ = ["MAX_AT_ONCE", "PART_BYTES", "WAIT_SECONDS", "Uploads"]
PART_BYTES: Final = 1 << 20  # is written at once


class Uploads(FilePlaces):
    """Where files are received that are the body of a request."""

    @asynccontextmanager
    async def receive(
        self, request: Request, receive: Receive, operation: Operation, org_id: str
    ) -> AsyncIterator[ReceivedFile]:
        """The file that a body is, for the length of the block. A place for it is the organization's.

        Raises `Problem`: `unsupported_media_type`, and as `receive_from` does; `StoreFailure` for a disk that is full.
        """
        _refuse_form(request)
        source, declared = bodies.parts(receive, PART_BYTES), bodies.declared_length(request)
        async with self.receive_from(source, declared, operation.area, org_id) as file:
            yield file


def _refuse_form(request: Request) -> None:
    if bodies.media_type(request).startswith(b"multipart/"):
        raise Problem("unsupported_media_type", "Send the file itself as the body, not a form that holds it.")
    if bodies.is_coded(request):
        raise Problem("unsupported_media_type", "Send the body as it is, without Content-Encoding.")
