"""`/vault/thumbnails/<document>/<picture>`: pictures of documents, for pages that show lists of them.

An `<img>` sends no credential, so that the address itself holds 256 random bits. It stands in the document as
`thumbnailUrl`, and gives the picture for as long as it stands there.
"""

import hmac
from functools import partial
from typing import Final

from gatewayd.areas.vault.documents.rows import DOCUMENTS, UPLOADED
from gatewayd.areas.vault.parses import variants
from gatewayd.areas.vault.parses.variants import VariantRow
from gatewayd.errors import Problem
from gatewayd.http.documents import ALLOW_READING, READING, app_of, not_allowed
from gatewayd.http.file_serving import ServedFile, serve
from gatewayd.http.render import problem
from gatewayd.http1.asgi import App
from gatewayd.http1.header_fields import Header
from gatewayd.http1.request import Request
from gatewayd.http1.response import Response
from gatewayd.store import ReadTx, Store, StoreFailure
from gatewayd.vault_files.engine import VaultFiles

ADDRESS_MAX: Final = 300  # characters; ours have half as many
NAME: Final = "thumbnail.webp"
# Chosen: an hour, since a page of a list asks for dozens; the bytes of an address never change.
_FOR_A_WHILE: Final[Header] = (b"cache-control", b"private, max-age=3600")


def thumbnails(store: Store, files: VaultFiles) -> App:
    """The application of pictures."""

    async def respond(request: Request) -> Response:
        if request.method not in READING:
            return not_allowed(request, ALLOW_READING)
        request.read_fields()
        try:
            found = await store.read(partial(_find, path=request.path))
            if found is None:
                raise Problem("not_found", "There is nothing at this address, or not any more.")
            path = await files.path_of(found.sha256)
        except Problem as error:
            return problem(error, request.id)
        except StoreFailure:
            return problem(Problem("unavailable", "The store cannot be read now."), request.id)
        file = ServedFile(path, found.size_bytes, found.sha256, NAME, found.mime_type, inline=True)
        return serve(request, file, (_FOR_A_WHILE,))

    return app_of(respond)


def _find(tx: ReadTx, path: str) -> VariantRow | None:
    """The picture of an address that a document names. None: none does."""
    parsed = variants.parse_address(path) if len(path) <= ADDRESS_MAX and path.isascii() else None
    if parsed is None:
        return None
    document_id, page, width = parsed
    try:
        tx.bind(DOCUMENTS.organization_of(tx, document_id))
    except Problem:
        return None
    row = DOCUMENTS.get(tx, document_id)
    if row.status != UPLOADED or row.thumbnail_url is None:
        return None
    if not hmac.compare_digest(row.thumbnail_url.encode(), path.encode()):
        return None
    return variants.find(tx, document_id, "thumbnail", page, width)
