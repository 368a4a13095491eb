"""`gatewayd obligation sync`: what the tax authority says of obligations, compared with the books and taken over."""

import argparse
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from gatewayd.cli.context import Context
from gatewayd.cli.output import note, print_document, print_list
from gatewayd.cli.parser import Subparsers, add_command
from gatewayd.cli.run_operation import operation_of, operator_of

if TYPE_CHECKING:
    from gatewayd.http1.header_fields import Headers
    from gatewayd.store import Store
    from gatewayd.tax.proxy import Proxy
    from gatewayd.tax.settings import TaxSettings

Json = dict[str, Any]
TAXES = ("vat", "income_tax")


class _Deps(NamedTuple):
    """What the operation is given to work with."""

    tax: "Proxy"


def add_to(group: Subparsers) -> None:
    """Add the command to those of obligations."""
    command = add_command(group, "sync", "compare with the tax authority, and take over what it says", sync, json=True)
    command.add_argument("--entity", required=True, metavar="ID", help="the legal entity")
    command.add_argument("--tax", action="append", choices=TAXES, help="by default those that it has a number for")
    command.add_argument("--dry-run", action="store_true", help="only compare")
    help_ = "fraud-prevention headers, lines `Name: value`; - for input"
    command.add_argument("--headers", metavar="FILE", help=help_)


def sync(arguments: argparse.Namespace, context: Context) -> int:
    from gatewayd.areas.legal_entities.rows import LEGAL_ENTITIES
    from gatewayd.cli.tax.headers import header_lines
    from gatewayd.tax.settings import settings_from

    settings = settings_from(context.config.tax)
    fields = [] if arguments.headers is None else header_lines(arguments.headers)
    org_id = context.read(lambda tx: LEGAL_ENTITIES.organization_of(tx, arguments.entity))
    values = {"legalEntityId": arguments.entity, "taxes": arguments.tax, "dryRun": arguments.dry_run}
    found = _perform(context, settings, org_id, values, fields)
    if arguments.json:
        print_document(found)
        return 0
    names = ("kind", "periodEndDate", "field", "local", "remote")
    cells = [tuple(str(one[name] or "") for name in names) for one in found["differences"]]
    print_list(arguments, found["differences"], ("kind", "period end", "what", "books", "authority"), cells)
    verb = "would be" if arguments.dry_run else "are"
    note(f"{len(found['obligations'])} obligations {verb} as the authority has them")
    for one in found["unknownSources"]:
        note(f"{one['taxBusinessId']} is no business here: {one['obligationCount']} obligations were left out")
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
    from gatewayd.performing.performer import Performer
    from gatewayd.performing.prepared import prepare
    from gatewayd.tax import HANDLERS
    from gatewayd.tax.engine import open_tax

    operation = operation_of(AREA, "obligations.sync", HANDLERS)
    given = {name: value for name, value in values.items() if value is not None}
    request = prepare(operation).decoder.body(msgspec.json.encode(given))
    incoming = Request("POST", operation.path, fields)
    incoming.read_fields()

    async def ask(store: "Store") -> object:
        agent = f"gatewayd/{gatewayd.__version__}"
        async with open_tax(store, settings, context.clock, NoLog(), agent) as tax:
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
