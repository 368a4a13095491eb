"""Links to a document come page by page, and a picture is of the page that is asked for."""

from pathlib import Path

from tests.http.vault_door import open_door


async def test_links_come_page_by_page(tmp_path: Path, database_image: bytes) -> None:
    async with open_door(tmp_path, database_image) as door:
        document_id = await door.document()
        for _ in range(3):
            await door.link(document_id, permanent=True)
        path = f"/vault/documents/{document_id}/links"
        whole = (await door.api("GET", path)).json()
        assert (len(whole["data"]), whole["nextCursor"]) == (3, None)
        first = (await door.api("GET", path, query={"limit": 2})).json()
        rest = (await door.api("GET", path, query={"limit": 2, "cursor": first["nextCursor"]})).json()
        assert (len(first["data"]), rest["nextCursor"]) == (2, None)
        assert [*first["data"], *rest["data"]] == whole["data"]


async def test_a_picture_is_of_the_page_that_is_asked_for(tmp_path: Path, database_image: bytes) -> None:
    async with open_door(tmp_path, database_image) as door:
        document_id = await door.document(b"one\ftwo\fthree")
        await door.parsed(document_id)
        made = await door.post(f"/vault/documents/{document_id}/cache-thumbnail", page=3)
        assert "3-320" in made["thumbnailUrl"]
        assert (await door.get(made["thumbnailUrl"])).status == 200
        refused = await door.api("POST", f"/vault/documents/{document_id}/cache-thumbnail", json={"page": 4})
        assert [(one["path"], one["code"]) for one in refused.json()["errors"]] == [("page", "out_of_range")]
