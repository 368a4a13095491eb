"""Legal entities: the persons, companies and partnerships that an organization keeps books for (Spec §4)."""

from gatewayd.areas.legal_entities.operations import OPERATIONS
from gatewayd.contract.operation import Area

AREA = Area("legalEntity", "Legal entities", OPERATIONS)
