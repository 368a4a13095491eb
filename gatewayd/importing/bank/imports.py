"""Imports of bank statements: lines come in, hidden while there are many, and rules allocate them."""

from collections.abc import Sequence
from functools import partial
from typing import Final

import msgspec
from msgspec.structs import replace

from gatewayd.areas.banking.accounts.rows import ACCOUNTS, others_open
from gatewayd.areas.banking.imports.rows import STAGED
from gatewayd.areas.banking.statements import kept_statements
from gatewayd.errors import Problem, invalid_state
from gatewayd.importing import runs, staged
from gatewayd.importing.bank import comparing, moves, taking
from gatewayd.importing.bank.staging import StatementRows
from gatewayd.importing.bank.whose import OTHERS_SHOWN, NamedLater, Whose
from gatewayd.importing.fencing import Database
from gatewayd.importing.kinds import NotTaken, OpenAccount
from gatewayd.importing.pace import Pace
from gatewayd.importing.parts import ImportParts
from gatewayd.importing.reading import About, FileReader, Source, Steps, remember
from gatewayd.ledger.allocating import allocation_rules, bank_lines
from gatewayd.ledger.allocating.bank_lines import Position
from gatewayd.ledger.calendar import period_locks
from gatewayd.ledger.imports import bank_statements, import_runs
from gatewayd.ledger.imports.import_runs import RUNS
from gatewayd.ledger.imports.import_shapes import ColumnMapping, ImportRunRow, SupposedReading
from gatewayd.money import Money
from gatewayd.statements.shapes import Column, Mapping
from gatewayd.store import ReadTx, WriteTx

AT_ONCE: Final = 100  # Chosen: lines in one transaction; a rule takes the time of several rows
TRIES: Final = 3  # Chosen: comparisons, where periods are closed meanwhile
_PERIODS_CLOSED: Final = "Periods were closed while it was applied: import the file again."
_OWED: Final = ("card", "loan", "mortgage")
_COLUMNS: Final = frozenset(field.name for field in msgspec.structs.fields(Mapping) if field.type == Column | None)


async def allocate(store: Database, org_id: str, import_id: str) -> None:
    """Let the rules allocate an import that is applied, where it waits for them."""
    run = await store.read(lambda tx: RUNS.get(tx, import_id), org_id)
    if run.stage != "allocating":
        return
    pace = Pace(store, org_id)
    after: Position | None = Position(run.account_id, "", "")
    while after is not None:
        after = await pace.write(partial(_allocate_next, run=run, after=after, count=pace.rows(AT_ONCE)))
    await store.write(lambda tx: _end(tx, import_id), org_id)


def _allocate_next(tx: WriteTx, run: ImportRunRow, after: Position, count: int) -> Position | None:
    """The position of the last line that was looked at; None: none follow."""
    if run.overrides_closing:
        tx.overrides = frozenset({period_locks.CLOSING})
    lines = bank_lines.of_import(tx, run.id, after, count)
    allocation_rules.apply_rules(tx, lines)
    return lines[-1].position if len(lines) == count else None


def _end(tx: WriteTx, import_id: str) -> ImportRunRow:
    return RUNS.update(tx, replace(RUNS.get(tx, import_id), stage=None))


class BankImports:
    """See `Kind`."""

    def __init__(self, parts: ImportParts) -> None:
        self._parts = parts
        self._store = parts.store

    def open_account(self, tx: ReadTx, account_id: str) -> OpenAccount:
        account = ACCOUNTS.get(tx, account_id)
        if account.status == "closed":
            message = "The account is closed: open it again to import into it, by `status` of `banking.updateAccount`."
            raise invalid_state(message, "closed", ("active",))
        return OpenAccount(account.id, account.currency)

    def may_bring_more(self, tx: ReadTx, run: ImportRunRow, overrides_closing: bool) -> bool:
        """Where it was closed and is no more."""
        account = ACCOUNTS.get(tx, run.account_id)
        closed = period_locks.closed_ranges(tx, account.legal_entity_id, overrides_closing)
        days = STAGED.refused_days(tx, run.id)
        return any(not any(first <= day <= last for first, last in closed) for day in days)

    # -- reading

    async def read(self, org_id: str, run: ImportRunRow, source: Source) -> ImportRunRow:
        try:
            statement_rows, mapping = await self._read_rows(org_id, run, source)
        except NamedLater:
            await self.forget_all(org_id, run.id)
            statement_rows, mapping = await self._read_rows(org_id, run, source, is_settled=True)
        if mapping is None and source.answers and statement_rows.first is not None:
            mapping = statement_rows.first.mapping
        return await self._store.write(partial(_keep, run=run, statement_rows=statement_rows, mapping=mapping), org_id)

    async def _read_rows(
        self, org_id: str, run: ImportRunRow, source: Source, *, is_settled: bool = False
    ) -> tuple[StatementRows, Mapping | None]:
        """See `FileReader.read`. Raises `NotTaken` and `NamedLater` besides."""

        def begin(tx: ReadTx) -> StatementRows:
            account = ACCOUNTS.get(tx, run.account_id)
            whose = Whose(account, others_open(tx, account.id), source.of_account, is_settled=is_settled)
            return StatementRows(run.id, account, tx.today, whose)

        steps = Steps(
            begin=begin,
            about=lambda tx: _about(tx, run.account_id),
            known=lambda tx, headings: _known(tx, run.account_id, headings),
            forget=lambda: self.forget_all(org_id, run.id),
        )
        statement_rows, mapping = await FileReader(self._parts, org_id, run, steps).read(source)
        statement_rows.whose.check(makes_account=run.makes_account)
        try:
            statement_rows.statements = kept_statements.widened(
                statement_rows.statements, source.covers, statement_rows.today
            )
        except Problem as error:
            raise NotTaken(error) from None
        return statement_rows, mapping

    async def compare(self, org_id: str, run: ImportRunRow) -> ImportRunRow:
        return await comparing.compare(self._store, org_id, run)

    # -- in

    async def apply(self, org_id: str, run: ImportRunRow) -> None:
        try:
            run = await self._store.write(partial(taking.take, run=run), org_id)
        except Problem as error:
            await self._store.write(partial(runs.fail, import_id=run.id, reason=error.message), org_id)
            raise
        for _ in range(TRIES):
            run = await self.compare(org_id, run)
            try:
                if run.added + run.replaced <= self._parts.sizes.at_once:
                    await self._store.write(partial(moves.apply_whole, run=run), org_id)
                else:
                    await self._store.write(partial(moves.begin_hidden, run=run), org_id)
                    await self._apply_hidden(org_id, run)
            except moves.PeriodsChanged:
                continue
            await allocate(self._store, org_id, run.id)
            return
        await self._store.write(lambda tx: runs.fail(tx, run.id, _PERIODS_CLOSED), org_id)
        if run.makes_account:  # and nobody can read there why
            raise invalid_state(_PERIODS_CLOSED, "failed", ())

    async def _apply_hidden(self, org_id: str, run: ImportRunRow) -> None:
        """Bring the rows in that have not come in yet. Raises `PeriodsChanged`, and then none of them has."""
        position = run.moved_to or 0
        last = await self._store.read_later(lambda tx: STAGED.last_position(tx, run.id), org_id)
        pace = Pace(self._store, org_id)
        while position < last:
            count = pace.rows(self._parts.sizes.chunk)
            position = await pace.write(partial(moves.apply_chunk, run=run, after=position, count=count))
        try:
            await self._store.write(lambda tx: moves.end_hidden(tx, run), org_id)
        except moves.PeriodsChanged:
            await self._store.write(lambda tx: moves.begin_taking_back(tx, run), org_id)
            await self._take_back(org_id, run)
            raise

    async def _take_back(self, org_id: str, run: ImportRunRow) -> None:
        await self._empty(org_id, run)
        await self._store.write(lambda tx: moves.end_taking_back(tx, run), org_id)

    async def go_on(self, org_id: str, run: ImportRunRow) -> None:
        if run.stage == "allocating":
            await allocate(self._store, org_id, run.id)
        elif not await self._store.read(lambda tx: self.has_begun(tx, run), org_id):
            await self.apply(org_id, run)
        elif not run.moved_to:  # nothing had come in yet, or what had was on its way out
            await self._take_back(org_id, run)
            await self.apply(org_id, run)
        else:
            try:
                await self._apply_hidden(org_id, run)
            except moves.PeriodsChanged:
                await self.apply(org_id, replace(run, moved_to=0))
            else:
                await allocate(self._store, org_id, run.id)

    def has_begun(self, tx: ReadTx, run: ImportRunRow) -> bool:
        return import_runs.is_hidden(tx, run.id)

    # -- out

    async def check_undoing(self, org_id: str, run: ImportRunRow) -> None:
        """All of it can: `begin_undoing` looks at it once more."""

    def begin_undoing(self, tx: WriteTx, run: ImportRunRow) -> ImportRunRow:
        return moves.begin_undoing(tx, run, self._parts.sizes)

    async def undo(self, org_id: str, run: ImportRunRow) -> None:
        await self._empty(org_id, run)
        await self._store.write(lambda tx: moves.end_undoing(tx, run), org_id)

    async def _empty(self, org_id: str, run: ImportRunRow) -> None:
        await Pace(self._store, org_id).drain(partial(moves.undo_chunk, run=run), self._parts.sizes.chunk)

    async def forget(self, org_id: str, run: ImportRunRow) -> None:
        await staged.forget_ended(self._store, STAGED, org_id, run)

    async def forget_all(self, org_id: str, import_id: str) -> None:
        await staged.forget_all(self._store, STAGED, org_id, import_id)


def _about(tx: ReadTx, account_id: str) -> About:
    """What a CSV that leaves something open is read by."""
    told = bank_statements.closing(tx, account_id, bank_statements.ALWAYS)
    is_card = ACCOUNTS.get(tx, account_id).type in _OWED
    return About(is_card=is_card, last_balance=None if told is None else told.balance)


def _known(tx: ReadTx, account_id: str, headings: Sequence[str]) -> Mapping | None:
    """How the last CSV of the account was read, if a file with these headings has the same columns."""
    account = ACCOUNTS.get(tx, account_id)
    if account.csv_mapping is None:
        return None
    own = msgspec.json.decode(account.csv_mapping, type=Mapping)
    return own if _has_columns(headings, own) else None


def _has_columns(headings: Sequence[str], mapping: Mapping) -> bool:
    """Whether a file with these headings has the columns of a mapping: by name, or by number where it has none."""
    named = {heading.strip().casefold() for heading in headings}
    columns = [value for name, value in msgspec.structs.asdict(mapping).items() if name in _COLUMNS]
    wanted = [*(column for column in columns if column is not None), *mapping.description]
    if not named:
        return all(isinstance(column, int) for column in wanted)
    return all(isinstance(column, str) and column.strip().casefold() in named for column in wanted)


def _keep(tx: WriteTx, *, run: ImportRunRow, statement_rows: StatementRows, mapping: Mapping | None) -> ImportRunRow:
    """What the file said of itself, and how it was read."""
    account = ACCOUNTS.get(tx, run.account_id)
    kept_statements.add(tx, account.id, run.id, statement_rows.statements)
    if mapping is not None:
        remember(tx, run, mapping)
        ACCOUNTS.save(tx, replace(account, csv_mapping=msgspec.json.encode(mapping).decode()))
    opened = statement_rows.first
    (from_date, to_date), balances = statement_rows.span, statement_rows.balances
    opening, closing = (None if minor is None else Money(minor, account.currency) for minor in balances)
    used = mapping if opened is None or opened.mapping is None else opened.mapping
    return RUNS.save(
        tx,
        replace(
            run,
            format=None if opened is None else opened.format,
            profile=None if opened is None else opened.profile,
            mapping=None if used is None else ColumnMapping.of(used),
            supposed=[] if opened is None else [SupposedReading.of(reading) for reading in opened.supposed],
            rows=statement_rows.counts.rows,
            refused_rows=statement_rows.counts.refused_rows,
            refused=statement_rows.counts.refused,
            ignored_rows=statement_rows.counts.ignored_rows,
            ignored=statement_rows.counts.ignored,
            other_accounts=[other.shown() for other in statement_rows.whose.theirs[:OTHERS_SHOWN]],
            file_account=taking.said_by(statement_rows.whose.ours),
            from_date=from_date,
            to_date=to_date,
            opening_balance=opening,
            closing_balance=closing,
            balanced=statement_rows.balanced,
        ),
    )
