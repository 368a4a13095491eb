"""CSV: one statement for each account and currency that its rows name (Domain E).

A file may say against its first reading: by the balance behind each row, and by a column of directions.
"""

from array import array
from collections.abc import Iterator, Sequence
from typing import BinaryIO, Final, NamedTuple

from msgspec import structs

from gatewayd.statements.csv.balances import Ends, Movements, better_sign
from gatewayd.statements.csv.lines import Columns, Key, RowReader
from gatewayd.statements.csv.plan import Plan, plan_of
from gatewayd.statements.csv.rows import Row, folded
from gatewayd.statements.csv.sample import body_rows
from gatewayd.statements.identifiers import Identifiers, identifiers
from gatewayd.statements.running import Tally
from gatewayd.statements.shapes import Hints, Ignored, Mapping, Opened, Part, Refused, Supposed, Unreadable
from gatewayd.statements.text import TextLines, cleaned

ACCOUNTS_OF_ONE_FILE: Final = 1000
_BY_BALANCE: Final = "the balance behind it moves the other way than its amount"
_BY_DIRECTION: Final = "its amount has one sign and its column of directions the other"
_SPENT: Final = "The balances of the file show that what was spent is written as a positive amount."
_OWED: Final = "The balances of the file show that what is owed is written as a positive balance."
_NOT_OWED: Final = "The balances of the file show that what is owed is written as a negative balance."
_SIGNED: Final = "The balances of the file show that the signs of its amounts count, and not its column of directions."
_SWAPPED: Final = "The balances of the file show that its columns for paid in and paid out stand the other way round."


class Evidence(NamedTuple):
    """How the file is to be read after all. `ends` are those of the statements with balances, by what they are of.

    `refused` are lines with the reason why their rows cannot be taken.
    """

    mapping: Mapping
    supposed: tuple[Supposed, ...]
    keys: tuple[Key, ...]
    ends: dict[Key, Ends]
    refused: dict[int, str]


class _Seen:
    """What the rows of the file showed."""

    def __init__(self) -> None:
        self.movements: dict[Key, Movements] = {}
        self.positive = self.negative = 0
        self.written_negative = False  # any amount that has a direction beside it
        self.agreeing = array("q")  # lines whose amount has the sign of its direction
        self.opposed = array("q")
        self._first_days: dict[Key, str] = {}

    def take(self, row: Row, rows: RowReader) -> None:
        """One row more."""
        if row.fault is not None:
            self._break(None)
            return
        if rows.is_blank(row.cells) or rows.no_transaction(row.cells) is not None:
            return
        key = None
        try:
            key = rows.key(row.cells)
            moved = rows.moved(row.cells, key[2])
            signed = rows.signed(row.cells, key[2])
        except ValueError:
            self._break(key)
            return
        if moved is None:
            return
        self._add(key, row.line, moved)
        self._note_day(key, rows.day(row.cells))
        if signed is not None:
            self.written_negative = self.written_negative or signed.is_negative
            (self.agreeing if signed.is_negative is signed.is_out else self.opposed).append(row.line)

    def _add(self, key: Key, line: int, moved: tuple[int, int | None]) -> None:
        amount, balance = moved
        self.movements.setdefault(key, Movements()).add(line, amount, balance)
        self.positive += amount > 0
        self.negative += amount < 0

    def _note_day(self, key: Key, day: str | None) -> None:
        if day is not None:
            self.movements[key].descends = day < self._first_days.setdefault(key, day)

    def _break(self, key: Key | None) -> None:
        movements = self.movements.values() if key is None else [self.movements.setdefault(key, Movements())]
        for movement in movements:
            movement.breaks += 1


def evidence_of(stream: BinaryIO, plan: Plan, hints: Hints) -> Evidence:
    """What the whole file shows, where it has a balance, a direction or an account for each row."""
    mapping = plan.mapping
    if all(
        column is None for column in (mapping.balance, mapping.direction, mapping.account_name, mapping.account_number)
    ):
        return Evidence(mapping, (), (), {}, {})
    seen = _looked_through(stream, plan, hints)
    sign = _sign(list(seen.movements.values()), hints.last_balance)
    refused = _contradicted(seen, sign)
    ends = {
        key: read_ends for key, movement in seen.movements.items() if (read_ends := movement.ends(sign)) is not None
    }
    keys = tuple(seen.movements)
    if sign == 1:
        return Evidence(mapping, (), keys, ends, refused)
    turned, supposed = _turned(mapping, seen, is_card=hints.is_card)
    if turned.negate_balance != mapping.negate_balance and turned.negate == mapping.negate:
        ends = {key: Ends(-end.opening, -end.closing, end.adds_up) for key, end in ends.items()}
    return Evidence(turned, (supposed,), keys, ends, refused)


def _turned(mapping: Mapping, seen: _Seen, *, is_card: bool) -> tuple[Mapping, Supposed]:
    """The mapping that the balances agree with, where they contradict another, and what was turned round in it."""
    owed = mapping.negate if mapping.negate_balance is None else mapping.negate_balance
    if mapping.direction is not None and seen.written_negative:
        sign = Supposed(field="direction", value="", reason=_SIGNED)
        return structs.replace(mapping, direction=None), sign
    spends_are_negative = is_card and seen.negative >= seen.positive
    if mapping.direction is not None or mapping.negate or spends_are_negative:
        reason = _NOT_OWED if owed else _OWED
        told = Supposed(field="negate_balance", value=str(not owed).lower(), reason=reason)
        return structs.replace(mapping, negate_balance=not owed), told
    if mapping.amount is None:
        told = Supposed(field="paid_in", value=str(mapping.paid_out), reason=_SWAPPED)
        return structs.replace(mapping, paid_in=mapping.paid_out, paid_out=mapping.paid_in), told
    told = Supposed(field="negate", value="true", reason=_SPENT)
    return structs.replace(mapping, negate=True, negate_balance=owed), told


def _looked_through(stream: BinaryIO, plan: Plan, hints: Hints) -> _Seen:
    seen = _Seen()
    rows = RowReader(plan.mapping, plan.columns, plan.currency)
    lines = TextLines(stream, plan.encoding, hints.limits)
    try:
        for row in body_rows(lines, plan.mapping):
            seen.take(row, rows)
            if len(seen.movements) > ACCOUNTS_OF_ONE_FILE:
                break  # which who reads it refuses
    finally:
        lines.detach()
    return seen


def _sign(movements: list[Movements], last_balance: int | None) -> int:
    """1 where amounts and balances agree as they are read, -1 where they do once one of them is turned round."""
    if len(movements) == 1 and last_balance is not None and len(movements[0]) == 1:
        only = movements[0]
        return -1 if only.follows(-1, last_balance) and not only.follows(1, last_balance) else 1
    return better_sign(movements)


def _contradicted(seen: _Seen, sign: int) -> dict[int, str]:
    """Why rows that the rest of the file contradicts are refused, by line. The balance decides before the direction."""
    reasons = {line: _BY_BALANCE for movement in seen.movements.values() for line in movement.contradicted(sign)}
    fewer = min(seen.agreeing, seen.opposed, key=len)
    if seen.written_negative and fewer:
        borne_out = {line for movement in seen.movements.values() for line in movement.borne_out(sign)}
        reasons |= {line: _BY_DIRECTION for line in fewer if line not in borne_out}
    return reasons


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
        preamble_account, preamble_name = self._preamble
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
            sort_code=account.sort_code or preamble_account.sort_code,
            account_number=account.account_number or preamble_account.account_number,
            iban=account.iban or preamble_account.iban,
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
