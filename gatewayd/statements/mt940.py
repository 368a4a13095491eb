"""MT940 and MT942 of SWIFT: customer statements, and interim reports of what has come in since (Domain E).

The mt-940 package reads the fields; it would take a whole file at once, so the file is cut into messages, and these
into runs of statement lines, which it is given one after the other.
"""

import datetime
import re
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from typing import BinaryIO, NamedTuple

from msgspec.structs import replace
from mt940.models import Amount, Transactions
from mt940.models import Balance as SwiftBalance
from mt940.options import Options
from mt940.tags import Statement, StatementASNB, StatementGLS

from gatewayd.money import CURRENCIES
from gatewayd.statements.amounts import parse_amount
from gatewayd.statements.identifiers import identifiers
from gatewayd.statements.running import Tally
from gatewayd.statements.shapes import Hints, Line, Opened, Part, Refused, Unreadable
from gatewayd.statements.text import TextLines, cleaned, encoding_of, without_nul
from gatewayd.statements.transaction_types import MT940_TYPES

_FIELD = re.compile(r":(13D|20|21|25P?|28C?|34F|60[FM]?|61|62[FM]?|64|65|86|90[CD]|NS):(.*)", re.DOTALL)
_MARKS = "\ufeff\x01\x02 "  # byte order, and the beginning of a transmission
_END = frozenset({"-", "-}"})
_LONGEST = 16 * 1024  # of a field with those behind it; SWIFT has 390 characters
_RUN = 200  # lines for the package at once
_OPENINGS, _CLOSINGS = ("60F", "60M", "60"), ("62F", "62M", "62")
_NO_REFERENCE = frozenset({"NONREF", "NOREF"})
_FAULTS = (RuntimeError, ValueError, InvalidOperation, KeyError, TypeError)
"""What the package raises for a field that it can't read."""

Written = tuple[int, str]
"""Line of the file and text of a statement line, with the fields that belong to it behind."""


class Balance(NamedTuple):
    """A balance: signed, in minor units, of a day."""

    amount: int
    currency: str
    date: str | None


class Field(NamedTuple):
    """A field of a message: its tag, its text with line ends, and the line of the file where it begins."""

    tag: str
    text: str
    line: int


def read_mt940(stream: BinaryIO, hints: Hints) -> Iterator[Part]:
    """The parts of an MT940 file. Raises `Unreadable` for what is cut off or holds no statement."""
    encoding = hints.mapping.encoding if hints.mapping is not None else None
    lines = TextLines(stream, encoding or encoding_of(stream), hints.limits)
    message: _Message | None = None
    statements = 0
    try:
        for field in _fields(lines):
            if field.tag == "20":
                if message is not None:
                    yield from message.closed()
                message, statements = _Message(statements, hints), statements + 1
            elif message is not None:
                yield from message.take(field)
    finally:
        lines.detach()
    if message is None:
        raise Unreadable(None, "the file holds no statement: there is no :20:")
    yield from message.closed()


def _fields(lines: TextLines) -> Iterator[Field]:
    """The fields of all messages; what stands around messages (blocks of SWIFT) is left out."""
    field: Field | None = None
    for line in without_nul(lines):
        match = _FIELD.match(line.removeprefix("{4:").lstrip(_MARKS))
        if match is not None:
            if field is not None:
                yield field
            field = Field(match[1], match[2], lines.number)
        elif line.strip() in _END or line.startswith("{1:"):
            if field is not None:
                yield field
            field = None
        elif field is not None:
            field = _longer(field, line)
    if field is not None:
        yield field


def _longer(field: Field, line: str) -> Field:
    """The field with another line."""
    if len(field.text) + len(line) > _LONGEST:
        raise Unreadable(field.line, f"field {field.tag} is longer than {_LONGEST} characters")
    return Field(field.tag, f"{field.text}\n{line}", field.line)


class _Message:
    """One message. Its lines wait in `_run` until there are enough of them, or it ends."""

    def __init__(self, statement: int, hints: Hints) -> None:
        self._statement = statement
        self._hints = hints
        self._account = ""
        self._opening: Balance | None = None
        self._closing: Balance | None = None
        self._available: Balance | None = None
        self._tally: Tally | None = None
        self._run: list[Field] = []
        self._first_line = 0
        self._limit_currency: str | None = None  # of :34F:, which interim reports alone have

    def take(self, field: Field) -> Iterator[Part]:
        """One field more."""
        tag = field.tag
        self._first_line = self._first_line or field.line
        if tag in ("25", "25P"):
            self._account = field.text.split("\n", maxsplit=1)[0].strip()
        elif tag in _OPENINGS:
            self._opening = self._balance(field)
        elif tag in _CLOSINGS:
            yield from self._run_lines()
            self._closing = self._balance(field)
        elif tag == "34F":
            self._limit_currency = field.text.strip()[:3]
        elif tag in ("90C", "90D"):
            yield from self._run_lines()  # what follows is of the message
        elif tag == "64":
            self._available = self._balance(field)
        elif tag == "61" or (tag in ("86", "NS") and self._run and self._closing is None):
            yield from self._one_line(field)

    def _one_line(self, field: Field) -> Iterator[Part]:
        if field.tag == "61":
            if len(self._run) >= _RUN:
                yield from self._run_lines()
            self._run.append(field)
        else:
            last = self._run[-1]
            self._run[-1] = _longer(last, f":{field.tag}:{field.text}")

    def closed(self) -> Iterator[Part]:
        """The end of the message. Raises `Unreadable` where the closing balance of a statement is missing."""
        if self._closing is None and not self._is_interim:
            reason = f"message {self._statement + 1} has no closing balance (:62F:): is the file cut off?"
            raise Unreadable(None, reason)
        yield from self._run_lines()
        yield from self._opened()
        if self._tally is not None and self._closing is None:
            yield self._tally.closed(is_interim=True)
        elif self._tally is not None and self._closing is not None:
            yield self._tally.closed(
                opening=self._opening.amount if self._opening else None,
                closing=self._closing.amount,
                closing_date=self._closing.date,
                available=self._available.amount if self._available else None,
                dates=(None, self._closing.date),
            )

    def _run_lines(self) -> Iterator[Part]:
        """What the run says, told after the statement's beginning."""
        if self._run:
            yield from self._opened()
            tally = self._tally
            for part in _lines_of([(field.line, field.text) for field in self._run], self._currency, self._statement):
                yield tally.add(self._as_told(part)) if tally is not None and isinstance(part, Line) else part
            self._run = []

    def _as_told(self, line: Line) -> Line:
        """Chosen: a line of an interim report is pending, until a statement brings it."""
        if not self._is_interim:
            return line
        return replace(line, status="pending", booking_date=None, value_date=line.value_date or line.booking_date)

    @property
    def _is_interim(self) -> bool:
        return self._limit_currency is not None and self._opening is None and self._closing is None

    def _opened(self) -> Iterator[Part]:
        if self._tally is not None:
            return
        self._tally = Tally(self._statement, self._currency)
        account = identifiers(re.sub(r"\s+[A-Z]{3}$|(?<=[0-9])(GBP|EUR|USD)$", "", self._account))
        yield Opened(
            statement=self._statement,
            format="mt942" if self._is_interim else "mt940",
            sort_code=account.sort_code,
            account_number=account.account_number,
            iban=account.iban,
            bic=account.bic,
            currency=self._currency,
            opening_balance=self._opening.amount if self._opening else None,
            opening_date=self._opening.date if self._opening else None,
        )

    @property
    def _currency(self) -> str:
        known = self._opening or self._closing
        currency = known.currency if known is not None else (self._limit_currency or self._hints.currency or "")
        if currency not in CURRENCIES:
            reason = (
                f"{currency!r} is no currency" if currency else "the statement has no balance that names a currency"
            )
            raise Unreadable(self._first_line or None, reason)
        return currency

    def _balance(self, field: Field) -> Balance:
        try:
            return _balance_of(field.tag, field.text)
        except ValueError as error:
            raise Unreadable(field.line, f"the balance :{field.tag}: {error}") from error


# -- what the mt-940 package makes of the fields


def _balance_of(tag: str, text: str) -> Balance:
    """The balance of a field 60, 62 or 64. Raises `ValueError` with a sentence."""
    try:
        parsed = Transactions(options=Options.all())
        parsed.parse(f":{tag}:{text}")
    except _FAULTS as error:
        raise ValueError(f"{text[:40]!r} is no balance") from error
    balance = next((value for value in parsed.data.values() if isinstance(value, SwiftBalance)), None)
    if balance is None or not isinstance(balance.amount, Amount) or balance.amount.currency not in CURRENCIES:
        raise ValueError(f"{text[:40]!r} is no balance in a currency")
    currency = balance.amount.currency
    return Balance(
        _minor(balance.amount.amount, currency), currency, balance.date.isoformat() if balance.date else None
    )


def _lines_of(run: Sequence[Written], currency: str, statement: int) -> Iterator[Line | Refused]:
    """The lines of a run. Where it holds one that cannot be read, each is tried alone."""
    try:
        yield from _parsed(run, currency, statement, Statement())
    except _FAULTS:
        for written in run:
            yield _alone(written, currency, statement)


def _alone(written: Written, currency: str, statement: int) -> Line | Refused:
    """The line as SWIFT has it, else as banks do that write longer references."""
    for dialect in (Statement(), StatementASNB(), StatementGLS()):
        try:
            return _parsed([written], currency, statement, dialect)[0]
        except _FAULTS:
            continue
    first = written[1].split("\n", maxsplit=1)[0][:60]
    return Refused(line=written[0], reason=f"{first!r} is no statement line (:61:)", statement=statement)


def _parsed(run: Sequence[Written], currency: str, statement: int, dialect: Statement) -> list[Line]:
    parsed = Transactions(options=Options.all(), tags={61: dialect})
    # A line of no amount in front tells the package the currency and nothing else.
    transactions = parsed.parse(f":60F:C000101{currency}0,\n" + "\n".join(f":61:{text}" for _, text in run))
    if len(transactions) != len(run):
        raise ValueError("it cannot be told apart from the lines around it")
    return [
        _line(transaction.data, written, currency, statement)
        for transaction, written in zip(transactions, run, strict=True)
    ]


def _line(data: Mapping[str, object], written: Written, currency: str, statement: int) -> Line:
    amount, value_date = data["amount"], data["date"]
    booked = data.get("guessed_entry_date") or data.get("entry_date") or value_date
    if not isinstance(amount, Amount) or not isinstance(booked, datetime.date):
        raise KeyError("amount, date")
    raw = "\n".join(line.removeprefix(":86:") for line in written[1].split("\n")[1:]).strip()
    structured = [
        _field_text(data, name) for name in ("posting_text", "applicant_name", "purpose", "additional_purpose")
    ]
    customer = _field_text(data, "customer_reference")
    return Line(
        statement=statement,
        line=written[0],
        booking_date=booked.isoformat(),
        value_date=value_date.isoformat() if isinstance(value_date, datetime.date) else None,
        amount=_minor(amount.amount, currency),
        currency=currency,
        description=cleaned(" ".join(t for t in structured if t) or raw) or customer or "",
        raw_description=raw,
        type=MT940_TYPES.get((_field_text(data, "id") or "")[1:4], "other"),
        counterparty_name=_cleaned(data, "applicant_name"),
        counterparty_account=_field_text(data, "applicant_iban") or _field_text(data, "gvc_applicant_iban"),
        reference=customer if customer not in _NO_REFERENCE else None,
        end_to_end_id=_cleaned(data, "end_to_end_reference"),
        bank_reference=_field_text(data, "bank_reference"),
        bank_transaction_code=_field_text(data, "id"),
    )


def _field_text(data: Mapping[str, object], name: str) -> str | None:
    value = data.get(name)
    return value.strip() or None if isinstance(value, str) else None


def _cleaned(data: Mapping[str, object], name: str) -> str | None:
    text = _field_text(data, name)
    return (cleaned(text) or None) if text else None


def _minor(amount: Decimal, currency: str) -> int:
    return parse_amount(f"{amount:f}", currency)
