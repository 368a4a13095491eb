"""What is shown of a document that was found."""

from collections.abc import Iterator

import pytest

from gatewayd.areas.vault.search import Snippet
from gatewayd.extraction.shapes import Page
from gatewayd.search import snippets
from gatewayd.search.snippets import SNIPPET_CHARACTERS
from gatewayd.store.stemming import Stemmer


@pytest.fixture(name="stemmer")
def _stemmer() -> Iterator[Stemmer]:
    stemmer = Stemmer()
    yield stemmer
    stemmer.close()


def page(text: str, number: int = 1) -> Page:
    return Page(number=number, text=text)


def marked(snippet: Snippet) -> list[str]:
    return [snippet.text[start:end] for start, end in snippet.highlights]


def test_highlights_are_in_characters(stemmer: Stemmer) -> None:
    text = "\U0001f3e0 Größe: the invoices — naïve, £5 — invoice\u0301d"
    (found,) = snippets.of_words([page(text)], {"invoic", "naiv"}, stemmer)
    assert marked(found)[:2] == ["invoices", "naïve"]


def test_a_short_text_is_shown_whole_in_one_line(stemmer: Stemmer) -> None:
    (found,) = snippets.of_words([page("The roof\nof the barn\tleaks. ", 7)], {"roof", "leak"}, stemmer)
    assert found == Snippet(text="The roof of the barn leaks.", page=7, highlights=[[4, 8], [21, 26]])
    assert snippets.of_words([page("The roof")], {"gutter"}, stemmer) == []
    assert snippets.of_words([], {"roof"}, stemmer) == []


def test_the_passage_with_most_of_the_words_is_shown_first(stemmer: Stemmer) -> None:
    text = "roof " + "x " * 400 + "the roof and the gutter " + "x " * 400
    first, second = snippets.of_words([page(text, 3)], {"roof", "gutter"}, stemmer)
    assert marked(first) == ["roof", "gutter"]
    assert len(first.text) <= SNIPPET_CHARACTERS
    assert (first.page, second.page, marked(second)) == (3, 3, ["roof"])


def test_the_passage_with_most_of_the_words_may_be_the_last(stemmer: Stemmer) -> None:
    text = ("roof " + "x " * 300) * 3 + "the roof and the gutter"
    first, _ = snippets.of_words([page(text)], {"roof", "gutter"}, stemmer)
    assert marked(first) == ["roof", "gutter"]


def test_of_passages_with_as_many_of_the_words_the_first_are_shown(stemmer: Stemmer) -> None:
    text = (" x" * 300 + " ").join(f"roof, gutter {number}" for number in (1, 2, 3))
    found = snippets.of_words([page(text)], {"roof", "gutter"}, stemmer)
    assert ["gutter 1" in found[0].text, "gutter 2" in found[1].text, len(found)] == [True, True, 2]


def test_words_that_only_begin_alike_do_not_count(stemmer: Stemmer) -> None:
    text = "rooms " * 3 + "y " * 300 + "the gutters " + "y " * 300 + "roofs"
    found = snippets.of_words([page(text)], {"roof", "gutter"}, stemmer)
    assert sorted(marked(one)[0] for one in found) == ["gutters", "roofs"]


@pytest.mark.parametrize("texts", [("rooms, gutters", "roofs, gutters"), ("roofs, gutters", "rooms, gutters")])
def test_what_a_passage_really_has_puts_it_first(stemmer: Stemmer, texts: tuple[str, str]) -> None:
    first, second = snippets.of_words([page((" y" * 300 + " ").join(texts))], {"roof", "gutter"}, stemmer)
    assert (marked(first), marked(second)) == (["roofs", "gutters"], ["gutters"])


def test_passages_that_overlap_are_one(stemmer: Stemmer) -> None:
    text = "y " * 200 + "roof " + "x " * 100 + "roof"
    assert len(snippets.of_words([page(text)], {"roof"}, stemmer)) == 1
    line = "slates " + "z " * 116 + "\n"  # 240 characters
    assert len(snippets.of_words([page(line * 2)], {"slate"}, stemmer)) == 2


def test_endings_do_not_hide_a_word_that_stands_far_behind(stemmer: Stemmer) -> None:
    (found,) = snippets.of_words([page("z " * 400 + "a copy")], {"copi"}, stemmer)
    assert marked(found) == ["copy"]


def test_two_passages_from_different_places_are_shown(stemmer: Stemmer) -> None:
    text = "roof " * 400
    first, second = snippets.of_words([page(text)], {"roof"}, stemmer)
    assert (len(first.highlights), len(first.text.split())) == (30, 48), "no more are marked"
    pages = [page("a roof here", 1), page("a roof there", 2), page("a roof again", 3)]
    assert [one.page for one in snippets.of_words(pages, {"roof"}, stemmer)] == [1, 2]
    assert second.text.startswith("roof roof")


@pytest.mark.parametrize(
    ("before", "beginning"),
    [
        ("z" * 200 + "\nNow the ", "Now the slates"),
        ("z" * 100 + " one two " + "w" * 50 + " ", "one two www"),
        ("z" * 300 + "-", "slates z"),
        ("z" * 70 + "\none ", "zzz"),  # it is near the beginning
    ],
)
def test_a_passage_begins_with_a_line_or_a_word(stemmer: Stemmer, before: str, beginning: str) -> None:
    (found,) = snippets.of_words([page(f"{before}slates {'z ' * 200}")], {"slate"}, stemmer)
    assert found.text.startswith(beginning)
    assert not found.text.endswith(" ")


def test_no_word_is_cut_at_the_end(stemmer: Stemmer) -> None:
    text = "slates " + "abcdefghi " * 60
    (found,) = snippets.of_words([page(text)], {"slate"}, stemmer)
    assert found.text == "slates" + " abcdefghi" * 23
    (found,) = snippets.of_words([page("slates\n" + "abcdefghi\n" * 60)], {"slate"}, stemmer)
    assert found.text == "slates" + " abcdefghi" * 23
    (found,) = snippets.of_words([page("slates " + "z" * 500)], {"slate"}, stemmer)
    assert len(found.text) == 240, "a word that is longer is"


@pytest.mark.parametrize("length", [239, 240])
def test_a_text_that_is_no_longer_than_a_passage_keeps_its_last_word(stemmer: Stemmer, length: int) -> None:
    text = "slates " + "z" * (length - 15) + " gutters"
    (found,) = snippets.of_words([page(text)], {"slate"}, stemmer)
    assert (len(text), found.text) == (length, text)


def test_words_with_accents_are_found_at_the_beginning(stemmer: Stemmer) -> None:
    (found,) = snippets.of_words([page("Cafés à Paris")], {"cafe"}, stemmer)
    assert marked(found) == ["Cafés"]
    (found,) = snippets.of_words([page("Éclairs of Paris")], {"eclair"}, stemmer)
    assert marked(found) == ["Éclairs"]
    (found,) = snippets.of_words([page("\u0130 " * 200 + " the slates")], {"slate"}, stemmer)
    assert marked(found) == ["slates"], "a letter that becomes two when it is folded moves nothing"


def test_the_beginning_of_a_passage_that_is_near_in_meaning() -> None:
    text = "Before.\nThe cover of your van\nis renewed. After."
    assert snippets.of_passage(page(text, 4), 8, 34) == Snippet(
        text="The cover of your van is renewed.", page=4, highlights=[]
    )
    long = snippets.of_passage(page("word " * 200), 5, 700)
    assert long.text == ("word " * 48).strip()


def test_a_name_is_shown_with_what_was_found_of_it(stemmer: Stemmer) -> None:
    found = snippets.of_name("Invoice roof.pdf", {"roof"}, stemmer)
    assert found == Snippet(text="Invoice roof.pdf", page=None, highlights=[[8, 12]])
