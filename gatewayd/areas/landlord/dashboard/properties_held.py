"""The properties that a dashboard is about, and what they are worth on a day (Domain C3). Reads only.

Selected are the columns that count, of all properties at once: a portfolio may have thousands.
"""

from collections import defaultdict
from collections.abc import Sequence
from decimal import Decimal
from typing import NamedTuple

from gatewayd.ledger.results import owner_shares
from gatewayd.money import half_up
from gatewayd.store import ReadTx

_SELECT_PROPERTIES = """
SELECT p.id, p.business_id, p.currency, b.owner_share_percent, p.purchase_price,
    (SELECT v.amount FROM property_valuations v
        WHERE v.org_id = p.org_id AND v.property_id = p.id AND v.valuation_date <= :day
        ORDER BY v.valuation_date DESC, v.id DESC LIMIT 1)
FROM properties p
JOIN businesses b ON b.org_id = p.org_id AND b.id = p.business_id
WHERE p.org_id = :org_id AND p.archived_at IS NULL
    AND (p.acquisition_date IS NULL OR p.acquisition_date <= :day)
    AND (p.disposal_date IS NULL OR p.disposal_date > :day)
    AND (CAST(:business_id AS TEXT) IS NULL OR p.business_id = :business_id)
    AND (CAST(:legal_entity_id AS TEXT) IS NULL OR b.legal_entity_id = :legal_entity_id)
ORDER BY p.id
"""
_WHOLE = "100"  # as of most


class Scope(NamedTuple):
    """Whose properties, on which ISO day; both None: all of the organization's."""

    business_id: str | None
    legal_entity_id: str | None
    day: str


class HeldProperty(NamedTuple):
    """A property that is held on a day, and the owner's share of it.

    Amounts are minor units of `currency`; None: nobody said.
    """

    id: str
    business_id: str
    currency: str
    share_percent: str
    purchase_price: int | None
    valuation: int | None

    @property
    def value(self) -> int | None:
        """The owner's share of the latest valuation, else of the price that was paid."""
        full_value = self.valuation if self.valuation is not None else self.purchase_price
        return None if full_value is None else share_of(full_value, self.share_percent)


class Worth(NamedTuple):
    """What properties come to, how many of them are valued at cost, and how many not at all."""

    value: int
    at_cost: int
    unvalued: int


def read(tx: ReadTx, scope: Scope, *, by_share: bool) -> list[HeldProperty]:
    """The properties of a scope that were acquired by its day, are not sold by it, and are not archived.

    `by_share`: of each counts what the legal entity of its business owns that day; else all of it.
    """
    held = [HeldProperty(*row) for row in tx.rows(_SELECT_PROPERTIES, **scope._asdict())]
    if not by_share:
        return [property_._replace(share_percent=_WHOLE) for property_ in held]
    of_business: dict[tuple[str, str], list[str]] = defaultdict(list)
    for property_ in held:
        of_business[property_.business_id, property_.share_percent].append(property_.id)
    shares = {
        id_: its.on(scope.day)
        for (business_id, percent), ids in of_business.items()
        for id_, its in owner_shares.of_properties(tx, business_id, percent, ids).items()
    }
    return [property_._replace(share_percent=shares[property_.id]) for property_ in held]


def worth(held: Sequence[HeldProperty]) -> Worth:
    """What properties of one currency come to."""
    values = [property_.value for property_ in held]
    return Worth(
        sum(value for value in values if value is not None),
        sum(property_.valuation is None and property_.purchase_price is not None for property_ in held),
        values.count(None),
    )


def share_of(amount: int, percent: str) -> int:
    """A percentage of an amount, half up."""
    if percent == _WHOLE:
        return amount
    numerator, denominator = Decimal(percent).as_integer_ratio()
    return half_up(amount * numerator, denominator * 100)
