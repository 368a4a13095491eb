"""Numbers: no gap and no repeat for each seller and kind, whatever fails and is imported in between."""

import random
import re

import pytest

from gatewayd.areas.accounting.invoices import moves, numbers
from gatewayd.errors import Problem
from gatewayd.store import WriteTx
from tests.areas.accounting.books import LINE, Books, fields_of
from tests.support.store import MemoryStore


class Refused(Exception):
    pass


def allot(books: Books, kind: numbers.InvoiceKind = "invoice", *, fail: bool = False) -> str:
    def work(tx: WriteTx) -> str:
        number = numbers.allot(tx, "ent_1", kind)
        if fail:
            raise Refused
        return number

    return books.store.write(work, books.org_id)


def test_numbers_as_written() -> None:
    assert numbers.written("invoice", 1) == "INV-000001"
    assert numbers.written("credit_note", 999_999) == "CN-999999"
    assert numbers.written("invoice", 1_000_000) == "INV-1000000"


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


def test_imported_numbers_are_passed_over_and_disturb_nothing(books: Books) -> None:
    for number in ("INV-000002", "INV-000003", "INV-000900"):
        books.invoice(origin="imported", number=number)
    assert [books.invoice()["number"] for _ in range(3)] == ["INV-000001", "INV-000004", "INV-000005"]


def test_a_voided_number_stays_taken(books: Books) -> None:
    invoice = books.invoice()
    books.store.write(lambda tx: moves.void(tx, invoice["id"], "made twice"), books.org_id)
    assert books.invoice()["number"] == "INV-000002"


@pytest.mark.parametrize("seed", range(8))
def test_no_gap_and_no_repeat_over_random_histories(store: MemoryStore, seed: int) -> None:
    chance = random.Random(seed)
    books = Books(store)
    client, drafts = books.client(), []
    issued: list[str] = []
    for _ in range(60):
        step = chance.choice(["issued", "draft", "issue", "fail", "import", "credit"])
        if step == "issued":
            issued.append(books.invoice(clientId=client)["id"])
        elif step == "draft":
            drafts.append(books.invoice(clientId=client, status="draft")["id"])
        elif step == "issue" and drafts:
            draft = drafts.pop(chance.randrange(len(drafts)))
            books.store.write(lambda tx, draft=draft: moves.issue(tx, draft), books.org_id)
        elif step == "fail":
            _fail_after_numbering(books, client)
        elif step == "import":
            _import(books, client, numbers.written("invoice", chance.randint(1, 60)))
        elif step == "credit" and issued:
            books.credit(issued.pop())
    _check_sequence(books, "invoice")
    _check_sequence(books, "credit_note")


def _fail_after_numbering(books: Books, client: str) -> None:
    def work(tx: WriteTx) -> None:
        numbers.allot(tx, books.org_id, "invoice")
        raise Refused

    with pytest.raises(Refused):
        books.store.write(work, books.org_id)
    with pytest.raises(Problem) as caught:
        books.invoice(clientId=client, lines=[{**LINE, "discountPercent": "200"}])
    assert fields_of(caught.value) == [("lines[0].discountPercent", "out_of_range")]


def _import(books: Books, client: str, number: str) -> None:
    taken = books.store.read(lambda tx: numbers.holder(tx, books.org_id, number), books.org_id)
    if taken is None:
        books.invoice(clientId=client, origin="imported", number=number)
        return
    with pytest.raises(Problem) as caught:
        books.invoice(clientId=client, origin="imported", number=number)
    assert caught.value.code == "number_taken"


def _check_sequence(books: Books, kind: str) -> None:
    sql = "SELECT number, origin FROM invoices WHERE org_id = :org_id AND kind = :kind AND number IS NOT NULL"
    rows = books.store.read(lambda tx: tx.rows(sql, kind=kind), books.org_id)
    numbers = [int(re.sub(r"\D", "", number)) for number, _ in rows]
    assert len(numbers) == len(set(numbers))
    last = max((number for number, (_, origin) in zip(numbers, rows, strict=True) if origin == "system"), default=0)
    assert set(range(1, last + 1)) <= set(numbers)
