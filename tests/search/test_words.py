"""The list of documents with the words that are looked for, at its bounds."""

from gatewayd.areas.vault.documents.operations import toggle_document_star
from gatewayd.areas.vault.documents.shapes import ToggleDocumentStar
from gatewayd.search import lookup
from gatewayd.search.looking import Filter, RankLimits, all_of
from gatewayd.search.lookup import ALL
from gatewayd.search.passages import PART_CHARACTERS
from gatewayd.search.terms import Word
from tests.search.conftest import ORG, OpenShelf, Shelf

STARRED = Filter(" AND d.starred = :starred", {"starred": True})


async def found(shelf: Shelf, wanted: Filter, newest: int, count: int) -> list[tuple[str, int, int]]:
    await shelf.indexed()
    slates, into = all_of([[Word("slates", ("slate",), None)]]), lookup.index_of(is_shared=shelf.store.is_shared)
    return await shelf.store.read(lambda tx: [*into.by_words(tx, slates, wanted, RankLimits(newest, count))], ORG)


async def test_of_many_the_newest_are_ranked(open_shelf: OpenShelf) -> None:
    async with open_shelf() as shelf:
        ids = [await shelf.add("Slates.", f"{n}.txt") for n in range(5)]
        assert sorted(hit[0] for hit in await found(shelf, ALL, 2, 9)) == sorted(ids[-2:])


async def test_newer_documents_that_are_not_wanted_hide_none_that_is(open_shelf: OpenShelf) -> None:
    async with open_shelf() as shelf:
        old = await shelf.add("Slates.", "old.txt")
        await shelf.change(toggle_document_star, ToggleDocumentStar(document_id=old, starred=True))
        for n in range(5):
            await shelf.add("Slates.", f"{n}.txt")
        assert [hit[0] for hit in await found(shelf, STARRED, 2, 9)] == [old]


async def test_a_long_document_has_one_place_with_its_best_part(open_shelf: OpenShelf) -> None:
    async with open_shelf() as shelf:
        short = await shelf.add("Much is said here, and of slates once " + "and of other things " * 900, "short.txt")
        page = ("slates " * 500 + "and much else " * 2_000)[:PART_CHARACTERS]
        best = ("slates " * 3_000)[:PART_CHARACTERS]
        long = await shelf.add("\f".join([page, page, best, page]), "long.txt")
        assert await found(shelf, ALL, 99, 2) == [(long, 3, 3), (short, 1, 1)]
