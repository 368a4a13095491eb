"""The columns of a broker's CSV, and the cells of a row by what they are (Domain E)."""

import re
from collections.abc import Sequence
from decimal import Decimal

from gatewayd.statements.amounts import parse_decimal
from gatewayd.statements.csv.rows import folded, repeats
from gatewayd.statements.dates import is_date, parse_date
from gatewayd.statements.shapes import IgnoredKind, Mapping, Meaning
from gatewayd.statements.text import cleaned
from gatewayd.statements.trades.csv_plan import Plan, place_of

_NOTHING = frozenset({"", "-", "--", "n/a", "na", "none", "null", "not available"})
_TIME = re.compile(r"[T\s]\s*([01][0-9]|2[0-3]):([0-5][0-9])(?::([0-5][0-9]))?")
_AS_OF = re.compile(r".*\bas of\s+(?P<day>\S.*)", re.IGNORECASE)
_CURRENCY_OF_COST = {"dividend withheld tax amount": "instrument currency"}  # elsewhere `Currency (...)`
_TOTAL = re.compile(r"\s*((sub-?|grand |transactions? )?totals?)\b.*", re.IGNORECASE)
_BALANCE = re.compile(
    r"\s*((opening|closing|start|end|available|current|account)( account)? balance\b.*|balance\W*"
    r"|balance (b/f|c/f|brought|carried|forward)\b.*|(brought|carried) forward\b.*)",
    re.IGNORECASE,
)
_FORWARD = re.compile(r"\*?\s*balance (b/f|c/f|brought|carried)\b.*", re.IGNORECASE)
_NOTICES = frozenset({"monthly_statement", "tax_certificate"})  # Freetrade's: documents that were made
_OF_A_TRADE = ("type", "isin", "sedol", "symbol", "instrument", "quantity", "transaction_id")
_COLUMNS = (
    *("date", "value_date", "type", "direction", "isin", "sedol", "symbol", "instrument", "quantity", "price"),
    *("price_currency", "amount", "paid_in", "paid_out", "currency", "transaction_id", "exchange_rate", "ex_date"),
    *("original_amount", "original_currency"),
)


class Columns:
    """Where what stands. `fees` and `taxes` are places of costs, each with that of its currency."""

    def __init__(self, plan: Plan) -> None:
        self.mapping: Mapping = plan.mapping
        self.headings = plan.headings
        self.words = {folded(word): meaning for word, meaning in plan.mapping.words.items()}
        self._by_heading = {folded(heading): at for at, heading in reversed(list(enumerate(plan.headings)))}
        self.places = {name: place_of(getattr(plan.mapping, name), plan.headings) for name in _COLUMNS}
        self.asset_type = self._by_heading.get("asset type")
        self.description = [place_of(column, plan.headings) for column in plan.mapping.description]
        self.fees = [self._cost(place_of(column, plan.headings)) for column in plan.mapping.fees]
        self.taxes = [self._cost(place_of(column, plan.headings)) for column in plan.mapping.taxes]
        at = [*self.places.values(), *self.description, *(at for at, _ in (*self.fees, *self.taxes))]
        used = max((place + 1 for place in at if place is not None), default=0)
        self.least = max(len(plan.headings), used)
        self.most = max(plan.width, used) if plan.headings else None

    def _cost(self, at: int | None) -> tuple[int, int | None]:
        """Where a fee or tax stands, and its currency."""
        assert at is not None
        heading = folded(self.headings[at]) if at < len(self.headings) else ""
        return at, self._by_heading.get(_CURRENCY_OF_COST.get(heading, f"currency ({heading})"))


class TradeRow:
    """One row, its cells by what they are. What says that there is nothing, such as `n/a`, is empty."""

    def __init__(self, columns: Columns, cells: Sequence[str]) -> None:
        self.columns = columns
        self._cells = cells

    # -- what kind of row it is

    @property
    def is_blank(self) -> bool:
        """True where no cell says anything: that is no row."""
        return not any(cell and not cell.isspace() for cell in self._cells)

    def no_transaction(self) -> IgnoredKind | None:
        """What the row is that stands among or behind the transactions and is none; None: it is one."""
        if repeats(self.columns.headings, self._cells):
            return "heading"
        if self.meaning == "excluded":
            return "excluded"
        if self.cell("type").casefold() in _NOTICES:
            return "notice"
        if _FORWARD.fullmatch(self.description):
            return "balance"
        return None if is_date(self._date_text) else self._summary()

    @property
    def meaning(self) -> Meaning | None:
        """What the mapping says that the row's word for its type means; None: it does not."""
        said = self.columns.words
        words = (self.cell("type"), self.cell("direction"), self.detail) if said else ()
        return next((said[folded(word)] for word in words if folded(word) in said), None)

    def _summary(self) -> IgnoredKind | None:
        """What sums up, where nothing but its name stands in the columns of a trade: a share may be called Total."""
        first = next(cell for cell in self._cells if cell and not cell.isspace())
        if any(cell not in ("", first.strip()) for cell in (self.cell("date"), *map(self.cell, _OF_A_TRADE))):
            return None
        if _TOTAL.fullmatch(first):
            return "total"
        return "balance" if _BALANCE.fullmatch(first) else None

    @property
    def is_contract(self) -> bool:
        """Whether it is of a contract for difference (CFD), which nobody owns anything by."""
        return self.cell_at(self.columns.asset_type).upper() in ("CFD", "CFDS")

    def check_width(self) -> None:
        """Raises `ValueError` for cells that are too few or too many: nobody knows which of them is what."""
        columns = self.columns
        is_wide = columns.most is not None and any(cell.strip() for cell in self._cells[columns.most :])
        if len(self._cells) < columns.least or is_wide:
            raise ValueError(f"it has {len(self._cells)} columns instead of {columns.least}")

    # -- cells

    def cell(self, name: str) -> str:
        """What stands in the column of a field."""
        return self.cell_at(self.columns.places[name])

    def cell_at(self, at: int | None) -> str:
        """What stands in a column."""
        text = self._cells[at].strip().strip("'") if at is not None and at < len(self._cells) else ""
        return "" if text.casefold() in _NOTHING else text

    def has(self, name: str) -> bool:
        """Whether the file has a column for a field."""
        return self.columns.places[name] is not None

    def number(self, name: str) -> Decimal | None:
        """The number of a field; None: there is none. Raises `ValueError`."""
        text = self.cell(name)
        return self.parsed(text) if text else None

    def parsed(self, text: str) -> Decimal:
        """A number as the file writes it. Raises `ValueError`."""
        return parse_decimal(text, decimal_comma=self.columns.mapping.decimal_comma)

    @property
    def _date_text(self) -> str:
        """The day it was done: `08/15/2024 as of 08/14/2024` was booked on the first and done on the second."""
        text = self.cell("date")
        match = _AS_OF.fullmatch(text)
        return match["day"] if match else text

    @property
    def date(self) -> str:
        """The ISO date. Raises `ValueError` where there is none."""
        text = self._date_text
        if not text:
            raise ValueError("it has no date")
        return parse_date(text, self.columns.mapping.date_format or "")

    @property
    def time(self) -> str | None:
        """The time of the day, where the column of dates has it."""
        match = _TIME.search(self._date_text)
        return ":".join(part for part in match.groups() if part) if match else None

    def other_date(self, name: str) -> str | None:
        """A date beside that of the trade; None: it is not told, or cannot be read."""
        text = self.cell(name)
        return parse_date(text, self.columns.mapping.date_format or "") if is_date(text) else None

    @property
    def description(self) -> str:
        """The description, for people."""
        texts = (self.cell_at(at) for at in self.columns.description)
        return cleaned(" ".join(text for text in texts if text))[:500]

    @property
    def detail(self) -> str:
        """The last column of the description, which tells most."""
        return cleaned(self.cell_at(self.columns.description[-1])) if self.columns.description else ""
