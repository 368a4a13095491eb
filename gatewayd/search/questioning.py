"""One question answered: what its words and its meaning find, as one list, with what is shown of each (Domain C9)."""

from collections.abc import Iterator
from typing import Final, NamedTuple

from gatewayd.areas.vault.documents import rows
from gatewayd.areas.vault.documents.rows import DOCUMENTS
from gatewayd.contract.pages import cursor_key, next_cursor
from gatewayd.errors import Problem
from gatewayd.search import filters, index, lookup, questions, ranking, snippets
from gatewayd.search.lookup import Filter, MeaningHit, WordHit
from gatewayd.search.questions import Question
from gatewayd.search.ranking import Fused, Place
from gatewayd.search.shapes import FoundDocument, Mode, SearchDocuments, SearchedDocuments, SearchWarning, Snippet
from gatewayd.search.signs import KeptBlocks
from gatewayd.store import ReadTx
from gatewayd.store.stemming import Stemmer

NEAREST: Final = 400  # Chosen: passages that are compared by themselves, of which a document may have many


class PreparedSearch(NamedTuple):
    """A question. `vector` None: it can be answered by words alone, for that `reason`."""

    request: SearchDocuments
    vector: bytes | None
    model: str
    reason: str

    @property
    def mode(self) -> Mode:
        """How it is answered."""
        return self.request.mode if self.vector is not None else "text"


class _Hits(NamedTuple):
    """The best hit of each document, by the two ways."""

    words: dict[str, WordHit]
    meaning: dict[str, MeaningHit]


def answer(tx: ReadTx, prepared: PreparedSearch, kept: KeptBlocks) -> SearchedDocuments:
    """A page of what is found, the best first. Raises `Problem`: `invalid_cursor`."""
    stemmer = Stemmer()
    try:
        question = questions.understand(tx, prepared.request.query, stemmer)
        hits = _hits(tx, prepared, question, filters.filter_of(tx, prepared.request.filters), kept)
        behind = _behind(tx, prepared.request, ranking.fused(hits.words, hits.meaning))
        page = behind[: prepared.request.limit]
        found = [_shown(tx, one, hits, question, stemmer) for _, one in page]
    finally:
        stemmer.close()
    has_more = len(behind) > len(page)
    return SearchedDocuments(
        data=found,
        next_cursor=_cursor(prepared.request, page[-1][0]) if has_more else None,
        mode_used=prepared.mode,
        warnings=list(_warnings(prepared, question)),
    )


def _hits(tx: ReadTx, prepared: PreparedSearch, question: Question, wanted: Filter, kept: KeptBlocks) -> _Hits:
    words: list[WordHit] = []
    meaning: list[MeaningHit] = []
    if prepared.mode != "vector":
        words = questions.documents_of(tx, question, wanted, most=prepared.mode == "hybrid")
    if prepared.vector is not None:
        meaning = lookup.by_meaning(tx, prepared.vector, prepared.model, wanted, NEAREST, kept)
    by_document = ranking.best_of_each(meaning)
    nearest = dict(list(by_document.items())[: questions.LIST_MAX])
    return _Hits(ranking.best_of_each(words), nearest)


# -- pages


def _behind(tx: ReadTx, request: SearchDocuments, ranked: list[Fused]) -> list[tuple[Place, Fused]]:
    """What lies behind the cursor, by its place: what came or went before it moves nothing.

    A page and one more, if there are as many: only of those is looked up when they were created.
    """
    last = _last(request)
    if last is not None:
        ranked = [one for one in ranked if -one.score >= last.score]
    count = 2 * request.limit
    while True:
        taken = ranking.first(ranked, count)
        created = lookup.created(tx, [one.document_id for one in taken])
        behind = [one for one in ranking.in_order(taken, created) if last is None or one[0] > last]
        if len(behind) > request.limit or len(taken) == len(ranked):
            return behind
        count *= 4


def _last(request: SearchDocuments) -> Place | None:
    """The place that the cursor names. Raises `Problem`: `invalid_cursor`."""
    key = cursor_key(request, str, int, str)
    if key is None:
        return None
    score, created, document_id = key
    try:
        return Place(float(score), int(created), str(document_id))
    except ValueError:
        raise Problem("invalid_cursor", "The cursor is not one of this search: start again without it.") from None


def _cursor(request: SearchDocuments, last: Place) -> str:
    return next_cursor(request, (repr(last.score), last.created, last.document_id))


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
