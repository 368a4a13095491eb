"""`gatewayd period` and `gatewayd obligation`: closing books, and what is due."""

import argparse
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from gatewayd.cli.books import sealed_periods
from gatewayd.cli.context import Context
from gatewayd.cli.output import note, print_document, print_list, print_result
from gatewayd.cli.parser import Subparsers, add_command, add_group, whole_number
from gatewayd.cli.run_operation import operation_of, operator_of, run_operation
from gatewayd.cli.time_arguments import civil_date

if TYPE_CHECKING:
    from gatewayd.http1.header_fields import Headers
    from gatewayd.store import Store, Table
    from gatewayd.tax.forwarding.proxy import Proxy
    from gatewayd.tax.settings import TaxSettings

Json = dict[str, Any]
PERIOD_TYPES = ("vat_period", "itsa_quarter", "tax_year", "financial_year", "month")
PERIOD_STATUSES = ("open", "closing", "closed")
STATUSES = ("open", "overdue", "fulfilled", "not_required")
LIST_MAX = 100  # one page of the API
LIST_DEFAULT = 50
TAXES = ("vat", "income_tax")


def add_commands(subparsers: Subparsers) -> None:
    """Add the commands of periods and obligations."""
    group = add_group(subparsers, "period", "periods of the books, and their closing")
    command = add_command(group, "list", "list periods by their last day", list_periods, json=True)
    _add_list(command, PERIOD_STATUSES)
    command.add_argument("--type", action="append", choices=PERIOD_TYPES, help="months are listed where asked for")
    command = add_command(group, "close", "close a period, so that what is dated in it stays", close, json=True)
    command.add_argument("id", metavar="ID")
    command.add_argument("--begin", action="store_true", help="only mark it as closing")
    command.add_argument("--force", action="store_true", help="with points of the checklist undone")
    command.add_argument("--reason", help="why it is forced")
    of_expenses = "only if so much of each business's expenses has a document"
    command.add_argument("--evidence", type=whole_number(1, 100), metavar="PERCENT", help=of_expenses)
    command = add_command(group, "reopen", "open a closed period again", reopen, json=True)
    command.add_argument("id", metavar="ID")
    command.add_argument("--reason", default="Reopened from the command line")
    sealed_periods.add_to(group)
    group = add_group(subparsers, "obligation", "what is due to the authorities, and when")
    command = add_command(group, "list", "list obligations by due date", list_obligations, json=True)
    _add_list(command, STATUSES)
    command = add_command(group, "fulfil", "mark an obligation as met", fulfil, json=True)
    command.add_argument("id", metavar="ID")
    command.add_argument("--date", metavar="D", type=civil_date, help="YYYY-MM-DD, today by default")
    _add_obligation_sync(group)


def close(arguments: argparse.Namespace, context: Context) -> int:
    from gatewayd.ledger.calendar.periods import PERIODS

    values = {name: getattr(arguments, name) for name in ("id", "begin", "force", "reason")}
    values["evidencePercent"] = arguments.evidence
    return _change(arguments, context, PERIODS, ("periods.close", values))


def reopen(arguments: argparse.Namespace, context: Context) -> int:
    from gatewayd.ledger.calendar.periods import PERIODS

    return _change(arguments, context, PERIODS, ("periods.reopen", {"id": arguments.id, "reason": arguments.reason}))


def fulfil(arguments: argparse.Namespace, context: Context) -> int:
    from gatewayd.ledger.obligations.obligations import OBLIGATIONS

    values = {"id": arguments.id, "receivedDate": arguments.date}
    return _change(arguments, context, OBLIGATIONS, ("obligations.fulfil", values))


def list_periods(arguments: argparse.Namespace, context: Context) -> int:
    columns = ("id", "label", "type", "start", "end", "status", "due")
    names = ("id", "label", "type", "startDate", "endDate", "status", "filingDueDate")
    return _list(arguments, context, ("periods.list", columns, names))


def list_obligations(arguments: argparse.Namespace, context: Context) -> int:
    columns = ("id", "kind", "period end", "due", "status", "days")
    names = ("id", "kind", "periodEndDate", "dueDate", "status", "daysUntilDue")
    return _list(arguments, context, ("obligations.list", columns, names))


def _add_list(command: argparse.ArgumentParser, statuses: tuple[str, ...]) -> None:
    command.add_argument("--org", required=True, metavar="ID")
    command.add_argument("--entity", metavar="ID", help="of one legal entity")
    command.add_argument("--status", action="append", choices=statuses, help="may be given again")
    command.add_argument("--limit", type=whole_number(1, LIST_MAX), default=LIST_DEFAULT, metavar="N")


def _list(arguments: argparse.Namespace, context: Context, shown: tuple[str, tuple[str, ...], tuple[str, ...]]) -> int:
    """Print one page of a list; `shown` is the operation, the columns, and the member that stands in each."""
    from gatewayd.areas.periods import AREA

    operation, columns, names = shown
    values = {"legalEntityId": arguments.entity, "status": arguments.status, "limit": arguments.limit}
    values["type"] = getattr(arguments, "type", None)
    rows = run_operation(context, operation_of(AREA, operation), arguments.org, values)["data"]
    cells = [tuple("" if row[name] is None else str(row[name]) for name in names) for row in rows]
    print_list(arguments, rows, columns, cells)
    return 0


def _change(arguments: argparse.Namespace, context: Context, table: "Table[Any]", command: tuple[str, Json]) -> int:
    """Run an operation on one of a table's resources, and print what it then is."""
    from gatewayd.areas.periods import AREA

    operation, values = command
    org_id = context.read(lambda tx: table.organization_of(tx, arguments.id))
    changed = run_operation(context, operation_of(AREA, operation), org_id, values)
    name = changed["label"] if "label" in changed else f"{changed['kind']} to {changed['periodEndDate']}"
    print_result(arguments, changed, [f"{name} is {changed['status']}."])
    return 0


class _Deps(NamedTuple):
    """What the operation is given to work with."""

    tax: "Proxy"


def _add_obligation_sync(group: Subparsers) -> None:
    """Add the command to those of obligations."""
    command = add_command(
        group, "sync", "compare with the tax authority, and take over what it says", sync_obligations, json=True
    )
    command.add_argument("--entity", required=True, metavar="ID", help="the legal entity")
    command.add_argument("--tax", action="append", choices=TAXES, help="by default those that it has a number for")
    command.add_argument("--dry-run", action="store_true", help="only compare")
    help_ = "fraud-prevention headers, lines `Name: value`; - for input"
    command.add_argument("--headers", metavar="FILE", help=help_)


def sync_obligations(arguments: argparse.Namespace, context: Context) -> int:
    from gatewayd.areas.legal_entities.rows import LEGAL_ENTITIES
    from gatewayd.cli.tax.headers import header_lines
    from gatewayd.tax.settings import settings_from

    settings = settings_from(context.config.tax)
    fields = [] if arguments.headers is None else header_lines(arguments.headers)
    org_id = context.read(lambda tx: LEGAL_ENTITIES.organization_of(tx, arguments.entity))
    values = {"legalEntityId": arguments.entity, "taxes": arguments.tax, "dryRun": arguments.dry_run}
    answer = _perform(context, settings, org_id, values, fields)
    if arguments.json:
        print_document(answer)
        return 0
    names = ("kind", "periodEndDate", "field", "local", "remote")
    cells = [tuple(str(difference[name] or "") for name in names) for difference in answer["differences"]]
    print_list(arguments, answer["differences"], ("kind", "period end", "what", "books", "authority"), cells)
    verb = "would be" if arguments.dry_run else "are"
    note(f"{len(answer['obligations'])} obligations {verb} as the authority has them")
    for source in answer["unknownSources"]:
        note(f"{source['taxBusinessId']} is no business here: {source['obligationCount']} obligations were left out")
    return 0


def _perform(context: Context, settings: "TaxSettings", org_id: str, values: Json, fields: "Headers") -> Json:
    """What the operation answers. Raises `Problem`."""
    import msgspec

    import gatewayd
    from gatewayd.areas.periods import AREA
    from gatewayd.cli.runner import cause_of
    from gatewayd.contract.wire import encode
    from gatewayd.http1.log import NoLog
    from gatewayd.http1.request import Request
    from gatewayd.leases.holder import open_holder
    from gatewayd.performing.performer import Performer
    from gatewayd.performing.prepared import prepare
    from gatewayd.tax import HANDLERS
    from gatewayd.tax.engine import open_tax

    operation = operation_of(AREA, "obligations.sync", HANDLERS)
    body = {name: value for name, value in values.items() if value is not None}
    request = prepare(operation).decoder.body(msgspec.json.encode(body))
    incoming = Request("POST", operation.path, fields)
    incoming.read_fields()

    async def ask(store: "Store") -> object:
        agent = f"gatewayd/{gatewayd.__version__}"
        async with open_holder(store) as holder, open_tax(holder, settings, context.clock, NoLog(), agent) as tax:
            return await Performer(store, _Deps(tax)).perform(operation, operator_of(org_id), request, None, incoming)

    answer = _run(context, ask, cause_of)
    return msgspec.json.decode(encode(answer), type=Json)


def _run(
    context: Context,
    work: "Callable[[Store], Awaitable[object]]",
    cause_of: Callable[[BaseExceptionGroup[BaseException]], BaseException],
) -> object:
    try:
        return context.run(work)
    except BaseExceptionGroup as group:
        raise cause_of(group) from None
