"""One organization's lets in a test: its operations called with wire values, as a request would."""

import datetime
from typing import ClassVar

from gatewayd.areas.businesses.operations import archive_business
from gatewayd.areas.businesses.shapes import ArchiveBusiness
from gatewayd.areas.landlord import AREA
from gatewayd.areas.landlord.register.properties import PROPERTIES
from gatewayd.clock import DAY, london_date
from gatewayd.contract.decoding import RequestDecoder
from gatewayd.contract.operation import Operation
from gatewayd.store import WriteTx
from tests.areas.accounting.books import Books, Json

OPERATIONS: dict[str, Operation] = {operation.id.partition(".")[2]: operation for operation in AREA.operations}

_ADD_UNIT = """
INSERT INTO property_units (id, org_id, property_id, name, name_key, type, currency, archived_at, created_at,
    updated_at, version)
VALUES (:id, :org_id, :property_id, :id, :id, 'flat', 'GBP', :archived_at, :now, :now, 1)
"""


class Landlord(Books):
    """An organization that lets a house in England."""

    operations: ClassVar = OPERATIONS
    decoders: ClassVar = {name: RequestDecoder(operation) for name, operation in OPERATIONS.items()}

    def house(self, **values: object) -> str:
        """A property of a business of its own, as it is stored."""
        business_id = values.pop("business_id", None) or self.business(self.unregistered_entity(type="individual"))

        def add(tx: WriteTx) -> str:
            given = {
                "business_id": business_id,
                "name": "12 Oak Street",
                "jurisdiction": "england",
                "type": "house",
                "use": "residential_let",
                "owners": [],
                "owner_share_percent": "100",
                "currency": "GBP",
                "licensing": "unknown",
                "status": "active",
                **values,
            }
            if given["status"] == "archived":
                given["archived_at"] = tx.now
            return PROPERTIES.insert(tx, PROPERTIES.new(tx, None, **given)).id

        return self.store.write(add, self.org_id)

    def archive_business(self, business_id: str) -> None:
        request = ArchiveBusiness(id=business_id, force=True)
        self.store.write(lambda tx: archive_business(tx, self.caller, request), self.org_id)

    def unit(self, property_id: str, *, archived: bool = False) -> str:
        def add(tx: WriteTx) -> str:
            id_ = tx.new_id("unit")
            tx.run(_ADD_UNIT, id=id_, property_id=property_id, archived_at=tx.now if archived else None)
            return id_

        return self.store.write(add, self.org_id)

    def tenant(self, name: str = "Rosa Hart", **fields: object) -> str:
        return str(self.post("createTenant", **{"kind": "person", "name": name, **fields})["id"])

    def let(self, property_id: str | None = None, **fields: object) -> Json:
        """A tenancy for 950.00 a month from 1 June 2026, of somebody new, but for what `fields` say."""
        body: Json = {
            "propertyId": property_id or self.house(),
            "startDate": "2026-06-01",
            "rentAmount": "950.00",
            "rentFrequency": "monthly",
            **fields,
        }
        if "tenantIds" not in body:
            body["tenantIds"] = [self.tenant()]
        return self.post("createTenancy", **body)

    def change(self, tenancy: Json, /, **fields: object) -> Json:
        return self.post("updateTenancy", id=tenancy["id"], **fields)

    def at(self, day: str) -> None:
        """Move the clock to the same time of another day."""
        today = datetime.date.fromisoformat(london_date(self.store.now()))
        self.store.clock.advance((datetime.date.fromisoformat(day) - today).days * DAY)


def codes(tenancy: Json) -> list[str]:
    """The codes of its warnings."""
    return [warning["code"] for warning in tenancy["warnings"]]
