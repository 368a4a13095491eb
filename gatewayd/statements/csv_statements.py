"""CSV: one statement for each account and currency that its rows name (Domain E)."""

from collections.abc import Iterator, Sequence
from typing import BinaryIO, NamedTuple

from gatewayd.statements.csv_headings import folded
from gatewayd.statements.csv_lines import RowReader
from gatewayd.statements.csv_plan import Plan, plan_of
from gatewayd.statements.csv_rows import Row
from gatewayd.statements.csv_sample import body_rows
from gatewayd.statements.identifiers import Identifiers, identifiers
from gatewayd.statements.running import RunningBalance, Tally
from gatewayd.statements.shapes import Hints, Ignored, Opened, Part, Refused, Unreadable
from gatewayd.statements.text import TextLines, cleaned

_ACCOUNTS_OF_ONE_FILE = 1000
Key = tuple[Identifiers, str | None, str]
"""Account, its name, and currency: what a statement is of."""


class _Statement(NamedTuple):
    tally: Tally
    balance: RunningBalance


def read_csv(stream: BinaryIO, hints: Hints) -> Iterator[Part]:
    """The parts of a CSV. Raises `Unreadable`, with a proposal where its mapping has to be settled first."""
    plan = plan_of(stream, hints)
    lines = TextLines(stream, plan.encoding, hints.limits)
    try:
        yield from _Reader(plan).parts(body_rows(lines, plan.mapping))
    finally:
        lines.detach()


class _Reader:
    """Reads rows; `_statements` are those that were opened, by what they are of."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._rows = RowReader(plan.mapping, plan.columns, plan.currency)
        self._statements: dict[Key, _Statement] = {}
        self._preamble = _account_in(plan.preamble)

    def parts(self, rows: Iterator[Row]) -> Iterator[Part]:
        """The parts of all rows, then the ends of the statements."""
        for row in rows:
            if row.fault is not None:
                yield self._refused(row, row.fault, None)
            elif (kind := self._rows.no_transaction(row.cells)) is not None:
                yield Ignored(line=row.line, kind=kind)
            elif not self._rows.is_blank(row.cells):
                yield from self._take(row)
        if not self._statements:
            yield from self._empty()
        for statement in self._statements.values():
            ends = statement.balance.ends()
            yield statement.tally.closed(
                opening=ends[0] if ends else None,
                closing=ends[1] if ends else None,
                closing_date=ends[2] if ends else None,
            )

    def _take(self, row: Row) -> Iterator[Part]:
        statement = None
        try:
            key = (*self._rows.account(row.cells), self._rows.currency(row.cells))
            statement = self._statements.get(key)
            if statement is None:
                statement, opened = self._opened(key)
                yield opened
            line = self._rows.line(row.line, row.cells, statement.tally.statement, key[2])
        except ValueError as error:
            yield self._refused(row, str(error), statement)
            return
        if line.status == "booked":
            statement.balance.add(line)
        yield statement.tally.add(line)

    def _refused(self, row: Row, reason: str, statement: _Statement | None) -> Refused:
        for one in [statement] if statement else self._statements.values():
            one.balance.breaks += 1
        return Refused(line=row.line, reason=reason, statement=statement.tally.statement if statement else None)

    def _opened(self, key: Key) -> tuple[_Statement, Opened]:
        if len(self._statements) >= _ACCOUNTS_OF_ONE_FILE:
            raise Unreadable(None, f"the file names more than {_ACCOUNTS_OF_ONE_FILE} accounts: is the mapping right?")
        account, name, currency = key
        found, preamble_name = self._preamble
        statement = _Statement(Tally(len(self._statements), currency), RunningBalance())
        self._statements[key] = statement
        profile = self._plan.profile
        return statement, Opened(
            statement=statement.tally.statement,
            format="csv",
            profile=self._plan.mapping.profile,
            mapping=self._plan.mapping,
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
