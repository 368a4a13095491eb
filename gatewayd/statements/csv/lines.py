"""One row of a CSV as one line of a statement, by its mapping."""

import re
from collections.abc import Sequence
from typing import Literal, NamedTuple

from gatewayd.money import CURRENCIES
from gatewayd.statements.amounts import parse_amount
from gatewayd.statements.csv.rows import folded, repeats
from gatewayd.statements.dates import is_date, parse_date
from gatewayd.statements.identifiers import Identifiers, identifiers
from gatewayd.statements.shapes import Column, IgnoredKind, Line, Mapping, Unreadable
from gatewayd.statements.text import cleaned
from gatewayd.statements.transaction_types import type_of_word

_NO_TRANSACTION = re.compile(
    r"\s*((?P<total>(sub-?|grand )?totals?)|(opening|closing|start|end|available|current|account)( account)? balance"
    r"|balance (brought|carried) forward|(brought|carried) forward|arranged overdraft limit|overdraft limit)\b.*",
    re.IGNORECASE,
)
_INWARDS = frozenset({"CR", "C", "CRDT", "CREDIT", "IN", "PAID IN", "MONEY IN", "+"})
_OUTWARDS = frozenset({"DR", "D", "DBIT", "DEBIT", "OUT", "PAID OUT", "MONEY OUT", "-"})
_PENDING = frozenset({"pending", "authorised", "authorized", "processing", "pend", "unsettled"})
_VOID = frozenset({"reverted", "declined", "failed", "cancelled", "canceled", "rejected", "returned", "deleted"})
_PENCE = frozenset({"GBp", "GBX", "GBx", "gbx"})  # hundredths of a pound, as prices in London are quoted
_MARKED = re.compile(r".*\b(CR|DR)\.?\s*", re.IGNORECASE | re.DOTALL)


Key = tuple[Identifiers, str | None, str]
"""Account, its name, and currency: what a statement of a CSV is of."""


class Signed(NamedTuple):
    """The sign of an amount, and what the column of directions says beside it."""

    is_negative: bool
    is_out: bool


class Columns:
    """Where the columns of a mapping stand. Raises `Unreadable` for one that the file has not."""

    def __init__(self, mapping: Mapping, headings: Sequence[str]) -> None:
        self._by_heading = {folded(heading): at for at, heading in reversed(list(enumerate(headings)))}
        self._headings = headings
        self.date = self._place(mapping.date)
        self.value_date = self._place(mapping.value_date)
        self.description = [at for column in mapping.description if (at := self._place(column)) is not None]
        self.amount, self.fee = self._place(mapping.amount), self._place(mapping.fee)
        self.paid_in, self.paid_out = self._place(mapping.paid_in), self._place(mapping.paid_out)
        self.direction, self.status = self._place(mapping.direction), self._place(mapping.status)
        self.balance, self.currency = self._place(mapping.balance), self._place(mapping.currency)
        self.reference, self.type = self._place(mapping.reference), self._place(mapping.type)
        self.counterparty = self._place(mapping.counterparty)
        self.counterparty_account = self._place(mapping.counterparty_account)
        self.transaction_id = self._place(mapping.transaction_id)
        self.original_amount = self._place(mapping.original_amount)
        self.original_currency = self._place(mapping.original_currency)
        self.merchant_category_code = self._place(mapping.merchant_category_code)
        self.sort_code = self._place(mapping.sort_code)
        self.account_number = self._place(mapping.account_number)
        self.account_name = self._place(mapping.account_name)
        if self.date is None:
            raise Unreadable(None, "the mapping names no column for the date")
        if self.amount is None and self.paid_in is None and self.paid_out is None:
            raise Unreadable(None, "the mapping names no column for the amount")
        places = [at for at in vars(self).values() if isinstance(at, int)]
        self.width = max([len(headings), *(at + 1 for at in (*places, *self.description))])

    def repeats_headings(self, cells: Sequence[str]) -> bool:
        """True for the headings once more, as files have them that were joined."""
        return repeats(self._headings, cells)

    def _place(self, column: Column | None) -> int | None:
        if column is None or isinstance(column, int):
            return column
        at = self._by_heading.get(folded(column))
        if at is None:
            names = ", ".join(heading for heading in self._headings if heading)
            raise Unreadable(None, f"there is no column {column!r}: the file has {names}")
        return at


class RowReader:
    """Makes lines of rows. `currency` is that of rows that name none."""

    def __init__(self, mapping: Mapping, columns: Columns, currency: str | None) -> None:
        self._mapping = mapping
        self._columns = columns
        self._currency = currency
        self._date_format = mapping.date_format or ""

    def is_blank(self, cells: Sequence[str]) -> bool:
        """True where no cell says anything: that is no row."""
        return not any(cell and not cell.isspace() for cell in cells)

    def no_transaction(self, cells: Sequence[str]) -> IgnoredKind | None:
        """What a row is that stands among or behind the transactions and is none; None: it is one."""
        if is_date(_cell(cells, self._columns.date)):
            return None
        if self._columns.repeats_headings(cells):
            return "heading"
        marked = next((match for cell in cells if (match := _NO_TRANSACTION.fullmatch(cell))), None)
        if marked is None:
            return None
        return "total" if marked["total"] else "balance"

    def currency(self, cells: Sequence[str]) -> str:
        """The currency of a row. Raises `ValueError` where it names none that there is."""
        if self._is_in_pence(cells):
            return "GBP"
        named = _cell(cells, self._columns.currency).upper() or self._currency
        if named not in CURRENCIES:
            raise ValueError(f"{named!r} is no currency" if named else "it names no currency")
        return named

    def _is_in_pence(self, cells: Sequence[str]) -> bool:
        return _cell(cells, self._columns.currency) in _PENCE

    def key(self, cells: Sequence[str]) -> Key:
        """What a row is of. Raises `ValueError` as `currency` does."""
        return (*self.account(cells), self.currency(cells))

    def moved(self, cells: Sequence[str], currency: str) -> tuple[int, int | None] | None:
        """The amount of a booked row and the balance behind it; None for one that is pending or void.

        Raises `ValueError` for what cannot be read.
        """
        status = _cell(cells, self._columns.status).lower()
        date = _cell(cells, self._columns.date)
        if status in _VOID or status in _PENDING or not is_date(date):
            return None
        return self._amount(cells, currency), self._balance(cells, currency)

    def day(self, cells: Sequence[str]) -> str | None:
        """The day of a row; None where it has none that can be read."""
        try:
            return parse_date(_cell(cells, self._columns.date), self._date_format)
        except ValueError:
            return None

    def signed(self, cells: Sequence[str], currency: str) -> Signed | None:
        """How a row is signed that has a direction beside its amount; None for others."""
        text, direction = _cell(cells, self._columns.amount), _cell(cells, self._columns.direction).upper()
        if not text or direction not in _INWARDS | _OUTWARDS:
            return None
        return Signed(self._parsed(text, currency, cells) < 0, direction in _OUTWARDS)

    def account(self, cells: Sequence[str]) -> tuple[Identifiers, str | None]:
        """The account that a row says it is of, and its name: Barclays has sort code and number where it stands."""
        columns = self._columns
        if columns.account_number is None and columns.account_name is None:
            return Identifiers(), None
        number = _cell(cells, columns.account_number)
        name = _cell(cells, columns.account_name)
        if (
            not number
            and (identified := identifiers(name)).sort_code is not None
            and identified.account_number is not None
        ):
            return identified, None
        return identifiers(number, _cell(cells, columns.sort_code)), cleaned(name.lstrip("'")) or None

    def line(self, at: int, cells: Sequence[str], statement: int, currency: str) -> Line:
        """The line of a row. Raises `ValueError` with a sentence."""
        columns = self._columns
        if len(cells) < columns.width or any(cell.strip() for cell in cells[columns.width :]):
            raise ValueError(f"it has {len(cells)} columns instead of {columns.width}")
        status = self._status(cells)
        date = _cell(cells, columns.date)
        if not date and status == "booked":
            raise ValueError("it has no date")
        raw = " ".join(text for column in columns.description if (text := cells[column]))
        counterparty = _cell(cells, columns.counterparty)
        original = self._original(cells, currency)
        code = _cell(cells, columns.merchant_category_code)
        return Line(
            statement=statement,
            line=at,
            booking_date=parse_date(date, self._date_format) if status == "booked" else None,
            value_date=self._value_date(cells, date, status),
            status=status,
            amount=self._amount(cells, currency),
            currency=currency,
            description=_description([cells[column] for column in columns.description]),
            raw_description=raw,
            type=type_of_word(_cell(cells, columns.type)),
            counterparty_name=cleaned(counterparty) or None,
            counterparty_account=_cell(cells, columns.counterparty_account) or None,
            reference=cleaned(_cell(cells, columns.reference)) or None,
            fit_id=_cell(cells, columns.transaction_id).strip("'") or None,
            merchant_category_code=code if len(code) == 4 and code.isdigit() and code != "0000" else None,
            balance_after=self._balance(cells, currency),
            original_amount=original[0] if original else None,
            original_currency=original[1] if original else None,
        )

    def _status(self, cells: Sequence[str]) -> Literal["booked", "pending"]:
        text = _cell(cells, self._columns.status).lower()
        if text in _VOID:
            raise ValueError(f"its status is {text}: nothing was moved")
        is_pending = text in _PENDING or _cell(cells, self._columns.date).lower() in _PENDING
        return "pending" if is_pending else "booked"

    def _value_date(self, cells: Sequence[str], date: str, status: str) -> str | None:
        """The value date; of what is pending its date, where it has one."""
        text = _cell(cells, self._columns.value_date) or (date if status == "pending" and is_date(date) else "")
        return parse_date(text, self._date_format) if text else None

    def _balance(self, cells: Sequence[str], currency: str) -> int | None:
        text, mapping = _cell(cells, self._columns.balance), self._mapping
        negate = mapping.negate if mapping.negate_balance is None else mapping.negate_balance
        return self._parsed(text, currency, cells, negate=negate) if text else None

    def _amount(self, cells: Sequence[str], currency: str) -> int:
        columns = self._columns
        if columns.amount is None:
            return self._paid_in(cells, currency) - self._paid_out(cells, currency)
        text = _cell(cells, columns.amount)
        if not text:
            raise ValueError("it has no amount")
        fee = _cell(cells, columns.fee)
        cost = abs(self._parsed(fee, currency, cells)) if fee else 0
        direction = _cell(cells, columns.direction).upper()
        if direction:
            if direction not in _INWARDS | _OUTWARDS:
                raise ValueError(f"its direction is {direction[:20]!r}, neither in nor out")
            amount = abs(self._parsed(text, currency, cells))
            return (amount if direction in _INWARDS else -amount) - cost
        # CR and DR say the direction themselves, whatever a plain number of the card means.
        negate = self._mapping.negate and not _MARKED.fullmatch(text)
        return self._parsed(text, currency, cells, negate=negate) - cost

    def _paid_in(self, cells: Sequence[str], currency: str) -> int:
        text = _cell(cells, self._columns.paid_in)
        out = _cell(cells, self._columns.paid_out)
        amount = self._parsed(text, currency, cells) if text else 0
        if amount < 0:
            raise ValueError("what was paid in is negative")
        if amount and out and self._parsed(out, currency, cells):
            raise ValueError("it was both paid in and paid out")
        if not text and not out:
            raise ValueError("it has no amount")
        return amount

    def _paid_out(self, cells: Sequence[str], currency: str) -> int:
        """Chosen: whatever its sign, as some banks write what was paid out with a minus and others without."""
        text = _cell(cells, self._columns.paid_out)
        return abs(self._parsed(text, currency, cells)) if text else 0

    def _original(self, cells: Sequence[str], currency: str) -> tuple[int, str] | None:
        named = _cell(cells, self._columns.original_currency)
        text = _cell(cells, self._columns.original_amount)
        if not text or named in _PENCE or named.upper() == currency or named.upper() not in CURRENCIES:
            return None
        mapping = self._mapping
        minor = parse_amount(text, named.upper(), decimal_comma=mapping.decimal_comma, pence=mapping.pence)
        return -minor if mapping.negate else minor, named.upper()

    def _parsed(self, text: str, currency: str, cells: Sequence[str], *, negate: bool = False) -> int:
        """Of a row in pence the whole number counts them."""
        mapping = self._mapping
        pence = mapping.pence or self._is_in_pence(cells)
        minor = parse_amount(text, currency, decimal_comma=mapping.decimal_comma, pence=pence)
        return -minor if negate else minor


def is_total_or_balance(cells: Sequence[str]) -> bool:
    """True for a row of totals, or of a balance, which is no transaction."""
    return any(_NO_TRANSACTION.fullmatch(cell) for cell in cells) and not any(map(is_date, cells[:1]))


def is_direction(text: str) -> bool:
    """True for what says whether money came in or went out: CR, debit, +."""
    return text.upper() in _INWARDS | _OUTWARDS


def _description(texts: Sequence[str]) -> str:
    """The columns of a description, without those that another one of them repeats."""
    parts = [cleaned(text.removeprefix("'")) for text in texts]
    kept = [part for at, part in enumerate(parts) if part and not _is_repeated(part, at, parts)]
    return " ".join(kept)


def _is_repeated(part: str, at: int, parts: Sequence[str]) -> bool:
    folded_part = part.casefold()
    return any(
        folded_part in other.casefold() and (len(other) > len(part) or place < at)
        for place, other in enumerate(parts)
        if place != at
    )


def _cell(cells: Sequence[str], at: int | None) -> str:
    return cells[at].strip() if at is not None and at < len(cells) else ""
