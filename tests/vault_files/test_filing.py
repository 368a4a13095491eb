"""A folder of this machine becomes documents: its tree, its bytes once, and nothing that it does not hold."""

import hashlib
import os
from pathlib import Path

import pytest
import trio

from gatewayd.store import StoreFailure
from gatewayd.vault_files import found_files
from gatewayd.vault_files.found_files import readable, walk
from tests.vault_files.shelf import MAX_BYTES, Shelf, open_shelf


def outcomes(told: list[found_files.FoundFile]) -> dict[str, str]:
    return {one.path: one.reason or one.outcome for one in told}


async def test_a_tree_becomes_folders_and_documents(tmp_path: Path, database_image: bytes) -> None:
    async with open_shelf(tmp_path, database_image) as shelf:
        shelf.put("2026/March/invoice.pdf", b"%PDF-1")
        shelf.put("2026/rent.txt", b"rent")
        shelf.put("top.txt", b"top")
        assert set(outcomes(await shelf.file()).values()) == {"added"}
        found = await shelf.documents()
        assert sorted(found) == ["/2026/March/invoice.pdf", "/2026/rent.txt", "/top.txt"]
        pdf = found["/2026/March/invoice.pdf"]
        assert (pdf.mime_type, pdf.size_bytes, pdf.original_name) == ("application/pdf", 6, "invoice.pdf")
        assert b"".join(shelf.blobs.chunks(hashlib.sha256(b"%PDF-1").hexdigest())) == b"%PDF-1"
        assert (shelf.root / "top.txt").read_bytes() == b"top", "the folder stays as it is"


async def test_the_same_folder_twice_adds_nothing(tmp_path: Path, database_image: bytes) -> None:
    async with open_shelf(tmp_path, database_image) as shelf:
        shelf.put("a/one.txt", b"one")
        shelf.put("A2/one again.txt", b"one")
        first = outcomes(await shelf.file())
        assert sorted(first.values()) == ["added", "known"]
        shelf.put("a/two.txt", b"two")
        assert outcomes(await shelf.file()) == {"A2/one again.txt": "known", "a/one.txt": "known", "a/two.txt": "added"}
        assert len(await shelf.documents()) == 2


async def test_names_of_folders_are_one_in_any_letter_case_and_form(tmp_path: Path, database_image: bytes) -> None:
    """macOS writes an é as two characters, and a folder that was made in another letter case is the same."""
    async with open_shelf(tmp_path, database_image) as shelf:
        shelf.put("Café/one.txt", b"one")
        await shelf.file()
        os.rename(shelf.root / "Café", shelf.root / "Cafe\u0301".upper())
        shelf.put("CAFE\u0301/two.txt", b"two")
        await shelf.file()
        assert sorted(await shelf.documents()) == ["/Café/one.txt", "/Café/two.txt"]


async def test_what_another_organization_has_is_taken(tmp_path: Path, database_image: bytes) -> None:
    async with open_shelf(tmp_path, database_image) as shelf:
        shelf.put("one.txt", b"one")
        await shelf.file()
        other = await shelf.api.org("org_b", "other")
        told: list[found_files.FoundFile] = []
        await shelf.filing.file_tree(other, shelf.root, None, told.append)
        assert outcomes(told) == {"one.txt": "added"}
        assert list(await shelf.documents("org_b")) == ["/one.txt"]
        assert len([path for path in shelf.blobs.folder.rglob("*") if path.is_file()]) == 1


async def test_nothing_is_reached_through_links_and_nothing_hangs(tmp_path: Path, database_image: bytes) -> None:
    async with open_shelf(tmp_path, database_image) as shelf:
        outside = tmp_path / "outside"
        outside.mkdir()
        (outside / "secret").write_bytes(b"secret")
        shelf.put("good.txt")
        (shelf.root / "file").symlink_to(outside / "secret")
        (shelf.root / "folder").symlink_to(outside)
        os.mkfifo(shelf.root / "pipe")
        for hidden in (".hidden", "~$letter.docx", "Thumbs.db", "half.part", ".git/config"):
            shelf.put(hidden, b"no")
        assert outcomes(await shelf.file()) == {
            "file": "it is a symbolic link",
            "folder": "it is a symbolic link",
            "good.txt": "added",
            "pipe": "it is no regular file",
        }


async def test_a_file_that_becomes_a_link_is_not_followed(tmp_path: Path, database_image: bytes) -> None:
    async with open_shelf(tmp_path, database_image) as shelf:
        secret = tmp_path / "secret"
        secret.write_bytes(b"paper")
        path = shelf.put("a.txt", b"paper")
        walking = walk(shelf.root)
        found = next(walking)
        assert isinstance(found, found_files.FoundFile)
        path.unlink()
        path.symlink_to(secret)
        with pytest.raises(OSError, match="symbolic"):
            found_files.open_file(found)
        assert found_files.is_still(found) is False


async def test_odd_names(tmp_path: Path, database_image: bytes) -> None:
    async with open_shelf(tmp_path, database_image) as shelf:
        names = [b"b\xffd.txt", b"line\nbreak", b" ", b"x" * 250 + b".pdf", "ж".encode() * 120 + b".txt"]
        for number, name in enumerate(names):
            (shelf.root / os.fsdecode(name)).write_bytes(b"%d" % number)
        assert set(outcomes(await shelf.file()).values()) == {"added"}
        assert sorted(await shelf.documents()) == sorted(
            ["/b\ufffdd.txt", "/line_break", "/_", "/" + "x" * 250 + ".pdf", "/" + "ж" * 120 + ".txt"]
        )


def test_a_name_that_is_too_long_keeps_its_ending() -> None:
    long = readable("é" * 300 + ".pdf")
    assert (len(long), long[-5:]) == (255, "é.pdf")
    assert readable("a" * 300) == "a" * 255
    assert readable("." + "a" * 300) == "." + "a" * 254
    assert readable("\t\x7f\x85") == "___"
    assert readable("invoice\u202efdp.exe") == "invoice_fdp.exe"


async def test_what_is_refused_says_why(tmp_path: Path, database_image: bytes) -> None:
    async with open_shelf(tmp_path, database_image, quota=10) as shelf:
        with shelf.put("huge.bin").open("r+b") as file:
            file.truncate(MAX_BYTES + 1)
        shelf.put("over quota.txt", b"12345678901")
        shelf.put("/".join(["d"] * 33) + "/deep.txt")
        locked = shelf.put("unreadable.txt", b"x")
        locked.chmod(0)
        told = outcomes(await shelf.file())
        assert told["huge.bin"] == f"a document may have at most {MAX_BYTES} bytes"
        assert told["over quota.txt"].startswith("The organization may keep 10 bytes")
        assert told["/".join(["d"] * 33)] == "folders lie at most 32 deep in each other"
        if os.geteuid():
            assert told["unreadable.txt"] == "it cannot be read: Permission denied"


async def test_a_file_that_grows_while_it_is_read_is_left(
    tmp_path: Path, database_image: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_shelf(tmp_path, database_image) as shelf:
        path = shelf.put("log.txt", b"1")
        draft = shelf.blobs.draft

        def grown(max_bytes: int) -> object:
            path.write_bytes(b"12")
            return draft(max_bytes)

        monkeypatch.setattr(shelf.blobs, "draft", grown)
        assert outcomes(await shelf.file()) == {"log.txt": "it was changed while it was read"}
        monkeypatch.undo()
        assert await shelf.documents() == {}
        assert list(shelf.blobs.folder.rglob("*/*")) == []
        assert outcomes(await shelf.file()) == {"log.txt": "added"}


async def test_a_full_disk_ends_it_and_it_goes_on_later(
    tmp_path: Path, database_image: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_shelf(tmp_path, database_image) as shelf:
        shelf.put("a.txt", b"a")
        shelf.put("b.txt", b"b")
        told: list[found_files.FoundFile] = []

        def tell(one: found_files.FoundFile) -> None:
            told.append(one)
            monkeypatch.setattr("gatewayd.vault_files.filing.free_bytes", lambda folder: 1_000)

        with pytest.raises(StoreFailure):
            await shelf.filing.file_tree(shelf.caller, shelf.root, None, tell)
        assert outcomes(told) == {"a.txt": "added"}
        monkeypatch.undo()
        assert outcomes(await shelf.file()) == {"a.txt": "known", "b.txt": "added"}


async def test_lost_bytes_are_put_back(tmp_path: Path, database_image: bytes) -> None:
    async with open_shelf(tmp_path, database_image) as shelf:
        shelf.put("a.txt", b"a")
        await shelf.file()
        digest = hashlib.sha256(b"a").hexdigest()
        shelf.blobs.remove(digest)
        assert outcomes(await shelf.file()) == {"a.txt": "known"}
        assert b"".join(shelf.blobs.chunks(digest)) == b"a"


async def test_it_can_be_ended_in_the_midst_of_a_file(tmp_path: Path, database_image: bytes) -> None:
    async with open_shelf(tmp_path, database_image) as shelf:
        with shelf.put("large.bin").open("r+b") as file:
            file.truncate(MAX_BYTES)
        with trio.move_on_after(0.01) as ended:
            await shelf.file()
        assert ended.cancelled_caught
        assert await shelf.documents() == {}
        assert [path for path in shelf.blobs.folder.rglob("*") if path.is_file()] == []


async def test_two_at_once_file_each_file_once(tmp_path: Path, database_image: bytes) -> None:
    async with open_shelf(tmp_path, database_image) as shelf:
        for number in range(20):
            shelf.put(f"in/{number}.txt", b"%d" % number)
        told: list[found_files.FoundFile] = []

        async def file() -> None:
            await _another(shelf).file_tree(shelf.caller, shelf.root, None, told.append)

        async with trio.open_nursery() as nursery:
            nursery.start_soon(file)
            nursery.start_soon(file)
        assert sum(one.outcome == "added" for one in told) == 20
        assert len(await shelf.documents()) == 20


def _another(shelf: Shelf) -> object:
    from gatewayd.areas import vault
    from gatewayd.vault_files.filing import Filing

    return Filing(shelf.api.store, shelf.blobs, vault.Settings("http://127.0.0.1:8080", MAX_BYTES))
