"""Papers of invoices and accounts (Domain C4.7): handlers of their operations."""

from typing import Final, Protocol

from gatewayd.areas.accounting.invoices.papers import XML, GetInvoiceXml
from gatewayd.areas.accounting.invoices.rows import INVOICES
from gatewayd.areas.accounting.invoices.shapes import GetInvoice
from gatewayd.areas.accounting.quotes.shapes import GetQuote
from gatewayd.areas.accounting.receivables.shapes import GetStatement
from gatewayd.contract.caller import Caller
from gatewayd.contract.given_files import WrittenFile
from gatewayd.contract.operation import Handlers
from gatewayd.errors import invalid_state
from gatewayd.papers import contents
from gatewayd.papers.engine import Papers
from gatewayd.papers.paper import Paper
from gatewayd.store import ReadTx

_ISSUED: Final = ("issued", "sent", "part_paid", "paid")


class Deps(Protocol):
    """What the rows are given to work with."""

    @property
    def papers(self) -> Papers: ...


async def get_invoice_pdf(deps: Deps, caller: Caller, request: GetInvoice) -> WrittenFile:
    """Get the PDF of an invoice or credit note, with its electronic form attached (PDF/A-3, Factur-X EN 16931).

    That of an issued one is made once, by what `accounting.getPaper` shows then, and kept in the vault as a record of
    the business: the same bytes ever after, whose document is `pdfDocumentId`. A draft or what is void bears that mark
    across and is made anew each time.
    """
    return await deps.papers.pdf(caller, request.invoice_id)


async def get_quote_pdf(deps: Deps, caller: Caller, request: GetQuote) -> WrittenFile:
    """Get the PDF of a quote, by what `accounting.getPaper` shows now. A draft bears that mark across."""
    return await deps.papers.quote_pdf(caller.org_id, request.quote_id)


async def get_statement_pdf(deps: Deps, caller: Caller, request: GetStatement) -> WrittenFile:
    """Get a client's statement of account as PDF, with the seller's letterhead as `accounting.getPaper` shows it.

    It says what `accounting.getStatement` answers, and is made anew each time. Where several legal entities
    made invoices out to the client, one has to be named.
    """
    return await deps.papers.statement(caller, request)


def get_invoice_xml(tx: ReadTx, caller: Caller, request: GetInvoiceXml) -> WrittenFile:
    """Get the electronic form of an issued invoice or credit note, by EN 16931: CII, or UBL for Peppol.

    In it a deduction under the Construction Industry Scheme is told as paid. UBL names an electronic address of both
    parties: their VAT numbers, else their addresses of mail.
    """
    from gatewayd.papers import cii, semantics, ubl  # what writes XML is not loaded before it is needed

    paper = contents.of_invoice(tx, request.invoice_id).paper
    status = INVOICES.get(tx, request.invoice_id).status
    lacking = semantics.lacking(paper) or (_unreached(paper) if request.format == "ubl" else None)
    if lacking is not None:
        raise invalid_state(lacking, status, _ISSUED if paper.mark else ())
    body = cii.write(paper) if request.format == "cii" else ubl.write(paper)
    name = "".join(each if each.isalnum() else "-" for each in paper.number or "")
    return WrittenFile(body, f"{name}-{request.format}.xml", XML)


def _unreached(paper: Paper) -> str | None:
    from gatewayd.papers import ubl

    if ubl.endpoint(paper.seller) is None:
        return "Peppol names an electronic address of the seller: give the legal entity its `vatNumber` or `email`."
    if ubl.endpoint(paper.client) is None:
        return "Peppol names an electronic address of the client: give the client its `vatNumber` or `email`."
    return None


HANDLERS: Final[Handlers] = {
    "accounting.getInvoicePdf": get_invoice_pdf,
    "accounting.getInvoiceXml": get_invoice_xml,
    "accounting.getQuotePdf": get_quote_pdf,
    "accounting.getStatementPdf": get_statement_pdf,
}
