"""Forms that hold a file: taken off the connection a part at a time, the fields first.

What serves pages reads a form whole before a page sees it. Of these it reads nothing: the fields before the file are
read when the page begins, with the token among them, and the file itself only by a page that wants it. So a form of
another site is refused before anything of its file was taken.
"""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager
from typing import Any, Final, cast

import trio
from quart import current_app, request
from quart_trio.wrappers import TrioRequest
from werkzeug.datastructures import MultiDict
from werkzeug.exceptions import BadRequest, RequestEntityTooLarge
from werkzeug.http import parse_options_header
from werkzeug.sansio.multipart import Data, Epilogue, Event, Field, File, MultipartDecoder, NeedData

from gatewayd.http1 import bodies
from gatewayd.http1.asgi import HttpScope, Receive, ReceiveMessage

FILE_TYPE: Final = "multipart/form-data"
FIELD_BYTES: Final = 64 * 1024  # Chosen: of all fields beside a file together, and of the head of a part
PARTS_MAX: Final = 100  # Chosen: fields beside a file
MARK_END: Final = 4  # bytes that may stand behind a mark: two hyphens, and a line break
PART_BYTES: Final = 1 << 16  # is looked at at once, on the event loop
_NOT_COMPLETE: Final = "The form is not complete."
_IN_SCOPE: Final = "form_with_file"
_EXTENSION: Final = "pages_that_take_files"


class PageRequest(TrioRequest):
    """A request whose fields may have been read by us."""

    def take_form(self, fields: MultiDict[str, str]) -> None:
        """These are its fields."""
        self._form, self._files = fields, MultiDict()


class FormWithFile:
    """One form as it comes. `file_name` is empty where no file was chosen, or none came so far."""

    def __init__(self, source: AsyncGenerator[bytearray, None], boundary: bytes, declared: int) -> None:
        """`declared` are as many bytes as the whole form is said to have; 0: nobody says."""
        self.declared = declared
        self.file_name = ""
        self._source = source
        self._mark = b"--" + boundary
        self._decoder = MultipartDecoder(boundary, max_parts=PARTS_MAX)
        self._rest = bytearray()
        self._has_file = self._ended = False

    async def fields(self) -> MultiDict[str, str]:
        """The fields before the file. Raises `BadRequest` for what is no such form, `RequestEntityTooLarge`."""
        fields: MultiDict[str, str] = MultiDict()
        name, text, size = "", bytearray(), 0
        while not isinstance(event := await self._next(), Epilogue):
            if isinstance(event, File):
                self.file_name, self._has_file = event.filename, True
                break
            if isinstance(event, Field):
                name, text = event.name or "", bytearray()
            elif isinstance(event, Data):
                size += len(event.data)
                if size > FIELD_BYTES:
                    raise RequestEntityTooLarge
                text += event.data
                if not event.more_data:
                    fields.add(name, _decoded(text))
        return fields

    async def file(self) -> AsyncGenerator[bytearray, None]:
        """The bytes of the file, which is the last of the form.

        Raises `BadRequest` for a form that goes on behind it, or has no end; `BodyCutShort`, `BodyTooSlow`.
        """
        is_whole = not self._has_file
        while not isinstance(event := await self._next(), Epilogue):
            if is_whole or not isinstance(event, Data):
                raise BadRequest(_NOT_COMPLETE)
            is_whole = not event.more_data
            if event.data:
                yield bytearray(event.data)

    async def _next(self) -> Event:
        """What comes next. Raises `BadRequest` where that is no form."""
        try:
            while True:
                if not self._may_end_in_a_mark():
                    event = self._decoder.next_event()
                    if not isinstance(event, NeedData):
                        return event
                    if len(self._decoder.buffer) > FIELD_BYTES:
                        raise RequestEntityTooLarge  # a head without an end, or something behind the form
                await self._feed()
        except ValueError:
            raise BadRequest(_NOT_COMPLETE) from None

    async def _feed(self) -> None:
        """Give the decoder more, and never much: the head of a part is measured where it is not whole yet."""
        if not self._rest:
            part = await anext(self._source, None)
            self._ended = part is None
            self._rest = part or bytearray()
        self._decoder.receive_data(None if self._ended else bytes(self._rest[:PART_BYTES]))
        del self._rest[:PART_BYTES]

    def _may_end_in_a_mark(self) -> bool:
        """Whether the mark between two parts may stand at the end of what came, and some of it is yet to come.

        The decoder (werkzeug 3.1) takes the line break before such a mark for the last byte of the file.
        """
        buffer = self._decoder.buffer
        start = buffer.rfind(self._mark, max(0, len(buffer) - len(self._mark) - MARK_END))
        return not self._ended and start >= 0 and len(buffer) - start < len(self._mark) + MARK_END


class _Aside:
    """A body that the server of pages believes to be empty, and that is read elsewhere."""

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self._was_told = False
        self._is_over = trio.Event()
        self._broken_off: ReceiveMessage | None = None

    async def told(self) -> ReceiveMessage:
        """There is no body; then whatever comes after it."""
        if not self._was_told:
            self._was_told = True
            return {"type": "http.request", "body": b"", "more_body": False}
        await self._is_over.wait()
        return self._broken_off or await self._receive()

    async def body(self) -> ReceiveMessage:
        """What comes of the body."""
        message = await self._receive()
        if message["type"] != "http.request":
            self._broken_off = message
        if message["type"] != "http.request" or not message["more_body"]:
            self._is_over.set()
        return message


@asynccontextmanager
async def set_aside(scope: HttpScope, receive: Receive) -> AsyncIterator[tuple[HttpScope, Receive]]:
    """The request as the server of pages is to have it, for as long as that answers it."""
    fields = dict(scope["headers"])
    media_type, options = parse_options_header(fields.get(b"content-type", b"").decode("latin-1"))
    if media_type != FILE_TYPE:
        yield scope, receive
        return
    aside, length = _Aside(receive), fields.get(b"content-length", b"")
    kept = [(name, value) for name, value in scope["headers"] if name not in (b"content-length", b"transfer-encoding")]
    async with aclosing(bodies.parts(aside.body, PART_BYTES)) as source:
        boundary = options.get("boundary", "").encode("latin-1", "replace")
        form = FormWithFile(source, boundary, int(length) if length.isdigit() else 0)
        yield cast(HttpScope, {**scope, "headers": kept, _IN_SCOPE: form if boundary else None}), aside.told


def takes_files(endpoint: str | None) -> bool:
    """Whether the page says that it takes a form with a file."""
    return endpoint in current_app.extensions.get(_EXTENSION, ())


def note_that_takes_files(app: Any, endpoint: str) -> None:
    """Let a page take forms with a file."""
    app.extensions.setdefault(_EXTENSION, set()).add(endpoint)


def form_with_file() -> FormWithFile | None:
    """The form that this request is; None: it is another, or none."""
    found: FormWithFile | None = cast(dict[str, Any], request.scope).get(_IN_SCOPE)
    return found


async def read_fields(form: FormWithFile) -> None:
    """Let the fields before the file be those of the request. Raises `BadRequest`, `RequestEntityTooLarge`."""
    there = cast(PageRequest, request)
    there.take_form(MultiDict())  # for the page that says what is wrong
    try:
        there.take_form(await form.fields())
    except bodies.BodyCutShort:
        raise BadRequest(_NOT_COMPLETE) from None
    except bodies.BodyTooSlow as error:
        raise BadRequest(str(error)) from None


def _decoded(text: bytearray) -> str:
    try:
        return text.decode()
    except UnicodeDecodeError:
        raise BadRequest(_NOT_COMPLETE) from None
