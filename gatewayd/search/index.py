"""The index of documents: what is in it, and what is near a question (Domain C9).

Here alone beside the store stands SQL that is SQLite's own: FTS5, and the functions of sqlite-vec. Owns the tables
`vault_index_parts`, `vault_words` and `vault_chunks`; all of them can be made anew.

Vectors are compared by their signs first, 32 bytes instead of 1,024, and those that come out best by themselves.
Measured, that takes a fifth of what the virtual table of sqlite-vec takes, and what is stored are ordinary rows.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

import msgspec

from gatewayd.areas.vault.documents.rows import DOCUMENTS, UPLOADED
from gatewayd.extraction.shapes import Page
from gatewayd.search import passages, terms
from gatewayd.search.passages import Part, Passage
from gatewayd.store import ReadTx, WriteTx
from gatewayd.store.stemming import Stemmer

WRITE_CHARACTERS: Final = 100_000  # Chosen: of one transaction, some tens of milliseconds
PARTS_OF_EACH: Final = 3  # Chosen: parts that are looked up for each document of a list, since a long one may have many

_SELECT_PAGES = """
SELECT number, text FROM vault_pages WHERE org_id = :org_id AND document_id = :document_id ORDER BY number
"""
_SELECT_PAGES_BETWEEN = """
SELECT number, text FROM vault_pages
WHERE org_id = :org_id AND document_id = :document_id AND number BETWEEN :first AND :last ORDER BY number
"""
_SELECT_PARTS = "SELECT number FROM vault_index_parts WHERE org_id = :org_id AND document_id = :document_id"
_DELETE_WORDS = "DELETE FROM vault_words WHERE rowid = :number"
_DELETE_PARTS = "DELETE FROM vault_index_parts WHERE org_id = :org_id AND document_id = :document_id"
_INSERT_PART = """
INSERT INTO vault_index_parts (org_id, document_id, first_page, last_page)
VALUES (:org_id, :document_id, :first_page, :last_page) RETURNING number
"""
_INSERT_WORDS = "INSERT INTO vault_words (rowid, name, body, exact) VALUES (:number, :name, :body, :exact)"
_PUT_CHUNK = """
INSERT INTO vault_chunks (org_id, document_id, n, page, start, length, digest, model)
VALUES (:org_id, :document_id, :n, :page, :start, :length, :digest, '')
ON CONFLICT (org_id, document_id, n) DO UPDATE SET
    page = excluded.page, start = excluded.start, length = excluded.length, digest = excluded.digest,
    model = CASE WHEN vault_chunks.digest = excluded.digest THEN vault_chunks.model ELSE '' END,
    vector = CASE WHEN vault_chunks.digest = excluded.digest THEN vault_chunks.vector END,
    code = CASE WHEN vault_chunks.digest = excluded.digest THEN vault_chunks.code END
"""
_DELETE_CHUNKS = "DELETE FROM vault_chunks WHERE org_id = :org_id AND document_id = :document_id AND n >= :count"
_SELECT_UNEMBEDDED_ANY_ORG = """
SELECT org_id, document_id, n, digest FROM vault_chunks WHERE model < :model ORDER BY model, number LIMIT :count
"""
_SELECT_OTHERWISE_EMBEDDED_ANY_ORG = """
SELECT org_id, document_id, n, digest FROM vault_chunks WHERE model > :model ORDER BY model, number LIMIT :count
"""
_DELETE_CHUNK = """
DELETE FROM vault_chunks WHERE org_id = :org_id AND document_id = :document_id AND n = :n AND digest = :digest
"""
_SET_VECTOR = """
UPDATE vault_chunks SET vector = :vector, code = :code, model = :model
WHERE org_id = :org_id AND document_id = :document_id AND n = :n AND digest = :digest
"""
_COUNT_HITS = "SELECT count(*) FROM (SELECT rowid FROM vault_words WHERE vault_words MATCH :expression LIMIT :most)"
_IS_KNOWN = "SELECT 1 FROM vault_vocabulary WHERE term = :term"
_TERMS_FROM = "SELECT term FROM vault_vocabulary WHERE term >= :first AND term < :behind"
# CROSS has SQLite look up the best parts; else it goes through all parts of the organization.
_BY_WORDS = """
SELECT p.document_id, p.first_page, p.last_page, min(h.score) AS best
FROM (
    SELECT n.number, n.score FROM (
        SELECT rowid AS number, bm25(vault_words, 3.0, 1.0, 2.0) AS score FROM vault_words
        WHERE vault_words MATCH :expression {and_wanted} ORDER BY rowid DESC LIMIT :newest
    ) n
    ORDER BY n.score, n.number DESC LIMIT :best_parts
) h
CROSS JOIN vault_index_parts p ON p.org_id = :org_id AND p.number = h.number
GROUP BY p.document_id
ORDER BY best, p.number DESC LIMIT :count
"""
# With the sign SQLite asks FTS5 once and looks each hit up; without it, it asks FTS5 anew for each part that is wanted.
_AND_WANTED = """AND +rowid IN (
    SELECT p.number FROM vault_index_parts p WHERE p.org_id = :org_id {and_filtered}
)"""
_BY_MEANING = """
SELECT c.document_id, c.page, c.start, c.length, vec_distance_cosine(c.vector, :vector) AS distance
FROM (
    SELECT p.number FROM vault_chunks p
    WHERE p.org_id = :org_id AND p.model = :model AND p.code IS NOT NULL {and_filtered}
    ORDER BY vec_distance_hamming(vec_bit(p.code), vec_bit(:code)) LIMIT :nearest
) near
JOIN vault_chunks c ON c.number = near.number
WHERE c.org_id = :org_id
ORDER BY distance, c.number DESC
"""
_AND_FILTERED = """AND p.document_id IN (
    SELECT d.id FROM vault_documents d WHERE d.org_id = :org_id AND d.status = 'uploaded' {conditions}
)"""
_SELECT_FOUND = """
SELECT d.id, d.created_at FROM vault_documents d
WHERE d.org_id = :org_id AND d.status = 'uploaded' AND d.id IN (SELECT j.value FROM json_each(:ids) j)
"""


class IndexedPart(NamedTuple):
    """A part as it goes into the index: its pages, its terms, and how long it was."""

    first_page: int
    last_page: int
    name: str
    body: str
    exact: str
    characters: int


class Indexed(NamedTuple):
    """All that the index is to have of a document."""

    document_id: str
    parts: list[IndexedPart]
    passages: list[Passage]


def pages_of(tx: ReadTx, document_id: str) -> list[Page]:
    """The text of a document; empty: it has none, or was not read yet."""
    return [Page(number=number, text=text) for number, text in tx.rows(_SELECT_PAGES, document_id=document_id)]


def pages_between(tx: ReadTx, document_id: str, first: int, last: int) -> list[Page]:
    """The text of some pages, both ends included."""
    found = tx.rows(_SELECT_PAGES_BETWEEN, document_id=document_id, first=first, last=last)
    return [Page(number=number, text=text) for number, text in found]


def said_of(tx: ReadTx, document_id: str) -> dict[bytes, str]:
    """The passages of a document as it is now, by their digests; none of one that is not there, or in the trash."""
    row = DOCUMENTS.find(tx, document_id)
    if row is None or row.status != UPLOADED:
        return {}
    return {one.digest: one.text for one in passages.passages(row.name, pages_of(tx, document_id))}


def prepare(tx: ReadTx, document_id: str, stemmer: Stemmer) -> Indexed:
    """What the index is to have of a document as it is now: nothing of one that is not there, or in the trash."""
    row = DOCUMENTS.find(tx, document_id)
    if row is None or row.status != UPLOADED:
        return Indexed(document_id, [], [])
    pages = pages_of(tx, document_id)
    # The name goes with each part: words of it and of any part are then found together.
    name = passages.spoken(row.name)
    named = terms.kept(tx.org_id, stemmer.stems(name))
    exact = list(terms.exact_forms(f"{row.name} {name}"))
    found = [_indexed(tx.org_id, part, named, exact, stemmer) for part in passages.parts(pages)]
    return Indexed(document_id, found, passages.passages(row.name, pages))


def forget_document(tx: WriteTx, document_id: str) -> None:
    """Take a document out of the index."""
    for (number,) in tx.rows(_SELECT_PARTS, document_id=document_id):
        tx.run(_DELETE_WORDS, number=number)
    tx.run(_DELETE_PARTS, document_id=document_id)


def put(tx: WriteTx, indexed: Indexed, first: int) -> int | None:
    """Put parts of a document into the index, from the part `first` on, and before the first take out what was there.

    Answers the part to go on with in the next transaction; None: it is all there.
    """
    if first == 0:
        forget_document(tx, indexed.document_id)
        _put_passages(tx, indexed)
    room = WRITE_CHARACTERS
    for at in range(first, len(indexed.parts)):
        part = indexed.parts[at]
        if room < part.characters and at > first:
            return at
        room -= part.characters
        number = tx.value(
            _INSERT_PART, document_id=indexed.document_id, first_page=part.first_page, last_page=part.last_page
        )
        tx.run(_INSERT_WORDS, number=number, name=part.name, body=part.body, exact=part.exact)
    return None


def _indexed(org_id: str, part: Part, name: str, exact: Sequence[str], stemmer: Stemmer) -> IndexedPart:
    return IndexedPart(
        first_page=part.first_page,
        last_page=part.last_page,
        name=name,
        body=terms.kept(org_id, stemmer.stems(part.text)),
        exact=terms.kept(org_id, [*exact, *terms.exact_forms(part.text)]),
        characters=len(part.text),
    )


def _put_passages(tx: WriteTx, indexed: Indexed) -> None:
    """Those that mean what they meant keep their vectors."""
    for n, passage in enumerate(indexed.passages):
        tx.run(
            _PUT_CHUNK,
            document_id=indexed.document_id,
            n=n,
            page=passage.page,
            start=passage.start,
            length=passage.length,
            digest=passage.digest,
        )
    tx.run(_DELETE_CHUNKS, document_id=indexed.document_id, count=len(indexed.passages))


# -- vectors


class Unembedded(NamedTuple):
    """A passage, the `n`-th of its document, that has no vector of a model yet, and the digest of what it says."""

    org_id: str
    document_id: str
    n: int
    digest: bytes


def unembedded(tx: ReadTx, model: str, count: int) -> list[Unembedded]:
    """Some passages without a vector of this model, of all organizations."""
    found = tx.rows(_SELECT_UNEMBEDDED_ANY_ORG, model=model, count=count)
    found += tx.rows(_SELECT_OTHERWISE_EMBEDDED_ANY_ORG, model=model, count=count - len(found))
    return [Unembedded(*row) for row in found]


def set_vector(tx: WriteTx, one: Unembedded, vector: bytes, model: str) -> None:
    """Store the vector of a passage, unless it says something else meanwhile."""
    tx.run(
        _SET_VECTOR,
        document_id=one.document_id,
        n=one.n,
        digest=one.digest,
        vector=vector,
        code=code_of(vector),
        model=model,
    )


def forget_passage(tx: WriteTx, one: Unembedded) -> None:
    """Take a passage out of the index."""
    tx.run(_DELETE_CHUNK, document_id=one.document_id, n=one.n, digest=one.digest)


def code_of(vector: bytes) -> bytes:
    """The signs of a vector of float32, a bit each; its length in numbers is a multiple of eight."""
    signs = [byte >> 7 for byte in vector[3::4]]
    return bytes(sum(signs[at + bit] << bit for bit in range(8)) for at in range(0, len(signs), 8))


# -- what is asked


class Filter(NamedTuple):
    """What documents must be: conditions on `vault_documents d`, and what they name."""

    conditions: str
    values: dict[str, object]

    @property
    def clause(self) -> str:
        return _AND_FILTERED.format(conditions=self.conditions) if self.conditions else ""

    @property
    def of_words(self) -> str:
        """The same of parts: before the newest are taken, or those that are wanted would not be among them."""
        return _AND_WANTED.format(and_filtered=self.clause) if self.conditions else ""


class WordHit(NamedTuple):
    """A part of a document with words that are looked for: from page to page; 0: in the name alone."""

    document_id: str
    first_page: int
    last_page: int


class MeaningHit(NamedTuple):
    """A passage that is near in meaning; `distance` is 1 less the cosine."""

    document_id: str
    page: int
    start: int
    length: int
    distance: float


def count_hits(tx: ReadTx, expression: str, most: int) -> int:
    """How many parts of documents an expression finds; of more than `most` it is `most`."""
    return int(tx.value(_COUNT_HITS, expression=expression, most=most))


def is_known(tx: ReadTx, term: str) -> bool:
    """Whether any text of the organization has this term."""
    return tx.row(_IS_KNOWN, term=terms.kept(tx.org_id, [term])) is not None


def terms_from(tx: ReadTx, beginning: str) -> list[str]:
    """The terms of the organization that begin so."""
    first, own = terms.kept(tx.org_id, [beginning]), len(tx.org_id) + 1
    return [term[own:] for (term,) in tx.rows(_TERMS_FROM, first=first, behind=f"{first}\U0010ffff")]


def by_words(tx: ReadTx, expression: str, wanted: Filter, newest: int, count: int) -> list[WordHit]:
    """The best documents by bm25, each with its best part, of the `newest` parts that have the words and are wanted."""
    sql = _BY_WORDS.format(and_wanted=wanted.of_words)
    asked = {"expression": expression, "newest": newest, "best_parts": PARTS_OF_EACH * count, "count": count}
    rows = tx.rows(sql, **asked, **wanted.values)
    return [WordHit(*row[:3]) for row in rows]


def by_meaning(tx: ReadTx, vector: bytes, model: str, wanted: Filter, nearest: int) -> list[MeaningHit]:
    """The passages that are nearest to a vector of this model, nearest first."""
    sql = _BY_MEANING.format(and_filtered=wanted.clause)
    asked = {"vector": vector, "code": code_of(vector), "model": model, "nearest": nearest}
    return [MeaningHit(*row) for row in tx.rows(sql, **asked, **wanted.values)]


def created(tx: ReadTx, document_ids: Sequence[str]) -> dict[str, int]:
    """When each of the documents was created; those that are not there, or in the trash, are left out."""
    return dict(tx.rows(_SELECT_FOUND, ids=msgspec.json.encode(document_ids).decode()))
