"""From a client's account to what its paper says: parties as they are known today, figures as the account has them."""

from typing import NamedTuple

from gatewayd.areas.accounting import paper_settings
from gatewayd.areas.accounting.clients.rows import CLIENTS
from gatewayd.areas.accounting.receivables import letterhead
from gatewayd.areas.accounting.receivables import operations as receivables
from gatewayd.areas.accounting.receivables.shapes import GetStatement, Statement, StatementOfCurrency
from gatewayd.areas.vault.documents.shapes import DocumentRow
from gatewayd.contract.caller import Caller
from gatewayd.papers import contents
from gatewayd.papers.statement_paper import Account, AccountLine, StatementPaper
from gatewayd.store import ReadTx


class StatementContents(NamedTuple):
    """What a statement says, and the document whose bytes are its logo, if any."""

    paper: StatementPaper
    logo: DocumentRow | None


def of_statement(tx: ReadTx, caller: Caller, request: GetStatement) -> StatementContents:
    """Raises `Problem`: `not_found`, `validation_failed`."""
    told = receivables.get_statement(tx, caller, request)
    seller = letterhead.seller_of(tx, told.client_id, request.legal_entity_id)
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
