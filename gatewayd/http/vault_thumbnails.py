"""`/vault/thumbnails/<document>/<picture>`: pictures of documents, for pages that show lists of them.

An `<img>` sends no credential, so that the address itself holds 256 random bits. It stands in the document as
`thumbnailUrl`, and gives the picture for as long as it stands there.
"""

from typing import Final

from gatewayd.errors import Problem
from gatewayd.http.documents import ALLOW_READING, READING, app_of, not_allowed
from gatewayd.http.file_serving import ServedFile, serve
from gatewayd.http.render import problem
from gatewayd.http1.asgi import App
from gatewayd.http1.header_fields import Header
from gatewayd.http1.request import Request
from gatewayd.http1.response import Response
from gatewayd.store import StoreFailure
from gatewayd.vault_files.giving import Giving

# Chosen: an hour, since a page of a list asks for dozens; the bytes of an address never change.
_FOR_A_WHILE: Final[Header] = (b"cache-control", b"private, max-age=3600")


def thumbnails(giving: Giving) -> App:
    """The application of pictures."""

    async def respond(request: Request) -> Response:
        if request.method not in READING:
            return not_allowed(request, ALLOW_READING)
        request.read_fields()
        try:
            file = await giving.picture(request.path)
            if file is None:
                raise Problem("not_found", "There is nothing at this address, or not any more.")
        except Problem as error:
            return problem(error, request.id)
        except StoreFailure:
            return problem(Problem("unavailable", "The store cannot be read now."), request.id)
        return serve(request, ServedFile(*file, inline=True), (_FOR_A_WHILE,))

    return app_of(respond)
