"""Passages, parts and vectors."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatewayd.extraction.shapes import Page
from gatewayd.search import passages
from gatewayd.search.embedding import EmbeddingUnavailable, unit_vector
from gatewayd.search.index import code_of


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


def pages_of(*lengths: int) -> list[Page]:
    return [Page(number=number, text="z" * length) for number, length in enumerate(lengths, 1)]


@pytest.mark.parametrize(
    ("lengths", "parts"),
    [
        ((), [(0, 0)]),
        ((20_000,), [(1, 1)]),
        ((20_001,), [(1, 1), (1, 1)]),
        ((9_999, 10_001, 1), [(1, 2), (3, 3)]),
        ((20_000, 1, 1), [(1, 1), (2, 3)]),
        ((1, 20_000, 19_999, 1), [(1, 1), (2, 2), (3, 4)]),
    ],
)
def test_a_part_is_some_pages(lengths: tuple[int, ...], parts: list[tuple[int, int]]) -> None:
    assert [part[:2] for part in passages.parts(pages_of(*lengths))] == parts


def test_parts_are_cut_between_words_and_keep_the_lines_of_pages() -> None:
    (one,) = passages.parts([Page(number=1, text="a b"), Page(number=2, text="c")])
    assert one.text == "a b\nc"
    (one,) = passages.parts([Page(number=1, text="word " * 4_000)])
    assert one.text == "word " * 4_000
    first, second = passages.parts([Page(number=3, text="word " * 4_000 + "last")])
    assert (first.text, second.text) == ("word " * 4_000, "last")


def test_a_long_document_has_so_many_passages_and_no_more() -> None:
    assert [one.length for one in passages.passages("a.txt", pages_of(1_401))] == [700, 700, 1]
    found = passages.passages("a.txt", pages_of(*([10] * 300), 700 * 200, 5))
    assert (len(found), found[-1].page, found[-1].start) == (500, 301, 700 * 199)


@pytest.mark.parametrize(
    ("text", "ends"),
    [
        ("z" * 400 + "\n\n" + "z" * 400, [402, 802]),
        ("z" * 400 + ". " + "z" * 400, [402, 802]),
        ("z" * 400 + "\n" + "z" * 400, [401, 801]),
        ("z" * 298 + ". " + "z" * 202 + " " + "z" * 300, [503, 803]),  # the sentence ends too early
        ("z" * 349 + "\n" + "z" * 400, [700, 750]),
        ("word " * 139 + "words", [700]),
        ("z" * 351 + "\n" + "z" * 400, [352, 752]),
        ("z" * 300 + "?\n" + "z" * 100 + "\n" + "z" * 400, [403, 803]),  # the last of several
    ],
)
def test_a_passage_ends_with_a_paragraph_a_sentence_a_line_or_a_word(text: str, ends: list[int]) -> None:
    found = passages.passages("a.txt", [Page(number=1, text=text)])
    assert [one.start + one.length for one in found] == ends


def test_the_first_passage_has_the_name() -> None:
    first, second = passages.passages(
        "Boiler_service-2026.pdf", [*pages_of(0), *pages_of(3), Page(number=3, text="a  b")]
    )
    assert (first.page, first.text, second.page, second.text) == (1, "Boiler service 2026. zzz", 3, "a b")
    (only,) = passages.passages("a.txt", pages_of(0))
    assert only == (0, 0, 0, "a")
    assert (len(only.digest), only.digest) == (16, passages.Passage(9, 9, 9, "a").digest)
    assert only.digest != first.digest


@pytest.mark.parametrize(
    ("name", "said"),
    [("a.b.pdf", "a.b"), (".profile", ".profile"), ("README", "README"), ("___", "___"), ("x__y--z.txt", "x y z")],
)
def test_the_name_of_a_file_is_said_as_one_would(name: str, said: str) -> None:
    assert passages.spoken(name) == said


def test_a_vector_of_no_direction_is_none() -> None:
    assert unit_vector([3.0, 4.0, 0, 0, 0, 0, 0, 0])[:8] == unit_vector([0.6, 0.8, 0, 0, 0, 0, 0, 0])[:8]
    for numbers in ([0.0] * 8, [float("nan")] * 8, [1.0] * 7, [float("inf")] * 8):
        with pytest.raises(EmbeddingUnavailable):
            unit_vector(numbers)


def test_the_code_of_a_vector_is_its_signs() -> None:
    assert code_of(unit_vector([1, -1, 1, 1, -1, -1, 1, 1, -1, 1, 1, 1, 1, 1, 1, 1])) == bytes([0b00110010, 1])
