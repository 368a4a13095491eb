"""How a broker's CSV that no profile knows could be read: proposed with what is in doubt, never taken for granted."""

from collections.abc import Mapping as ReadOnly
from collections.abc import Sequence
from typing import Any

from msgspec import structs

from gatewayd.statements.amounts import show_decimal_comma
from gatewayd.statements.csv_headings import folded
from gatewayd.statements.csv_proposal import ORDER_QUESTION, Table
from gatewayd.statements.dates import DateOrder, is_date
from gatewayd.statements.shapes import Doubt, Mapping, Proposal

_NAMES: ReadOnly[str, tuple[str, ...]] = {
    "date": ("trade date", "date", "transaction date", "deal date", "run date", "activity date", "time", "timestamp"),
    "value_date": ("settlement date", "settle date", "value date"),
    "type": ("type", "transaction type", "action", "activity", "activity type", "transaction", "side"),
    "direction": ("buy / sell", "buy/sell", "bought or sold", "b/s"),
    "isin": ("isin",),
    "sedol": ("sedol",),
    "symbol": ("symbol", "ticker", "epic", "stock code", "tidm", "code"),
    "instrument": ("instrument", "security", "stock", "fund", "fund name", "security name", "investment", "name"),
    "quantity": ("quantity", "shares", "units", "no. of shares", "number of shares", "qty", "no of shares"),
    "price": ("price", "unit price", "price per share", "price / share", "share price", "price (£)", "price (p)"),
    "price_currency": ("price currency", "currency (price)"),
    "amount": (
        *("total", "total amount", "net amount", "amount", "value", "consideration", "total cost", "net value"),
        *("amount (gbp)", "total (gbp)", "value (£)", "amount (£)", "total (£)"),
    ),
    "paid_in": ("credit", "receipt", "paid in", "money in", "credit (£)"),
    "paid_out": ("debit", "payment", "paid out", "money out", "debit (£)"),
    "currency": ("currency", "ccy", "transaction currency", "account currency"),
    "exchange_rate": (),  # nobody's heading says which way it goes
    "transaction_id": ("transaction id", "id", "reference", "order id", "trade id", "transaction reference"),
    "ex_date": ("ex date", "ex-date", "ex dividend date"),
}
_SEVERAL: ReadOnly[str, tuple[str, ...]] = {
    "fees": (
        "fee",
        "fees",
        "commission",
        "charges",
        "dealing charge",
        "broker fee",
        "commission (£)",
        "fx fee",
        "costs",
    ),
    "taxes": ("tax", "taxes", "stamp duty", "ptm levy", "withholding tax", "stamp duty (£)", "tax withheld"),
    "description": ("description", "details", "notes", "narrative"),
}
_PENCE = ("(p)", "(pence)", "(gbx)")
_SAMPLE_ROWS = 20


def proposal_of(table: Table, formats: Sequence[str] | None = None, said: Mapping | None = None) -> Proposal:
    """The proposal; `formats` are those that the dates of the whole file leave, where it was looked through.

    `said` is what a person said of some columns, or a profile that the file nearly has: it goes before what is found.
    """
    at = _heading_row(table)
    headings = [cell.strip() for cell in table.rows[at]] if at is not None else []
    while headings and not headings[-1]:
        headings.pop()
    body = [row for row in table.rows[0 if at is None else at + 1 :] if any(cell.strip() for cell in row)]
    mapping = Mapping(
        delimiter=table.delimiter, header_row=None if at is None else table.lines[at], **_columns(headings)
    )
    mapping = mapping if said is None else overlaid(mapping, said)
    supposed = _column_of_dates(headings, body) if mapping.date is None else None
    mapping = mapping if supposed is None else structs.replace(mapping, date=supposed)
    numbers = _cells(body, headings, mapping.amount, mapping.price, mapping.paid_in, mapping.paid_out)
    price = mapping.price if isinstance(mapping.price, str) else ""
    mapping = structs.replace(
        mapping,
        decimal_comma=mapping.decimal_comma or show_decimal_comma(numbers),
        pence=mapping.pence or folded(price).endswith(_PENCE),
    )
    mapping, doubts = _settled(mapping, _cells(body, headings, mapping.date), formats)
    if supposed is not None:
        question = f"Is {supposed!r} the date of the trade? It is the only column of dates."
        doubts.insert(0, Doubt(field="date", question=question, choices=(supposed,)))
    rows = tuple(tuple(row) for row in body[:_SAMPLE_ROWS])
    return Proposal(headings=tuple(headings), rows=rows, mapping=mapping, doubts=tuple(doubts))


def overlaid(mapping: Mapping, said: Mapping) -> Mapping:
    """The mapping with whatever was said."""
    plain = Mapping()
    changed = {name: value for name, value in structs.asdict(said).items() if value != getattr(plain, name)}
    return structs.replace(mapping, **changed)


def _heading_row(table: Table) -> int | None:
    """The last row before the first with a date that names two columns that we know; None: there are no headings.

    One that names a column of dates goes before.
    """
    last = None
    for at, row in enumerate(table.rows[:30]):
        if any(is_date(cell) for cell in row):
            return last
        found = {folded(cell) for cell in row}
        if sum(not found.isdisjoint(names) for names in _NAMES.values()) > 1:
            last = at
            if not found.isdisjoint(_NAMES["date"]):
                return at
    return last


def _column_of_dates(headings: Sequence[str], body: Sequence[Sequence[str]]) -> str | None:
    """The only column with a heading in which nothing but dates stand."""
    found = []
    for at, heading in enumerate(headings):
        cells = [row[at].strip() for row in body[:_SAMPLE_ROWS] if at < len(row) and row[at].strip()]
        if heading and cells and all(map(is_date, cells)):
            found.append(heading)
    return found[0] if len(found) == 1 else None


def _columns(headings: Sequence[str]) -> dict[str, Any]:
    by_name = {folded(heading): heading for heading in reversed(headings)}
    found: dict[str, Any] = {
        field: next((by_name[name] for name in names if name in by_name), None) for field, names in _NAMES.items()
    }
    if found["paid_in"] is not None and found["paid_out"] is not None:
        found["amount"] = None
    else:
        found["paid_in"] = found["paid_out"] = None
    several = {field: tuple(by_name[name] for name in names if name in by_name) for field, names in _SEVERAL.items()}
    return found | several


def _settled(mapping: Mapping, dates: Sequence[str], formats: Sequence[str] | None) -> tuple[Mapping, list[Doubt]]:
    """The mapping with what the rows show, and what they leave open."""
    doubts = list(_missing(mapping))
    if formats is None:
        order = DateOrder()
        for text in dates:
            order.add(text)
        formats = order.formats()
    if len(formats) > 1:
        doubts.append(Doubt(field="date_format", question=ORDER_QUESTION, choices=tuple(formats)))
    return structs.replace(mapping, date_format=formats[0] if formats else None), doubts


def _missing(mapping: Mapping) -> list[Doubt]:
    doubts = []
    if mapping.date is None:
        doubts.append(Doubt(field="date", question="Which column has the date of the trade?"))
    if mapping.type is None and mapping.direction is None and not mapping.description:
        doubts.append(Doubt(field="type", question="Which column says whether it is a purchase, a sale or a dividend?"))
    if mapping.quantity is None:
        doubts.append(Doubt(field="quantity", question="Which column has the number of shares or units?"))
    if all(one is None for one in (mapping.isin, mapping.sedol, mapping.symbol, mapping.instrument)):
        doubts.append(Doubt(field="instrument", question="Which column names the share or fund?"))
    if mapping.amount is None and mapping.paid_in is None and mapping.price is None:
        doubts.append(Doubt(field="amount", question="Which column has what was paid or received, or the price?"))
    return doubts


def _cells(body: Sequence[Sequence[str]], headings: Sequence[str], *columns: object) -> list[str]:
    """What stands in these columns, blank cells left out."""
    places = [headings.index(c) if isinstance(c, str) else c for c in columns if isinstance(c, str | int)]
    return [text for row in body for at in places if at < len(row) and (text := row[at].strip())]
