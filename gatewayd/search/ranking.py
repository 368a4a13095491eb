"""Two lists of documents made one: reciprocal rank fusion (Domain C9). Pure."""

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple, Protocol, TypeVar

RANK_CONSTANT: Final = 60  # Domain C9


class OfDocument(Protocol):
    @property
    def document_id(self) -> str: ...


H = TypeVar("H", bound=OfDocument)


class Fused(NamedTuple):
    """A document with its places in the two lists, from 1; None: it is not in it."""

    document_id: str
    score: float
    text_rank: int | None
    vector_rank: int | None


def best_of_each(hits: Iterable[H]) -> dict[str, H]:
    """The first hit of each document, in their order."""
    best: dict[str, H] = {}
    for hit in hits:
        best.setdefault(hit.document_id, hit)
    return best


def placed(document_id: str, text_rank: int | None, vector_rank: int | None) -> Fused:
    """A document with its score."""
    score = sum(1 / (RANK_CONSTANT + rank) for rank in (text_rank, vector_rank) if rank is not None)
    return Fused(document_id, score, text_rank, vector_rank)


def fused(by_words: Iterable[str], by_meaning: Iterable[str]) -> list[Fused]:
    """The documents of both lists, the best first; those that tie in no order."""
    words = {id_: rank for rank, id_ in enumerate(by_words, 1)}
    meaning = {id_: rank for rank, id_ in enumerate(by_meaning, 1)}
    return sorted((placed(id_, words.get(id_), meaning.get(id_)) for id_ in words | meaning), key=_score, reverse=True)


def first(ranked: Sequence[Fused], count: int) -> Sequence[Fused]:
    """The first `count`, and all that tie with the last of these."""
    if len(ranked) <= count:
        return ranked
    least = ranked[count - 1].score
    return ranked[: bisect_right(ranked, -least, key=lambda hit: -hit.score)]


def in_order(hits: Iterable[Fused], created: Mapping[str, int]) -> list[Fused]:
    """The best first; those that tie the newest first, then by id. Those that are not in `created` are left out."""

    def place(hit: Fused) -> tuple[float, int, str]:
        return -hit.score, -created[hit.document_id], hit.document_id

    return sorted((hit for hit in hits if hit.document_id in created), key=place)


def _score(hit: Fused) -> float:
    return hit.score
