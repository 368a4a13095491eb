"""Request bodies, whole and bounded or in parts, and what they say that they are. The fields have been read."""

from collections.abc import AsyncGenerator
from typing import Final

import trio

from gatewayd.http1.asgi import Receive, ReceiveMessage
from gatewayd.http1.request import Request


class BodyTooLarge(Exception):
    """The body has more bytes than are taken, or says so."""


class BodyCutShort(Exception):
    """The client went away before the end of the body."""


LEAST_RATE: Final = 1024  # Chosen: bytes a second on average, a tenth of what a poor mobile connection sends
GRACE_SECONDS: Final = 20.0  # Chosen: that a client may lose on the way, to a tunnel or a lift


class BodyTooSlow(Exception):
    """The body came slower than the least rate. The rest is not waited for, so that its answer ends the connection."""

    def __init__(self) -> None:
        super().__init__(f"Send at least {LEAST_RATE} bytes a second on average.")


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

    Raises `BodyCutShort` behind the last part that came, and so `BodyTooSlow`, with the first bytes that come after the
    least rate had granted them. Where none come, the server's own deadline ends the request.
    """
    part, came, waited = bytearray(), 0, 0.0
    while True:
        began = trio.current_time()
        message = await receive()
        waited += trio.current_time() - began  # and not what whoever takes the parts does between them
        if message["type"] != "http.request":
            if part:
                yield part
            raise BodyCutShort
        part += message["body"]
        came += len(message["body"])
        if message["more_body"] and waited > GRACE_SECONDS + came / LEAST_RATE:
            yield part
            raise BodyTooSlow
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
