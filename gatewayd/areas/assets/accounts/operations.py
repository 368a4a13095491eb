"""The asset account resource (Spec §4, Domain A3 and B3): its operations."""

from collections.abc import Iterator
from typing import Final

from msgspec import UNSET
from msgspec.structs import replace

from gatewayd.areas.assets.accounts.shapes import (
    AssetAccountWithValue,
    CreateAssetAccount,
    GetAssetAccount,
    ListAssetAccounts,
    UpdateAssetAccount,
)
from gatewayd.areas.assets.books import accounts
from gatewayd.areas.assets.books.accounts import ACCOUNTS, AssetAccount, AssetAccountRow
from gatewayd.areas.assets.books.portfolios import PORTFOLIOS
from gatewayd.areas.assets.pools import reading
from gatewayd.areas.assets.positions import choosing, totals
from gatewayd.contract.caller import Caller
from gatewayd.contract.holding import HeldBy
from gatewayd.contract.operation import Operation
from gatewayd.contract.pages import Listing, SyncPage
from gatewayd.contract.wire import encode, project
from gatewayd.errors import FieldError, invalid, invalid_state
from gatewayd.ledger.lists import Source, sync_page
from gatewayd.ledger.references import unknown_reference
from gatewayd.money import Money
from gatewayd.store import ReadTx, WriteTx

_SELECT_BANK_ACCOUNT = "SELECT legal_entity_id FROM bank_accounts WHERE org_id = :org_id AND id = :id"
_SPACING = str.maketrans("", "", " -/")
_SHOWN_CHARACTERS: Final = 4  # of an account number (Domain B3)


def list_accounts(tx: ReadTx, caller: Caller, request: ListAssetAccounts) -> Listing[AssetAccount]:
    """List accounts with assets, newest first, or in the order of change with `updatedSince`."""
    filters = {
        "portfolio_id = :portfolio_id": request.portfolio_id,
        "legal_entity_id = :legal_entity_id": request.legal_entity_id,
        "type = :type": request.type,
        "tax_wrapper = :tax_wrapper": request.tax_wrapper,
        "status = :status": request.status,
        "bank_account_id = :bank_account_id": request.bank_account_id,
        "external_id = :external_id": request.external_id,
    }
    return sync_page(
        tx, request, Source(ACCOUNTS, [ACCOUNTS.select]), filters, lambda row: _account_item(ACCOUNTS.read(tx, row))
    )


def get_account(tx: ReadTx, caller: Caller, request: GetAssetAccount) -> AssetAccountWithValue:
    """Get one account with assets, and what is in it on a day, today by default."""
    row = ACCOUNTS.get(tx, request.id)
    day = choosing.day_of(tx, request.as_of_date)
    value_totals, balances = totals.of_account(tx, row, day)
    own = next((balance for balance in balances if balance.currency == row.currency), Money(0, row.currency))
    return project(
        row,
        AssetAccountWithValue,
        account_number_masked=_masked(row.account_number),
        as_of_date=day,
        cash_balance=own,
        cash_balances=totals.shown(balances),
        base_currency=value_totals.currency,
        value=value_totals.value,
        unpriced_positions=value_totals.unpriced_positions,
        totals=value_totals,
    )


def create_account(tx: WriteTx, caller: Caller, request: CreateAssetAccount) -> AssetAccount:
    """Create an account with a broker, a platform or a pension provider, or a wallet, in a portfolio."""
    portfolio = PORTFOLIOS.find(tx, request.portfolio_id)
    if portfolio is None:
        row = ACCOUNTS.new(tx, request, legal_entity_id="", status="open")
        raise invalid(unknown_reference("portfolioId", "portfolio"), *_own_mistakes(tx, row))
    if portfolio.archived_at is not None:
        message = "The portfolio is archived: bring it back first, by `status` of `assets.updatePortfolio`."
        raise invalid_state(message, "archived", ("active",))
    row = ACCOUNTS.new(tx, request, legal_entity_id=portfolio.legal_entity_id, status="open")
    return _shown_account(ACCOUNTS.insert(tx, _checked_account(tx, None, row)))


def update_account(tx: WriteTx, caller: Caller, request: UpdateAssetAccount) -> AssetAccount:
    """Change the given fields of an account; `status` closes it, today unless `closedDate` says when, or opens it.

    Currency and wrapper are fixed once there are transactions. An account is closed once it holds nothing.
    """
    before = ACCOUNTS.get(tx, request.id, request.expected_version)
    after = ACCOUNTS.changed(before, request)
    if after.status == "closed" and before.status == "open":
        _refuse_holding(tx, before)
        after = replace(after, closed_date=after.closed_date or tx.today)
    elif after.status == "open" and before.status == "closed":
        _refuse_archived(tx, before)
        if request.closed_date is UNSET:
            after = replace(after, closed_date=None)
    _refuse_fixed(tx, before, after)
    return _shown_account(ACCOUNTS.update(tx, _checked_account(tx, before, after)))


def _refuse_holding(tx: ReadTx, row: AssetAccountRow) -> None:
    instrument_id = reading.open_position(tx, row.id)
    if instrument_id is not None:
        message = f"It holds {instrument_id}: sell or transfer that first, with `assets.createTransaction`."
        raise invalid_state(message, row.status, ())


def _refuse_archived(tx: ReadTx, row: AssetAccountRow) -> None:
    if PORTFOLIOS.get(tx, row.portfolio_id).archived_at is not None:
        message = "Its portfolio is archived: bring that back first, by `status` of `assets.updatePortfolio`."
        raise invalid_state(message, row.status, ())


def _refuse_fixed(tx: ReadTx, before: AssetAccountRow, after: AssetAccountRow) -> None:
    fixed = (("currency", "currency"), ("tax_wrapper", "taxWrapper"))
    changed = [word for name, word in fixed if getattr(before, name) != getattr(after, name)]
    if changed and accounts.has_transactions(tx, before.id):
        message = f"It has transactions: its `{changed[0]}` stays as it is. Another account can have another."
        raise invalid_state(message, before.status, ())
    if before.allow_short and not after.allow_short:
        instrument_id = reading.short_position(tx, before.id)
        if instrument_id is not None:
            message = f"It has sold more of {instrument_id} than it held: buy that back before `allowShort` is false."
            raise invalid_state(message, before.status, ())


def _checked_account(tx: ReadTx, before: AssetAccountRow | None, row: AssetAccountRow) -> AssetAccountRow:
    """The account with its number in one form. What it keeps of `before` is not asked again.

    Raises `Problem` `validation_failed` naming every field that is wrong.
    """
    errors = [*_bank_account_mistakes(tx, before, row), *_own_mistakes(tx, row)]
    if errors:
        raise invalid(*errors)
    return replace(row, account_number=row.account_number and row.account_number.translate(_SPACING))


def _own_mistakes(tx: ReadTx, row: AssetAccountRow) -> Iterator[FieldError]:
    """What is wrong with it whatever it belongs to."""
    yield from _date_mistakes(row, tx.today)
    yield from _number_mistakes(row)


def _bank_account_mistakes(tx: ReadTx, before: AssetAccountRow | None, row: AssetAccountRow) -> Iterator[FieldError]:
    if row.bank_account_id is None or (before is not None and before.bank_account_id == row.bank_account_id):
        return
    bank_account = tx.row(_SELECT_BANK_ACCOUNT, id=row.bank_account_id)
    if bank_account is None:
        yield unknown_reference("bankAccountId", "bank_account")
    elif bank_account[0] not in (None, row.legal_entity_id):
        yield FieldError("bankAccountId", "conflict", "The bank account is another legal entity's.")


def _date_mistakes(row: AssetAccountRow, today: str) -> Iterator[FieldError]:
    if row.closed_date is None:
        return
    if row.status == "open":
        yield FieldError("closedDate", "conflict", "The account is open: give `status` closed too, or leave this out.")
    elif row.closed_date > today:
        yield FieldError("closedDate", "out_of_range", "The day is still to come: expected today or an earlier one.")
    elif row.opened_date is not None and row.closed_date < row.opened_date:
        message = f"The account was opened on {row.opened_date}: expected that day or a later one."
        yield FieldError("closedDate", "date_order", message)


def _number_mistakes(row: AssetAccountRow) -> Iterator[FieldError]:
    if row.account_number is not None and len(row.account_number.translate(_SPACING)) < 4:
        yield FieldError("accountNumber", "invalid_format", "Expected four letters or digits or more.")


def _shown_account(row: AssetAccountRow) -> AssetAccount:
    """The account as it is answered."""
    return project(row, AssetAccount, account_number_masked=_masked(row.account_number))


def _account_item(row: AssetAccountRow) -> bytes:
    """The JSON of an account in a list."""
    wire: bytes = encode(_shown_account(row))
    return wire


def _masked(number: str | None) -> str | None:
    """A number with its last four characters alone."""
    if number is None:
        return None
    return "*" * (len(number) - _SHOWN_CHARACTERS) + number[-_SHOWN_CHARACTERS:]


OPERATIONS = (
    Operation(
        id="assets.listAccounts",
        kind="read",
        method="GET",
        path="/assets/listAccounts",
        scopes=("accounting:read",),
        request=ListAssetAccounts,
        response=SyncPage[AssetAccount],
        handler=list_accounts,
        held=HeldBy(
            entity="legal_entity_id",
            leads={"portfolio_id": "portfolio", "bank_account_id": "bank_account"},
            undated=True,
        ),
        example={"status": "open", "limit": 20},
    ),
    Operation(
        id="assets.getAccount",
        kind="read",
        method="GET",
        path="/assets/getAccount",
        scopes=("accounting:read",),
        request=GetAssetAccount,
        response=AssetAccountWithValue,
        handler=get_account,
        held=HeldBy(leads={"id": "asset_account"}),
        long=True,
        example={"id": "acc_01k0000000000000000000000a"},
    ),
    Operation(
        id="assets.createAccount",
        kind="write",
        method="POST",
        path="/assets/createAccount",
        scopes=("accounting:write",),
        request=CreateAssetAccount,
        response=AssetAccount,
        handler=create_account,
        errors=("already_exists", "invalid_state"),
        example={
            "portfolioId": "prt_01k0000000000000000000000a",
            "name": "Stocks and shares ISA",
            "type": "brokerage",
            "currency": "GBP",
            "taxWrapper": "isa",
            "institutionName": "Harbour Brokers",
            "accountNumber": "ISA-4417723",
        },
    ),
    Operation(
        id="assets.updateAccount",
        kind="write",
        method="POST",
        path="/assets/updateAccount",
        scopes=("accounting:write",),
        request=UpdateAssetAccount,
        response=AssetAccount,
        handler=update_account,
        errors=("already_exists", "invalid_state", "version_conflict"),
        example={"id": "acc_01k0000000000000000000000a", "name": "Aldgate general account", "expectedVersion": 1},
    ),
)
