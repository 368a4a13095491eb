"""What changes imports (domain model E): operations that take a file, apply and undo. The area has what reads them."""

import dataclasses
import datetime
from typing import Annotated, Final, Literal, Protocol

import msgspec
from msgspec import Meta
from msgspec.structs import replace

from gatewayd.areas.banking.statements.kept_statements import SaidRange
from gatewayd.contract.caller import Caller
from gatewayd.contract.operation import Operation
from gatewayd.contract.received_file import ReceivedFile
from gatewayd.contract.wire import Date, Id, Request
from gatewayd.errors import invalid_field
from gatewayd.importing.engine import Importing
from gatewayd.importing.runs import Order
from gatewayd.ledger.calendar import period_locks
from gatewayd.ledger.imports.import_runs import shown
from gatewayd.ledger.imports.import_shapes import ColumnMapping, ImportKind, ImportRun
from gatewayd.statements.shapes import Mapping

FileName = Annotated[
    str, Meta(min_length=1, max_length=255, description="What the file is called, for people.", examples=["march.csv"])
]
MappingText = Annotated[
    str,
    Meta(
        max_length=4000,
        description="How the columns of a CSV are read: a ColumnMapping as JSON. It is remembered for the account, and "
        "for files with the same headings.",
        examples=['{"date":"Date","amount":"Amount","description":["Details"],"dateFormat":"dd/mm/yyyy"}'],
    ),
]


DateOrder = Annotated[
    Literal["dmy", "mdy", "ymd"],
    Meta(description="Of a CSV or QIF that leaves it open: what stands first of day, month and year."),
]
Spent = Annotated[
    Literal["negative", "positive"],
    Meta(description="Of a CSV or QIF that leaves it open: how what was spent is written."),
]
OfAccount = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=160,
        description="Which account of the file it is, by its name or number there: of a file of several, where the "
        "account has no number.",
        examples=["Savings"],
    ),
]
_FROM: Final = "The first day that the file is of, where it began before its first line."
_DATE_FORMATS: Final = {"dmy": "dd/mm/yyyy", "mdy": "mm/dd/yyyy", "ymd": "yyyy-mm-dd"}


class Deps(Protocol):
    """What the rows are given to work with."""

    @property
    def importing(self) -> Importing: ...


class ImportStatement(Request, frozen=True, kw_only=True):
    """A statement file for an account. The file is the body."""

    account_id: Id
    file_name: FileName = "statement"
    format: Annotated[
        Literal["auto", "ofx", "qif", "camt053", "mt940", "csv"], Meta(description="auto: found out by content.")
    ] = "auto"
    preview: Annotated[bool, Meta(description="Only show what would become of its rows.")] = False
    mapping: MappingText | None = None
    date_order: DateOrder | None = None
    spent: Spent | None = None
    of_account: OfAccount | None = None
    from_date: Annotated[Date, Meta(description=_FROM)] | None = None
    to_date: Annotated[Date, Meta(description="The last day that the file is of.")] | None = None


class ApplyImport(Request, frozen=True, kw_only=True):
    """Which preview."""

    import_id: Id


class UndoImport(Request, frozen=True, kw_only=True):
    """Which import."""

    import_id: Id


class UndoStatement(Request, frozen=True, kw_only=True):
    """Which import of a bank's file, and whether what its lines are for goes with them."""

    import_id: Id
    remove_allocations: Annotated[bool, Meta(description="Take back what its transactions are allocated to.")] = False
    preview: Annotated[bool, Meta(description="Only tell what would be taken out.")] = False


async def import_statement(deps: Deps, caller: Caller, request: ImportStatement, file: ReceivedFile) -> ImportRun:
    """Import a bank statement: OFX, QIF, CAMT.053, MT940 or CSV, as the bank gives it.

    Interim reports (CAMT.052 and .054, MT942) are taken too: they have no balance and cover no day, and what
    MT942 has is pending until a statement brings it.

    An account takes from its first files what they say of it: numbers, holder and bank. A file of another account is
    refused, and the account that has it named in `existingId`. Of a file of several accounts the rows of this one are
    taken; `otherAccounts` names the others, and the same file can be sent to each.

    A CSV tells the days of its first and last line alone: `fromDate` and `toDate` say which days it is of, also of one
    that was imported before.

    Rows that the account has already are left out, and pending ones replaced. The same file again changes nothing and
    answers the first import. A large file goes on after the answer: `status` is then `uploaded` or `applying`.

    A CSV is checked against its running balance and its column of directions: what they contradict is turned round or
    refused. What a British file leaves open is read as British banks write it, and told in `supposed`. One whose
    columns nobody knows is `uploaded` with a `proposal`: send it again with a `mapping`, or with `dateOrder` and
    `spent` where nothing else is asked.
    """
    order = dataclasses.replace(
        _order("bank", caller, request),
        date_format=date_format_of(request.date_order),
        negate=negate_of(request.spent),
        of_account=request.of_account,
        covers=SaidRange(_iso(request.from_date), _iso(request.to_date)),
    )
    return shown(await deps.importing.import_file(caller.org_id, order, file))


def _iso(day: datetime.date | None) -> str | None:
    return None if day is None else day.isoformat()


def date_format_of(order: str | None) -> str | None:
    """The format of an order of day, month and year; None where none is given."""
    return None if order is None else _DATE_FORMATS[order]


def negate_of(spent: str | None) -> bool | None:
    """Whether what was spent is positive; None where it is not said."""
    return None if spent is None else spent == "positive"


class ImportTransactions(Request, frozen=True, kw_only=True):
    """A broker's file for an account. The file is the body."""

    account_id: Id
    file_name: FileName = "transactions"
    format: Annotated[
        Literal["auto", "csv", "ibkr_flex"],
        Meta(description="auto: found out by content. ibkr_flex: a Flex query of Interactive Brokers, as XML."),
    ] = "auto"
    preview: Annotated[bool, Meta(description="Only show what would become of its rows.")] = False
    mapping: MappingText | None = None


async def import_transactions(deps: Deps, caller: Caller, request: ImportTransactions, file: ReceivedFile) -> ImportRun:
    """Import a broker's file: a CSV export of its transactions, or a Flex query of Interactive Brokers.

    Rows are entered as `assets.createTransaction` would, and refused one by one with the line and the reason. Rows that
    the account has already are left out; the same file again changes nothing and answers the first import. A large file
    goes on after the answer: `status` is then `uploaded` or `applying`. A CSV whose columns nobody knows is `uploaded`
    with a `proposal`: send it again with a `mapping`, which may say no more than what is asked, or what the broker's
    words mean. What has no rate of exchange takes a recorded one or HMRC's of the month, which `supposed` tells.
    """
    return shown(await deps.importing.import_file(caller.org_id, _order("broker", caller, request), file))


async def apply_import(deps: Deps, caller: Caller, request: ApplyImport) -> ImportRun:
    """Apply a preview. Its rows are compared anew with what the account has by now."""
    overrides = _overrides(caller)
    return shown(await deps.importing.apply(caller.org_id, request.import_id, "bank", overrides_closing=overrides))


async def undo_import(deps: Deps, caller: Caller, request: UndoStatement) -> ImportRun:
    """Take out exactly what an import brought, and put back what it replaced.

    Refused while any of it is allocated, or lies in a closed period. `removeAllocations` takes the allocations back as
    well, and of transfers the other half; a payment of an invoice stays, and is removed there first. `undoing` tells
    what is taken out; with `preview` nothing is changed by it.
    """
    plan = await deps.importing.planned_undoing(caller.org_id, request.import_id)
    if request.preview:
        return shown(plan)
    run = await deps.importing.undo(
        caller.org_id,
        request.import_id,
        "bank",
        overrides_closing=_overrides(caller),
        removes_allocations=request.remove_allocations,
    )
    return shown(replace(run, undoing=plan.undoing))


async def apply_asset_import(deps: Deps, caller: Caller, request: ApplyImport) -> ImportRun:
    """Apply a preview. Its rows are compared anew with what the account has by now."""
    overrides = _overrides(caller)
    return shown(await deps.importing.apply(caller.org_id, request.import_id, "broker", overrides_closing=overrides))


async def undo_asset_import(deps: Deps, caller: Caller, request: UndoImport) -> ImportRun:
    """Take out exactly what an import brought.

    Refused where something that was entered since needs it, or any of it was reversed, or lies in a closed period. The
    instruments that it named stay.
    """
    overrides = _overrides(caller)
    return shown(await deps.importing.undo(caller.org_id, request.import_id, "broker", overrides_closing=overrides))


def _order(kind: ImportKind, caller: Caller, request: ImportStatement | ImportTransactions) -> Order:
    return Order(
        kind=kind,
        account_id=request.account_id,
        file_name=request.file_name,
        format=None if request.format == "auto" else request.format,
        mapping=mapping_of(request.mapping),
        preview=request.preview,
        overrides_closing=_overrides(caller),
    )


def _overrides(caller: Caller) -> bool:
    return period_locks.CLOSING in caller.overrides


def mapping_of(text: str | None) -> Mapping | None:
    """The mapping that a request gives as JSON. Raises `Problem` `validation_failed`."""
    if text is None:
        return None
    try:
        return msgspec.json.decode(text, type=ColumnMapping).as_told()
    except (msgspec.DecodeError, UnicodeError) as error:
        raise invalid_field("mapping", "invalid_format", f"It is not a mapping: {error}.") from None


OF_BANKING = (
    Operation(
        id="banking.importStatement",
        kind="call",
        method="POST",
        path="/accounts/:accountId/imports",
        scopes=("accounting:write",),  # Chosen: Spec §5 has no scope that writes in banking
        request=ImportStatement,
        response=ImportRun,
        handler=import_statement,
        errors=("invalid_state", "unreadable_file"),
        takes_file=True,
        takes_override=True,
        extension=True,
        example={"accountId": "bac_01k0000000000000000000000a", "fileName": "march.csv"},
    ),
    Operation(
        id="banking.applyImport",
        kind="call",
        method="POST",
        path="/imports/:importId/apply",
        scopes=("accounting:write",),
        request=ApplyImport,
        response=ImportRun,
        handler=apply_import,
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
        handler=undo_import,
        errors=("invalid_state", "period_closed"),
        extension=True,
        example={"importId": "imp_01k0000000000000000000000a"},
    ),
)

OF_ASSETS = (
    Operation(
        id="assets.importTransactions",
        kind="call",
        method="POST",
        path="/assets/accounts/:accountId/imports",
        scopes=("accounting:write",),
        request=ImportTransactions,
        response=ImportRun,
        handler=import_transactions,
        errors=("invalid_state", "unreadable_file"),
        takes_file=True,
        takes_override=True,
        extension=True,
        example={"accountId": "acc_01k0000000000000000000000a", "fileName": "trades.csv"},
    ),
    Operation(
        id="assets.applyImport",
        kind="call",
        method="POST",
        path="/assets/imports/:importId/apply",
        scopes=("accounting:write",),
        request=ApplyImport,
        response=ImportRun,
        handler=apply_asset_import,
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
        handler=undo_asset_import,
        errors=("insufficient_quantity", "invalid_state", "period_closed"),
        extension=True,
        example={"importId": "imp_01k0000000000000000000000c"},
    ),
)
