"""One organization's books in a test: its operations called with wire values, as a request would."""

import os
from collections.abc import Mapping
from typing import Any, ClassVar

import msgspec

from gatewayd.areas.accounting import AREA
from gatewayd.areas.businesses.operations import create_business
from gatewayd.areas.businesses.shapes import CreateBusiness
from gatewayd.areas.legal_entities.operations import create_legal_entity
from gatewayd.areas.legal_entities.shapes import CreateLegalEntity
from gatewayd.contract.decoding import RequestDecoder
from gatewayd.contract.pages import Listing
from gatewayd.errors import Problem
from gatewayd.performing.performer import encoded
from tests.support.rows import served
from tests.support.store import MemoryStore, make_caller
from tests.support.wire import expect_form, shown

BRITISH_VAT_NUMBER = "980780684"
OTHER_BRITISH_VAT_NUMBER = "GB 434 0314 94"
OPERATIONS = {operation.id.partition(".")[2]: operation for operation in served(AREA)}
DECODERS = {name: RequestDecoder(operation) for name, operation in OPERATIONS.items()}
ADDRESS: Mapping[str, object] = {"line1": "4 Quay Street", "town": "Bristol", "countryCode": "GB"}
LINE = {"description": "Joinery", "unitPrice": "100.00"}

Json = dict[str, Any]
RANDOM_BOOKS = int(os.environ.get("GATEWAYD_BOOKS", "10"))
"""How many a property of all books is tried on; `make soak` takes more."""


class Books:
    """An organization that sells. `caller` may be replaced to act as somebody else."""

    operations: ClassVar = OPERATIONS
    decoders: ClassVar = DECODERS

    def __init__(self, store: MemoryStore, name: str = "Oak Ltd") -> None:
        self.store = store
        self.org_id = store.org(name)
        self.caller = make_caller(self.org_id)

    def post(self, operation: str, /, **body: object) -> Json:
        """Call a write with a JSON body; raises what the handler raises."""
        request = self.decoders[operation].body(msgspec.json.encode(body))
        handler = self.operations[operation].handler
        answered = self.store.write(lambda tx: handler(tx, self.caller, request), self.org_id)
        answer: Json = msgspec.json.decode(encoded(answered))
        expect_form(answer, self.operations[operation].response)
        return answer

    def one(self, operation: str, query: str) -> Json:
        """Call a read of one resource with a query string; raises what the handler raises."""
        request = self.decoders[operation].query(query)
        handler = self.operations[operation].handler
        answered = self.store.read(lambda tx: handler(tx, self.caller, request), self.org_id)
        answer: Json = msgspec.json.decode(encoded(answered))
        expect_form(answer, self.operations[operation].response)
        return answer

    def get(self, operation: str, query: str = "") -> tuple[list[Json], str | None]:
        """Call a list with a query string; answers its items and the next cursor."""
        listing = self.listing(operation, query)
        items: list[Json] = shown(listing)
        expect_form({"data": items, "nextCursor": listing.next_cursor}, self.operations[operation].response)
        return items, listing.next_cursor

    def listing(self, operation: str, query: str = "") -> Listing[Any]:
        request = self.decoders[operation].query(query)
        handler = self.operations[operation].handler
        answer: Listing[Any] = self.store.read(lambda tx: handler(tx, self.caller, request), self.org_id)
        return answer

    def walk(self, operation: str, query: str) -> list[Json]:
        """Every item of a list, page by page."""
        items, cursor = self.get(operation, query)
        while cursor is not None:
            more, cursor = self.get(operation, f"{query}&cursor={cursor}")
            assert more
            items += more
        return items

    def client(self, name: str = "Harbour Ltd", **fields: object) -> str:
        body = {"name": name, "billingAddress": ADDRESS, "allowDuplicate": True, **fields}
        return str(self.post("createClient", **body)["id"])

    def invoice(self, **fields: object) -> Json:
        """An issued invoice for a client of its own, with one line of 100.00, but for what `fields` say."""
        if "clientId" not in fields and "client" not in fields and "creditsInvoiceId" not in fields:
            fields["clientId"] = self.client()
        return self.post("createInvoice", **{"status": "issued", "lines": [LINE], **fields})

    def credit(self, invoice_id: str, /, **fields: object) -> Json:
        """An issued credit note for all of an invoice, but for what `fields` say."""
        body: dict[str, object] = {"status": "issued", "kind": "credit_note", "creditsInvoiceId": invoice_id, **fields}
        return self.post("createInvoice", **body)

    def entity(self, **fields: object) -> str:
        """A legal entity that is registered for VAT and has an address, but for what `fields` say."""
        body: Mapping[str, object] = {
            "name": "Oak",
            "type": "sole_trader",
            "vatNumber": BRITISH_VAT_NUMBER,
            "vat": {"status": "registered", "effectiveDate": "2000-01-01"},
            "address": ADDRESS,
            **fields,
        }
        request = msgspec.convert({name: value for name, value in body.items() if value is not None}, CreateLegalEntity)
        return self.store.write(lambda tx: create_legal_entity(tx, self.caller, request), self.org_id).id

    def business(self, entity_id: str) -> str:
        """A trade of a legal entity."""
        request = CreateBusiness(legal_entity_id=entity_id, type="self_employment", name="Joinery")
        return self.store.write(lambda tx: create_business(tx, self.caller, request), self.org_id).id

    def unregistered_entity(self, **fields: object) -> str:
        return self.entity(**{"vatNumber": None, "vat": None, **fields})


def fields_of(problem: Problem) -> list[tuple[str, str]]:
    """Path and code of each field that is wrong."""
    assert problem.code == "validation_failed"
    return [(error.path, error.code) for error in problem.errors]


def lines(*each: dict[str, object]) -> list[dict[str, object]]:
    """Lines of a request: `LINE` but for what each says."""
    return [{**LINE, **fields} for fields in each]
