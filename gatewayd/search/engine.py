"""Search: keeps the index true to the documents, gives passages their vectors, and answers questions.

Whatever changes a document puts it into a queue in its own transaction (`areas.vault.documents.index_queue`). One task
takes it out once the index says what is so now; another gives vectors to passages that have none of the model in use.
Both begin again where a kill ended them.
"""

import math
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import Final

import trio

from gatewayd.areas.vault.documents import index_queue
from gatewayd.areas.vault.documents.index_queue import TOPIC, Waiting
from gatewayd.areas.vault.search import SearchDocuments, SearchedDocuments
from gatewayd.http1.log import Log
from gatewayd.search import cursors, index, lookup, questioning
from gatewayd.search.cursors import ToCome
from gatewayd.search.embedding import Embedder, EmbeddingUnavailable
from gatewayd.search.index import Indexed, Unembedded
from gatewayd.search.looking import Index
from gatewayd.search.signs import KeptBlocks
from gatewayd.shares import Shares
from gatewayd.store import ReadTx, Store, StoreFailure, WriteTx
from gatewayd.store.stemming import Stemmer

AT_ONCE: Final = 4  # Chosen: questions that are answered at a time, half of them of one organization
WAIT_SECONDS: Final = 10.0  # Chosen: for a place among them
QUESTION_SECONDS: Final = 2.0  # Chosen: past it a question is answered by words alone
EMBED_SECONDS: Final = 60.0
KEPT_BYTES: Final = 64 << 20  # Chosen: signs of a million and a half passages, of 42 bytes each
KEPT_SECONDS: Final = 300.0  # Chosen: how long they are kept when nobody asks
SCAN_AGAIN_SECONDS: Final = 60.0  # Chosen: what a command of the operator queued is not announced here
_DOCUMENTS_AT_ONCE: Final = 32
_PASSAGES_AT_ONCE: Final = 64
_PAUSE_SECONDS: Final = 30.0  # Chosen: between tries while the disk is full, or nothing gives vectors


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchParts:
    """What search works with."""

    store: Store
    embedder: Embedder
    log: Log


@asynccontextmanager
async def open_search(parts: SearchParts) -> AsyncIterator["Search"]:
    """Search, keeping its index for the length of the block."""
    async with trio.open_nursery() as nursery:
        search = Search(parts)
        nursery.start_soon(search.keep_index)
        nursery.start_soon(search.keep_vectors)
        nursery.start_soon(search.forget_when_idle)
        yield search
        nursery.cancel_scope.cancel()


class Search:
    """The keeper of the index in this process.

    What it writes is of a document that still waits as it was read: who slept, or was slower than another process,
    writes nothing of what was, nor among what another is writing.
    """

    def __init__(self, parts: SearchParts) -> None:
        self._store = parts.store
        self._embedder = parts.embedder
        self._log = parts.log
        self._index = lookup.index_of(is_shared=parts.store.is_shared)
        self.shares = Shares("searches", AT_ONCE, wait_seconds=WAIT_SECONDS)
        self._kept = KeptBlocks(KEPT_BYTES)
        self._asked = trio.Event()
        self._indexed = trio.Event()

    async def search(self, org_id: str, request: SearchDocuments) -> SearchedDocuments:
        """A page of what is found. Raises `Problem`: `invalid_cursor`, `rate_limited`, `unavailable`."""
        begun = cursors.to_come(request)
        async with self.shares.place(org_id):
            return await self._answer(org_id, request, begun)

    async def _answer(self, org_id: str, request: SearchDocuments, begun: ToCome | None) -> SearchedDocuments:
        vector, reason = None, "so it was on the first page"
        if (request.mode if begun is None else begun.mode) != "text":
            try:
                (vector,) = await self._embedder.embed([request.q], QUESTION_SECONDS)
            except EmbeddingUnavailable as error:
                reason = str(error)
        prepared = questioning.PreparedSearch(request, begun, vector, self._embedder.model or "", reason)
        self._asked.set()
        answer = partial(questioning.answer, into=self._index, prepared=prepared, kept=self._kept)
        return await self._store.read_later(answer, org_id)

    async def forget_when_idle(self) -> None:
        """Keep nothing in memory once nobody has asked for some minutes. Runs until cancelled."""
        while True:
            await self._asked.wait()  # may last: the documented wait for work
            self._asked = trio.Event()
            with trio.move_on_after(KEPT_SECONDS):
                await self._asked.wait()
                continue
            self._kept.clear()

    # -- words

    async def keep_index(self) -> None:
        """Index what waits, in turns of the organizations. Runs until cancelled."""
        after = ""
        while True:
            announced = self._store.topic(TOPIC)  # before the look, so that none is missed between
            try:
                org_id = await self._store.read(partial(index_queue.next_organization, after=after))
                if org_id is not None:
                    await self._index_some(org_id)
            except StoreFailure as error:
                self._log.error("index_not_stored", exc_info=error)
                await trio.sleep(_PAUSE_SECONDS)
                continue
            if org_id is None:
                with trio.move_on_after(SCAN_AGAIN_SECONDS):
                    await announced.wait()
            else:
                after = org_id

    async def _index_some(self, org_id: str) -> None:
        """Raises `StoreFailure`."""
        prepared = await self._store.read_later(partial(_prepared, into=self._index), org_id)
        small: list[tuple[Waiting, Indexed]] = []
        room = index.WRITE_CHARACTERS
        for waiting, indexed in prepared:
            size = sum(part.characters for part in indexed.parts)
            if size > room:
                await self._put(org_id, small)
                small, room = [], index.WRITE_CHARACTERS
            if size > index.WRITE_CHARACTERS:
                await self._put_long(org_id, waiting, indexed)
            else:
                small.append((waiting, indexed))
                room -= size
        await self._put(org_id, small)
        self._indexed.set()

    async def _put(self, org_id: str, documents: Sequence[tuple[Waiting, Indexed]]) -> None:
        if documents:
            await self._store.write_behind(partial(_put_whole, into=self._index, documents=documents), org_id)

    async def _put_long(self, org_id: str, waiting: Waiting, indexed: Indexed) -> None:
        """In several transactions, so that no other write waits long; a kill between them has it begin anew."""
        first: int | None = 0
        while first is not None:
            piece = partial(_put_piece, into=self._index, waiting=waiting, indexed=indexed, first=first)
            first, _ = await self._store.write_behind(piece, org_id)

    # -- vectors

    async def keep_vectors(self) -> None:
        """Give passages their vectors. Runs until cancelled, and ends where there is no model."""
        model = self._embedder.model
        if model is None:
            return
        while True:
            self._indexed = trio.Event()
            try:
                more = await self._embed_some(model)
            except (EmbeddingUnavailable, StoreFailure) as error:
                self._log.warning("passages_not_embedded", reason=str(error))
                await trio.sleep(_PAUSE_SECONDS)
                continue
            if not more:
                await self._more_to_embed()

    async def _more_to_embed(self) -> None:
        """Wait for what is indexed. Where daemons share a store, another may have ended before it gave the vectors."""
        with trio.move_on_after(SCAN_AGAIN_SECONDS if self._store.is_shared else math.inf):
            await self._indexed.wait()  # may last: the documented wait for work

    async def _embed_some(self, model: str) -> bool:
        """Whether there was anything to do. Raises `EmbeddingUnavailable`, `StoreFailure`."""
        unembedded = await self._store.read_later(lambda tx: index.unembedded(tx, model, _PASSAGES_AT_ONCE), None)
        if not unembedded:
            return False
        texts = await self._store.read_later(partial(_texts, passages=unembedded), None)
        told = [(passage, text) for passage, text in zip(unembedded, texts, strict=True) if text is not None]
        vectors = await self._embedder.embed([text for _, text in told], EMBED_SECONDS) if told else []
        known = [(passage, vector) for (passage, _), vector in zip(told, vectors, strict=True)]
        stale = [passage for passage, text in zip(unembedded, texts, strict=True) if text is None]
        await self._store.write_behind(partial(_set_vectors, known=known, stale=stale, model=model))
        return True


def _prepared(tx: ReadTx, into: Index) -> list[tuple[Waiting, Indexed]]:
    """Documents that wait, up to what one look may read, with what the index is to have of them."""
    stemmer = Stemmer()
    prepared: list[tuple[Waiting, Indexed]] = []
    try:
        for waiting in index_queue.waiting(tx, _DOCUMENTS_AT_ONCE):
            prepared.append((waiting, index.prepare(tx, into, waiting.document_id, stemmer)))
            if sum(part.characters for _, indexed in prepared for part in indexed.parts) > 4 * index.WRITE_CHARACTERS:
                break
    finally:
        stemmer.close()
    return prepared


def _put_whole(tx: WriteTx, into: Index, documents: Sequence[tuple[Waiting, Indexed]]) -> None:
    for waiting, indexed in documents:
        if _put_piece(tx, into, waiting, indexed, 0) is not None:
            raise AssertionError("it was measured before")


def _put_piece(tx: WriteTx, into: Index, waiting: Waiting, indexed: Indexed, first: int) -> int | None:
    """The next piece of a document, if nobody has begun it anew; None: it is all there, or whoever did goes on."""
    if not index_queue.is_waiting(tx, waiting) or (first and index.count_parts(tx, waiting.document_id) != first):
        return None
    following = index.put(tx, into, indexed, first)
    if following is None:
        index_queue.take_out(tx, waiting)
    return following


def _texts(tx: ReadTx, passages: Sequence[Unembedded]) -> list[str | None]:
    """What passages say; None: another thing by now."""
    said: dict[tuple[str, str], dict[bytes, str]] = {}
    texts: list[str | None] = []
    for passage in passages:
        key = (passage.org_id, passage.document_id)
        if key not in said:
            tx.bind(passage.org_id)
            said[key] = index.said_of(tx, passage.document_id)
        texts.append(said[key].get(passage.digest))
    return texts


def _set_vectors(
    tx: WriteTx, known: Sequence[tuple[Unembedded, bytes]], stale: Sequence[Unembedded], model: str
) -> None:
    """Passages of documents that have changed go, and the documents are indexed anew."""
    for passage, vector in known:
        tx.bind(passage.org_id)
        index.set_vector(tx, passage, vector, model)
    for passage in stale:
        tx.bind(passage.org_id)
        index.forget_passage(tx, passage)
        index_queue.put(tx, passage.document_id)
