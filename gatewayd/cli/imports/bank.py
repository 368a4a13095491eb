"""`gatewayd import bank`: bank statements, into an account that is there or is made for them."""

import argparse
import sys
from typing import TYPE_CHECKING, NamedTuple

from gatewayd.cli.context import CommandError, Context
from gatewayd.cli.imports.engine import Json, ask_engine, perform, received, request_of
from gatewayd.cli.imports.files import add_file, document, file_values, lines, refuse_waiting
from gatewayd.cli.output import note, print_result
from gatewayd.cli.parser import Subparsers, add_command
from gatewayd.cli.run_operation import operation_of
from gatewayd.cli.time_arguments import civil_date

if TYPE_CHECKING:
    from gatewayd.contract.received_file import ReceivedFile
    from gatewayd.importing.engine import Importing
    from gatewayd.importing.runs import Order
    from gatewayd.store import Store

FLAGS = {"dateFormat": "--date-order dmy|mdy", "negate": "--spent negative|positive"}
ANSWERS = {
    "dateFormat": ("dateOrder", {"day": "dmy", "month": "mdy"}),
    "negate": ("spent", {"no": "negative", "yes": "positive"}),
}
"""How the doubts of a file are answered at a terminal."""
FORMATS = ("auto", "ofx", "qif", "camt053", "mt940", "csv")


class Target(NamedTuple):
    """Which account a file goes into: one that is there, or a new one of this name; and which of the file it is."""

    account: str | None
    new_account: str | None
    of_account: str | None
    currency: str


def add_command_to(group: Subparsers) -> None:
    """Add the command to those of imports."""
    command = add_command(group, "bank", "import a bank statement: OFX, QIF, CAMT, MT940 or CSV", bank, json=True)
    account = add_file(command, FORMATS, "bank account")
    account.add_argument(
        "--all", action="store_true", help="each account of the file into the one that has it, else into a new one"
    )
    of_help = "which account of the file it is: its name or number there"
    command.add_argument("--of-account", metavar="NAME", help=of_help)
    command.add_argument("--currency", default="GBP", metavar="C", help="of a new account; GBP by default")
    command.add_argument("--sort-code", metavar="N", help="of a new account, where the file does not say it")
    command.add_argument("--account-number", metavar="N", help="of a new account, where the file does not say it")
    for flag, name, which in (("--from", "from_date", "first"), ("--to", "to_date", "last")):
        day_help = f"the {which} day that the file is of"
        command.add_argument(flag, dest=name, metavar="DATE", type=civil_date, help=day_help)
    order_help = "of a CSV or QIF that leaves it open: what stands first of day, month and year"
    command.add_argument("--date-order", choices=("dmy", "mdy", "ymd"), help=order_help)
    spent_help = "of a CSV or QIF that leaves it open: how what was spent is written"
    command.add_argument("--spent", choices=("negative", "positive"), help=spent_help)


def bank(arguments: argparse.Namespace, context: Context) -> int:
    numbers = (arguments.sort_code, arguments.account_number)
    if arguments.new_account is None and numbers != (None, None):
        raise CommandError("--sort-code and --account-number are of a new account: give --new-account")
    if not arguments.all:
        named = (arguments.account, arguments.new_account, arguments.of_account, arguments.currency)
        told = [_import_into(arguments, context, Target(*named))]
        print_result(arguments, told[0][0], told[0][1])
        return 0
    told = [_import_into(arguments, context, target) for target in _targets(arguments, context)]
    print_result(arguments, {"imports": [run for run, _ in told]}, [line for _, lines in told for line in lines])
    return 0


def _import_into(arguments: argparse.Namespace, context: Context, target: Target) -> tuple[Json, list[str]]:
    """Import into one account: what is printed as JSON, and for people."""
    from gatewayd.areas.banking.statements import coverage

    answers: Json = {"dateOrder": arguments.date_order, "spent": arguments.spent}
    run = _bring(arguments, context, target, answers)
    if run["proposal"] is not None and sys.stdin.isatty() and _flags(run):
        target = target._replace(account=run["accountId"], new_account=None)
        run = _bring(arguments, context, target, answers | _answered_at_terminal(run))
    refuse_waiting(run, _flags(run))
    balance = context.read(lambda tx: str(coverage.balance_now(tx, run["accountId"])), arguments.org)
    return document(run, balance), lines(run, balance)


def _bring(arguments: argparse.Namespace, context: Context, target: Target, answers: Json) -> Json:
    """The run of a file."""
    said = {"ofAccount": target.of_account, "fromDate": arguments.from_date, "toDate": arguments.to_date}
    values, file = file_values(arguments) | answers | said, received(arguments.file)
    if target.account is None:
        return _into_new_account(arguments, context, target, values, file)
    command = ("banking.importStatement", {"accountId": target.account, **values})
    return perform(context, arguments.org, command, file)


def _flags(run: Json) -> list[str]:
    """The flags that answer what a file leaves open; none where there is more that only a mapping says."""
    doubts = [] if run["proposal"] is None else [doubt["field"] for doubt in run["proposal"]["doubts"]]
    return [FLAGS[field] for field in doubts] if all(field in FLAGS for field in doubts) else []


def _answered_at_terminal(run: Json) -> Json:
    """What a person answers at the terminal. Raises `CommandError` for what is no answer."""
    answers: Json = {}
    for doubt in run["proposal"]["doubts"]:
        name, said = ANSWERS[doubt["field"]]
        note(doubt["question"])
        print(f"{' or '.join(said)}: ", end="", file=sys.stderr, flush=True)
        answer = sys.stdin.readline().strip().casefold()
        if answer not in said:
            raise CommandError(f"{answer!r} is no answer.")
        answers[name] = said[answer]
    return answers


def _order(context: Context, values: Json) -> "Order":
    """What the engine is told of a file; its account is not."""
    from gatewayd.areas.banking.statements.kept_statements import SaidRange
    from gatewayd.importing.operations import date_format_of, mapping_of, negate_of
    from gatewayd.importing.runs import Order
    from gatewayd.ledger.calendar.period_locks import CLOSING

    return Order(
        kind="bank",
        file_name=values["fileName"],
        format=None if values["format"] == "auto" else values["format"],
        mapping=mapping_of(values["mapping"]),
        date_format=date_format_of(values["dateOrder"]),
        negate=negate_of(values["spent"]),
        of_account=values["ofAccount"],
        covers=SaidRange(values.get("fromDate"), values.get("toDate")),
        preview=values["preview"],
        overrides_closing=CLOSING in context.overrides,
    )


def _targets(arguments: argparse.Namespace, context: Context) -> list[Target]:
    """Where each account of the file goes. Raises `Problem` for a file that does not say whose it is."""
    answers = {"dateOrder": arguments.date_order, "spent": arguments.spent, "ofAccount": None}
    order, file = _order(context, file_values(arguments) | answers), received(arguments.file)

    async def ask(store: "Store", importing: "Importing") -> object:
        accounts = await importing.accounts_in(arguments.org, order, file, arguments.currency)
        return {"accounts": [account._asdict() for account in accounts]}

    return [
        Target(
            account=account["account_id"],
            new_account=None if account["account_id"] else account["name"],
            of_account=account["wanted"],
            currency=account["currency"] or arguments.currency,
        )
        for account in ask_engine(context, arguments.org, ask)["accounts"]
    ]


def _into_new_account(
    arguments: argparse.Namespace, context: Context, target: Target, values: Json, file: "ReceivedFile"
) -> Json:
    """The import into an account that is made for it, and is there only if the import is. Raises `Problem`."""
    import dataclasses

    from gatewayd.areas.banking import AREA

    account = {
        "name": target.new_account,
        "currency": target.currency,
        "sortCode": arguments.sort_code,
        "accountNumber": arguments.account_number,
    }
    request = request_of(operation_of(AREA, "banking.createAccount"), account)
    order = dataclasses.replace(_order(context, values), new_account=request)

    async def ask(store: "Store", importing: "Importing") -> object:
        from gatewayd.ledger.imports.import_runs import shown

        return shown(await importing.import_file(arguments.org, order, file))

    run = ask_engine(context, arguments.org, ask)
    if run["firstImportedAt"] is None:
        note(f"made the bank account {run['accountId']}")
    return run
