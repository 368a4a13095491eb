"""The transaction resource (Spec §4, Domain A3 and B3): its operations. Nothing is changed or deleted, but reversed."""

import heapq
from collections.abc import Iterator
from typing import Final

from gatewayd.areas.assets.books.accounts import ACCOUNTS
from gatewayd.areas.assets.books.transactions import TRANSACTIONS, AssetTransaction
from gatewayd.areas.assets.pools import recording, unsettled
from gatewayd.areas.assets.transactions import entering, reversing
from gatewayd.areas.assets.transactions.entering import Origin
from gatewayd.areas.assets.transactions.shapes import (
    CreateTransaction,
    EnteredTransaction,
    GetAssetTransaction,
    ListAssetTransactions,
    TransactionWarning,
)
from gatewayd.clock import LAST_DATE
from gatewayd.contract.caller import Caller
from gatewayd.contract.holding import Days, HeldBy
from gatewayd.contract.operation import Operation
from gatewayd.contract.pages import MAX_KEY, Listing, SyncPage, cursor_key, fill, next_cursor
from gatewayd.contract.wire import encode, project
from gatewayd.errors import FieldError, invalid
from gatewayd.ledger.lists import CHANGES, Changed, changes_page, start_of_changes
from gatewayd.ledger.taxpayers import owners
from gatewayd.store import ReadTx, WriteTx

_LATEST: Final = " AND (trade_date, id) < (:after_at, :after_id) ORDER BY trade_date DESC, id DESC LIMIT :count"
_NOT_REVERSED: Final = " AND reversed_by_id IS NULL AND reverses_transaction_id IS NULL"
_DISTRIBUTION: Final = TransactionWarning(
    code="distribution_value_unknown",
    message="It comes off the cost, as if it were small. By its amount it is not (CG57835): unless it is 5 % or less of"
    " what the shares were worth, it is a disposal of a part, which needs remainingValue.",
)
_STOCK_DIVIDEND: Final = TransactionWarning(
    code="stock_dividend_unknown",
    message="Of a company outside the United Kingdom it counts as a bonus issue, without income and without cost"
    " (CG51823). Where it was paid as a dividend, enter it with taxedAsDividend.",
)
_OF_NOTHING: Final = TransactionWarning(
    code="stock_dividend_unknown",
    message="It is taxed on the cash that it replaces, which is its cost too: here both are 0.",
)


def list_transactions(tx: ReadTx, caller: Caller, request: ListAssetTransactions) -> Listing[AssetTransaction]:
    """List the transactions of accounts with assets.

    Latest trade first, or in the order of change with `updatedSince`. What was reversed is left out, with its
    reversals, unless `includeReversed` or `updatedSince` is given. `type` may be given again.
    """
    return _page(tx, request)


def get_transaction(tx: ReadTx, caller: Caller, request: GetAssetTransaction) -> AssetTransaction:
    """Get one transaction of an account with assets, reversed or not."""
    return TRANSACTIONS.get(tx, request.id)


def create_transaction(tx: WriteTx, caller: Caller, request: CreateTransaction) -> EnteredTransaction:
    """Enter a transaction of an account, or reverse one.

    The type says which fields are needed and which way they go. The instrument is given by its id, or by what
    identifies it, which makes one that is new. A transfer with `counterAccountId` makes both halves. A reversal names
    account and date of what it reverses. `unitPrice` x `quantity` gives `grossAmount` where that is left out.
    `warnings` tell what was supposed because it was not given.
    """
    # Chosen: what a person enters, on a page or at the command line, is manual
    origin = Origin("manual" if caller.kind in ("operator", "person") else "api")
    if request.type == "reversal":
        return project(reversing.reverse(tx, request, origin), EnteredTransaction, warnings=[])
    rows = entering.store(tx, request, origin)
    recording.record(tx, rows)
    return project(rows[0], EnteredTransaction, warnings=list(_warnings(tx, rows[0])))


# -- pages
#
# A page costs the same however many there are, because each filter has an index in the order of the list: an account, a
# portfolio, a legal entity, an instrument, a source, and a type, which accounts and portfolios have apart too. Several
# types are several lists, merged as they are read. What was reversed is passed over. What an import brought is found by
# it, whatever else is asked for.


def _page(tx: ReadTx, request: ListAssetTransactions) -> Listing[AssetTransaction]:
    """One page. Raises `Problem`: `invalid_cursor`, `validation_failed`."""
    if request.from_date and request.to_date and request.to_date < request.from_date:
        raise invalid(FieldError("toDate", "date_order", "It is before fromDate: expected that day or a later one."))
    if request.updated_since is not None:
        return _changes(tx, request)
    items: list[bytes] = []

    def size(row: AssetTransaction) -> int:
        items.append(encode(row))
        return len(items[-1])

    rows, more = fill(_latest_trades(tx, request), request.limit, size)
    cursor = next_cursor(request, (rows[-1].trade_date, rows[-1].id)) if more else None
    return Listing.of(items[: len(rows)], cursor)


def _latest_trades(tx: ReadTx, request: ListAssetTransactions) -> Iterator[AssetTransaction]:
    """Latest trade first. What was reversed, and what reversed it, is left out unless it is asked for."""
    last = LAST_DATE if request.to_date is None else request.to_date.isoformat()
    key = cursor_key(request, str, str) or (last, MAX_KEY)
    sql, values = _filtered_select(request)
    if not request.include_reversed:
        sql += _NOT_REVERSED
    values |= {"after_at": key[0], "after_id": key[1], "count": request.limit + 1}
    if not request.type:
        return _read_transactions(tx, sql + _LATEST, values)
    of_type = f"{sql} AND {_matching('type', request)}{_LATEST}"
    of_each = (_read_transactions(tx, of_type, {**values, "type": type_}) for type_ in set(request.type))
    return heapq.merge(*of_each, key=lambda row: (row.trade_date, row.id), reverse=True)


def _changes(tx: ReadTx, request: ListAssetTransactions) -> Listing[AssetTransaction]:
    """Oldest change first, with what was reversed: whoever follows changes has to learn of it."""
    start = start_of_changes(tx, request, TRANSACTIONS.name)
    sql, values = _filtered_select(request)
    if request.type:
        names = {f"type_{index}": type_ for index, type_ in enumerate(dict.fromkeys(request.type))}
        sql += f" AND type IN ({', '.join(f':{name}' for name in names)})"
        values |= names
    values |= {"after_at": start[0], "after_id": start[1], "count": request.limit + 1}
    rows = _read_transactions(tx, sql + CHANGES.behind + CHANGES.by, values)
    changed = (Changed(row.updated_at, row.id, encode(row)) for row in rows)
    return changes_page(tx, request, TRANSACTIONS.name, start, changed)


def _read_transactions(tx: ReadTx, sql: str, values: dict[str, object]) -> Iterator[AssetTransaction]:
    return (TRANSACTIONS.read(tx, row) for row in tx.each(sql, **values))


def _filtered_select(request: ListAssetTransactions) -> tuple[str, dict[str, object]]:
    """The statement as far as the filters go, and the values that it names."""
    wide = ("account_id", "portfolio_id", "legal_entity_id", "instrument_id", "source")
    named = {
        **{_matching(name, request): getattr(request, name) for name in wide},
        "import_id = :import_id": request.import_id,
        "external_id = :external_id": request.external_id,
        "trade_date >= :from_date": request.from_date and request.from_date.isoformat(),
        "trade_date <= :to_date": request.to_date and request.to_date.isoformat(),
    }
    conditions = {condition: value for condition, value in named.items() if value is not None}
    sql = " AND ".join([TRANSACTIONS.select, *conditions])
    return sql, {condition.rpartition(":")[2]: value for condition, value in conditions.items()}


def _matching(name: str, request: ListAssetTransactions) -> str:
    """The condition of a filter that leaves many. `coalesce` keeps its index out where an import is asked for."""
    return f"{name} = :{name}" if request.import_id is None else f"coalesce({name}, '') = :{name}"


# -- what was supposed because nobody told it


def _warnings(tx: ReadTx, row: AssetTransaction) -> Iterator[TransactionWarning]:
    """The warnings of a transaction that was just entered. In a wrapper there is neither gain nor income to tell."""
    if row.type in ("return_of_capital", "merger") and ACCOUNTS.get(tx, row.account_id).is_pooled:
        of_day = (row.legal_entity_id, row.trade_date, row.trade_date)
        is_told = row.remaining_value is not None or row.small_distribution is not None
        if row.gross_amount and not is_told:
            paid_on = row.from_instrument_id or row.instrument_id
            if paid_on in unsettled.distributions(tx, *of_day):
                yield _DISTRIBUTION
    elif row.type == "stock_dividend" and ACCOUNTS.get(tx, row.account_id).is_pooled:
        owner = owners.find(tx, row.legal_entity_id)
        if owner is None or not owner.is_taxed_as_persons:
            return
        if row.taxed_as_dividend is None:
            yield _STOCK_DIVIDEND
        elif row.taxed_as_dividend and not row.gross_amount:
            yield _OF_NOTHING


OPERATIONS = (
    Operation(
        id="assets.listTransactions",
        kind="read",
        method="GET",
        path="/assets/listTransactions",
        scopes=("accounting:read",),
        request=ListAssetTransactions,
        response=SyncPage[AssetTransaction],
        handler=list_transactions,
        held=HeldBy(
            entity="legal_entity_id",
            leads={"account_id": "asset_account", "portfolio_id": "portfolio"},
            days=Days(),
        ),
        errors=("date_order",),
        example={"type": ["buy", "sell"], "fromDate": "2026-04-06", "limit": 100},
    ),
    Operation(
        id="assets.getTransaction",
        kind="read",
        method="GET",
        path="/assets/getTransaction",
        scopes=("accounting:read",),
        request=GetAssetTransaction,
        response=AssetTransaction,
        handler=get_transaction,
        held=HeldBy(
            leads={"id": "asset_transaction"},
            day_of=("tradeDate",),
        ),
        extension=True,
        example={"id": "txn_01k0000000000000000000000a"},
    ),
    Operation(
        id="assets.createTransaction",
        kind="write",
        method="POST",
        path="/assets/createTransaction",
        scopes=("accounting:write",),
        request=CreateTransaction,
        response=EnteredTransaction,
        handler=create_transaction,
        errors=(
            "already_exists",
            "amount_mismatch",
            "conflict",
            "currency_mismatch",
            "date_order",
            "insufficient_quantity",
            "invalid_state",
            "out_of_range",
            "period_closed",
            "unknown_reference",
        ),
        example={
            "accountId": "acc_01k0000000000000000000000a",
            "type": "buy",
            "tradeDate": "2026-11-18",
            "instrumentId": "ins_01k0000000000000000000000a",
            "quantity": "100",
            "unitPrice": "4.79",
            "fees": "5.95",
            "taxes": "2.40",
        },
    ),
)
