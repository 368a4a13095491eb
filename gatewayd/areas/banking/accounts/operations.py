"""The bank account resource (Spec §4, domain model A6 and B6): its operations."""

from msgspec.structs import replace

from gatewayd.areas.banking.accounts import rows, rules
from gatewayd.areas.banking.accounts.rows import ACCOUNTS
from gatewayd.areas.banking.accounts.rules import with_identifiers
from gatewayd.areas.banking.accounts.shapes import (
    BankAccount,
    BankAccountRow,
    CreateAccount,
    GetAccountDetails,
    ListAccounts,
    UpdateAccount,
)
from gatewayd.contract.caller import Caller
from gatewayd.contract.faults import made_of
from gatewayd.contract.holding import HeldBy
from gatewayd.contract.operation import Operation
from gatewayd.contract.pages import Listing, SyncPage
from gatewayd.errors import FieldError, Problem, gathered, invalid_state
from gatewayd.ledger.lists import Source, sync_page
from gatewayd.store import ReadTx, WriteTx


def list_accounts(tx: ReadTx, caller: Caller, request: ListAccounts) -> Listing[BankAccount]:
    """List bank accounts, newest first, or in the order of change with `updatedSince`."""
    filters = {
        "legal_entity_id = :legal_entity_id": request.legal_entity_id,
        "institution_id = :institution_id": request.institution_id,
        "status = :status": request.status,
        "external_id = :external_id": request.external_id,
    }
    return sync_page(
        tx, request, Source(ACCOUNTS, [ACCOUNTS.select]), filters, lambda row: rows.item(ACCOUNTS.read(tx, row))
    )


def get_account_details(tx: ReadTx, caller: Caller, request: GetAccountDetails) -> BankAccount:
    """Get one bank account: details, balances as the bank told them, and the days that its statements cover."""
    return rows.shown(ACCOUNTS.get(tx, request.account_id), full=request.full)


def create_account(tx: WriteTx, caller: Caller, request: CreateAccount) -> BankAccount:
    """Create a bank account, to import statements into.

    Two open accounts cannot have the same sort code and number.
    """
    return rows.shown(make(tx, request, tx.new_id("bac")))


def make(tx: WriteTx, request: CreateAccount, account_id: str) -> BankAccountRow:
    """The new account under an id. Raises `Problem`: `validation_failed`, `already_exists`."""
    errors: list[FieldError] = []
    request = gathered(errors, with_identifiers, request) or request
    row = made_of(errors, lambda asked: _new_row(tx, asked), request)
    row = rules.checked(tx, None, replace(row, id=account_id), errors)
    _refuse_same(tx, row)
    return ACCOUNTS.insert(tx, row)


def _new_row(tx: WriteTx, request: CreateAccount) -> BankAccountRow:
    return ACCOUNTS.new(
        tx,
        request,
        business_ids=request.business_ids or [],
        status="active",
        balances=[],
        coverage=rows.NOTHING_COVERED,
    )


def update_account(tx: WriteTx, caller: Caller, request: UpdateAccount) -> BankAccount:
    """Change the given fields of a bank account; `status` closes it or opens it again.

    A closed account keeps its transactions and takes no imports.
    """
    before = ACCOUNTS.get(tx, request.account_id, request.expected_version)
    errors: list[FieldError] = []
    request = gathered(errors, with_identifiers, request, before) or request
    after = made_of(errors, lambda asked: ACCOUNTS.changed(before, asked), request)
    after = rules.checked(tx, before, after, errors)
    _refuse_fixed(tx, before, after)
    _refuse_same(tx, after)
    return rows.shown(ACCOUNTS.update(tx, after))


def _refuse_fixed(tx: ReadTx, before: BankAccountRow, after: BankAccountRow) -> None:
    if after.currency != before.currency and rows.has_transactions(tx, before.id):
        message = f"It has transactions: its `currency` stays {before.currency}. Another account can have another."
        raise invalid_state(message, before.status, ())
    if after.legal_entity_id != before.legal_entity_id and rows.has_allocated(tx, before.id):
        message = (
            "Transactions of it are allocated: its `legalEntityId` stays as it is, until `banking.removeAllocation` has"
            " taken all of that back."
        )
        raise invalid_state(message, before.status, ())


def _refuse_same(tx: ReadTx, row: BankAccountRow) -> None:
    existing_id = rules.same_account(tx, row) if row.status == "active" else None
    if existing_id is not None:
        message = (
            f"An open account with this sort code and number exists: {existing_id}. Use that one, or close it first."
        )
        raise Problem("already_exists", message, extra={"existingId": existing_id, "field": "accountNumber"})


OPERATIONS = (
    Operation(
        id="banking.listAccounts",
        kind="read",
        method="GET",
        path="/accounts",
        scopes=("banking:read",),
        request=ListAccounts,
        response=SyncPage[BankAccount],
        handler=list_accounts,
        held=HeldBy(entity="legal_entity_id", today=True),
        extension=True,
        example={"status": "active", "limit": 20},
    ),
    Operation(
        id="banking.getAccountDetails",
        kind="read",
        method="GET",
        path="/accounts/:accountId",
        scopes=("banking:read",),
        request=GetAccountDetails,
        response=BankAccount,
        handler=get_account_details,
        held=HeldBy(leads={"account_id": "bank_account"}, today=True),
        example={"accountId": "bac_01k0000000000000000000000a"},
    ),
    Operation(
        id="banking.createAccount",
        kind="write",
        method="POST",
        path="/accounts",
        scopes=("accounting:write",),  # Chosen: Spec §5 has no scope that writes in banking
        request=CreateAccount,
        response=BankAccount,
        handler=create_account,
        errors=("already_exists",),
        extension=True,
        example={
            "legalEntityId": "ent_01k0000000000000000000000a",
            "name": "Business account",
            "type": "current",
            "institutionId": "inst_barclays",
            "sortCode": "20-45-00",
            "accountNumber": "31926819",
            "currency": "GBP",
        },
    ),
    Operation(
        id="banking.updateAccount",
        kind="write",
        method="PATCH",
        path="/accounts/:accountId",
        scopes=("accounting:write",),
        request=UpdateAccount,
        response=BankAccount,
        handler=update_account,
        errors=("already_exists", "invalid_state", "version_conflict"),
        extension=True,
        example={"accountId": "bac_01k0000000000000000000000a", "nickname": "Everyday account"},
    ),
)
