"""Two lists made one."""

from typing import NamedTuple

import pytest

from gatewayd.search import ranking


class Hit(NamedTuple):
    document_id: str
    number: int


def test_ranks_of_both_lists_add_up() -> None:
    """Domain C9: 1/(60 + rank), worked by hand: b 1/62 + 1/61, a 1/61, c 1/62."""
    found = ranking.fused(["a", "b"], ["b", "c"])
    assert [(one.document_id, round(one.score, 6), one.text_rank, one.vector_rank) for one in found] == [
        ("b", 0.032522, 2, 1),
        ("a", 0.016393, 1, None),
        ("c", 0.016129, None, 2),
    ]


@pytest.mark.parametrize(
    ("by_words", "by_meaning", "created", "order"),
    [
        (["a"], ["b"], {"a": 1, "b": 2}, ["b", "a"]),  # the newest first
        (["b"], ["a"], {"a": 1, "b": 1}, ["a", "b"]),  # then by id
        (["a", "b"], [], {"a": 1, "b": 2}, ["a", "b"]),
        (["a", "b"], [], {"b": 2}, ["b"]),  # one is not there any more
    ],
)
def test_what_ties_is_put_in_order(
    by_words: list[str], by_meaning: list[str], created: dict[str, int], order: list[str]
) -> None:
    found = ranking.in_order(ranking.fused(by_words, by_meaning), created)
    assert [one.document_id for one in found] == order


def test_the_first_are_taken_with_what_ties_with_the_last() -> None:
    found = ranking.fused(["a", "b", "c"], ["x", "y"])
    taken = {count: {one.document_id for one in ranking.first(found, count)} for count in (1, 2, 3, 4, 5, 9)}
    assert taken[1] == taken[2] == {"a", "x"}
    assert taken[3] == taken[4] == {"a", "x", "b", "y"}
    assert taken[5] == taken[9] == {"a", "x", "b", "y", "c"}
    assert list(ranking.first([], 1)) == []


def test_each_document_has_its_best_hit() -> None:
    found = ranking.best_of_each([Hit("b", 1), Hit("a", 2), Hit("b", 3)])
    assert list(found.items()) == [("b", Hit("b", 1)), ("a", Hit("a", 2))]
