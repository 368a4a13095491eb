"""The import run resource (domain model E): what can be read of it. The engine of imports has what changes it."""

from gatewayd.areas.banking.imports import rows
from gatewayd.areas.banking.imports.rows import RUNS
from gatewayd.areas.banking.imports.shapes import (
    GetImport,
    ImportRow,
    ImportRun,
    ListImportRows,
    ListImports,
)
from gatewayd.contract.caller import Caller
from gatewayd.contract.operation import Operation
from gatewayd.contract.pages import Listing, Page, cursor_key, fill, next_cursor
from gatewayd.ledger.lists import sync_page
from gatewayd.store import ReadTx

_OF_ACTION = " AND action = :action"
_IN_ORDER = " ORDER BY position LIMIT :count"


def list_imports(tx: ReadTx, caller: Caller, request: ListImports) -> Listing[ImportRun]:
    """List imports of statements, newest first, or in the order of change with `updatedSince`."""
    filters = {"account_id = :account_id": request.account_id, "status = :status": request.status}
    return sync_page(tx, request, RUNS.select, filters, lambda row: rows.item(RUNS.read(tx, row)))


def get_import(tx: ReadTx, caller: Caller, request: GetImport) -> ImportRun:
    """Get one import: its counts, the lines that were refused, and what it asks where it waits for a mapping."""
    return rows.shown(RUNS.get(tx, request.import_id))


def list_import_rows(tx: ReadTx, caller: Caller, request: ListImportRows) -> Listing[ImportRow]:
    """List the rows of a preview in the order of the file, each with what would become of it.

    Once it is applied, the rows that were added are its transactions; those that were replaced, refused or there
    already can still be listed.
    """
    run = RUNS.get(tx, request.import_id)
    key = cursor_key(request, int)
    sql = rows.SELECT_ROWS + (_IN_ORDER if request.action is None else _OF_ACTION + _IN_ORDER)
    values = {} if request.action is None else {"action": request.action}
    after = 0 if key is None else key[0]
    items: list[bytes] = []

    def size(row: tuple[object, ...]) -> int:
        items.append(rows.row_item(row))
        return len(items[-1])

    found = tx.each(sql, import_id=run.id, after=after, count=request.limit + 1, **values)
    taken, more = fill(found, request.limit, size)
    position = rows.SHOWN.names.index("position")
    cursor = next_cursor(request, (taken[-1][position],)) if more else None
    return Listing.of(items[: len(taken)], cursor)


OPERATIONS = (
    Operation(
        id="banking.listImports",
        kind="read",
        method="GET",
        path="/imports",
        scopes=("banking:read",),
        request=ListImports,
        response=Page[ImportRun],
        handler=list_imports,
        extension=True,
        example={"status": "applied", "limit": 20},
    ),
    Operation(
        id="banking.getImport",
        kind="read",
        method="GET",
        path="/imports/:importId",
        scopes=("banking:read",),
        request=GetImport,
        response=ImportRun,
        handler=get_import,
        extension=True,
        example={"importId": "imp_01k0000000000000000000000a"},
    ),
    Operation(
        id="banking.listImportRows",
        kind="read",
        method="GET",
        path="/imports/:importId/rows",
        scopes=("banking:read",),
        request=ListImportRows,
        response=Page[ImportRow],
        handler=list_import_rows,
        extension=True,
        example={"importId": "imp_01k0000000000000000000000a", "limit": 20},
    ),
)
