"""Closed periods: both ends count, ranges may overlap, and each belongs to one legal entity of one organization."""

import apsw
import pytest

from gatewayd.errors import Problem
from gatewayd.ledger.calendar import period_locks
from gatewayd.store import WriteTx
from gatewayd.store.sqlite import connections, schema
from tests.areas.accounting.books import Books
from tests.areas.businesses.trades import Firm
from tests.support.store import START, MemoryStore

QUARTER = ("2026-01-01", "2026-03-31")
BEFORE_LOCKS_OF_BUSINESSES = 29  # migrations
BEFORE_LOCKS_OF_CLOSING = 37
_CLOSING_PERIOD = """
INSERT INTO periods (id, org_id, legal_entity_id, type, label, start_date, end_date, cumulative, status, reopened_count,
    created_at, updated_at, version)
VALUES ('per_1', :org_id, :person, 'vat_period', 'VAT 03/26', '2026-01-01', '2026-03-31', 0, 'closing', 0, 1, 1, 1)
"""


def shared_columns(old: apsw.Connection, store: MemoryStore) -> list[str]:
    """The columns of legal entities that an older program had too."""
    ask = "SELECT name FROM pragma_table_info('legal_entities')"
    now = {name for (name,) in store.connection.execute(ask)}
    return [name for (name,) in old.execute(ask) if name in now]


def closed(books: Books, entity: str | None, date: str) -> bool:
    return books.store.read(lambda tx: period_locks.is_closed(tx, entity, date), books.org_id)


def close(books: Books, entity: str, start: str, end: str) -> bool:
    return books.store.write(lambda tx: period_locks.close(tx, entity, start, end), books.org_id)


def reopen(books: Books, entity: str, start: str, end: str) -> bool:
    return books.store.write(lambda tx: period_locks.reopen(tx, entity, start, end), books.org_id)


def test_both_ends_of_a_closed_range_are_closed(store: MemoryStore) -> None:
    books = Books(store)
    entity = books.entity()
    assert close(books, entity, *QUARTER)
    days = ("2025-12-31", "2026-01-01", "2026-02-14", "2026-03-31", "2026-04-01")
    assert [closed(books, entity, day) for day in days] == [False, True, True, True, False]


def test_ranges_in_which_all_of_an_entity_is_closed(store: MemoryStore) -> None:
    firm = Firm(store)
    business = firm.create()["id"]
    ranges = [("2026-01-01", "2026-03-31"), ("2026-02-01", "2026-02-01")]
    for first, last in reversed(ranges):
        assert store.write(lambda tx, f=first, e=last: period_locks.close(tx, firm.person, f, e), firm.org_id)
    store.write(lambda tx: period_locks.close(tx, firm.person, "2025-01-01", "2025-12-31", business), firm.org_id)
    asked = [firm.person, None]
    found = [
        store.read(lambda tx, one=one: period_locks.closed_ranges(tx, one, overrides=False), firm.org_id)
        for one in asked
    ]
    assert found == [ranges, []]


def test_a_range_that_is_being_closed_is_among_them_unless_that_is_overridden(store: MemoryStore) -> None:
    books = Books(store)
    entity = books.entity()
    year = ("2025-01-01", "2025-12-31")
    close(books, entity, *year)
    store.write(lambda tx: period_locks.begin_closing(tx, entity, *QUARTER), books.org_id)
    found = {
        overrides: store.read(lambda tx, o=overrides: period_locks.closed_ranges(tx, entity, o), books.org_id)
        for overrides in (False, True)
    }
    assert found == {False: [year, QUARTER], True: [year]}


def test_closing_twice_changes_nothing(store: MemoryStore) -> None:
    books = Books(store)
    entity = books.entity()
    assert close(books, entity, *QUARTER)
    assert not close(books, entity, *QUARTER)
    assert reopen(books, entity, *QUARTER)
    assert not reopen(books, entity, *QUARTER)
    assert not closed(books, entity, "2026-02-14")


def test_reopening_leaves_overlapping_ranges_closed(store: MemoryStore) -> None:
    books = Books(store)
    entity = books.entity()
    close(books, entity, *QUARTER)
    close(books, entity, "2026-01-01", "2026-12-31")
    reopen(books, entity, *QUARTER)
    assert closed(books, entity, "2026-02-14")


def test_a_range_belongs_to_one_entity_of_one_organization(store: MemoryStore) -> None:
    books, others = Books(store), Books(store)
    entity = books.entity()
    sibling = books.unregistered_entity(name="Elm")
    close(books, entity, *QUARTER)
    assert not closed(books, sibling, "2026-02-14")
    assert not closed(others, entity, "2026-02-14")
    assert not reopen(others, entity, *QUARTER)
    assert closed(books, entity, "2026-02-14")


def test_any_closed(store: MemoryStore) -> None:
    books = Books(store)
    entity = books.entity()
    assert not store.read(lambda tx: period_locks.any_closed(tx, entity), books.org_id)
    close(books, entity, *QUARTER)
    assert store.read(lambda tx: period_locks.any_closed(tx, entity), books.org_id)


def test_the_organization_itself_has_no_closed_days(store: MemoryStore) -> None:
    assert not closed(Books(store), None, "2026-02-14")


def test_a_range_that_ends_before_it_starts_is_refused(store: MemoryStore) -> None:
    books = Books(store)
    entity = books.entity()
    with pytest.raises(ValueError, match="before it starts"):
        close(books, entity, "2026-03-31", "2026-01-01")


def test_refuse_closed_names_the_day(store: MemoryStore) -> None:
    books = Books(store)
    entity = books.entity()
    close(books, entity, *QUARTER)
    with pytest.raises(Problem) as caught:
        store.read(lambda tx: period_locks.refuse_closed(tx, entity, "2026-04-01", "2026-03-31"), books.org_id)
    assert (caught.value.code, caught.value.extra["date"]) == ("period_closed", "2026-03-31")


# -- locks of a business (decision 0019)


def test_a_lock_of_a_business_is_its_own(store: MemoryStore) -> None:
    firm = Firm(store)
    trade, other = firm.create()["id"], firm.create(name="Thatching")["id"]
    days = ("2026-04-06", "2026-07-05")
    assert store.write(lambda tx: period_locks.close(tx, firm.person, *days, trade), firm.org_id)
    assert not store.write(lambda tx: period_locks.close(tx, firm.person, *days, trade), firm.org_id)
    closed = {
        of: store.read(lambda tx, of=of: period_locks.is_closed(tx, firm.person, "2026-05-01", of), firm.org_id)
        for of in (trade, other, None)
    }
    assert closed == {trade: True, other: False, None: False}
    assert store.read(lambda tx: period_locks.any_closed(tx, firm.person), firm.org_id)
    assert not store.read(lambda tx: period_locks.any_closed(tx, firm.person, other), firm.org_id)
    assert not store.write(lambda tx: period_locks.reopen(tx, firm.person, *days), firm.org_id)
    assert store.write(lambda tx: period_locks.reopen(tx, firm.person, *days, trade), firm.org_id)


def test_a_lock_of_the_entity_is_every_businesss(store: MemoryStore) -> None:
    firm = Firm(store)
    trade = firm.create()["id"]
    store.write(lambda tx: period_locks.close(tx, firm.person, "2026-04-06", "2026-07-05"), firm.org_id)
    assert store.read(lambda tx: period_locks.is_closed(tx, firm.person, "2026-05-01", trade), firm.org_id)
    assert store.read(lambda tx: period_locks.any_closed(tx, firm.person, trade), firm.org_id)


def test_locks_of_before_are_the_entitys(store: MemoryStore) -> None:
    """A database of the program that knew no others."""
    firm = Firm(store)
    old = connections.open_writer(connections.MEMORY, 0)
    schema.migrate(old, schema.packaged()[:BEFORE_LOCKS_OF_BUSINESSES], START)
    old.execute("INSERT INTO organizations (id, name, created_at) VALUES (?, 'Oak', 0)", (firm.org_id,))
    columns = shared_columns(old, store)
    (row,) = store.connection.execute(f"SELECT {', '.join(columns)} FROM legal_entities")
    old.execute(f"INSERT INTO legal_entities ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})", row)
    lock = (firm.org_id, firm.person, "2026-01-01", "2026-03-31", 1)
    old.execute("INSERT INTO period_locks VALUES (?, ?, ?, ?, ?)", lock)
    schema.migrate(old, schema.packaged(), START)
    after = MemoryStore(old.serialize("main"))
    old.close()
    assert after.read(lambda tx: period_locks.is_closed(tx, firm.person, "2026-03-31"), firm.org_id)
    assert after.write(lambda tx: period_locks.reopen(tx, firm.person, "2026-01-01", "2026-03-31"), firm.org_id)
    after.close()


def test_a_range_that_is_being_closed_is_refused_unless_that_is_overridden(store: MemoryStore) -> None:
    books = Books(store)
    entity = books.entity()

    def refusal(*overrides: str) -> object:
        def look(tx: WriteTx) -> None:
            tx.overrides = frozenset(overrides)
            period_locks.refuse_closed(tx, entity, "2026-02-14")

        try:
            store.write(look, books.org_id)
        except Problem as problem:
            return problem.code, problem.extra["state"], "Period-Override: closing" in problem.message
        return None

    assert store.write(lambda tx: period_locks.begin_closing(tx, entity, *QUARTER), books.org_id)
    assert not store.write(lambda tx: period_locks.begin_closing(tx, entity, *QUARTER), books.org_id)
    assert not closed(books, entity, "2026-02-14")
    assert (refusal(), refusal("closing")) == (("period_closed", "closing", True), None)
    close(books, entity, "2026-01-01", "2026-12-31")  # another that overlaps it, and is closed
    assert refusal("closing") == ("period_closed", "closed", False)
    reopen(books, entity, "2026-01-01", "2026-12-31")
    assert store.write(lambda tx: period_locks.end_closing(tx, entity, *QUARTER), books.org_id)
    assert refusal() is None


def test_what_was_being_closed_before_is_locked_by_the_migration(store: MemoryStore) -> None:
    firm = Firm(store)
    old = connections.open_writer(connections.MEMORY, 0)
    schema.migrate(old, schema.packaged()[:BEFORE_LOCKS_OF_CLOSING], START)
    old.execute("INSERT INTO organizations (id, name, created_at) VALUES (?, 'Oak', 0)", (firm.org_id,))
    columns = shared_columns(old, store)
    (row,) = store.connection.execute(f"SELECT {', '.join(columns)} FROM legal_entities")
    old.execute(f"INSERT INTO legal_entities ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})", row)
    old.execute(_CLOSING_PERIOD, {"org_id": firm.org_id, "person": firm.person})
    schema.migrate(old, schema.packaged(), START)
    after = MemoryStore(old.serialize("main"))
    old.close()
    with pytest.raises(Problem) as refused:
        after.read(lambda tx: period_locks.refuse_closed(tx, firm.person, "2026-03-31"), firm.org_id)
    assert refused.value.extra == {"date": "2026-03-31", "state": "closing"}
    after.close()
