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


class Place(NamedTuple):
    """Where a document stands in the order of results: the smallest first. Ties: the newest first, then by id."""

    score: float
    created: int
    document_id: str


def best_of_each(hits: Iterable[H]) -> dict[str, H]:
    """The first hit of each document, in their order."""
    found: dict[str, H] = {}
    for hit in hits:
        found.setdefault(hit.document_id, hit)
    return found


def fused(by_words: Iterable[str], by_meaning: Iterable[str]) -> list[Fused]:
    """The documents of both lists, the best first; those that tie in no order."""
    found = {id_: Fused(id_, _share(rank), rank, None) for rank, id_ in enumerate(by_words, 1)}
    for rank, id_ in enumerate(by_meaning, 1):
        other = found.get(id_)
        if other is None:
            found[id_] = Fused(id_, _share(rank), None, rank)
        else:
            found[id_] = Fused(id_, other.score + _share(rank), other.text_rank, rank)
    return sorted(found.values(), key=_score, reverse=True)


def first(ranked: Sequence[Fused], count: int) -> Sequence[Fused]:
    """The first so many, with all that tie with the last of them."""
    if len(ranked) <= count:
        return ranked
    least = ranked[count - 1].score
    return ranked[: bisect_right(ranked, -least, key=lambda one: -one.score)]


def in_order(ranked: Iterable[Fused], created: Mapping[str, int]) -> list[tuple[Place, Fused]]:
    """Each with its place, in order; those that are not in `created` are left out."""
    return sorted(
        (Place(-one.score, -created[one.document_id], one.document_id), one)
        for one in ranked
        if one.document_id in created
    )


def _share(rank: int) -> float:
    return 1 / (RANK_CONSTANT + rank)


def _score(one: Fused) -> float:
    return one.score
