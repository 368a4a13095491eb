"""Which days of an account its statements hold, and whether they add up (domain model B6, C10 and F 5).

Owns the table `bank_statements`. A statement that does not add up leaves a gap. Statements of a run count once it is
applied, and until it is undone; days whose lines went with another run (`statement_gaps`) do not.
"""

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from msgspec.structs import replace

from gatewayd.areas.banking import statement_gaps, unsafe_periods
from gatewayd.areas.banking.accounts.rows import ACCOUNTS
from gatewayd.areas.banking.accounts.shapes import AccountBalance, BalanceType, Coverage
from gatewayd.areas.banking.accounts.shapes import DateRange as CoverageGap
from gatewayd.areas.banking.unsafe_periods import UnsafePeriod
from gatewayd.contract.caller import Caller
from gatewayd.contract.operation import Operation
from gatewayd.contract.wire import Amount, DateText, Id, Request, Response
from gatewayd.ledger import bank_statements, import_runs
from gatewayd.ledger.bank_statements import ALWAYS
from gatewayd.ledger.date_ranges import DateRange, after, before
from gatewayd.money import Money, from_minor
from gatewayd.store import ReadTx, WriteTx

_PERIODS: Final = "periods:read"
SHOWN_STATEMENTS: Final = 1_000  # Chosen: the latest of an account

_INSERT = """
INSERT INTO bank_statements (org_id, import_id, statement, account_id, applied, from_date, to_date, opening_balance,
    closing_balance, available_balance, balanced)
VALUES (:org_id, :import_id, :statement, :account_id, 0, :from_date, :to_date, :opening_balance, :closing_balance,
    :available_balance, :balanced)
"""
_MARK = "UPDATE bank_statements SET applied = :applied WHERE org_id = :org_id AND import_id = :import_id"
_DELETE = "DELETE FROM bank_statements WHERE org_id = :org_id AND import_id = :import_id"
_SELECT_RANGES = """
SELECT import_id, from_date, to_date FROM bank_statements
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


class Statement(NamedTuple):
    """A statement of a file. What it does not tell is None; amounts are in minor units."""

    statement: int
    from_date: str | None
    to_date: str | None
    opening_balance: int | None
    closing_balance: int | None
    available_balance: int | None
    balanced: bool | None


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
    """The days that statements hold. `ledger` is null where statements tell no balances.

    `unsafePeriods` are those not closed of which days are missing; null for who may not read periods.
    """

    account_id: Id
    currency: str
    from_date: DateText | None
    to_date: DateText | None
    gaps: list[CoverageGap]
    statements: list[CoveredStatement]
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


def add(tx: WriteTx, account_id: str, import_id: str, statements: Sequence[Statement]) -> None:
    """Keep the statements of a run, which do not count yet."""
    for one in statements:
        values = one._asdict() | {"balanced": None if one.balanced is None else int(one.balanced)}
        tx.run(_INSERT, account_id=account_id, import_id=import_id, **values)


def forget(tx: WriteTx, import_id: str) -> None:
    """Delete the statements of a run that never counted."""
    tx.run(_DELETE, import_id=import_id)


def mark(tx: WriteTx, account_id: str, import_id: str, *, applied: bool) -> None:
    """Let the statements of a run count from now on, or no more, and say so on their account."""
    tx.run(_MARK, import_id=import_id, applied=int(applied))
    if not applied:
        statement_gaps.forget(tx, account_id, import_id)
    account = ACCOUNTS.get(tx, account_id)
    last_id, last_at = (import_id, tx.now) if applied else import_runs.latest(tx, account_id, import_id)
    account = replace(
        account,
        coverage=merged(_ranges(tx, account_id)),
        balances=_balances(tx, account_id, account.currency),
        last_import_id=last_id,
        last_import_at=last_at,
    )
    ACCOUNTS.save(tx, account)  # Chosen: not a new version, for nobody has edited it


def _ranges(tx: ReadTx, account_id: str) -> list[DateRange]:
    """The days of the statements that count, by their first days."""
    gone = statement_gaps.of_account(tx, account_id)
    found = tx.rows(_SELECT_RANGES, account_id=account_id)
    return sorted(
        part
        for import_id, first, last in found
        for part in statement_gaps.without(DateRange(first, last), gone.get(import_id, ()))
    )


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
    what it differs by from the last closing balance is missing, or there twice. To read `unsafePeriods` needs
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
        statements=[_covered(row, account.currency) for row in found],
        ledger=_ledger(tx, account.id, account.currency),
        unsafe_periods=unsafe_periods.of_account(tx, account.id) if _PERIODS in caller.scopes else None,
    )


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
)
