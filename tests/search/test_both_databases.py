"""The same questions of the same documents on SQLite and on PostgreSQL: answers are the same, to the last digit."""

import random
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import msgspec
import pytest

from gatewayd.areas.vault.documents.operations import delete_document, toggle_document_star
from gatewayd.areas.vault.documents.shapes import CreateDocumentRecord, DeleteDocument, ToggleDocumentStar
from gatewayd.areas.vault.search import SearchDocuments, SearchedDocuments
from gatewayd.clock import SECOND
from gatewayd.search import cursors, index, lookup, questioning
from gatewayd.search.embedding import unit_vector
from gatewayd.search.looking import Index
from gatewayd.search.passages import PART_CHARACTERS
from gatewayd.search.signs import KeptBlocks
from gatewayd.store import WriteTx
from gatewayd.store.sqlite import vectors
from gatewayd.store.stemming import Stemmer
from tests.search.conftest import ORG, OTHER, _add, add_organization, counted
from tests.support.postgres import Server
from tests.support.postgres_store import Databases, PostgresStore
from tests.support.store import MemoryStore, make_caller

DIMENSIONS = 32
MODEL = "known"
TEXT = """
invoice invoices invoiced rent rents deposit boiler boilers radiator heating slates slated roofing roof chimney gutter
agreement agreements tenancy tenant landlord received receive happily happy organisation organization insurance
certificate certificates electrical gas safety inspection inspected inspector quarterly VAT payment payable paying
café cafe Müller Mueller Straße strasse naïve coöperative résumé Zażółć gęślą señor Ærø Øre \ufb01nance İstanbul ΣΊΣΥΦΟΣ
Ελλάδα ελλαδα Москва москва дом домой 東京 東京都 家賃 مرحبا שלום हिन्दी e\u0301tude étude O'Brien don't rock'n'roll
"""
WORDS = TEXT.split()
COMMON = ["the", "of", "and", "to", "a", "in"]
CODES = ["INV-2025-0042", "INV/2025/0043", "£1,234.56", "1234.56", "20-17-42", "VAT GB 123 4567 89", "LX21 KFT", "2026"]
SIGNS = [
    *("&", "|", "!", "(", ")", "'", "\\", ":", "*", "<->"),
    *("\U0001f3e0", "\x00", "--", ";", "$1", ":org_id", "%", "_"),
]


class Stores(NamedTuple):
    """The same documents twice."""

    sqlite: MemoryStore
    postgresql: MemoryStore


class OnSqlite(MemoryStore):
    """SQLite, wherever other tests go."""


def sentence(source: random.Random, count: int) -> str:
    """Words, of which some are said often, with a code or a sign now and then."""
    said = []
    for _ in range(count):
        kind = source.random()
        if kind < 0.25:
            said.append(source.choice(COMMON))
        elif kind < 0.31:
            said.append(source.choice(CODES))
        elif kind < 0.34:
            said.append(source.choice(SIGNS[:-8]))
        else:
            said.append(WORDS[min(int(source.expovariate(0.05)), len(WORDS) - 1)])
    return " ".join(said)


def documents() -> list[tuple[str, str, str]]:
    """Organization, name and text of each document."""
    source = random.Random(41)
    made = []
    for n in range(160):
        org = OTHER if n % 4 == 3 else ORG
        name = f"{source.choice(WORDS)}_{source.choice(WORDS)}-{n}.pdf"
        made.append(
            (org, name, "\f".join(sentence(source, source.randint(3, 90)) for _ in range(source.randint(1, 3))))
        )
    slates = "slates " * 2_500
    made.append(
        (ORG, "long.pdf", "\f".join([sentence(source, 2_000), slates, sentence(source, 900), "the boiler " * 900]))
    )
    made.append((ORG, "one word.pdf", "x" * 3_000 + " rent deposit " + "ж" * 1_500 + " heating"))
    made.append((ORG, "crowded.pdf", " ".join(f"w{n} 1{n},{n:03}" for n in range(PART_CHARACTERS // 12))))
    return [*made, (ORG, "empty.pdf", ""), (ORG, "apart.pdf", "2025 paid on 0042, rent then deposit")]


def questions() -> Iterator[str]:
    source = random.Random(43)
    told = [*WORDS, *CODES, *COMMON]
    texts = [text for _, _, text in documents()]
    for _ in range(60):
        yield source.choice(told)
    for _ in range(80):
        yield " ".join(source.choice(told) for _ in range(source.randint(2, 8)))
    for _ in range(60):  # side by side, and what almost is
        words = source.choice(texts).split()[:80] or ["rent"]
        at = source.randrange(len(words))
        phrase = " ".join(words[at : at + source.randint(2, 4)]).replace('"', "")
        yield f'"{phrase}" {source.choice(told) if source.random() < 0.5 else ""}'
    for _ in range(60):  # mistyped
        word = source.choice([word for word in WORDS if len(word) > 4])
        at = source.randrange(1, len(word))
        yield source.choice([word[:at] + word[at + 1 :], word[:at] + "q" + word[at:], word[:-2] + word[-1] + word[-2]])
    for _ in range(40):
        yield f"{source.choice(told)}{source.choice(SIGNS)}{source.choice(told)} {source.choice(SIGNS)}"
    yield from ('"2025 0042"', "w1234", "11,001", "11001", '"', "***", "x" * 400, "ж" * 400, '"the boiler the boiler"')
    yield from (
        "what is the rent",
        "to be or",
        "rent " * 60,
        " ".join(WORDS[:40]),
        "invoiced agreemnts recieved VAT 2026",
    )


def vector(text: str) -> bytes:
    source = random.Random(text)
    return unit_vector([source.gauss(0, 1) for _ in range(DIMENSIONS)])


def put_in(tx: WriteTx, *, into: Index, document_id: str) -> None:
    """The document in the index, with vectors."""
    stemmer = Stemmer()
    indexed = index.prepare(tx, into, document_id, stemmer)
    stemmer.close()
    first: int | None = 0
    while first is not None:
        first = index.put(tx, into, indexed, first)
    for passage in index.unembedded(tx, MODEL, 10_000):
        index.set_vector(tx, passage, vector(passage.digest.hex()), MODEL)


def fill(store: MemoryStore) -> None:
    into = index_of(store)
    for org in (ORG, OTHER):
        store.write(partial(add_organization, org=org))
    ids = []
    for n, (org, name, text) in enumerate(documents()):
        store.clock.advance(SECOND)
        request = msgspec.convert({"name": name}, CreateDocumentRecord)
        ids.append(store.write(partial(_add, request=request, org=org, text=text.replace("\x00", " ")), org))
        store.write(partial(put_in, into=into, document_id=ids[-1]), org)
        if n % 3 == 0:
            star = ToggleDocumentStar(document_id=ids[-1], starred=True)
            store.write(lambda tx, org=org, star=star: toggle_document_star(tx, make_caller(org), star), org)
    for n in (4, 8, 12):  # into the trash, and what is there is indexed anew
        gone = DeleteDocument(document_id=ids[n])
        store.write(lambda tx, gone=gone: delete_document(tx, make_caller(ORG), gone), ORG)
    for n in (4, 8, 16, 20):
        store.write(partial(put_in, into=into, document_id=ids[n]), ORG)


def index_of(store: MemoryStore) -> Index:
    return lookup.index_of(is_shared=isinstance(store, PostgresStore))


def on_postgresql(made_by: Databases, image: bytes) -> MemoryStore:
    class OnPostgresql(PostgresStore):
        databases = made_by

    return OnPostgresql(image, compares=False)


@pytest.fixture(scope="module")
def stores(postgresql: Server, database_image: bytes) -> Iterator[Stores]:
    databases = Databases(postgresql)
    both = Stores(OnSqlite(database_image), on_postgresql(databases, database_image))
    vectors.load(both.sqlite.connection)
    for store in both:
        fill(store)
    yield both
    for store in both:
        store.close()
    databases.close()


def answered(store: MemoryStore, q: str, org: str = ORG, **values: Any) -> SearchedDocuments:
    request = msgspec.convert({"q": q, "mode": "text", "limit": 5, **values}, SearchDocuments)
    meant = None if request.mode == "text" else vector(q)
    prepared = questioning.PreparedSearch(request, cursors.to_come(request), meant, MODEL, "")
    answer = partial(questioning.answer, into=index_of(store), prepared=prepared, kept=KeptBlocks(1 << 20))
    return store.read(answer, org)


def differing(stores: Stores, asked: Sequence[dict[str, Any]]) -> list[str]:
    """What is answered otherwise."""
    found = []
    for values in asked:
        ours, theirs = (answered(store, **values) for store in stores)
        if ours != theirs:
            found.append(f"{values}: {told(ours)} {told(theirs)}")
    return found


def told(answer: SearchedDocuments) -> list[Any]:
    return [[one.document.name, one.score, one.text_rank] for one in answer.data] + [answer.warnings]


def test_the_same_words_find_the_same_in_the_same_order(stores: Stores) -> None:
    """Each answer as a whole: what is shown of documents, how words were spelled, and by the cursor all that follow."""
    asked = [{"q": q} for q in questions()]
    assert len(asked) > 300
    assert differing(stores, asked) == []


def test_the_questions_find_few_and_many(stores: Stores) -> None:
    counts = [len(answered(stores.postgresql, q, limit=50).data) for q in [*questions()][::9]]
    assert (min(counts), max(counts)) == (0, 50)
    assert len(set(counts)) > 5


def test_the_same_meaning_finds_the_same(stores: Stores) -> None:
    asked = [{"q": q, "mode": mode} for mode in ("hybrid", "vector") for q in [*questions()][::13]]
    assert differing(stores, asked) == []


@pytest.mark.parametrize(
    "filters",
    [
        {"starred": True},
        {"mimeType": ["application/pdf"]},
        {"createdFrom": "2026-11-20T09:31:00Z", "createdTo": "2026-11-20T09:31:40Z"},
        {"folderIds": ["fld_00000000000000000000000000"]},
        {"propertyId": "prop_00000000000000000000000000"},
        {"parseStatus": "none"},
    ],
)
def test_the_same_is_wanted(stores: Stores, filters: dict[str, Any]) -> None:
    asked = [{"q": q, "mode": mode, "filters": filters} for mode in ("hybrid", "text") for q in [*questions()][::40]]
    assert differing(stores, asked) == []


def test_another_organization_finds_its_own_as_before(stores: Stores) -> None:
    assert differing(stores, [{"q": q, "org": OTHER} for q in [*questions()][::11]]) == []


def test_later_pages_are_the_same(stores: Stores) -> None:
    for q in ("rent deposit", "the invoice"):
        values: dict[str, Any] = {"q": q, "mode": "hybrid", "limit": 7}
        while values.get("cursor", "first") is not None:
            assert differing(stores, [values]) == []
            values["cursor"] = answered(stores.postgresql, **values).next_cursor


# -- what PostgreSQL counts


def test_what_is_counted_of_words_is_what_there_is(stores: Stores) -> None:
    for org in (ORG, OTHER):
        known, there = stores.postgresql.read(counted, org)
        assert known == there
        assert len(known[0]) > 50


def test_a_document_that_goes_leaves_no_word_behind(postgresql: Server, database_image: bytes) -> None:
    databases = Databases(postgresql)
    store = on_postgresql(databases, database_image)
    store.write(partial(add_organization, org=ORG))
    made = []
    for name in ("one.pdf", "two.pdf"):
        request = msgspec.convert({"name": name}, CreateDocumentRecord)
        made.append(store.write(partial(_add, request=request, org=ORG, text=f"secret of {name}, 12-34"), ORG))
        store.write(partial(put_in, into=index_of(store), document_id=made[-1]), ORG)
    store.write(lambda tx: index.forget_document(tx, index_of(store), made[0]), ORG)
    (terms, _), _ = store.read(counted, ORG)
    assert [term for term, *_ in terms] == ["12", "1234", "34", "of", "pdf", "secret", "two"]
    assert {tuple(counts) for _, *counts in terms} == {(1, 0), (1, 1)}
    assert store.write(lambda tx: index.forget_parts(tx, index_of(store), 10), ORG) == 1
    assert store.read(counted, ORG)[0] == [[], [(0, 0)]]
    store.close()
    databases.close()
