"""Imports of brokers' files: rows become transactions of an account, one instrument after the other.

A small file comes in at once. Of a large one each piece is seen as soon as it is in, and its run is `applying` until
the last: what is held is computed with every piece, and there is nothing to hide it behind (decision 0021). It leaves
the same way, what came last first.
"""

import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from msgspec import structs
from msgspec.structs import replace

from gatewayd.areas.assets.books import transactions
from gatewayd.areas.assets.books.accounts import ACCOUNTS
from gatewayd.areas.assets.books.portfolios import PORTFOLIOS
from gatewayd.areas.assets.books.transactions import AssetTransaction
from gatewayd.areas.assets.imports import conversions, quantities, records, rows
from gatewayd.areas.assets.imports.conversions import Conversion
from gatewayd.areas.assets.imports.duplicates import Finder
from gatewayd.areas.assets.imports.rows import STAGED, Decision, Staged
from gatewayd.areas.assets.pools import recording
from gatewayd.errors import Problem, invalid_state
from gatewayd.importing import staged
from gatewayd.importing.broker import entering
from gatewayd.importing.broker.entering import override
from gatewayd.importing.file_counts import FileCounts
from gatewayd.importing.kinds import OpenAccount
from gatewayd.importing.pace import Pace
from gatewayd.importing.parts import ImportParts, Sizes
from gatewayd.importing.reading import FileReader, Source, Steps, remember
from gatewayd.ledger.calendar import period_locks
from gatewayd.ledger.imports.import_runs import RUNS, learn, learned
from gatewayd.ledger.imports.import_shapes import ColumnMapping, ImportRunRow
from gatewayd.statements.shapes import Ignored, Instrument, Mapping, Opened, Part, Refused, Trade, Unreadable
from gatewayd.store import ReadTx, WriteTx

INSTRUMENTS_MAX: Final = 20_000  # Chosen: of one file, so that what it calls them by fits in memory
SLOWER: Final = 5  # Chosen: a row takes the time of so many lines of a bank


class Tried(Exception):
    """It would leave: raised, so that it stays."""


def begin_leaving(tx: WriteTx, run: ImportRunRow, sizes: Sizes) -> ImportRunRow:
    """Take out all of a small import; a large one is gone on with.

    Raises `Problem`: `invalid_state` where any of it was reversed, `period_closed`, `insufficient_quantity`.
    """
    account = ACCOUNTS.get(tx, run.account_id)
    if transactions.reversed_of_import(tx, run.id) is not None:
        raise invalid_state(
            "Transactions of it were reversed: reverse the others one by one, with `assets.createTransaction`.",
            run.status,
            (),
        )
    override(tx, run)
    ranges = period_locks.closed_ranges(tx, account.legal_entity_id, run.overrides_closing)
    closed = transactions.first_within(tx, run.id, ranges)
    if closed is not None:
        period_locks.refuse_closed(tx, account.legal_entity_id, closed)
    if run.added > sizes.at_once:
        return RUNS.update(tx, replace(run, status="reverting", stage="reverting", error=None))
    take_some(tx, run=run, count=sizes.at_once)
    return end_leaving(tx, run)


def take_some(tx: WriteTx, *, run: ImportRunRow, count: int) -> int:
    """Take out at most `count` transactions; answers how many that were.

    Raises `Problem`: `insufficient_quantity`, `period_closed` where one was closed since the undoing began.
    """
    taken = transactions.last_of_import(tx, run.id, count)
    _take(tx, run, taken)
    return len(taken)


def try_instrument(tx: WriteTx, *, run: ImportRunRow, instrument_id: str) -> None:
    """Take out what it brought of an instrument, and raise `Tried`. Raises `Problem` as `take_some`."""
    _take(tx, run, transactions.of_import_and_instrument(tx, run.id, instrument_id))
    raise Tried


def end_leaving(tx: WriteTx, run: ImportRunRow) -> ImportRunRow:
    """Nothing of it is left."""
    return RUNS.update(tx, replace(run, status="reverted", stage=None, reverted_at=tx.now, error=None))


def stop_leaving(tx: WriteTx, run: ImportRunRow, reason: str) -> ImportRunRow:
    """Meanwhile something was entered that needs what is left of it, or closed: for people, who undo it once more."""
    return RUNS.update(tx, replace(run, status="reverting", stage=None, error=reason))


def _take(tx: WriteTx, run: ImportRunRow, taken: Sequence[AssetTransaction]) -> None:
    override(tx, run)
    ids = [transaction.id for transaction in taken]
    for legal_entity_id in {transaction.legal_entity_id for transaction in taken}:
        period_locks.refuse_closed(tx, legal_entity_id, *(transaction.trade_date for transaction in taken))
    recording.take_back(tx, taken)
    rows.forget_records(tx, ids)
    transactions.delete(tx, ids)


@dataclass(slots=True)
class TradeRows:
    """The rows of one file, a few parts at a time, and what is known of it at the end."""

    import_id: str
    counts: FileCounts = field(default_factory=FileCounts)
    first: Opened | None = None
    from_date: str | None = None
    to_date: str | None = None
    _position: int = 0
    _holdings: dict[str, str] = field(default_factory=dict)

    @property
    def is_empty(self) -> bool:
        """Whether it has no row."""
        return self.counts.rows == 0

    def stage(self, tx: WriteTx, parts: Sequence[Part]) -> None:
        """Keep the rows of some more parts. Raises `Unreadable` for a file with too many instruments."""
        rows.stage(tx, self.import_id, self._take(parts))

    def _take(self, parts: Iterable[Part]) -> Iterator[Staged]:
        for part in parts:
            if isinstance(part, Trade):
                yield self._trade(part)
            elif isinstance(part, Refused):
                self.counts.rows += 1
                self.counts.refuse(part.line, part.reason)
            elif isinstance(part, Ignored):
                self.counts.ignore(part)
            elif isinstance(part, Opened) and self.first is None:
                self.first = part

    def _trade(self, trade: Trade) -> Staged:
        self.counts.rows += 1
        self._position += 1
        self.from_date = min(self.from_date or trade.date, trade.date)
        self.to_date = max(self.to_date or trade.date, trade.date)
        return Staged(self._position, self._holding(trade.instrument), trade)

    def _holding(self, instrument: Instrument | None) -> str:
        """One name for all that a row calls its instrument by, whichever of them another row has."""
        if instrument is None:
            return ""
        name = None if instrument.name is None else instrument.name.casefold()
        numbers = (instrument.isin, instrument.sedol, instrument.figi, instrument.cusip, instrument.symbol, name)
        called = [f"{at}:{number}" for at, number in enumerate(numbers) if number is not None]
        holding = next((self._holdings[name_there] for name_there in called if name_there in self._holdings), called[0])
        if len(self._holdings) > INSTRUMENTS_MAX * len(numbers):
            raise Unreadable(None, f"The file has more than {INSTRUMENTS_MAX} shares and funds.")
        for name_there in called:
            self._holdings.setdefault(name_there, holding)
        return holding


def with_known_words(tx: ReadTx, profile: str | None, said: Mapping | None) -> Mapping | None:
    """What was said of a profile's file, with what is known of other words; None: no more is."""
    known = None if profile is None else learned(tx, "broker", _headings(profile))
    told = Mapping() if said is None else said
    if known is None or known.words.keys() <= told.words.keys():
        return None
    return structs.replace(told, words=known.words | told.words)


def keep_words(tx: WriteTx, profile: str | None, said: Mapping | None) -> None:
    """Remember what was said of words, beside what was said of others before."""
    if profile is None or said is None or not said.words:
        return
    merged = with_known_words(tx, profile, said) or said
    learn(tx, "broker", _headings(profile), Mapping(words=merged.words))


def _headings(profile: str) -> list[str]:
    """What stands for the headings of all files of a profile; no file has such headings."""
    return ["", profile]


class BrokerImports:
    """See `Kind`."""

    def __init__(self, parts: ImportParts) -> None:
        self._parts = parts
        self._store = parts.store
        most, chunk = parts.sizes
        self._sizes = Sizes(max(1, most // SLOWER), max(1, chunk // SLOWER))

    def open_account(self, tx: ReadTx, account_id: str) -> OpenAccount:
        account = ACCOUNTS.get(tx, account_id)
        if account.status == "closed":
            message = "The account is closed: open it again to import into it, by `status` of `assets.updateAccount`."
            raise invalid_state(message, "closed", ("open",))
        if PORTFOLIOS.get(tx, account.portfolio_id).archived_at is not None:
            message = "The portfolio is archived: bring it back first, by `status` of `assets.updatePortfolio`."
            raise invalid_state(message, "archived", ("active",))
        return OpenAccount(account.id, account.currency)

    # -- reading

    async def read(self, org_id: str, run: ImportRunRow, source: Source) -> ImportRunRow:
        steps = Steps(
            begin=lambda tx: TradeRows(run.id),
            known=lambda tx, headings: None,
            forget=lambda: self.forget_all(org_id, run.id),
        )
        reader = FileReader(self._parts, org_id, run, steps)
        trade_rows, mapping = await reader.read(source)
        profile = None if trade_rows.first is None else trade_rows.first.profile
        more = await self._store.read_later(lambda tx: with_known_words(tx, profile, mapping), org_id)
        if more is not None:
            await self.forget_all(org_id, run.id)
            trade_rows, mapping = await reader.read(dataclasses.replace(source, mapping=more))
        return await self._store.write(partial(_keep, run=run, trade_rows=trade_rows, mapping=mapping), org_id)

    def may_bring_more(self, tx: ReadTx, run: ImportRunRow, overrides_closing: bool) -> bool:
        """Whatever was refused is tried again: what it needed may have been entered since."""
        return bool(STAGED.refused_days(tx, run.id))

    async def compare(self, org_id: str, run: ImportRunRow) -> ImportRunRow:
        return await self._compare(org_id, run, None)

    async def _compare(self, org_id: str, run: ImportRunRow, untried: frozenset[int] | None) -> ImportRunRow:
        """Compare anew; of rows that are to come in, those at these positions are tried, or all."""
        pace = Pace(self._store, org_id)
        await staged.reset(pace, STAGED, run.id)
        repeated = await self._store.read_later(lambda tx: records.repeated(tx, run.id), org_id)
        await self._decide(pace, run, repeated.decisions)
        finder = Finder(run, repeated)
        days = await self._store.read_later(lambda tx: rows.days(tx, run.id), org_id)
        for first, last in staged.spans(days, pace):
            decisions = await pace.read(partial(finder.of_days, first=first, last=last))
            await self._decide(pace, run, decisions)
        converted = await self._try_out(pace, run, untried)
        short = await self._store.read_later(partial(quantities.short, run=run, finder=finder), org_id)
        await self._decide(pace, run, short)
        if untried is None:
            for decision in short:
                converted.pop(decision.position, None)
            differing = await self._store.read_later(lambda tx: records.of_import(tx, run.id), org_id)
            run = replace(run, supposed=[*conversions.of_rows(converted.values()), *differing])
        counted = await self._store.read_later(lambda tx: staged.counted(tx, STAGED, run), org_id)
        return await self._store.write(lambda tx: RUNS.save(tx, counted), org_id)

    async def _decide(self, pace: Pace, run: ImportRunRow, decisions: list[Decision]) -> None:
        for start in range(0, len(decisions), staged.AT_ONCE):
            few = decisions[start : start + staged.AT_ONCE]
            await pace.write(partial(rows.decide, import_id=run.id, decisions=few))

    async def _try_out(self, pace: Pace, run: ImportRunRow, untried: frozenset[int] | None) -> dict[int, Conversion]:
        """Enter every row for a moment: what is refused then is refused with the words of the API.

        Answers by what others would be converted, by position.
        """
        after = 0
        converted: dict[int, Conversion] = {}
        while True:
            count = pace.rows(self._sizes.chunk)
            waiting = await pace.read(partial(rows.to_add, import_id=run.id, after=after, count=count))
            if not waiting:
                return converted
            after = waiting[-1].position
            if untried is not None:
                waiting = [row for row in waiting if row.position in untried]
            if not waiting:
                continue
            try:
                await pace.write(partial(entering.try_out, run=run, waiting=waiting))
            except entering.Tried as tried:
                converted |= tried.conversions
                await self._decide(pace, run, tried.decisions)

    # -- in

    async def apply(self, org_id: str, run: ImportRunRow) -> None:
        """Rows that a preview lets in are not tried once more: each is checked when its turn comes."""
        untried = None
        if run.added:
            untried = await self._store.read_later(lambda tx: frozenset(rows.kept_out(tx, run.id)), org_id)
        await self._move(org_id, await self._compare(org_id, run, untried))

    async def go_on(self, org_id: str, run: ImportRunRow) -> None:
        if await self._store.read(lambda tx: self.has_begun(tx, run), org_id):
            await self._move(org_id, run)
        else:
            await self.apply(org_id, run)

    async def _move(self, org_id: str, run: ImportRunRow) -> None:
        """Bring in what has not come in yet. A row that no longer fits is refused, and the others come in."""
        pace = Pace(self._store, org_id)
        is_small = run.added <= self._sizes.at_once
        came_in, count = 0, 0
        while came_in == count:
            count = self._sizes.at_once + 1 if is_small else pace.rows(self._sizes.chunk)
            try:
                came_in = await pace.write(partial(entering.enter, run=run, count=count))
            except entering.Unfit as unfit:
                await self._decide(pace, run, [unfit.decision])
                came_in = count

    def has_begun(self, tx: ReadTx, run: ImportRunRow) -> bool:
        return rows.moved(tx, run.id) > 0

    # -- out

    async def check_undoing(self, org_id: str, run: ImportRunRow) -> None:
        if run.added <= self._sizes.at_once:
            return
        shared = await self._store.read_later(lambda tx: transactions.shared_instruments(tx, run.id), org_id)
        pace = Pace(self._store, org_id)
        for instrument_id in shared:
            try:
                await pace.write(partial(try_instrument, run=run, instrument_id=instrument_id))
            except Tried:
                continue

    def begin_undoing(self, tx: WriteTx, run: ImportRunRow) -> ImportRunRow:
        return begin_leaving(tx, run, self._sizes)

    async def undo(self, org_id: str, run: ImportRunRow) -> None:
        try:
            await Pace(self._store, org_id).drain(partial(take_some, run=run), self._sizes.chunk)
        except Problem as problem:
            reason = problem.message
            await self._store.write(lambda tx: stop_leaving(tx, run, reason), org_id)
            raise
        await self._store.write(lambda tx: end_leaving(tx, run), org_id)

    async def forget(self, org_id: str, run: ImportRunRow) -> None:
        await staged.forget_ended(self._store, STAGED, org_id, run)

    async def forget_all(self, org_id: str, import_id: str) -> None:
        await staged.forget_all(self._store, STAGED, org_id, import_id)


def _keep(tx: WriteTx, *, run: ImportRunRow, trade_rows: TradeRows, mapping: Mapping | None) -> ImportRunRow:
    """What the file said of itself, and how it was read."""
    if mapping is not None:
        remember(tx, run, mapping)
    opened = trade_rows.first
    keep_words(tx, None if opened is None else opened.profile, mapping)
    used = mapping if opened is None or opened.mapping is None else opened.mapping
    return RUNS.save(
        tx,
        replace(
            run,
            format=None if opened is None else opened.format,
            profile=None if opened is None else opened.profile,
            mapping=None if used is None else ColumnMapping.of(used),
            rows=trade_rows.counts.rows,
            refused_rows=trade_rows.counts.refused_rows,
            refused=trade_rows.counts.refused,
            ignored_rows=trade_rows.counts.ignored_rows,
            ignored=trade_rows.counts.ignored,
            from_date=trade_rows.from_date,
            to_date=trade_rows.to_date,
        ),
    )
