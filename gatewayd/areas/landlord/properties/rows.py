"""Properties as they are shown, and what follows from their sale: the report of Capital Gains Tax (Domain B9, F.9).

What a property is worth is the latest valuation's, and without owners of its own its business says whose share it is:
both are looked up when it is read, so that neither can be out of date.
"""

from typing import Final

from gatewayd.areas.landlord.properties.shapes import Property
from gatewayd.areas.landlord.register.properties import PROPERTIES, StoredProperty, Use
from gatewayd.clock import days_after
from gatewayd.contract.wire import project
from gatewayd.errors import not_found
from gatewayd.ledger.obligations import resource_obligations
from gatewayd.ledger.obligations.resource_obligations import Following
from gatewayd.ledger.taxpayers import businesses, owners
from gatewayd.ledger.taxpayers.owners import Owner
from gatewayd.money import Money
from gatewayd.store import ReadTx, Row, WriteTx

REPORT_DAYS: Final = 60
"""Days after completion, for completions since `REPORTED_FROM` (Domain B9)."""
REPORTED_FROM: Final = "2021-10-27"
_NO_HOMES: Final[frozenset[Use]] = frozenset({"commercial_let"})
_COUNTRIES: Final = frozenset({"england", "wales", "scotland", "northern_ireland"})

_LATEST = """(
    SELECT v.{column} FROM property_valuations v
    WHERE v.org_id = properties.org_id AND v.property_id = properties.id AND v.valuation_date <= :today
    ORDER BY v.valuation_date DESC, v.id DESC LIMIT 1
)"""
_BUSINESS_SHARE = """(
    SELECT b.owner_share_percent FROM businesses b
    WHERE b.org_id = properties.org_id AND b.id = properties.business_id
)"""
SELECT_SHOWN = f"""
SELECT {PROPERTIES.sql}, coalesce(owner_share_percent, {_BUSINESS_SHARE}), {_LATEST.format(column="valuation_date")},
    {_LATEST.format(column="amount")}
FROM properties WHERE org_id = :org_id
"""
_SELECT_ONE = f"{SELECT_SHOWN} AND id = :id"


def shown(values: Row) -> Property:
    """The property of a row of `SELECT_SHOWN`."""
    *stored, share, value_date, value = values
    row = PROPERTIES.load(tuple(stored))
    return project(
        row,
        Property,
        owner_share_percent=share,
        current_value=None if value is None else Money(value, row.currency),
        current_value_date=value_date,
    )


def get_shown(tx: ReadTx, property_id: str) -> Property:
    """The property as it is today, archived or not. Raises `Problem` `not_found`."""
    values = tx.row(_SELECT_ONE, id=property_id, today=tx.today)
    if values is None:
        raise not_found(PROPERTIES.kind)
    return shown(values)


def settle_disposal(tx: WriteTx, of: StoredProperty) -> None:
    """Settle what follows from a property being sold.

    Chosen: it is expected of every home that a person sells, since nobody here knows whether tax is due; who needs no
    report dismisses it.
    """
    business = businesses.find(tx, of.business_id)
    assert business is not None, "a foreign key"
    owner = owners.find(tx, business.legal_entity_id)
    sold = of.disposal_date if of.status == "sold" and of.jurisdiction in _COUNTRIES else None
    following = None
    if sold is not None and sold >= REPORTED_FROM and of.use not in _NO_HOMES and not _is_company(owner):
        following = Following(
            kind="cgt_property_report",
            name=f"Capital Gains Tax on {of.name}",
            legal_entity_id=business.legal_entity_id,
            business_id=business.id,
            start=sold,
            end=sold,
            due=days_after(sold, REPORT_DAYS),
        )
    resource_obligations.settle(tx, of.id, following)


def _is_company(owner: Owner | None) -> bool:
    return owner is not None and owner.is_incorporated
