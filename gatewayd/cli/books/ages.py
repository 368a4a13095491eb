"""What lists of who owes what, and who is owed what, have in common: one row for each, and the totals."""

import argparse
from typing import Any

from gatewayd.cli.output import print_document, print_list
from gatewayd.cli.time_arguments import civil_date

Json = dict[str, Any]


def add_filters(command: argparse.ArgumentParser) -> None:
    """The options of both; `filters_of` reads them."""
    command.add_argument("--org", required=True, metavar="ID")
    command.add_argument("--as-of", metavar="D", type=civil_date, help="YYYY-MM-DD, today by default")
    command.add_argument("--currency", metavar="C", help="what is owed in this currency alone")
    command.add_argument("--entity", metavar="ID", help="what is owed to or by this legal entity alone")


def filters_of(arguments: argparse.Namespace) -> Json:
    """What was given of them, as the operations take it."""
    return {"asOfDate": arguments.as_of, "currency": arguments.currency, "legalEntityId": arguments.entity}


def tell_ages(arguments: argparse.Namespace, answer: Json, who: tuple[str, str, str]) -> int:
    """Print an answer. `who` is the heading of the first column, the list, and its member that names somebody."""
    if arguments.json:
        print_document(answer)
        return 0
    heading, name_of_list, name = who
    bands = ["not due", *(_days(band) for band in answer["bands"][1:])]
    rows = [(each[name], *_cells(each)) for each in answer[name_of_list]]
    rows += [("all", *_cells(each)) for each in answer["totals"]]
    print_list(arguments, [], (heading, "currency", *bands, "credit", "balance"), rows)
    return 0


def _days(band: Json) -> str:
    return f"{band['fromDays']}+" if band["toDays"] is None else f"{band['fromDays']}-{band['toDays']}"


def _cells(each: Json) -> tuple[str, ...]:
    return (each["currency"], *each["amounts"], each["credit"], each["balance"])
