"""One attempt at reading a document: all of it but the record that it began."""

from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Final, TypeVar

import trio

from gatewayd.areas.vault.parses.rows import Failure
from gatewayd.areas.vault.parses.variants import VariantRow
from gatewayd.extraction.shapes import ExtractionFailed
from gatewayd.parsing import pictures
from gatewayd.parsing.claims import Claim
from gatewayd.parsing.parts import ParseParts
from gatewayd.parsing.results import SKIPS, Outcome, checked
from gatewayd.store import StoreFailure

T = TypeVar("T")

THUMBNAIL_WIDTH: Final = 320  # Chosen: pixels of the picture that a document gets by itself
STORE_PAUSE_SECONDS: Final = 1.0  # Chosen: between tries while the disk is full or the database is locked
ATTEMPT_SECONDS: Final = 3600.0  # Chosen: more than the deadlines of the reader come to, in case they are not kept
_TOO_SLOW: Final = Failure("too_slow", "It took longer than an hour.", False)
_GONE: Final = Failure("gone", "The bytes of this document are gone from the data directory.", False)
_DRAWN: Final = frozenset({"no_ocr", "empty"})
"""Why there is no text of what there may be a picture of."""


async def read(parts: ParseParts, claim: Claim) -> Outcome:
    """Read a document, and draw its first page; what cannot be drawn has no picture. Nothing is stored but that."""
    try:
        path = await until_stored(parts, partial(_path_of, parts, claim))  # a share that went away has lost nothing
        with trio.move_on_after(ATTEMPT_SECONDS):
            return await _outcome_of(parts, claim, path)
    except FileNotFoundError:  # before it was opened, or while it is read: its organization ends
        return Outcome(_GONE, None)
    return Outcome(_TOO_SLOW, None)


async def _path_of(parts: ParseParts, claim: Claim) -> Path:
    return await trio.to_thread.run_sync(parts.blobs.path, claim.sha256, limiter=parts.threads)


async def _outcome_of(parts: ParseParts, claim: Claim, path: Path) -> Outcome:
    try:
        extraction = await parts.reader.read(path, claim.name, claim.mime_type)
    except ExtractionFailed as error:
        failure = Failure(error.code, error.message, error.code in SKIPS)
        return Outcome(failure, await _drawn(parts, claim, path) if error.code in _DRAWN else None)
    return Outcome(checked(extraction), await _drawn(parts, claim, path))


async def until_stored(parts: ParseParts, work: Callable[[], Awaitable[T]]) -> T:
    """Do what needs the disk, again and again until it takes it: what was read is not to be read twice for that."""
    while True:
        try:
            done = await work()
        except StoreFailure as error:
            parts.storing.failed(error)
        else:
            parts.storing.succeeded()
            return done
        await trio.sleep(STORE_PAUSE_SECONDS)


async def _drawn(parts: ParseParts, claim: Claim, path: Path) -> VariantRow | None:
    if not claim.wants_thumbnail:
        return None
    draw = partial(pictures.draw, parts, path, claim.mime_type, 1, THUMBNAIL_WIDTH)
    try:
        return await until_stored(parts, draw)
    except ExtractionFailed:
        return None
