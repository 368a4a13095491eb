"""What people say that an account held at the end of a day (Domain B6). Owns the table `stated_balances`.

The operations that change it stand with the coverage, which rests on it.
"""

from typing import Annotated

from msgspec import Meta

from gatewayd.contract.wire import (
    Amount,
    AmountText,
    Date,
    DateText,
    Id,
    Request,
    Response,
    Timestamp,
    Version,
    project,
)
from gatewayd.errors import invalid_field
from gatewayd.ledger.dates.date_ranges import after
from gatewayd.ledger.imports import bank_statements
from gatewayd.money import Money
from gatewayd.store import ReadTx, RemovableTable, WriteTx

Note = Annotated[str, Meta(min_length=1, max_length=500, description="Where it stands, for people.")]


class BalanceCheck(Response, frozen=True, kw_only=True):
    """What the lines make of the day of a stated balance."""

    counted_balance: Amount
    """What the account held then by its lines, counted from the nearest other balance that is known."""
    difference: Amount
    """The balance that was stated less `countedBalance`; 0.00: they agree."""


class StatedBankBalance(Response, frozen=True, kw_only=True):
    """A balance at the end of a day, as a person states it."""

    id: Id
    account_id: Id
    """Which bank account."""
    date: DateText
    """The day at whose end it was held."""
    balance: Amount
    """What the account held, all that was booked on that day included; an overdraft is negative."""
    currency: str
    """The currency of the account."""
    note: str | None
    """Where it stands, for people. Null: nobody said."""
    check: BalanceCheck | None
    """What the lines make of it. Null: no other balance is known to count from."""
    created_at: Timestamp
    updated_at: Timestamp
    version: int


class StatedBankBalanceRow(StatedBankBalance, frozen=True, kw_only=True):
    """One as it is stored. `opens_on` is the day after its own, of which it is the opening balance."""

    opens_on: str


class StateBalance(Request, frozen=True, kw_only=True):
    """What an account held at the end of a day, what was booked on it included; an overdraft is negative."""

    account_id: Id
    date: Date
    balance: AmountText
    note: Note | None = None


class RemoveStatedBalance(Request, frozen=True, kw_only=True):
    """Which balance."""

    balance_id: Id
    """Which stated balance."""
    expected_version: Version | None = None


class RemovedBalance(Response, frozen=True, kw_only=True):
    """A stated balance that is gone."""

    id: Id
    deleted: bool
    """Always true."""


def _check(tx: ReadTx, row: StatedBankBalanceRow) -> BalanceCheck | None:
    counted = bank_statements.counted_at(tx, row.account_id, row.date)
    if counted is None:
        return None
    money = Money(counted, row.currency)
    return BalanceCheck(counted_balance=money, difference=row.balance - money)


BALANCES = RemovableTable(
    "stated_balances",
    StatedBankBalanceRow,
    kind="stated balance",
    prefix="bsb",
    derived={"check": _check},
)
_SELECT_DAY = f"{BALANCES.select} AND account_id = :account_id AND date = :date"
_SELECT_LATEST = f"{BALANCES.select} AND account_id = :account_id ORDER BY date DESC LIMIT 1000"


def state(tx: WriteTx, currency: str, request: StateBalance) -> StatedBankBalance:
    """Keep a balance; it replaces one of the same day. Raises `Problem` `validation_failed`."""
    date = request.date.isoformat()
    if date > tx.today:
        raise invalid_field("date", "out_of_range", "The day is still to come: expected today or an earlier one.")
    values = tx.row(_SELECT_DAY, account_id=request.account_id, date=date)
    if values is None:
        row = BALANCES.new(tx, request, currency=currency, opens_on=after(date))
        return _shown(BALANCES.insert(tx, row))
    return _shown(BALANCES.update(tx, BALANCES.changed(BALANCES.read(tx, values), request)))


def remove(tx: WriteTx, request: RemoveStatedBalance) -> str:
    """Delete a stated balance; answers the id of its account. Raises `Problem`: `not_found`, `version_conflict`."""
    row = BALANCES.get(tx, request.balance_id, request.expected_version)
    BALANCES.delete(tx, row.id)
    return row.account_id


def of_account(tx: ReadTx, account_id: str) -> list[StatedBankBalance]:
    """The stated balances of an account, latest first."""
    return [_shown(BALANCES.read(tx, row)) for row in tx.rows(_SELECT_LATEST, account_id=account_id)]


def _shown(row: StatedBankBalanceRow) -> StatedBankBalance:
    return project(row, StatedBankBalance)
