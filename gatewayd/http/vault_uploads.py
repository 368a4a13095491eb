"""`/vault/uploads/<token>`: where the bytes of a document go, which need no other credential than the address.

PUT      the whole, with one request
PATCH    a part, HEAD how far it is, DELETE give it up: tus 1.0, see `tus`
"""

from typing import Final

from gatewayd.contract import wire
from gatewayd.contract.wire import Id
from gatewayd.errors import Problem
from gatewayd.http import tus
from gatewayd.http.render import problem, success
from gatewayd.http1 import bodies
from gatewayd.http1.asgi import HttpScope, Receive, Send
from gatewayd.http1.cors import Cors
from gatewayd.http1.header_fields import Header
from gatewayd.http1.request import Request
from gatewayd.http1.response import Response, send_response
from gatewayd.store import StoreFailure
from gatewayd.vault_files.receiving import Receiving
from gatewayd.vault_files.uploading import Part, Standing

PART_BYTES: Final = 1 << 18
_METHODS: Final = ("PUT", "PATCH", "HEAD", "DELETE")
_ALLOW: Final[Header] = (b"allow", b"PUT, PATCH, HEAD, DELETE, OPTIONS")


class Received(wire.Response, frozen=True, kw_only=True):
    """What was received, for whoever sent it: the document is there once confirm-upload was called."""

    document_id: Id
    size_bytes: int
    sha256: str


class VaultUploads:
    """The ASGI application of every path below one; the token of the upload follows."""

    def __init__(self, receiving: Receiving, cors: Cors, path: str) -> None:
        self._path = path
        self._receiving = receiving
        self._cors = cors

    async def __call__(self, scope: HttpScope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        request = scope["request"]
        request.read_fields()
        method = tus.method_of(request)
        try:
            response = await self._respond(method, request, receive)
        except Problem as error:
            response = problem(error, request.id)
        except StoreFailure:
            message = "The bytes cannot be stored now. Try again."
            response = problem(Problem("unavailable", message, headers=((b"retry-after", b"5"),)), request.id)
        if method != "PUT":
            response = response.plus((tus.RESUMABLE,))
        await send_response(request, response.plus(self._cors.headers(request.fields)), send)

    async def _respond(self, method: str, request: Request, receive: Receive) -> Response:
        if method == "OPTIONS":
            capable = tus.capabilities(self._receiving.max_bytes)
            return Response(204, (_ALLOW, *capable, *self._cors.preflight(request.fields, _METHODS)))
        if method not in _METHODS:
            raise Problem("method_not_allowed", "Use PUT here, or the methods of tus.", headers=(_ALLOW,))
        token = request.path.removeprefix(self._path)
        if method == "PUT":
            return await self._put(token, request, receive)
        tus.require_version(request, method)
        if method == "HEAD":
            return Response(200, tus.standing(await self._receiving.standing(token)))
        if method == "DELETE":
            await self._receiving.end(token)
            return Response(204, ())
        return Response(204, tus.progress(await self._patch(token, request, receive)))

    async def _put(self, token: str, request: Request, receive: Receive) -> Response:
        expected = await self._receiving.expected(token)
        request.admitted = True
        _refuse_form(request)
        source = bodies.parts(receive, PART_BYTES)
        got = await self._receiving.take(token, expected, bodies.declared_length(request), source)
        return success(Received(document_id=got.document_id, size_bytes=got.size_bytes, sha256=got.sha256))

    async def _patch(self, token: str, request: Request, receive: Receive) -> Standing:
        await self._receiving.known(token)
        request.admitted = True
        _refuse_form(request)
        part = Part(
            offset=tus.offset(request),
            declared=bodies.declared_length(request),
            length=tus.length(request),
            checksum=tus.checksum(request),
            source=bodies.parts(receive, PART_BYTES),
        )
        return await self._receiving.append(token, part)


def _refuse_form(request: Request) -> None:
    if bodies.media_type(request).startswith(b"multipart/"):
        raise Problem("unsupported_media_type", "Send the document itself as the body, not a form that holds it.")
    if bodies.is_coded(request):
        raise Problem("unsupported_media_type", "Send the body as it is, without Content-Encoding.")
