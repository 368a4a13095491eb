"""What is read of a statement file becomes rows of an account: whose they are, and how they are kept."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Final

from gatewayd.areas.banking.accounts.shapes import BankAccountRow
from gatewayd.areas.banking.imports import rows
from gatewayd.areas.banking.imports.rows import Staged
from gatewayd.areas.banking.statements.kept_statements import Statement
from gatewayd.areas.banking.transactions.rows import FROM_FILE
from gatewayd.areas.banking.transactions.texts import fingerprint, match_key, normalised, search_text
from gatewayd.importing.bank.whose import Theirs, Whose
from gatewayd.importing.file_counts import FileCounts
from gatewayd.money import canonical, is_decimal
from gatewayd.statements.shapes import Closed, Ignored, Line, Opened, Part, Refused, Unreadable
from gatewayd.store import WriteTx

STATEMENTS_MAX: Final = 10_000  # Chosen: of one file; MT940 has one for each day
_IN_ORDER: Final = itemgetter(*FROM_FILE.split(", "))
_SAME_NAMES: Final = tuple(name for name in FROM_FILE.split(", ") if name in Line.__struct_fields__)


@dataclass(slots=True)
class _KnownStatement:
    """One statement of the file. `theirs` is the other account that its lines are of; None: they are the account's."""

    opened: Opened
    theirs: Theirs | None


@dataclass(slots=True)
class StatementRows:
    """The rows of one file, a few parts at a time, and what is known of it at the end."""

    import_id: str
    account: BankAccountRow
    today: str
    whose: Whose
    counts: FileCounts = field(default_factory=FileCounts)
    statements: list[Statement] = field(default_factory=list)
    first: Opened | None = None
    _position: int = 0
    _all_theirs: bool = True
    _known: dict[int, _KnownStatement] = field(default_factory=dict)

    @property
    def is_empty(self) -> bool:
        """Whether it has no line, and is no statement without lines."""
        return self.counts.rows == 0 and not self.statements

    def stage(self, tx: WriteTx, parts: Sequence[Part]) -> None:
        """Keep the rows of some more parts. Raises `Unreadable` as `take` does."""
        rows.stage(tx, self.import_id, self.take(parts))

    def take(self, parts: Iterable[Part]) -> Iterator[Staged]:
        """The rows of some more parts that are the account's. Raises `Unreadable` for more statements than are read."""
        for part in parts:
            if isinstance(part, Line):
                yield from self._line(part)
            elif isinstance(part, Opened):
                self._open(part)
            elif isinstance(part, Closed):
                self._close(part)
            elif isinstance(part, Refused):
                self._refuse(part)
            elif isinstance(part, Ignored):
                self.counts.ignore(part)

    @property
    def span(self) -> tuple[str | None, str | None]:
        """The first and the last day of its statements."""
        starts = [statement.from_date for statement in self.statements if statement.from_date is not None]
        ends = [statement.to_date for statement in self.statements if statement.to_date is not None]
        return min(starts, default=None), max(ends, default=None)

    @property
    def balances(self) -> tuple[int | None, int | None]:
        """The opening balance of the first statement in time, and the closing balance of the last."""
        in_time = sorted(
            (statement for statement in self.statements if statement.from_date),
            key=lambda statement: statement.from_date or "",
        )
        if not in_time:
            return None, None
        return in_time[0].opening_balance, in_time[-1].closing_balance

    @property
    def balanced(self) -> bool | None:
        """Whether every statement adds up; None where one does not tell and none is wrong."""
        told = [statement.balanced for statement in self.statements]
        if False in told:
            return False
        return True if told and None not in told else None

    def _open(self, opened: Opened) -> None:
        if len(self._known) >= STATEMENTS_MAX:
            raise Unreadable(None, f"The file has more than {STATEMENTS_MAX} statements.")
        theirs = self.whose.of(opened)
        if self.first is None or (self._all_theirs and theirs is None):
            self.first = opened
        self._all_theirs = self._all_theirs and theirs is not None
        self._known[opened.statement] = _KnownStatement(opened, theirs)

    def _line(self, line: Line) -> Iterator[Staged]:
        if self._is_theirs(line.line, line.statement):
            return
        self.counts.rows += 1
        if line.currency != self.account.currency:
            self.counts.refuse(line.line, f"It is in {line.currency}, and the account in {self.account.currency}.")
            return
        self._position += 1
        yield Staged(self._position, line.line, line.statement, _IN_ORDER(self._values(line)))

    def _refuse(self, refused: Refused) -> None:
        if refused.statement is None or not self._is_theirs(refused.line, refused.statement):
            self.counts.rows += 1
            self.counts.refuse(refused.line, refused.reason)

    def _is_theirs(self, line: int, statement: int) -> bool:
        """Whether a row is another account's, and then counted as that."""
        known = self._known.get(statement)
        if known is None or known.theirs is None:
            return False
        known.theirs.rows += 1
        self.counts.ignore(Ignored(line=line, kind="other_account", statement=statement))
        return True

    def _values(self, line: Line) -> dict[str, object]:
        date = line.booking_date or line.value_date or self.today
        text = normalised(line.description)
        values = {name: getattr(line, name) for name in _SAME_NAMES}
        return values | {
            "date": date,
            "fx_rate": canonical(line.fx_rate) if line.fx_rate is not None and is_decimal(line.fx_rate) else None,
            "fingerprint": fingerprint(self.account.id, date, (line.amount, line.currency), text, 1),
            "match_key": match_key(line.counterparty_name, line.description),
            "search_text": search_text((line.description, line.counterparty_name, line.reference)),
        }

    def _close(self, closed: Closed) -> None:
        known = self._known.get(closed.statement)
        if known is None or known.theirs is not None or closed.is_interim:  # which covers no day, and has no balance
            return
        opened = known.opened
        opening = closed.opening_balance if closed.opening_balance is not None else opened.opening_balance
        closing = closed.closing_balance
        self.statements.append(
            Statement(
                statement=closed.statement,
                from_date=opened.from_date or closed.from_date,
                to_date=opened.to_date or closed.to_date or closed.closing_date,
                opening_balance=opening,
                closing_balance=closing,
                available_balance=closed.available_balance,
                balanced=_balanced(opening, closed),
            )
        )


def _balanced(opening: int | None, closed: Closed) -> bool | None:
    """Whether a statement adds up, whole and from row to row; None where it does not tell."""
    if opening is None or closed.closing_balance is None:
        return None
    return opening + closed.sum == closed.closing_balance and closed.adds_up is not False
