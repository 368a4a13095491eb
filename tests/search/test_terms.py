"""What is looked for, and words as the index keeps them."""

import time
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatewayd.search import terms
from gatewayd.search.looking import all_of, any_of
from gatewayd.search.sqlite_index import expression
from gatewayd.search.terms import Word
from gatewayd.store.stemming import Stemmer


@pytest.fixture(name="stemmer")
def _stemmer() -> Iterator[Stemmer]:
    stemmer = Stemmer()
    yield stemmer
    stemmer.close()


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("leaking roofs", [Word("leaking", ("leak",), None), Word("roofs", ("roof",), None)]),
        ("roof Roofs & --", [Word("roof", ("roof",), None)]),
        ("rent/deposit:", [Word("rent", ("rent",), None), Word("deposit", ("deposit",), None)]),
        ("INV/2025/0042", [Word("INV/2025/0042", ("inv", "2025", "0042"), "inv20250042")]),
        ('"notice 21 days"', [Word("notice 21 days", ("notic", "21", "dai"), None)]),
        ('"" "', []),
    ],
)
def test_a_question_is_cut_into_words(stemmer: Stemmer, question: str, words: list[Word]) -> None:
    assert terms.words_of(question, stemmer) == words


def test_a_long_question_is_cut_off(stemmer: Stemmer) -> None:
    assert [word.text for word in terms.words_of(" ".join(map(str, range(99))), stemmer)] == [*map(str, range(32))]


def test_what_nearly_every_text_has_counts_where_there_is_no_other(stemmer: Stemmer) -> None:
    words = terms.words_of("What is THE rent", stemmer)
    assert [word.text for word in terms.without_stop_words(words)] == ["rent"]
    only = terms.words_of("to be or", stemmer)
    assert terms.without_stop_words(only) == only


def test_fts5_is_asked_for_words_behind_their_organization() -> None:
    words = [Word("roof tiles", ("roof", "tile"), None), Word("A-1", ("a", "1"), "a1")]
    assert expression("org_x", all_of([words[:1], words[1:]])) == (
        '(({name body} : "org_x.roof org_x.tile") AND (({name body} : "org_x.a org_x.1" OR exact : "org_x.a1")))'
    )
    assert expression("org_x", any_of([[Word("a", ("a",), None)], [Word("b", ("b",), None)]])) == (
        '(("org_x.a")) OR (("org_x.b"))'
    )


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
        *(("x7", "x7"), ("#7", None), ("a" * 39 + "1", "a" * 39 + "1"), ("a" * 40 + "1", None), ("-12.50", "12.50")),
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
        ("Order of 7 x", {"7"}),
        ("ABCD ABCD ABCD ABCD ABCD ABCD ABCD ABCD ABC1", {"abc1"} | {("abcd" * n) + "abc1" for n in range(1, 9)}),
    ],
)
def test_codes_in_groups_are_found_as_one(text: str, forms: set[str]) -> None:
    assert set(terms.exact_forms(text)) == forms


@pytest.mark.parametrize("unit", ["a", "\1", "発", "1", "1,111.", "-", "AB12 ", "A ", "\n"])
def test_a_text_of_strangers_takes_no_longer_than_another(unit: str) -> None:
    """A document without a space is one word; what takes its codes out stops everything else meanwhile."""

    def seconds(text: str) -> float:
        began = time.process_time()
        list(terms.exact_forms(text))
        return time.process_time() - began

    def of(unit: str) -> str:
        return unit * (20_000 // len(unit))

    most = 12 * min(seconds(of("paid 12.00 for oak, INV-1 ")) for _ in range(3))  # one that backtracks takes thousands
    assert any(seconds(of(unit)) < most for _ in range(3))


@pytest.mark.parametrize(
    ("one", "other", "letters"),
    [
        ("a", "a", 0),
        ("invioce", "invoice", 1),
        ("rent", "rant", 1),
        ("rent", "ent", 1),
        ("ab", "cd", 2),
        ("a", "xyz", 3),
        ("abcd", "badc", 2),
        ("abc", "ca", 3),
        ("a", "vwxyz", 3),  # and more, which is not counted
        ("", "ab", 2),
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


def test_the_variants_of_two_letters() -> None:
    letters = "abcdefghijklmnopqrstuvwxyz"
    expected = {"a", "b", "ba"}
    for each in letters:
        expected |= {f"{each}b", f"a{each}", f"{each}ab", f"a{each}b", f"ab{each}"}
    assert set(terms.variants("ab")) == expected
