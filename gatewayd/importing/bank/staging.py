"""What is read of a statement file becomes rows of an account: whose they are, and how they are kept."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Final

from gatewayd.areas.banking.accounts.shapes import BankAccountRow
from gatewayd.areas.banking.coverage import Statement
from gatewayd.areas.banking.imports import rows
from gatewayd.areas.banking.imports.rows import Staged
from gatewayd.areas.banking.transactions.rows import FROM_FILE
from gatewayd.areas.banking.transactions.texts import fingerprint, match_key, normalised, search_text
from gatewayd.importing.file_counts import FileCounts
from gatewayd.money import canonical, is_decimal
from gatewayd.statements.shapes import Closed, Ignored, Line, Opened, Part, Refused, Unreadable
from gatewayd.store import WriteTx

STATEMENTS_MAX: Final = 10_000  # Chosen: of one file; MT940 has one for each day
_IN_ORDER: Final = itemgetter(*FROM_FILE.split(", "))
_SAME_NAMES: Final = tuple(name for name in FROM_FILE.split(", ") if name in Line.__struct_fields__)
_SIGNS: Final = re.compile(r"[^0-9A-Z]")


@dataclass(slots=True)
class _Found:
    """One statement of the file. `foreign` is why its lines are not the account's; None: they are."""

    opened: Opened
    foreign: str | None


@dataclass(slots=True)
class StatementRows:
    """The rows of one file, a few parts at a time, and what is known of it at the end."""

    import_id: str
    account: BankAccountRow
    today: str
    counts: FileCounts = field(default_factory=FileCounts)
    statements: list[Statement] = field(default_factory=list)
    first: Opened | None = None
    _position: int = 0
    _found: dict[int, _Found] = field(default_factory=dict)
    _accounts: set[str] = field(default_factory=set)

    @property
    def is_empty(self) -> bool:
        """Whether it has no line, and is no statement without lines."""
        return self.counts.rows == 0 and not self.statements

    def stage(self, tx: WriteTx, parts: Sequence[Part]) -> None:
        """Keep the rows of some more parts. Raises `Unreadable` as `take` does."""
        rows.stage(tx, self.import_id, self.take(parts))

    def take(self, parts: Iterable[Part]) -> Iterator[Staged]:
        """The rows of some more parts. Raises `Unreadable` for a file that is of several accounts, ours unnamed."""
        for part in parts:
            if isinstance(part, Line):
                yield from self._line(part)
            elif isinstance(part, Opened):
                self._open(part)
            elif isinstance(part, Closed):
                self._close(part)
            elif isinstance(part, Refused):
                self.counts.rows += 1
                self.counts.refuse(part.line, part.reason)
            elif isinstance(part, Ignored):
                self.counts.ignore(part)

    @property
    def span(self) -> tuple[str | None, str | None]:
        """The first and the last day of its statements."""
        starts = [one.from_date for one in self.statements if one.from_date is not None]
        ends = [one.to_date for one in self.statements if one.to_date is not None]
        return min(starts, default=None), max(ends, default=None)

    @property
    def balances(self) -> tuple[int | None, int | None]:
        """The opening balance of the first statement in time, and the closing balance of the last."""
        in_time = sorted((one for one in self.statements if one.from_date), key=lambda one: one.from_date or "")
        if not in_time:
            return None, None
        return in_time[0].opening_balance, in_time[-1].closing_balance

    @property
    def balanced(self) -> bool | None:
        """Whether every statement adds up; None where one does not tell and none is wrong."""
        told = [one.balanced for one in self.statements]
        if False in told:
            return False
        return True if told and None not in told else None

    def _open(self, opened: Opened) -> None:
        if len(self._found) >= STATEMENTS_MAX:
            raise Unreadable(None, f"The file has more than {STATEMENTS_MAX} statements.")
        if self.first is None:
            self.first = opened
        number = opened.iban or opened.account_number
        if number is not None:
            self._accounts.add(f"{opened.sort_code or ''}{number}")
        if len(self._accounts) > 1 and not (self.account.iban or self.account.account_number):
            reason = "The file is of several accounts: give this one its sort code and number, or its IBAN."
            raise Unreadable(None, reason)
        self._found[opened.statement] = _Found(opened, foreign_reason(self.account, opened))

    def _line(self, line: Line) -> Iterator[Staged]:
        self.counts.rows += 1
        found = self._found.get(line.statement)
        reason = None if found is None else found.foreign
        if reason is None and line.currency != self.account.currency:
            reason = f"It is in {line.currency}, and the account in {self.account.currency}."
        if reason is not None:
            self.counts.refuse(line.line, reason)
            return
        self._position += 1
        yield Staged(self._position, line.line, line.statement, _IN_ORDER(self._values(line)))

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
        found = self._found.get(closed.statement)
        if found is None or found.foreign is not None or closed.is_interim:  # which covers no day, and has no balance
            return
        opened = found.opened
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


def foreign_reason(account: BankAccountRow, opened: Opened) -> str | None:
    """Why a statement is not the account's; None where nothing says that it is another's."""
    if opened.currency is not None and opened.currency != account.currency:
        return f"Its statement is in {opened.currency}, and the account in {account.currency}."
    for ours, theirs in _numbers(account, opened):
        if ours is not None and theirs is not None and not _same_number(ours, theirs):
            return f"Its statement is of another account, which ends in {_bare(theirs)[-4:]}."
    return None


def _numbers(account: BankAccountRow, opened: Opened) -> Iterator[tuple[str | None, str | None]]:
    yield account.iban, opened.iban
    yield account.sort_code, opened.sort_code
    yield account.account_number, opened.account_number
    if account.iban is None or opened.iban is None:  # a British IBAN ends in sort code and number
        yield _number_in(account.iban), opened.account_number
        yield account.account_number, _number_in(opened.iban)


def _number_in(iban: str | None) -> str | None:
    return iban[-8:] if iban is not None and iban.startswith("GB") else None


def _same_number(ours: str, theirs: str) -> bool:
    """Equal, or equal at the end where one of them is masked or shortened."""
    ours, theirs = _bare(ours), _bare(theirs)
    shorter, longer = sorted((ours.lstrip("0X"), theirs.lstrip("0X")), key=len)
    return longer == shorter or (4 <= len(shorter) <= 8 and longer.endswith(shorter))


def _bare(number: str) -> str:
    return _SIGNS.sub("", number.upper())
