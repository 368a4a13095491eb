"""One organization's properties in a test, as they are stored, and the operations on what belongs to them."""

from collections.abc import Callable
from typing import Any, ClassVar

import msgspec

from gatewayd.areas.businesses.operations import create_business
from gatewayd.areas.businesses.shapes import CreateBusiness
from gatewayd.areas.landlord import AREA
from gatewayd.areas.landlord.register.properties import PROPERTIES
from gatewayd.areas.landlord.register.tenancies import TENANCIES
from gatewayd.areas.landlord.register.tenancy_shapes import RentStep
from gatewayd.areas.landlord.tenancies import rows as tenancies
from gatewayd.contract.decoding import RequestDecoder
from gatewayd.contract.operation import Operation
from gatewayd.store import ReadTx, WriteTx
from tests.areas.accounting.books import Books, Json
from tests.support.store import MemoryStore

OPERATIONS: dict[str, Operation] = {operation.id.partition(".")[2]: operation for operation in AREA.operations}
PROPERTY: dict[str, Any] = {
    "name": "12 Oak Street",
    "jurisdiction": "england",
    "type": "house",
    "use": "residential_let",
    "owners": [],
    "owner_share_percent": "100",
    "currency": "GBP",
    "licensing": "none",
    "gas_supply": True,
    "status": "active",
}
TENANCY: dict[str, Any] = {
    "tenant_ids": [],
    "tenant_spans": [],
    "notice_grounds": [],
    "type": "assured_periodic",
    "start_date": "2026-05-01",
    "rent_frequency": "monthly",
    "rent_due_day": 1,
    "bills_included": False,
    "currency": "GBP",
    "rent_history": [RentStep(from_date="2026-05-01", amount="900.00", notice=None)],
}
_ADD_UNIT = """
INSERT INTO property_units (id, org_id, property_id, name, name_key, type, currency, archived_at, created_at,
    updated_at, version)
VALUES (:id, :org_id, :property_id, :id, :id, 'room', 'GBP', :archived_at, :now, :now, 1)
"""


class Premises(Books):
    """An organization that lets, with a person and a business of theirs."""

    operations: ClassVar = OPERATIONS
    decoders: ClassVar = {name: RequestDecoder(operation) for name, operation in OPERATIONS.items()}

    def __init__(self, store: MemoryStore) -> None:
        super().__init__(store)
        self.entity_id = self.unregistered_entity(type="individual")
        self.business_id = self.lets(self.entity_id)

    def lets(self, entity_id: str) -> str:
        """A business that lets, of a legal entity."""
        request = msgspec.convert({"legalEntityId": entity_id, "type": "uk_property", "name": "Lets"}, CreateBusiness)
        return self.store.write(lambda tx: create_business(tx, self.caller, request), self.org_id).id

    def property(self, **values: object) -> str:
        """A house in England that is let to families, with gas and no licence, but for what `values` say."""
        given = {**PROPERTY, "business_id": self.business_id, **values}

        def insert(tx: WriteTx) -> str:
            if given["status"] == "archived":
                given["archived_at"] = tx.now
            return PROPERTIES.insert(tx, PROPERTIES.new(tx, None, **given)).id

        return self.store.write(insert, self.org_id)

    def unit(self, property_id: str, *, archived: bool = False) -> str:
        def insert(tx: WriteTx) -> str:
            id_ = tx.new_id("unit")
            tx.run(_ADD_UNIT, id=id_, property_id=property_id, archived_at=tx.now if archived else None)
            return id_

        return self.store.write(insert, self.org_id)

    def tenancy(self, property_id: str, **values: object) -> str:
        given = {**TENANCY, "property_id": property_id, **values}
        return self.store.write(lambda tx: tenancies.insert(tx, TENANCIES.new(tx, None, **given)).id, self.org_id)

    def mortgage(self, property_id: str | None = None, **fields: object) -> Json:
        """150,000.00 of interest at 6 % alone from 1 January 2025 on, but for what `fields` say; null leaves out."""
        body: dict[str, object] = {
            "propertyId": property_id or self.property(),
            "lender": "Severn Building Society",
            "type": "interest_only",
            "interestRate": "6",
            "originalAmount": "150000.00",
            "startDate": "2025-01-01",
            **fields,
        }
        return self.post("createMortgage", **body)

    def certificate(self, property_id: str, type_: str, issued: str, **fields: object) -> Json:
        return self.post("createCertificate", propertyId=property_id, type=type_, issuedDate=issued, **fields)

    def read(self, work: Callable[[ReadTx], Any]) -> Any:
        """What a read of the organization answers."""
        return self.store.read(work, self.org_id)
