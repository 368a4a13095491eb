"""What may be asked: anything a person types is words, and none of it is the language of an index."""

import pytest

from tests.search.conftest import OpenShelf


@pytest.mark.parametrize(
    "query",
    [
        *("slates AND", "AND", '"slates', '"slates"', "slates*", "NEAR(slates tiles, 5)", "slates OR", "NOT slates"),
        *("name:slates", "{name body} : slates", "slates ^tiles", "-slates", "(slates", "slates'; --", "slates\x00"),
        *("slates \U0001f3e0", "slates " * 57, "  slates\n\t", "slates \ud800".encode("utf-8", "replace").decode()),
    ],
)
async def test_signs_of_a_query_language_are_none(open_shelf: OpenShelf, query: str) -> None:
    async with open_shelf() as shelf:
        id_ = await shelf.add("Invoice for slates.")
        assert await shelf.ids(query) == ([] if query == "AND" else [id_])


@pytest.mark.parametrize("query", ["\U0001f3e0", "***", '""', '"', "...", "\u200b", "-"])
async def test_a_query_without_words_finds_nothing_by_words(open_shelf: OpenShelf, query: str) -> None:
    async with open_shelf() as shelf:
        await shelf.add("Invoice \U0001f3e0 for slates ***.")
        assert await shelf.ids(query) == []
        assert (await shelf.search(query, mode="text")).warnings == []


async def test_numbers_and_codes_are_found_however_they_are_punctuated(open_shelf: OpenShelf) -> None:
    async with open_shelf() as shelf:
        invoice = await shelf.add("Invoice INV-2025-0042 of £1,234.56, sort code 20-17-42, VAT GB 123 4567 89", "a.txt")
        await shelf.add("Invoice INV-2025-0043 of £1,234.57, sort code 20-17-43", "b.txt")
        for query in ("INV-2025-0042", "inv20250042", "INV/2025/0042", "1234.56", "£1,234.56", "20-17-42", "201742"):
            assert await shelf.ids(query) == [invoice], query


async def test_what_stands_in_quotation_marks_is_found_as_it_stands(open_shelf: OpenShelf) -> None:
    async with open_shelf() as shelf:
        lease = await shelf.add("Notice to quit the upper flat.", "a.txt")
        other = await shelf.add("The flat upper side; quit without notice.", "b.txt")
        assert await shelf.ids('"notice to quit"') == [lease]
        assert sorted(await shelf.ids("notice to quit")) == sorted([lease, other])


async def test_numbers_with_words_between_them_do_not_stand_side_by_side(open_shelf: OpenShelf) -> None:
    async with open_shelf() as shelf:
        together = await shelf.add("Room 27 2026 of the hotel.", "a.txt")
        await shelf.add("Paid on 27 November 2026.", "b.txt")
        assert await shelf.ids('"27 2026"') == [together]


async def test_documents_with_all_words_come_before_those_with_some(open_shelf: OpenShelf) -> None:
    async with open_shelf() as shelf:
        both = await shelf.add("A gutter, " + "and much of another kind " * 200 + "and a chimney.", "a.txt")
        one = await shelf.add("Chimney, chimney, chimney!", "chimney.txt")
        assert await shelf.ids("chimney gutter") == [both, one]


@pytest.mark.parametrize(
    ("query", "meant"),
    [
        ("recieved", "received"),
        ("agremnets", "agreement"),
        ("chmney", "chimney"),
        ("invioce", "invoice"),
        ("agreemnts", "agreements"),
    ],
)
async def test_a_mistyped_word_is_taken_for_one_that_is_there(open_shelf: OpenShelf, query: str, meant: str) -> None:
    async with open_shelf() as shelf:
        id_ = await shelf.add("Invoice received for the chimney, by the agreement.")
        assert await shelf.ids(query) == [id_]
        (warning,) = (await shelf.search(query, mode="text")).warnings
        assert (warning.code, warning.message) == ("spelling", f"No document has {query}: {meant} was looked for.")
        (snippet,) = (await shelf.search(query, mode="text")).data[0].snippets
        assert [snippet.text[a:b].lower()[:4] for a, b in snippet.highlights] == [meant[:4]]


@pytest.mark.parametrize("query", ["abc", "INV-1042", "éxyz", '"two mistypd"', "zzzzzzzzz", "cords", "owrds"])
async def test_other_words_are_not_corrected(open_shelf: OpenShelf, query: str) -> None:
    async with open_shelf() as shelf:
        await shelf.add("abd, INV-1043, two mistyped words")
        assert await shelf.ids(query) == []
        assert (await shelf.search(query, mode="text")).warnings == []


async def test_accents_and_letter_case_do_not_matter(open_shelf: OpenShelf) -> None:
    async with open_shelf() as shelf:
        id_ = await shelf.add("Café de l’Église, ΑΘΗΝΑ, 東京")
        for query in ("cafe eglise", "CAFÉ", "αθηνα", "東京"):
            assert await shelf.ids(query) == [id_], query
        (snippet,) = (await shelf.search("cafe eglise", mode="text")).data[0].snippets
        assert [snippet.text[a:b] for a, b in snippet.highlights] == ["Café", "Église"]
