"""`gatewayd entity`, `bank-account` and `billing-client`: the ids that other commands ask for."""

from gatewayd.cli import stated_balances, tax_years
from gatewayd.cli.listing import Listed, add_list
from gatewayd.cli.parser import Subparsers, add_group

_ENTITIES = Listed(
    "legal_entities",
    "legalEntity.getLegalEntities",
    [("id", "id"), ("name", "name"), ("type", "type"), ("status", "status")],
    archived=True,
)
_ACCOUNTS = Listed(
    "banking",
    "banking.listAccounts",
    [("id", "id"), ("name", "name"), ("type", "type"), ("currency", "currency"), ("status", "status")],
)
_TRANSACTIONS = Listed(
    "banking",
    "banking.getTransactions",
    [
        ("id", "id"),
        ("date", "date"),
        ("amount", "amount"),
        ("currency", "currency"),
        ("not allocated", "unallocatedAmount"),
        ("description", "description"),
    ],
)
_CLIENTS = Listed(
    "accounting",
    "accounting.listClients",
    [("id", "id"), ("name", "name"), ("email", "email"), ("currency", "currency"), ("status", "status")],
    archived=True,
)


def add_commands(subparsers: Subparsers) -> None:
    """Add the commands."""
    group = add_group(subparsers, "entity", "who is taxed: people, companies, partnerships")
    add_list(group, "list legal entities, newest first", _ENTITIES)
    tax_years.add_to(group)
    group = add_group(subparsers, "bank-account", "bank accounts and their lines")
    add_list(group, "list bank accounts, newest first", _ACCOUNTS)
    command = add_list(group, "list the lines of an account, newest first", _TRANSACTIONS, "transactions")
    command.add_argument("account", metavar="ACCOUNT")
    stated_balances.add_to(group)
    group = add_group(subparsers, "billing-client", "whom an organization invoices; gatewayd client is of OAuth")
    add_list(group, "list billing clients, newest first", _CLIENTS)
