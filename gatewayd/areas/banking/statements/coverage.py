"""Which days of an account its statements hold, and whether they add up (domain model B6, C10 and F 5).

A statement that does not add up leaves a gap. Statements of a run count once it is applied, and until it is undone;
days whose lines went when another run was undone (`statement_gaps`) do not count.

Days that no statement holds are bridged where nothing can be missing on them: the balances on both sides agree. A
balance is told at the end of a day: by a statement's foot, by its opening for the day before, or by a person. Between
two of them that follow upon each other the lines have to make up the difference.
"""

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from msgspec.structs import replace

from gatewayd.areas.banking.accounts.rows import ACCOUNTS
from gatewayd.areas.banking.accounts.shapes import AccountBalance, BalanceType, Coverage
from gatewayd.areas.banking.accounts.shapes import DateRange as CoverageGap
from gatewayd.areas.banking.statements import kept_statements, stated_balances, statement_gaps
from gatewayd.areas.banking.statements.stated_balances import (
    RemovedBalance,
    RemoveStatedBalance,
    StateBalance,
    StatedBankBalance,
)
from gatewayd.contract.caller import Caller
from gatewayd.contract.holding import HeldBy
from gatewayd.contract.operation import Operation
from gatewayd.contract.wire import Amount, DateText, Id, Request, Response
from gatewayd.ledger.calendar import periods
from gatewayd.ledger.calendar.forecast import PeriodType
from gatewayd.ledger.calendar.periods import Label, PeriodRow
from gatewayd.ledger.dates.date_ranges import DateRange, after, before, days
from gatewayd.ledger.imports import bank_statements, import_runs
from gatewayd.ledger.imports.bank_statements import ALWAYS
from gatewayd.ledger.taxpayers.businesses import accounts_of, entities_of
from gatewayd.money import Money, from_minor
from gatewayd.store import ReadTx, WriteTx

BRIDGED_DAYS: Final = 31  # Chosen: that statements bridge by themselves; a person's word reaches any distance
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
    """A statement that is applied."""

    import_id: Id
    """The import that brought it."""
    from_date: DateText
    """Its first day."""
    to_date: DateText | None
    """Its last day, included. Null: it does not tell."""
    opening_balance: Amount | None
    """What was held before its first day. Null: it does not tell."""
    closing_balance: Amount | None
    """What was held at the end of its last day. Null: it does not tell."""
    balanced: bool | None
    """Whether its lines lead from one balance to the other. Null: it tells too little to say."""


class LedgerBalance(Response, frozen=True, kw_only=True):
    """Whether all booked lines lead from the first opening balance to the last closing balance."""

    as_of: DateText
    """The day at whose end both balances are."""
    statement_balance: Amount
    """The last closing balance that a statement, or a person, tells."""
    ledger_balance: Amount
    """The first opening balance with all booked lines up to that day."""
    difference: Amount
    """`ledgerBalance` less `statementBalance`. 0.00: they agree; else lines are missing, or there twice."""


class UnsafePeriod(Response, frozen=True, kw_only=True):
    """A period that is not closed, and that days of the account which nothing covers make unsafe to close."""

    period_id: Id
    """Which period."""
    legal_entity_id: Id
    """Whose period it is."""
    business_id: Id | None
    """The business whose quarter it is. Null: it is of the whole legal entity."""
    type: PeriodType
    """What kind of period it is."""
    label: Label
    """What people call it."""
    from_date: DateText
    """Its first day."""
    to_date: DateText
    """Its last day, included."""
    first_missing: DateText
    """The first of its days that nothing covers."""
    missing_days: int
    """How many of its days, up to today, nothing covers."""


class AccountCoverage(Response, frozen=True, kw_only=True):
    """The days that statements cover, where days are missing, and whether statements and lines add up."""

    account_id: Id
    """Which bank account."""
    currency: str
    """The currency of the amounts."""
    from_date: DateText | None
    """The first day that is covered. Null: none is."""
    to_date: DateText | None
    """The last day that is covered. Null: none is."""
    gaps: list[CoverageGap]
    """Days between these two that nothing covers, oldest first."""
    bridges: list[CoverageGap]
    """Days that no statement holds, between balances that the lines agree with: they are covered, and no gaps."""
    statements: list[CoveredStatement]
    """The statements of imports that are applied, latest first, at most 1,000."""
    stated_balances: list[StatedBankBalance]
    """What people said that the account held at the end of a day, latest first, at most 1,000."""
    ledger: LedgerBalance | None
    """Whether the lines lead from the first balance to the last. Null: nobody tells enough balances."""
    unsafe_periods: list[UnsafePeriod] | None
    """Periods that are not closed of which days, up to today, are missing. Null: the caller may not read periods."""


class GetCoverage(Request, frozen=True, kw_only=True):
    """Which account."""

    account_id: Id


class CountedStatement(NamedTuple):
    """A statement that counts: its days, and the balances that it begins and ends with."""

    first: str
    last: str
    opening: int | None
    closing: int | None


class _Anchor(NamedTuple):
    """What an account held at the end of a day. `is_stated`: a person says so."""

    date: str
    balance: int
    is_stated: bool


def merged(ranges: Iterable[DateRange]) -> Coverage:
    """What ranges, which come in the order of their first days, cover together."""
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
    """Let the statements of a run count from now on, or no longer, and bring their account up to date."""
    kept_statements.mark(tx, import_id, applied=applied)
    if not applied:
        statement_gaps.forget(tx, account_id, import_id)
    last_id, last_at = (import_id, tx.now) if applied else import_runs.latest(tx, account_id, import_id)
    account = ACCOUNTS.get(tx, account_id)
    ACCOUNTS.save(tx, replace(account, last_import_id=last_id, last_import_at=last_at))
    refresh(tx, account_id)


def refresh(tx: WriteTx, account_id: str) -> None:
    """Reckon anew which days of an account are covered, and what its bank told last."""
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
    statements = tx.rows(_SELECT_COUNTED, account_id=account_id)
    covered = sorted(
        part
        for import_id, first, last, *_ in statements
        for part in statement_gaps.without(DateRange(first, last), gone.get(import_id, ()))
    )
    missing = dict.fromkeys(day for of_import in gone.values() for day in of_import)
    return covered, bridged(tx, account_id, [CountedStatement(*row[1:]) for row in statements], covered, missing)


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
    """What an account holds: the last balance that is known with the booked lines since, else all booked lines."""
    account = ACCOUNTS.get(tx, account_id)
    told = bank_statements.closing(tx, account.id, ALWAYS)
    if told is None:
        return Money(bank_statements.moved(tx, account.id, ALWAYS), account.currency)
    since = ALWAYS._replace(first=after(told.as_of))
    return Money(told.balance + bank_statements.moved(tx, account.id, since), account.currency)


# -- bridges


def bridged(
    tx: ReadTx,
    account_id: str,
    statements: Sequence[CountedStatement],
    covered: Sequence[DateRange],
    gone: Mapping[str, object],
) -> list[DateRange]:
    """The days between balances that the lines agree with, where no range of `covered` holds all of them.

    `covered` are in order. On the days of `gone` lines were taken out: no range with one of them is bridged.
    """
    by_day: dict[str, list[_Anchor]] = {}
    for anchor in _anchors(tx, account_id, statements):
        by_day.setdefault(anchor.date, []).append(anchor)
    dates = sorted(by_day)
    holes = list(_holes(covered, dates))
    bridges = []
    for start, end in itertools.pairwise(dates):
        between = DateRange(after(start), end)
        if not any(first <= between.last and last >= between.first for first, last in holes):
            continue
        if any(between.first <= day <= between.last for day in gone):
            continue
        if _agree(tx, account_id, between, by_day[start], by_day[end]):
            bridges.append(between)
    return bridges


def _anchors(tx: ReadTx, account_id: str, statements: Sequence[CountedStatement]) -> Iterator[_Anchor]:
    for statement in statements:
        if statement.opening is not None:
            yield _Anchor(before(statement.first), statement.opening, is_stated=False)
        if statement.closing is not None:
            yield _Anchor(statement.last, statement.closing, is_stated=False)
    for stated in bank_statements.stated(tx, account_id, ALWAYS):
        yield _Anchor(stated.as_of, stated.balance, is_stated=True)


def _holes(covered: Sequence[DateRange], dates: Sequence[str]) -> Iterator[DateRange]:
    """The days from the first balance to the last that no range holds."""
    if not dates:
        return
    free = after(dates[0])
    for first, last in covered:
        if free < first:
            yield DateRange(free, before(first))
        free = max(free, after(last))
    if free <= dates[-1]:
        yield DateRange(free, dates[-1])


def _agree(tx: ReadTx, account_id: str, between: DateRange, start: Iterable[_Anchor], end: Sequence[_Anchor]) -> bool:
    """Whether the lines of these days lead from a balance at their beginning to one at their end.

    Chosen: statements alone bridge a month at most, and not from 0.00 to 0.00, which many accounts come to.
    """
    moved = bank_statements.moved(tx, account_id, between)
    pairs = [(opening, other) for opening in start for other in end if opening.balance + moved == other.balance]
    if any(opening.is_stated or other.is_stated for opening, other in pairs):
        return True
    return days(between) <= BRIDGED_DAYS and any(opening.balance != 0 or other.balance != 0 for opening, other in pairs)


# -- periods that missing days make unsafe to close (Domain F.5)


def _unsafe_periods(tx: ReadTx, account_id: str) -> list[UnsafePeriod]:
    """The periods whose checklist counts days of this account as missing, by entity and last day."""
    return [
        period for entity_id in entities_of(tx, account_id) for period in _unsafe_of_entity(tx, entity_id, account_id)
    ]


def _unsafe_of_entity(tx: ReadTx, legal_entity_id: str, account_id: str) -> Iterator[UnsafePeriod]:
    counts: dict[str | None, bool] = {}
    for row in periods.begun_and_open(tx, legal_entity_id, tx.today):
        if row.business_id not in counts:
            counts[row.business_id] = account_id in accounts_of(tx, legal_entity_id, row.business_id)
        gaps = _missing_in(tx, row, account_id) if counts[row.business_id] else []
        if gaps:
            yield UnsafePeriod(
                period_id=row.id,
                legal_entity_id=row.legal_entity_id,
                business_id=row.business_id,
                type=row.type,
                label=row.label,
                from_date=row.start_date,
                to_date=row.end_date,
                first_missing=gaps[0].first,
                missing_days=sum(days(gap) for gap in gaps),
            )


def _missing_in(tx: ReadTx, row: PeriodRow, account_id: str) -> list[DateRange]:
    return bank_statements.missing(tx, account_id, DateRange(row.start_date, min(row.end_date, tx.today)))


# -- operations


def get_coverage(tx: ReadTx, caller: Caller, request: GetCoverage) -> AccountCoverage:
    """Tell which days of an account its statements hold, where days are missing, and whether its lines add up.

    A statement that does not add up counts as missing. `ledger` adds the booked lines to the first opening balance:
    what it differs by from the last closing balance is missing, or there twice. Days between two balances are covered
    where the lines make up the difference: between statements that join, for a month at most, and between any of them
    and one that a person stated. To read `unsafePeriods` needs
    `periods:read` as well.
    """
    account = ACCOUNTS.get(tx, request.account_id)
    statements = tx.rows(_SELECT_STATEMENTS, account_id=account.id, count=SHOWN_STATEMENTS)
    return AccountCoverage(
        account_id=account.id,
        currency=account.currency,
        from_date=account.coverage.from_date,
        to_date=account.coverage.to_date,
        gaps=account.coverage.gaps,
        bridges=[CoverageGap(from_date=first, to_date=last) for first, last in ranges(tx, account.id)[1]],
        statements=[_covered(row, account.currency) for row in statements],
        stated_balances=stated_balances.of_account(tx, account.id),
        ledger=_ledger(tx, account.id, account.currency),
        unsafe_periods=_unsafe_periods(tx, account.id) if _PERIODS in caller.scopes else None,
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
    compared = bank_statements.compared(tx, account_id, ALWAYS)
    if compared is None:
        return None
    stated, counted = Money(compared.stated, currency), Money(compared.counted, currency)
    return LedgerBalance(
        as_of=compared.as_of, statement_balance=stated, ledger_balance=counted, difference=counted - stated
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
        held=HeldBy(leads={"account_id": "bank_account"}),
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
        example={"accountId": "bac_01k0000000000000000000000a", "date": "2026-10-31", "balance": "2000.00"},
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
