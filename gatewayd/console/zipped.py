"""Files of the pages that are kept zipped: what would take seconds to zip for each browser, and megabytes to keep."""

import gzip
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Final

import trio
from quart import Response, current_app, request, send_from_directory
from quart_trio.wrappers.response import TrioFileBody

PIECE_BYTES: Final = 256 * 1024  # Chosen: each piece is a way to a thread and back, and in memory for a moment
ZIPPED: Final = {"scalar/standalone.js": "text/javascript"}
"""What is kept as `<name>.gz`, and of which type it is."""

_THREAD: Final = trio.CapacityLimiter(1)


async def zipped_file(folder: Path, name: str) -> Response:
    """Answers the file as it is kept; unzipped to who takes no `gzip`, which no browser does."""
    takes_zipped = request.accept_encodings["gzip"] > 0 or "Accept-Encoding" not in request.headers
    kept = f"{name}.gz"
    if takes_zipped:
        response = await send_from_directory(folder, kept, mimetype=ZIPPED[name])
        if isinstance(response.response, TrioFileBody):
            response.response.buffer_size = PIECE_BYTES
        response.headers["Content-Encoding"] = "gzip"
    else:
        response = Response(_unzipped(folder / kept), mimetype=ZIPPED[name])
        response.cache_control.public = True
        response.cache_control.max_age = current_app.get_send_file_max_age(name)
    response.vary.add("Accept-Encoding")
    return response


async def _unzipped(path: Path) -> AsyncIterator[bytes]:
    with gzip.open(path) as file:
        while piece := await trio.to_thread.run_sync(file.read, 4 * PIECE_BYTES, limiter=_THREAD):
            yield piece
