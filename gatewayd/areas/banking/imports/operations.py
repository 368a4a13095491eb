"""The import run resource (domain model E). Here it is read; `importing` changes it."""

from typing import Final

from gatewayd.areas.banking.imports import rows
from gatewayd.areas.banking.imports.rows import ImportRow
from gatewayd.areas.banking.imports.shapes import ImportStatement, UndoStatement
from gatewayd.contract.caller import Caller
from gatewayd.contract.operation import AT_CATALOGUE, Operation
from gatewayd.contract.pages import Listing, Page, SyncPage
from gatewayd.ledger.imports import import_runs
from gatewayd.ledger.imports.import_shapes import ApplyImport, GetImport, ImportRun, ListImportRows, ListImports
from gatewayd.store import ReadTx

_POSITION: Final = rows.SHOWN.names.index("position")


def list_imports(tx: ReadTx, caller: Caller, request: ListImports) -> Listing[ImportRun]:
    """List imports of statements, newest first, or in the order of change with `updatedSince`."""
    return import_runs.runs_page(tx, "bank", request)


def get_import(tx: ReadTx, caller: Caller, request: GetImport) -> ImportRun:
    """Get one import: its counts, the lines that were refused, and what it asks where it waits for a mapping."""
    return import_runs.shown(import_runs.run_of(tx, "bank", request.import_id))


def list_import_rows(tx: ReadTx, caller: Caller, request: ListImportRows) -> Listing[ImportRow]:
    """List the rows of a preview in the order of the file, each with what would become of it.

    Once it is applied, the rows that were added are its transactions; those that were replaced, refused or there
    already can still be listed.
    """
    import_runs.run_of(tx, "bank", request.import_id)
    return import_runs.rows_page(tx, request, rows.SELECT_ROWS, _POSITION, rows.row_item)


OPERATIONS = (
    Operation(
        id="banking.listImports",
        kind="read",
        method="GET",
        path="/imports",
        scopes=("banking:read",),
        request=ListImports,
        response=SyncPage[ImportRun],
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
        example={"importId": "imp_01k0000000000000000000000b", "limit": 20},
    ),
)

BY_ENGINE = (
    Operation(
        id="banking.importStatement",
        kind="call",
        method="POST",
        path="/accounts/:accountId/imports",
        scopes=("accounting:write",),  # Chosen: Spec §5 has no scope that writes in banking
        request=ImportStatement,
        response=ImportRun,
        handler=AT_CATALOGUE,
        errors=("invalid_state", "unreadable_file"),
        takes_file=True,
        takes_override=True,
        extension=True,
        example={"accountId": "bac_01k0000000000000000000000a", "fileName": "november.ofx"},
    ),
    Operation(
        id="banking.applyImport",
        kind="call",
        method="POST",
        path="/imports/:importId/apply",
        scopes=("accounting:write",),
        request=ApplyImport,
        response=ImportRun,
        handler=AT_CATALOGUE,
        errors=("invalid_state",),
        takes_override=True,
        extension=True,
        example={"importId": "imp_01k0000000000000000000000b"},
    ),
    Operation(
        id="banking.undoImport",
        kind="call",
        method="POST",
        path="/imports/:importId/undo",
        scopes=("accounting:write",),
        request=UndoStatement,
        response=ImportRun,
        handler=AT_CATALOGUE,
        errors=("invalid_state", "period_closed"),
        extension=True,
        example={"importId": "imp_01k0000000000000000000000e"},
    ),
)
"""What changes imports: rows whose handlers are `importing`'s."""
