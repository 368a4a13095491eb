"""What documents must be to be found."""

from typing import Any

import pytest

from gatewayd.areas.vault.documents.operations import toggle_document_star
from gatewayd.areas.vault.documents.shapes import ToggleDocumentStar
from gatewayd.areas.vault.folders.operations import create_folder
from gatewayd.areas.vault.folders.shapes import CreateFolder
from gatewayd.clock import to_wire
from gatewayd.errors import Problem
from tests.search.conftest import OpenShelf, Shelf

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
        bare = await shelf.add("boiler")
        in_top, in_below, in_other = [await shelf.add("boiler", folderId=folder.id) for folder in (top, below, other)]
        await finds(shelf, [in_top, in_below], folderIds=[top.id])
        await finds(shelf, [in_below, in_other], folderIds=[below.id, other.id])
        await finds(shelf, [], folderIds=["fld_01k00000000000000000000000"])
        await finds(shelf, [in_top], folderId=top.id)
        await finds(shelf, [], folderId=top.id, folderIds=[below.id])
        await finds(shelf, [bare], folderId="root")
        await finds(shelf, [], folderId="fld_01k00000000000000000000000")


async def test_each_filter(open_shelf: OpenShelf) -> None:
    async with open_shelf() as shelf:
        text = await shelf.add("boiler", "a.txt", contractId="ctr_1", documentDate="2026-03-01")
        pdf = await shelf.add("boiler", "b.pdf", documentDate="2026-03-31")
        bare = await shelf.add("boiler", "c.png")
        await shelf.change(toggle_document_star, ToggleDocumentStar(document_id=pdf, starred=True))
        await finds(shelf, [pdf], mimeType=["application/pdf"])
        await finds(shelf, [pdf, bare], mimeTypes=["application/pdf", "image/png"])
        await finds(shelf, [pdf], starred=True)
        await finds(shelf, [text, bare], starred=False)
        await finds(shelf, [text], contractId="ctr_1")
        await finds(shelf, [text, pdf], documentDateFrom="2026-03-01")
        await finds(shelf, [text], documentDateTo="2026-03-30")
        await finds(shelf, [pdf], documentDateFrom="2026-03-02", documentDateTo="2026-03-31")
        await finds(shelf, [pdf], starred=True, mimeType=["application/pdf"])
        await finds(shelf, [], starred=True, mimeTypes=["text/plain"])
        await finds(shelf, [pdf, bare], mimeTypes=["application/pdf", "image/png"])
        with pytest.raises(Problem) as caught:
            await finds(shelf, [], mimeType=["text/plain"], mimeTypes=["text/plain"])
        assert [(error.path, error.code) for error in caught.value.errors] == [("filters.mimeTypes", "conflict")]


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
