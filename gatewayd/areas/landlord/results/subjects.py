"""Which properties an account is of, and how their money is counted. Reads only."""

from collections.abc import Sequence
from typing import NamedTuple

from gatewayd.areas.landlord.results.shapes import GetPropertyPnl
from gatewayd.errors import FieldError, invalid, invalid_field, not_found
from gatewayd.ledger.allocating import lets
from gatewayd.ledger.allocating.lets import LetProperty
from gatewayd.ledger.references import unknown_reference
from gatewayd.ledger.results.allocated_money import Account, Basis
from gatewayd.ledger.taxpayers import businesses, owners
from gatewayd.ledger.taxpayers.businesses import Business
from gatewayd.ledger.taxpayers.owners import Owner
from gatewayd.ledger.vat import vat_standing
from gatewayd.store import ReadTx


class Source(NamedTuple):
    """A business with properties: who owns it, and how its money is counted."""

    business: Business
    owner: Owner
    account: Account


class Subjects(NamedTuple):
    """The properties that are asked for, in the order of the request, and their businesses by id."""

    properties: Sequence[LetProperty]
    sources: dict[str, Source]

    def of(self, source: Source) -> list[LetProperty]:
        """The properties of one of the businesses."""
        return [let for let in self.properties if let.business_id == source.business.id]

    @property
    def first(self) -> Account:
        """How the money of all is counted, as far as all are alike: in one currency and on one basis."""
        return next(iter(self.sources.values())).account


def of_request(tx: ReadTx, request: GetPropertyPnl) -> Subjects:
    """The properties that a request names. Raises `Problem`: `not_found`, `validation_failed`."""
    properties = _properties(tx, request)
    sources: dict[str, Source] = {}
    for let in properties:
        if let.business_id not in sources:
            sources[let.business_id] = source_of(tx, let.business_id, request.basis)
    first, *others = sources.values()
    for other in others:
        if other.account.currency != first.account.currency:
            currencies = f"{first.account.currency} and {other.account.currency}"
            raise invalid_field("propertyIds", "currency_mismatch", f"Their businesses count in {currencies}.")
        if other.account.basis != first.account.basis:
            message = "This field is required, as their businesses keep their books on different bases: on which?"
            raise invalid_field("basis", "required", message)
    return Subjects(properties, sources)


def source_of(tx: ReadTx, business_id: str, basis: Basis | None) -> Source:
    """A business that is there, on a basis; None: on its own."""
    business = businesses.find(tx, business_id)
    assert business is not None  # a foreign key
    owner = owners.find(tx, business.legal_entity_id)
    assert owner is not None
    standing = vat_standing.of_entity(tx, owner.id)
    account = Account(business.id, business.type, business.currency, basis or business.accounting_basis, standing)
    return Source(business, owner, account)


def _properties(tx: ReadTx, request: GetPropertyPnl) -> list[LetProperty]:
    if request.id is not None and request.property_ids is not None:
        raise invalid_field("propertyIds", "conflict", "Give id or propertyIds, not both.")
    if request.id is not None:
        let = lets.find(tx, request.id)
        if let is None:
            raise not_found("property")
        return [let]
    if request.property_ids is None:
        raise invalid_field("id", "required", "Which property? Give id or propertyIds.")
    properties: list[LetProperty] = []
    errors: list[FieldError] = []
    for index, property_id in enumerate(request.property_ids):
        let = lets.find(tx, property_id)
        if let is None:
            errors.append(unknown_reference(f"propertyIds[{index}]", "property"))
        elif let not in properties:
            properties.append(let)
    if errors:
        raise invalid(*errors)
    return properties
