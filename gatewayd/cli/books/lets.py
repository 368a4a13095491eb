"""`gatewayd property`, `gatewayd tenancy` and `gatewayd rent`: what is let, to whom, and the rents of it."""

import argparse
from decimal import Decimal

from gatewayd.cli.context import Context
from gatewayd.cli.listing import ListColumns, ListRequest, print_found
from gatewayd.cli.output import print_result
from gatewayd.cli.parser import Command, Subparsers, add_command, add_group, add_override, whole_number
from gatewayd.cli.run_operation import operation_of, run_operation
from gatewayd.cli.time_arguments import civil_date

LIST_MAX = 100_000
METHODS = ("cash", "cheque", "card", "bank_transfer", "other")
PROPERTY_STATES = ("active", "under_offer", "sold", "archived")
RENT_STATES = ("paid", "part_paid", "due", "late", "upcoming")
TENANCY_STATES = ("upcoming", "active", "notice", "ended", "cancelled")


def add_commands(subparsers: Subparsers) -> None:
    """Add the commands of landlords."""
    group = add_group(subparsers, "property", "what is let")
    command = _add_list(group, "list properties, newest first", list_properties)
    command.add_argument("--business", metavar="ID", help="of one business")
    command.add_argument("--status", choices=PROPERTY_STATES, help="all but archived ones by default")
    group = add_group(subparsers, "tenancy", "to whom it is let")
    command = _add_list(group, "list tenancies, newest first", list_tenancies)
    command.add_argument("--property", metavar="ID", help="of one property")
    command.add_argument("--status", choices=TENANCY_STATES, help="of today")
    _add_rents(subparsers)


def _add_list(group: Subparsers, summary: str, run: Command, name: str = "list") -> argparse.ArgumentParser:
    command = add_command(group, name, summary, run, json=True)
    command.add_argument("--org", required=True, metavar="ID")
    command.add_argument("--limit", type=whole_number(1, LIST_MAX), default=50, metavar="N")
    return command


def _add_rents(subparsers: Subparsers) -> None:
    group = add_group(subparsers, "rent", "rents that are due, and those that came")
    command = _add_list(group, "list rents with what has come for each, by property and day", list_due, "due")
    of = command.add_mutually_exclusive_group(required=True)
    of.add_argument("--tenancy", metavar="ID")
    of.add_argument("--property", metavar="ID")
    of.add_argument("--business", metavar="ID")
    command.add_argument("--status", action="append", choices=RENT_STATES, help="may be given again")
    command.add_argument("--from", dest="from_date", metavar="DATE", type=civil_date, help="YYYY-MM-DD")
    command.add_argument("--to", dest="to_date", metavar="DATE", type=civil_date, help="YYYY-MM-DD, inclusive")
    command = add_command(group, "record", "record rent that no bank transaction shows", record, json=True)
    command.add_argument("tenancy", metavar="TENANCY")
    command.add_argument("amount", metavar="AMOUNT", help="in the tenancy's currency, such as 950.00")
    command.add_argument("--date", metavar="D", type=civil_date, help="when it came; YYYY-MM-DD, today by default")
    command.add_argument("--method", choices=METHODS, default="cash")
    command.add_argument("--description", metavar="T", help="by default how it came")
    command.add_argument("--external-id", metavar="ID", help="your own identifier")
    add_override(command)


def list_properties(arguments: argparse.Namespace, context: Context) -> int:
    values = {"businessId": arguments.business, "status": arguments.status}
    names = ("id", "name", "type", "use", "jurisdiction", "status")
    _list(arguments, context, ("landlord.listProperties", values), (names, names))
    return 0


def list_tenancies(arguments: argparse.Namespace, context: Context) -> int:
    values = {"propertyId": arguments.property, "status": arguments.status}
    names = (
        *("id", "propertyId", "status", "startDate", "endDate"),
        *("rentAmount", "rentFrequency", "currency", "arrears"),
    )
    columns = ("id", "property", "status", "start", "end", "rent", "frequency", "currency", "arrears")
    _list(arguments, context, ("landlord.listTenancies", values), (columns, names))
    return 0


def list_due(arguments: argparse.Namespace, context: Context) -> int:
    values = {
        "tenancyId": arguments.tenancy,
        "propertyId": arguments.property,
        "businessId": arguments.business,
        "status": arguments.status,
        "fromDate": arguments.from_date,
        "toDate": arguments.to_date,
    }
    names = ("tenancyId", "dueDate", "amount", "received", "outstanding", "currency", "status", "daysLate")
    columns = ("tenancy", "due", "amount", "received", "outstanding", "currency", "status", "days late")
    _list(arguments, context, ("landlord.listRentsDue", values), (columns, names))
    return 0


def record(arguments: argparse.Namespace, context: Context) -> int:
    from gatewayd.areas.landlord import AREA
    from gatewayd.areas.landlord.register.tenancies import TENANCIES

    org_id = context.read(lambda tx: TENANCIES.organization_of(tx, arguments.tenancy))
    values = {
        "tenancyId": arguments.tenancy,
        "amount": arguments.amount,
        "date": arguments.date,
        "method": arguments.method,
        "description": arguments.description,
        "externalId": arguments.external_id,
    }
    made = run_operation(context, operation_of(AREA, "landlord.recordRent"), org_id, values)
    entered, currency = made["allocation"], made["currency"]
    owed = f"{made['arrears']} is owed" if not Decimal(made["credit"]) else f"{made['credit']} was paid ahead"
    lines = [f"Recorded {entered['amount']} {currency} of {entered['date']}; {owed}: {entered['id']}"]
    print_result(arguments, made, lines)
    return 0


def _list(arguments: argparse.Namespace, context: Context, request: ListRequest, columns: ListColumns) -> None:
    from gatewayd.areas.landlord import AREA

    print_found(arguments, context, AREA, (request, columns))
