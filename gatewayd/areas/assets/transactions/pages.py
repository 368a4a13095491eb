"""Pages of transactions: latest trade first, or in the order of change with `updatedSince`.

A page costs the same however many there are, because each filter has an index in the order of the list: an account, a
portfolio, a legal entity, an instrument, a source, and a type, which accounts and portfolios have apart too. Several
types are several lists, merged as they are read. What was reversed is passed over.
"""

import heapq
from collections.abc import Iterator
from typing import Final

from gatewayd.areas.assets.books.transactions import TRANSACTIONS, AssetTransaction
from gatewayd.areas.assets.transactions.shapes import ListAssetTransactions
from gatewayd.clock import LAST_DATE, from_moment
from gatewayd.contract.pages import MAX_KEY, Listing, cursor_key, fill, next_cursor
from gatewayd.contract.wire import encode
from gatewayd.errors import FieldError, invalid
from gatewayd.store import ReadTx

_LATEST: Final = " AND (trade_date, id) < (:after_at, :after_id) ORDER BY trade_date DESC, id DESC LIMIT :count"
_CHANGES: Final = " AND (updated_at, id) > (:after_at, :after_id) ORDER BY updated_at, id LIMIT :count"
_NOT_REVERSED: Final = " AND reversed_by_id IS NULL AND reverses_transaction_id IS NULL"


def page(tx: ReadTx, request: ListAssetTransactions) -> Listing[AssetTransaction]:
    """One page. Raises `Problem`: `invalid_cursor`, `validation_failed`."""
    if request.from_date and request.to_date and request.to_date < request.from_date:
        raise invalid(FieldError("toDate", "date_order", "It lies before fromDate."))
    found = _latest(tx, request) if request.updated_since is None else _changes(tx, request)
    items: list[bytes] = []

    def size(row: AssetTransaction) -> int:
        items.append(encode(row))
        return len(items[-1])

    rows, more = fill(found, request.limit, size)
    if not more:
        return Listing.of(items[: len(rows)], None)
    last = rows[-1]
    at = last.trade_date if request.updated_since is None else last.updated_at
    return Listing.of(items[: len(rows)], next_cursor(request, (at, last.id)))


def _latest(tx: ReadTx, request: ListAssetTransactions) -> Iterator[AssetTransaction]:
    """Latest trade first. What was reversed, and what reversed it, is left out unless it is asked for."""
    last = LAST_DATE if request.to_date is None else request.to_date.isoformat()
    key = cursor_key(request, str, str) or (last, MAX_KEY)
    sql, values = _filters(request)
    if not request.include_reversed:
        sql += _NOT_REVERSED
    values |= {"after_at": key[0], "after_id": key[1], "count": request.limit + 1}
    if not request.type:
        return _read(tx, sql + _LATEST, values)
    of_each = (_read(tx, f"{sql} AND type = :type{_LATEST}", {**values, "type": one}) for one in set(request.type))
    return heapq.merge(*of_each, key=lambda row: (row.trade_date, row.id), reverse=True)


def _changes(tx: ReadTx, request: ListAssetTransactions) -> Iterator[AssetTransaction]:
    """Oldest change first, with what was reversed: whoever follows changes has to learn of it."""
    assert request.updated_since is not None
    key = cursor_key(request, int, str) or (from_moment(request.updated_since), "")
    sql, values = _filters(request)
    if request.type:
        names = {f"type_{index}": one for index, one in enumerate(dict.fromkeys(request.type))}
        sql += f" AND type IN ({', '.join(f':{name}' for name in names)})"
        values |= names
    values |= {"after_at": key[0], "after_id": key[1], "count": request.limit + 1}
    return _read(tx, sql + _CHANGES, values)


def _read(tx: ReadTx, sql: str, values: dict[str, object]) -> Iterator[AssetTransaction]:
    return (TRANSACTIONS.read(tx, row) for row in tx.each(sql, **values))


def _filters(request: ListAssetTransactions) -> tuple[str, dict[str, object]]:
    """The statement as far as the filters go, and the values that they name."""
    named = {
        "account_id = :account_id": request.account_id,
        "portfolio_id = :portfolio_id": request.portfolio_id,
        "legal_entity_id = :legal_entity_id": request.legal_entity_id,
        "instrument_id = :instrument_id": request.instrument_id,
        "external_id = :external_id": request.external_id,
        "source = :source": request.source,
        "trade_date >= :from_date": request.from_date and request.from_date.isoformat(),
        "trade_date <= :to_date": request.to_date and request.to_date.isoformat(),
    }
    given = {condition: value for condition, value in named.items() if value is not None}
    sql = " AND ".join([TRANSACTIONS.select, *given])
    return sql, {condition.rpartition(":")[2]: value for condition, value in given.items()}
