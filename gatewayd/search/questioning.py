"""One question answered: what its words and its meaning find, as one list, with what is shown of each (Domain C9)."""

import datetime
import itertools
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

import msgspec

from gatewayd.areas.vault.documents import rows
from gatewayd.areas.vault.documents.rows import DOCUMENTS
from gatewayd.areas.vault.folders.rows import Tree
from gatewayd.areas.vault.names import TOP
from gatewayd.areas.vault.search import (
    FoundDocument,
    Mode,
    SearchDocuments,
    SearchedDocuments,
    SearchFilters,
    SearchWarning,
    Snippet,
)
from gatewayd.clock import from_moment
from gatewayd.errors import invalid_field
from gatewayd.ledger.lists import contains
from gatewayd.search import cursors, index, lookup, ranking, snippets, terms
from gatewayd.search.cursors import ToCome
from gatewayd.search.looking import Filter, Index, MeaningHit, RankLimits, WordGroups, WordHit, all_of, any_of
from gatewayd.search.lookup import Meant
from gatewayd.search.ranking import Fused, H
from gatewayd.search.signs import KeptBlocks
from gatewayd.search.terms import Word
from gatewayd.store import ReadTx
from gatewayd.store.stemming import Stemmer

LIST_MAX: Final = 200  # Chosen: documents of one list
RANKED_MAX: Final = 10_000  # Chosen: parts of which bm25 is computed, half a microsecond each; of more, the newest
COMBINED_MAX: Final = 6  # Chosen: words of which more than half are asked for together, in 15 combinations at most
SPELLED_MIN: Final = 4  # Chosen: letters of a word that may be mistyped
TWO_LETTERS_MIN: Final = 7  # Chosen: of one that may be so in two letters
_CORRECTIONS_MAX: Final = 4
_MISTYPED_MAX: Final = 3  # Chosen: words of a question
_UNREAD = " AND NOT EXISTS (SELECT 1 FROM vault_parses r WHERE r.org_id = :org_id AND r.document_id = d.id)"
_READ = (
    " AND EXISTS (SELECT 1 FROM vault_parses r"
    " WHERE r.org_id = :org_id AND r.document_id = d.id AND r.status = :parse_status)"
)
NEAREST: Final = 400  # Chosen: passages that are compared by themselves, of which a document may have many


class Known(NamedTuple):
    """A word of a question and the spellings of it that texts have: itself, or what it was probably meant to be."""

    word: Word
    spellings: tuple[Word, ...]
    hits: int


class Question(NamedTuple):
    """The words that some text has, and those that none has."""

    words: list[Known]
    unknown: list[Word]

    @property
    def stems(self) -> frozenset[str]:
        """What is highlighted."""
        return frozenset(stem for known in self.words for spelling in known.spellings for stem in spelling.stems)

    @property
    def corrected(self) -> list[Known]:
        """The words that were taken for others."""
        return [known for known in self.words if known.spellings[0] != known.word]


def understand(tx: ReadTx, into: Index, text: str, stemmer: Stemmer) -> Question:
    """The words of a question as the organization's texts have them."""
    words: list[Known] = []
    unknown: list[Word] = []
    looked_up = 0
    for word in terms.without_stop_words(terms.words_of(text, stemmer)):
        spellings: tuple[Word, ...] = (word,)
        hits = into.count_hits(tx, spellings, RANKED_MAX + 1)
        if hits == 0 and looked_up < _MISTYPED_MAX and _may_be_mistyped(word):
            looked_up += 1
            spellings = tuple(_corrections(tx, into, word, stemmer))
            hits = into.count_hits(tx, spellings, RANKED_MAX + 1) if spellings else 0
        if hits:
            words.append(Known(word, spellings, hits))
        else:
            unknown.append(word)
    return Question(words, unknown)


def documents_of(tx: ReadTx, into: Index, question: Question, wanted: Filter, *, most: bool) -> list[WordHit]:
    """The parts of documents with its words: first those that have all, then those that have some of the rarer.

    `most`: more than half of them, or a number or code, so that what one common word finds does not come before what
    is near in meaning.
    """
    if not question.words:
        return []
    ranked = RankLimits(RANKED_MAX, LIST_MAX)
    hits: list[WordHit] = []
    if not (most and question.unknown):
        hits = into.by_words(tx, all_of([known.spellings for known in question.words]), wanted, ranked)
    if len(hits) >= LIST_MAX:
        return hits
    some = _more_than_half(question) if most else _any_of_rarest(question)
    return hits + into.by_words(tx, some, wanted, ranked) if some else hits


def _any_of_rarest(question: Question) -> WordGroups:
    """One of the rarer words; empty: the question is a single word, which was asked for already."""
    if len(question.words) == 1:
        return []
    return any_of([known.spellings for known in _rarest(question.words)])


def _more_than_half(question: Question) -> WordGroups:
    """More than half of the words, of a long question of the rarest, or a number or code that is in it."""
    count = len(question.words) + len(question.unknown)
    rarest = sorted(question.words, key=lambda known: known.hits)[:COMBINED_MAX]
    needed = min(count, COMBINED_MAX) // 2 + 1
    together = itertools.combinations([known.spellings for known in rarest], needed)
    exact = [known.spellings for known in question.words if known.word.exact is not None]
    return [*any_of(exact), *together]


def _rarest(words: list[Known]) -> list[Known]:
    """Those that few enough parts have that each can be ranked; the rarest always."""
    by_hits = sorted(words, key=lambda known: known.hits)
    taken, room = by_hits[:1], RANKED_MAX - by_hits[0].hits
    for known in by_hits[1:]:
        room -= known.hits
        if room < 0:
            break
        taken.append(known)
    return taken


def _may_be_mistyped(word: Word) -> bool:
    return len(word.stems) == 1 and len(word.text) >= SPELLED_MIN and word.text.isalpha() and word.text.isascii()


def _corrections(tx: ReadTx, into: Index, word: Word, stemmer: Stemmer) -> list[Word]:
    """Words that texts have, by their stems, and that this one was probably meant to be."""
    text = word.text.lower()
    # Few mistype the first letter; without it, what a question is about is taken for anything that rhymes with it.
    variants = [text[0] + following for following in terms.variants(text[1:])]
    meant: dict[str, str] = {}
    for stem, variant in zip(stemmer.stems(" ".join(variants)), variants, strict=True):
        meant.setdefault(stem, variant)
    known = into.known(tx, [stem for stem in meant if len(stem) >= SPELLED_MIN - 1])
    corrections = [(other, spelled) for other, spelled in meant.items() if other in known]
    if not corrections and len(text) >= TWO_LETTERS_MIN:
        (stem,) = word.stems
        alike = into.terms_from(tx, stem[:2])
        ranked = sorted((terms.distance(stem, other, 2), other) for other in alike)
        corrections = [(other, other) for letters, other in ranked if letters <= 2]
    return [Word(spelled, (stem,), None) for stem, spelled in corrections[:_CORRECTIONS_MAX]]


class _Condition(NamedTuple):
    sql: str
    name: str
    value: object


def filter_of(tx: ReadTx, into: Index, filters: SearchFilters) -> Filter:
    """The filter of a request. A folder that there is not holds nothing.

    Raises `Problem` `validation_failed` where media types are given under both names.
    """
    if filters.mime_type is not None and filters.mime_types is not None:
        raise invalid_field("filters.mimeTypes", "conflict", "It is another name of `mimeType`: give one of the two.")
    active = [condition for condition in _conditions(tx, into, filters) if condition.value is not None]
    values = {condition.name: condition.value for condition in active}
    conditions = "".join(condition.sql for condition in active)
    if filters.parse_status == "none":
        return Filter(conditions + _UNREAD, values)
    return Filter(conditions, values)


def _conditions(tx: ReadTx, into: Index, filters: SearchFilters) -> Iterator[_Condition]:
    def in_list(column: str, name: str, values: list[str] | None) -> _Condition:
        sql = f" AND {column} IN ({into.listed(name)})"
        return _Condition(sql, name, None if values is None else msgspec.json.encode(values).decode())

    yield in_list("d.folder_id", "folder_ids", _with_those_below(tx, filters.folder_ids))
    yield _Condition(" AND coalesce(d.folder_id, '') = :folder_id", "folder_id", _folder(filters.folder_id))
    yield in_list("d.mime_type", "mime_types", filters.mime_type or filters.mime_types)
    yield _Condition(" AND d.starred = :starred", "starred", filters.starred)
    yield _Condition(" AND d.created_at >= :created_from", "created_from", _instant(filters.created_from))
    yield _Condition(" AND d.created_at <= :created_to", "created_to", _instant(filters.created_to))
    yield _Condition(" AND d.document_date >= :date_from", "date_from", _date_text(filters.document_date_from))
    yield _Condition(" AND d.document_date <= :date_to", "date_to", _date_text(filters.document_date_to))
    yield _Condition(" AND d.contract_id = :contract_id", "contract_id", filters.contract_id)
    if filters.parse_status != "none":
        yield _Condition(_READ, "parse_status", filters.parse_status)
    link = None if filters.property_id is None else rows.link_to_property(filters.property_id)
    yield _Condition(" AND d.links LIKE :link ESCAPE '!'", "link", contains(link))


def _with_those_below(tx: ReadTx, folder_ids: list[str] | None) -> list[str] | None:
    if folder_ids is None:
        return None
    tree = Tree(tx)
    return sorted({id_ for folder_id in folder_ids for id_ in tree.below(folder_id)})


def _folder(folder_id: str | None) -> str | None:
    return "" if folder_id == TOP else folder_id


def _instant(moment: datetime.datetime | None) -> int | None:
    return None if moment is None else int(from_moment(moment))


def _date_text(date: datetime.date | None) -> str | None:
    return None if date is None else date.isoformat()


class PreparedSearch(NamedTuple):
    """A question. `begun` None: its first page. `vector` None: it can be answered by words alone, for that `reason`."""

    request: SearchDocuments
    begun: ToCome | None
    vector: bytes | None
    model: str
    reason: str

    @property
    def mode(self) -> Mode:
        """How it is answered: later pages as the first, for they have its order."""
        if self.begun is not None:
            return self.begun.mode
        return self.request.mode if self.vector is not None else "text"


class _Hits(NamedTuple):
    """The best hit of each document, by the two ways."""

    words: dict[str, WordHit]
    meaning: dict[str, MeaningHit]


def answer(tx: ReadTx, into: Index, prepared: PreparedSearch, kept: KeptBlocks) -> SearchedDocuments:
    """A page of what is found, the best first."""
    stemmer = Stemmer()
    try:
        question = understand(tx, into, prepared.request.q, stemmer)
        wanted = filter_of(tx, into, prepared.request.filters)
        ranked, hits = _Look(tx, into, prepared, kept).for_question(question, wanted)
        limit = prepared.request.limit
        shown = [_shown(tx, hit, hits, question, stemmer) for hit in ranked[:limit]]
    finally:
        stemmer.close()
    return SearchedDocuments(
        data=shown,
        next_cursor=cursors.cursor(prepared.request, ToCome(prepared.mode, ranked[limit:])),
        mode_used=prepared.mode,
        warnings=list(_warnings(prepared, question)),
    )


class _Look(NamedTuple):
    """Where is looked, for which page, and what is remembered of signs."""

    tx: ReadTx
    into: Index
    prepared: PreparedSearch
    kept: KeptBlocks

    def for_question(self, question: Question, wanted: Filter) -> tuple[list[Fused], _Hits]:
        """What is on the page and behind it, and at least the hits of the page."""
        limit = self.prepared.request.limit
        if self.prepared.begun is None:
            hits = self._hits(question, wanted)
            return self._ordered(ranking.fused(hits.words, hits.meaning), limit, wanted), hits
        ranked = self._ordered(self.prepared.begun.ranked, limit, wanted)
        return ranked, self._hits(question, wanted.among(self.into, [hit.document_id for hit in ranked[:limit]]))

    def _ordered(self, ranked: Sequence[Fused], limit: int, wanted: Filter) -> list[Fused]:
        """Those that are there, in order. Only of a page and one more it is looked up when they were created."""
        count = 2 * limit
        while True:
            taken = ranking.first(ranked, count)
            created = lookup.created(self.tx, self.into, [hit.document_id for hit in taken], wanted)
            there = ranking.in_order(taken, created)
            if len(there) > limit or len(taken) == len(ranked):
                return [*there, *ranked[len(taken) :]]
            count *= 4

    def _hits(self, question: Question, wanted: Filter) -> _Hits:
        words: list[WordHit] = []
        meaning: list[MeaningHit] = []
        if self.prepared.mode != "vector":
            words = documents_of(self.tx, self.into, question, wanted, most=self.prepared.mode == "hybrid")
        if self.prepared.vector is not None:
            meant = Meant(self.prepared.vector, self.prepared.model)
            meaning = lookup.by_meaning(self.tx, self.into, meant, wanted, NEAREST, self.kept)
        return _Hits(_first(words), _first(meaning))


def _first(hits: list[H]) -> dict[str, H]:
    """The best hit of each document, of as many as a list has."""
    return dict(itertools.islice(ranking.best_of_each(hits).items(), LIST_MAX))


# -- what is shown


def _shown(tx: ReadTx, hit: Fused, hits: _Hits, question: Question, stemmer: Stemmer) -> FoundDocument:
    document = rows.shown(tx, DOCUMENTS.get(tx, hit.document_id))
    shown = list(_of_words(tx, hits.words.get(hit.document_id), question, stemmer))
    if not shown:
        shown = list(_of_meaning(tx, hits.meaning.get(hit.document_id)))
    return FoundDocument(
        document=document,
        score=hit.score,
        text_rank=hit.text_rank,
        vector_rank=hit.vector_rank,
        snippets=shown or [snippets.of_name(document.name, question.stems, stemmer)],
    )


def _of_words(tx: ReadTx, hit: WordHit | None, question: Question, stemmer: Stemmer) -> list[Snippet]:
    if hit is None or not hit.last_page:
        return []
    pages = index.pages_between(tx, hit.document_id, hit.first_page, hit.last_page)
    return snippets.of_words(pages, question.stems, stemmer)


def _of_meaning(tx: ReadTx, hit: MeaningHit | None) -> Iterator[Snippet]:
    if hit is not None and hit.page:
        for page in index.pages_between(tx, hit.document_id, hit.page, hit.page):
            yield snippets.of_passage(page, hit.start, hit.length)


def _warnings(prepared: PreparedSearch, question: Question) -> Iterator[SearchWarning]:
    if prepared.request.mode != prepared.mode:
        yield SearchWarning(code="no_embeddings", message=f"It was looked for by words alone: {prepared.reason}.")
    if prepared.mode != "vector":
        for known in question.corrected:
            meant = ", ".join(spelling.text for spelling in known.spellings)
            message = f"No document has {known.word.text}: {meant} was looked for."
            yield SearchWarning(code="spelling", message=message)
