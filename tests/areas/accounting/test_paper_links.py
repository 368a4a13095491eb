"""Links of papers: one address of each, said again, found by its hash, and ended when another takes its place."""

import pytest

from gatewayd.areas.accounting import paper_links
from gatewayd.areas.accounting.paper_links import Opened
from gatewayd.identity.people import suspensions
from tests.areas.accounting.books import Books
from tests.support.store import MemoryStore

ISSUER = "https://books.example"
PAPER = "inv_01k0000000000000000000000a"


def link(books: Books, about: str = PAPER) -> str:
    return books.store.write(lambda tx: paper_links.link_of(tx, ISSUER, about), books.org_id)


def found(store: MemoryStore, address: str) -> Opened | None:
    token = address.removeprefix(f"{ISSUER}/i/")
    return store.read(lambda tx: paper_links.find(tx, token))


def test_the_same_address_is_said_each_time(books: Books) -> None:
    first = link(books)
    address = "https://books.example/i/gwd_i_"
    assert first.startswith(address)
    assert len(first.removeprefix(address)) >= 22  # 128 bits of base64url
    assert link(books) == first
    assert books.store.read(lambda tx: paper_links.given_link(tx, ISSUER, PAPER), books.org_id) == first


def test_a_read_makes_none(books: Books) -> None:
    assert books.store.read(lambda tx: paper_links.given_link(tx, ISSUER, PAPER), books.org_id) is None


def test_the_address_opens_its_paper_alone(books: Books) -> None:
    other = Books(books.store, "Birch Ltd")
    addresses = [link(books), link(books, "quo_01k0000000000000000000000a"), link(other)]
    opened = [found(books.store, each) for each in addresses]
    assert opened == [
        Opened(books.org_id, PAPER, ended=False),
        Opened(books.org_id, "quo_01k0000000000000000000000a", ended=False),
        Opened(other.org_id, PAPER, ended=False),
    ]


@pytest.mark.parametrize("token", ["", "gwd_i_", "gwd_i_" + "A" * 43, "é", PAPER])
def test_what_was_not_given_out_opens_nothing(books: Books, token: str) -> None:
    link(books)
    assert books.store.read(lambda tx: paper_links.find(tx, token)) is None


def test_the_token_is_stored_nowhere_as_it_is(books: Books) -> None:
    token = link(books).rpartition("/")[2]
    assert token.encode() not in books.store.stored()


def test_another_address_takes_its_place(books: Books) -> None:
    before = link(books)
    after = books.store.write(lambda tx: paper_links.replace_link(tx, ISSUER, PAPER), books.org_id)
    assert after != before
    assert link(books) == after
    assert (found(books.store, before), found(books.store, after)) == (
        Opened(books.org_id, PAPER, ended=True),
        Opened(books.org_id, PAPER, ended=False),
    )


def test_one_of_a_suspended_organization_rests(books: Books) -> None:
    address = link(books)
    books.store.write(lambda tx: suspensions.suspend(tx, books.org_id, "Unpaid", "operator"))
    assert found(books.store, address) is None


def test_what_is_lost_with_the_key_still_opens_and_another_is_given_out(books: Books) -> None:
    before = link(books)
    (id_,) = books.store.read(lambda tx: [row[0] for row in tx.rows("SELECT id FROM paper_links")])
    books.store.write(lambda tx: paper_links.forget_token(tx, id_))
    after = link(books)
    assert after != before
    assert [found(books.store, each) for each in (before, after)] == [Opened(books.org_id, PAPER, ended=False)] * 2
