"""What search is made of: words, passages, ranks and snippets."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatewayd.extraction.shapes import Page
from gatewayd.search import passages, ranking, snippets, terms
from gatewayd.search.embedding import EmbeddingUnavailable, unit_vector
from gatewayd.search.index import code_of
from gatewayd.store.stemming import Stemmer


@pytest.mark.parametrize(
    ("text", "form"),
    [
        *(
            ("1,234.56", "1234.56"),
            ("£1,234.56", "1234.56"),
            ("(1,234)", "1234"),
            ("1,23", "123"),
            ("INV-0042", "inv0042"),
        ),
        *(("20-17-42", "201742"), ("GB/123", "gb123"), ("12.", "12"), ("word", None), ("7", "7"), ("-", None)),
    ],
)
def test_numbers_and_codes_have_one_form(text: str, form: str | None) -> None:
    assert terms.exact_form(text) == form


@pytest.mark.parametrize(
    ("text", "forms"),
    [
        ("van LX21 KFT, paid", {"lx21", "lx21kft"}),
        ("VAT GB 123 4567 82", {"123", "4567", "82", "vatgb123456782", "gb123456782", "123456782"}),
        ("THE BIG BARN", set[str]()),
    ],
)
def test_codes_in_groups_are_found_as_one(text: str, forms: set[str]) -> None:
    assert set(terms.exact_forms(text)) == forms


@pytest.mark.parametrize(
    ("one", "other", "letters"),
    [
        ("a", "a", 0),
        ("invioce", "invoice", 1),
        ("rent", "rant", 1),
        ("rent", "ent", 1),
        ("ab", "cd", 2),
        ("a", "xyz", 3),
    ],
)
def test_letters_that_differ_are_counted(one: str, other: str, letters: int) -> None:
    assert terms.distance(one, other, 2) == terms.distance(other, one, 2) == letters


@given(st.text("abc", min_size=1, max_size=6))
def test_variants_are_what_is_one_letter_away(word: str) -> None:
    found = set(terms.variants(word))
    assert {terms.distance(word, one, 3) for one in found} <= {0, 1}
    neighbours = {word[:i] + "q" + word[i:] for i in range(len(word) + 1)} | {
        word[:i] + word[i + 1 :] for i in range(len(word))
    }
    assert neighbours <= found


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
    assert [one.document_id for _, one in found] == order


def test_the_first_are_taken_with_what_ties_with_the_last() -> None:
    found = ranking.fused(["a", "b", "c"], ["x", "y"])
    taken = {count: {one.document_id for one in ranking.first(found, count)} for count in (1, 2, 3, 4, 5, 9)}
    assert taken[1] == taken[2] == {"a", "x"}
    assert taken[3] == taken[4] == {"a", "x", "b", "y"}
    assert taken[5] == taken[9] == {"a", "x", "b", "y", "c"}


@given(st.lists(st.text("ab \n.x", max_size=3000), max_size=4))
def test_passages_cover_a_text_once_and_in_order(texts: list[str]) -> None:
    pages = [Page(number=n, text=text) for n, text in enumerate(texts, 1)]
    found = passages.passages("name.txt", pages)
    for page in pages:
        spans = [(one.start, one.start + one.length) for one in found if one.page == page.number]
        assert all(end <= start for (_, end), (start, _) in itertools.pairwise(spans))
        covered = "".join(page.text[start:end] for start, end in spans)
        assert "".join(covered.split()) == "".join(page.text.split())
    assert all(one.length <= passages.PASSAGE_CHARACTERS for one in found)


@given(st.lists(st.text("ab ", max_size=50_000), max_size=4))
def test_parts_hold_the_whole_text(texts: list[str]) -> None:
    found = passages.parts([Page(number=n, text=text) for n, text in enumerate(texts, 1)])
    assert "".join("".join(one.text for one in found).split()) == "".join("".join(texts).split())
    assert all(len(one.text) <= passages.PART_CHARACTERS for one in found)


def test_highlights_are_in_characters() -> None:
    stemmer = Stemmer()
    text = "\U0001f3e0 Größe: the invoices — naïve, £5 — invoice\u0301d"
    (found,) = snippets.of_words([Page(number=1, text=text)], {"invoic", "naiv"}, stemmer)
    assert [found.text[a:b] for a, b in found.highlights][:2] == ["invoices", "naïve"]
    stemmer.close()


def test_the_passage_with_most_of_the_words_is_shown() -> None:
    stemmer = Stemmer()
    text = "roof " + "x " * 400 + "the roof and the gutter " + "x " * 400
    first, *_ = snippets.of_words([Page(number=3, text=text)], {"roof", "gutter"}, stemmer)
    assert "the roof and the gutter" in first.text
    assert len(first.text) <= snippets.SNIPPET_CHARACTERS
    assert first.page == 3
    stemmer.close()


def test_a_vector_of_no_direction_is_none() -> None:
    assert unit_vector([3.0, 4.0, 0, 0, 0, 0, 0, 0])[:8] == unit_vector([0.6, 0.8, 0, 0, 0, 0, 0, 0])[:8]
    for numbers in ([0.0] * 8, [float("nan")] * 8, [1.0] * 7, [float("inf")] * 8):
        with pytest.raises(EmbeddingUnavailable):
            unit_vector(numbers)


def test_the_code_of_a_vector_is_its_signs() -> None:
    assert code_of(unit_vector([1, -1, 1, 1, -1, -1, 1, 1, -1, 1, 1, 1, 1, 1, 1, 1])) == bytes([0b00110010, 1])
