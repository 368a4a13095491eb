"""Legal entities: the persons, companies and partnerships that an organization keeps books for (Spec §4)."""

from gatewayd.areas.legal_entities import operations, tax_years, vat_years
from gatewayd.contract.operation import Area

AREA = Area("legalEntity", "Legal entities", (*operations.OPERATIONS, *tax_years.OPERATIONS, *vat_years.OPERATIONS))
