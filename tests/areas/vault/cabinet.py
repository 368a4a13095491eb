"""One organization's vault in a test: its operations called with wire values, as a request would."""

import functools
import hashlib
from typing import ClassVar

from gatewayd.areas.vault import AREA
from gatewayd.areas.vault.documents import rows, uploads
from gatewayd.contract.decoding import RequestDecoder
from gatewayd.contract.operation import Operation
from tests.areas.accounting.books import Books, Json
from tests.support.rows import served

OPERATIONS: dict[str, Operation] = {operation.id.partition(".")[2]: operation for operation in served(AREA)}


class Cabinet(Books):
    """An organization with a vault."""

    operations: ClassVar = OPERATIONS
    decoders: ClassVar = {name: RequestDecoder(operation) for name, operation in OPERATIONS.items()}

    def folder(self, name: str, parent_id: str | None = None) -> str:
        return str(self.post("createFolder", name=name, parentId=parent_id)["id"])

    def record(self, name: str = "scan.pdf", **fields: object) -> Json:
        """A record whose bytes are to come."""
        return self.post("createDocumentRecord", name=name, **fields)

    def land(self, record: Json, content: bytes = b"paper") -> None:
        """The bytes arrive, as the door notes them."""
        token = record["upload"]["url"].rpartition("/")[2]
        sha256 = hashlib.sha256(content).hexdigest()
        landed = functools.partial(uploads.receive, token=token, size=len(content), sha256=sha256)
        assert self.store.write(landed) is not None

    def document(self, name: str = "scan.pdf", content: bytes = b"paper", **fields: object) -> Json:
        """One that is uploaded and confirmed."""
        made = self.record(name, **fields)
        self.land(made, content)
        return self.post("confirmUpload", documentId=made["document"]["id"])

    def read_by(self, reader: str, document_id: str) -> None:
        self.store.write(lambda tx: rows.note_access(tx, document_id, reader), self.org_id)

    def names(self, operation: str, query: str = "") -> list[str]:
        """The names on every page of a list."""
        return [str(item["name"]) for item in self.walk(operation, query)]
