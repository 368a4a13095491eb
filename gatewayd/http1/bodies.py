"""Request bodies, whole and bounded or in parts, and what they say that they are. The fields have been read."""

from collections.abc import AsyncGenerator

from gatewayd.http1.asgi import Receive, ReceiveMessage
from gatewayd.http1.request import Request


class BodyTooLarge(Exception):
    """The body has more bytes than are taken, or says so."""


class BodyCutShort(Exception):
    """The client went away before the end of the body."""


def media_type(request: Request) -> bytes:
    """The media type of a body, in lower case and without parameters; empty where none is given."""
    return request.fields.get(b"content-type", b"").partition(b";")[0].strip().lower()


def is_coded(request: Request) -> bool:
    """Whether the body has a content coding."""
    return request.fields.get(b"content-encoding", b"identity").lower() != b"identity"


def declared_length(request: Request) -> int:
    """How many bytes the body says it has; 0 where it does not say."""
    length = request.fields.get(b"content-length", b"")
    return int(length) if length.isdigit() else 0


async def parts(receive: Receive, size: int) -> AsyncGenerator[bytearray, None]:
    """A body of any length, in parts of some `size` bytes; the last is shorter.

    Raises `BodyCutShort` behind the last part that came.
    """
    part = bytearray()
    while True:
        message = await receive()
        if message["type"] != "http.request":
            if part:
                yield part
            raise BodyCutShort
        part += message["body"]
        if len(part) >= size or not message["more_body"]:
            yield part
            part = bytearray()  # a copy of its own would cost the loop more than all else that is done for the part
        if not message["more_body"]:
            return


async def read_body(request: Request, receive: Receive, max_bytes: int) -> bytes:
    """The whole body. Raises `BodyTooLarge`, before reading where the length is declared, or `BodyCutShort`."""
    if declared_length(request) > max_bytes:
        raise BodyTooLarge
    message = await receive()
    if message["type"] == "http.request" and not message["more_body"]:
        if len(message["body"]) > max_bytes:
            raise BodyTooLarge
        return message["body"]
    return await _read_on(message, receive, max_bytes)


async def _read_on(message: ReceiveMessage, receive: Receive, max_bytes: int) -> bytes:
    body = bytearray()
    while message["type"] == "http.request":
        body += message["body"]
        if len(body) > max_bytes:
            raise BodyTooLarge
        if not message["more_body"]:
            return bytes(body)
        message = await receive()
    raise BodyCutShort
