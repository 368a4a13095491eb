"""Files that are made of documents when somebody asks: pictures, text, PDFs that can be searched."""

import pytest
import trio

from gatewayd.areas.vault.documents import rows as documents
from gatewayd.areas.vault.documents.shapes import DocumentRow
from gatewayd.areas.vault.documents.thumbnails import CachedThumbnail, GenerateAndCacheThumbnail
from gatewayd.areas.vault.parses.variants import MadeVariant
from gatewayd.errors import Problem
from tests.parsing.conftest import DEADLINE, ORG, OTHER, Archive, OpenArchive
from tests.parsing.test_engine import Gate


async def read(archive: Archive, text: str) -> DocumentRow:
    """A document that was read."""
    document_id = await archive.add(text)
    await archive.ended(document_id)
    return await archive.store.read(lambda tx: documents.get(tx, document_id), ORG)


async def bytes_of(archive: Archive, row: DocumentRow, variant: MadeVariant) -> bytes:
    made = await archive.engine.made_files.of(ORG, row, variant)
    content = archive.blobs.path(made.sha256).read_bytes()
    assert len(content) == made.size_bytes
    return content


async def thumbnail(archive: Archive, document_id: str, page: int = 1, width: int = 640) -> CachedThumbnail:
    request = GenerateAndCacheThumbnail(document_id=document_id, page=page, width=width)
    return await archive.engine.made_files.cache_thumbnail(ORG, request)


async def test_text_and_pdf_are_made_once_and_anew_after_another_reading(open_archive: OpenArchive) -> None:
    async with open_archive() as archive:
        row = await read(archive, "one\ftwo")
        assert await bytes_of(archive, row, "text") == b"one\n\f\ntwo"
        assert await bytes_of(archive, row, "searchable_pdf") == b"%PDF-one\ftwo"
        assert row.sha256 is not None
        archive.blobs.path(row.sha256).write_text("better")
        assert await bytes_of(archive, row, "searchable_pdf") == b"%PDF-one\ftwo"
        await archive.reparse(row.id)
        await archive.ended(row.id, attempt=2)
        assert await bytes_of(archive, row, "text") == b"better"
        assert await bytes_of(archive, row, "searchable_pdf") == b"%PDF-better"
        assert list((archive.blobs.folder / "drafts").iterdir()) == []


@pytest.mark.parametrize("variant", ["text", "searchable_pdf", "thumbnail"])
async def test_what_cannot_be_made_is_told(open_archive: OpenArchive, variant: MadeVariant) -> None:
    content = "no picture" if variant == "thumbnail" else "fails:encrypted"
    async with open_archive() as archive:
        row = await read(archive, content)
        with pytest.raises(Problem) as refused:
            await archive.engine.made_files.of(ORG, row, variant)
    assert (refused.value.code, refused.value.errors[0].path) == ("validation_failed", "variant")


async def test_a_picture_that_two_ask_for_is_drawn_once(open_archive: OpenArchive) -> None:
    gate = Gate()
    async with open_archive() as archive:
        row = await read(archive, "one\ftwo")
        archive.reader.wait = gate
        found: list[CachedThumbnail] = []

        async def ask() -> None:
            found.append(await thumbnail(archive, row.id, page=2))

        with trio.fail_after(DEADLINE):
            async with trio.open_nursery() as nursery:
                for _ in range(3):
                    nursery.start_soon(ask)
                await gate.reached.wait()
                gate.opened.set()
        assert archive.reader.drawn == [(1, 320), (2, 640)]
        assert len({one.thumbnail_url for one in found}) == 1
        assert {(one.width, one.height, one.cached) for one in found} == {(500, 1280, True)}
        assert found[0].document.thumbnail_url == found[0].thumbnail_url
        again = await thumbnail(archive, row.id, page=2)
        assert (again.thumbnail_url, again.document.version) == (found[0].thumbnail_url, found[0].document.version)
        other = await thumbnail(archive, row.id, page=1, width=320)
        assert other.thumbnail_url != found[0].thumbnail_url
        assert len(archive.reader.drawn) == 2, "that of the first reading"


async def test_what_is_made_outlives_who_asked(open_archive: OpenArchive) -> None:
    """Reading a scan may take longer than clients wait: they ask again."""
    gate = Gate()
    async with open_archive() as archive:
        row = await read(archive, "one")
        archive.reader.wait = gate
        with trio.CancelScope() as client:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(thumbnail, archive, row.id)
                with trio.fail_after(DEADLINE):
                    await gate.reached.wait()
                client.cancel()
        gate.opened.set()
        with trio.fail_after(DEADLINE):
            await thumbnail(archive, row.id)
        assert archive.reader.drawn == [(1, 320), (1, 640)]


async def test_a_fault_of_ours_is_logged_and_told(open_archive: OpenArchive) -> None:
    async with open_archive() as archive:
        document_id = await archive.add("breaks")
        await archive.ended(document_id)
        archive.log.claim("parse_failed")
        row = await archive.store.read(lambda tx: documents.get(tx, document_id), ORG)
        with pytest.raises(Problem) as refused:
            await archive.engine.made_files.of(ORG, row, "searchable_pdf")
        assert refused.value.code == "internal_error"
        assert archive.log.claim("file_not_made")["document_id"] == document_id


async def test_what_has_no_picture_is_refused(open_archive: OpenArchive) -> None:
    async with open_archive() as archive:
        row = await read(archive, "no picture")
        for values, code in (({"page": 1}, "no_thumbnail_for_type"), ({"page": 2}, "validation_failed")):
            with pytest.raises(Problem) as refused:
                await thumbnail(archive, row.id, **values)
            assert refused.value.code == code
        other = await archive.add("another's", org=OTHER)
        with pytest.raises(Problem) as refused:
            await thumbnail(archive, other)
        assert refused.value.code == "not_found"


async def test_bytes_that_are_lost_are_gone_and_a_picture_that_is_lost_is_drawn_again(
    open_archive: OpenArchive,
) -> None:
    async with open_archive() as archive:
        row = await read(archive, "one")
        made = await archive.engine.made_files.of(ORG, row, "thumbnail")
        archive.blobs.remove(made.sha256)
        again = await archive.engine.made_files.of(ORG, row, "thumbnail")
        assert again.sha256 == made.sha256
        assert archive.blobs.path(made.sha256).is_file()
        assert row.sha256 is not None
        archive.blobs.remove(row.sha256)
        with pytest.raises(Problem) as refused:
            await thumbnail(archive, row.id, width=100)
        assert refused.value.code == "gone"
