"""`PUT /vault/uploads/<token>`: the bytes of a document, which need no other credential than the address.

They go to the disk as they come, and are durable under their digest before the document's row names them: a kill
between the two leaves bytes that nothing names, and never a name without bytes.
"""

from contextlib import aclosing
from functools import partial
from typing import Final

import trio

from gatewayd.areas.vault.documents import uploads
from gatewayd.areas.vault.documents.uploads import PATH, Expected
from gatewayd.contract import wire
from gatewayd.contract.wire import Id
from gatewayd.errors import Problem
from gatewayd.http.render import problem, success
from gatewayd.http1 import bodies
from gatewayd.http1.asgi import HttpScope, Receive, Send
from gatewayd.http1.cors import Cors
from gatewayd.http1.header_fields import Header
from gatewayd.http1.request import Request
from gatewayd.http1.response import Response, send_response
from gatewayd.store import Store, StoreFailure
from gatewayd.store.blobs import BlobDraft, BlobInfo, Blobs, BlobTooLarge
from gatewayd.store.directory import free_bytes
from gatewayd.store.incoming_files import RESERVE_BYTES

MAX_AT_ONCE: Final = 16  # Chosen: each has a part in memory, and a thread now and then
PART_BYTES: Final = 1 << 20
TOKEN_MAX: Final = 100  # characters; ours have half as many
_METHODS: Final = ("PUT",)
_ALLOW: Final[Header] = (b"allow", b"PUT, OPTIONS")
_NOTHING_EXPECTED: Final = "There is no such upload, or it was made already, or its time is over."


class Received(wire.Response, frozen=True, kw_only=True):
    """What was received, for whoever sent it: the document is there once confirm-upload was called."""

    document_id: Id
    size_bytes: int
    sha256: str


class VaultUploads:
    """Takes the bytes of documents into the blobs. `max_bytes` is the most of one that says no size."""

    def __init__(self, store: Store, blobs: Blobs, max_bytes: int, cors: Cors) -> None:
        self._store = store
        self._blobs = blobs
        self._max_bytes = max_bytes
        self._cors = cors
        self._receiving = 0
        self._threads = trio.CapacityLimiter(4)

    async def __call__(self, scope: HttpScope, receive: Receive, send: Send) -> None:
        """The ASGI application of every path below `PATH`."""
        request = scope["request"]
        request.read_fields()
        try:
            response = await self._respond(request, receive)
        except Problem as error:
            response = problem(error, request.id)
        except StoreFailure:
            message = "The bytes cannot be stored now. Try again."
            response = problem(Problem("unavailable", message, headers=((b"retry-after", b"5"),)), request.id)
        await send_response(request, response.plus(self._cors.headers(request.fields)), send)

    async def _respond(self, request: Request, receive: Receive) -> Response:
        if request.method == "OPTIONS":
            return Response(204, (_ALLOW, *self._cors.preflight(request.fields, _METHODS)))
        if request.method not in _METHODS:
            raise Problem("method_not_allowed", "Use PUT here.", headers=(_ALLOW,))
        token = request.path.removeprefix(PATH)
        expected = None if len(token) > TOKEN_MAX else await self._store.read(partial(uploads.find, token=token))
        if expected is None:
            raise Problem("not_found", _NOTHING_EXPECTED)
        request.admitted = True
        _refuse_form(request)
        if self._receiving >= MAX_AT_ONCE:
            message = "Too many documents are being received. Try again."
            raise Problem("unavailable", message, headers=((b"retry-after", b"5"),))
        self._receiving += 1
        try:
            info = await self._write(request, receive, self._limit(expected))
        finally:
            self._receiving -= 1
        row = await self._store.write(lambda tx: uploads.receive(tx, token, info.size_bytes, info.sha256))
        if row is None:  # another request was faster; what this one wrote is swept, unless it is the same
            raise Problem("not_found", _NOTHING_EXPECTED)
        return success(Received(document_id=row.id, size_bytes=info.size_bytes, sha256=info.sha256))

    def _limit(self, expected: Expected) -> int:
        declared = expected.row.declared_size_bytes
        return self._max_bytes if declared is None else declared

    async def _write(self, request: Request, receive: Receive, limit: int) -> BlobInfo:
        """The bytes, durable. Raises `Problem`, or `StoreFailure` for a disk that is full."""
        if bodies.declared_length(request) > limit:
            raise _too_large(limit)
        run = partial(trio.to_thread.run_sync, limiter=self._threads)
        draft = await run(self._blobs.draft, limit)
        try:
            async with aclosing(bodies.parts(receive, PART_BYTES)) as parts:
                async for part in parts:
                    await run(self._append, draft, part)
            return await run(draft.save)
        except BlobTooLarge:
            raise _too_large(limit) from None
        except bodies.BodyCutShort:
            raise Problem("invalid_request", "The body ended before its end.") from None
        finally:
            draft.discard()

    def _append(self, draft: BlobDraft, part: bytes) -> None:
        if free_bytes(self._blobs.folder) < RESERVE_BYTES + len(part):
            raise StoreFailure("the disk has no room for the document")
        draft.write(part)


def _too_large(limit: int) -> Problem:
    return Problem("payload_too_large", f"The document may have at most {limit} bytes.")


def _refuse_form(request: Request) -> None:
    if bodies.media_type(request).startswith(b"multipart/"):
        raise Problem("unsupported_media_type", "Send the document itself as the body, not a form that holds it.")
    if bodies.is_coded(request):
        raise Problem("unsupported_media_type", "Send the body without a content coding.")
