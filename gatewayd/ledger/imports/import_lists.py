"""What areas show of the imports of their kind: runs, and the rows that are staged for one."""

from collections.abc import Callable
from typing import Any

from gatewayd.contract.pages import Listing, cursor_key, fill, next_cursor
from gatewayd.errors import not_found
from gatewayd.ledger.imports.import_runs import RUNS, item
from gatewayd.ledger.imports.import_shapes import ImportKind, ImportRun, ImportRunRow, ListImportRows, ListImports
from gatewayd.ledger.lists import sync_page
from gatewayd.store import ReadTx, Row

_OF_ACTION = " AND action = :action"
_IN_ORDER = " ORDER BY position LIMIT :count"


def runs_page(tx: ReadTx, kind: ImportKind, request: ListImports) -> Listing[ImportRun]:
    """One page of the runs of a kind, newest first, or in the order of change with `updatedSince`."""
    filters = {
        "kind = :kind": kind,
        "account_id = :account_id": request.account_id,
        "status = :status": request.status,
    }
    return sync_page(tx, request, RUNS.select, filters, lambda row: item(RUNS.read(tx, row)))


def run_of(tx: ReadTx, kind: ImportKind, import_id: str) -> ImportRunRow:
    """The run, if it is of this kind. Raises `Problem` `not_found`."""
    run = RUNS.get(tx, import_id)
    if run.kind != kind:
        raise not_found(RUNS.kind)
    return run


def rows_page(
    tx: ReadTx, request: ListImportRows, select: str, position: int, row_item: Callable[[Row], bytes]
) -> Listing[Any]:
    """One page of the staged rows of a run, in the order of the file.

    `select` ends in `position > :after`, and has the position in the column of that number.
    """
    key = cursor_key(request, int)
    sql = select + (_IN_ORDER if request.action is None else _OF_ACTION + _IN_ORDER)
    values = {} if request.action is None else {"action": request.action}
    items: list[bytes] = []

    def size(row: Row) -> int:
        items.append(row_item(row))
        return len(items[-1])

    after = 0 if key is None else key[0]
    found = tx.each(sql, import_id=request.import_id, after=after, count=request.limit + 1, **values)
    taken, more = fill(found, request.limit, size)
    cursor = next_cursor(request, (taken[-1][position],)) if more else None
    return Listing.of(items[: len(taken)], cursor)
