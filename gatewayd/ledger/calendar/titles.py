"""What people call each kind of deadline, where nobody has given it a name."""

from collections.abc import Mapping
from typing import Final

from gatewayd.ledger.calendar.forecast import ObligationKind

TITLES: Final[Mapping[ObligationKind, str]] = {
    "vat_return": "VAT return",
    "vat_payment": "VAT payment",
    "itsa_quarterly_update": "Quarterly update for Income Tax",
    "itsa_final_declaration": "Final declaration for Income Tax",
    "self_assessment_payment": "Self Assessment payment",
    "payment_on_account": "Payment on account",
    "corporation_tax_return": "Company tax return",
    "corporation_tax_payment": "Corporation Tax payment",
    "annual_accounts": "Annual accounts",
    "confirmation_statement": "Confirmation statement",
    "cgt_property_report": "Capital Gains Tax on property",
    "paye": "PAYE",
    "cis_return": "CIS return",
    "certificate_renewal": "Certificate renewal",
    "custom": "Deadline",
}
