"""Books of somebody who lets: tenancies as their operations leave them, and the rent that comes for them."""

from typing import Any, ClassVar, NamedTuple

from gatewayd.areas.businesses.operations import create_business
from gatewayd.areas.businesses.shapes import CreateBusiness
from gatewayd.areas.landlord.register.tenancies import TENANCIES
from gatewayd.areas.landlord.register.tenancy_shapes import RentStep
from gatewayd.areas.landlord.rents import arrears
from gatewayd.areas.landlord.rents.arrears import Owed
from gatewayd.areas.landlord.rents.operations import OPERATIONS
from gatewayd.areas.landlord.tenancies import rows as tenancies
from gatewayd.contract.decoding import RequestDecoder
from gatewayd.ledger.allocating import rents_received
from gatewayd.store import WriteTx
from tests.areas.banking.lines import BankedBooks
from tests.areas.landlord.lets import step, tenancy
from tests.ledger.lets import insert_property, insert_unit
from tests.support.store import MemoryStore

_INSERT_TENANT = """
INSERT INTO tenants (id, org_id, kind, first_name, last_name, company_name, right_to_rent_status, created_at,
    updated_at, version, search_text)
VALUES (:id, :org_id, :kind, :first_name, :last_name, :company_name, 'not_checked', :now, :now, 1, '')
"""
_INSERT_LINK = "INSERT INTO tenancy_tenants (org_id, tenancy_id, tenant_id) VALUES (:org_id, :tenancy_id, :tenant_id)"

_OPERATIONS = {operation.id.partition(".")[2]: operation for operation in OPERATIONS}


class Owes(NamedTuple):
    """A tenancy in arrears, minor units, and the age of the oldest rent that is not paid."""

    tenancy_id: str
    property_id: str
    currency: str
    arrears: int
    days_oldest: int


class RentBooks(BankedBooks):
    """A person with a property business, a house, and an account that names nothing."""

    operations: ClassVar = {**BankedBooks.operations, **_OPERATIONS}
    decoders: ClassVar = {
        **BankedBooks.decoders,
        **{name: RequestDecoder(operation) for name, operation in _OPERATIONS.items()},
    }

    def __init__(self, store: MemoryStore, name: str = "Lets Ltd") -> None:
        super().__init__(store, name)
        self.owner = self.unregistered_entity()
        self.lets = self.business_of("uk_property")
        self.house = self.property()
        self.current = self.account(self.owner)

    def business_of(self, type_: Any) -> str:
        request = CreateBusiness(legal_entity_id=self.owner, type=type_, name="Lets")
        return self.write(lambda tx: create_business(tx, self.caller, request)).id

    def property(self, business_id: str | None = None, **fields: object) -> str:
        return self.write(lambda tx: insert_property(tx, business_id or self.lets, **fields))

    def unit(self, property_id: str | None = None) -> str:
        return self.write(lambda tx: insert_unit(tx, property_id or self.house))

    def let(self, *history: RentStep, **values: object) -> str:
        """A tenancy of the house, monthly on the 1st from its first rent on, but for what `values` say."""
        steps = history or (step("2026-01-01", "950.00"),)
        given = tenancy(*steps, **{"property_id": self.house, **values})
        fields = {name: getattr(given, name) for name in given.__struct_fields__}
        return self.write(lambda tx: tenancies.insert(tx, TENANCIES.new(tx, None, **fields))).id

    def tenant(self, tenancy_id: str, first: str | None, last: str | None, company: str | None = None) -> None:
        """Somebody who lives in a let."""

        def add(tx: WriteTx) -> None:
            id_, kind = tx.new_id("tnt"), "person" if company is None else "company"
            tx.run(_INSERT_TENANT, id=id_, kind=kind, first_name=first, last_name=last, company_name=company)
            tx.run(_INSERT_LINK, tenancy_id=tenancy_id, tenant_id=id_)

        self.write(add)

    def paid(self, tenancy_id: str, amount: str, **fields: object) -> dict[str, Any]:
        """Rent that came in cash; answers its allocation."""
        answer: dict[str, Any] = self.post("recordRent", tenancyId=tenancy_id, amount=amount, **fields)["allocation"]
        return answer

    def owed(self, tenancy_id: str, day: str = "2026-11-20") -> Owed:
        return self.store.read(lambda tx: arrears.of_tenancy(tx, TENANCIES.get(tx, tenancy_id), day), self.org_id)

    def owing(self, day: str = "2026-11-20") -> list[Owes]:
        """Who is in arrears; every sum of rents is checked beside."""
        assert [
            id_ for id_, stale in self.store.read(lambda tx: rents_received.stale(tx, "", 100), self.org_id) if stale
        ] == []
        found = self.store.read(lambda tx: arrears.of_all(tx, day), self.org_id)
        return [Owes(one.tenancy_id, one.property_id, one.currency, one.arrears, one.days_oldest(day)) for one in found]

    def ladder(self, query: str) -> list[tuple[str, str, str, str, int]]:
        """Due date, amount, what is outstanding, status and days late of each rent."""
        rents = self.walk("listRentsDue", query)
        return [(one["dueDate"], one["amount"], one["outstanding"], one["status"], one["daysLate"]) for one in rents]
