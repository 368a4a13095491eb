"""`gatewayd import`: files that are brought into the books, by the path of the API, and taken out again."""

import argparse
import math
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from gatewayd.cli import price_imports
from gatewayd.cli.context import CommandError, Context
from gatewayd.cli.output import note, print_document, print_result
from gatewayd.cli.parser import Subparsers, add_command, add_group, add_override
from gatewayd.cli.received_files import received
from gatewayd.cli.run_operation import operation_of, operator_of, run_operation
from gatewayd.money import from_minor

if TYPE_CHECKING:
    from gatewayd.contract.operation import Operation
    from gatewayd.contract.received_file import ReceivedFile
    from gatewayd.importing.engine import Importing
    from gatewayd.store import Store

Json = dict[str, Any]
FORMATS = ("auto", "ofx", "qif", "camt053", "mt940", "csv")
OF_BROKERS = ("auto", "csv", "ibkr_flex")
WRAPPERS = ("none", "isa", "lisa", "jisa", "sipp", "ssas", "workplace_pension", "other")
PROGRESS_ROWS = 1_000
IGNORED = {
    "total": "a total",
    "balance": "a balance",
    "heading": "the headings once more",
    "investment": "one of investments",
    "list": "an item of another list",
}


class _Deps(NamedTuple):
    """What the operations of imports are given to work with."""

    importing: "Importing"


def add_commands(subparsers: Subparsers) -> None:
    """Add the commands of imports."""
    group = add_group(subparsers, "import", "files that are brought into the books")
    command = add_command(group, "bank", "import a bank statement: OFX, QIF, CAMT, MT940 or CSV", bank, json=True)
    _add_file(command, FORMATS, "bank account")
    command.add_argument("--currency", default="GBP", metavar="C", help="of a new account; GBP by default")
    command = add_command(group, "broker", "import a broker's file: CSV, or a Flex query of IBKR", broker, json=True)
    _add_file(command, OF_BROKERS, "account")
    command.add_argument("--portfolio", metavar="ID", help="of a new account")
    command.add_argument("--wrapper", choices=WRAPPERS, default="none", help="of a new account; none by default")
    command.add_argument("--currency", default="GBP", metavar="C", help="of a new account; GBP by default")
    price_imports.add_command_to(group)
    command = add_command(group, "undo", "take out what an import brought", undo, json=True)
    add_override(command)
    command.add_argument("id", metavar="ID")


def _add_file(command: argparse.ArgumentParser, formats: Sequence[str], what: str) -> None:
    add_override(command)
    command.add_argument("file", metavar="FILE", type=Path)
    command.add_argument("--org", required=True, metavar="ID")
    account = command.add_mutually_exclusive_group(required=True)
    account.add_argument("--account", metavar="ID", help=f"the {what} it is of")
    account.add_argument(
        "--new-account", metavar="NAME", help=f"make {'an' if what[0] in 'aeiou' else 'a'} {what} for it"
    )
    command.add_argument("--format", choices=formats, default="auto", help="auto: found out by content")
    command.add_argument("--mapping", metavar="FILE", type=Path, help="how the columns of a CSV are read, as JSON")
    command.add_argument("--preview", action="store_true", help="only count what would become of its rows")


def bank(arguments: argparse.Namespace, context: Context) -> int:
    from gatewayd.areas.banking import coverage

    run = _bring(arguments, context, "banking.importStatement", _into_new_account)
    balance = context.read(lambda tx: str(coverage.balance_now(tx, run["accountId"])), arguments.org)
    print_result(arguments, _document(run, balance), _lines(run, balance))
    return 0


def broker(arguments: argparse.Namespace, context: Context) -> int:
    from gatewayd.areas.assets.pools import cash

    run = _bring(arguments, context, "assets.importTransactions", _into_new_asset_account)
    held = context.read(lambda tx: cash.balances(tx, run["accountId"]), arguments.org)
    balance = next((str(one) for one in held if one.currency == run["currency"]), from_minor(0, run["currency"]))
    print_result(arguments, _document(run, balance), _lines(run, balance))
    return 0


def _bring(
    arguments: argparse.Namespace,
    context: Context,
    operation_id: str,
    into_new_account: "Callable[[argparse.Namespace, Context, Json, ReceivedFile], Json]",
) -> Json:
    """The run of a file. Raises `CommandError` where it waits for a mapping."""
    file = received(arguments.file)
    values: Json = {
        "fileName": arguments.file.name[:255],
        "format": arguments.format,
        "preview": arguments.preview,
        "mapping": None if arguments.mapping is None else _text(arguments.mapping),
    }
    if arguments.account is None:
        run = into_new_account(arguments, context, values, file)
    else:
        run = _perform(context, arguments.org, (operation_id, {"accountId": arguments.account, **values}), file)
    if run["proposal"] is not None:
        print_document({"importId": run["id"], "accountId": run["accountId"], "proposal": run["proposal"]})
        again = f"--account {run['accountId']} --mapping FILE"
        raise CommandError(f"{run['error']} Put the mapping into a file, and give it with {again}.")
    return run


def undo(arguments: argparse.Namespace, context: Context) -> int:
    from gatewayd.ledger.import_runs import RUNS

    org_id = context.read(lambda tx: RUNS.organization_of(tx, arguments.id))
    kind = context.read(lambda tx: RUNS.get(tx, arguments.id).kind, org_id)
    operation_id = "banking.undoImport" if kind == "bank" else "assets.undoImport"
    run = _perform(context, org_id, (operation_id, {"importId": arguments.id}))
    print_result(arguments, run, [f"Took out {run['added']} transactions of {run['fileName']}."])
    return 0


def _into_new_account(arguments: argparse.Namespace, context: Context, values: Json, file: "ReceivedFile") -> Json:
    """The import into an account that is made for it, and is there only if the import is. Raises `Problem`."""
    from gatewayd.areas.banking import AREA
    from gatewayd.importing.operations import mapping_of
    from gatewayd.importing.runs import Order
    from gatewayd.ledger.period_locks import CLOSING

    order = Order(
        kind="bank",
        file_name=values["fileName"],
        format=None if values["format"] == "auto" else values["format"],
        mapping=mapping_of(values["mapping"]),
        preview=values["preview"],
        overrides_closing=CLOSING in context.overrides,
        new_account=_request(
            operation_of(AREA, "banking.createAccount"),
            {"name": arguments.new_account, "currency": arguments.currency},
        ),
    )

    async def ask(store: "Store", importing: "Importing") -> object:
        from gatewayd.ledger.import_runs import shown

        return shown(await importing.import_file(arguments.org, order, file))

    run = _ask(context, arguments.org, ask)
    note(f"made the bank account {run['accountId']}")
    return run


def _into_new_asset_account(
    arguments: argparse.Namespace, context: Context, values: Json, file: "ReceivedFile"
) -> Json:
    """The import into an account with assets that is made before. Raises `CommandError` without its portfolio."""
    from gatewayd.areas.assets import AREA

    if arguments.portfolio is None:
        raise CommandError("a new account is of a portfolio: give --portfolio")
    account = {
        "name": arguments.new_account,
        "type": "brokerage",
        "currency": arguments.currency,
        "portfolioId": arguments.portfolio,
        "taxWrapper": arguments.wrapper,
    }
    made = run_operation(context, operation_of(AREA, "assets.createAccount"), arguments.org, account)
    note(f"made the account {made['id']}")
    asked = ("assets.importTransactions", {"accountId": made["id"], **values})
    return _perform(context, arguments.org, asked, file)


def _perform(
    context: Context, org_id: str, asked: tuple[str, Mapping[str, object]], file: "ReceivedFile | None" = None
) -> Json:
    """What an operation of imports answers, once its run has ended. Raises `Problem`."""
    from gatewayd.importing import OF_ASSETS, OF_BANKING
    from gatewayd.performing.performer import Performer

    operation = next(row for row in (*OF_BANKING, *OF_ASSETS) if row.id == asked[0])
    request = _request(operation, asked[1])

    async def ask(store: "Store", importing: "Importing") -> object:
        performer = Performer(store, _Deps(importing))
        return await performer.perform(operation, operator_of(org_id, context.overrides), request, None, file)

    return _ask(context, org_id, ask)


def _request(operation: "Operation", values: Mapping[str, object]) -> Any:
    """The request of a row; values that are None are left out. Raises `Problem`."""
    import msgspec

    from gatewayd.performing.prepared import prepare

    given = {name: value for name, value in values.items() if value is not None}
    return prepare(operation).decoder.body(msgspec.json.encode(given))


def _ask(context: Context, org_id: str, ask: "Callable[[Store, Importing], Awaitable[object]]") -> Json:
    """What the engine answers on the store of the command. Raises `Problem`, also for an unknown organization."""
    import msgspec

    from gatewayd.contract.wire import encode
    from gatewayd.identity import organizations

    async def perform(store: "Store") -> object:
        await store.read(lambda tx: organizations.get(tx, org_id), org_id)
        return await _with_engine(context, store, ask)

    return msgspec.json.decode(encode(_run(context, perform)), type=Json)


def _run(context: Context, work: "Callable[[Store], Awaitable[object]]") -> object:
    from gatewayd.cli.runner import cause_of

    try:
        return context.run(work)
    except BaseExceptionGroup as group:
        raise cause_of(group) from None


async def _with_engine(
    context: Context, store: "Store", ask: "Callable[[Store, Importing], Awaitable[object]]"
) -> object:
    from gatewayd.http1.log import NoLog
    from gatewayd.importing.engine import open_importing
    from gatewayd.importing.parts import ImportParts
    from gatewayd.statements.child import reader_of

    parts = ImportParts(
        store=store,
        directory=Path(context.config.store.directory),
        read_apart=reader_of(context.environ),
        log=NoLog(),
        max_bytes=context.config.banking.max_import_bytes,
        patience=math.inf,
        source="command_line",
        progress=_Progress() if sys.stderr.isatty() else _quiet,
    )
    async with open_importing(parts) as importing:
        return await ask(store, importing)


class _Progress:
    """Tells on a terminal how many rows have been read."""

    def __init__(self) -> None:
        self._told = 0

    def __call__(self, rows: int) -> None:
        if rows - self._told >= PROGRESS_ROWS:
            self._told = rows
            print(f"\r{rows:,} rows read", end="", file=sys.stderr, flush=True)


def _quiet(rows: int) -> None:
    """Tell nobody."""


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except (OSError, UnicodeError) as error:
        raise CommandError(f"{path} cannot be read: {error}") from None


def _document(run: Json, balance: str) -> Json:
    names = ("format", "rows", "added", "duplicates", "replaced", "ignored", "refused")
    return {"importId": run["id"], "accountId": run["accountId"], **{n: run[n] for n in names}, "balance": balance}


def _ignored(one: Json) -> str:
    rows = "1 row" if one["rows"] == 1 else f"{one['rows']} rows"
    return f"{rows} left out, the first on line {one['firstLine']}: no transaction, but {IGNORED[one['kind']]}"


def _lines(run: Json, balance: str) -> list[str]:
    would = "would be " if run["status"] == "previewed" else ""
    counted = f"{run['added']} {would}added, {run['replaced']} replaced, {run['duplicates']} there already"
    lines = [f"{run['fileName']}, {run['format']}: {counted}, {run['refusedRows']} refused."]
    lines += [f"  {_ignored(one)}" for one in run["ignored"]]
    lines += [f"  line {one['line']}: {one['reason']}" for one in run["refused"]]
    if run["balanced"] is False:
        lines.append("Its balances and its lines do not add up: something is missing in it.")
    lines.append(f"The account holds {run['currency']} {balance}, by what is known of it.")
    if run["status"] == "previewed":
        lines.append(f"Nothing was changed. The preview is {run['id']}.")
    return lines
