"""The rules that the fields of a property follow, and whose it was when (Domain B4). Pure.

Owners with the same first day are its owners from that day on, in the place of all before them; those without one are
its owners up to the first such day.
"""

from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Final

from msgspec.structs import replace

from gatewayd.areas.landlord.properties.shapes import PropertyAddressRequest
from gatewayd.areas.landlord.register.properties import Jurisdiction, PropertyOwner, StoredProperty
from gatewayd.errors import FieldError
from gatewayd.ledger.references import unknown_reference
from gatewayd.ledger.results.owner_shares import Step
from gatewayd.ledger.taxpayers.businesses import Business
from gatewayd.money import canonical

HOLDING: Final = frozenset({"uk_property", "foreign_property", "company_trade"})
"""The types of business that have properties."""
_WHOLE: Final = 100  # percent
_NOT_NEGATIVE: Final = {
    "ground_rent_annual": "groundRentAnnual",
    "service_charge_annual": "serviceChargeAnnual",
    "purchase_price": "purchasePrice",
    "acquisition_costs": "acquisitionCosts",
    "improvement_costs": "improvementCosts",
    "disposal_proceeds": "disposalProceeds",
    "disposal_costs": "disposalCosts",
}
_EARLIEST = "1900-01-01"


def business_mistakes(business: Business | None) -> Iterator[FieldError]:
    """What is wrong with the business of a new property; None: there is no such one."""
    if business is None:
        yield unknown_reference("businessId", "business")
    elif business.type not in HOLDING:
        kind = business.type.replace("_", " ")
        message = f"A property belongs to a property business or to the trade of a company, and not to a {kind}."
        yield FieldError("businessId", "conflict", message)
    elif business.archived:
        yield FieldError("businessId", "conflict", "The business is archived: bring it back first, or choose another.")
    elif not business.is_live:
        message = "The business has ceased: choose another, or make it active with `businesses.setStatus`."
        yield FieldError("businessId", "conflict", message)


def default_jurisdiction(business: Business | None, address: PropertyAddressRequest | None) -> Jurisdiction:
    """Where a property lies by default: abroad where its business or its address is, else in England."""
    abroad = business is not None and business.type == "foreign_property"
    return "other" if abroad or (address is not None and address.country_code != "GB") else "england"


def owner_mistakes(owners: Sequence[PropertyOwner], path: str) -> Iterator[FieldError]:
    """What is wrong with the owners by themselves; `path` is the field that names them."""
    for index, owner in enumerate(owners):
        where = f"{path}[{index}]"
        if owner.legal_entity_id is None and owner.name is None:
            yield FieldError(f"{where}.legalEntityId", "required", "Who owns it? Give a legal entity or a name.")
        if owner.legal_entity_id is not None and owner.name is not None:
            yield FieldError(f"{where}.name", "conflict", "Give a legal entity or a name, not both.")
        if not 0 < Decimal(owner.share_percent) <= _WHOLE:
            yield FieldError(f"{where}.sharePercent", "out_of_range", "Expected a percentage above 0, at most 100.")


def share_mistakes(owners: Sequence[PropertyOwner], legal_entity_id: str, path: str) -> Iterator[FieldError]:
    """What is wrong with their shares together, where the property is of a business of that legal entity."""
    total = _total_share(owners)
    if total > _WHOLE:
        yield FieldError(path, "share_total", f"The shares come to {canonical(f'{total:f}')} %: expected 100 at most.")
    elif total == _WHOLE and all(owner.legal_entity_id != legal_entity_id for owner in owners):
        message = "The others own all of it: nothing is left for the legal entity of the business."
        yield FieldError(path, "conflict", message)


def own_share(owners: Sequence[PropertyOwner], legal_entity_id: str) -> str | None:
    """The percentage of the legal entity, a canonical decimal; None: nobody named owners.

    Chosen: where others alone are named the rest is the entity's; where it is named too, its own entries are all that
    it has.
    """
    if not owners:
        return None
    own = [owner for owner in owners if owner.legal_entity_id == legal_entity_id]
    share = _total_share(own) if own else _WHOLE - _total_share(owners)
    return canonical(f"{share:f}")


def mistakes(row: StoredProperty, today: str) -> Iterator[FieldError]:
    """What is wrong with amounts, area and dates. `today` is ISO."""
    for name, path in _NOT_NEGATIVE.items():
        amount = getattr(row, name)
        if amount is not None and amount.minor < 0:
            yield FieldError(path, "out_of_range", "Expected 0 or more.")
    if row.area_sqm is not None and Decimal(row.area_sqm) <= 0:
        yield FieldError("areaSqm", "out_of_range", "Expected more than 0.")
    yield from _disposal_mistakes(row, today)


def _disposal_mistakes(row: StoredProperty, today: str) -> Iterator[FieldError]:
    """Chosen: a sale that is agreed may have its day before it has come, but is `under_offer` until then."""
    if row.disposal_date is None:
        if row.status == "sold":
            yield FieldError("disposalDate", "required", "This field is required of what is sold: when was it?")
    elif row.status == "sold" and row.disposal_date > today:
        yield FieldError("disposalDate", "out_of_range", "The day is still to come: until then it is under_offer.")
    elif row.acquisition_date is not None and row.disposal_date < row.acquisition_date:
        message = f"The property was acquired on {row.acquisition_date}: expected that day or a later one."
        yield FieldError("disposalDate", "date_order", message)


def foreign_id_mistakes(row: StoredProperty, business: Business) -> Iterator[FieldError]:
    """What is wrong with `foreignPropertyId`: HMRC gives one to each property abroad, and to no other."""
    if row.foreign_property_id is not None and business.type != "foreign_property":
        message = "Only a property of a foreign_property business has one: leave this out."
        yield FieldError("foreignPropertyId", "conflict", message)


def _total_share(owners: Sequence[PropertyOwner]) -> Decimal:
    return sum((Decimal(owner.share_percent) for owner in owners), Decimal(0))


def merged_owners(before: Sequence[PropertyOwner], after: Sequence[PropertyOwner]) -> list[PropertyOwner]:
    """The owners after a change: where all new ones have a first day, those of earlier days stay."""
    first = min((_first_day(owner) for owner in after), default="")
    kept = [owner for owner in before if _first_day(owner) < first]
    owners = [replace(owner, share_percent=canonical(owner.share_percent)) for owner in after]
    return sorted([*kept, *owners], key=_first_day)


def share_steps(owners: Sequence[PropertyOwner], legal_entity_id: str) -> list[Step]:
    """The share of the legal entity of the business from each day on, oldest first; None: as the business says."""
    return [Step(day, own_share(those, legal_entity_id)) for day, those in _owners_by_day(owners)]


def ownership_mistakes(
    owners: Sequence[PropertyOwner], legal_entity_id: str, path: str, today: str
) -> Iterator[FieldError]:
    """What is wrong with the owners of each day together, and with the days."""
    for _, those in _owners_by_day(owners):
        yield from share_mistakes(those, legal_entity_id, path)
    for day in sorted({_first_day(owner) for owner in owners} - {""}):
        if not _EARLIEST <= day <= today:
            message = f"Give a day from {_EARLIEST} to {today}: who will own it is entered when they do."
            yield FieldError(path, "out_of_range", message)


def _owners_by_day(owners: Sequence[PropertyOwner]) -> list[tuple[str, list[PropertyOwner]]]:
    days = sorted({"", *map(_first_day, owners)})
    return [(day, [owner for owner in owners if _first_day(owner) == day]) for day in days]


def _first_day(owner: PropertyOwner) -> str:
    """The first day as an owner; empty: from the first on."""
    return "" if owner.from_date is None else owner.from_date.isoformat()
