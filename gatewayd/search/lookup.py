"""What is asked of the index of documents (Domain C9).

Here and in `index` alone beside the store stands SQL that is SQLite's own: FTS5, and a function of sqlite-vec.

Vectors are compared by their signs first (`signs`), and those that come out best by themselves.
"""

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

import msgspec

from gatewayd.areas.vault.documents.rows import UPLOADED
from gatewayd.search import signs, terms
from gatewayd.search.index import code_of
from gatewayd.search.signs import Block, KeptBlocks, Source
from gatewayd.store import ReadTx

PARTS_OF_EACH: Final = 3  # Chosen: parts that are looked up for each document of a list, since a long one may have many
CODES_AT_ONCE: Final = 131_072  # Chosen: for each read the documents that are wanted are listed anew

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
_SELECT_REVISION = "SELECT revision FROM vault_vector_revisions WHERE org_id = :org_id"
_SELECT_CODES = """
SELECT json_group_array(s.number), group_concat(hex(s.code), '') FROM (
    SELECT p.number, p.code FROM vault_chunks p
    WHERE p.org_id = :org_id AND p.model = :model AND p.code IS NOT NULL AND p.number > :after
        AND length(p.code) = :width {and_filtered}
    ORDER BY p.number LIMIT :count
) s
"""
_BY_MEANING = """
SELECT c.document_id, c.page, c.start, c.length, vec_distance_cosine(c.vector, :vector) AS distance
FROM json_each(:numbers) j CROSS JOIN vault_chunks c ON c.number = j.value
WHERE c.org_id = :org_id
ORDER BY distance, c.number DESC
"""
_AND_FILTERED = """AND p.document_id IN (
    SELECT d.id FROM vault_documents d WHERE d.org_id = :org_id AND d.status = 'uploaded' {conditions}
)"""
_SELECT_FOUND = """
SELECT d.id, d.created_at FROM vault_documents d
WHERE d.org_id = :org_id AND d.id IN (SELECT i.value FROM json_each(:ids) i) AND d.status = :status {conditions}
"""


class Filter(NamedTuple):
    """What documents must be: conditions on `vault_documents d`, and what they name."""

    conditions: str
    values: dict[str, object]

    def among(self, document_ids: Sequence[str]) -> "Filter":
        """The same, of some documents."""
        conditions = f"{self.conditions} AND d.id IN (SELECT i.value FROM json_each(:among) i)"
        return Filter(conditions, {**self.values, "among": msgspec.json.encode(document_ids).decode()})

    @property
    def clause(self) -> str:
        return _AND_FILTERED.format(conditions=self.conditions) if self.conditions else ""

    @property
    def of_words(self) -> str:
        """The same of parts: before the newest are taken, or those that are wanted would not be among them."""
        return _AND_WANTED.format(and_filtered=self.clause) if self.conditions else ""


ALL: Final = Filter("", {})


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
    values = {"expression": expression, "newest": newest, "best_parts": PARTS_OF_EACH * count, "count": count}
    rows = tx.rows(sql, **values, **wanted.values)
    return [WordHit(*row[:3]) for row in rows]


def by_meaning(
    tx: ReadTx, vector: bytes, model: str, wanted: Filter, nearest: int, kept: KeptBlocks
) -> list[MeaningHit]:
    """The passages that are nearest to a vector of this model, nearest first."""
    code = code_of(vector)
    source = Source(tx.org_id, model, len(code), tx.value(_SELECT_REVISION) or 0)
    blocks = list(_blocks(tx, source, wanted)) if wanted.conditions else _all_blocks(tx, source, kept)
    numbers = msgspec.json.encode(signs.nearest(blocks, code, nearest)).decode()
    return [MeaningHit(*row) for row in tx.rows(_BY_MEANING, vector=vector, numbers=numbers)]


def _all_blocks(tx: ReadTx, source: Source, kept: KeptBlocks) -> list[Block]:
    blocks = kept.find(source)
    if blocks is None:
        blocks = list(_blocks(tx, source, ALL))
        kept.keep(source, blocks)
    return blocks


def _blocks(tx: ReadTx, source: Source, wanted: Filter) -> Iterator[Block]:
    sql = _SELECT_CODES.format(and_filtered=wanted.clause)
    values = {"model": source.model, "width": source.width, "count": CODES_AT_ONCE, **wanted.values}
    after = 0
    while True:
        joined, codes = tx.rows(sql, after=after, **values)[0]
        numbers = msgspec.json.decode(joined, type=list[int])
        if not numbers:
            return
        yield from signs.blocks_of(numbers, bytes.fromhex(codes))
        after = numbers[-1]


def created(tx: ReadTx, document_ids: Sequence[str], wanted: Filter) -> dict[str, int]:
    """When each of the documents was created; those that are not there, or in the trash, or not wanted are left out."""
    sql = _SELECT_FOUND.format(conditions=wanted.conditions)
    return dict(tx.rows(sql, ids=msgspec.json.encode(document_ids).decode(), status=UPLOADED, **wanted.values))
