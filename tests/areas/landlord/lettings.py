"""One organization's lets in a test: its operations called with wire values, as a request would."""

from typing import Any, ClassVar

import msgspec

from gatewayd.areas.businesses.operations import archive_business, create_business, set_status, update_business
from gatewayd.areas.businesses.shapes import ArchiveBusiness, CreateBusiness, SetStatus, UpdateBusiness
from gatewayd.areas.landlord import AREA
from gatewayd.areas.landlord.register.tenancies import TENANCIES
from gatewayd.areas.landlord.register.tenancy_shapes import RentStep
from gatewayd.areas.landlord.tenancies import rows as tenancies
from gatewayd.contract.decoding import RequestDecoder
from gatewayd.contract.operation import Operation
from gatewayd.store import WriteTx
from tests.areas.accounting.books import Books, Json

OPERATIONS: dict[str, Operation] = {operation.id.partition(".")[2]: operation for operation in AREA.operations}
TENANCY: dict[str, Any] = {
    "tenant_ids": [],
    "tenant_spans": [],
    "notice_grounds": [],
    "type": "assured_periodic",
    "start_date": "2026-01-01",
    "rent_frequency": "monthly",
    "rent_due_day": 1,
    "bills_included": False,
    "currency": "GBP",
    "rent_history": [RentStep(from_date="2026-01-01", amount="900.00", notice=None)],
}


class Lettings(Books):
    """An organization that lets."""

    operations: ClassVar = OPERATIONS
    decoders: ClassVar = {name: RequestDecoder(operation) for name, operation in OPERATIONS.items()}

    def lets(self, entity_id: str | None = None, kind: str = "uk_property", **fields: object) -> str:
        """A business that lets, of a person of its own unless `entity_id` says whose."""
        owner = entity_id or self.unregistered_entity(type="individual")
        body = {"legalEntityId": owner, "type": kind, "name": "Lets", **fields}
        request = msgspec.convert(body, CreateBusiness)
        return self.store.write(lambda tx: create_business(tx, self.caller, request), self.org_id).id

    def archive_business(self, business_id: str) -> None:
        request = ArchiveBusiness(id=business_id, force=True)
        self.store.write(lambda tx: archive_business(tx, self.caller, request), self.org_id)

    def change_business(self, business_id: str, **fields: object) -> None:
        request = msgspec.convert({"id": business_id, **fields}, UpdateBusiness)
        self.store.write(lambda tx: update_business(tx, self.caller, request), self.org_id)

    def move_business(self, business_id: str, status: str, **fields: object) -> None:
        request = msgspec.convert({"id": business_id, "status": status, **fields}, SetStatus)
        self.store.write(lambda tx: set_status(tx, self.caller, request), self.org_id)

    def property(self, business_id: str | None = None, **fields: object) -> Json:
        body = {"businessId": business_id or self.lets(), "name": "12 Oak Street", "type": "house", **fields}
        return self.post("createProperty", **body)

    def unit(self, property_id: str, name: str = "Flat 1", **fields: object) -> Json:
        return self.post("createPropertyUnit", propertyId=property_id, name=name, **fields)

    def valuation(self, property_id: str, date: str, amount: str, **fields: object) -> Json:
        body = {"valuationDate": date, "amount": amount, "method": "agent", **fields}
        return self.post("createPropertyValuation", propertyId=property_id, **body)

    def tenancy(self, property_id: str, unit_id: str | None = None, **values: object) -> str:
        """A tenancy as it is stored, from January on but for what `values` say."""
        given = {**TENANCY, "property_id": property_id, "unit_id": unit_id, **values}

        def insert(tx: WriteTx) -> str:
            return tenancies.insert(tx, TENANCIES.new(tx, None, **given)).id

        return self.store.write(insert, self.org_id)
