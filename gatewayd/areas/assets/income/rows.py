"""Income as it follows from transactions: a page of events. Reads only.

Each scope alone (an account, a portfolio, a legal entity, an instrument, or all of them) has an index by pay date that
holds nothing but income.
"""

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
from gatewayd.areas.assets.income.shapes import IncomeStatus, ListIncomeEvents, UkCategory
from gatewayd.clock import LAST_DATE, days_after
from gatewayd.contract.pages import MAX_KEY
from gatewayd.ledger.tax_calendar import bounds
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
    given = {column: id_ for column, id_ in scopes.items() if id_ is not None}
    return Filter(given, types, first, last, request.status)


def conditions(wanted: Filter) -> tuple[str, dict[str, object]]:
    """The conditions of a filter on transactions `t`, joined, and the values that they name."""
    scopes, values = conditions_of(wanted.scopes, wanted.types, _TRANSACTION_COLUMNS)
    # said in two ways, so that each is read from an index of its own: see the migration
    found = ["t.income_date IS NOT NULL" if wanted.scopes else "t.income_date > ''"]
    found.append("t.reversed_by_id IS NOT NULL" if wanted.status == "cancelled" else "t.reversed_by_id IS NULL")
    if wanted.first is not None:
        found.append("t.income_date >= :from_date")
        values["from_date"] = wanted.first
    if wanted.last is not None:
        found.append("t.income_date <= :to_date")
        values["to_date"] = wanted.last
    return " AND ".join([*found, *scopes]), values


def conditions_of(
    scopes: Mapping[str, str], types: Sequence[str], columns: Mapping[str, str]
) -> tuple[list[str], dict[str, object]]:
    """The conditions by scope and type on columns of these names, and the values that they name."""
    found = [f"{columns[name]} = :{name}" for name in scopes]
    values: dict[str, object] = {f"type_{index}": type_ for index, type_ in enumerate(types)}
    if types:
        found.append(f"{columns['type']} IN ({', '.join(f':{name}' for name in values)})")
    return found, {**scopes, **values}
