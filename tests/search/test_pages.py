"""Pages of what is found: the order is that of the first page, whatever comes and goes meanwhile."""

import base64
import random
from typing import Any

import msgspec
import pytest

from gatewayd.areas.vault.documents.operations import delete_document, toggle_document_star, update_document
from gatewayd.areas.vault.documents.shapes import DeleteDocument, ToggleDocumentStar, UpdateDocument
from gatewayd.areas.vault.search import CURSOR_MAX, FoundDocument, SearchedDocuments
from gatewayd.errors import Problem
from tests.search.conftest import ORG, OTHER, FakeEmbedder, OpenShelf, Shelf

MODES = ("text", "vector", "hybrid")
SUBJECTS = ("boiler", "heating", "radiator", "vehicle", "rent")


def ids_of(page: SearchedDocuments) -> list[str]:
    return [one.document.id for one in page.data]


def a_letter(source: random.Random) -> str:
    return " ".join(source.choices(SUBJECTS, k=source.randint(1, 12)))


async def a_change(shelf: Shelf, source: random.Random, there: list[str]) -> str | None:
    """Something comes, goes or becomes another; answers the document that went."""
    chosen = source.choice(there)
    match source.randrange(4):
        case 0:
            await shelf.add(a_letter(source), "new.txt")
        case 1:
            await shelf.change(delete_document, DeleteDocument(document_id=chosen))
            return chosen
        case 2:
            request = UpdateDocument(document_id=chosen, name=f"{source.choice(SUBJECTS)}.txt", folder_id=msgspec.UNSET)
            await shelf.change(update_document, request)
        case _:
            await shelf.read_anew(chosen, a_letter(source))
    return None


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("seed", range(6))
async def test_what_is_there_all_the_while_is_shown_once(open_shelf: OpenShelf, mode: str, seed: int) -> None:
    source = random.Random(seed)
    async with open_shelf() as shelf:
        there = [await shelf.add(a_letter(source), f"{n}.txt") for n in range(14)]
        await shelf.indexed()
        asked: dict[str, Any] = {"query": "boiler heating", "mode": mode}
        whole = ids_of(await shelf.search(**asked, limit=50))
        shown: list[str] = []
        cursor: str | None = None
        while True:
            page = await shelf.search(**asked, limit=3, **({} if cursor is None else {"cursor": cursor}))
            shown += ids_of(page)
            cursor = page.next_cursor
            if cursor is None:
                break
            for _ in range(3):
                gone = await a_change(shelf, source, there)
                there = [id_ for id_ in there if id_ != gone]
            await shelf.indexed()
        assert len(set(shown)) == len(shown)
        assert shown == [id_ for id_ in whole if id_ in shown], "in the order of the first page"
        assert [id_ for id_ in whole if id_ in there and id_ not in shown] == []


@pytest.mark.parametrize("mode", MODES)
async def test_pages_together_are_what_one_page_is(open_shelf: OpenShelf, mode: str) -> None:
    async with open_shelf() as shelf:
        for n in range(9):
            await shelf.add(f"The boiler {'of the tenant ' * n}.", f"letter {n}.txt")
        await shelf.indexed()
        whole = (await shelf.search("boiler tenant", mode=mode, limit=9)).data
        shown: list[FoundDocument] = []
        cursor: str | None = None
        for _ in range(3):
            page = await shelf.search(
                "boiler tenant", mode=mode, limit=3, **({} if cursor is None else {"cursor": cursor})
            )
            shown += page.data
            cursor = page.next_cursor
        assert (shown, cursor) == (whole, None)


async def test_what_went_or_is_wanted_no_more_is_not_shown(open_shelf: OpenShelf) -> None:
    async with open_shelf() as shelf:
        for n in range(6):
            id_ = await shelf.add("The boiler.", f"letter {n}.txt")
            await shelf.change(toggle_document_star, ToggleDocumentStar(document_id=id_, starred=True))
        await shelf.indexed()
        asked: dict[str, Any] = {"query": "boiler", "filters": {"starred": True}}
        whole = ids_of(await shelf.search(**asked))
        first = await shelf.search(**asked, limit=2)
        await shelf.change(delete_document, DeleteDocument(document_id=whole[2]))
        await shelf.change(toggle_document_star, ToggleDocumentStar(document_id=whole[4], starred=False))
        second = await shelf.search(**asked, limit=2, cursor=first.next_cursor)
        assert (ids_of(second), second.next_cursor) == ([whole[3], whole[5]], None)


async def test_pages_are_looked_for_as_the_first_was(open_shelf: OpenShelf) -> None:
    async with open_shelf(embedder := FakeEmbedder()) as shelf:
        for n in range(4):
            await shelf.add("The boiler.", f"{n}.txt")
        await shelf.indexed()
        both = await shelf.search("boiler", limit=2)
        embedder.is_down = True
        words = await shelf.search("boiler", limit=2)
        rest = await shelf.search("boiler", limit=2, cursor=both.next_cursor)
        assert (rest.mode_used, rest.warnings, len(rest.data)) == ("hybrid", [], 2)
        assert all(one.vector_rank and one.text_rank for one in rest.data)
        embedder.is_down = False
        rest = await shelf.search("boiler", limit=2, cursor=words.next_cursor)
        assert (rest.mode_used, [one.vector_rank for one in rest.data]) == ("text", [None, None])
        (warning,) = rest.warnings
        assert warning.message == "It was looked for by words alone: so it was on the first page."


async def test_a_cursor_of_another_question_is_refused(open_shelf: OpenShelf) -> None:
    async with open_shelf() as shelf:
        for n in range(3):
            await shelf.add("The boiler.", f"{n}.txt")
        await shelf.indexed()
        page = await shelf.search("boiler", limit=1, mode="text")
        for other in ({"query": "heating", "mode": "text"}, {"query": "boiler", "mode": "vector"}):
            with pytest.raises(Problem) as caught:
                await shelf.search(cursor=page.next_cursor, limit=1, **other)
            assert caught.value.code == "invalid_cursor"


async def test_a_cursor_that_was_tampered_with_is_refused(open_shelf: OpenShelf) -> None:
    async with open_shelf() as shelf:
        for n in range(3):
            await shelf.add("The boiler.", f"{n}.txt")
        page = await shelf.search("boiler", limit=1, mode="text")
        await shelf.indexed()
        page = await shelf.search("boiler", limit=1, mode="text")
        assert page.next_cursor is not None
        binding, mode, entries = msgspec.msgpack.decode(base64.urlsafe_b64decode(page.next_cursor + "=="))
        for key in ((mode, entries[:-1]), ("other", entries), (mode, "text"), (mode,)):
            cursor = base64.urlsafe_b64encode(msgspec.msgpack.encode((binding, *key))).decode()
            with pytest.raises(Problem) as caught:
                await shelf.search("boiler", limit=1, mode="text", cursor=cursor)
            assert caught.value.code == "invalid_cursor"


async def test_a_cursor_shows_nothing_of_another_organization(open_shelf: OpenShelf) -> None:
    async with open_shelf() as shelf:
        for org in (ORG, OTHER):
            for n in range(3):
                await shelf.add("The boiler.", f"{n}.txt", org)
        await shelf.indexed()
        page = await shelf.search("boiler", limit=1)
        rest = await shelf.search("boiler", OTHER, limit=1, cursor=page.next_cursor)
        assert (rest.data, rest.next_cursor) == ([], None)


async def test_equal_documents_come_newest_first(open_shelf: OpenShelf) -> None:
    async with open_shelf() as shelf:
        ids = [await shelf.add("The boiler.", "same.txt", org=ORG) for _ in range(5)]
        assert await shelf.ids("boiler") == ids[::-1]


def test_the_longest_cursor_is_accepted() -> None:
    """Domain C9: two lists of 200; a document of each is on the page before."""
    entries = bytes(399 * (16 + 2))
    assert len(base64.b64encode(msgspec.msgpack.encode((1 << 32, "hybrid", entries)))) <= CURSOR_MAX
