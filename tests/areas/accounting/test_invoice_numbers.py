"""Numbers: no gap and no repeat for each seller and kind, whatever fails and is imported in between."""

import random

import pytest

from gatewayd.areas.accounting.invoices import moves, numbers
from gatewayd.areas.legal_entities.operations import archive_legal_entity
from gatewayd.areas.legal_entities.shapes import ArchiveLegalEntity
from gatewayd.errors import Problem
from gatewayd.store import WriteTx
from gatewayd.store.sqlite import schema
from tests.areas.accounting.books import LINE, Books, fields_of
from tests.support.store import MemoryStore


class Refused(Exception):
    pass


def allot(books: Books, kind: numbers.InvoiceKind = "invoice", *, fail: bool = False) -> str:
    def work(tx: WriteTx) -> str:
        number = numbers.allot(tx, "ent_1", kind, "2026-11-20")
        if fail:
            raise Refused
        return number

    return books.store.write(work, books.org_id)


def test_a_rollback_gives_the_number_back(books: Books) -> None:
    assert allot(books) == "INV-000001"
    with pytest.raises(Refused):
        allot(books, fail=True)
    assert allot(books) == "INV-000002"


def test_kinds_and_organizations_count_apart(store: MemoryStore, books: Books) -> None:
    assert [allot(books), allot(books, "credit_note"), allot(Books(store))] == [
        "INV-000001",
        "CN-000001",
        "INV-000001",
    ]


def test_sellers_count_apart(registered: Books) -> None:
    first = registered.invoice()["legalEntityId"]
    second = registered.unregistered_entity(name="Elm")
    assert registered.invoice(legalEntityId=second)["number"] == "INV-000001"
    assert registered.invoice(legalEntityId=first)["number"] == "INV-000002"


def test_the_first_legal_entity_goes_on_where_the_organization_stopped(books: Books) -> None:
    draft = books.invoice(status="draft")["id"]
    assert [books.invoice()["number"], books.credit(books.invoice()["id"])["number"]] == ["INV-000001", "CN-000001"]
    first = books.unregistered_entity()
    assert books.post("issueInvoice", invoiceId=draft)["number"] == "INV-000003"
    second = books.unregistered_entity(name="Elm")
    assert books.invoice(legalEntityId=first)["number"] == "INV-000004"
    assert books.invoice(legalEntityId=second)["number"] == "INV-000001"
    with pytest.raises(Problem) as caught:
        books.invoice(legalEntityId=first, origin="imported", number="INV-000001")
    assert caught.value.code == "number_taken"


def test_an_organization_whose_only_entity_is_archived_sells_in_its_own_name(books: Books) -> None:
    entity = books.unregistered_entity()
    assert books.invoice()["number"] == "INV-000001"
    archived = ArchiveLegalEntity(id=entity)
    books.store.write(lambda tx: archive_legal_entity(tx, books.caller, archived), books.org_id)
    invoice = books.invoice()
    assert (invoice["legalEntityId"], invoice["sellerSnapshot"]["name"]) == (None, "Oak Ltd")
    assert invoice["number"] == "INV-000002"
    assert books.invoice(legalEntityId=books.unregistered_entity(name="Elm"))["number"] == "INV-000001"


@pytest.mark.parametrize(
    ("imported", "following"),
    [
        ("INV-000456", "INV-000457"),
        ("INV-000002", "INV-000003"),
        ("INV-1000000", "INV-1000001"),
        ("INV-456", "INV-000002"),  # not as ours are written
        ("INV-0000456", "INV-000002"),
        ("INV-000456-A", "INV-000002"),
        ("inv-000456", "INV-000002"),
        ("INV-20260115093000", "INV-000002"),  # a moment, and no count
        ("CN-000456", "INV-000002"),
    ],
)
def test_an_imported_number_moves_the_sequence_past_it(books: Books, imported: str, following: str) -> None:
    assert books.invoice()["number"] == "INV-000001"
    books.invoice(origin="imported", number=imported)
    assert books.invoice()["number"] == following


def test_an_imported_number_of_the_past_disturbs_nothing(books: Books) -> None:
    books.invoice(origin="imported", number="INV-000010")
    books.invoice(origin="imported", number="INV-000004")
    assert [books.invoice()["number"] for _ in range(2)] == ["INV-000011", "INV-000012"]


def test_a_credit_note_that_bears_an_invoices_number_moves_the_invoices_on(books: Books) -> None:
    invoice = books.invoice()
    books.credit(invoice["id"], origin="imported", number="INV-000002")
    assert books.invoice()["number"] == "INV-000003"


@pytest.mark.parametrize("sells", ["organization", "entity"])
def test_an_invoice_is_made_with_few_statements(books: Books, sells: str) -> None:
    if sells == "entity":
        books.entity()
    client = books.client()
    books.invoice(clientId=client)
    ran: list[str] = []
    books.store.connection.exec_trace = lambda cursor, sql, bound: ran.append(" ".join(sql.split()[:3])) is None
    books.invoice(clientId=client)
    books.store.connection.exec_trace = None
    first, *between, last = ran
    assert (first, last) == ("BEGIN IMMEDIATE", "COMMIT")
    lock = ["SELECT business_id, closing"] if sells == "entity" else []
    assert between == [
        "SELECT organizations.name, entities.id,",  # the seller
        "SELECT id, updated_at,",  # the client
        *lock,  # the period
        "UPDATE invoice_sequences SET",
        "INSERT INTO invoices",
        "INSERT INTO invoice_lines",
        "UPDATE clients SET",  # who follows changes learns what is outstanding
    ]


def test_a_voided_number_stays_taken(books: Books) -> None:
    invoice = books.invoice()
    books.store.write(lambda tx: moves.void(tx, invoice["id"], "made twice"), books.org_id)
    assert books.invoice()["number"] == "INV-000002"


@pytest.mark.parametrize("seed", range(8))
def test_no_gap_and_no_repeat_over_random_histories(store: MemoryStore, seed: int) -> None:
    """Each number follows the highest before it, also where a legal entity takes the sequence over half-way."""
    chance = random.Random(seed)
    books = Books(store)
    client = books.client()
    drafts: list[str] = []
    issued: list[str] = []
    used = {"INV": {0}, "CN": {0}}
    for step_number in range(60):
        step = chance.choice(["issued", "draft", "issue", "fail", "import", "credit"])
        if step_number == 30:
            books.unregistered_entity()
        if step == "issued":
            invoice = books.invoice(clientId=client)
            issued.append(invoice["id"])
            _expect_next(used, invoice["number"])
        elif step == "draft":
            drafts.append(books.invoice(clientId=client, status="draft")["id"])
        elif step == "issue" and drafts:
            draft = drafts.pop(chance.randrange(len(drafts)))
            _expect_next(used, books.post("issueInvoice", invoiceId=draft)["number"])
        elif step == "fail":
            _fail_after_numbering(books, client)
        elif step == "import":
            _import(books, client, chance.randint(1, 60), used["INV"])
        elif step == "credit" and issued:
            _expect_next(used, books.credit(issued.pop())["number"])


def _expect_next(used: dict[str, set[int]], number: str) -> None:
    prefix, digits = number.split("-")
    assert (len(digits), int(digits)) == (6, max(used[prefix]) + 1)
    used[prefix].add(int(digits))


def _fail_after_numbering(books: Books, client: str) -> None:
    def work(tx: WriteTx) -> None:
        numbers.allot(tx, books.org_id, "invoice", "2026-11-20")
        raise Refused

    with pytest.raises(Refused):
        books.store.write(work, books.org_id)
    with pytest.raises(Problem) as caught:
        books.invoice(clientId=client, lines=[{**LINE, "discountPercent": "200"}])
    assert fields_of(caught.value) == [("lines[0].discountPercent", "out_of_range")]


def _import(books: Books, client: str, count: int, used: set[int]) -> None:
    body = {"clientId": client, "origin": "imported", "number": f"INV-{count:06d}"}
    if count not in used:
        books.invoice(**body)
        used.add(count)
        return
    with pytest.raises(Problem) as caught:
        books.invoice(**body)
    assert caught.value.code == "number_taken"


def test_a_firm_with_two_sequences_has_one_after_the_migration(store: MemoryStore) -> None:
    """What used no number twice is one sequence; what did stays apart; imports are behind every count."""
    firm, other, clashing = Books(store, "Firm"), Books(store, "Other"), Books(store, "Clashing")
    entities = {books: books.unregistered_entity() for books in (firm, other, clashing)}
    for books in (firm, other, clashing):
        books.invoice(origin="imported", number="OLD-1")
    bring_back(store)
    own, of_entity = clashing.org_id, entities[clashing]
    connection = store.connection
    for books, number, key in (
        (firm, "INV-000002", firm.org_id),
        (other, "INV-000900", entities[other]),
        (clashing, "INV-000001", own),
        (clashing, "INV-000001", of_entity),
    ):
        copy_invoice(store, books, number, key)
    counted = [(firm, firm.org_id, 2), (firm, entities[firm], 1), (other, entities[other], 1)]
    for books, key, last in [*counted, (clashing, own, 1), (clashing, of_entity, 1)]:
        sql = "INSERT INTO invoice_sequences (org_id, seller_key, kind, last_number) VALUES (?, ?, 'invoice', ?)"
        connection.execute(sql, (books.org_id, key, last))
    connection.execute(migration())
    assert firm.invoice()["number"] == "INV-000003"
    assert other.invoice()["number"] == "INV-000901"
    assert clashing.invoice()["number"] == "INV-000002"
    keys = dict(connection.execute("SELECT id, numbered_as_organization FROM legal_entities").fetchall())
    assert keys == {entities[firm]: 1, entities[other]: 1, of_entity: 0}


def migration() -> str:
    (sql,) = [each.sql for each in schema.packaged() if each.name.endswith("_number_by_pattern.sql")]
    return sql


def bring_back(store: MemoryStore) -> None:
    """The tables as they were before the migration."""
    store.connection.execute("""
    UPDATE invoices SET seller_key = legal_entity_id;
    DROP INDEX legal_entities_numbered_as_organization;
    ALTER TABLE legal_entities DROP COLUMN numbered_as_organization;
    DROP TABLE invoice_sequences;
    CREATE TABLE invoice_sequences (
        org_id TEXT NOT NULL, seller_key TEXT NOT NULL, kind TEXT NOT NULL, last_number INTEGER NOT NULL,
        PRIMARY KEY (org_id, seller_key, kind)
    );
    """)


def copy_invoice(store: MemoryStore, books: Books, number: str, key: str) -> None:
    """Another invoice of the organization, with this number."""
    connection = store.connection
    cursor = connection.execute("SELECT * FROM invoices WHERE org_id = ? LIMIT 1", (books.org_id,))
    names = [column[0] for column in cursor.get_description()]
    values = dict(zip(names, cursor.fetchone(), strict=True))
    values |= {"id": store.ids.new("inv"), "number": number, "seller_key": key}
    sql = f"INSERT INTO invoices ({', '.join(names)}) VALUES ({', '.join(f':{name}' for name in names)})"
    connection.execute(sql, values)
