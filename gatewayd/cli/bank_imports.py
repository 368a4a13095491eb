"""`gatewayd import bank`: bank statements, into an account that is there or is made for them."""

import argparse
import sys
from typing import TYPE_CHECKING

from gatewayd.cli.context import CommandError, Context
from gatewayd.cli.import_engine import Json, ask_engine, perform, request_of
from gatewayd.cli.import_files import add_file, document, file_values, lines, refuse_waiting
from gatewayd.cli.output import note, print_result
from gatewayd.cli.parser import Subparsers, add_command
from gatewayd.cli.received_files import received
from gatewayd.cli.run_operation import operation_of

if TYPE_CHECKING:
    from gatewayd.contract.received_file import ReceivedFile
    from gatewayd.importing.engine import Importing
    from gatewayd.store import Store

FLAGS = {"date_format": "--date-order dmy|mdy", "negate": "--spent negative|positive"}
ANSWERS = {
    "date_format": ("dateOrder", {"day": "dmy", "month": "mdy"}),
    "negate": ("spent", {"no": "negative", "yes": "positive"}),
}
"""How the doubts of a file are answered at a terminal."""
FORMATS = ("auto", "ofx", "qif", "camt053", "mt940", "csv")


def add_command_to(group: Subparsers) -> None:
    """Add the command to those of imports."""
    command = add_command(group, "bank", "import a bank statement: OFX, QIF, CAMT, MT940 or CSV", bank, json=True)
    add_file(command, FORMATS, "bank account")
    command.add_argument("--currency", default="GBP", metavar="C", help="of a new account; GBP by default")
    order_help = "of a CSV or QIF that leaves it open: what stands first of day, month and year"
    command.add_argument("--date-order", choices=("dmy", "mdy", "ymd"), help=order_help)
    spent_help = "of a CSV or QIF that leaves it open: how what was spent is written"
    command.add_argument("--spent", choices=("negative", "positive"), help=spent_help)


def bank(arguments: argparse.Namespace, context: Context) -> int:
    from gatewayd.areas.banking import coverage

    answers: Json = {"dateOrder": arguments.date_order, "spent": arguments.spent}
    run = _bring(arguments, context, answers)
    if run["proposal"] is not None and sys.stdin.isatty() and _flags(run):
        arguments.account, arguments.new_account = run["accountId"], None
        run = _bring(arguments, context, answers | _asked(run))
    refuse_waiting(run, _flags(run))
    balance = context.read(lambda tx: str(coverage.balance_now(tx, run["accountId"])), arguments.org)
    print_result(arguments, document(run, balance), lines(run, balance))
    return 0


def _bring(arguments: argparse.Namespace, context: Context, answers: Json) -> Json:
    """The run of a file."""
    values, file = file_values(arguments) | answers, received(arguments.file)
    if arguments.account is None:
        return _into_new_account(arguments, context, values, file)
    asked = ("banking.importStatement", {"accountId": arguments.account, **values})
    return perform(context, arguments.org, asked, file)


def _flags(run: Json) -> list[str]:
    """The flags that answer what a file leaves open; none where there is more that only a mapping says."""
    doubts = [] if run["proposal"] is None else [one["field"] for one in run["proposal"]["doubts"]]
    return [FLAGS[field] for field in doubts] if all(field in FLAGS for field in doubts) else []


def _asked(run: Json) -> Json:
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


def _into_new_account(arguments: argparse.Namespace, context: Context, values: Json, file: "ReceivedFile") -> Json:
    """The import into an account that is made for it, and is there only if the import is. Raises `Problem`."""
    from gatewayd.areas.banking import AREA
    from gatewayd.importing.operations import date_format_of, mapping_of, negate_of
    from gatewayd.importing.runs import Order
    from gatewayd.ledger.period_locks import CLOSING

    order = Order(
        kind="bank",
        file_name=values["fileName"],
        format=None if values["format"] == "auto" else values["format"],
        mapping=mapping_of(values["mapping"]),
        date_format=date_format_of(values["dateOrder"]),
        negate=negate_of(values["spent"]),
        preview=values["preview"],
        overrides_closing=CLOSING in context.overrides,
        new_account=request_of(
            operation_of(AREA, "banking.createAccount"),
            {"name": arguments.new_account, "currency": arguments.currency},
        ),
    )

    async def ask(store: "Store", importing: "Importing") -> object:
        from gatewayd.ledger.import_runs import shown

        return shown(await importing.import_file(arguments.org, order, file))

    run = ask_engine(context, arguments.org, ask)
    note(f"made the bank account {run['accountId']}")
    return run
