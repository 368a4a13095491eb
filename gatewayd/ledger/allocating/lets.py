"""What is let, and where money belongs in it: facts about properties, units, tenancies and mortgages. Reads only."""

from collections.abc import Iterator
from decimal import Decimal
from typing import Any, NamedTuple, Protocol

from gatewayd.ledger.allocating.categories import PROPERTY_TYPES, RESTRICTED, Category
from gatewayd.ledger.taxpayers.owners import Owner
from gatewayd.money import half_up
from gatewayd.store import ReadTx, Row

_FOUND = """
p.id, p.business_id, p.use, p.type, p.jurisdiction, p.currency, coalesce(p.owner_share_percent, b.owner_share_percent),
    p.archived_at IS NOT NULL
FROM properties p JOIN businesses b ON b.org_id = p.org_id AND b.id = p.business_id
"""
_SELECT_ONE = f"SELECT {_FOUND} WHERE p.org_id = :org_id AND p.id = :id"
_SELECT_OF_BUSINESS = f"""
SELECT {_FOUND} WHERE p.org_id = :org_id AND p.business_id = :business_id ORDER BY p.id
"""
_SELECT_UNIT = "SELECT property_id, id FROM property_units WHERE org_id = :org_id AND id = :id"
_SELECT_TENANCY = "SELECT property_id, unit_id FROM tenancies WHERE org_id = :org_id AND id = :id"
_MORTGAGE = "id, property_id, type, currency, business_purpose_percent"
_SELECT_MORTGAGE = f"SELECT {_MORTGAGE} FROM mortgages WHERE org_id = :org_id AND id = :id"
_SELECT_MORTGAGES = (
    f"SELECT {_MORTGAGE} FROM mortgages WHERE org_id = :org_id AND property_id = :property_id ORDER BY id"
)

_HOLIDAY_LETS_RESTRICTED = "2025-04-06"
"""Since when holiday lets are dwellings as others are (Domain C2: the end of furnished holiday lettings)."""
_NO_DWELLINGS = frozenset({"commercial", "land", "garage"})


class LetProperty(NamedTuple):
    """A property of the caller's organization.

    `owner_share_percent`, a decimal, is that of the business's legal entity: its own, or else the business's.
    """

    id: str
    business_id: str
    use: str
    type: str
    jurisdiction: str
    currency: str
    owner_share_percent: str
    archived: bool

    def is_dwelling_on(self, date: str) -> bool:
        """True where the interest on its loans is that of a dwelling on an ISO date.

        Chosen: what is let in part as a dwelling is one, until somebody says which part of a payment is not; what is
        not let at all is what it was built as.
        """
        if self.use == "commercial_let":
            return False
        if self.use == "holiday_let":
            return date >= _HOLIDAY_LETS_RESTRICTED
        return self.use in ("residential_let", "rent_a_room", "mixed") or self.type not in _NO_DWELLINGS

    def restricts_finance_costs(self, owner: Owner, date: str) -> bool:
        """True where interest is relieved at a rate and not deducted: of a dwelling that no company owns."""
        return owner.is_taxed_as_persons and self.is_dwelling_on(date)


class LetMortgage(NamedTuple):
    """A mortgage on a property. `business_purpose_percent`, a decimal, is how much of its interest counts."""

    id: str
    property_id: str
    type: str
    currency: str
    business_purpose_percent: str

    def private_part(self, interest: int) -> int:
        """What of an amount of interest does not count, minor units."""
        numerator, denominator = (Decimal(self.business_purpose_percent) / 100).as_integer_ratio()
        return interest - half_up(interest * numerator, denominator)


class _Named(Protocol):
    """What names parts of what is let: an allocation, or a part of one to be."""

    @property
    def business_id(self) -> str | None: ...
    @property
    def property_id(self) -> str | None: ...
    @property
    def unit_id(self) -> str | None: ...
    @property
    def tenancy_id(self) -> str | None: ...
    @property
    def mortgage_id(self) -> str | None: ...


class Names(NamedTuple):
    """What a request names of what is let."""

    business_id: str | None = None
    property_id: str | None = None
    unit_id: str | None = None
    tenancy_id: str | None = None
    mortgage_id: str | None = None


class _Within(NamedTuple):
    """The property of a unit or a tenancy, and its unit; a tenancy of the whole property has none."""

    property_id: str
    unit_id: str | None


class Place(NamedTuple):
    """What stands around the names of an allocation. None: it names none, or none that exists.

    `property` is what it names, else that of its unit, tenancy or mortgage.
    """

    property: LetProperty | None = None
    unit: _Within | None = None
    tenancy: _Within | None = None
    mortgage: LetMortgage | None = None

    def filled(self, named: _Named) -> dict[str, Any]:
        """The fields of the names that follow from others: property, unit and business."""
        property_id, unit_id, business_id = named.property_id, named.unit_id, named.business_id
        if self.property is not None:
            property_id = property_id or self.property.id
            business_id = business_id or self.property.business_id
        if self.tenancy is not None:
            unit_id = unit_id or self.tenancy.unit_id
        return {"business_id": business_id, "property_id": property_id, "unit_id": unit_id}

    def conflicts(self, named: _Named) -> Iterator[tuple[str, str]]:
        """The fields that do not go together, as requests call them, and what is wrong. Names are `filled`."""
        let, tenancy = self.property, self.tenancy
        if let is not None and named.business_id != let.business_id:
            yield "propertyId", "It is a property of another business."
        inside: tuple[_Within | LetMortgage | None, ...] = (self.unit, tenancy, self.mortgage)
        for name, within in zip(("unitId", "tenancyId", "mortgageId"), inside, strict=True):
            if within is not None and within.property_id != named.property_id:
                yield name, "It is of another property."
        if tenancy is not None and tenancy.unit_id not in (None, named.unit_id):
            yield "tenancyId", "It is a tenancy of another unit."


NOWHERE = Place()


def interest_category(let: LetProperty, business_type: str, owner: Owner, date: str) -> Category:
    """The line of interest on a mortgage of a property, on an ISO date."""
    if business_type not in PROPERTY_TYPES:
        return "interestOnBankOtherLoans"
    return RESTRICTED if let.restricts_finance_costs(owner, date) else "financialCosts"


def find(tx: ReadTx, property_id: str) -> LetProperty | None:
    """The property, archived or not; None where the organization has no such one."""
    row = tx.row(_SELECT_ONE, id=property_id)
    return None if row is None else _property(row)


def of_business(tx: ReadTx, business_id: str) -> list[LetProperty]:
    """The properties of a business, archived or not."""
    return [_property(row) for row in tx.rows(_SELECT_OF_BUSINESS, business_id=business_id)]


def mortgage_of(tx: ReadTx, mortgage_id: str) -> LetMortgage | None:
    """The mortgage; None where the organization has no such one."""
    row = tx.row(_SELECT_MORTGAGE, id=mortgage_id)
    return None if row is None else LetMortgage(*row)


def mortgages_of(tx: ReadTx, property_id: str) -> list[LetMortgage]:
    """The mortgages on a property, redeemed ones too."""
    return [LetMortgage(*row) for row in tx.rows(_SELECT_MORTGAGES, property_id=property_id)]


def place_of(tx: ReadTx, named: _Named) -> Place:
    """What stands around the names of an allocation."""
    if named.property_id is None and named.unit_id is None and named.tenancy_id is None and named.mortgage_id is None:
        return NOWHERE
    unit = _within(tx, _SELECT_UNIT, named.unit_id)
    tenancy = _within(tx, _SELECT_TENANCY, named.tenancy_id)
    mortgage = None if named.mortgage_id is None else mortgage_of(tx, named.mortgage_id)
    inside: tuple[_Within | LetMortgage | None, ...] = (unit, tenancy, mortgage)
    ids = [named.property_id, *(within.property_id for within in inside if within is not None)]
    property_id = next((id_ for id_ in ids if id_ is not None), None)
    return Place(None if property_id is None else find(tx, property_id), unit, tenancy, mortgage)


def _within(tx: ReadTx, select: str, id_: str | None) -> _Within | None:
    row = None if id_ is None else tx.row(select, id=id_)
    return None if row is None else _Within(*row)


def _property(row: Row) -> LetProperty:
    id_, business_id, use, type_, jurisdiction, currency, owner_share_percent, archived = row
    return LetProperty(id_, business_id, use, type_, jurisdiction, currency, owner_share_percent, bool(archived))
