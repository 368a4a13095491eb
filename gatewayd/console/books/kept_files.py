"""A file that somebody sent becomes a document: its record, its bytes, and that they are there, as programs do it."""

from collections.abc import AsyncGenerator
from contextlib import suppress
from pathlib import Path
from typing import Final

import trio

from gatewayd.console.operations.calls import Operations
from gatewayd.console.operations.lists import JsonObject
from gatewayd.console.operations.sent_files import SentFile
from gatewayd.errors import Problem
from gatewayd.store import StoreFailure
from gatewayd.vault_files.receiving import Receiving

PART_BYTES: Final = 1 << 18


class KeptFiles:
    """Makes documents of files."""

    def __init__(self, operations: Operations, receiving: Receiving) -> None:
        self._operations = operations
        self._receiving = receiving
        self._threads = trio.CapacityLimiter(4)

    async def keep(self, sent: SentFile, key: str) -> JsonObject:
        """The document, with its bytes. Under the same key there is one, however often it is sent.

        What was begun is taken back where it cannot be ended; what a kill leaves is a record without bytes, which takes
        none after a day. Raises `Problem` as the operations do, and `StoreFailure`.
        """
        known = {"sizeBytes": sent.file.size_bytes, "sha256": sent.file.sha256}
        made = await self._operations.call("vault.createDocumentRecord", {"name": sent.name, **known}, key)
        document_id, token = made["document"]["id"], made["upload"]["url"].rpartition("/")[2]
        try:
            await self._fill(token, sent)
            confirmed = {"documentId": document_id, **known}
            document: JsonObject = await self._operations.call("vault.confirmUpload", confirmed, f"{key}-confirm")
        except (Problem, StoreFailure):
            with suppress(Problem, StoreFailure):
                await self._receiving.end(token)
                await self._operations.call("vault.deleteDocument", {"documentId": document_id})
            raise
        return document

    async def _fill(self, token: str, sent: SentFile) -> None:
        """Give the record its bytes, unless it has them: another sending of the same form was faster."""
        expected = await self._receiving.known(token)
        if expected.is_received:
            return
        try:
            await self._receiving.take(token, expected, sent.file.size_bytes, self._parts(sent.file.path))
        except Problem:
            if not (await self._receiving.known(token)).is_received:
                raise

    async def _parts(self, path: Path) -> AsyncGenerator[bytearray, None]:
        file = await trio.to_thread.run_sync(path.open, "rb", limiter=self._threads)
        try:
            while part := await trio.to_thread.run_sync(file.read, PART_BYTES, limiter=self._threads):
                yield bytearray(part)
        finally:
            file.close()
