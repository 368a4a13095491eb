"""The index of documents: what is in it (Domain C9).

Owns the tables `vault_index_parts`, `vault_chunks` and `vault_vector_revisions`; words stand as the database keeps them
(`looking`). All of it can be made anew. `lookup` is asked what is near a question.
"""

from collections.abc import Mapping
from typing import Final, NamedTuple

from gatewayd.areas.vault.documents.rows import DOCUMENTS, UPLOADED
from gatewayd.extraction.shapes import Page
from gatewayd.search import passages, terms
from gatewayd.search.looking import Index, Terms
from gatewayd.search.passages import Part, Passage
from gatewayd.store import ReadTx, WriteTx
from gatewayd.store.stemming import Stemmer

WRITE_CHARACTERS: Final = 100_000  # Chosen: of one transaction, some tens of milliseconds

_SELECT_PAGES = """
SELECT number, text FROM vault_pages WHERE org_id = :org_id AND document_id = :document_id ORDER BY number
"""
_SELECT_PAGES_BETWEEN = """
SELECT number, text FROM vault_pages
WHERE org_id = :org_id AND document_id = :document_id AND number BETWEEN :first AND :last ORDER BY number
"""
_SELECT_PARTS = "SELECT number FROM vault_index_parts WHERE org_id = :org_id AND document_id = :document_id"
_SELECT_PARTS_OF_ALL = "SELECT number FROM vault_index_parts WHERE org_id = :org_id ORDER BY number LIMIT :count"
_COUNT_PARTS = "SELECT count(*) FROM vault_index_parts WHERE org_id = :org_id AND document_id = :document_id"
_DELETE_PART = "DELETE FROM vault_index_parts WHERE org_id = :org_id AND number = :number"
_DELETE_PARTS = "DELETE FROM vault_index_parts WHERE org_id = :org_id AND document_id = :document_id"
_INSERT_PART = """
INSERT INTO vault_index_parts (org_id, document_id, first_page, last_page)
VALUES (:org_id, :document_id, :first_page, :last_page) RETURNING number
"""
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
_COUNT_WITHOUT_ANY_ORG = """
SELECT COUNT(*) FROM (SELECT c.number FROM vault_chunks c WHERE c.model = '' LIMIT :most) AS waiting
"""
_DELETE_CHUNK = """
DELETE FROM vault_chunks WHERE org_id = :org_id AND document_id = :document_id AND n = :n AND digest = :digest
"""
_SET_VECTOR = """
UPDATE vault_chunks SET vector = :vector, code = :code, model = :model
WHERE org_id = :org_id AND document_id = :document_id AND n = :n AND digest = :digest
"""
_COUNT_REVISION = """
INSERT INTO vault_vector_revisions (org_id, revision) VALUES (:org_id, 1)
ON CONFLICT (org_id) DO UPDATE SET revision = vault_vector_revisions.revision + 1
"""


class IndexedPart(NamedTuple):
    """A part as it goes into the index: its pages, what is kept of its terms, and how long it was."""

    first_page: int
    last_page: int
    kept: Mapping[str, object]
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
    rows = tx.rows(_SELECT_PAGES_BETWEEN, document_id=document_id, first=first, last=last)
    return [Page(number=number, text=text) for number, text in rows]


def said_of(tx: ReadTx, document_id: str) -> dict[bytes, str]:
    """The passages of a document as it is now, by their digests; none of one that is not there, or in the trash."""
    row = DOCUMENTS.find(tx, document_id)
    if row is None or row.status != UPLOADED:
        return {}
    return {passage.digest: passage.text for passage in passages.passages(row.name, pages_of(tx, document_id))}


def prepare(tx: ReadTx, index: Index, document_id: str, stemmer: Stemmer) -> Indexed:
    """What the index is to have of a document as it is now: nothing of one that is not there, or in the trash."""
    row = DOCUMENTS.find(tx, document_id)
    if row is None or row.status != UPLOADED:
        return Indexed(document_id, [], [])
    pages = pages_of(tx, document_id)
    # The name goes with each part: words of it and of any part are then found together.
    name = passages.spoken(row.name)
    named = Terms(stemmer.stems(name), [], list(terms.exact_forms(f"{row.name} {name}")))
    indexed_parts = []
    for part in passages.parts(pages):
        kept = index.kept(tx.org_id, _terms(part, named, stemmer))
        indexed_parts.append(IndexedPart(part.first_page, part.last_page, kept, len(part.text)))
    return Indexed(document_id, indexed_parts, passages.passages(row.name, pages))


def _terms(part: Part, named: Terms, stemmer: Stemmer) -> Terms:
    return Terms(named.name, stemmer.stems(part.text), [*named.exact, *terms.exact_forms(part.text)])


def forget_document(tx: WriteTx, index: Index, document_id: str) -> None:
    """Take a document out of the index."""
    index.forget(tx, [number for (number,) in tx.rows(_SELECT_PARTS, document_id=document_id)])
    tx.run(_DELETE_PARTS, document_id=document_id)


def count_parts(tx: ReadTx, document_id: str) -> int:
    """How many parts of a document are in the index."""
    return int(tx.value(_COUNT_PARTS, document_id=document_id))


def put(tx: WriteTx, index: Index, indexed: Indexed, first: int) -> int | None:
    """Put parts of a document into the index, from the part `first` on, and before the first take out what was there.

    Answers the part to go on with in the next transaction; None: it is all there.
    """
    if first == 0:
        forget_document(tx, index, indexed.document_id)
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
        index.put(tx, number, part.kept)
    return None


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
    tx.run(_COUNT_REVISION)


# -- vectors


class Unembedded(NamedTuple):
    """A passage, the `n`-th of its document, that has no vector of a model yet, and the digest of what it says."""

    org_id: str
    document_id: str
    n: int
    digest: bytes


def unembedded(tx: ReadTx, model: str, count: int) -> list[Unembedded]:
    """Some passages without a vector of this model, of all organizations."""
    rows = tx.rows(_SELECT_UNEMBEDDED_ANY_ORG, model=model, count=count)
    rows += tx.rows(_SELECT_OTHERWISE_EMBEDDED_ANY_ORG, model=model, count=count - len(rows))
    return [Unembedded(*row) for row in rows]


def count_without_vectors(tx: ReadTx, most: int) -> int:
    """Passages without a vector of any model, of all organizations; counted up to `most`."""
    return int(tx.value(_COUNT_WITHOUT_ANY_ORG, most=most))


def set_vector(tx: WriteTx, passage: Unembedded, vector: bytes, model: str) -> None:
    """Store the vector of a passage, unless it says something else meanwhile."""
    tx.run(
        _SET_VECTOR,
        document_id=passage.document_id,
        n=passage.n,
        digest=passage.digest,
        vector=vector,
        code=code_of(vector),
        model=model,
    )
    tx.run(_COUNT_REVISION)


def forget_passage(tx: WriteTx, passage: Unembedded) -> None:
    """Take a passage out of the index."""
    tx.run(_DELETE_CHUNK, document_id=passage.document_id, n=passage.n, digest=passage.digest)
    tx.run(_COUNT_REVISION)


def code_of(vector: bytes) -> bytes:
    """The signs of a vector of float32, a bit each; its length in numbers is a multiple of eight."""
    signs = [byte >> 7 for byte in vector[3::4]]
    return bytes(sum(signs[at + bit] << bit for bit in range(8)) for at in range(0, len(signs), 8))


def forget_parts(tx: WriteTx, index: Index, count: int) -> int:
    """Take at most `count` parts of the transaction's organization out of the index; returns how many went."""
    numbers = [number for (number,) in tx.rows(_SELECT_PARTS_OF_ALL, count=count)]
    index.forget(tx, numbers)
    for number in numbers:
        tx.run(_DELETE_PART, number=number)
    return len(numbers)
