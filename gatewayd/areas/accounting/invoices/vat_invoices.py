"""What a VAT invoice has to print of the parties (VAT Regulations 1995 reg. 14(1)). Pure.

It is one where the seller is registered for VAT on the supply date and sells anything that VAT could be on.
"""

from typing import Final

from gatewayd.areas.accounting.invoices.shapes import InvoiceRow, InvoiceWarning
from gatewayd.errors import invalid_field
from gatewayd.ledger.vat.vat_rates import VatCode

_WITHOUT: Final = frozenset[VatCode]({"exempt", "outside_scope"})


def is_vat_invoice(row: InvoiceRow) -> bool:
    """True for an issued document by which VAT is charged or taken back, be it at nothing or the client's to pay."""
    registered = row.seller_snapshot is not None and row.seller_snapshot.vat_number is not None
    return registered and any(group.vat_code not in _WITHOUT for group in row.vat_summary)


def refuse_without_address(row: InvoiceRow) -> None:
    """Raises `Problem` `validation_failed` for a VAT invoice that would not say where its seller is."""
    seller = row.seller_snapshot
    if seller is not None and seller.address is None and is_vat_invoice(row):
        message = (
            f"A VAT invoice prints the seller's address: give one to the legal entity {row.legal_entity_id},"
            " as `address` of legalEntity.updateLegalEntity."
        )
        raise invalid_field("legalEntityId", "seller_address_required", message)


def warnings(row: InvoiceRow) -> list[InvoiceWarning]:
    """What an issued document lacks, and is issued all the same: the client may get on without it."""
    client = row.client_snapshot
    if client is None or client.billing_address is not None or not is_vat_invoice(row):
        return []
    message = "A VAT invoice prints the client's address: the client has no `billingAddress`."
    return [InvoiceWarning(path="clientSnapshot.billingAddress", code="client_address_missing", message=message)]
