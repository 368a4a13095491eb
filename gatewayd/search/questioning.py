"""One question answered: what its words and its meaning find, as one list, with what is shown of each (Domain C9)."""

import itertools
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from gatewayd.areas.vault.documents import rows
from gatewayd.areas.vault.documents.rows import DOCUMENTS
from gatewayd.areas.vault.search import FoundDocument, Mode, SearchDocuments, SearchedDocuments, SearchWarning, Snippet
from gatewayd.search import cursors, filters, index, lookup, questions, ranking, snippets
from gatewayd.search.cursors import ToCome
from gatewayd.search.lookup import Filter, MeaningHit, WordHit
from gatewayd.search.questions import Question
from gatewayd.search.ranking import Fused, H
from gatewayd.search.signs import KeptBlocks
from gatewayd.store import ReadTx
from gatewayd.store.stemming import Stemmer

NEAREST: Final = 400  # Chosen: passages that are compared by themselves, of which a document may have many


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


def answer(tx: ReadTx, prepared: PreparedSearch, kept: KeptBlocks) -> SearchedDocuments:
    """A page of what is found, the best first."""
    stemmer = Stemmer()
    try:
        question = questions.understand(tx, prepared.request.query, stemmer)
        wanted = filters.filter_of(tx, prepared.request.filters)
        ranked, hits = _looked_for(tx, prepared, question, wanted, kept)
        limit = prepared.request.limit
        found = [_shown(tx, one, hits, question, stemmer) for one in ranked[:limit]]
    finally:
        stemmer.close()
    return SearchedDocuments(
        data=found,
        next_cursor=cursors.cursor(prepared.request, ToCome(prepared.mode, ranked[limit:])),
        mode_used=prepared.mode,
        warnings=list(_warnings(prepared, question)),
    )


def _looked_for(
    tx: ReadTx, prepared: PreparedSearch, question: Question, wanted: Filter, kept: KeptBlocks
) -> tuple[list[Fused], _Hits]:
    """What is on the page and behind it, and at least the hits of the page."""
    if prepared.begun is None:
        hits = _hits(tx, prepared, question, wanted, kept)
        return _ordered(tx, ranking.fused(hits.words, hits.meaning), prepared.request.limit, wanted), hits
    ranked = _ordered(tx, prepared.begun.ranked, prepared.request.limit, wanted)
    page = wanted.among([one.document_id for one in ranked[: prepared.request.limit]])
    return ranked, _hits(tx, prepared, question, page, kept)


def _ordered(tx: ReadTx, ranked: Sequence[Fused], limit: int, wanted: Filter) -> list[Fused]:
    """Those that are there, in order. Only of a page and one more it is looked up when they were created."""
    count = 2 * limit
    while True:
        taken = ranking.first(ranked, count)
        created = lookup.created(tx, [one.document_id for one in taken], wanted)
        there = ranking.in_order(taken, created)
        if len(there) > limit or len(taken) == len(ranked):
            return [*there, *ranked[len(taken) :]]
        count *= 4


def _hits(tx: ReadTx, prepared: PreparedSearch, question: Question, wanted: Filter, kept: KeptBlocks) -> _Hits:
    words: list[WordHit] = []
    meaning: list[MeaningHit] = []
    if prepared.mode != "vector":
        words = questions.documents_of(tx, question, wanted, most=prepared.mode == "hybrid")
    if prepared.vector is not None:
        meaning = lookup.by_meaning(tx, prepared.vector, prepared.model, wanted, NEAREST, kept)
    return _Hits(_first(words), _first(meaning))


def _first(hits: list[H]) -> dict[str, H]:
    """The best hit of each document, of as many as a list has."""
    return dict(itertools.islice(ranking.best_of_each(hits).items(), questions.LIST_MAX))


# -- what is shown


def _shown(tx: ReadTx, one: Fused, hits: _Hits, question: Question, stemmer: Stemmer) -> FoundDocument:
    document = rows.shown(tx, DOCUMENTS.get(tx, one.document_id))
    found = list(_of_words(tx, hits.words.get(one.document_id), question, stemmer))
    if not found:
        found = list(_of_meaning(tx, hits.meaning.get(one.document_id)))
    return FoundDocument(
        document=document,
        score=one.score,
        text_rank=one.text_rank,
        vector_rank=one.vector_rank,
        snippets=found or [snippets.of_name(document.name, question.stems, stemmer)],
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
