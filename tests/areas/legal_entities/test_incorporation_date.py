"""The day of incorporation, and entities that were stored before there was such a member."""

import apsw

from gatewayd.areas.legal_entities.rows import LEGAL_ENTITIES
from gatewayd.clock import Instant
from gatewayd.store.sqlite import connections, schema
from tests.areas.legal_entities.entities import COMPANY, Firm
from tests.support.store import START, MemoryStore

BEFORE = 29  # migrations
_MEMBER = b'"incorporationDate":null,'


def test_it_is_kept_and_changed(firm: Firm) -> None:
    made = firm.create(**COMPANY, incorporationDate="2024-06-17")
    assert made["incorporationDate"] == "2024-06-17"
    assert firm.update(made["id"], incorporationDate=None)["incorporationDate"] is None


def test_entities_of_before_say_that_it_is_not_known(store: MemoryStore) -> None:
    """Whatever their names hold, the stored form is the one that the columns give."""
    firm = Firm(store)
    made = firm.create(**{**COMPANY, "name": ',"vatNumber":'})
    old = connections.open_writer(connections.MEMORY, 0)
    schema.migrate(old, schema.packaged()[:BEFORE], START)
    _copy(store.connection, old, firm.org_id)
    schema.migrate(old, schema.packaged(), Instant(START))
    firm.store = MemoryStore(old.serialize("main"))
    old.close()
    assert firm.get(made["id"]) == made
    assert firm.store.read(lambda tx: LEGAL_ENTITIES.stale(tx, "", 500), firm.org_id) == [(made["id"], False)]
    firm.store.close()


def _copy(new: apsw.Connection, old: apsw.Connection, org_id: str) -> None:
    """The entity as it was stored then."""
    columns = [row[1] for row in old.execute("PRAGMA table_info(legal_entities)")]
    named = ", ".join(columns).replace(" utr,", " utr_hint,")  # its name now; it is NULL here
    (row,) = new.execute(f"SELECT {named} FROM legal_entities")
    then = [value.replace(_MEMBER, b"") if isinstance(value, bytes) else value for value in row]
    old.execute("INSERT INTO organizations (id, name, created_at) VALUES (?, 'Oak', 0)", (org_id,))
    old.execute(f"INSERT INTO legal_entities VALUES ({', '.join('?' * len(columns))})", then)
