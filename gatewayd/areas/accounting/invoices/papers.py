"""Papers of invoices (Domain C4.7): their rows, whose handlers are those of `papers`, and where one is kept."""

from typing import Annotated, Literal

from msgspec import Meta
from msgspec.structs import replace

from gatewayd.areas.accounting.invoices.rows import INVOICES, save
from gatewayd.areas.accounting.invoices.shapes import GetInvoice, InvoiceRow
from gatewayd.contract.given_files import WrittenFile
from gatewayd.contract.operation import AT_CATALOGUE, Operation
from gatewayd.store import WriteTx

PDF = "application/pdf"
XML = "application/xml"
XmlFormat = Annotated[
    Literal["cii", "ubl"],
    Meta(
        description="`cii`: Cross Industry Invoice, as Factur-X attaches it to the PDF. `ubl`: UBL 2.1, as Peppol BIS"
        " Billing 3."
    ),
]


class GetInvoiceXml(GetInvoice, frozen=True, kw_only=True):
    """Which invoice or credit note, and in which form."""

    format: XmlFormat = "cii"


def keep(tx: WriteTx, invoice_id: str, document_id: str) -> InvoiceRow:
    """Note which document of the vault is the paper of an invoice. Chosen: that is no version of the invoice."""
    return save(tx, replace(INVOICES.get(tx, invoice_id), pdf_document_id=document_id))


OPERATIONS = (
    Operation(
        id="accounting.getInvoicePdf",
        kind="call",
        method="GET",
        path="/invoices/:invoiceId/pdf",
        scopes=("accounting:read",),
        request=GetInvoice,
        response=WrittenFile,
        handler=AT_CATALOGUE,
        errors=("gone", "invalid_state", "limit_reached"),
        gives_file=PDF,
        extension=True,
        example={"invoiceId": "inv_01k0000000000000000000000c"},
    ),
    Operation(
        id="accounting.getInvoiceXml",
        kind="read",
        method="GET",
        path="/invoices/:invoiceId/xml",
        scopes=("accounting:read",),
        request=GetInvoiceXml,
        response=WrittenFile,
        handler=AT_CATALOGUE,
        errors=("invalid_state",),
        long=True,
        gives_file=XML,
        extension=True,
        example={"invoiceId": "inv_01k0000000000000000000000c", "format": "cii"},
    ),
)
