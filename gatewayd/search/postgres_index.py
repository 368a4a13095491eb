"""The index as PostgreSQL keeps it: words in a `tsvector`, of our own stems, and vectors compared from their rows.

A `tsvector` has at most 256 places of a word, and none behind 16,383. So it tells how often a word is there and not
where: bm25 counts the name three times and numbers and codes twice, and the labels are the digits of that sum. What
stands side by side is looked up in the text itself, whose words are each in spaces of their own: ` rent  deposit `.

    'k.invoic':1B,2C,3C,4D     256 + 16 + 16 + 1
    'k=inv20250042':1D,2D      the same code where it has to be one, as FTS5's column filter has it

The beginning of a lexeme is of the organization's id: the lists that are read are one's own (decision 0029).
"""

import math
import operator
from array import array
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final, NamedTuple

import msgspec

from gatewayd.search.looking import Codes, Filter, MeaningHit, RankLimits, Spellings, Terms, WordGroups, WordHit
from gatewayd.search.terms import Word
from gatewayd.store import ReadTx, WriteTx

PARTS_OF_EACH: Final = 3  # Chosen: as SQLite's
_KEY_LENGTH: Final = 10  # Chosen: characters of an organization's id: all that is found is looked at by the id as well
_LEXEME_BYTES: Final = 2_000  # of 2,046 that PostgreSQL takes; a question has fewer
_NAME, _EXACT = 3, 2  # what bm25 counts a word for there (Domain C9); in the text once
_MOST: Final = 240 * 256  # what is counted of a word: far more than a part has
_COUNTED = "round(256 * ts_rank_cd('{{0.00390625, 0.0625, 1, 1}}', w.words, CAST(:{name} AS tsquery)))"
_SAID = "(strpos(w.name, :{name}) > 0 OR strpos(w.body, :{name}) > 0)"
_TIMES_SAID = (
    "(3 * (length(w.name) - length(replace(w.name, :{name}, '')))"
    " + length(w.body) - length(replace(w.body, :{name}, ''))) / length(:{name})"
)
_ADDED = ":idf_{name} * (f.{name} * 2.2 / (f.{name} + 1.2 * (0.25 + 0.75 * f.length / :average)))"

_INSERT = """
INSERT INTO vault_part_words (number, org_id, words, name, body, length)
VALUES (:number, :org_id, CAST(:words AS tsvector), :name, :body, :length)
"""
_COUNT_TERMS = """
INSERT INTO vault_terms (org_id, term, parts, exact_parts)
SELECT :org_id, t.term, 1, t.is_exact FROM json_to_recordset(CAST(:terms AS json)) AS t (term text, is_exact bigint)
ORDER BY t.term
ON CONFLICT (org_id, term) DO UPDATE SET
    parts = vault_terms.parts + 1, exact_parts = vault_terms.exact_parts + excluded.exact_parts
"""
_COUNT_PARTS = """
INSERT INTO vault_part_totals (org_id, parts, length) VALUES (:org_id, 1, :length)
ON CONFLICT (org_id) DO UPDATE SET
    parts = vault_part_totals.parts + 1, length = vault_part_totals.length + excluded.length
"""
_TERMS_OF = """
WITH gone AS (
    SELECT substr(l.lexeme, CAST(:own AS integer)) AS term,
        count(*) FILTER (WHERE substr(l.lexeme, CAST(:own AS integer) - 1, 1) = '.') AS parts,
        count(*) FILTER (WHERE substr(l.lexeme, CAST(:own AS integer) - 1, 1) = '=') AS exact_parts
    FROM vault_part_words w CROSS JOIN unnest(tsvector_to_array(w.words)) l (lexeme)
    WHERE w.org_id = :org_id AND w.number IN (SELECT CAST(j.value AS bigint) FROM {numbers} j (value))
    GROUP BY 1
)
"""
_DELETE_TERMS = """
DELETE FROM vault_terms t USING gone WHERE t.org_id = :org_id AND t.term = gone.term AND t.parts <= gone.parts
"""
_DISCOUNT_TERMS = """
UPDATE vault_terms t SET parts = t.parts - gone.parts, exact_parts = t.exact_parts - gone.exact_parts
FROM gone WHERE t.org_id = :org_id AND t.term = gone.term
"""
_DELETE_PARTS = """
WITH gone AS (
    DELETE FROM vault_part_words w
    WHERE w.org_id = :org_id AND w.number IN (SELECT CAST(j.value AS bigint) FROM {numbers} j (value))
    RETURNING w.length
)
UPDATE vault_part_totals t SET
    parts = t.parts - (SELECT count(*) FROM gone), length = t.length - (SELECT coalesce(sum(length), 0) FROM gone)
WHERE t.org_id = :org_id
"""
_LISTED = "json_array_elements_text(CAST(:{name} AS json))"
_COUNT_HITS = """
SELECT count(*) FROM (
    SELECT 1 FROM vault_part_words w
    WHERE w.org_id = :org_id AND w.words @@ CAST(:asked AS tsquery) {and_said} LIMIT :most
) s
"""
_KNOWN = (
    "SELECT t.term FROM vault_terms t WHERE t.org_id = :org_id AND t.term IN (SELECT j.value FROM {terms} j (value))"
)
_TERMS_FROM = """
SELECT t.term FROM vault_terms t WHERE t.org_id = :org_id AND t.term >= :first AND t.term < :behind ORDER BY t.term
"""
_HITS_OF_TERMS = """
SELECT t.term, t.parts, t.exact_parts FROM vault_terms t
WHERE t.org_id = :org_id AND t.term IN (SELECT j.value FROM {terms} j (value))
"""
_TOTALS_ANY_ORG = "SELECT sum(t.parts), sum(t.length) FROM vault_part_totals t"
# Each step is done before the next: words are counted of the newest alone, and each once for all that it is worth in.
_BY_WORDS = """
WITH found AS MATERIALIZED (
    SELECT w.number FROM vault_part_words w
    WHERE w.org_id = :org_id AND w.words @@ CAST(:asked AS tsquery) {and_said} {and_wanted}
), newest AS MATERIALIZED (
    SELECT n.number FROM found n ORDER BY n.number DESC LIMIT :newest
), counted AS MATERIALIZED (
    SELECT w.number, w.length, {counted} FROM newest n JOIN vault_part_words w ON w.number = n.number
), worth AS MATERIALIZED (
    SELECT f.number, {worth} FROM counted f
), best AS (
    SELECT s.number, s.score FROM (SELECT v.number, {score} AS score FROM worth v) s
    ORDER BY s.score DESC, s.number DESC LIMIT :best_parts
), of_documents AS (
    SELECT DISTINCT ON (p.document_id) p.document_id, p.first_page, p.last_page, b.score, b.number
    FROM best b JOIN vault_index_parts p ON p.org_id = :org_id AND p.number = b.number
    ORDER BY p.document_id, b.score DESC, b.number DESC
)
SELECT d.document_id, d.first_page, d.last_page FROM of_documents d
ORDER BY d.score DESC, d.number DESC LIMIT :documents
"""
_AND_WANTED = "AND w.number IN (SELECT p.number FROM vault_index_parts p WHERE p.org_id = :org_id {and_filtered})"
_SELECT_CODES = """
SELECT array_agg(s.number), string_agg(s.code, CAST('' AS bytea)) FROM (
    SELECT p.number, p.code FROM vault_chunks p
    WHERE p.org_id = :org_id AND p.model = :model AND p.code IS NOT NULL AND p.number > :after
        AND length(p.code) = :width {and_filtered}
    ORDER BY p.number LIMIT :count
) s
"""
_SELECT_VECTORS = """
SELECT c.number, c.vector, c.document_id, c.page, c.start, c.length FROM vault_chunks c
WHERE c.org_id = :org_id AND c.number IN (SELECT CAST(j.value AS bigint) FROM {numbers} j (value))
"""


_SELECT_LISTED = f"SELECT j.value FROM {_LISTED} j (value)"


class PostgresIndex:
    """See `Index`."""

    def kept(self, org_id: str, terms: Terms) -> Mapping[str, object]:
        exact = Counter(terms.exact)
        worth = Counter(terms.body)
        for counted, times in ((Counter(terms.name), _NAME), (exact, _EXACT)):
            for term, count in counted.items():
                worth[term] += times * count
        key = _key(org_id)
        lexemes = {f"{key}.{term}": count for term, count in worth.items()}
        lexemes |= {f"{key}={code}": _EXACT * count for code, count in exact.items()}
        listed = [{"term": term, "is_exact": int(term in exact)} for term in worth if _fits(f"{key}.{term}")]
        return {
            "words": " ".join(_lexeme(*one) for one in lexemes.items() if _fits(one[0])),
            "name": _said(terms.name),
            "body": _said(terms.body),
            "length": len(terms.name) + len(terms.body) + len(terms.exact),
            "terms": _json(listed),
        }

    def put(self, tx: WriteTx, number: int, kept: Mapping[str, object]) -> None:
        tx.run(_INSERT, number=number, **kept)
        tx.run(_COUNT_TERMS, terms=kept["terms"])
        tx.run(_COUNT_PARTS, length=kept["length"])

    def forget(self, tx: WriteTx, numbers: Sequence[int]) -> None:
        if not numbers:
            return
        listed = _LISTED.format(name="numbers")
        values = {"numbers": _json(numbers), "own": len(_key(tx.org_id)) + 2}
        for statement in (_DELETE_TERMS, _DISCOUNT_TERMS):
            tx.run(_TERMS_OF.format(numbers=listed) + statement, **values)
        tx.run(_DELETE_PARTS.format(numbers=listed), numbers=values["numbers"])

    def count_hits(self, tx: ReadTx, word: Spellings, most: int) -> int:
        sought = _Question(tx.org_id, [[word]])
        sql = _COUNT_HITS.format(and_said=sought.and_said)
        return int(tx.value(sql, most=most, **sought.values))

    def known(self, tx: ReadTx, stems: Collection[str]) -> set[str]:
        sql = _KNOWN.format(terms=_LISTED.format(name="terms"))
        return {term for (term,) in tx.rows(sql, terms=_json([*stems]))}

    def terms_from(self, tx: ReadTx, beginning: str) -> list[str]:
        return [term for (term,) in tx.rows(_TERMS_FROM, first=beginning, behind=f"{beginning}\U0010ffff")]

    def by_words(self, tx: ReadTx, asked: WordGroups, wanted: Filter, ranked: RankLimits) -> list[WordHit]:
        sought = _Question(tx.org_id, asked)
        rarity = self._rarity(tx, sought, ranked.newest)
        if rarity is None:
            return []
        # What is not wanted goes before the newest are taken, or what is wanted would not be among them.
        and_wanted = _AND_WANTED.format(and_filtered=wanted.clause) if wanted.conditions else ""
        sql = _BY_WORDS.format(
            and_said=sought.and_said,
            and_wanted=and_wanted,
            counted=sought.counted,
            worth=sought.worth,
            score=sought.score,
        )
        values = {"best_parts": PARTS_OF_EACH * ranked.documents, **ranked._asdict()}
        rows = tx.rows(sql, **values, **sought.values, **rarity, **wanted.values)
        return [WordHit(*row) for row in rows]

    def _rarity(self, tx: ReadTx, sought: "_Question", most: int) -> dict[str, float] | None:
        """What bm25 is computed with besides how often words are there, as FTS5 has it; None: there are no parts."""
        parts, length = tx.rows(_TOTALS_ANY_ORG)[0]
        if not parts:
            return None
        rarity = {"average": length / parts} | dict.fromkeys((f"idf_{name}" for name in sought.named), 1.0)
        if len(sought.named) == 1:  # of one thing alone it makes no difference how rare it is
            return rarity
        sql = _HITS_OF_TERMS.format(terms=_LISTED.format(name="terms"))
        hits = {term: counts for term, *counts in tx.rows(sql, terms=_json(sought.terms))}
        for name, piece in sought.named.items():
            if len(piece.stems) == 1:
                having = hits.get(piece.stems[0], (0, 0))[piece.is_exact]
            else:
                having = self.count_hits(tx, [Word("", piece.stems, None)], most + 1)
            rarity[f"idf_{name}"] = max(math.log((parts - having + 0.5) / (having + 0.5)), 1e-6)
        return rarity

    def codes(self, tx: ReadTx, sql_filter: str, values: Mapping[str, object]) -> Codes:
        numbers, signs = tx.rows(_SELECT_CODES.format(and_filtered=sql_filter), **values)[0]
        return Codes(numbers or [], bytes(signs or b""))

    def by_vector(self, tx: ReadTx, vector: bytes, numbers: Sequence[int]) -> list[MeaningHit]:
        sql = _SELECT_VECTORS.format(numbers=_LISTED.format(name="numbers"))
        asked, found = _floats(vector), []
        for number, other, document_id, page, start, length in tx.rows(sql, numbers=_json(numbers)):
            distance = _distance(asked, _floats(other))
            found.append((distance, -number, MeaningHit(document_id, page, start, length, distance)))
        return [hit for _, _, hit in sorted(found)]

    def listed(self, name: str) -> str:
        return _SELECT_LISTED.format(name=name)


class _Piece(NamedTuple):
    """What one phrase of FTS5 would be: stems side by side, or a number or code."""

    stems: tuple[str, ...]
    is_exact: bool


class _Question:
    """A question as SQL: what finds parts by the index, what is then looked for in their text, and what each is worth.

    Each piece has a name, `f0`, and so has each word, `s0`: it is worth what those of its pieces are that are there.
    """

    def __init__(self, org_id: str, asked: WordGroups) -> None:
        self._key = _key(org_id)
        pieces = [[_pieces_of(word) for word in group] for group in asked]
        different = dict.fromkeys(piece for group in pieces for word in group for piece in word)
        self.named = {f"f{number}": piece for number, piece in enumerate(different)}
        names = {piece: name for name, piece in self.named.items()}
        self._groups = [[tuple(names[piece] for piece in word) for word in group] for group in pieces]
        words = dict.fromkeys(word for group in self._groups for word in group)
        self._words = {word: f"s{number}" for number, word in enumerate(words)}
        finds = _any(_all(_any(map(self._lexemes, word)) for word in group) for group in self._groups)
        asked_of = {n: _said(p.stems) if self._is_phrase(n) else self._lexemes(n) for n, p in self.named.items()}
        self.values: dict[str, str] = {"asked": finds, **asked_of}

    def _is_phrase(self, name: str) -> bool:
        return len(self.named[name].stems) > 1

    def _lexemes(self, name: str) -> str:
        """A `tsquery` of what a part with the piece has at least."""
        mark = "=" if self.named[name].is_exact else "."
        return _all(_quoted(f"{self._key}{mark}{stem}") for stem in dict.fromkeys(self.named[name].stems))

    @property
    def terms(self) -> list[str]:
        """Those whose parts are counted already."""
        return [piece.stems[0] for name, piece in self.named.items() if not self._is_phrase(name)]

    @property
    def and_said(self) -> str:
        """What the index does not know: whether the stems of a phrase stand side by side."""
        if not any(map(self._is_phrase, self.named)):
            return ""
        groups = (
            "(" + " AND ".join("(" + " OR ".join(map(self._is_there, word)) + ")" for word in group) + ")"
            for group in self._groups
        )
        return f"AND ({' OR '.join(groups)})"

    def _is_there(self, name: str) -> str:
        return _SAID.format(name=name) if self._is_phrase(name) else f"w.words @@ CAST(:{name} AS tsquery)"

    @property
    def counted(self) -> str:
        """How often each piece is there."""
        return ", ".join(
            f"CAST({(_TIMES_SAID if self._is_phrase(name) else _COUNTED).format(name=name)} AS float8) AS {name}"
            for name in self.named
        )

    @property
    def worth(self) -> str:
        """What each word adds by bm25: 0 where it is not there."""
        return ", ".join(
            f"{' + '.join(_ADDED.format(name=name) for name in names)} AS {word}" for names, word in self._words.items()
        )

    @property
    def score(self) -> str:
        """A word counts once for each group that is there as a whole, as in FTS5."""
        return " + ".join(map(self._of_group, self._groups))

    def _of_group(self, group: Sequence[tuple[str, ...]]) -> str:
        words = [f"v.{self._words[names]}" for names in group]
        return f"CASE WHEN {' AND '.join(f'{word} > 0' for word in words)} THEN {' + '.join(words)} ELSE 0 END"


def _pieces_of(word: Spellings) -> tuple[_Piece, ...]:
    of_spellings = ((_Piece(one.stems, is_exact=False), one.exact) for one in word)
    return tuple(
        piece
        for stems, exact in of_spellings
        for piece in ((stems,) if exact is None else (stems, _Piece((exact,), is_exact=True)))
    )


def _all(queries: Iterable[str]) -> str:
    return "(" + " & ".join(queries) + ")"


def _any(queries: Iterable[str]) -> str:
    return "(" + " | ".join(queries) + ")"


def _key(org_id: str) -> str:
    return org_id[-_KEY_LENGTH:]


def _fits(lexeme: str) -> bool:
    return len(lexeme) <= _LEXEME_BYTES // 4 or len(lexeme.encode()) <= _LEXEME_BYTES


def _quoted(lexeme: str) -> str:
    return "'" + lexeme.replace("\\", "\\\\").replace("'", "''") + "'"


def _lexeme(lexeme: str, count: int) -> str:
    """A lexeme with its count, as a `tsvector` is written."""
    high, low = divmod(min(count, _MOST), 256)
    labels = "B" * high + "C" * (low // 16) + "D" * (low % 16)
    return f"{_quoted(lexeme)}:" + ",".join(f"{place}{label}" for place, label in enumerate(labels, 1))


def _said(stems: Sequence[str]) -> str:
    """A text of stems, in which some that stand side by side are found as their own text."""
    return "".join(f" {stem} " for stem in stems)


def _floats(vector: bytes) -> Sequence[float]:
    return array("f", vector)


def _distance(one: Sequence[float], other: Sequence[float]) -> float:
    """1 less the cosine."""
    return 1 - _product(one, other) / math.sqrt(_product(one, one) * _product(other, other))


def _product(one: Sequence[float], other: Sequence[float]) -> float:
    return sum(map(operator.mul, one, other), 0.0)


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()
