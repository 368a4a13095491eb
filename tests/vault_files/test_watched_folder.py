"""The folder that is watched: what appears becomes a document once it is whole, and is gone then."""

import os
from pathlib import Path

import pytest

from gatewayd.clock import SECOND
from gatewayd.store import StoreFailure
from gatewayd.vault_files.consuming import WatchedFolder
from tests.support.engines import TaxLog
from tests.support.store import START
from tests.vault_files.shelf import MAX_BYTES, ORG, Shelf, open_shelf

LONG_AGO = (START - 3600 * SECOND) // SECOND


class Watch:
    """A watch, and what it said."""

    def __init__(self, shelf: Shelf) -> None:
        self.shelf = shelf
        self.log = TaxLog()
        self.folder = WatchedFolder(shelf.api.store, shelf.filing, shelf.root, self.log)

    def put(self, path: str, content: bytes = b"paper", at: int = LONG_AGO) -> Path:
        found = self.shelf.put(path, content)
        os.utime(found, (at, at))
        return found

    async def looks(self, times: int = 2) -> None:
        for _ in range(times):
            await self.folder.look()

    def left(self) -> list[str]:
        return sorted(str(path.relative_to(self.shelf.root)) for path in self.shelf.root.rglob("*") if path.is_file())

    @property
    def reasons(self) -> list[object]:
        return [values["reason"] for event, values in self.log.warnings if event == "document_refused"]


async def test_what_appears_becomes_a_document_and_goes(tmp_path: Path, database_image: bytes) -> None:
    async with open_shelf(tmp_path, database_image) as shelf:
        watch = Watch(shelf)
        watch.put("letter.pdf")
        watch.put(f"{ORG}/Invoices/March/one.pdf", b"one")
        await watch.looks(1)
        assert await shelf.documents() == {}, "it may be written to still"
        await watch.looks(1)
        assert sorted(await shelf.documents()) == ["/Invoices/March/one.pdf", "/letter.pdf"]
        assert watch.left() == []
        assert (shelf.root / ORG / "Invoices").is_dir(), "a scanner's folder stays"


async def test_what_is_written_to_is_left_until_it_rests(tmp_path: Path, database_image: bytes) -> None:
    async with open_shelf(tmp_path, database_image) as shelf:
        watch = Watch(shelf)
        clock = shelf.api.clock
        path = watch.put("scan.pdf", b"1")
        await watch.looks(1)
        watch.put("scan.pdf", b"12")
        await watch.looks(1)
        now = clock.now() // SECOND
        os.utime(path, (now, now))
        await watch.looks(3)
        assert watch.left() == ["scan.pdf"], "it was written to a moment ago"
        clock.advance(10 * SECOND)
        await watch.looks(1)
        assert watch.left() == []
        future = clock.now() // SECOND + 5_000
        watch.put("from a share.pdf", b"3", future)
        await watch.looks()
        assert watch.left() == [], "whose clock is ahead"


async def test_what_is_there_already_goes_too(tmp_path: Path, database_image: bytes) -> None:
    """As after a kill between the document and the end of its file."""
    async with open_shelf(tmp_path, database_image) as shelf:
        watch = Watch(shelf)
        watch.put("a.pdf")
        await watch.looks()
        watch.put("again.pdf")
        await watch.looks()
        assert (list(await shelf.documents()), watch.left()) == (["/a.pdf"], [])
        assert [values["outcome"] for _, values in watch.log.infos] == ["added", "known"]


async def test_what_is_refused_is_set_aside_with_its_reason(tmp_path: Path, database_image: bytes) -> None:
    async with open_shelf(tmp_path, database_image) as shelf:
        watch = Watch(shelf)
        for _ in range(2):
            with watch.put("huge.bin").open("r+b") as file:
                file.truncate(MAX_BYTES + 1)
            os.utime(shelf.root / "huge.bin", (LONG_AGO, LONG_AGO))
            await watch.looks()
        assert watch.left() == [
            "failed/huge (2).bin",
            "failed/huge (2).bin.reason.txt",
            "failed/huge.bin",
            "failed/huge.bin.reason.txt",
        ]
        said = (shelf.root / "failed" / "huge.bin.reason.txt").read_text()
        assert said == f"huge.bin: a document may have at most {MAX_BYTES} bytes\n"
        await watch.looks(3)
        assert len(watch.reasons) == 2, "what failed is not tried again"


async def test_of_several_organizations_files_say_whose_they_are(tmp_path: Path, database_image: bytes) -> None:
    async with open_shelf(tmp_path, database_image) as shelf:
        await shelf.api.org("org_b", "other")
        watch = Watch(shelf)
        watch.put("whose.pdf")
        watch.put("org_unknown/x.pdf", b"x")
        watch.put("org_b/b.pdf", b"b")
        await watch.looks(4)
        assert watch.left() == ["org_unknown/x.pdf", "whose.pdf"]
        assert (await shelf.documents(), list(await shelf.documents("org_b"))) == ({}, ["/b.pdf"])
        assert watch.reasons == ["its first folder is the id of no organization"] * 2, "said once for each"


async def test_links_are_left_alone(tmp_path: Path, database_image: bytes) -> None:
    async with open_shelf(tmp_path, database_image) as shelf:
        watch = Watch(shelf)
        key = tmp_path / "data" / "instance.key"
        (shelf.root / "key.txt").symlink_to(key)
        (shelf.root / "data").symlink_to(tmp_path / "data")
        aside = tmp_path / "aside"
        aside.mkdir()
        (shelf.root / "failed").symlink_to(aside)
        with watch.put("huge.bin").open("r+b") as file:
            file.truncate(MAX_BYTES + 1)
        os.utime(shelf.root / "huge.bin", (LONG_AGO, LONG_AGO))
        await watch.looks(3)
        assert await shelf.documents() == {}
        assert list(aside.iterdir()) == []
        assert len(watch.reasons) == 1


async def test_a_full_disk_takes_nothing_away(
    tmp_path: Path, database_image: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_shelf(tmp_path, database_image) as shelf:
        watch = Watch(shelf)
        watch.put("a.pdf")
        await watch.looks(1)
        monkeypatch.setattr("gatewayd.vault_files.filing.free_bytes", lambda folder: 1_000)
        with pytest.raises(StoreFailure):
            await watch.looks(1)
        monkeypatch.undo()
        assert watch.left() == ["a.pdf"]
        await watch.looks()
        assert (list(await shelf.documents()), watch.left()) == (["/a.pdf"], [])


async def test_a_file_that_cannot_be_deleted_is_not_read_again_and_again(
    tmp_path: Path, database_image: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_shelf(tmp_path, database_image) as shelf:
        watch = Watch(shelf)
        watch.put("a.pdf")

        unlink = os.unlink

        def refuse(path: str, *, dir_fd: int | None = None) -> None:
            if dir_fd is not None:
                raise PermissionError(13, "Permission denied")
            unlink(path)

        monkeypatch.setattr("gatewayd.vault_files.consuming.os.unlink", refuse)
        await watch.looks(5)
        assert watch.reasons == ["it is a document now, and cannot be deleted: Permission denied"]
        assert len(watch.log.infos) == 1
        monkeypatch.undo()
        watch.put("a.pdf", b"another")
        await watch.looks()
        assert watch.left() == [], "it has changed"
