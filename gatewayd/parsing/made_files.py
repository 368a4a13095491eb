"""Files that are made of a document when somebody asks for them: once, also where two ask at a time."""

import secrets
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Final

import trio
from msgspec.structs import replace

from gatewayd.areas.vault.documents import rows as documents
from gatewayd.areas.vault.documents.rows import DOCUMENTS
from gatewayd.areas.vault.documents.shapes import Document, DocumentRow
from gatewayd.areas.vault.documents.thumbnails import CachedThumbnail, GenerateAndCacheThumbnail
from gatewayd.areas.vault.parses import texts, variants
from gatewayd.areas.vault.parses.variants import WHOLE, MadeVariant, VariantRow
from gatewayd.clock import Instant
from gatewayd.errors import Problem, invalid_field
from gatewayd.extraction.shapes import ExtractionFailed
from gatewayd.parsing import pictures
from gatewayd.parsing.attempts import THUMBNAIL_WIDTH
from gatewayd.parsing.parts import ParseParts
from gatewayd.shares import Shares
from gatewayd.store import ReadTx, StoreFailure, WriteTx
from gatewayd.store.files.blobs import BlobDraft, BlobInfo

AT_ONCE: Final = 2  # Chosen: that are made at a time, one for each organization, beside what the queue reads
MAX_BYTES: Final = 1 << 30  # Chosen: of a PDF or text that is made
_TYPES: Final[dict[MadeVariant, str]] = {"searchable_pdf": "application/pdf", "text": "text/plain"}
_CHUNK_BYTES: Final = 1 << 20

Key = tuple[str, str, MadeVariant, int, int]
Make = Callable[[], Awaitable[VariantRow]]


@dataclass(slots=True, eq=False)
class _Job:
    """One file that is being made."""

    done: trio.Event = field(default_factory=trio.Event)
    made: VariantRow | None = None
    error: Exception | None = None


class MadeFiles:
    """What was made of the documents of one store, and what makes it."""

    def __init__(self, parts: ParseParts, nursery: trio.Nursery) -> None:
        self._parts = parts
        self._nursery = nursery
        self._store = parts.store
        self.shares = Shares("files made of documents", AT_ONCE)
        self._jobs: dict[Key, _Job] = {}

    async def cache_thumbnail(self, org_id: str, request: GenerateAndCacheThumbnail) -> CachedThumbnail:
        """Draw a page in a width, unless it was drawn already, and let the document name it.

        Raises `Problem`: `not_found`, `not_uploaded`, `gone`, `no_thumbnail_for_type`, `validation_failed` for a page
        that there is not.
        """
        row = await self._store.read(lambda tx: documents.uploaded(tx, request.document_id), org_id)
        if row.page_count is not None and request.page > row.page_count:
            raise invalid_field("page", "out_of_range", f"It has {row.page_count} pages.")
        picture = await self._picture(org_id, row, request.page, request.width)
        document = await self._store.write(lambda tx: _name(tx, row.id, picture), org_id)
        assert document.thumbnail_url is not None
        return CachedThumbnail(
            document=document,
            thumbnail_url=document.thumbnail_url,
            width=picture.drawn_width,
            height=picture.height,
            cached=True,
        )

    async def of(self, org_id: str, row: DocumentRow, variant: MadeVariant) -> VariantRow:
        """A file of an uploaded document. Raises `Problem`: `gone`, and `validation_failed` where there is none."""
        try:
            if variant == "thumbnail":
                return await self._picture(org_id, row, 1, THUMBNAIL_WIDTH)
            make = self._make_text if variant == "text" else self._make_pdf
            return await self._existing_or_made((org_id, row.id, variant, WHOLE, 0), partial(make, org_id, row))
        except ExtractionFailed as error:
            raise no_variant(variant, error.message) from None
        except Problem as error:
            if error.code == "no_thumbnail_for_type":
                raise no_variant(variant, error.message) from None
            raise

    async def _picture(self, org_id: str, row: DocumentRow, page: int, width: int) -> VariantRow:
        async def make() -> VariantRow:
            path = await self._path_of(row)
            return await pictures.draw(self._parts, path, row.mime_type, page, width)

        try:
            return await self._existing_or_made((org_id, row.id, "thumbnail", page, width), make)
        except ExtractionFailed as error:
            raise Problem("no_thumbnail_for_type", error.message) from None

    async def _existing_or_made(self, key: Key, make: Make) -> VariantRow:
        """The file that is there, or is made now by a task that outlives the request: reading scans takes minutes."""
        job = self._jobs.get(key)
        if job is None:
            job = self._jobs[key] = _Job()
            self._nursery.start_soon(self._work, key, make, job)
        await job.done.wait()  # the reader has its deadlines
        if job.made is None:
            raise job.error or Problem("unavailable", "The program is ending.")
        return job.made

    async def _work(self, key: Key, make: Make, job: "_Job") -> None:
        """The border of what is made: one file is not, and the daemon goes on."""
        try:
            job.made = await self._find_or_make(key, make)
        except (ExtractionFailed, Problem, StoreFailure) as error:
            job.error = error
        except Exception as error:  # one file fails, the rest go on
            job.error = Problem("internal_error", "Something went wrong on our side.")
            self._parts.log.error("file_not_made", document_id=key[1], variant=key[2], exc_info=error)
        finally:
            del self._jobs[key]
            job.done.set()

    async def _find_or_make(self, key: Key, make: Make) -> VariantRow:
        org_id, document_id, variant, page, width = key
        kept = await self._store.read(lambda tx: variants.find(tx, document_id, variant, page, width), org_id)
        if kept is not None and await self._is_there(kept.sha256):
            return kept
        async with self.shares.place(org_id):
            made = await make()
        await self._store.write(lambda tx: _note(tx, document_id, made), org_id)
        return made

    # -- what is made

    async def _make_text(self, org_id: str, row: DocumentRow) -> VariantRow:
        threads = self._parts.threads
        draft = await trio.to_thread.run_sync(self._parts.blobs.draft, MAX_BYTES, limiter=threads)
        try:
            await self._store.read_later(lambda tx: _write_text(tx, row.id, draft), org_id)
            blob = await trio.to_thread.run_sync(draft.save, limiter=threads)
        finally:
            with trio.CancelScope(shield=True):
                await trio.to_thread.run_sync(draft.discard, limiter=threads)
        if not blob.size_bytes:
            raise no_variant("text", "No text has been read in it.")
        return self._row("text", blob)

    async def _make_pdf(self, org_id: str, row: DocumentRow) -> VariantRow:
        """Raises `ExtractionFailed`."""
        path = await self._path_of(row)
        draft = await trio.to_thread.run_sync(self._parts.blobs.draft, MAX_BYTES, limiter=self._parts.threads)
        target = self._parts.blobs.folder / "drafts" / secrets.token_hex(16)
        try:
            await self._parts.reader.searchable_pdf(path, row.mime_type, target)
            blob = await trio.to_thread.run_sync(_copied, target, draft, limiter=self._parts.threads)
        finally:
            with trio.CancelScope(shield=True):  # on a thread, for a share may hang
                await trio.to_thread.run_sync(_discard, draft, target, limiter=self._parts.threads)
        return self._row("searchable_pdf", blob)

    def _row(self, variant: MadeVariant, blob: BlobInfo) -> VariantRow:
        return VariantRow(
            variant=variant,
            page=WHOLE,
            width=0,
            drawn_width=0,
            height=0,
            mime_type=_TYPES[variant],
            size_bytes=blob.size_bytes,
            sha256=blob.sha256,
            created_at=Instant(self._store.now()),
        )

    async def _path_of(self, row: DocumentRow) -> Path:
        """Raises `Problem` `gone`."""
        assert row.sha256 is not None, "uploaded"
        try:
            return await trio.to_thread.run_sync(self._parts.blobs.path, row.sha256, limiter=self._parts.threads)
        except FileNotFoundError:
            raise Problem("gone", "The bytes of this document are gone from the data directory.") from None

    async def _is_there(self, sha256: str) -> bool:
        return await trio.to_thread.run_sync(self._has, sha256, limiter=self._parts.threads)

    def _has(self, sha256: str) -> bool:
        """Also where it would have to be fetched first."""
        try:
            is_at_hand = self._parts.blobs.at_hand(sha256) is not None
        except FileNotFoundError:
            return False
        return is_at_hand or self._parts.blobs.size_of(sha256) is not None


def _write_text(tx: ReadTx, document_id: str, draft: BlobDraft) -> None:
    for text in texts.text_of(tx, document_id):
        draft.write(text.encode())


def no_variant(variant: MadeVariant, why: str) -> Problem:
    """422: there is no such file of the document."""
    return invalid_field("variant", "conflict", f"There is no {variant.replace('_', ' ')} of it. {why}")


def _note(tx: WriteTx, document_id: str, made: VariantRow) -> None:
    """Raises `Problem`: `not_found`, `not_uploaded` for a document that was deleted meanwhile."""
    documents.uploaded(tx, document_id)
    variants.put(tx, document_id, made)


def _name(tx: WriteTx, document_id: str, picture: VariantRow) -> Document:
    """Let the document name a picture, under the address that it has or a new one. Raises `Problem` as `_note`."""
    row = documents.uploaded(tx, document_id)
    if not variants.is_of(row.thumbnail_url, row.id, picture.page, picture.width):
        address = variants.new_address(row.id, picture.page, picture.width)
        row = DOCUMENTS.update(tx, replace(row, thumbnail_url=address))
    return documents.shown(tx, row)


def _discard(draft: BlobDraft, made: Path) -> None:
    draft.discard()
    made.unlink(missing_ok=True)


def _copied(source: Path, draft: BlobDraft) -> BlobInfo:
    with source.open("rb") as file:
        while chunk := file.read(_CHUNK_BYTES):
            draft.write(chunk)
    return draft.save()
