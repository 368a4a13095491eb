"""QIF: the lists of bank, cash and card accounts (Domain E). A record is of lines, each with a letter for its field."""

from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

from msgspec import structs

from gatewayd.money import CURRENCIES
from gatewayd.statements.amounts import has_decimal_comma, parse_amount
from gatewayd.statements.csv.settling import settled_dates
from gatewayd.statements.dates import DateOrder, parse_date
from gatewayd.statements.running import Tally
from gatewayd.statements.shapes import (
    Doubt,
    Hints,
    Line,
    Mapping,
    Opened,
    Part,
    Proposal,
    Refused,
    Supposed,
    Unreadable,
)
from gatewayd.statements.text import TextLines, cleaned, encoding_of, without_nul
from gatewayd.statements.transaction_types import type_of_word

_LISTS = frozenset({"bank", "cash", "ccard", "oth a", "oth l"})
_SPLITS = frozenset("SE$%")
_ONCE = frozenset("DTP")
_FIELDS_OF_ONE_RECORD = 2000
_JOINED = "it runs together with another one (there is no ^ between them)"
_QUESTION = "Does the day stand before the month (05/06 is 5 June), or the month before the day (05/06 is 6 May)?"


def read_qif(stream: BinaryIO, hints: Hints) -> Iterator[Part]:
    """The parts of a QIF file. Raises `Unreadable` for what holds no list of a bank, cash or card account.

    It does so with a proposal, too, where no date of the file shows whether days or months stand first.
    """
    currency = hints.currency
    if currency not in CURRENCIES:
        raise Unreadable(None, "a QIF file names no currency: say which it is in")
    encoding = (hints.mapping.encoding if hints.mapping else None) or encoding_of(stream)
    mapping, supposed = _mapping(stream, encoding, hints)
    lines = TextLines(stream, encoding, hints.limits)
    try:
        yield from _Reader(mapping, supposed, currency).parts(lines)
    finally:
        lines.detach()


class Record(NamedTuple):
    """A record of a list: its fields, and the line of the file where it begins. Without fields: a list begins."""

    kind: str  # of the list: bank, ccard, account, cat ...
    fields: list[str]
    line: int
    fault: str | None = None  # why it cannot be told from what is around it


def _records(lines: TextLines) -> Iterator[Record]:
    """All records of all lists, in the file's order."""
    kind, start = "", 0
    fields: list[str] = []
    fault: str | None = None
    for line in without_nul(lines):
        if line.lstrip().startswith("!"):
            header = line.strip()[1:].strip().lower()
            if header == "account" or header.startswith("type:"):
                if fields and kind in _LISTS:
                    yield Record(kind, fields, start, fault or _JOINED)
                kind, fields, fault = header.removeprefix("type:").strip(), [], None
                yield Record(kind, [], lines.number)
        elif line.rstrip() == "^":
            if fields:
                yield Record(kind, fields, start, fault)
            fields, fault = [], None
        elif line.strip():
            if kind in _LISTS and line[0] in _ONCE and any(field[0] == line[0] for field in fields):
                yield Record(kind, fields, start, _JOINED)
                fields, fault = [], _JOINED
            start = start if fields else lines.number
            fields.append(line)
            if len(fields) > _FIELDS_OF_ONE_RECORD:
                raise Unreadable(start, f"a record has more than {_FIELDS_OF_ONE_RECORD} fields")
    if fields:
        yield Record(kind, fields, start, "the file ends within it (there is no ^): is it cut off?")


def _mapping(stream: BinaryIO, encoding: str, hints: Hints) -> tuple[Mapping, tuple[Supposed, ...]]:
    """The mapping that is given, or what all dates and amounts of the file agree with, and what was supposed."""
    mapping = hints.mapping or Mapping()
    if hints.negate is not None:
        mapping = structs.replace(mapping, negate=hints.negate)
    if mapping.date_format is not None:
        return mapping, ()
    order, comma = DateOrder(), mapping.decimal_comma
    lines = TextLines(stream, encoding, hints.limits)
    try:
        for field in (field for record in _records(lines) if record.kind in _LISTS for field in record.fields):
            if field[0] == "D":
                order.add(field[1:])
            elif field[0] == "T":
                comma = comma or has_decimal_comma(field[1:])
            if order.is_settled:
                break
    finally:
        lines.detach()
    formats = order.formats()
    proposed = structs.replace(mapping, date_format=formats[0], decimal_comma=comma)
    settled = (formats[0], ()) if len(formats) == 1 else settled_dates(order, hints)
    if settled is None:
        raise unsettled_dates(proposed, formats, order.doubtful)
    return structs.replace(proposed, date_format=settled[0]), settled[1]


def unsettled_dates(mapping: Mapping, formats: tuple[str, ...], example: str) -> Unreadable:
    """What is raised where nothing in the file shows the order of its dates."""
    doubt = Doubt(field="date_format", question=_QUESTION, choices=formats)
    proposal = Proposal(headings=(), rows=(), mapping=mapping, doubts=(doubt,))
    return Unreadable(None, f"nothing shows which is the day and which the month of {example!r}", proposal)


class _Reader:
    """Follows the lists of the file. `_account` is what `!Account` named last."""

    def __init__(self, mapping: Mapping, supposed: tuple[Supposed, ...], currency: str) -> None:
        self._mapping = mapping
        self._supposed = supposed
        self._currency = currency
        self._account: str | None = None
        self._tally: Tally | None = None
        self._opening: int | None = None
        self._statements = 0

    def parts(self, lines: TextLines) -> Iterator[Part]:
        """The parts of all lists."""
        for record in _records(lines):
            if not record.fields:
                yield from self._closed()
                yield from self._opened() if record.kind in _LISTS else ()
            elif record.kind == "account":
                self._account = next((cleaned(field[1:]) for field in record.fields if field[0] == "N"), None)
            elif self._tally is not None:
                yield from self._take(record, self._tally)
        yield from self._closed()
        if not self._statements:
            raise Unreadable(None, "the file holds no list of a bank, cash or card account (!Type:Bank, Cash, CCard)")

    def _opened(self) -> Iterator[Part]:
        self._tally = Tally(self._statements, self._currency)
        self._statements += 1
        yield Opened(
            statement=self._tally.statement,
            format="qif",
            mapping=self._mapping,
            supposed=self._supposed,
            account_name=self._account,
            currency=self._currency,
        )

    def _closed(self) -> Iterator[Part]:
        if self._tally is not None:
            yield self._tally.closed(opening=self._opening)
        self._tally, self._opening = None, None

    def _take(self, record: Record, tally: Tally) -> Iterator[Part]:
        try:
            if record.fault is not None:
                raise ValueError(record.fault)
            line = self._line(record, tally.statement)
        except ValueError as error:
            yield Refused(line=record.line, reason=str(error), statement=tally.statement)
            return
        if tally.lines == 0 and self._opening is None and line.description.lower().startswith("opening balance"):
            self._opening = line.amount
        else:
            yield tally.add(line)

    def _line(self, record: Record, statement: int) -> Line:
        fields: dict[str, str] = {}
        for field in record.fields:
            if field[0] not in _SPLITS:
                fields.setdefault(field[0], field[1:].strip())
        if "D" not in fields:
            raise ValueError("it has no date")
        text = fields.get("T") or fields.get("U")
        if not text:
            raise ValueError("it has no amount")
        amount = parse_amount(text, self._currency, decimal_comma=self._mapping.decimal_comma)
        words = [fields[letter] for letter in "PM" if fields.get(letter)]
        number = fields.get("N", "")
        splits = [field for field in record.fields if field[0] in _SPLITS]
        return Line(
            statement=statement,
            line=record.line,
            booking_date=parse_date(fields["D"], self._mapping.date_format or ""),
            amount=-amount if self._mapping.negate else amount,
            currency=self._currency,
            description=cleaned(" ".join(dict.fromkeys(words))),
            raw_description="\n".join([*words, *splits]),
            reference=number or None,
            type="cheque" if number.isdigit() and amount < 0 else type_of_word(number),
        )
