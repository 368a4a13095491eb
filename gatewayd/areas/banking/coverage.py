"""Which days of an account its statements hold, and whether they add up (domain model B6, C10 and F 5).

A statement that does not add up leaves a gap. Statements of a run count once it is applied, and until it is undone;
days whose lines went with another run (`statement_gaps`) do not. Days between balances that agree are bridged.
"""

from collections.abc import Iterable
from typing import Final

from msgspec.structs import replace

from gatewayd.areas.banking import kept_statements, stated_balances, statement_gaps, unsafe_periods
from gatewayd.areas.banking.accounts.rows import ACCOUNTS
from gatewayd.areas.banking.accounts.shapes import AccountBalance, BalanceType, Coverage
from gatewayd.areas.banking.accounts.shapes import DateRange as CoverageGap
from gatewayd.areas.banking.bridges import CountedStatement, bridged
from gatewayd.areas.banking.stated_balances import RemovedBalance, RemoveStatedBalance, StateBalance, StatedBankBalance
from gatewayd.areas.banking.unsafe_periods import UnsafePeriod
from gatewayd.contract.caller import Caller
from gatewayd.contract.operation import Operation
from gatewayd.contract.wire import Amount, DateText, Id, Request, Response
from gatewayd.ledger.allocating import bank_statements
from gatewayd.ledger.allocating.bank_statements import ALWAYS
from gatewayd.ledger.dates.date_ranges import DateRange, after, before
from gatewayd.ledger.imports import import_runs
from gatewayd.money import Money, from_minor
from gatewayd.store import ReadTx, WriteTx

_PERIODS: Final = "periods:read"
SHOWN_STATEMENTS: Final = 1_000  # Chosen: the latest of an account

_SELECT_COUNTED = """
SELECT import_id, from_date, to_date, opening_balance, closing_balance FROM bank_statements
WHERE org_id = :org_id AND account_id = :account_id AND applied = 1 AND from_date IS NOT NULL
    AND to_date IS NOT NULL AND (balanced IS NULL OR balanced = 1)
"""
_SELECT_LAST = """
SELECT to_date, closing_balance, available_balance FROM bank_statements
WHERE org_id = :org_id AND account_id = :account_id AND applied = 1 AND to_date IS NOT NULL
    AND (closing_balance IS NOT NULL OR available_balance IS NOT NULL)
ORDER BY to_date DESC, import_id DESC, statement DESC LIMIT 1
"""
_SELECT_STATEMENTS = """
SELECT import_id, from_date, to_date, opening_balance, closing_balance, balanced FROM bank_statements
WHERE org_id = :org_id AND account_id = :account_id AND applied = 1 AND from_date IS NOT NULL
ORDER BY from_date DESC, import_id DESC, statement DESC LIMIT :count
"""


class CoveredStatement(Response, frozen=True, kw_only=True):
    """A statement that is applied. `balanced` is null where it does not tell."""

    import_id: Id
    from_date: DateText
    to_date: DateText | None
    opening_balance: Amount | None
    closing_balance: Amount | None
    balanced: bool | None


class LedgerBalance(Response, frozen=True, kw_only=True):
    """The first statement's opening balance with all booked lines since, beside the last one's closing balance."""

    as_of: DateText
    statement_balance: Amount
    ledger_balance: Amount
    difference: Amount


class AccountCoverage(Response, frozen=True, kw_only=True):
    """The days that statements hold. `ledger` is null where nobody tells balances.

    `bridges` are days that no statement holds, between balances that the lines agree with: they are no gaps. What
    people stated is in `statedBalances`, each beside what the lines make of it.

    `unsafePeriods` are those not closed of which days are missing; null for who may not read periods.
    """

    account_id: Id
    currency: str
    from_date: DateText | None
    to_date: DateText | None
    gaps: list[CoverageGap]
    bridges: list[CoverageGap]
    statements: list[CoveredStatement]
    stated_balances: list[StatedBankBalance]
    ledger: LedgerBalance | None
    unsafe_periods: list[UnsafePeriod] | None


class GetCoverage(Request, frozen=True, kw_only=True):
    """Which account."""

    account_id: Id


def merged(ranges: Iterable[DateRange]) -> Coverage:
    """What ranges, by their first days, cover together."""
    gaps: list[CoverageGap] = []
    first = last = None
    for start, end in ranges:
        if first is None or last is None:
            first, last = start, end
            continue
        if start > after(last):
            gaps.append(CoverageGap(from_date=after(last), to_date=before(start)))
        last = max(last, end)
    return Coverage(from_date=first, to_date=last, gaps=gaps)


def mark(tx: WriteTx, account_id: str, import_id: str, *, applied: bool) -> None:
    """Let the statements of a run count from now on, or no more, and say so on their account."""
    kept_statements.mark(tx, import_id, applied=applied)
    if not applied:
        statement_gaps.forget(tx, account_id, import_id)
    last_id, last_at = (import_id, tx.now) if applied else import_runs.latest(tx, account_id, import_id)
    account = ACCOUNTS.get(tx, account_id)
    ACCOUNTS.save(tx, replace(account, last_import_id=last_id, last_import_at=last_at))
    refresh(tx, account_id)


def refresh(tx: WriteTx, account_id: str) -> None:
    """Say on an account anew which days are covered, and what its bank told last."""
    account = ACCOUNTS.get(tx, account_id)
    covered, bridges = ranges(tx, account_id)
    account = replace(
        account,
        coverage=merged(sorted([*covered, *bridges])),
        balances=_balances(tx, account_id, account.currency),
    )
    ACCOUNTS.save(tx, account)  # Chosen: not a new version, for nobody has edited it


def ranges(tx: ReadTx, account_id: str) -> tuple[list[DateRange], list[DateRange]]:
    """The days of the statements that count, by their first days, and those that balances bridge."""
    gone = statement_gaps.of_account(tx, account_id)
    found = tx.rows(_SELECT_COUNTED, account_id=account_id)
    covered = sorted(
        part
        for import_id, first, last, *_ in found
        for part in statement_gaps.without(DateRange(first, last), gone.get(import_id, ()))
    )
    missing = dict.fromkeys(day for of_import in gone.values() for day in of_import)
    return covered, bridged(tx, account_id, [CountedStatement(*row[1:]) for row in found], covered, missing)


def _balances(tx: ReadTx, account_id: str, currency: str) -> list[AccountBalance]:
    last = tx.row(_SELECT_LAST, account_id=account_id)
    if last is None:
        return []
    as_of, closing, available = last
    told: tuple[tuple[BalanceType, int | None], ...] = (("closing_booked", closing), ("available", available))
    return [
        AccountBalance(type=kind, amount=from_minor(minor, currency), as_of=as_of)
        for kind, minor in told
        if minor is not None
    ]


def balance_now(tx: ReadTx, account_id: str) -> Money:
    """What an account holds: as its bank told it last, with the booked lines since, else all booked lines together."""
    account = ACCOUNTS.get(tx, account_id)
    told = bank_statements.closing(tx, account.id, ALWAYS)
    if told is None:
        return Money(bank_statements.moved(tx, account.id, ALWAYS), account.currency)
    since = ALWAYS._replace(first=after(told.as_of))
    return Money(told.balance + bank_statements.moved(tx, account.id, since), account.currency)


def get_coverage(tx: ReadTx, caller: Caller, request: GetCoverage) -> AccountCoverage:
    """Tell which days of an account its statements hold, where days are missing, and whether its lines add up.

    A statement that does not add up counts as missing. `ledger` adds the booked lines to the first opening balance:
    what it differs by from the last closing balance is missing, or there twice. Days between two balances are covered
    where the lines make up the difference: between statements that join, for a month at most, and between any of them
    and one that a person stated. To read `unsafePeriods` needs
    `periods:read` as well.
    """
    account = ACCOUNTS.get(tx, request.account_id)
    found = tx.rows(_SELECT_STATEMENTS, account_id=account.id, count=SHOWN_STATEMENTS)
    return AccountCoverage(
        account_id=account.id,
        currency=account.currency,
        from_date=account.coverage.from_date,
        to_date=account.coverage.to_date,
        gaps=account.coverage.gaps,
        bridges=[CoverageGap(from_date=first, to_date=last) for first, last in ranges(tx, account.id)[1]],
        statements=[_covered(row, account.currency) for row in found],
        stated_balances=stated_balances.of_account(tx, account.id),
        ledger=_ledger(tx, account.id, account.currency),
        unsafe_periods=unsafe_periods.of_account(tx, account.id) if _PERIODS in caller.scopes else None,
    )


def state_balance(tx: WriteTx, caller: Caller, request: StateBalance) -> StatedBankBalance:
    """State what an account held at the end of a day, as a statement's foot does.

    It is checked against the lines and the nearest balance that is known (`check`), and where it agrees the days
    between are covered. The same day again takes the place of what was stated before.
    """
    account = ACCOUNTS.get(tx, request.account_id)
    made = stated_balances.state(tx, account.currency, request)
    refresh(tx, account.id)
    return made


def remove_stated_balance(tx: WriteTx, caller: Caller, request: RemoveStatedBalance) -> RemovedBalance:
    """Take back what was stated of a day; what rested on it is a gap again."""
    account_id = stated_balances.remove(tx, request)
    refresh(tx, account_id)
    return RemovedBalance(id=request.balance_id, deleted=True)


def _covered(row: tuple[object, ...], currency: str) -> CoveredStatement:
    import_id, from_date, to_date, opening, closing, balanced = row
    return CoveredStatement(
        import_id=str(import_id),
        from_date=str(from_date),
        to_date=None if to_date is None else str(to_date),
        opening_balance=Money(opening, currency) if isinstance(opening, int) else None,
        closing_balance=Money(closing, currency) if isinstance(closing, int) else None,
        balanced=None if balanced is None else bool(balanced),
    )


def _ledger(tx: ReadTx, account_id: str, currency: str) -> LedgerBalance | None:
    found = bank_statements.compared(tx, account_id, ALWAYS)
    if found is None:
        return None
    stated, counted = Money(found.stated, currency), Money(found.counted, currency)
    return LedgerBalance(
        as_of=found.as_of, statement_balance=stated, ledger_balance=counted, difference=counted - stated
    )


OPERATIONS = (
    Operation(
        id="banking.getCoverage",
        kind="read",
        method="GET",
        path="/accounts/:accountId/coverage",
        scopes=("banking:read",),
        request=GetCoverage,
        response=AccountCoverage,
        handler=get_coverage,
        long=True,  # it adds up every line
        extension=True,
        example={"accountId": "bac_01k0000000000000000000000a"},
    ),
    Operation(
        id="banking.stateBalance",
        kind="write",
        method="POST",
        path="/accounts/:accountId/balances",
        scopes=("accounting:write",),
        request=StateBalance,
        response=StatedBankBalance,
        handler=state_balance,
        extension=True,
        example={"accountId": "bac_01k0000000000000000000000a", "date": "2026-03-31", "balance": "880.00"},
    ),
    Operation(
        id="banking.removeStatedBalance",
        kind="write",
        method="DELETE",
        path="/balances/:balanceId",
        scopes=("accounting:write",),
        request=RemoveStatedBalance,
        response=RemovedBalance,
        handler=remove_stated_balance,
        errors=("version_conflict",),
        extension=True,
        example={"balanceId": "bsb_01k0000000000000000000000a"},
    ),
)
