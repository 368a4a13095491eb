"""Homes that may not be let for their energy performance (Domain B4). Reads the table `certificates`.

In England and Wales a home whose EPC says F or G is not let, unless an exemption is registered (SI 2015/962 reg 23 and
25): since 1 April 2018 no new tenancy, since 1 April 2020 none at all. It is told, and refuses nothing.
"""

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from gatewayd.areas.landlord.register import tenancy_states
from gatewayd.areas.landlord.register.tenancy_shapes import TenancyRow, TenancyType
from gatewayd.areas.landlord.tenancies.shapes import TenancyWarning
from gatewayd.store import ReadTx

# Chosen: of tenancies that are domestic by the regulations (reg 19). Lodgers, guests and companies have others
_DOMESTIC: Final = frozenset[TenancyType]({"assured_periodic", "assured_shorthold", "occupation_contract", "regulated"})
_NATIONS: Final = "(p.jurisdiction = 'england' OR p.jurisdiction = 'wales')"
_POOR: Final = frozenset({"F", "G"})
TOLD_BY: Final = frozenset({"epc", "mees_exemption"})
"""The types of the certificates from which the warning follows."""
_VALID: Final = "c.superseded_by_id IS NULL AND c.issued_date <= :day AND c.valid_until >= :day"
_SELECT_OF_PROPERTY: Final = f"""
SELECT c.type, c.unit_id, c.rating FROM certificates c
WHERE c.org_id = :org_id AND c.property_id = :property_id AND (c.type = 'epc' OR c.type = 'mees_exemption') AND {_VALID}
    AND EXISTS (SELECT 1 FROM properties p WHERE p.org_id = :org_id AND p.id = :property_id AND {_NATIONS})
"""
_SELECT_POOR: Final = f"""
SELECT DISTINCT c.property_id FROM certificates c
WHERE c.org_id = :org_id AND c.type = 'epc' AND (c.rating = 'F' OR c.rating = 'G') AND {_VALID}
"""
_SELECT_LETS: Final = """
SELECT property_id, unit_id, type FROM tenancies
WHERE org_id = :org_id AND property_id = :property_id AND cancelled_at IS NULL AND start_date <= :day
    AND (last_day IS NULL OR last_day >= :day)
"""


class _Certificate(NamedTuple):
    """One that holds on a day. `unit_id` None: of the whole property."""

    type: str
    unit_id: str | None
    rating: str | None


def warnings(tx: ReadTx, row: TenancyRow) -> Iterator[TenancyWarning]:
    """What there is to say of the energy performance of what a tenancy has, as long as it has not ended."""
    if row.cancelled_at is not None or tenancy_states.status_of(row, tx.today) == "ended" or row.type not in _DOMESTIC:
        return
    rating = _poor_rating(tx, row.property_id, row.unit_id, tx.today)
    if rating is not None:
        message = (
            f"The EPC says {rating}, and a home below E is not let in England and Wales unless an exemption is"
            " registered: enter that as a certificate `mees_exemption`, with its reference and expiryDate."
        )
        yield TenancyWarning(code="epc_below_minimum", message=message)


def count_below(tx: ReadTx, property_ids: Iterable[str], day: str) -> int:
    """How many tenancies of properties have a home on an ISO date that may not be let for its EPC."""
    poor = {row[0] for row in tx.rows(_SELECT_POOR, day=day)}
    lets = [row for id_ in poor.intersection(property_ids) for row in tx.rows(_SELECT_LETS, property_id=id_, day=day)]
    return sum(type_ in _DOMESTIC and _poor_rating(tx, of, unit_id, day) is not None for of, unit_id, type_ in lets)


def _poor_rating(tx: ReadTx, property_id: str, unit_id: str | None, day: str) -> str | None:
    """The poorest rating that counts, F or G; None: there is none, or an exemption from it.

    Chosen: a unit has its own EPC, else that of the whole; a tenancy of the whole property has those of its units too.
    """
    certificates = [_Certificate(*row) for row in tx.rows(_SELECT_OF_PROPERTY, property_id=property_id, day=day)]
    exempt = {certificate.unit_id for certificate in certificates if certificate.type == "mees_exemption"}
    epcs = [certificate for certificate in certificates if certificate.type == "epc"]
    if unit_id is not None:
        own = [epc for epc in epcs if epc.unit_id == unit_id]
        epcs = own or [epc for epc in epcs if epc.unit_id is None]
    if None in exempt or (unit_id is not None and unit_id in exempt):
        return None
    return max((epc.rating for epc in epcs if epc.rating in _POOR and epc.unit_id not in exempt), default=None)
