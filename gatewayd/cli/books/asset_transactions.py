"""`gatewayd asset transaction`: what happens in accounts with assets."""

import argparse
from typing import Any

from gatewayd.cli.context import Context
from gatewayd.cli.output import note, print_list, print_result
from gatewayd.cli.parser import Subparsers, add_command, add_group, whole_number
from gatewayd.cli.run_operation import operation_of, run_operation, walk
from gatewayd.cli.time_arguments import civil_date

Json = dict[str, Any]
LIST_MAX = 1_000_000
TYPES = (
    *("buy", "sell", "transfer_in", "transfer_out", "deposit", "withdrawal", "dividend", "interest", "distribution"),
    *("notional_distribution", "equalisation", "return_of_capital", "fee", "tax", "split", "bonus_issue"),
    *("rights_issue", "spin_off", "merger", "stock_dividend", "excess_reportable_income", "opening_position"),
)
_PAGE = 500
_OPTIONS = {
    "instrument": "instrumentId",
    "quantity": "quantity",
    "price": "unitPrice",
    "amount": "grossAmount",
    "fees": "fees",
    "taxes": "taxes",
    "currency": "currency",
    "fx_rate": "fxRate",
    "settled": "settlementDate",
    "ex_date": "exDate",
    "ratio": "splitRatio",
    "from_instrument": "fromInstrumentId",
    "from_quantity": "fromQuantity",
    "cost_share": "costShare",
    "remaining_value": "remainingValue",
    "small_distribution": "smallDistribution",
    "taxed_as_dividend": "taxedAsDividend",
    "counter_account": "counterAccountId",
    "external_id": "externalId",
    "notes": "notes",
}
"""Options, and the fields that they are on the wire."""
_NAMED_BY = {
    "isin": "isin",
    "sedol": "sedol",
    "symbol": "symbol",
    "mic": "exchangeMic",
    "instrument_name": "name",
}


def add_commands(subparsers: Subparsers) -> None:
    """Add the commands of transactions."""
    group = add_group(subparsers, "transaction", "trades, income, and what else happens in accounts")
    _add_add(group)
    command = add_command(group, "list", "list transactions, latest trade first", list_transactions, json=True)
    command.add_argument("--org", required=True, metavar="ID")
    command.add_argument("--account", metavar="ID")
    command.add_argument("--portfolio", metavar="ID")
    command.add_argument("--instrument", metavar="ID")
    command.add_argument("--type", action="append", choices=(*TYPES, "reversal"), help="may be given again")
    command.add_argument("--from", dest="from_date", metavar="DATE", type=civil_date, help="YYYY-MM-DD")
    command.add_argument("--to", dest="to_date", metavar="DATE", type=civil_date, help="YYYY-MM-DD, inclusive")
    command.add_argument("--reversed", action="store_true", help="with what was reversed")
    command.add_argument("--limit", type=whole_number(1, LIST_MAX), default=50, metavar="N")
    summary = "reverse a transaction that was wrong; both halves where it is a transfer"
    command = add_command(group, "reverse", summary, reverse, json=True)
    command.add_argument("id", metavar="ID")
    command.add_argument("--notes", metavar="N", help="why")


def _add_add(group: Subparsers) -> None:
    command = add_command(group, "add", "enter a transaction", add, json=True)
    command.add_argument("account", metavar="ACCOUNT")
    command.add_argument("type", choices=TYPES, metavar="TYPE", help=f"one of {', '.join(TYPES)}")
    command.add_argument("--date", required=True, metavar="D", type=civil_date, help="of the trade; YYYY-MM-DD")
    command.add_argument("--instrument", metavar="ID", help="or what identifies it:")
    command.add_argument("--isin", metavar="I")
    command.add_argument("--sedol", metavar="S")
    command.add_argument("--symbol", metavar="S", help="the ticker")
    command.add_argument("--mic", metavar="M", help="the exchange of the ticker, such as XLON")
    command.add_argument("--instrument-name", metavar="N", help="of one that is new, or alone")
    command.add_argument("--quantity", metavar="Q", help="a decimal such as 12.5")
    command.add_argument("--price", metavar="P", help="of one")
    command.add_argument("--amount", metavar="A", help="before costs; by default quantity x price")
    command.add_argument("--fees", metavar="A")
    command.add_argument("--taxes", metavar="A", help="stamp duty, levies, and what was withheld")
    command.add_argument("--currency", metavar="C", help="by default the instrument's, else the account's")
    command.add_argument("--fx-rate", metavar="R", help="the portfolio's currency for one of the amounts'")
    command.add_argument("--settled", metavar="D", type=civil_date)
    command.add_argument("--ex-date", metavar="D", type=civil_date)
    command.add_argument("--ratio", metavar="NEW:OLD", type=_ratio, help="of a split: 2:1 where each becomes two")
    command.add_argument("--from-instrument", metavar="ID", help="what a spin-off or merger comes out of")
    command.add_argument("--from-quantity", metavar="Q", help="how much of it a merger takes; all by default")
    command.add_argument("--cost-share", metavar="S", help="what a spin-off takes of its cost, 0 to 1")
    text = "what the shares are worth after a return of capital, the new ones after a merger with cash"
    command.add_argument("--remaining-value", metavar="A", help=text)
    text = "whether such money is small and comes off the cost; by default by its amount"
    command.add_argument("--small-distribution", type=_truth, metavar="yes|no", help=text)
    text = "whether a stock dividend is; by default that of a company in the United Kingdom"
    command.add_argument("--taxed-as-dividend", type=_truth, metavar="yes|no", help=text)
    command.add_argument("--counter-account", metavar="ID", help="the other account of a transfer")
    command.add_argument("--spouse", action="store_true", help="it goes to, or comes from, the spouse")
    command.add_argument("--external-id", metavar="ID", help="your own identifier")
    command.add_argument("--notes", metavar="N")


def add(arguments: argparse.Namespace, context: Context) -> int:
    from gatewayd.areas.assets import AREA
    from gatewayd.areas.assets.books.accounts import ACCOUNTS

    org_id = context.read(lambda tx: ACCOUNTS.organization_of(tx, arguments.account))
    named = {name: getattr(arguments, option) for option, name in _NAMED_BY.items()}
    instrument = {name: value for name, value in named.items() if value is not None}
    values = {name: getattr(arguments, option) for option, name in _OPTIONS.items()}
    values |= {"accountId": arguments.account, "type": arguments.type, "tradeDate": arguments.date}
    values |= {"instrument": instrument or None, "spouseTransfer": arguments.spouse}
    made = run_operation(context, operation_of(AREA, "assets.createTransaction"), org_id, values)
    for warning in made["warnings"]:
        note(warning["message"])
    print_result(arguments, made, [f"Entered {_transaction_text(made)}: {made['id']}"])
    return 0


def list_transactions(arguments: argparse.Namespace, context: Context) -> int:
    from gatewayd.areas.assets import AREA

    values = {
        "accountId": arguments.account,
        "portfolioId": arguments.portfolio,
        "instrumentId": arguments.instrument,
        "type": arguments.type,
        "fromDate": arguments.from_date,
        "toDate": arguments.to_date,
        "includeReversed": arguments.reversed,
    }
    operation = operation_of(AREA, "assets.listTransactions")
    transactions = walk(context, arguments.org, operation, values, (min(_PAGE, arguments.limit), arguments.limit))
    names = ("id", "tradeDate", "type", "instrumentId", "quantity", "grossAmount", "netAmount", "currency")
    columns = ("id", "date", "type", "instrument", "quantity", "gross", "cash", "currency")
    cells = [tuple("" if row[name] is None else str(row[name]) for name in names) for row in transactions]
    print_list(arguments, transactions, columns, cells)
    return 0


def reverse(arguments: argparse.Namespace, context: Context) -> int:
    from gatewayd.areas.assets import AREA
    from gatewayd.areas.assets.books.transactions import TRANSACTIONS

    org_id = context.read(lambda tx: TRANSACTIONS.organization_of(tx, arguments.id))
    row = context.read(lambda tx: TRANSACTIONS.get(tx, arguments.id), org_id)
    values = {
        "accountId": row.account_id,
        "type": "reversal",
        "tradeDate": row.trade_date,
        "reversesTransactionId": row.id,
        "notes": arguments.notes,
    }
    made = run_operation(context, operation_of(AREA, "assets.createTransaction"), org_id, values)
    print_result(arguments, made, [f"Reversed {_transaction_text({**made, 'type': row.type})}: {made['id']}"])
    return 0


def _transaction_text(row: Json) -> str:
    quantity = "" if row["quantity"] is None else f" of {row['quantity']}"
    return f"{row['type']}{quantity} on {row['tradeDate']}, {row['currency']} {row['netAmount']} in cash"


def _truth(text: str) -> bool:
    """The type of an argument that is yes or no."""
    if text not in ("yes", "no"):
        raise argparse.ArgumentTypeError(f"{text!r} is neither yes nor no")
    return text == "yes"


def _ratio(text: str) -> dict[str, int]:
    """The type of an argument that is a ratio."""
    new, _, old = text.partition(":")
    if not (new.isascii() and new.isdecimal() and old.isascii() and old.isdecimal()):
        raise argparse.ArgumentTypeError(f"{text!r} is not a ratio such as 2:1")
    return {"numerator": int(new), "denominator": int(old)}
