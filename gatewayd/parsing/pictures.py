"""Files beside the database that are made of documents: written before the row that names them."""

from functools import partial
from pathlib import Path
from typing import Final

import trio

from gatewayd.areas.vault.parses.variants import VariantRow
from gatewayd.clock import Instant
from gatewayd.parsing.parts import ParseParts

PICTURE: Final = "image/webp"
_MAX_BYTES: Final = 64 << 20  # Chosen: more than any picture of 1,024 pixels has


async def draw(parts: ParseParts, path: Path, mime_type: str, page: int, width: int) -> VariantRow:
    """Draw a page of a document, and make the picture durable. Raises `ExtractionFailed`, `StoreFailure`."""
    picture = await parts.reader.draw(path, mime_type, page, width)
    sha256 = await trio.to_thread.run_sync(partial(_save, parts, picture.body), limiter=parts.threads)
    return VariantRow(
        variant="thumbnail",
        page=page,
        width=width,
        drawn_width=picture.width,
        height=picture.height,
        mime_type=PICTURE,
        size_bytes=len(picture.body),
        sha256=sha256,
        created_at=Instant(parts.store.now()),
    )


def _save(parts: ParseParts, body: bytes) -> str:
    with parts.blobs.draft(_MAX_BYTES) as draft:
        draft.write(body)
        return draft.save().sha256
