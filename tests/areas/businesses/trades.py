"""Businesses for tests, through the handlers."""

from typing import Any

import msgspec

from gatewayd.areas.businesses import tax_sync
from gatewayd.areas.businesses.operations import OPERATIONS
from gatewayd.areas.businesses.rows import BUSINESSES, NEVER_SYNCED
from gatewayd.areas.businesses.shapes import BusinessRow, TaxSync
from gatewayd.areas.legal_entities.operations import create_legal_entity
from gatewayd.areas.legal_entities.shapes import CreateLegalEntity
from gatewayd.clock import DAY, from_wire
from gatewayd.contract.decoding import RequestDecoder
from gatewayd.errors import Problem
from gatewayd.http.render import success
from gatewayd.ledger.calendar import period_locks
from tests.support.store import MemoryStore, make_caller
from tests.support.wire import expect_form

_ROWS = {operation.id.partition(".")[2]: operation for operation in OPERATIONS}
_DECODERS = {name: RequestDecoder(operation) for name, operation in _ROWS.items()}

Json = dict[str, Any]
TAX_ID, OTHER_TAX_ID = "XAIS12345678901", "XBIS12345678901"
TRADE: Json = {"type": "self_employment", "name": "Joinery"}
LETS: Json = {"type": "uk_property", "name": "Lets"}


class Firm:
    """One organization's view of its businesses, most of them of one person: requests are decoded as on the wire."""

    def __init__(self, store: MemoryStore) -> None:
        self.store = store
        self.org_id = store.org()
        self.caller = make_caller(self.org_id)
        self.person = self.entity()

    def entity(self, **values: object) -> str:
        body = {"name": "Ash Brown", "type": "sole_trader", **values}
        request = msgspec.convert(body, CreateLegalEntity)
        return self.store.write(lambda tx: create_legal_entity(tx, self.caller, request), self.org_id).id

    def company(self, **values: object) -> str:
        return self.entity(name="Oak Ltd", type="limited_company", companyNumber="01234567", **values)

    def create(self, **values: object) -> Json:
        return self._post("create", {"legalEntityId": self.person, **TRADE, **values})

    def update(self, business_id: str, **values: object) -> Json:
        return self._post("update", {"id": business_id, **values})

    def archive(self, business_id: str, **values: object) -> Json:
        return self._post("archive", {"id": business_id, "force": True, **values})

    def move(self, business_id: str, status: str, effective_date: str | None = None, **values: object) -> Json:
        given = {} if effective_date is None else {"effectiveDate": effective_date}
        return self._post("setStatus", {"id": business_id, "status": status, **given, **values})

    def get(self, business_id: str) -> Json:
        request, handler = _DECODERS["get"].query(f"id={business_id}"), _ROWS["get"].handler
        return _answer(self.store.read(lambda tx: handler(tx, self.caller, request), self.org_id), "get")

    def page(self, query: str = "") -> Json:
        request, handler = _DECODERS["list"].query(query), _ROWS["list"].handler
        return _answer(self.store.read(lambda tx: handler(tx, self.caller, request), self.org_id), "list")

    def names(self, query: str = "") -> list[str]:
        return [business["name"] for business in self.page(query)["data"]]

    def ids(self, query: str = "") -> list[str]:
        return [business["id"] for business in self.page(query)["data"]]

    def adopt(self, entity_id: str | None = None, record: TaxSync = NEVER_SYNCED, **values: object) -> BusinessRow:
        """A business that the tax authority knows, as the engine above keeps it."""
        said = {"type": "self_employment", "tax_business_id": TAX_ID, **values}
        owner = entity_id or self.person
        return self.store.write(lambda tx: tax_sync.adopt(tx, owner, said, record), self.org_id)

    def take_over(self, business_id: str, record: TaxSync, **changes: object) -> BusinessRow:
        return self.store.write(lambda tx: tax_sync.take_over(tx, business_id, changes, record), self.org_id)

    def row(self, business_id: str) -> BusinessRow:
        return self.store.read(lambda tx: BUSINESSES.get(tx, business_id), self.org_id)

    def close_a_period(self, entity_id: str | None = None) -> None:
        owner = entity_id or self.person
        self.store.write(lambda tx: period_locks.close(tx, owner, "2026-01-01", "2026-03-31"), self.org_id)

    def on(self, date: str) -> None:
        """Go to the noon of a day."""
        self.store.clock.advance(from_wire(f"{date}T12:00:00Z") - self.store.now())

    def later(self, days: int = 1) -> None:
        self.store.clock.advance(days * DAY)

    def _post(self, name: str, body: Json) -> Json:
        request, handler = _DECODERS[name].body(msgspec.json.encode(body)), _ROWS[name].handler
        return _answer(self.store.write(lambda tx: handler(tx, self.caller, request), self.org_id), name)


def refusal(error: Problem) -> tuple[str, list[tuple[str, str]]]:
    """The code of a problem, and path and code of each field."""
    return error.code, [(field.path, field.code) for field in error.errors]


def _answer(result: object, operation: str) -> Json:
    answer: Json = msgspec.json.decode(success(result).body)
    expect_form(answer, _ROWS[operation].response)
    return answer
