"""Imports of brokers' files (domain model E). Here they are read; `importing` changes them."""

from gatewayd.areas.assets.imports import rows
from gatewayd.areas.assets.imports.shapes import ImportedTrade, ImportTransactions, ListAssetImports, ListImportedTrades
from gatewayd.contract.caller import Caller
from gatewayd.contract.operation import AT_CATALOGUE, Operation
from gatewayd.contract.pages import Listing, Page, SyncPage
from gatewayd.ledger.imports import import_runs
from gatewayd.ledger.imports.import_shapes import ApplyImport, GetImport, ImportRun, UndoImport
from gatewayd.store import ReadTx


def list_imports(tx: ReadTx, caller: Caller, request: ListAssetImports) -> Listing[ImportRun]:
    """List imports of brokers' files, newest first, or in the order of change with `updatedSince`."""
    return import_runs.runs_page(tx, "broker", request)


def get_import(tx: ReadTx, caller: Caller, request: GetImport) -> ImportRun:
    """Get one import: its counts, the lines that were refused, and what it asks where it waits for a mapping."""
    return import_runs.shown(import_runs.run_of(tx, "broker", request.import_id))


def list_import_rows(tx: ReadTx, caller: Caller, request: ListImportedTrades) -> Listing[ImportedTrade]:
    """List the rows of a preview in the order of the file, each with what would become of it.

    Once it is applied, the rows that were added are its transactions; those that were refused or there already can
    still be listed.
    """
    import_runs.run_of(tx, "broker", request.import_id)
    return import_runs.rows_page(tx, request, rows.SELECT_ROWS, rows.POSITION, rows.row_item)


OPERATIONS = (
    Operation(
        id="assets.listImports",
        kind="read",
        method="GET",
        path="/assets/imports",
        scopes=("accounting:read",),
        request=ListAssetImports,
        response=SyncPage[ImportRun],
        handler=list_imports,
        extension=True,
        example={"status": "applied", "limit": 20},
    ),
    Operation(
        id="assets.getImport",
        kind="read",
        method="GET",
        path="/assets/imports/:importId",
        scopes=("accounting:read",),
        request=GetImport,
        response=ImportRun,
        handler=get_import,
        extension=True,
        example={"importId": "imp_01k0000000000000000000000c"},
    ),
    Operation(
        id="assets.listImportRows",
        kind="read",
        method="GET",
        path="/assets/imports/:importId/rows",
        scopes=("accounting:read",),
        request=ListImportedTrades,
        response=Page[ImportedTrade],
        handler=list_import_rows,
        extension=True,
        example={"importId": "imp_01k0000000000000000000000d", "limit": 20},
    ),
)

BY_ENGINE = (
    Operation(
        id="assets.importTransactions",
        kind="call",
        method="POST",
        path="/assets/accounts/:accountId/imports",
        scopes=("accounting:write",),
        request=ImportTransactions,
        response=ImportRun,
        handler=AT_CATALOGUE,
        errors=("invalid_state", "unreadable_file"),
        takes_file=True,
        takes_override=True,
        extension=True,
        example={"accountId": "acc_01k0000000000000000000000a", "fileName": "november.csv"},
    ),
    Operation(
        id="assets.applyImport",
        kind="call",
        method="POST",
        path="/assets/imports/:importId/apply",
        scopes=("accounting:write",),
        request=ApplyImport,
        response=ImportRun,
        handler=AT_CATALOGUE,
        errors=("invalid_state",),
        takes_override=True,
        extension=True,
        example={"importId": "imp_01k0000000000000000000000d"},
    ),
    Operation(
        id="assets.undoImport",
        kind="call",
        method="POST",
        path="/assets/imports/:importId/undo",
        scopes=("accounting:write",),
        request=UndoImport,
        response=ImportRun,
        handler=AT_CATALOGUE,
        errors=("insufficient_quantity", "invalid_state", "period_closed"),
        extension=True,
        example={"importId": "imp_01k0000000000000000000000c"},
    ),
)
"""What changes imports: rows whose handlers are `importing`'s."""
