"""Folders: a tree whose names are taken once, that has no circles, and that goes with all that is in it."""

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gatewayd.clock import SECOND, to_wire
from gatewayd.errors import Problem
from gatewayd.store import WriteTx
from tests.areas.accounting.books import fields_of
from tests.areas.vault.cabinet import Cabinet
from tests.support.store import MemoryStore

_INSERT = """
INSERT INTO vault_folders (id, org_id, name, name_key, created_by, created_at, updated_at, version)
VALUES (:id, :org_id, :name, :name, 'usr_1', :now, :now, 1)
"""


def paths(cabinet: Cabinet, query: str = "") -> list[str]:
    return [str(folder["path"]) for folder in cabinet.walk("getFolders", query)]


def test_folders_come_by_path(cabinet: Cabinet) -> None:
    tax = cabinet.folder("tax")
    cabinet.folder("Bank")
    cabinet.folder("2026", tax)
    cabinet.folder("Tax-old")
    inner = cabinet.folder("2025", tax)
    cabinet.folder("April", inner)
    assert paths(cabinet, "limit=2") == ["/Bank", "/tax", "/tax/2025", "/tax/2025/April", "/tax/2026", "/Tax-old"]
    assert paths(cabinet, "parentId=root") == ["/Bank", "/tax", "/Tax-old"]
    assert paths(cabinet, f"parentId={tax}") == ["/tax/2025", "/tax/2026"]
    with pytest.raises(Problem, match="not_found"):
        paths(cabinet, "parentId=fld_00000000000000000000000000")


def test_counts_are_told_where_they_are_asked_for(cabinet: Cabinet) -> None:
    outer = cabinet.folder("Outer")
    inner = cabinet.folder("Inner", outer)
    for place in (outer, inner, inner, None):
        cabinet.document(folderId=place)
    gone = cabinet.document(folderId=inner)
    cabinet.post("deleteDocument", documentId=gone["id"])
    counted = {
        folder["name"]: (folder["documentCount"], folder["folderCount"], folder["totalDocumentCount"])
        for folder in cabinet.walk("getFolders", "includeCounts=true")
    }
    assert counted == {"Outer": (1, 1, 3), "Inner": (2, 0, 2)}
    assert cabinet.walk("getFolders", "")[0]["documentCount"] is None


def test_a_name_is_taken_once_in_a_folder_in_any_letter_case(cabinet: Cabinet) -> None:
    first = cabinet.folder("Straße")
    with pytest.raises(Problem) as refused:
        cabinet.folder("STRASSE")
    assert (refused.value.code, refused.value.extra["existingId"]) == ("name_taken", first)
    other = cabinet.folder("STRASSE", first)
    with pytest.raises(Problem, match="name_taken"):
        cabinet.post("updateFolderParent", folderId=other, parentId=None)
    second = cabinet.folder("Second")
    with pytest.raises(Problem, match="name_taken"):
        cabinet.post("updateFolderName", folderId=second, name="straße")
    assert cabinet.post("updateFolderName", folderId=first, name="STRASSE")["name"] == "STRASSE"


def test_an_accent_is_the_same_by_itself_and_in_its_letter(cabinet: Cabinet) -> None:
    """As macOS writes names, and as everybody else does."""
    first = cabinet.folder("Caf\N{LATIN SMALL LETTER E WITH ACUTE}")
    apart = "Cafe\N{COMBINING ACUTE ACCENT}"
    for name in (apart, apart.upper()):
        with pytest.raises(Problem) as refused:
            cabinet.folder(name)
        assert (refused.value.code, refused.value.extra["existingId"]) == ("name_taken", first)
    assert cabinet.post("updateFolderName", folderId=first, name=apart)["name"] == apart
    cabinet.folder("Cafe")


@pytest.mark.parametrize("name", ["", "a/b", " ", "a\nb", "x" * 256])
def test_names_that_no_folder_has(cabinet: Cabinet, name: str) -> None:
    with pytest.raises(Problem) as refused:
        cabinet.folder(name)
    assert [path for path, _ in fields_of(refused.value)] == ["name"]


def test_a_folder_moves_with_what_is_in_it_and_never_into_itself(cabinet: Cabinet) -> None:
    a = cabinet.folder("a")
    b = cabinet.folder("b", a)
    c = cabinet.folder("c", b)
    for inside in (a, b, c):
        with pytest.raises(Problem, match="folder_cycle"):
            cabinet.post("updateFolderParent", folderId=a, parentId=inside)
    assert cabinet.post("updateFolderParent", folderId=b, parentId=None)["path"] == "/b"
    assert paths(cabinet) == ["/a", "/b", "/b/c"]
    with pytest.raises(Problem) as refused:
        cabinet.post("updateFolderParent", folderId=b, parentId="fld_00000000000000000000000000")
    assert fields_of(refused.value) == [("parentId", "unknown_reference")]


def test_folders_lie_thirty_two_deep_at_most(cabinet: Cabinet) -> None:
    """Domain A7."""
    parent = None
    for level in range(32):
        parent = cabinet.folder(f"level {level + 1}", parent)
    with pytest.raises(Problem) as refused:
        cabinet.folder("one more", parent)
    assert fields_of(refused.value) == [("parentId", "out_of_range")]
    pair = cabinet.folder("pair")
    cabinet.folder("inner", pair)
    deep = cabinet.walk("getFolders", "")[30]
    assert deep["depth"] == 31
    with pytest.raises(Problem):
        cabinet.post("updateFolderParent", folderId=pair, parentId=deep["id"])


def test_a_folder_goes_with_all_that_is_in_it(cabinet: Cabinet) -> None:
    outer = cabinet.folder("Outer")
    inner = cabinet.folder("Inner", outer)
    kept = cabinet.document("kept.pdf")
    lost = cabinet.document("lost.pdf", folderId=inner)
    with pytest.raises(Problem) as refused:
        cabinet.post("deleteFolder", folderId=outer, expectedCount=0)
    assert (refused.value.code, refused.value.extra["count"]) == ("count_mismatch", 1)
    assert paths(cabinet) == ["/Outer", "/Outer/Inner"]
    gone = cabinet.post("deleteFolder", folderId=outer, expectedCount=1)
    assert gone == {"id": outer, "deletedFolders": 2, "deletedDocuments": 1}
    assert paths(cabinet) == []
    assert cabinet.one("getDocument", f"documentId={kept['id']}")["status"] == "uploaded"
    with pytest.raises(Problem, match="not_found"):
        cabinet.one("getDocument", f"documentId={lost['id']}")
    cabinet.folder("Outer")  # the name is free again


def test_a_page_goes_on_behind_a_folder(cabinet: Cabinet) -> None:
    ids = [cabinet.folder(name) for name in ("a", "b", "c")]
    _, cursor = cabinet.get("getFolders", "limit=1")
    cabinet.post("deleteFolder", folderId=ids[0])
    with pytest.raises(Problem, match="invalid_cursor"):
        cabinet.get("getFolders", f"limit=1&cursor={cursor}")


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 9), st.integers(-1, 9)), max_size=25))
def test_whatever_is_moved_it_stays_a_tree(database_image: bytes, moves: list[tuple[int, int]]) -> None:
    """Beside a dictionary of parents that refuses circles by walking up."""
    cabinet = Cabinet(MemoryStore(database_image))
    ids = [cabinet.folder(f"f{number}") for number in range(10)]
    parents: dict[int, int] = dict.fromkeys(range(10), -1)

    def above(number: int) -> list[int]:
        return [] if number < 0 else [number, *above(parents[number])]

    for number, parent in moves:
        values = {"folderId": ids[number], "parentId": None if parent < 0 else ids[parent]}
        if number in above(parent):
            with pytest.raises(Problem, match="folder_cycle"):
                cabinet.post("updateFolderParent", **values)
        else:
            cabinet.post("updateFolderParent", **values)
            parents[number] = parent
    expected = {"/" + "/".join(f"f{each}" for each in reversed(above(number))) for number in range(10)}
    assert set(paths(cabinet)) == expected


def test_an_external_id_is_taken_once(cabinet: Cabinet) -> None:
    first = cabinet.post("createFolder", name="a", externalId="cabinet-7")
    with pytest.raises(Problem) as refused:
        cabinet.post("createFolder", name="b", externalId="cabinet-7")
    assert (refused.value.code, refused.value.extra["existingId"]) == ("already_exists", first["id"])
    assert paths(cabinet, "externalId=cabinet-7") == ["/a"]


def test_another_version_than_was_read_is_refused(cabinet: Cabinet) -> None:
    folder = cabinet.folder("a")
    for operation, values in (("updateFolderName", {"name": "b"}), ("updateFolderParent", {"parentId": None})):
        with pytest.raises(Problem, match="version_conflict"):
            cabinet.post(operation, folderId=folder, expectedVersion=2, **values)
    assert cabinet.post("updateFolderName", folderId=folder, expectedVersion=1, name="b")["version"] == 2
    with pytest.raises(Problem, match="version_conflict"):
        cabinet.post("deleteFolder", folderId=folder, expectedVersion=1)
    assert cabinet.post("deleteFolder", folderId=folder, expectedVersion=2)["deletedFolders"] == 1


def test_an_organization_has_ten_thousand_folders_at_most(cabinet: Cabinet) -> None:
    def fill(tx: WriteTx) -> None:
        for number in range(9_999):
            tx.run(_INSERT, id=f"fld_{number:026}", name=f"f{number}")

    cabinet.store.write(fill, cabinet.org_id)
    cabinet.folder("the last")
    with pytest.raises(Problem) as refused:
        cabinet.folder("one more")
    assert (refused.value.code, refused.value.extra["limit"]) == ("limit_reached", 10_000)


def test_a_folder_is_read_by_its_id_with_counts_where_they_are_asked_for(cabinet: Cabinet) -> None:
    outer = cabinet.folder("Outer")
    inner = cabinet.folder("Inner", outer)
    cabinet.document(folderId=inner)
    for query in ("", "includeCounts=true"):
        listed = {folder["id"]: folder for folder in cabinet.walk("getFolders", query)}
        for folder_id in (outer, inner):
            assert cabinet.one("getFolder", f"folderId={folder_id}&{query}".rstrip("&")) == listed[folder_id]
    assert cabinet.one("getFolder", f"folderId={outer}&includeCounts=true")["totalDocumentCount"] == 1
    with pytest.raises(Problem, match="not_found"):
        Cabinet(cabinet.store).one("getFolder", f"folderId={outer}")


# -- changes


def changed(cabinet: Cabinet, query: str) -> list[tuple[str, str]]:
    """Name and path of what has changed, page by page, in the order of change."""
    return [(row["name"], row["path"]) for row in cabinet.walk("getFolders", f"{query}&limit=1")]


def test_who_follows_folders_learns_of_every_path(cabinet: Cabinet, store: MemoryStore) -> None:
    top, other = cabinet.folder("Top"), cabinet.folder("Other")
    middle = cabinet.folder("Middle", top)
    cabinet.folder("Low", middle)
    whole = changed(cabinet, "updatedSince=1970-01-01T00:00:00Z")
    assert whole == [("Top", "/Top"), ("Other", "/Other"), ("Middle", "/Top/Middle"), ("Low", "/Top/Middle/Low")]
    assert changed(Cabinet(store), "updatedSince=1970-01-01T00:00:00Z") == []

    def since() -> str:
        store.clock.advance(SECOND)
        return f"updatedSince={to_wire(store.now())}"

    moment = since()
    cabinet.post("updateFolderName", folderId=top, name="High")
    renamed = [("High", "/High"), ("Low", "/High/Middle/Low"), ("Middle", "/High/Middle")]
    assert sorted(changed(cabinet, moment)) == renamed
    assert changed(cabinet, f"{moment}&parentId={top}") == [("Middle", "/High/Middle")]
    moment = since()
    cabinet.post("updateFolderParent", folderId=middle, parentId=other)
    assert sorted(changed(cabinet, moment)) == [("Low", "/Other/Middle/Low"), ("Middle", "/Other/Middle")]
    moment = since()
    cabinet.post("updateFolderName", folderId=middle, name="Middle")
    assert changed(cabinet, moment) == []


def test_who_follows_folders_learns_what_is_gone(cabinet: Cabinet, store: MemoryStore) -> None:
    top = cabinet.folder("Top")
    below = cabinet.folder("Below", top)
    store.clock.advance(SECOND)
    moment = f"updatedSince={to_wire(store.now())}"
    cabinet.post("deleteFolder", folderId=top)
    listing = cabinet.listing("getFolders", moment)
    assert listing.pieces == []
    removed = msgspec.json.decode(b"{" + listing.extra.lstrip(b",") + b"}")["removed"]
    assert {row["id"] for row in removed} == {below, top}
