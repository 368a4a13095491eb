"""Invoice numbers: a sequence without gaps for each seller and kind. Owns the table `invoice_sequences`.

VAT needs a sequential number that identifies the document (VAT Regulations 1995 reg. 14(1)(a)). The number is allotted
in the transaction that issues, so that a rollback gives it back.

A sequence has a row for each year that it counted in, or one of the year `''` where its pattern has none. No count of a
row is below a number that the seller used: a row begins after the highest, and an imported number moves it on. So the
next one is free, and nothing is looked up to know it.

How a number is written is a pattern: `INV-{yyyy}-{000001}` gives `INV-2026-000457`. It has one counter, `{1}` to
`{000000000001}`, whose digits are the least that are written, and may have the year, `{yyyy}`. What stands around them
is printable ASCII. A counter beyond its digits grows longer.
"""

import functools
import re
from typing import Literal, NamedTuple

from gatewayd.errors import Problem, invalid_state
from gatewayd.store import ReadTx, WriteTx

InvoiceKind = Literal["invoice", "credit_note"]
NumberedKind = Literal["invoice", "credit_note", "quote"]

_PATTERN = re.compile(r"(?! )[^{}]*(\{yyyy\}[^{}]*)?\{0{0,11}1\}[^{}]*(\{yyyy\}[^{}]*)?(?<! )", re.ASCII)
_PRINTABLE = re.compile(r"[ -~]+", re.ASCII)
_COUNTER = re.compile(r"\{(0*1)\}")
_DIGITS = re.compile(r"(\{yyyy\}|\{0*1\}|[0-9])+")
_YEAR = "{yyyy}"

MAX_LENGTH = 40  # Chosen: a number fits 64 characters however far its counter has come
MAX_COUNT = 10**12 - 1  # Chosen: longer digits are a date or a reference of somebody else's, and move no counter


DEFAULT_PATTERNS: dict[NumberedKind, str] = {
    "invoice": "INV-{000001}",
    "credit_note": "CN-{000001}",
    "quote": "QUO-{000001}",
}
_ALWAYS = ""
"""The year of patterns that have none."""
_AFTER_ANY = "\x7f"  # sorts behind every character of a number

_COUNT_ON = """
UPDATE invoice_sequences SET last_number = last_number + 1
WHERE org_id = :org_id AND seller_key = :seller_key AND kind = :kind AND (year = '' OR year = :year)
RETURNING last_number, pattern
"""
_BEGIN = """
INSERT INTO invoice_sequences (org_id, seller_key, kind, year, pattern, last_number)
VALUES (:org_id, :seller_key, :kind, :year, :pattern, :last_number)
ON CONFLICT (org_id, seller_key, kind, year) DO UPDATE SET last_number = excluded.last_number
"""
_FORGET = "DELETE FROM invoice_sequences WHERE org_id = :org_id AND seller_key = :seller_key AND kind = :kind"
_SELECT = """
SELECT kind, year, pattern, last_number FROM invoice_sequences
WHERE org_id = :org_id AND seller_key = :seller_key ORDER BY kind, year DESC
"""
_MOVE_ON = """
UPDATE invoice_sequences SET last_number = :last_number
WHERE org_id = :org_id AND seller_key = :seller_key AND kind = :kind AND year = :year
"""
_SELECT_NUMBERS = """
SELECT number FROM invoices
WHERE org_id = :org_id AND seller_key = :seller_key AND number >= :first AND number < :beyond
"""
_SELECT_QUOTE_NUMBERS = """
SELECT number FROM quotes
WHERE org_id = :org_id AND seller_key = :seller_key AND number >= :first AND number < :beyond
"""
_GO_ON_ANY_ORG = "UPDATE invoice_sequences SET last_number = :last_number WHERE last_number < :last_number"
_SELLERS_ANY_ORG = """
SELECT id AS org_id, id FROM organizations
UNION ALL SELECT org_id, id FROM legal_entities WHERE numbered_as_organization = 0
"""
_SELECT_HOLDER = """
SELECT id FROM invoices WHERE org_id = :org_id AND seller_key = :seller_key AND number = :number
"""


class Series(NamedTuple):
    """A pattern in one year: what stands around the counter, and the least digits that it has."""

    prefix: str
    suffix: str
    digits: int

    def written(self, count: int) -> str:
        """The number that `count` is."""
        return f"{self.prefix}{count:0{self.digits}d}{self.suffix}"

    def count_of(self, number: str) -> int | None:
        """Which count is written so; None where the number is not one of the series."""
        digits = number[len(self.prefix) : len(number) - len(self.suffix)]
        if not (digits.isascii() and digits.isdecimal()):
            return None
        count = int(digits)
        return count if 1 <= count <= MAX_COUNT and self.written(count) == number else None


def is_pattern(text: str) -> bool:
    """Whether numbers can be written so."""
    if len(text) > MAX_LENGTH or not _PRINTABLE.fullmatch(text) or text.count(_YEAR) > 1:
        return False
    return _PATTERN.fullmatch(text) is not None


def counts_by_year(pattern: str) -> bool:
    """True where each year begins with 1."""
    return _YEAR in pattern


@functools.lru_cache(maxsize=256)  # a few for each seller
def series(pattern: str, year: str) -> Series:
    """The series of a pattern in a year of four digits."""
    prefix, digits, suffix = _COUNTER.split(pattern.replace(_YEAR, year))
    return Series(prefix, suffix, len(digits))


def may_meet(pattern: str, other: str) -> bool:
    """True where two patterns could write the same number: they differ in nothing but digits."""
    return _DIGITS.sub("0", pattern) == _DIGITS.sub("0", other)


class Sequence(NamedTuple):
    """How a seller's documents of one kind are numbered; `next_count` is of the year that was asked for."""

    pattern: str
    next_count: int
    next_number: str


class _Row(NamedTuple):
    kind: NumberedKind
    year: str
    pattern: str
    last_number: int


def allot(tx: WriteTx, seller_key: str, kind: NumberedKind, issue_date: str) -> str:
    """The next number of the seller's sequence, in the calendar year of the ISO date where the pattern has one.

    Raises `Problem` `invalid_state` where the counter is at its end.
    """
    year = issue_date[:4]
    row = tx.row(_COUNT_ON, seller_key=seller_key, kind=kind, year=year)
    if row is None:
        pattern = _pattern(_sequence_rows(tx, seller_key), kind)
        count = highest(tx, seller_key, kind, series(pattern, year)) + 1
        _begin(tx, seller_key, _Row(kind, _year(pattern, year), pattern, count))
    else:
        count, pattern = row
    if count > MAX_COUNT:
        message = "The numbers are used up: set another pattern, with `accounting.setNumbering`."
        raise invalid_state(message, "used_up", ())
    return series(pattern, year).written(count)


def refuse_taken(tx: ReadTx, seller_key: str, number: str) -> None:
    """Raises `Problem` `number_taken` where an invoice of the seller bears this number."""
    existing_id = tx.value(_SELECT_HOLDER, seller_key=seller_key, number=number)
    if existing_id is not None:
        message = f"The seller has an invoice {number} already, {existing_id}: give another number."
        raise Problem("number_taken", message, extra={"existingId": existing_id})


def take(tx: WriteTx, seller_key: str, number: str) -> None:
    """Use a number that an imported invoice brings: a sequence that it fits goes on after it.

    Raises `Problem` `number_taken`.
    """
    refuse_taken(tx, seller_key, number)
    for row in _sequence_rows(tx, seller_key):
        count = None if row.kind == "quote" else series(row.pattern, row.year).count_of(number)
        if count is not None and count > row.last_number:
            tx.run(_MOVE_ON, seller_key=seller_key, kind=row.kind, year=row.year, last_number=count)


def sequence(tx: ReadTx, seller_key: str, kind: NumberedKind, year: str) -> Sequence:
    """How the seller's documents of a kind are numbered in a year of four digits."""
    rows = _sequence_rows(tx, seller_key)
    pattern = _pattern(rows, kind)
    of_year = series(pattern, year)
    counts = [row.last_number for row in rows if row.kind == kind and row.year in (_ALWAYS, year)]
    count = (counts[0] if counts else highest(tx, seller_key, kind, of_year)) + 1
    return Sequence(pattern, count, of_year.written(count))


def other_pattern(tx: ReadTx, seller_key: str, kind: NumberedKind) -> str | None:
    """The pattern of the seller's invoices, or its credit notes, which may not meet; None: of quotes, which may."""
    if kind == "quote":
        return None
    return _pattern(_sequence_rows(tx, seller_key), "credit_note" if kind == "invoice" else "invoice")


def begin_at(tx: WriteTx, seller_key: str, kind: NumberedKind, year: str, numbered: tuple[str, int]) -> None:
    """Number by a pattern, with this count next. Another pattern than before forgets the counts of all years."""
    pattern, next_count = numbered
    if pattern != _pattern(_sequence_rows(tx, seller_key), kind):
        tx.run(_FORGET, seller_key=seller_key, kind=kind)
    _begin(tx, seller_key, _Row(kind, _year(pattern, year), pattern, next_count - 1))


def go_on_after(tx: WriteTx, last_number: int) -> None:
    """Let every sequence go on after this number at the least, of all organizations, also those that have not begun.

    After a restore, in which numbers that were given since the backup are not known. Chosen: one number for all, since
    a gap is explained more easily than a number that was given twice.
    """
    tx.run(_GO_ON_ANY_ORG, last_number=last_number)
    year = tx.today[:4]
    for org_id, seller_key in tx.rows(_SELLERS_ANY_ORG):
        tx.bind(org_id)
        rows = _sequence_rows(tx, seller_key)
        for kind in DEFAULT_PATTERNS:
            if not any(row.kind == kind and row.year in (_ALWAYS, year) for row in rows):
                pattern = _pattern(rows, kind)
                count = max(last_number, highest(tx, seller_key, kind, series(pattern, year)))
                _begin(tx, seller_key, _Row(kind, _year(pattern, year), pattern, count))


def highest(tx: ReadTx, seller_key: str, kind: NumberedKind, wanted: Series) -> int:
    """The highest count of a series that the seller used, in whatever way; 0: none. Quotes are looked at apart."""
    sql = _SELECT_QUOTE_NUMBERS if kind == "quote" else _SELECT_NUMBERS
    rows = tx.rows(sql, seller_key=seller_key, first=wanted.prefix, beyond=wanted.prefix + _AFTER_ANY)
    return max((wanted.count_of(number) or 0 for (number,) in rows), default=0)


def _sequence_rows(tx: ReadTx, seller_key: str) -> list[_Row]:
    return [_Row(*row) for row in tx.rows(_SELECT, seller_key=seller_key)]


def _pattern(rows: list[_Row], kind: NumberedKind) -> str:
    return next((row.pattern for row in rows if row.kind == kind), DEFAULT_PATTERNS[kind])


def _year(pattern: str, year: str) -> str:
    return year if counts_by_year(pattern) else _ALWAYS


def _begin(tx: WriteTx, seller_key: str, row: _Row) -> None:
    tx.run(_BEGIN, seller_key=seller_key, **row._asdict())
