"""Which certificates the law asks for, by what is let and where (Domain B4). Pure.

Chosen: what is good practice alone is never missing, nor what a tenancy is asked for: its deposit and the right to
rent of its tenants are told of where they stand, and nobody issues anything for a smoke alarm that was tried. Whether
an exemption of a poor EPC is needed depends on what the owner wants to do about it. The PRS database is not open yet.
"""

from collections.abc import Iterator
from typing import Final, NamedTuple

from gatewayd.areas.landlord.properties.shapes import Jurisdiction, Licensing, PropertyStatus, PropertyType, Use
from gatewayd.ledger.certificate_shapes import CertificateType

_UNITED_KINGDOM: Final[tuple[Jurisdiction, ...]] = ("england", "wales", "scotland", "northern_ireland")
_HOMES: Final[tuple[Use, ...]] = ("residential_let", "mixed")
# Chosen: lodgers and guests are protected from gas, and live in nobody's let home (SI 1998/2451 reg 2; SI 2020/312).
_SLEPT_IN: Final[tuple[Use, ...]] = (*_HOMES, "holiday_let", "rent_a_room")
_LET: Final[tuple[Use, ...]] = (*_HOMES, "commercial_let")

KEPT: Final[tuple[PropertyStatus, ...]] = ("active", "under_offer")
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
