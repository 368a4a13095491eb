"""Books that an older program kept: their clients may be reminded, and what was overdue before is no news."""

import pytest

from gatewayd.areas.accounting.clients import rows as clients
from gatewayd.areas.accounting.clients.rows import CLIENTS
from gatewayd.areas.accounting.invoices import overdue
from gatewayd.contract.wire import open_wire
from gatewayd.store.sqlite import connections, schema
from tests.areas.accounting.books import Json
from tests.areas.accounting.reminding import RemindingBooks
from tests.support.store import START, DatabaseImage, MemoryStore

TABLES = ("organizations", "clients", "invoices", "invoice_lines")
TOLD = "SELECT data FROM events WHERE kind = 'invoice.overdue'"


def older(books: RemindingBooks) -> bytes:
    """The rows of these books as the program before overdue invoices were told had them, brought up to date."""
    migrations = schema.packaged()
    number = next(place for place, each in enumerate(migrations) if "tell_overdue_invoices" in each.name)
    connection = connections.open_writer(connections.MEMORY, 0)
    schema.migrate(connection, migrations[:number], START)
    connection.execute("PRAGMA foreign_keys = 0")
    for table in TABLES:
        names = [str(row[1]) for row in connection.execute(f"PRAGMA table_info({table})")]
        found = books.store.connection.execute(f"SELECT {', '.join(names)} FROM {table}")
        marks = ", ".join("?" for _ in names)
        connection.executemany(f"INSERT INTO {table} ({', '.join(names)}) VALUES ({marks})", list(found))
    connection.execute("UPDATE clients SET wire = CAST(replace(CAST(wire AS TEXT), ',\"reminders\":true', '') AS BLOB)")
    assert connection.execute("SELECT count(*) FROM clients WHERE CAST(wire AS TEXT) LIKE '%reminders%'").get == 0
    connection.execute("PRAGMA foreign_keys = 1")
    schema.migrate(connection, migrations, START)
    image = DatabaseImage(connection.serialize("main"))
    connection.close()
    return image


@pytest.mark.sqlite_only("books of an older version")
def test_what_an_older_program_kept_is_served_and_reminded_of(store: MemoryStore) -> None:
    books = RemindingBooks(store)
    client = books.client('Harbour ","archivedAt": Ltd', notes=',"archivedAt":null', email="a@harbour.example")
    past = books.sent(clientId=client, issueDate="2001-01-01", dueDate="2001-01-31")
    books.store.write(lambda tx: tx.run("UPDATE invoices SET created_at = 1, overdue_for = NULL"), books.org_id)
    books.sent(clientId=client, issueDate="2150-01-01", dueDate="2150-01-30")
    before = books.one("getClient", f"clientId={client}")
    books.store = MemoryStore(older(books))
    assert books.one("getClient", f"clientId={client}") == before
    row = books.store.read(lambda tx: CLIENTS.get(tx, client), books.org_id)
    wire = books.store.read(lambda tx: tx.value("SELECT wire FROM clients"))
    assert wire == clients._stamped(open_wire(row), clients._NO_TIME)
    while not books.store.read(overdue.is_silent):
        books.store.write(overdue.tell_some)
    assert books.store.read(lambda tx: tx.rows(TOLD)) == []
    books.at("2150-01-15T12:00:00Z")
    books.remind(1)
    books.at("2150-02-02T12:00:00Z")
    books.round()
    assert len(books.mails()) == 1
    shown: Json = books.of(past)
    assert shown["reminders"] == []
