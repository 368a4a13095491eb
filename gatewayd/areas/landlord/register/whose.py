"""Whose what belongs to properties is: a business's, or a legal entity's, as filters of lists.

Rows bear their property alone, which stays with its business, as that does with its legal entity. They are found from
the properties on, so that a page costs what that business has, however many others the organization has.
"""

from typing import Final, NamedTuple, Protocol


class _Asking(Protocol):
    """A request of a list with both filters."""

    @property
    def business_id(self) -> str | None: ...
    @property
    def legal_entity_id(self) -> str | None: ...


class Whose(NamedTuple):
    """The conditions on the rows of a table. Each ends with the one parameter that it names, and a bracket."""

    of_business: str
    of_legal_entity: str

    def filters(self, request: _Asking) -> dict[str, object]:
        """Each condition with what is asked for; None: it is not."""
        return {self.of_business: request.business_id, self.of_legal_entity: request.legal_entity_id}


_OF_PROPERTY = "{table} o WHERE o.org_id = :org_id AND o.property_id = p.id AND p.org_id = :org_id"
_OF_BUSINESS = "p.business_id = :business_id"
_OF_LEGAL_ENTITY = "p.business_id = b.id AND b.org_id = :org_id AND b.legal_entity_id = :legal_entity_id"


def by_property(table: str) -> Whose:
    """The conditions on a table with `property_id`. CROSS: SQLite starts from the properties."""
    rows = _OF_PROPERTY.format(table=table)
    return Whose(
        f"id IN (SELECT o.id FROM properties p CROSS JOIN {rows} AND {_OF_BUSINESS})",
        f"id IN (SELECT o.id FROM businesses b CROSS JOIN properties p CROSS JOIN {rows} AND {_OF_LEGAL_ENTITY})",
    )


PROPERTIES_OF_LEGAL_ENTITY: Final = (
    f"id IN (SELECT p.id FROM businesses b CROSS JOIN properties p WHERE p.org_id = :org_id AND {_OF_LEGAL_ENTITY})"
)
"""The condition on the table of properties itself."""
