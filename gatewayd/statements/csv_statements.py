"""CSV: one statement for each account and currency that its rows name (Domain E)."""

from collections.abc import Iterator, Sequence
from typing import BinaryIO

from msgspec import structs

from gatewayd.statements.csv_evidence import ACCOUNTS_OF_ONE_FILE, Evidence, evidence_of
from gatewayd.statements.csv_headings import folded
from gatewayd.statements.csv_lines import Columns, Key, RowReader
from gatewayd.statements.csv_plan import Plan, plan_of
from gatewayd.statements.csv_rows import Row
from gatewayd.statements.csv_sample import body_rows
from gatewayd.statements.identifiers import Identifiers, identifiers
from gatewayd.statements.running import Tally
from gatewayd.statements.shapes import Hints, Ignored, Opened, Part, Refused, Unreadable
from gatewayd.statements.text import TextLines, cleaned


def read_csv(stream: BinaryIO, hints: Hints) -> Iterator[Part]:
    """The parts of a CSV. Raises `Unreadable`, with a proposal where its mapping has to be settled first."""
    plan = plan_of(stream, hints)
    evidence = evidence_of(stream, plan, hints)
    lines = TextLines(stream, plan.encoding, hints.limits)
    try:
        yield from _Reader(plan, evidence).parts(body_rows(lines, plan.mapping))
    finally:
        lines.detach()


class _Reader:
    """Reads rows; `_statements` are those that were opened, by what they are of."""

    def __init__(self, plan: Plan, evidence: Evidence) -> None:
        self._plan = plan
        self._evidence = evidence
        self._rows = RowReader(evidence.mapping, Columns(evidence.mapping, plan.headings), plan.currency)
        self._statements: dict[Key, Tally] = {}
        self._preamble = _account_in(plan.preamble)

    def parts(self, rows: Iterator[Row]) -> Iterator[Part]:
        """The parts of all rows, then the ends of the statements; those that are known begin before any row."""
        for key in self._evidence.keys:
            yield self._opened(key)[1]
        for row in rows:
            if row.fault is not None:
                yield self._refused(row, row.fault, None)
            elif (kind := self._rows.no_transaction(row.cells)) is not None:
                yield Ignored(line=row.line, kind=kind)
            elif not self._rows.is_blank(row.cells):
                yield from self._take(row)
        if not self._statements:
            yield from self._empty()
        for key, tally in self._statements.items():
            ends = self._evidence.ends.get(key)
            if ends is None:
                yield tally.closed()
            else:
                closed = tally.closed(opening=ends.opening, closing=ends.closing, closing_date=tally.last)
                yield structs.replace(closed, adds_up=ends.adds_up)

    def _take(self, row: Row) -> Iterator[Part]:
        statement = None
        try:
            key = self._rows.key(row.cells)
            statement = self._statements.get(key)
            if statement is None:
                statement, opened = self._opened(key)
                yield opened
            line = self._rows.line(row.line, row.cells, statement.statement, key[2])
            if (contradiction := self._evidence.refused.get(row.line)) is not None:
                raise ValueError(contradiction)
        except ValueError as error:
            yield self._refused(row, str(error), statement)
            return
        yield statement.add(line)

    def _refused(self, row: Row, reason: str, statement: Tally | None) -> Refused:
        return Refused(line=row.line, reason=reason, statement=statement.statement if statement else None)

    def _opened(self, key: Key) -> tuple[Tally, Opened]:
        if len(self._statements) >= ACCOUNTS_OF_ONE_FILE:
            raise Unreadable(None, f"the file names more than {ACCOUNTS_OF_ONE_FILE} accounts: is the mapping right?")
        account, name, currency = key
        found, preamble_name = self._preamble
        statement = Tally(len(self._statements), currency)
        self._statements[key] = statement
        profile = self._plan.profile
        return statement, Opened(
            statement=statement.statement,
            format="csv",
            profile=self._plan.mapping.profile,
            mapping=self._evidence.mapping,
            supposed=(*self._plan.supposed, *self._evidence.supposed),
            account_name=name or preamble_name,
            sort_code=account.sort_code or found.sort_code,
            account_number=account.account_number or found.account_number,
            iban=account.iban or found.iban,
            currency=currency,
            bank_name=profile.bank if profile else None,
        )

    def _empty(self) -> Iterator[Part]:
        """A file with headings alone is a statement without lines, where its currency is known."""
        if self._plan.currency is not None:
            yield self._opened((Identifiers(), None, self._plan.currency))[1]


def _account_in(preamble: Sequence[Sequence[str]]) -> tuple[Identifiers, str | None]:
    """The account that stands before the headings: `"Account Name:","Current ****12345"`."""
    said = {folded(row[0]).rstrip(": "): row[1].strip() for row in preamble if len(row) > 1}
    name, number = said.get("account name", ""), said.get("account number", "")
    return identifiers(number, said.get("sort code", "")), cleaned(name) or None
