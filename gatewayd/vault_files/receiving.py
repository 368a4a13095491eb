"""Takes the bytes of documents in: whole with one request, or in parts that outlast kills (tus 1.0).

They go to the disk as they come, and are durable under their digest before the document's row names them: a kill
between the two leaves bytes that nothing names, and never a name without bytes.
"""

import hashlib
from collections.abc import Callable
from contextlib import aclosing, suppress
from functools import partial
from typing import Final, TypeVar

import trio

from gatewayd.areas.vault.documents import upload_files, uploads
from gatewayd.areas.vault.documents.shapes import DocumentRow
from gatewayd.areas.vault.documents.upload_files import UploadFile
from gatewayd.areas.vault.documents.uploads import Expected
from gatewayd.clock import HOUR, Instant
from gatewayd.errors import Problem
from gatewayd.http1.bodies import BodyCutShort, BodyTooSlow
from gatewayd.shares import Shares
from gatewayd.store import Store, StoreFailure, WriteTx
from gatewayd.store.files.blobs import BlobDraft, BlobInfo, Blobs, BlobTooLarge
from gatewayd.store.files.directory import free_bytes
from gatewayd.store.files.incoming_files import RESERVE_BYTES
from gatewayd.store.files.partial_blobs import PartialBlob, PartialBlobs
from gatewayd.vault_files import uploading
from gatewayd.vault_files.appending import Appending, Turn
from gatewayd.vault_files.uploading import Part, Received, Source, Standing

MAX_AT_ONCE: Final = 16  # Chosen: each has a part in memory, and a thread now and then
ORGANIZATION_AT_ONCE: Final = 10  # Chosen: more than a browser sends at a time
WAIT_SECONDS: Final = 10.0  # Chosen: for a place, before anything of the body is read
SYNC_BYTES: Final = 8 << 20  # Chosen: what the disk is given at once, so that commits beside it wait for little
RESTS: Final = 2.0  # Chosen: of several uploads, for each second that their parts took
REST_SECONDS_MAX: Final = 0.1  # Chosen: where the disk was slow
QUIET_FOR: Final = HOUR  # Chosen: a request that writes nothing ends far sooner
TOKEN_MAX: Final = 100  # characters; ours have half as many

T = TypeVar("T")


class Receiving:
    """What comes in. `max_bytes` is the most of a document of no declared size; `organization_bytes` 0: no quota."""

    def __init__(self, store: Store, blobs: Blobs, partials: PartialBlobs, limits: uploads.Settings) -> None:
        self.max_bytes = limits.max_bytes
        self._store = store
        self._blobs = blobs
        self._partials = partials
        self._quota = limits.organization_bytes
        self.shares = Shares("uploads", MAX_AT_ONCE, ORGANIZATION_AT_ONCE, WAIT_SECONDS)
        self._threads = trio.CapacityLimiter(4)
        self._appending = Appending(store, partials, self._threads)
        # One at a time of what others feel: more would take the core from the loop, and the disk from commits.
        self._hashing, self._syncing = trio.Lock(), trio.CapacityLimiter(1)

    async def expected(self, token: str) -> Expected:
        """The document that a token is for. Raises `Problem` `not_found`, also where its bytes have come."""
        upload = await self._standing(token)
        if upload is None or upload.is_received:
            raise uploading.nothing()
        return upload

    async def known(self, token: str) -> Expected:
        """The document that a token is for, also where its bytes have come. Raises `Problem` `not_found`."""
        upload = await self._standing(token)
        if upload is None:
            raise uploading.nothing()
        return upload

    # -- whole

    async def take(self, token: str, expected: Expected, declared: int, source: Source) -> Received:
        """The bytes of one request, durable. `declared` are as many as it says; 0: it does not.

        Raises `Problem`: `payload_too_large` (before anything is read where the size is declared), `checksum_mismatch`,
        `invalid_request` where they ended early, `request_timeout` where they came too slowly, `rate_limited` or
        `unavailable` where too many come at once, `not_found` where another request was faster; or `StoreFailure`
        where the disk is full.
        """
        limit = self._limit(expected)
        if declared > limit:
            raise uploading.too_large(limit)
        async with self.shares.place(expected.org_id):
            info = await self._write(limit, source)
        file = await self._store.write(partial(self._receive_whole, token=token, info=info))
        if file is None:  # what this one wrote is swept, unless it is the same
            raise uploading.nothing()
        await self._discard_behind(file.name)
        return Received(expected.row.id, info.size_bytes, info.sha256)

    def _receive_whole(self, tx: WriteTx, token: str, info: BlobInfo) -> UploadFile | None:
        """The file of parts that came before, which nobody needs; whoever still appends is told so."""
        row = uploads.receive(tx, token, info.size_bytes, info.sha256, self._quota)
        if row is None:
            return None
        file = upload_files.find(tx, row.id)
        upload_files.forget(tx, row.id)
        return file

    async def _write(self, limit: int, source: Source) -> BlobInfo:
        draft = await self._run(self._blobs.draft, limit)
        unsynced = 0
        try:
            async with aclosing(source) as parts:
                async for part in parts:
                    await self._take_in(self._append, draft, part)
                    unsynced += len(part)
                    if unsynced >= SYNC_BYTES:
                        await self._sync(draft)
                        unsynced = 0
            return await self._run(draft.save)
        except BlobTooLarge:
            raise uploading.too_large(limit) from None
        except BodyCutShort:
            raise uploading.cut_short() from None
        except BodyTooSlow as error:
            raise uploading.too_slow(error) from None
        finally:
            await self._end(draft.discard)

    def _append(self, draft: BlobDraft, part: bytearray) -> None:
        self._require_room(part)
        draft.write(part)

    # -- in parts

    async def standing(self, token: str) -> Standing:
        """How far an upload is: so much is durable. What a kill left undone behind the last byte is done now.

        A request that still appends, whose client is asking here, ends. Raises `Problem`: `not_found`,
        `checksum_mismatch`, `payload_too_large`; or `StoreFailure`.
        """
        async with self._appending.alone(await self.known(token)) as turn:
            return await self._settled(token, turn, await self._looked_at(token, turn))

    async def append(self, token: str, part: Part) -> Standing:
        """Append a part; what came of it stays where it is cut short, unless it has a checksum.

        Raises `Problem`: `not_found`, `upload_offset_mismatch`, `payload_too_large` (before anything is read where the
        size is declared), `part_checksum_mismatch`, `checksum_mismatch` of the whole, `invalid_request`,
        `request_timeout`, `rate_limited`, `unavailable`; or `StoreFailure`.
        """
        known = await self.known(token)
        # In this order: an earlier request that hangs gives its place back.
        async with self._appending.alone(known) as turn, self.shares.place(known.org_id):
            standing = await self._looked_at(token, turn)
            uploading.require_offset(part, standing)
            if standing.is_received:
                return standing
            standing = await self._with_length(token, standing, part.length)
            limit = self.max_bytes if standing.length is None else standing.length
            if part.offset + part.declared > limit:
                raise uploading.too_large(limit)
            offset = await self._write_part(turn, part, limit)
            return await self._settled(token, turn, standing._replace(offset=offset))

    async def end(self, token: str) -> None:
        """End an upload and delete what came of it. Raises `Problem` `not_found`."""
        async with self._appending.alone(await self.expected(token)) as turn:
            if await self._store.write(partial(_give_up, token=token, turn=turn), turn.org_id) is None:
                raise uploading.nothing()
            await self._run(self._partials.discard, turn.file)

    async def keep_house(self) -> None:
        """Delete what came of uploads that are over, or were made otherwise. Raises `StoreFailure`.

        Where daemons share the place, what was written a while ago: another one may be at the rest.
        """
        names = await self._run(self._partials.list_names)
        if not names and not self._appending.is_shared:
            return
        disk: Instant | None = None
        for name in names:
            document_id = name.partition(".")[0]
            if self._appending.is_at_work(document_id):
                continue
            awaited = await self._store.read(partial(upload_files.awaited_of_any, document_id=document_id))
            if awaited == name:
                continue
            if disk is None:
                disk = await self._run(self._blobs.as_the_disk_tells, Instant(self._store.now()))
            quiet = Instant(disk - QUIET_FOR)
            if not self._appending.is_shared or await self._run(self._partials.is_older, name, quiet):
                await self._run(self._partials.discard, name)
        if await self._store.read(upload_files.is_any_over):
            await self._store.write(upload_files.forget_over)

    async def _write_part(self, turn: Turn, part: Part, limit: int) -> int:
        """How far the upload is then, durable. Raises `UploadLost` where it is another daemon's by now."""
        draft = await self._run(self._partials.open, turn.file)
        try:
            if part.checksum is not None:
                await self._run(draft.doubt)
            await self._write_on(draft, part, limit)
            if part.checksum is not None:
                await self._run(draft.trust)
            await self._appending.require(turn)
            return draft.size
        except Problem:
            if part.checksum is not None:
                await self._run(draft.distrust)
            raise
        finally:
            await self._end(draft.close)

    async def _write_on(self, draft: PartialBlob, part: Part, limit: int) -> None:
        digest = None if part.checksum is None else hashlib.new(part.checksum[0], usedforsecurity=False)
        unsynced = 0
        try:
            async with aclosing(part.source) as pieces:
                async for piece in pieces:
                    if draft.size + len(piece) > limit:
                        raise uploading.too_large(limit)
                    await self._take_in(self._append_piece, draft, piece, digest)
                    unsynced += len(piece)
                    if unsynced >= SYNC_BYTES:
                        await self._sync(draft)
                        unsynced = 0
        except BodyCutShort:
            raise uploading.cut_short() from None
        except BodyTooSlow as error:
            raise uploading.too_slow(error) from None
        await self._run(draft.sync)
        if digest is not None and part.checksum is not None and digest.digest() != part.checksum[1]:
            raise Problem("part_checksum_mismatch", "The bytes of this part are not those of its checksum.")

    def _append_piece(self, draft: PartialBlob, piece: bytearray, digest: "hashlib._Hash | None") -> None:
        self._require_room(piece)
        draft.write(piece)
        if digest is not None:
            digest.update(piece)

    async def _with_length(self, token: str, standing: Standing, length: int | None) -> Standing:
        """The same with the length that a request says. Raises `Problem`."""
        if length is None or length == standing.length:
            return standing
        if standing.length is not None or length < standing.offset:
            raise Problem("invalid_request", "The upload has another length.")
        if length > self.max_bytes:
            raise uploading.too_large(self.max_bytes)
        if await self._store.write(lambda tx: uploads.declare(tx, token, length, self._quota)) is None:
            raise uploading.nothing()
        return standing._replace(length=length)

    async def _looked_at(self, token: str, turn: Turn) -> Standing:
        expected = await self.known(token)
        if expected.is_received:
            return uploading.received(expected.row)
        offset = await self._run(self._partials.size, turn.file)
        return Standing(offset, expected.row.declared_size_bytes, expected.row.upload_expires_at, is_received=False)

    async def _settled(self, token: str, turn: Turn, standing: Standing) -> Standing:
        """The same; where all has come, the document has its bytes then."""
        if standing.is_received or standing.offset != standing.length:
            return standing
        info = await self._run(self._adopt, turn.file)
        try:
            await self._store.write(partial(self._receive, token=token, turn=turn, info=info))
        except Problem:  # other bytes than were meant: it begins anew
            await self._run(self._partials.begin_anew, turn.file)
            raise
        await self._discard_behind(turn.file)
        return standing._replace(is_received=True)

    # -- both

    async def _standing(self, token: str) -> Expected | None:
        if len(token) > TOKEN_MAX:
            return None
        return await self._store.read(partial(uploads.standing, token=token))

    def _adopt(self, name: str) -> BlobInfo:
        return self._partials.adopt(name, self._blobs)

    async def _discard_behind(self, name: str) -> None:
        """Delete what came of an upload whose document has its bytes; what cannot be deleted now is swept."""
        with suppress(StoreFailure):
            await self._run(self._partials.discard, name)

    def _receive(self, tx: WriteTx, token: str, turn: Turn, info: BlobInfo) -> None:
        """Note that all has come. Raises `UploadLost` where it is another daemon's by now."""
        row = uploads.receive(tx, token, info.size_bytes, info.sha256, self._quota)
        if row is not None:
            turn.require(tx)
            turn.end_in(tx)

    async def _end(self, work: Callable[[], None]) -> None:
        """The end of a file, also of a request that was given up: on a thread, for a share may hang."""
        with trio.CancelScope(shield=True):
            await self._run(work)

    async def _run(self, work: Callable[..., T], *values: object) -> T:
        """Work that waits for the disk."""
        return await trio.to_thread.run_sync(work, *values, limiter=self._threads)

    async def _take_in(self, append: Callable[..., None], *values: object) -> None:
        """Work that is mostly computing: what is written waits in memory for `sync`.

        Several uploads rest behind each part: else they would have all of a core, whoever came beside them.
        """
        async with self._hashing:
            began = trio.current_time()
            await self._run(append, *values)
            if self.shares.count.taken > 1:
                await trio.sleep(min(RESTS * (trio.current_time() - began), REST_SECONDS_MAX))

    async def _sync(self, draft: BlobDraft | PartialBlob) -> None:
        await trio.to_thread.run_sync(draft.sync, limiter=self._syncing)

    def _limit(self, expected: Expected) -> int:
        declared = expected.row.declared_size_bytes
        return self.max_bytes if declared is None else declared

    def _require_room(self, part: bytearray) -> None:
        if free_bytes(self._blobs.folder) < RESERVE_BYTES + len(part):
            raise StoreFailure("the disk has no room for the document")


def _give_up(tx: WriteTx, token: str, turn: Turn) -> DocumentRow | None:
    """Raises `UploadLost` where the upload is another daemon's by now."""
    turn.require(tx)
    row = uploads.end(tx, token)
    turn.end_in(tx)
    return row
