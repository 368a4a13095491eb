"""`gatewayd lead`, `opportunity` and `event`: what happens in the CRM, written with its events in one transaction."""

import argparse

from gatewayd.cli.context import CommandError, Context
from gatewayd.cli.listing import Listed, add_list
from gatewayd.cli.output import print_result
from gatewayd.cli.parser import Subparsers, add_command, add_group
from gatewayd.cli.run_operation import operation_of, run_operation

_LEADS = Listed(
    "crm",
    "crm.listLeads",
    [("id", "id"), ("name", "name"), ("source", "source"), ("email", "email"), ("status", "status")],
)
_OPPORTUNITIES = Listed(
    "crm",
    "crm.listOpportunities",
    [("id", "id"), ("name", "name"), ("stage", "stage"), ("amount", "amount"), ("currency", "currency")],
)


def add_commands(subparsers: Subparsers) -> None:
    """Add the commands of the CRM and of events."""
    group = add_group(subparsers, "lead", "people who may become clients")
    command = add_command(group, "create", "make a lead", create_lead, json=True)
    command.add_argument("--org", required=True, metavar="ID")
    command.add_argument("--source", required=True, help="where the lead came from")
    command.add_argument("--name")
    command.add_argument("--email")
    command.add_argument("--status", default="new", help="new, contacted, qualified, disqualified or converted")
    add_list(group, "list leads, newest first", _LEADS)
    group = add_group(subparsers, "opportunity", "business that may be won")
    command = add_command(group, "create", "make an opportunity", create_opportunity, json=True)
    command.add_argument("--org", required=True, metavar="ID")
    command.add_argument("--name", required=True)
    command.add_argument("--lead", metavar="ID", help="the lead it is about")
    command.add_argument("--pipeline", metavar="ID")
    command.add_argument("--stage")
    command.add_argument("--amount", help="a decimal such as 1234.50")
    command.add_argument("--currency")
    command = add_command(group, "move", "move an opportunity to another stage", move_opportunity, json=True)
    command.add_argument("id", metavar="ID")
    command.add_argument("--stage", required=True)
    add_list(group, "list opportunities, newest first", _OPPORTUNITIES)
    group = add_group(subparsers, "event", "what webhook subscriptions are told")
    command = add_command(group, "emit", "record an event by hand", emit_event, json=True)
    command.add_argument("kind", metavar="KIND", help="such as lead.created")
    command.add_argument("--org", required=True, metavar="ID")
    command.add_argument("--data", required=True, metavar="JSON", help="the event's data, a JSON object")


def create_lead(arguments: argparse.Namespace, context: Context) -> int:
    from gatewayd.areas.crm import AREA

    values = {name: getattr(arguments, name) for name in ("source", "name", "email", "status")}
    lead = run_operation(context, operation_of(AREA, "crm.createLead"), arguments.org, values)
    print_result(arguments, lead, [f"Made the lead {lead['name'] or lead['source']}: {lead['id']}"])
    return 0


def create_opportunity(arguments: argparse.Namespace, context: Context) -> int:
    from gatewayd.areas.crm import AREA

    values = {name: getattr(arguments, name) for name in ("name", "stage", "amount", "currency")}
    values |= {"leadId": arguments.lead, "pipelineId": arguments.pipeline}
    made = run_operation(context, operation_of(AREA, "crm.createOpportunity"), arguments.org, values)
    print_result(arguments, made, [f"Made the opportunity {made['name']}, in stage {made['stage']}: {made['id']}"])
    return 0


def move_opportunity(arguments: argparse.Namespace, context: Context) -> int:
    from gatewayd.areas.crm import AREA, opportunities

    org_id = context.read(lambda tx: opportunities.OPPORTUNITIES.organization_of(tx, arguments.id))
    values = {"id": arguments.id, "stage": arguments.stage}
    moved = run_operation(context, operation_of(AREA, "crm.moveOpportunity"), org_id, values)
    print_result(arguments, moved, [f"{moved['name']} is in stage {moved['stage']}."])
    return 0


def emit_event(arguments: argparse.Namespace, context: Context) -> int:
    import msgspec

    from gatewayd import events
    from gatewayd.identity.people import organizations
    from gatewayd.store import WriteTx

    try:
        data = msgspec.json.decode(arguments.data)
    except msgspec.DecodeError as error:
        raise CommandError(f"--data is not JSON: {error}", 2) from None

    def work(tx: WriteTx) -> str:
        organizations.get(tx, arguments.org)
        return events.append(tx, arguments.kind, data)

    event_id = context.write(work, arguments.org)
    document = {"id": event_id, "event": arguments.kind}
    print_result(arguments, document, [f"Recorded the event {arguments.kind}: {event_id}"])
    return 0
