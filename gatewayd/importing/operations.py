"""What changes imports (domain model E): handlers that take a file, apply and undo. The areas have their rows."""

import dataclasses
import datetime
from typing import Final, Protocol

import msgspec
from msgspec.structs import replace

from gatewayd.areas.assets.imports.shapes import ImportTransactions
from gatewayd.areas.banking.imports.shapes import ImportStatement, UndoStatement
from gatewayd.areas.banking.statements.kept_statements import SaidRange
from gatewayd.contract import faults
from gatewayd.contract.caller import Caller
from gatewayd.contract.operation import Handlers
from gatewayd.contract.received_file import ReceivedFile
from gatewayd.errors import invalid_field
from gatewayd.importing.engine import Importing
from gatewayd.importing.runs import Order
from gatewayd.ledger.calendar import period_locks
from gatewayd.ledger.imports.import_runs import shown
from gatewayd.ledger.imports.import_shapes import ApplyImport, ColumnMapping, ImportKind, ImportRun, UndoImport
from gatewayd.statements.shapes import Mapping

_DATE_FORMATS: Final = {"dmy": "dd/mm/yyyy", "mdy": "mm/dd/yyyy", "ymd": "yyyy-mm-dd"}


class Deps(Protocol):
    """What the rows are given to work with."""

    @property
    def importing(self) -> Importing: ...


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
    except msgspec.ValidationError:
        message = f"It is not a mapping: {_fault_of_mapping(msgspec.json.decode(text))}"
    except (msgspec.DecodeError, UnicodeError):
        message = 'It is not a mapping: expected a JSON object, such as {"date": "Date", "amount": "Amount"}.'
    raise invalid_field("mapping", "invalid_format", message)


def _fault_of_mapping(values: object) -> str:
    refusal = faults.refusal(values, ColumnMapping, strict=True) if isinstance(values, dict) else None
    if refusal is None:
        return "expected a JSON object with the headings of columns."
    return " ".join(f"{error.path}: {error.message}" for error in refusal.errors)


HANDLERS: Final[Handlers] = {
    "banking.importStatement": import_statement,
    "banking.applyImport": apply_import,
    "banking.undoImport": undo_import,
    "assets.importTransactions": import_transactions,
    "assets.applyImport": apply_asset_import,
    "assets.undoImport": undo_asset_import,
}
