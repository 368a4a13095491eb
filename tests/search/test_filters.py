"""What documents must be to be found, and the pages of what is found."""

from typing import Any

import pytest

from gatewayd.areas.vault.documents.operations import delete_document
from gatewayd.areas.vault.documents.shapes import GetDocument, ToggleDocumentStar
from gatewayd.areas.vault.documents.single_fields import toggle_document_star
from gatewayd.areas.vault.folders.operations import create_folder
from gatewayd.areas.vault.folders.shapes import CreateFolder
from gatewayd.clock import to_wire
from gatewayd.errors import Problem
from tests.search.conftest import ORG, OpenShelf, Shelf

MODES = ("text", "vector", "hybrid")


async def finds(shelf: Shelf, expected: list[str], **filters: Any) -> None:
    """In each mode the same documents; the order is another's matter."""
    for mode in MODES:
        assert sorted(await shelf.ids("boiler", mode=mode, filters=filters, limit=50)) == sorted(expected), mode


async def test_folders_count_with_those_below(open_shelf: OpenShelf) -> None:
    async with open_shelf() as shelf:
        top = await shelf.change(create_folder, CreateFolder(name="Top"))
        below = await shelf.change(create_folder, CreateFolder(name="Below", parent_id=top.id))
        other = await shelf.change(create_folder, CreateFolder(name="Other"))
        await shelf.add("boiler")
        in_top, in_below, in_other = [await shelf.add("boiler", folderId=folder.id) for folder in (top, below, other)]
        await finds(shelf, [in_top, in_below], folderIds=[top.id])
        await finds(shelf, [in_below, in_other], folderIds=[below.id, other.id])
        await finds(shelf, [], folderIds=["fld_01k00000000000000000000000"])


async def test_each_filter(open_shelf: OpenShelf) -> None:
    async with open_shelf() as shelf:
        text = await shelf.add("boiler", "a.txt", contractId="ctr_1", documentDate="2026-03-01")
        pdf = await shelf.add("boiler", "b.pdf", documentDate="2026-03-31")
        bare = await shelf.add("boiler", "c.png")
        await shelf.change(toggle_document_star, ToggleDocumentStar(document_id=pdf, starred=True))
        await finds(shelf, [pdf], mimeTypes=["application/pdf"])
        await finds(shelf, [pdf, bare], mimeTypes=["application/pdf", "image/png"])
        await finds(shelf, [pdf], starred=True)
        await finds(shelf, [text, bare], starred=False)
        await finds(shelf, [text], contractId="ctr_1")
        await finds(shelf, [text, pdf], documentDateFrom="2026-03-01")
        await finds(shelf, [text], documentDateTo="2026-03-30")
        await finds(shelf, [pdf], documentDateFrom="2026-03-02", documentDateTo="2026-03-31")
        await finds(shelf, [pdf], starred=True, mimeTypes=["application/pdf"])
        await finds(shelf, [], starred=True, mimeTypes=["text/plain"])


async def test_the_time_of_creation_includes_both_ends(open_shelf: OpenShelf) -> None:
    async with open_shelf() as shelf:
        ids, at = [], []
        for n in range(3):
            ids.append(await shelf.add("boiler", f"{n}.txt"))
            at.append(to_wire(shelf.clock.now()))
        await finds(shelf, ids[1:], createdFrom=at[1])
        await finds(shelf, ids[:2], createdTo=at[1])
        await finds(shelf, [ids[1]], createdFrom=at[1], createdTo=at[1])


async def test_how_far_its_reading_is(open_shelf: OpenShelf) -> None:
    async with open_shelf() as shelf:
        id_ = await shelf.add("boiler")
        await finds(shelf, [id_], parseStatus="queued")
        await finds(shelf, [], parseStatus="succeeded")
        await finds(shelf, [], parseStatus="none")


# -- pages


async def test_pages_hold_each_document_once_while_others_come_and_go(open_shelf: OpenShelf) -> None:
    async with open_shelf() as shelf:
        ids = [await shelf.add("The boiler.", f"letter {n}.txt") for n in range(9)]
        await shelf.indexed()
        whole = [one.document.id for one in (await shelf.search("boiler", limit=50)).data]
        assert sorted(whole) == sorted(ids)
        seen: list[str] = []
        cursor: str | None = None
        for _ in range(5):
            page = await shelf.search("boiler", limit=2, **({} if cursor is None else {"cursor": cursor}))
            seen += [one.document.id for one in page.data]
            cursor = page.next_cursor
        assert (seen, cursor) == (whole, None)
        page = await shelf.search("boiler", limit=4)
        await shelf.change(delete_document, GetDocument(document_id=whole[-1]))
        await shelf.indexed()
        rest = await shelf.search("boiler", limit=50, cursor=page.next_cursor)
        assert [one.document.id for one in rest.data] == whole[4:-1]


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


async def test_equal_documents_come_newest_first(open_shelf: OpenShelf) -> None:
    async with open_shelf() as shelf:
        ids = [await shelf.add("The boiler.", "same.txt", org=ORG) for _ in range(5)]
        assert await shelf.ids("boiler") == ids[::-1]
