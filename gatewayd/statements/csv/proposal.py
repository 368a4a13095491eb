"""How a CSV that no profile knows could be read: proposed with what is in doubt, never taken for granted."""

import itertools
from collections.abc import Mapping as ReadOnly
from collections.abc import Sequence
from typing import NamedTuple

from msgspec import structs

from gatewayd.statements.amounts import has_decimal_comma, is_amount_text, parse_amount
from gatewayd.statements.csv.columns import is_borne_out
from gatewayd.statements.csv.lines import is_direction, is_total_or_balance
from gatewayd.statements.csv.rows import folded
from gatewayd.statements.dates import DateOrder, is_date
from gatewayd.statements.shapes import Column, Doubt, Mapping, Proposal

ORDER_QUESTION = "Does the day stand before the month (05/06 is 5 June), or the month before the day (05/06 is 6 May)?"
_SIGN_QUESTION = "Is what was spent written as a positive amount, as card companies do?"
_NAMES: ReadOnly[str, tuple[str, ...]] = {
    "date": (
        *("date", "transaction date", "booking date", "posting date", "posted date", "date posted", "date processed"),
        *("completed date", "post date", "trans date", "entry date", "process date", "buchungstag", "datum"),
    ),
    "value_date": ("value date", "effective date", "valuta", "valutadatum"),
    "amount": (
        *("amount", "value", "transaction amount", "amount (gbp)", "amount (eur)", "amount gbp", "amount in gbp"),
        *("net amount", "billing amount", "debit/credit", "betrag", "gbp", "amount (£)", "value (£)", "amount £"),
    ),
    "paid_in": (
        *("paid in", "money in", "credit", "credit amount", "credits", "in", "deposit", "deposits", "amount in"),
        *("receipts", "received", "paid in (£)", "money in (£)", "credit (£)", "money in (gbp)", "credit amount (£)"),
    ),
    "paid_out": (
        *("paid out", "money out", "debit", "debit amount", "debits", "out", "withdrawal", "withdrawals", "spent"),
        *("amount out", "payments", "paid out (£)", "money out (£)", "debit (£)", "money out (gbp)"),
        "debit amount (£)",
    ),
    "balance": ("balance", "running balance", "balance (gbp)", "account balance", "balance (£)", "saldo"),
    "currency": ("currency", "ccy", "currency code", "transaction currency"),
    "reference": ("reference", "payment reference", "customer reference", "ref"),
    "counterparty": (
        "counterparty",
        "counter party",
        "payee",
        "payer",
        "merchant",
        "merchant name",
        "name",
        "payee name",
    ),
    "type": ("type", "transaction type", "transaction code", "code"),
    "transaction_id": ("transaction id", "id", "transaction reference", "unique id", "fitid", "reference number"),
    "direction": ("direction", "credit/debit", "debit or credit", "debit/credit flag", "dr/cr", "cr/dr"),
    "status": ("status", "state", "transaction status"),
    "sort_code": ("sort code", "sortcode"),
    "account_number": ("account number", "account no", "account", "iban"),
    "account_name": ("account name",),
}
_DESCRIPTIONS = (
    *("description", "transaction description", "details", "transaction details", "memo", "narrative", "narration"),
    *("particulars", "text", "merchant/description", "notes", "verwendungszweck", "transaction"),
)
_SAMPLE_ROWS = 20
_AMOUNTS_TRIED = 4
_WITH_BALANCE, _BOTH_WAYS = ("amount", "balance"), ("paid_out", "paid_in", "balance")


class Table(NamedTuple):
    """The beginning of a CSV: its rows as they were cut by `delimiter`, those without cells left out."""

    delimiter: str
    rows: Sequence[Sequence[str]]
    lines: Sequence[int]  # how many lines stand before each row


def proposal_of(table: Table, dates: DateOrder | None = None) -> Proposal:
    """The proposal; `dates`: of the whole file, where it is at hand, once the column is known."""
    at = _heading_row(table)
    headings = [cell.strip() for cell in table.rows[at]] if at is not None else []
    while headings and not headings[-1]:
        headings.pop()
    body = body_of(table)
    before = None if at is None else table.lines[at]
    plain = Mapping(delimiter=table.delimiter, header_row=before)
    mapping = structs.replace(plain, **_columns(headings, body))
    mapping, doubts = _settled(mapping, headings, body, dates)
    return Proposal(
        headings=tuple(headings),
        rows=tuple(tuple(row) for row in body[:_SAMPLE_ROWS]),
        mapping=mapping,
        doubts=tuple(doubts),
    )


def body_of(table: Table) -> list[Sequence[str]]:
    """The rows behind the headings that say anything and are no totals."""
    at = _heading_row(table)
    rows = table.rows[0 if at is None else at + 1 :]
    return [row for row in rows if any(cell.strip() for cell in row) and not is_total_or_balance(row)]


def _heading_row(table: Table) -> int | None:
    """The first row that names a date, below which a date stands; None where the file has no headings."""
    for at, row in enumerate(table.rows[:30]):
        names = {folded(cell) for cell in row}
        if not names.isdisjoint(_NAMES["date"]) and len([cell for cell in row if cell.strip()]) > 1:
            return at
        if any(is_date(cell) for cell in row) and sum(map(is_amount_text, row)) > 0:
            return None
    return None


def _columns(headings: Sequence[str], body: Sequence[Sequence[str]]) -> dict[str, Column | tuple[Column, ...] | None]:
    if not headings:
        return _columns_by_content(body)
    by_name = {folded(heading): heading for heading in reversed(headings)}
    columns: dict[str, Column | tuple[Column, ...] | None] = {}
    for field, names in _NAMES.items():
        columns[field] = next((by_name[name] for name in names if name in by_name), None)
    if columns["paid_in"] is not None and columns["paid_out"] is not None:
        columns["amount"] = None
    elif columns["amount"] is not None:
        columns["paid_in"] = columns["paid_out"] = None
    columns["description"] = tuple(by_name[name] for name in _DESCRIPTIONS if name in by_name)
    if not columns["description"]:
        second = next((columns[field] for field in ("counterparty", "reference", "type") if columns[field]), None)
        named = (second,) if isinstance(second, str) else ()
        columns["description"] = (*named, *unknown_texts(headings, body, columns))
    return columns


def unknown_texts(headings: Sequence[str], body: Sequence[Sequence[str]], columns: ReadOnly[str, object]) -> list[str]:
    """The columns of text that are nothing else, whatever they are called, where no column is called a description."""
    taken = {column for column in columns.values() if isinstance(column, str)}
    texts = []
    for heading in dict.fromkeys(headings):
        cells = _cells(body, headings, heading) if heading and heading not in taken else []
        if any(not is_date(cell) and not is_amount_text(cell) for cell in cells):
            texts.append(heading)
    return texts


def _columns_by_content(body: Sequence[Sequence[str]]) -> dict[str, Column | tuple[Column, ...] | None]:
    """Columns by number: the first of dates, the longest text, and of those with amounts what the balances bear out."""
    width = min((len(row) for row in body), default=0)
    columns = [[row[at].strip() for row in body] for at in range(width)]
    dates = [at for at, cells in enumerate(columns) if cells and all(map(is_date, cells))]
    amounts = [
        at
        for at, cells in enumerate(columns)
        if at not in dates and any(cells) and all(not cell or is_amount_text(cell) for cell in cells)
    ]
    written = [at for at in amounts if any("." in cell or "," in cell for cell in columns[at])]
    texts = [at for at in range(width) if at not in dates and at not in amounts]
    texts.sort(key=lambda at: -sum(map(len, columns[at])))
    return {
        "date": dates[0] if dates else None,
        "description": tuple(texts[:1]),
        **_amounts_by_content(body, written or amounts),
    }


def _amounts_by_content(body: Sequence[Sequence[str]], amounts: Sequence[int]) -> dict[str, Column | None]:
    """Which of the columns with amounts are which: one and a balance, or paid out, paid in and a balance."""
    columns: dict[str, Column | None] = {"amount": amounts[0] if amounts else None, "balance": None}
    if len(amounts) == 2:
        columns["balance"] = amounts[1]
    comma = any(has_decimal_comma(row[at]) for row in body for at in amounts)
    names = _WITH_BALANCE if len(amounts) == 2 else _BOTH_WAYS
    for order in itertools.permutations(amounts[:_AMOUNTS_TRIED], len(names)):
        tried = dict(zip(names, order, strict=True))
        if is_borne_out(structs.replace(Mapping(decimal_comma=comma), **tried), body):
            return {"amount": None, **tried}
    return columns


def _settled(
    mapping: Mapping, headings: Sequence[str], body: Sequence[Sequence[str]], dates: DateOrder | None
) -> tuple[Mapping, list[Doubt]]:
    """The mapping with what the rows show, and what they leave open."""
    doubts = _missing(mapping)
    numbers = _cells(body, headings, mapping.amount, mapping.paid_in, mapping.paid_out, mapping.balance)
    mapping = structs.replace(mapping, decimal_comma=any(map(has_decimal_comma, numbers)))
    if dates is None:
        dates = DateOrder()
        for text in _cells(body, headings, mapping.date):
            dates.add(text)
    mapping = _with_direction(mapping, headings, body)
    formats = dates.formats()
    mapping = structs.replace(mapping, date_format=formats[0])
    if len(formats) > 1:
        doubts.append(Doubt(field="date_format", question=ORDER_QUESTION, choices=formats))
    doubts += _doubts_of_sign(mapping, headings, body)
    if not headings and mapping.amount is not None:
        doubts.append(Doubt(field="columns", question="The file has no headings: is this what its columns mean?"))
    return mapping, doubts


def _missing(mapping: Mapping) -> list[Doubt]:
    doubts = []
    if mapping.date is None:
        doubts.append(Doubt(field="date", question="Which column has the date?"))
    if mapping.amount is None and (mapping.paid_in is None or mapping.paid_out is None):
        doubts.append(
            Doubt(field="amount", question="Which column has the amount, or which two what was paid in and out?")
        )
    return doubts


def _doubts_of_sign(mapping: Mapping, headings: Sequence[str], body: Sequence[Sequence[str]]) -> list[Doubt]:
    """Whether what was spent is positive: shown by a running balance or a direction, else asked.

    Chosen: it is asked where no amount is negative, and of the three columns that banks and card companies share.
    """
    if mapping.amount is None or mapping.direction is not None or mapping.balance is not None:
        return []
    numbers = _cells(body, headings, mapping.amount)
    shared = {folded(heading) for heading in headings} == {"date", "description", "amount"}
    negative = sum(_is_negative(text, decimal_comma=mapping.decimal_comma) for text in numbers)
    if shared or not negative:
        choices = ("false", "true") if 2 * negative > len(numbers) else ("true", "false")
        return [Doubt(field="negate", question=_SIGN_QUESTION, choices=choices)]
    return []


def _with_direction(mapping: Mapping, headings: Sequence[str], body: Sequence[Sequence[str]]) -> Mapping:
    """The mapping with a column that says CR or DR of every row, whatever its heading."""
    numbers = _cells(body, headings, mapping.amount)
    if not numbers or mapping.direction:
        return mapping
    is_signed = any(_is_negative(number, decimal_comma=mapping.decimal_comma) for number in numbers)
    for column in headings or range(len(body[0])):
        cells = _cells(body, headings, column)
        if column == "" or len(cells) != len(numbers) or not all(map(is_direction, cells)):
            continue
        if not is_signed or len({cell.upper() for cell in cells}) > 1:  # beside signs one word alone is a kind
            return structs.replace(mapping, direction=column)
    return mapping


def _is_negative(text: str, *, decimal_comma: bool) -> bool:
    try:
        return parse_amount(text, "GBP", decimal_comma=decimal_comma) < 0
    except ValueError:
        return False


def _cells(body: Sequence[Sequence[str]], headings: Sequence[str], *columns: Column | None) -> list[str]:
    """What stands in these columns, blank cells left out."""
    places = [headings.index(c) if isinstance(c, str) else c for c in columns if c is not None]
    return [text for row in body for at in places if at < len(row) and (text := row[at].strip())]
