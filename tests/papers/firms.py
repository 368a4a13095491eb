"""A firm that asks for papers through the API."""

from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Any, Protocol

from gatewayd.store.files.at_place import blobs_at
from tests.contract.rows import OPERATIONS
from tests.support.api import Reply, TestedApi
from tests.support.engines import Engines

Json = dict[str, Any]
ADDRESS = {"line1": "12a Oak Street", "town": "Leeds", "postcode": "LS1 4DY", "countryCode": "GB"}
LINE = {"description": "Joinery", "unitPrice": "100.00"}


@dataclass
class Firm:
    """A company that is registered for VAT, with a client."""

    api: TestedApi
    engines: Engines
    ids: dict[str, str] = field(default_factory=dict)

    async def ask(self, operation: str, token: str = "good", **values: object) -> Reply:
        row = next(row for row in OPERATIONS if row.id == operation)
        if row.method == "GET":
            return await self.api("GET", row.alias, query=values, token=token)
        return await self.api("POST", row.alias, json=values, token=token)

    async def call(self, operation: str, **values: object) -> Json:
        reply = await self.ask(operation, **values)
        assert reply.status == 200, reply.body
        answer: Json = reply.json()
        return answer

    async def invoice(self, **fields: object) -> Json:
        body = {"clientId": self.ids["cli"], "status": "issued", "lines": [LINE], **fields}
        return await self.call("accounting.createInvoice", **body)

    async def pdf(self, invoice: Json) -> bytes:
        reply = await self.ask("accounting.getInvoicePdf", invoiceId=invoice["id"])
        assert reply.status == 200, reply.body
        assert reply["content-type"] == "application/pdf"
        return reply.body

    async def invoice_now(self, invoice: Json) -> Json:
        return await self.call("accounting.getInvoice", invoiceId=invoice["id"])

    async def upload(self, name: str, content: bytes) -> str:
        """A document of the vault whose bytes are there."""
        made = await self.call("vault.createDocumentRecord", name=name)
        info = self.save(content)
        return await self.api.store.write(lambda tx: _receive(tx, made, info), "org_a")

    def save(self, content: bytes) -> tuple[int, str]:
        with blobs_at(self.api.store.place).draft(1 << 20) as draft:
            draft.write(content)
            info = draft.save()
        return info.size_bytes, info.sha256


def _receive(tx: Any, made: Json, info: tuple[int, str]) -> str:
    from gatewayd.areas.vault.documents import operations, uploads
    from gatewayd.areas.vault.documents.shapes import ConfirmUpload
    from tests.support.store import make_caller

    received = uploads.receive(tx, made["upload"]["url"].rpartition("/")[2], *info)
    assert received is not None
    return operations.confirm_upload(tx, make_caller("org_a"), ConfirmUpload(document_id=received.id)).id


class OpenFirm(Protocol):
    def __call__(self, organization_bytes: int = 0) -> AbstractAsyncContextManager[Firm]: ...
