"""Income as it follows from transactions: a page of events, and what all of them come to. Reads only.

Each scope alone (an account, a portfolio, a legal entity, an instrument, or all of them) has an index by pay date that
holds nothing but income. Whole tax years are summed already; what a range of days leaves out of its first and last
year is taken away again. What is expected or cancelled is little, and summed from the transactions.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from gatewayd.areas.assets.books.transactions import (
    EARLIEST,
    TRANSACTIONS,
    AssetTransaction,
    TransactionType,
    counted_type,
)
from gatewayd.areas.assets.income.rules import TYPES, Source, uk_category
from gatewayd.areas.assets.income.shapes import IncomeStatus, IncomeTotal, ListIncomeEvents, UkCategory
from gatewayd.clock import LAST_DATE, days_after
from gatewayd.contract.pages import MAX_KEY
from gatewayd.ledger.dates.tax_calendar import bounds, first_year_of, tax_year_of
from gatewayd.money import Money
from gatewayd.store import ReadTx, Row

_COLUMNS: Final = ", ".join(f"t.{name}" for name in TRANSACTIONS.names)
_SELECT_EVENTS = f"""
SELECT {_COLUMNS}, t.income_date, a.tax_wrapper, i.asset_class, i.asset_sub_class, i.domicile_country, i.currency
FROM asset_transactions t
JOIN asset_accounts a ON a.org_id = t.org_id AND a.id = t.account_id
LEFT JOIN instruments i ON i.org_id = t.org_id AND i.id = t.instrument_id
WHERE t.org_id = :org_id
"""
_BEHIND: Final = """
AND (t.income_date, t.id) < (:after_date, :after_id) ORDER BY t.income_date DESC, t.id DESC LIMIT :count
"""
_TRANSACTION_COLUMNS: Final = {
    name: f"t.{name}" for name in ("account_id", "portfolio_id", "legal_entity_id", "instrument_id", "type")
}
_SOURCE: Final = """
f.currency, f.base_currency, f.type, a.tax_wrapper, i.asset_class, i.asset_sub_class, i.domicile_country, i.currency,
    f.withheld
"""
_JOINED: Final = """
JOIN asset_accounts a ON a.org_id = :org_id AND a.id = f.account_id
LEFT JOIN instruments i ON i.org_id = :org_id AND i.id = f.instrument_id
"""
_SUMS: Final = "sum(f.events), sum(f.gross), sum(f.gross_base), sum(f.taxes)"
_SELECT_YEARS = f"""
SELECT {_SOURCE}, {_SUMS}
FROM asset_income_years f
{_JOINED}
WHERE f.org_id = :org_id AND {{conditions}}
GROUP BY {_SOURCE}
"""
_SELECT_DAYS = f"""
SELECT {_SOURCE}, {_SUMS}
FROM (
    SELECT t.currency, t.base_currency, t.account_id, t.instrument_id,
        CASE WHEN t.type = 'stock_dividend' AND t.taxed_as_dividend = 1 THEN 'dividend' ELSE t.type END AS type,
        CASE WHEN t.taxes > 0 THEN 1 ELSE 0 END AS withheld,
        1 AS events, t.gross_amount AS gross, t.gross_base, t.taxes
    FROM asset_transactions t
    WHERE t.org_id = :org_id AND {{conditions}}
) f
{_JOINED}
GROUP BY {_SOURCE}
"""
_YEAR_COLUMNS: Final = {
    "account_id": "f.account_id",
    "portfolio_id": "a.portfolio_id",
    "legal_entity_id": "a.legal_entity_id",
    "instrument_id": "f.instrument_id",
    "type": "f.type",
}


class Event(NamedTuple):
    """A transaction that is income, its pay date, and as what it is taxed."""

    transaction: AssetTransaction
    pay_date: str
    category: UkCategory


class Filter(NamedTuple):
    """Which events are asked for. `scopes` are ids by column; both dates are inclusive, and None: no bound."""

    scopes: Mapping[str, str]
    types: Sequence[TransactionType]
    first: str | None
    last: str | None
    status: IncomeStatus | None


def events(tx: ReadTx, request: ListIncomeEvents, after: tuple[object, object] | None) -> Iterator[Event]:
    """The events behind a sort key of pay date and id; None: from the latest on."""
    wanted, values = conditions(filter_of(tx, request))
    after_date, after_id = after or (values.get("to_date", LAST_DATE), MAX_KEY)
    sql = f"{_SELECT_EVENTS} AND {wanted} {_BEHIND}"
    for row in tx.each(sql, after_date=after_date, after_id=after_id, count=request.limit + 1, **values):
        yield _event(tx, row)


def _event(tx: ReadTx, row: Row) -> Event:
    width = len(TRANSACTIONS.names)
    transaction = TRANSACTIONS.read(tx, row[:width])
    pay_date, *of_source = row[width:]
    type_ = counted_type(transaction.type, transaction.taxed_as_dividend)
    source = Source._make((type_, *of_source, bool(transaction.taxes)))
    return Event(transaction, pay_date, uk_category(source))


def filter_of(tx: ReadTx, request: ListIncomeEvents) -> Filter:
    """What a request asks for; `status` as days where it follows from them."""
    first, last = (None, None) if request.tax_year is None else bounds(request.tax_year)
    if request.from_date is not None:
        first = request.from_date.isoformat() if request.from_date > EARLIEST else None
    last = last if request.to_date is None else request.to_date.isoformat()
    if request.status == "expected":
        first = max(first or "", days_after(tx.today, 1))
    if request.status == "received":
        last = min(last or LAST_DATE, tx.today)
    scopes = {
        "account_id": request.account_id,
        "portfolio_id": request.portfolio_id,
        "legal_entity_id": request.legal_entity_id,
        "instrument_id": request.instrument_id,
    }
    types = [type_ for kind in dict.fromkeys(request.kind or ()) for type_ in TYPES[kind]]
    ids = {column: id_ for column, id_ in scopes.items() if id_ is not None}
    return Filter(ids, types, first, last, request.status)


def conditions(wanted: Filter) -> tuple[str, dict[str, object]]:
    """The conditions of a filter on transactions `t`, joined, and the values that they name."""
    scopes, values = conditions_of(wanted.scopes, wanted.types, _TRANSACTION_COLUMNS)
    # said in two ways, so that each is read from an index of its own: see the migration
    clauses = ["t.income_date IS NOT NULL" if wanted.scopes else "t.income_date > ''"]
    clauses.append("t.reversed_by_id IS NOT NULL" if wanted.status == "cancelled" else "t.reversed_by_id IS NULL")
    if wanted.first is not None:
        clauses.append("t.income_date >= :from_date")
        values["from_date"] = wanted.first
    if wanted.last is not None:
        clauses.append("t.income_date <= :to_date")
        values["to_date"] = wanted.last
    return " AND ".join([*clauses, *scopes]), values


def conditions_of(
    scopes: Mapping[str, str], types: Sequence[str], columns: Mapping[str, str]
) -> tuple[list[str], dict[str, object]]:
    """The conditions by scope and type on columns of these names, and the values that they name."""
    clauses = [f"{columns[name]} = :{name}" for name in scopes]
    values: dict[str, object] = {f"type_{index}": type_ for index, type_ in enumerate(types)}
    if types:
        clauses.append(f"{columns['type']} IN ({', '.join(f':{name}' for name in values)})")
    return clauses, {**scopes, **values}


# -- totals, by currency and category


class _TotalKey(NamedTuple):
    currency: str
    base_currency: str
    category: UkCategory


class _Part(NamedTuple):
    """Sums that are added where `sign` is 1, and taken away where it is -1."""

    sign: int
    sql: str
    values: Mapping[str, object]


def totals_of(tx: ReadTx, request: ListIncomeEvents) -> list[IncomeTotal]:
    """What everything that the filter finds comes to."""
    sums: dict[_TotalKey, list[int]] = defaultdict(lambda: [0, 0, 0, 0])
    for part in _sum_parts(filter_of(tx, request)):
        for currency, base_currency, *source, events, gross, gross_base, taxes in tx.rows(part.sql, **part.values):
            *known, withheld = source
            total = sums[_TotalKey(currency, base_currency, uk_category(Source._make((*known, bool(withheld)))))]
            for index, value in enumerate((events, gross, gross_base, taxes)):
                total[index] += part.sign * value
    return [_income_total(key, *sums[key]) for key in sorted(sums) if sums[key][0]]


def _sum_parts(wanted: Filter) -> Iterator[_Part]:
    first, last = wanted.first, wanted.last
    if first is not None and last is not None and last < first:
        return
    if wanted.status in ("expected", "cancelled"):
        yield _sums_of_days(wanted, 1)
        return
    yield _sums_of_years(wanted)
    if first is not None and bounds(tax_year_of(first))[0] < first:
        yield _sums_of_days(wanted._replace(first=bounds(tax_year_of(first))[0], last=days_after(first, -1)), -1)
    if last is not None and last < bounds(tax_year_of(last))[1]:
        yield _sums_of_days(wanted._replace(first=days_after(last, 1), last=bounds(tax_year_of(last))[1]), -1)


def _sums_of_years(wanted: Filter) -> _Part:
    """The sums of all tax years in which the days lie."""
    scopes, values = conditions_of(wanted.scopes, wanted.types, _YEAR_COLUMNS)
    values["first_year"] = 0 if wanted.first is None else first_year_of(wanted.first)
    values["last_year"] = 9999 if wanted.last is None else first_year_of(wanted.last)
    conditions = ["f.year >= :first_year", "f.year <= :last_year", *scopes]
    return _Part(1, _SELECT_YEARS.format(conditions=" AND ".join(conditions)), values)


def _sums_of_days(wanted: Filter, sign: int) -> _Part:
    clause, values = conditions(wanted)
    return _Part(sign, _SELECT_DAYS.format(conditions=clause), values)


def _income_total(key: _TotalKey, events: int, gross: int, gross_base: int, taxes: int) -> IncomeTotal:
    currency, base_currency, category = key
    return IncomeTotal(
        currency=currency,
        base_currency=base_currency,
        uk_category=category,
        count=events,
        gross=Money(gross, currency),
        withheld_tax=Money(taxes, currency),
        net=Money(gross - taxes, currency),
        gross_base=Money(gross_base, base_currency),
    )
