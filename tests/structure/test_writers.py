"""Who writes what: operations by one path from every door, and the rows of a table by one room."""

import ast
import importlib
from collections.abc import Iterator

from gatewayd.store import StagedRows, Table
from tests.structure.sources import PACKAGE, Source, sources
from tests.structure.test_floors import dotted_name, room_of
from tests.structure.test_sql import CONSTANTS, Constant, parsed, written_table

SOURCES = sources()

HANDLERS_RUN = {
    "gatewayd/performing/holding.py": "reads, of whoever is held to legal entities and days",
    "gatewayd/performing/performer.py": "every operation, from whichever door",
    "gatewayd/cli/demo/firm.py": "the firm of the demo is made in one transaction, whole or not at all",
}
"""Files that call the handler of a row, with their reason."""

PAST_PERFORMING = {
    "gatewayd/console/people/account.py": "a person's own password, passkeys and sessions",
    "gatewayd/console/administration/oauth_clients.py": "apps of the instance that its operator registers",
    "gatewayd/console/administration/organizations.py": "what becomes of one, by who may belong to none",
    "gatewayd/console/administration/people.py": "what a person can open",
    "gatewayd/console/people/applications.py": "an app that one connected, whose end needs no admin",
    "gatewayd/console/browser.py": "when a session was last used",
    "gatewayd/console/people/consent.py": "what a person allows an app",
    "gatewayd/console/people/forgotten.py": "a link for a new password, and its mail",
    "gatewayd/console/administration/jobs.py": "a mail that was given up, to be sent again",
    "gatewayd/console/people/unsubscribing.py": "that somebody wants no mail of deadlines",
    "gatewayd/console/people/invitations.py": "an account that is made by a link, and a membership",
    "gatewayd/console/people/inviting.py": "invitations",
    "gatewayd/console/developers/keys.py": "keys",
    "gatewayd/console/people/links.py": "a password that is set by a link",
    "gatewayd/console/people/members.py": "roles, and the end of memberships",
    "gatewayd/console/developers/open_access.py": "many ends as one act, in one transaction",
    "gatewayd/console/people/second_factor.py": "a person's own second factor",
    "gatewayd/console/people/sign_in.py": "a session",
    "gatewayd/console/people/sign_out.py": "its end",
    "gatewayd/console/books/tax_access.py": "what is asked for of taxes, and the end of a connection",
    "gatewayd/console/books/tax_connection.py": "a connection with the tax authority",
    "gatewayd/console/administration/tax_decisions.py": "what an administrator of the instance decides on taxes",
    "gatewayd/cli/books/documents.py": "what is queued for the index again: it is derived",
    "gatewayd/cli/books/invoices.py": "that an invoice went out: there is no operation for it",
    "gatewayd/cli/demo/tax.py": "what an administrator of the instance decides on taxes",
    "gatewayd/cli/demo/walkthrough.py": "the firm of the demo",
    "gatewayd/cli/events/crm.py": "an event by hand: nothing of the books changes with it",
    "gatewayd/cli/events/listen.py": "that somebody listens, so that kinds are recorded",
    "gatewayd/cli/instance/clock.py": "that the clock is right",
    "gatewayd/cli/instance/files.py": "what the bucket of documents is called, before the first is sent",
    "gatewayd/cli/instance/init.py": "the first organization and its owner",
    "gatewayd/cli/instance/instance_key.py": "secrets that cannot be opened any more",
    "gatewayd/cli/instance/verified.py": "holdings and sums that are mended: they are derived",
    "gatewayd/cli/instance/mail.py": "a mail that waits once more",
    "gatewayd/cli/people/keys.py": "keys",
    "gatewayd/cli/people/members.py": "members",
    "gatewayd/cli/people/oauth_clients.py": "apps of the instance",
    "gatewayd/cli/people/own_oauth_clients.py": "apps of the instance that its operator registers",
    "gatewayd/cli/people/organizations.py": "a new organization: all that follows in its life is an operation",
    "gatewayd/cli/people/user_access.py": "what a person can open",
    "gatewayd/cli/people/users.py": "people",
    "gatewayd/cli/tax/command.py": "what the operator decides on taxes, and connections",
}
"""Pages and commands that open a write of their own, and what they write there: each no operation."""

OPENS_WRITES = frozenset({"write", "write_behind"})
OPENERS = frozenset({"store", "_store", "context"})
"""What a write is opened on, by the last of its names. `cli/context.py` opens them for the commands."""

ROOMS = {
    "allocation_rules": {"ledger": "a rule that is learned", "areas.banking": "one that a person changes"},
    "bank_accounts": {"areas.banking": "accounts", "importing": "what a statement says of them"},
    "bank_transactions": {"areas.banking": "bank lines", "ledger": "how much of one is allocated"},
    "deliveries": {"events": "new ones, with their event", "webhooks": "their attempts, and their end"},
    "events": {"events": "new ones", "webhooks": "their end, once nobody may ask for them"},
    "import_runs": {"ledger": "runs as rows", "importing": "how far one has come"},
    "obligations": {"ledger": "what the calendar says", "areas.periods": "what a person says"},
    "periods": {"ledger": "what the calendar says", "areas.periods": "closing and opening them again"},
    "vault_documents": {"areas.vault": "documents", "parsing": "what was read in one, and its picture"},
    "vault_links": {"areas.vault": "what becomes of a link", "vault_files": "a new one, once its password is hashed"},
}
"""Tables whose rows two rooms write, and what each of them writes. The SQL of each is the lower one's, or in `WRITERS`
of `test_sql.py`."""

WRITING_METHODS = frozenset({"insert", "update", "save", "touch", "reset", "forget"})


def handler_calls(source: Source) -> Iterator[str]:
    """Where the handler of a row is called."""
    for node in source.nodes:
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr == "handler"
            and ast.unparse(node.func.value).endswith("operation")
        ):
            yield source.at(node)


def opened_writes(source: Source) -> Iterator[str]:
    """Where a write is opened on the store, or on what a command works with."""
    for node in source.nodes:
        if isinstance(node, ast.Attribute) and node.attr in OPENS_WRITES:
            owner = node.value
            name = owner.id if isinstance(owner, ast.Name) else owner.attr if isinstance(owner, ast.Attribute) else ""
            if name in OPENERS:
                yield source.at(node)


def tables_of(value: Table | StagedRows) -> set[str]:
    """The names of the tables that its statements write."""
    found = (written_table(parsed(Constant("", use, sql))) for use, sql in value.statements())
    return {table for table in found if table is not None}


def written_rows(source: Source) -> Iterator[str]:
    """The tables that a file writes rows of: by its own SQL or by that of a `Table`, whoever's."""
    names = vars(importlib.import_module(dotted_name(source)))
    for node in source.nodes:
        if not isinstance(node, ast.Attribute) or node.attr not in WRITING_METHODS:
            continue
        owner, _, attribute = ast.unparse(node.value).partition(".")
        value = names.get(owner)
        if attribute:
            value = getattr(value, attribute, None)
        if isinstance(value, Table | StagedRows):
            yield from tables_of(value)


def rooms_by_table() -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for constant in CONSTANTS:
        table = written_table(parsed(constant))
        if table is not None:
            found.setdefault(table, set()).add(room_of(constant.module.removesuffix(".py").replace("/", ".")))
    for source in SOURCES:
        if source.path.name != "__main__.py":
            for table in written_rows(source):
                found.setdefault(table, set()).add(room_of(dotted_name(source)))
    return found


def test_a_handler_is_run_by_one_path() -> None:
    assert {source.name for source in SOURCES if list(handler_calls(source))} == HANDLERS_RUN.keys()


def test_pages_and_commands_write_past_it_what_is_no_operation() -> None:
    asked = [source for source in SOURCES if source.name.startswith(("gatewayd/console/", "gatewayd/cli/"))]
    found = {source.name for source in asked if list(opened_writes(source))}
    assert found - {"gatewayd/cli/context.py"} == PAST_PERFORMING.keys()


def test_rows_of_a_table_are_written_by_one_room() -> None:
    found = rooms_by_table()
    assert len(found) > 100
    assert {table: rooms for table, rooms in found.items() if len(rooms) > 1} == {
        table: rooms.keys() for table, rooms in ROOMS.items()
    }


# -- the tests' own eyes


def test_they_are_seen() -> None:
    text = (
        "def f(self, context, tx, operation):\n"
        "    self._parts.store.write(g)\n"
        "    work = context.write\n"
        "    file.write(b'')\n"
        "    operation.handler(tx)\n"
        "    row.operation.handler(tx)\n"
        "    endpoint.handler(tx)\n"
    )
    written = Source(PACKAGE / "x.py", "gatewayd/x.py", text)
    assert sorted(opened_writes(written)) == ["gatewayd/x.py:2", "gatewayd/x.py:3"]
    assert sorted(handler_calls(written)) == ["gatewayd/x.py:5", "gatewayd/x.py:6"]


def test_rows_that_are_written_elsewhere_are_seen() -> None:
    known = {source.name: source for source in SOURCES}
    assert set(written_rows(known["gatewayd/parsing/results.py"])) == {"vault_documents"}
    assert set(written_rows(known["gatewayd/areas/crm/leads.py"])) == {"leads"}
    assert list(written_rows(known["gatewayd/clock.py"])) == []
