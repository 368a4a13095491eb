"""The index as SQLite keeps it (decision 0029): FTS5, with words behind their organization, and sqlite-vec."""

from collections.abc import Collection, Mapping, Sequence
from typing import Final

import msgspec

from gatewayd.search.looking import Codes, Filter, MeaningHit, RankLimits, Spellings, Terms, WordGroups, WordHit
from gatewayd.search.terms import Word, kept
from gatewayd.store import ReadTx, WriteTx

PARTS_OF_EACH: Final = 3  # Chosen: parts that are looked up for each document of a list, since a long one may have many

_DELETE_WORDS = "DELETE FROM vault_words WHERE rowid = :number"
_INSERT_WORDS = "INSERT INTO vault_words (rowid, name, body, exact) VALUES (:number, :name, :body, :exact)"
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
ORDER BY best, p.number DESC LIMIT :documents
"""
# With the sign SQLite asks FTS5 once and looks each hit up; without it, it asks FTS5 anew for each part that is wanted.
_AND_WANTED = """AND +rowid IN (
    SELECT p.number FROM vault_index_parts p WHERE p.org_id = :org_id {and_filtered}
)"""
_SELECT_CODES = """
SELECT json_group_array(s.number), group_concat(hex(s.code), '') FROM (
    SELECT p.number, p.code FROM vault_chunks p
    WHERE p.org_id = :org_id AND p.model = :model AND p.code IS NOT NULL AND p.number > :after
        AND length(p.code) = :width {and_filtered}
    ORDER BY p.number LIMIT :count
) s
"""
_BY_VECTOR = """
SELECT c.document_id, c.page, c.start, c.length, vec_distance_cosine(c.vector, :vector) AS distance
FROM json_each(:numbers) j CROSS JOIN vault_chunks c ON c.number = j.value
WHERE c.org_id = :org_id
ORDER BY distance, c.number DESC
"""


_LISTED = "SELECT j.value FROM json_each({parameter}) j"


class SqliteIndex:
    """See `Index`."""

    def kept(self, org_id: str, terms: Terms) -> Mapping[str, object]:
        return {column: kept(org_id, of_column) for column, of_column in terms._asdict().items()}

    def put(self, tx: WriteTx, number: int, kept: Mapping[str, object]) -> None:
        tx.run(_INSERT_WORDS, number=number, **kept)

    def forget(self, tx: WriteTx, numbers: Sequence[int]) -> None:
        for number in numbers:
            tx.run(_DELETE_WORDS, number=number)

    def count_hits(self, tx: ReadTx, word: Spellings, most: int) -> int:
        return int(tx.value(_COUNT_HITS, expression=_of_spellings(tx.org_id, word), most=most))

    def known(self, tx: ReadTx, stems: Collection[str]) -> set[str]:
        return {stem for stem in stems if tx.row(_IS_KNOWN, term=kept(tx.org_id, [stem])) is not None}

    def terms_from(self, tx: ReadTx, beginning: str) -> list[str]:
        first, own = kept(tx.org_id, [beginning]), len(tx.org_id) + 1
        return [term[own:] for (term,) in tx.rows(_TERMS_FROM, first=first, behind=f"{first}\U0010ffff")]

    def by_words(self, tx: ReadTx, asked: WordGroups, wanted: Filter, ranked: RankLimits) -> list[WordHit]:
        # What is not wanted goes before the newest are taken, or what is wanted would not be among them.
        and_wanted = _AND_WANTED.format(and_filtered=wanted.clause) if wanted.conditions else ""
        rows = tx.rows(
            _BY_WORDS.format(and_wanted=and_wanted),
            expression=expression(tx.org_id, asked),
            best_parts=PARTS_OF_EACH * ranked.documents,
            **ranked._asdict(),
            **wanted.values,
        )
        return [WordHit(*row[:3]) for row in rows]

    def codes(self, tx: ReadTx, sql_filter: str, values: Mapping[str, object]) -> Codes:
        numbers, joined = tx.rows(_SELECT_CODES.format(and_filtered=sql_filter), **values)[0]
        return Codes(msgspec.json.decode(numbers, type=list[int]), bytes.fromhex(joined or ""))

    def by_vector(self, tx: ReadTx, vector: bytes, numbers: Sequence[int]) -> list[MeaningHit]:
        listed = msgspec.json.encode(numbers).decode()
        return [MeaningHit(*row) for row in tx.rows(_BY_VECTOR, vector=vector, numbers=listed)]

    def listed(self, name: str) -> str:
        return _LISTED.format(parameter=f":{name}")


def expression(org_id: str, asked: WordGroups) -> str:
    """What FTS5 is asked: each word in quotation marks."""
    return " OR ".join("(" + " AND ".join(_of_spellings(org_id, word) for word in group) + ")" for group in asked)


def _of_spellings(org_id: str, word: Spellings) -> str:
    return "(" + " OR ".join(_of_word(org_id, spelling) for spelling in word) + ")"


def _of_word(org_id: str, word: Word) -> str:
    phrase = f'"{kept(org_id, word.stems)}"'
    if len(word.stems) > 1:  # numbers stand side by side in `exact` that do not in the text
        phrase = f"{{name body}} : {phrase}"
    return phrase if word.exact is None else f'({phrase} OR exact : "{org_id}.{word.exact}")'
