"""Two lists of documents made one: reciprocal rank fusion (Domain C9). Pure."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple, Protocol, TypeVar

RANK_CONSTANT: Final = 60  # Domain C9


class OfDocument(Protocol):
    @property
    def document_id(self) -> str: ...


H = TypeVar("H", bound=OfDocument)


class Ranked(NamedTuple):
    """A document with its places in the two lists, from 1; None: it is not in it."""

    document_id: str
    score: float
    created_at: int
    text_rank: int | None
    vector_rank: int | None

    @property
    def place(self) -> "Place":
        return Place(-self.score, -self.created_at, self.document_id)


class Place(NamedTuple):
    """Where a document stands in the order of results: the smallest first."""

    score: float
    created: int
    document_id: str


def best_of_each(hits: Iterable[H]) -> dict[str, H]:
    """The first hit of each document, in their order."""
    found: dict[str, H] = {}
    for hit in hits:
        found.setdefault(hit.document_id, hit)
    return found


def fused(by_words: Sequence[str], by_meaning: Sequence[str], created: Mapping[str, int]) -> list[Ranked]:
    """The documents of both lists, the best first; those that are not in `created` are left out.

    Ties: the newest first, then by id.
    """
    places = [{id_: at for at, id_ in enumerate(of_list, 1)} for of_list in (by_words, by_meaning)]
    found = []
    for id_ in dict.fromkeys([*by_words, *by_meaning]):
        if id_ in created:
            ranks = [of_list.get(id_) for of_list in places]
            score = sum(1 / (RANK_CONSTANT + rank) for rank in ranks if rank is not None)
            found.append(Ranked(id_, score, created[id_], ranks[0], ranks[1]))
    return sorted(found, key=lambda one: one.place)
