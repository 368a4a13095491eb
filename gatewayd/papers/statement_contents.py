"""From a client's account to what its paper says: parties as they are known today, figures as the account has them."""

from typing import NamedTuple

from gatewayd.areas.accounting import paper_settings
from gatewayd.areas.accounting.clients.rows import CLIENTS
from gatewayd.areas.accounting.receivables import operations as receivables
from gatewayd.areas.accounting.receivables.shapes import GetStatement, Statement, StatementOfCurrency
from gatewayd.areas.vault.documents.shapes import DocumentRow
from gatewayd.contract.caller import Caller
from gatewayd.errors import invalid_field
from gatewayd.ledger.vat import sellers
from gatewayd.ledger.vat.sellers import Seller
from gatewayd.papers import contents
from gatewayd.papers.statement_paper import Account, AccountLine, StatementPaper
from gatewayd.store import ReadTx

_SELECT_SELLERS = """
SELECT DISTINCT legal_entity_id FROM invoices
WHERE org_id = :org_id AND client_id = :client_id AND number IS NOT NULL AND legal_entity_id IS NOT NULL LIMIT 2
"""


class StatementContents(NamedTuple):
    """What a statement says, and the document whose bytes are its logo, if any."""

    paper: StatementPaper
    logo: DocumentRow | None


def of_statement(tx: ReadTx, caller: Caller, request: GetStatement) -> StatementContents:
    """Raises `Problem`: `not_found`, `validation_failed`."""
    told = receivables.get_statement(tx, caller, request)
    seller = _seller(tx, told.client_id, request.legal_entity_id)
    client, settings = (
        CLIENTS.get(tx, told.client_id),
        paper_settings.of_seller(tx, seller.legal_entity_id or seller.key),
    )
    email, website = contents.contact_of(tx, seller)
    paper = StatementPaper(
        from_date=told.from_date,
        to_date=told.to_date,
        seller=contents.seller_now(seller, told.to_date, email),
        client=contents.client_now(client),
        bands=[(band.from_days, band.to_days) for band in told.bands],
        accounts=[_account(account) for account in told.currencies],
        bank=contents.account_of(tx, None if settings is None else settings.bank_account_id),
        look=contents.look_of(settings, website),
    )
    return StatementContents(paper, contents.logo_of(tx, settings))


def name_of(told: Statement | StatementPaper) -> str:
    """What the file is called."""
    return f"statement-{told.to_date}.pdf"


def _seller(tx: ReadTx, client_id: str, legal_entity_id: str | None) -> Seller:
    """Whose letterhead it has: also that of one that is archived, to whom something may be owed.

    Where none is named it is the only one there is, else the only one that made anything out to the client.
    """
    found = sellers.find_only(tx) if legal_entity_id is None else sellers.find(tx, legal_entity_id)
    if found is None and legal_entity_id is None:
        of_client = [row[0] for row in tx.rows(_SELECT_SELLERS, client_id=client_id)]
        found = sellers.find(tx, of_client[0]) if len(of_client) == 1 else None
    if found is None:
        message = "Several legal entities of the organization made invoices out to this client: whose account is it?"
        raise invalid_field("legalEntityId", "required", message)
    return found


def _account(account: StatementOfCurrency) -> Account:
    return Account(
        currency=account.currency,
        opening=str(account.opening_balance),
        lines=[
            AccountLine(
                date=line.date,
                kind=line.kind,
                number=line.number,
                reference=line.reference,
                due_date=line.due_date,
                total=str(line.total),
                amount=str(line.amount),
                balance=str(line.balance),
            )
            for line in account.lines
        ],
        amounts=[str(amount) for amount in account.amounts],
        credit=str(account.credit),
        balance=str(account.balance),
    )
