"""A file is read apart, and its rows are staged as they come."""

import contextlib
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final, Generic, NamedTuple, Protocol, TypeVar

from msgspec import structs
from msgspec.structs import replace

from gatewayd.areas.banking.statements.kept_statements import NOTHING_SAID, SaidRange
from gatewayd.importing.file_counts import FileCounts
from gatewayd.importing.pace import Pace
from gatewayd.importing.parts import ImportParts
from gatewayd.ledger.imports.import_runs import asked_of, learn, learned
from gatewayd.ledger.imports.import_shapes import ImportRunRow, MappingProposal
from gatewayd.statements.shapes import Format, Hints, Limits, Mapping, Part, Proposal, Unreadable
from gatewayd.store import ReadTx, WriteTx

STAGED_AT_ONCE: Final = 250  # Chosen: rows of one transaction, so that no request waits long for them


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A file to be read, and what its sender said of it."""

    path: Path
    file_name: str
    format: Format | None
    mapping: Mapping | None
    max_bytes: int
    date_format: str | None = None
    negate: bool | None = None
    of_account: str | None = None
    covers: SaidRange = NOTHING_SAID

    @property
    def answers(self) -> bool:
        """Whether the sender said how a CSV is written, beside its columns."""
        return self.date_format is not None or self.negate is not None


class About(NamedTuple):
    """What is known of an account before its file is read: see `Hints`."""

    is_card: bool = False
    last_balance: int | None = None


class FileRows(Protocol):
    """The rows of one file, a few parts at a time, and how many there are."""

    counts: FileCounts

    @property
    def is_empty(self) -> bool:
        """Whether the file holds nothing that could be imported, and is no empty statement either."""

    def stage(self, tx: WriteTx, parts: Sequence[Part]) -> None:
        """Keep some more of them. Raises `Unreadable`."""


F = TypeVar("F", bound=FileRows)


@dataclass(frozen=True, slots=True, kw_only=True)
class Steps(Generic[F]):
    """What reading a file of one kind takes besides.

    `known` answers how the account's files were read before, where this one has the same columns; `forget` deletes what
    is staged, for the file is begun anew.
    """

    begin: Callable[[ReadTx], F]
    about: Callable[[ReadTx], About] = lambda tx: About()
    known: Callable[[ReadTx, Sequence[str]], Mapping | None]
    forget: Callable[[], Awaitable[None]]


class FileReader(Generic[F]):
    """Reads one file for one run."""

    def __init__(self, parts: ImportParts, org_id: str, run: ImportRunRow, steps: Steps[F]) -> None:
        self._parts = parts
        self._store = parts.store
        self._org_id = org_id
        self._run = run
        self._steps = steps

    async def read(self, source: Source) -> tuple[F, Mapping | None]:
        """Stage the rows of the file; answers them and the mapping that was given or known.

        What stays in doubt of a bank's file and no mapping is known for is supposed, and told.

        Raises `Unreadable`; with a proposal, where a mapping would make it readable.
        """
        mapping = source.mapping
        try:
            return await self._stage(source, mapping), mapping
        except Unreadable as error:
            if error.proposal is None:
                raise
            if mapping is None:
                known = partial(self._known, headings=error.proposal.headings)
                mapping = await self._store.read_later(known, self._org_id)
                mapping = None if mapping is None else _fitted(mapping, error.proposal)
            if mapping is source.mapping and self._run.kind != "bank":
                raise
        await self._steps.forget()
        return await self._stage(source, mapping, supposes=True), mapping

    def _known(self, tx: ReadTx, *, headings: Sequence[str]) -> Mapping | None:
        """How a file with these headings was read before."""
        return learned(tx, self._run.kind, headings) or self._steps.known(tx, headings)

    async def _stage(self, source: Source, mapping: Mapping | None, *, supposes: bool = False) -> F:
        file_rows = await self._store.read_later(self._steps.begin, self._org_id)
        about = await self._store.read_later(self._steps.about, self._org_id)
        hints = Hints(
            kind=self._run.kind,
            file_name=source.file_name,
            format=source.format,
            mapping=mapping,
            currency=self._run.currency,
            date_format=source.date_format,
            negate=source.negate,
            is_card=about.is_card,
            last_balance=about.last_balance,
            supposes=supposes,
            limits=Limits(file_bytes=source.max_bytes),
        )
        pace = Pace(self._store, self._org_id)
        async with contextlib.aclosing(closable(self._parts.read_apart(source.path, hints))) as batches:
            async for batch in batches:
                for few in _in_pieces(batch, pace):
                    await pace.write(partial(file_rows.stage, parts=few))
                self._parts.progress(file_rows.counts.rows)
        if file_rows.is_empty:
            raise Unreadable(None, "The file holds no transactions.")
        return file_rows


def remember(tx: WriteTx, run: ImportRunRow, mapping: Mapping) -> None:
    """Remember how a file was read, for others with the same headings, where its mapping had been asked for."""
    question = asked_of(tx, run.account_id, run.sha256)
    if question is not None:
        learn(tx, run.kind, question.headings, mapping)


def _fitted(known: Mapping, proposal: Proposal) -> Mapping:
    """What was said of columns, for a file that shows itself how they are separated and its numbers and dates written.

    Banks and spreadsheets save the same columns now with commas and now with semicolons.
    """
    seen = proposal.mapping
    fitted = structs.replace(
        known,
        delimiter=seen.delimiter,
        header_row=seen.header_row,
        decimal_comma=known.decimal_comma or seen.decimal_comma,
    )
    if seen.date != known.date or "date_format" in {doubt.field for doubt in proposal.doubts}:
        return fitted
    return structs.replace(fitted, date_format=seen.date_format)


async def closable(batches: AsyncIterator[list[Part]]) -> AsyncGenerator[list[Part], None]:
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
