"""A file is read apart and staged, then its rows are compared with the account's: the steps before it is applied."""

import contextlib
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final, Protocol, get_args

import msgspec
from msgspec.structs import replace

from gatewayd.areas.banking import coverage
from gatewayd.areas.banking.accounts.rows import ACCOUNTS
from gatewayd.areas.banking.accounts.shapes import BankAccountRow
from gatewayd.areas.banking.imports import planning, rows
from gatewayd.areas.banking.imports.duplicates import Plan, Stored
from gatewayd.areas.banking.imports.rows import DUPLICATES_KEPT, REFUSED_SHOWN, RUNS, Decision
from gatewayd.areas.banking.imports.shapes import Action, ColumnMapping, ImportRunRow, MappingProposal
from gatewayd.importing.pace import Pace
from gatewayd.importing.staging import FileRows
from gatewayd.ledger import period_locks
from gatewayd.money import Money
from gatewayd.statements.shapes import Column, Format, Hints, Limits, Mapping, Part, Unreadable
from gatewayd.store import ReadTx, Store, WriteTx

STAGED_AT_ONCE: Final = 250  # Chosen: rows of one transaction, so that no request waits long for them
COMPARED_AT_ONCE: Final = 500
FORGOTTEN_AT_ONCE: Final = 500


_COLUMNS: Final = frozenset(one.name for one in msgspec.structs.fields(Mapping) if one.type == Column | None)


class ReadApart(Protocol):
    """What reads a file in a process of its own, and answers its parts in batches. Raises `Unreadable`."""

    def __call__(self, path: Path, hints: Hints, /) -> AsyncIterator[list[Part]]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A file to be read, and what its sender said of it."""

    path: Path
    file_name: str
    format: Format | None
    mapping: Mapping | None
    max_bytes: int


Progress = Callable[[int], None]
"""Told how many rows have been read."""


class FileReader:
    """Reads one file for one run."""

    def __init__(self, store: Store, read_apart: ReadApart, run: ImportRunRow, org_id: str, progress: Progress) -> None:
        self._store = store
        self._read_apart = read_apart
        self._run = run
        self._org_id = org_id
        self._progress = progress

    async def read(self, source: Source) -> ImportRunRow:
        """Stage the rows of the file. Raises `Unreadable`; with a proposal, where a mapping would make it readable."""
        account = await self._store.read_later(lambda tx: ACCOUNTS.get(tx, self._run.account_id), self._org_id)
        mapping = source.mapping
        try:
            found = await self._stage(account, source, mapping)
        except Unreadable as error:
            if error.proposal is None or mapping is not None:
                raise
            mapping = await self._learned(account, error.proposal.headings)
            if mapping is None:
                raise
            await forget_all(self._store, self._org_id, self._run.id)
            found = await self._stage(account, source, mapping)
        return await self._store.write(lambda tx: self._keep(tx, account, found, mapping), self._org_id)

    async def _stage(self, account: BankAccountRow, source: Source, mapping: Mapping | None) -> FileRows:
        today = await self._store.read_later(lambda tx: tx.today, self._org_id)
        found = FileRows(account, today)
        hints = Hints(
            file_name=source.file_name,
            format=source.format,
            mapping=mapping,
            currency=account.currency,
            limits=Limits(file_bytes=source.max_bytes),
        )
        pace = Pace(self._store, self._org_id)
        async with contextlib.aclosing(_closable(self._read_apart(source.path, hints))) as batches:
            async for batch in batches:
                for few in _in_pieces(batch, pace):
                    await pace.write(partial(self._stage_rows, found=found, parts=few))
                self._progress(found.rows)
        if found.rows == 0 and not found.statements:
            raise Unreadable(None, "The file holds no transactions.")
        return found

    def _stage_rows(self, tx: WriteTx, *, found: FileRows, parts: Sequence[Part]) -> None:
        rows.stage(tx, self._run.id, found.take(parts))

    async def _learned(self, account: BankAccountRow, headings: Sequence[str]) -> Mapping | None:
        """How a file with these headings was read before, or one of this account that has the same columns."""
        known = await self._store.read_later(lambda tx: rows.learned(tx, headings), self._org_id)
        if known is not None or account.csv_mapping is None:
            return known
        own = msgspec.json.decode(account.csv_mapping, type=Mapping)
        return own if _has_columns(headings, own) else None

    def _keep(self, tx: WriteTx, account: BankAccountRow, found: FileRows, mapping: Mapping | None) -> ImportRunRow:
        """What the file said of itself, and how it was read."""
        coverage.add(tx, account.id, self._run.id, found.statements)
        if mapping is not None:
            asked = rows.asked_of(tx, account.id, self._run.sha256)
            if asked is not None:
                rows.learn(tx, asked.headings, mapping)
            _learn(tx, account.id, mapping)
        opened = found.first
        (from_date, to_date), balances = found.span, found.balances
        opening, closing = (None if minor is None else Money(minor, account.currency) for minor in balances)
        used = mapping if opened is None or opened.mapping is None else opened.mapping
        return RUNS.save(
            tx,
            replace(
                self._run,
                format=None if opened is None else opened.format,
                profile=None if opened is None else opened.profile,
                mapping=None if used is None else ColumnMapping.of(used),
                rows=found.rows,
                refused_rows=found.refused_rows,
                refused=found.refused,
                from_date=from_date,
                to_date=to_date,
                opening_balance=opening,
                closing_balance=closing,
                balanced=found.balanced,
            ),
        )


def _has_columns(headings: Sequence[str], mapping: Mapping) -> bool:
    """Whether a file with these headings has the columns of a mapping: by name, or by number where it has none."""
    named = {heading.strip().casefold() for heading in headings}
    columns = [value for name, value in msgspec.structs.asdict(mapping).items() if name in _COLUMNS]
    wanted = [*(column for column in columns if column is not None), *mapping.description]
    if not named:
        return all(isinstance(column, int) for column in wanted)
    return all(isinstance(column, str) and column.strip().casefold() in named for column in wanted)


def _learn(tx: WriteTx, account_id: str, mapping: Mapping) -> None:
    account = ACCOUNTS.get(tx, account_id)
    ACCOUNTS.save(tx, replace(account, csv_mapping=msgspec.json.encode(mapping).decode()))


async def _closable(batches: AsyncIterator[list[Part]]) -> AsyncGenerator[list[Part], None]:
    """The batches, whose generator is closed with this one."""
    try:
        async for batch in batches:
            yield batch
    finally:
        if isinstance(batches, AsyncGenerator):
            await batches.aclose()


def _in_pieces(batch: Sequence[Part], pace: Pace) -> Iterator[Sequence[Part]]:
    start = 0
    while start < len(batch):
        end = start + pace.rows(STAGED_AT_ONCE)
        yield batch[start:end]
        start = end


def waiting_for_mapping(run: ImportRunRow, error: Unreadable) -> ImportRunRow:
    """The run that asks how its columns are to be read."""
    assert error.proposal is not None
    return replace(run, status="uploaded", stage=None, error=error.reason, proposal=MappingProposal.of(error.proposal))


async def compare(store: Store, org_id: str, run: ImportRunRow) -> ImportRunRow:
    """Decide on every staged row, and count what would become of them."""
    pace = Pace(store, org_id)
    for action in ("duplicate", "replace", "refuse"):  # of an earlier comparison
        await pace.drain(partial(rows.reset, import_id=run.id, action=action, count=COMPARED_AT_ONCE))
    plan, pending = await store.read_later(lambda tx: _begin_plan(tx, run), org_id)
    days = await store.read_later(lambda tx: planning.days(tx, run.id), org_id)
    for span in _spans(days, pace):
        decisions = await pace.read(partial(_decide, run=run, plan=plan, pending=pending, span=span))
        if decisions:
            await pace.write(partial(rows.decide, import_id=run.id, decisions=decisions))
    counted = await store.read_later(lambda tx: _counted(tx, run), org_id)
    return await store.write(lambda tx: RUNS.save(tx, counted), org_id)


def _begin_plan(tx: ReadTx, run: ImportRunRow) -> tuple[Plan, dict[int, list[Stored]]]:
    account = ACCOUNTS.get(tx, run.account_id)
    closed = period_locks.closed_ranges(tx, account.legal_entity_id, run.overrides_closing)

    def is_closed(date: str) -> bool:
        return any(first <= date <= last for first, last in closed)

    return Plan(account.id, account.currency, run.format, is_closed), planning.pending(tx, account.id)


def _decide(
    tx: ReadTx, run: ImportRunRow, plan: Plan, pending: dict[int, list[Stored]], span: tuple[str, str]
) -> list[Decision]:
    of_days = planning.candidates(tx, run.id, *span)
    known = planning.known(tx, run.account_id, run.id, of_days, pending)
    return [decision for day, candidates in of_days.items() for decision in plan.day(candidates, known[day])]


def _spans(days: Sequence[tuple[str, int]], pace: Pace) -> Iterator[tuple[str, str]]:
    """Ranges of days with some hundred rows each; a day with more has one of its own."""
    first, count = "", 0
    for index, (day, rows_of_day) in enumerate(days):
        first = first or day
        count += rows_of_day
        following = days[index + 1][1] if index + 1 < len(days) else COMPARED_AT_ONCE
        if count + following > pace.rows(COMPARED_AT_ONCE):
            yield first, day
            first, count = "", 0


def _counted(tx: ReadTx, run: ImportRunRow) -> ImportRunRow:
    counted = rows.counts(tx, run.id)
    refused = rows.refused(tx, run.id)
    from_file = [one for one in run.refused if one not in refused]
    unstaged = run.rows - sum(counted.values())
    return replace(
        run,
        added=counted.get("add", 0),
        duplicates=counted.get("duplicate", 0),
        replaced=counted.get("replace", 0),
        refused_rows=unstaged + counted.get("refuse", 0),
        refused=sorted([*from_file, *refused], key=lambda one: one.line)[:REFUSED_SHOWN],
    )


async def forget_all(store: Store, org_id: str, import_id: str) -> None:
    """Delete whatever is staged, a few rows at a time."""
    pace = Pace(store, org_id)
    for action in get_args(Action):
        await _forget(pace, import_id, action)


async def forget_applied(store: Store, org_id: str, import_id: str) -> None:
    """Delete what is staged of rows that were added, and of duplicates where they are very many."""
    pace = Pace(store, org_id)
    await _forget(pace, import_id, "add")
    counted = await store.read_later(lambda tx: rows.counts(tx, import_id), org_id)
    if counted.get("duplicate", 0) > DUPLICATES_KEPT:
        await _forget(pace, import_id, "duplicate")


async def _forget(pace: Pace, import_id: str, action: str) -> None:
    await pace.drain(partial(rows.forget, import_id=import_id, action=action, count=FORGOTTEN_AT_ONCE))
