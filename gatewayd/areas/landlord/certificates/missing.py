"""The certificates that the law asks for and nobody has (Domain B4): found in one statement, stored nowhere.

The statement joins properties with the table of requirements, and says with it what `required` says. It looks at those
that `may_lack` one, which is kept with each change of a property, its units and its certificates. No day makes that
untrue, for nothing is issued on a day to come. On a day of the past those for which something was issued since may have
lacked it too.

Chosen: what is good practice alone is never missing, nor what a tenancy is asked for: its deposit and the right to
rent of its tenants are told of where they stand, and nobody issues anything for a smoke alarm that was tried. Whether
an exemption of a poor EPC is needed depends on what the owner wants to do about it. The PRS database is not open yet.
"""

import itertools
from collections.abc import Iterator, Sequence
from operator import attrgetter
from typing import Any, Final, NamedTuple

from gatewayd.areas.landlord.register import properties
from gatewayd.areas.landlord.register.properties import KEPT, Jurisdiction, Licensing, PropertyStatus, PropertyType, Use
from gatewayd.ledger.certificate_shapes import Certificate, CertificateType
from gatewayd.store import ReadTx, WriteTx

_UNITED_KINGDOM: Final[tuple[Jurisdiction, ...]] = ("england", "wales", "scotland", "northern_ireland")
_HOMES: Final[tuple[Use, ...]] = ("residential_let", "mixed")
# Chosen: lodgers and guests are protected from gas, and live in nobody's let home (SI 1998/2451 reg 2; SI 2020/312).
_SLEPT_IN: Final[tuple[Use, ...]] = (*_HOMES, "holiday_let", "rent_a_room")
_LET: Final[tuple[Use, ...]] = (*_HOMES, "commercial_let")

NO_BUILDINGS: Final[tuple[PropertyType, ...]] = ("land", "garage")


class Requirement(NamedTuple):
    """A type that is asked for in some places and uses.

    `licensing` None: whatever the licensing is. `gas`: where there may be gas. `each_flat`: a property that is divided
    into flats needs one for each of them, unless it has one for the whole.
    """

    type: CertificateType
    jurisdictions: tuple[Jurisdiction, ...]
    uses: tuple[Use, ...]
    licensing: Licensing | None = None
    gas: bool = False
    each_flat: bool = False


# Chosen: today's law is asked of any day. The last to come was that on wiring in Northern Ireland, on 1 December 2025.
REQUIREMENTS: Final = (
    Requirement("gas_safety", _UNITED_KINGDOM, _SLEPT_IN, gas=True, each_flat=True),
    Requirement("eicr", _UNITED_KINGDOM, _HOMES, each_flat=True),
    Requirement("epc", _UNITED_KINGDOM, _LET, each_flat=True),
    Requirement("hmo_licence", _UNITED_KINGDOM, _SLEPT_IN, licensing="mandatory_hmo"),
    Requirement("additional_licence", _UNITED_KINGDOM, _SLEPT_IN, licensing="additional_hmo"),
    Requirement("selective_licence", _UNITED_KINGDOM, _SLEPT_IN, licensing="selective"),
    Requirement("landlord_registration", ("scotland", "northern_ireland"), _HOMES),
    Requirement("rent_smart_wales", ("wales",), _HOMES),
)


class Lacking(NamedTuple):
    """A property that lacks a certificate, or a flat of it; `unit_id` empty: the whole property."""

    property_id: str
    type: CertificateType
    unit_id: str
    currency: str


def _texts(values: Sequence[str]) -> str:
    return ", ".join(f"'{value}'" for value in values)


def _asks(rule: Requirement) -> str:
    """When a rule `r` asks something of a property `p`."""
    return "".join(
        (
            f"r.type = '{rule.type}' AND p.jurisdiction IN ({_texts(rule.jurisdictions)})",
            f" AND p.use IN ({_texts(rule.uses)})",
            "" if rule.licensing is None else f" AND p.licensing = '{rule.licensing}'",
            " AND coalesce(p.gas_supply, 1) = 1" if rule.gas else "",
        )
    )


_RULES: Final = " UNION ALL ".join(
    f"SELECT '{rule.type}' AS type, {int(rule.each_flat)} AS each_flat" for rule in REQUIREMENTS
)
KEPT_PROPERTY: Final = f"p.status IN ({_texts(KEPT)})"
"""Of the properties `p`, those that are still the owner's business."""
# coalesce: an index of the days goes before none of the property's, and no day is null
_LACKING = f"""
FROM properties p CROSS JOIN ({_RULES}) r
LEFT JOIN property_units u ON r.each_flat = 1 AND u.org_id = p.org_id AND u.property_id = p.id AND u.type = 'flat'
    AND u.archived_at IS NULL
WHERE p.org_id = :org_id AND {KEPT_PROPERTY} AND p.type NOT IN ({_texts(NO_BUILDINGS)})
    AND ({" OR ".join(map(_asks, REQUIREMENTS))})
    AND NOT EXISTS (
        SELECT 1 FROM certificates c
        WHERE c.org_id = p.org_id AND c.property_id = p.id AND c.type = r.type AND coalesce(c.issued_date, '') <= :day
            AND (u.id IS NULL OR c.unit_id IS NULL OR c.unit_id = u.id)
    )
"""
_NOTED = "p.may_lack = 1"
_NOTED_THEN = f"""({_NOTED} OR p.id IN (
        SELECT l.property_id FROM certificates l WHERE l.org_id = :org_id AND l.issued_date > :day
    ))"""
_OF_WHOM = """(CAST(:business_id AS TEXT) IS NULL OR p.business_id = :business_id)
    AND (CAST(:legal_entity_id AS TEXT) IS NULL OR p.business_id IN (
        SELECT b.id FROM businesses b WHERE b.org_id = :org_id AND b.legal_entity_id = :legal_entity_id
    ))"""
_SELECT_ANY = f"SELECT 1 {_LACKING} AND p.id = :property_id LIMIT 1"
_SELECT_BEHIND = f"""
SELECT p.id, r.type, coalesce(u.id, ''), p.currency {_LACKING} AND {_NOTED} AND p.id >= :after
    AND (CAST(:property_id AS TEXT) IS NULL OR p.id = :property_id)
    AND (CAST(:unit_id AS TEXT) IS NULL OR u.id = :unit_id)
    AND {_OF_WHOM}
ORDER BY p.id
"""
_SELECT_COUNT = f"SELECT count(1) {_LACKING} AND {_OF_WHOM} AND {_NOTED}"
_SELECT_COUNT_THEN = f"SELECT count(1) {_LACKING} AND {_OF_WHOM} AND {_NOTED_THEN}"


class MissingFilter(NamedTuple):
    """Whose missing certificates are asked for. None: of every property, of flats and whole ones, of any business and
    legal entity, of any type."""

    property_id: str | None = None
    unit_id: str | None = None
    business_id: str | None = None
    legal_entity_id: str | None = None
    types: frozenset[CertificateType] | None = None


def behind(tx: ReadTx, wanted: MissingFilter, key: tuple[str, str, str]) -> Iterator[Lacking]:
    """What is missing today behind a key of property, type and unit, in this order, as far as anybody reads."""
    whose = {name: value for name, value in wanted._asdict().items() if name != "types"}
    found = tx.each(_SELECT_BEHIND, day=tx.today, after=key[0], **whose)
    for _, of_property in itertools.groupby((Lacking(*row) for row in found), attrgetter("property_id")):
        for lacking in sorted(of_property):
            if lacking[:3] > key and (wanted.types is None or lacking.type in wanted.types):
                yield lacking


def note(tx: WriteTx, property_id: str) -> None:
    """Keep true whether a property may lack a certificate, where it, a unit or a certificate of it has changed."""
    lacks = tx.row(_SELECT_ANY, property_id=property_id, day=tx.today) is not None
    properties.note_lacking(tx, property_id, may_lack=lacks)


def count_of(tx: ReadTx, business_id: str | None, legal_entity_id: str | None, day: str) -> int:
    """How many are missing on an ISO date, of a business, of a legal entity, or of all with neither."""
    select = _SELECT_COUNT if day >= tx.today else _SELECT_COUNT_THEN
    count: int = tx.value(select, business_id=business_id, legal_entity_id=legal_entity_id, day=day)
    return count


def shown(lacking: Lacking) -> Certificate:
    """What is missing, in the shape of what is there."""
    every: dict[str, Any] = dict.fromkeys(Certificate.__struct_fields__)
    every |= {"property_id": lacking.property_id, "unit_id": lacking.unit_id or None, "type": lacking.type}
    every |= {"status": "missing", "currency": lacking.currency}
    return Certificate(**every)


class Facts(NamedTuple):
    """What of a property says what it needs. `gas_supply` None: nobody said.

    Chosen: where nobody said that there is no gas, there may be: silence about what kills is no all-clear.
    """

    status: PropertyStatus
    type: PropertyType
    use: Use
    jurisdiction: Jurisdiction
    licensing: Licensing
    gas_supply: bool | None


def required(facts: Facts) -> Iterator[Requirement]:
    """What the law asks for: nothing of what is sold, archived, not let, or no building."""
    if facts.status not in KEPT or facts.type in NO_BUILDINGS:
        return
    for requirement in REQUIREMENTS:
        if (
            facts.jurisdiction in requirement.jurisdictions
            and facts.use in requirement.uses
            and requirement.licensing in (None, facts.licensing)
            and not (requirement.gas and facts.gas_supply is False)
        ):
            yield requirement
