"""How a broker's CSV will be read: by the mapping given, by a profile, or as proposed where nothing is in doubt.

What is proposed for a file that no profile knows says what is in doubt of it, and is never taken for granted.
"""

from collections.abc import Mapping as ReadOnly
from collections.abc import Sequence
from typing import Any, BinaryIO, NamedTuple

from msgspec import structs

from gatewayd.statements.amounts import show_decimal_comma
from gatewayd.statements.csv.proposal import ORDER_QUESTION, Table
from gatewayd.statements.csv.rows import folded
from gatewayd.statements.csv.sample import (
    DELIMITERS,
    body_rows,
    currency_in,
    cut,
    delimiter_of,
    row_at,
    sample_of,
    trimmed,
)
from gatewayd.statements.dates import DAY_FIRST, DateOrder, is_date
from gatewayd.statements.shapes import Column, Doubt, Hints, Limits, Mapping, Proposal, Unreadable
from gatewayd.statements.text import TextLines, encoding_of
from gatewayd.statements.trades.profiles import Profile, mapping_of, nearest_of, profile_of

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
_HEADINGS_WITHIN = 30  # rows


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
        present = {folded(cell) for cell in row}
        if sum(not present.isdisjoint(names) for names in _NAMES.values()) > 1:
            last = at
            if not present.isdisjoint(_NAMES["date"]):
                return at
    return last


def _column_of_dates(headings: Sequence[str], body: Sequence[Sequence[str]]) -> str | None:
    """The only column with a heading in which nothing but dates stand."""
    candidates = []
    for at, heading in enumerate(headings):
        cells = [row[at].strip() for row in body[:_SAMPLE_ROWS] if at < len(row) and row[at].strip()]
        if heading and cells and all(map(is_date, cells)):
            candidates.append(heading)
    return candidates[0] if len(candidates) == 1 else None


def _columns(headings: Sequence[str]) -> dict[str, Any]:
    by_name = {folded(heading): heading for heading in reversed(headings)}
    columns: dict[str, Any] = {
        field: next((by_name[name] for name in names if name in by_name), None) for field, names in _NAMES.items()
    }
    if columns["paid_in"] is not None and columns["paid_out"] is not None:
        columns["amount"] = None
    else:
        columns["paid_in"] = columns["paid_out"] = None
    several = {field: tuple(by_name[name] for name in names if name in by_name) for field, names in _SEVERAL.items()}
    return columns | several


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
    if all(column is None for column in (mapping.isin, mapping.sedol, mapping.symbol, mapping.instrument)):
        doubts.append(Doubt(field="instrument", question="Which column names the share or fund?"))
    if mapping.amount is None and mapping.paid_in is None and mapping.price is None:
        doubts.append(Doubt(field="amount", question="Which column has what was paid or received, or the price?"))
    return doubts


def _cells(body: Sequence[Sequence[str]], headings: Sequence[str], *columns: object) -> list[str]:
    """What stands in these columns, blank cells left out."""
    places = [headings.index(c) if isinstance(c, str) else c for c in columns if isinstance(c, str | int)]
    return [text for row in body for at in places if at < len(row) and (text := row[at].strip())]


class Plan(NamedTuple):
    """What the rows are read by. `currency` is that of rows without one, `width` how many cells the headings have."""

    mapping: Mapping
    encoding: str
    headings: Sequence[str]
    currency: str | None
    profile: Profile | None
    width: int


def plan_of(stream: BinaryIO, hints: Hints) -> Plan:
    """The plan. Raises `Unreadable`, with a proposal where a mapping would settle what the file leaves in doubt."""
    hinted = hints.mapping
    encoding = (hinted.encoding if hinted else None) or encoding_of(stream)
    sample = sample_of(stream, encoding, hints.limits)
    if hinted is not None and _is_complete(hinted):
        mapping, table, profile = hinted, cut(sample, hinted.delimiter), None
    else:
        mapping, table, profile = _recognised(stream, encoding, sample, hints)
    line = [] if mapping.header_row is None else table.rows[row_at(table, mapping.header_row)]
    headings = trimmed(line)
    if mapping.date_format is None:
        formats, doubtful = _formats(stream, encoding, mapping, headings, hints.limits)
        if len(formats) > 1:
            proposal = structs.replace(proposal_of(table, formats), mapping=mapping)
            raise Unreadable(None, f"nothing shows which is the day and which the month of {doubtful!r}", proposal)
        mapping = structs.replace(mapping, date_format=formats[0] if formats else DAY_FIRST)
    amount = mapping.amount if isinstance(mapping.amount, str) else ""
    said = currency_in([amount]) or (currency_in(headings) if profile is None else profile.currency)
    return Plan(mapping, encoding, headings, said or hints.currency, profile, len(line))


def _is_complete(mapping: Mapping) -> bool:
    """Whether a mapping says how a file is read, and not only some of it, such as what words mean."""
    told = (mapping.type, mapping.direction, mapping.quantity, mapping.price, mapping.amount, mapping.paid_in)
    return mapping.date is not None and (bool(mapping.description) or any(column is not None for column in told))


def _recognised(
    stream: BinaryIO, encoding: str, sample: Sequence[str], hints: Hints
) -> tuple[Mapping, Table, Profile | None]:
    """The mapping of the profile that the headings belong to, else the proposal's; what was said goes before it."""
    near: tuple[Mapping, Profile] | None = None
    for delimiter in DELIMITERS:
        table = cut(sample, delimiter)
        for row, line in zip(table.rows[:_HEADINGS_WITHIN], table.lines, strict=False):
            profile = profile_of(row) if len(row) > 2 else None
            if profile is not None:
                return _overlaid(_of_profile(profile, table, row, line), hints.mapping), table, profile
            nearest = nearest_of(row) if near is None and len(row) > 2 else None
            if nearest is not None:
                near = _of_profile(nearest, table, row, line), nearest
    table = cut(sample, delimiter_of(sample))
    said = hints.mapping if near is None else _overlaid(near[0], hints.mapping)
    proposal = proposal_of(table, said=said)
    if proposal.mapping.date is None and not any(len(row) > 1 for row in table.rows):
        raise Unreadable(None, "the file is no list of transactions: there are neither columns nor a format we know")
    if proposal.mapping.date is not None:
        formats, _ = _formats(stream, encoding, proposal.mapping, proposal.headings, hints.limits)
        proposal = proposal_of(table, formats, said)
    if proposal.doubts:
        questions = " ".join(doubt.question for doubt in proposal.doubts)
        raise Unreadable(None, f"the columns of this CSV have to be confirmed. {questions}", proposal)
    return proposal.mapping, table, None if near is None else near[1]


def _of_profile(profile: Profile, table: Table, headings: Sequence[str], line: int) -> Mapping:
    """The profile's mapping, and how the numbers of the file are written where that is the customer's country's."""
    mapping = mapping_of(profile, headings, table.delimiter, line)
    if profile.decimal == "point":
        return mapping
    places = [place_of(column, headings) for column in (mapping.amount, mapping.price)]
    numbers = [row[at] for row in table.rows for at in places if at is not None and at < len(row)]
    return structs.replace(mapping, decimal_comma=show_decimal_comma(numbers))


def _overlaid(mapping: Mapping, said: Mapping | None) -> Mapping:
    return mapping if said is None else overlaid(mapping, said)


def _formats(
    stream: BinaryIO, encoding: str, mapping: Mapping, headings: Sequence[str], limits: Limits
) -> tuple[tuple[str, ...], str]:
    """In which formats the dates of the file can be read, and one that is in doubt."""
    at = place_of(mapping.date, headings)
    lines = TextLines(stream, encoding, limits)
    dates = DateOrder()
    try:
        for row in body_rows(lines, mapping):
            if at is not None and at < len(row.cells):
                dates.add(row.cells[at])
            if dates.is_settled:
                break
    finally:
        lines.detach()
    return dates.formats(), dates.doubtful


def place_of(column: Column | None, headings: Sequence[str]) -> int | None:
    """Where a column stands. Raises `Unreadable` for one that the file has not."""
    if column is None or isinstance(column, int):
        return column
    for at, heading in enumerate(headings):
        if folded(heading) == folded(column):
            return at
    names = ", ".join(heading for heading in headings if heading)
    raise Unreadable(None, f"there is no column {column!r}: the file has {names}")
