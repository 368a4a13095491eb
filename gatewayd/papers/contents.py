"""From the rows of an invoice to what its paper says. Reads only; no figure is reckoned but what is stored of each.

What was issued says of its parties what was frozen then; a draft, and what is not frozen, says what is known now.
"""

from typing import Final, Literal, NamedTuple

import msgspec

from gatewayd.areas.accounting import paper_settings
from gatewayd.areas.accounting.clients.rows import CLIENTS
from gatewayd.areas.accounting.clients.shapes import StoredClient
from gatewayd.areas.accounting.invoices import drafts, rows
from gatewayd.areas.accounting.invoices.line_shapes import LineRow
from gatewayd.areas.accounting.invoices.rows import INVOICES
from gatewayd.areas.accounting.invoices.shapes import InvoiceRow
from gatewayd.areas.accounting.paper_settings import PaperRow
from gatewayd.areas.accounting.quotes.rows import QUOTES
from gatewayd.areas.accounting.quotes.shapes import QuoteLine, StoredQuote
from gatewayd.areas.banking.accounts.rows import ACCOUNTS
from gatewayd.areas.legal_entities.rows import LEGAL_ENTITIES
from gatewayd.areas.vault.documents.rows import DOCUMENTS
from gatewayd.areas.vault.documents.shapes import DocumentRow
from gatewayd.contract.wire import Address
from gatewayd.ledger.vat import sellers
from gatewayd.ledger.vat.sellers import Seller
from gatewayd.money import Money, exponent, from_minor
from gatewayd.papers.paper import (
    BankDetails,
    Credited,
    Look,
    Paper,
    PaperAddress,
    PaperGroup,
    PaperLine,
    Party,
)
from gatewayd.store import ReadTx

_MARKS: Final[dict[str, Literal["DRAFT", "VOID"]]] = {"draft": "DRAFT", "void": "VOID"}
_NORTHERN_IRELAND = "ni_eu_goods_zero"


class Contents(NamedTuple):
    """What a paper says, by which version of its invoice, and the document whose bytes are its logo, if any."""

    paper: Paper
    version: int
    logo: DocumentRow | None


class _Facts(NamedTuple):
    """What is known beside the invoice."""

    settings: PaperRow | None
    client: StoredClient
    seller: Seller
    email: str | None
    website: str | None


def of_invoice(tx: ReadTx, invoice_id: str) -> Contents:
    """Raises `Problem`: `not_found`, and what a draft raises whose seller or invoice is not what it was."""
    row = INVOICES.get(tx, invoice_id)
    facts = _facts(tx, row)
    return Contents(_paper(tx, row, facts), row.version, logo_of(tx, facts.settings))


def logo_of(tx: ReadTx, settings: PaperRow | None) -> DocumentRow | None:
    """The document whose bytes are a seller's logo; None: there is none, or none any more."""
    if settings is None or settings.logo_document_id is None:
        return None
    found = DOCUMENTS.find(tx, settings.logo_document_id)
    return found if found is not None and found.status == "uploaded" else None


def contact_of(tx: ReadTx, seller: Seller) -> tuple[str | None, str | None]:
    """The email address and the website of a seller."""
    entity = None if seller.legal_entity_id is None else LEGAL_ENTITIES.get(tx, seller.legal_entity_id)
    return (None, None) if entity is None else (entity.email, entity.website)


def of_quote(tx: ReadTx, quote_id: str) -> Contents:
    """Raises `Problem` `not_found`."""
    row = QUOTES.get(tx, quote_id)
    facts = _facts(tx, row)
    return Contents(_quote(row, facts), row.version, logo_of(tx, facts.settings))


def _facts(tx: ReadTx, row: InvoiceRow | StoredQuote) -> _Facts:
    if isinstance(row, InvoiceRow) and row.status == "draft":
        seller = drafts.parties_of(tx, row).seller
    elif row.legal_entity_id is None:
        seller = sellers.organization(tx)
    else:
        found = sellers.find(tx, row.legal_entity_id)
        assert found is not None, "a foreign key"
        seller = found
    settings = paper_settings.of_seller(tx, seller.legal_entity_id or seller.key)
    return _Facts(settings, CLIENTS.get(tx, row.client_id), seller, *contact_of(tx, seller))


def _paper(tx: ReadTx, row: InvoiceRow, facts: _Facts) -> Paper:
    settings, lines = facts.settings, rows.lines_of(tx, row)
    return Paper(
        kind=row.kind,
        mark=_MARKS.get(row.status, ""),
        number=row.number,
        issue_date=row.issue_date,
        supply_date=row.supply_date,
        due_date=row.due_date,
        currency=row.currency,
        base_currency=row.base_currency,
        exponent=exponent(row.currency),
        fx_rate=row.fx_rate,
        amounts_are=row.amounts_are,
        seller=_seller(row, row.supply_date, facts),
        client=_client(row, facts),
        lines=[_line(line) for line in lines],
        groups=_groups(row),
        net_total=_text(row.net_total),
        vat_total=_text(row.vat_total),
        gross_total=_text(row.gross_total),
        discount_total=_text(row.discount_total),
        reverse_charge_vat=_text(row.reverse_charge_vat),
        vat_total_base=_vat_total_base(row),
        cis_deduction=_text(row.cis_deduction),
        cis_rate=row.cis_rate,
        payable=_text(row.gross_total - row.cis_deduction),
        reference=row.reference,
        po_number=row.po_number,
        notes=row.notes,
        terms=row.terms or (None if settings is None or row.kind == "credit_note" else settings.terms),
        bank=_bank(tx, row, settings),
        credited=_credited(tx, row),
        look=_look(facts),
    )


def _quote(row: StoredQuote, facts: _Facts) -> Paper:
    """What is offered. Chosen: it names no account, for nothing is to be paid by it."""
    settings = facts.settings
    return Paper(
        kind="quote",
        mark="DRAFT" if row.state == "draft" else "",
        number=row.number,
        issue_date=row.issue_date,
        supply_date=row.issue_date,
        due_date=row.valid_until,
        currency=row.currency,
        base_currency=row.currency,
        exponent=exponent(row.currency),
        fx_rate=None,
        amounts_are=row.amounts_are,
        seller=_seller(row, row.issue_date, facts),
        client=_client(row, facts),
        lines=[_offered(position, line) for position, line in enumerate(row.lines, 1)],
        groups=_groups(row),
        net_total=_text(row.net_total),
        vat_total=_text(row.vat_total),
        gross_total=_text(row.gross_total),
        discount_total=_text(row.discount_total),
        reverse_charge_vat=_text(row.reverse_charge_vat),
        vat_total_base=None,
        cis_deduction=_text(row.cis_deduction),
        cis_rate=row.cis_rate,
        payable=_text(row.gross_total - row.cis_deduction),
        reference=row.reference,
        po_number=row.po_number,
        notes=row.notes,
        terms=row.terms or (None if settings is None else settings.terms),
        bank=None,
        credited=None,
        look=_look(facts),
    )


def _groups(row: InvoiceRow | StoredQuote) -> list[PaperGroup]:
    return [
        PaperGroup(
            vat_code=group.vat_code,
            rate=group.rate_percent,
            net=group.net,
            vat=group.vat,
            reverse_charge=group.reverse_charge,
        )
        for group in row.vat_summary
    ]


def _text(amount: Money) -> str:
    return from_minor(amount.minor, amount.currency)


def _vat_total_base(row: InvoiceRow) -> str | None:
    """The VAT in the seller's own currency, where the invoice is in another one."""
    foreign = row.currency != row.base_currency and row.vat_total_base is not None
    return _text(row.vat_total_base) if foreign and row.vat_total_base is not None else None


def _seller(row: InvoiceRow | StoredQuote, day: str, facts: _Facts) -> Party:
    """Who sells, with the VAT number that it has on an ISO day."""
    snapshot, seller = row.seller_snapshot, facts.seller
    if snapshot is not None:
        name, address, vat_number, company = (
            snapshot.name,
            snapshot.address,
            snapshot.vat_number,
            snapshot.company_number,
        )
    else:
        name, company = seller.name, seller.company_number
        address = None if seller.address is None else msgspec.json.decode(seller.address, type=Address)
        vat_number = seller.vat_number if seller.registered_on(day) else None
    from_northern_ireland = any(group.vat_code == _NORTHERN_IRELAND for group in row.vat_summary)
    prefix = "XI" if from_northern_ireland else "GB"  # Notice 725: goods from there bear XI
    return Party(
        key=seller.key,
        name=name,
        contact_name=None,
        address=_address(address),
        country_code="GB" if address is None else address.country_code,
        vat_number=None if vat_number is None else _prefixed(vat_number, prefix),
        company_number=company,
        email=facts.email,
    )


def seller_now(seller: Seller, day: str, email: str | None) -> Party:
    """A seller as it is known today, with the VAT number that it has on an ISO date."""
    address = None if seller.address is None else msgspec.json.decode(seller.address, type=Address)
    vat_number = seller.vat_number if seller.registered_on(day) else None
    return Party(
        key=seller.key,
        name=seller.name,
        contact_name=None,
        address=_address(address),
        country_code="GB" if address is None else address.country_code,
        vat_number=None if vat_number is None else _prefixed(vat_number, "GB"),
        company_number=seller.company_number,
        email=email,
    )


def client_now(client: StoredClient) -> Party:
    """A client as it is known today."""
    return Party(
        key=client.id,
        name=client.name,
        contact_name=client.contact_name,
        address=_address(client.billing_address),
        country_code=client.country_code if client.billing_address is None else client.billing_address.country_code,
        vat_number=None if client.vat_number is None else _prefixed(client.vat_number, "GB"),
        company_number=client.company_number,
        email=client.email,
    )


def _client(row: InvoiceRow | StoredQuote, facts: _Facts) -> Party:
    client = facts.client
    said = row.client_snapshot or client
    country = said.country_code
    return Party(
        key=client.id,
        name=said.name,
        contact_name=said.contact_name,
        address=_address(said.billing_address),
        country_code=country if said.billing_address is None else said.billing_address.country_code,
        vat_number=None if said.vat_number is None else _prefixed(said.vat_number, "GB"),
        company_number=said.company_number,
        email=client.email,
    )


def _prefixed(number: str, prefix: str) -> str:
    """A VAT number with the letters of its country, which a British one is kept without."""
    return prefix + number if number[:1].isdigit() else number


def _address(address: Address | None) -> PaperAddress | None:
    if address is None:
        return None
    return PaperAddress(
        line1=address.line1,
        line2=address.line2,
        town=address.town,
        county=address.county,
        postcode=address.postcode,
        country_code=address.country_code,
    )


def _line(line: LineRow) -> PaperLine:
    return PaperLine(
        position=line.position,
        description=line.description,
        quantity=line.quantity,
        unit=line.unit,
        unit_price=line.unit_price,
        discount=line.discount_percent,
        vat_code=line.vat_code,
        rate=line.vat_rate_percent,
        net=_text(line.net),
        vat=_text(line.vat),
        gross=_text(line.gross),
        cis_labour=line.cis_labour,
    )


def _offered(position: int, line: QuoteLine) -> PaperLine:
    return PaperLine(
        position=position,
        description=line.description,
        quantity=line.quantity,
        unit=line.unit,
        unit_price=line.unit_price,
        discount=line.discount_percent,
        vat_code=line.vat_code,
        rate=line.vat_rate_percent,
        net=line.net,
        vat=line.vat,
        gross=line.gross,
        cis_labour=line.cis_labour,
    )


def _bank(tx: ReadTx, row: InvoiceRow, settings: PaperRow | None) -> BankDetails | None:
    """The account that the invoice names, else that of its seller's papers; None: there is none that can be paid into.

    A number that is known in part alone is not printed.
    """
    return account_of(tx, row.bank_account_id or (None if settings is None else settings.bank_account_id))


def account_of(tx: ReadTx, account_id: str | None) -> BankDetails | None:
    """What is printed of an account to pay into; None: it cannot be paid into by what is known of it."""
    account = None if account_id is None else ACCOUNTS.find(tx, account_id)
    if account is None:
        return None
    number = account.account_number if (account.account_number or "").isdigit() else None
    iban = account.iban if (account.iban or "").isalnum() else None
    if iban is None and (number is None or account.sort_code is None):
        return None
    return BankDetails(
        name=account.holder_name,
        sort_code=account.sort_code if number else None,
        account_number=number,
        iban=iban,
        bic=account.bic,
    )


def _credited(tx: ReadTx, row: InvoiceRow) -> Credited | None:
    if row.credits_invoice_id is None:
        return None
    original = INVOICES.get(tx, row.credits_invoice_id)
    return Credited(number=original.number or "", issue_date=original.issue_date)


def _look(facts: _Facts) -> Look:
    return look_of(facts.settings, facts.website)


def look_of(settings: PaperRow | None, website: str | None) -> Look:
    """How a seller's papers look."""
    if settings is None:
        return Look(website=website)
    return Look(
        accent=settings.accent_color,
        trading_name=settings.trading_name,
        owners=settings.owners,
        register=settings.register,
        registered_office=_address(settings.registered_office),
        footer=settings.footer,
        website=website,
    )
