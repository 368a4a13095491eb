"""Where the bytes of documents come in and go out: addresses that need no other credential, and what they refuse."""

import hashlib
from pathlib import Path

import pytest

from gatewayd.clock import MINUTE, SECOND
from gatewayd.store import StoreFailure
from tests.http.vault_door import MAX_BYTES, ORIGIN, open_door
from tests.support.api import Body

NOBODY = [(b"origin", b"https://app.example.com")]


async def test_bytes_come_in_parts_and_go_out_as_they_were(tmp_path: Path, database_image: bytes) -> None:
    content = bytes(range(256)) * 10_000
    async with open_door(tmp_path, database_image) as door:
        made = await door.post("/vault/documents", name='Büro "A".pdf')
        sent = await door.put(made["upload"]["url"], Body(content[:1_500_000], b"", content[1_500_000:]))
        sha256 = hashlib.sha256(content).hexdigest()
        document_id = made["document"]["id"]
        assert sent.json() == {"documentId": document_id, "sizeBytes": len(content), "sha256": sha256}
        await door.post(f"/vault/documents/{document_id}/confirm-upload", sha256=sha256)
        got = await door.get(await door.url(document_id))
    assert (got.status, got.body) == (200, content)
    assert (got["content-type"], got["etag"]) == ("application/pdf", f'"{sha256}"')
    assert got["content-disposition"] == (
        "attachment; filename=\"B_ro _A_.pdf\"; filename*=UTF-8''B%C3%BCro%20%22A%22.pdf"
    )
    assert (got["x-content-type-options"], got["accept-ranges"]) == ("nosniff", "bytes")
    assert got["content-security-policy"].startswith("sandbox;")


@pytest.mark.parametrize(
    ("asked", "status", "body", "reach"),
    [
        (b"bytes=2-4", 206, b"234", "bytes 2-4/10"),
        (b"bytes=8-", 206, b"89", "bytes 8-9/10"),
        (b"bytes=8-99", 206, b"89", "bytes 8-9/10"),
        (b"bytes=-3", 206, b"789", "bytes 7-9/10"),
        (b"bytes=-99", 206, b"0123456789", "bytes 0-9/10"),
        (b"bytes=10-", 416, b"", "bytes */10"),
        (b"bytes=-0", 416, b"", "bytes */10"),
        (b"bytes=4-2", 200, b"0123456789", None),
        (b"bytes=0-1,4-5", 200, b"0123456789", None),
        (b"pages=1-2", 200, b"0123456789", None),
    ],
)
async def test_ranges(
    tmp_path: Path, database_image: bytes, asked: bytes, status: int, body: bytes, reach: str | None
) -> None:
    """RFC 9110 §14."""
    async with open_door(tmp_path, database_image) as door:
        url = await door.url(await door.document())
        got = await door.get(url, (b"range", asked))
        tag = got["etag"].encode()
        same = await door.get(url, (b"range", b"bytes=2-4"), (b"if-range", tag))
        changed = await door.get(url, (b"range", b"bytes=2-4"), (b"if-range", b'"other"'))
        known = await door.get(url, (b"if-none-match", tag))
        head = await door.get(url, method="HEAD")
    assert (got.status, got.body) == (status, body)
    assert (got["content-range"] if reach is not None else None) == reach
    assert (same.status, changed.status, known.status, known.body) == (206, 200, 304, b"")
    assert (head.status, head.body, head["content-length"]) == (200, b"", "10")


async def test_only_what_is_safe_is_shown_in_place(tmp_path: Path, database_image: bytes) -> None:
    async with open_door(tmp_path, database_image) as door:
        for name, kind in (("a.pdf", "inline"), ("a.html", "attachment"), ("a.svg", "attachment"), ("a", "attachment")):
            url = await door.url(await door.document(name=name), "disposition=inline")
            assert (await door.get(url))["content-disposition"].startswith(f"{kind};"), name


async def test_a_download_url_ends_and_cannot_be_changed(tmp_path: Path, database_image: bytes) -> None:
    async with open_door(tmp_path, database_image) as door:
        first = await door.document()
        url = await door.url(first, "ttlSeconds=60")
        assert url == await door.url(first, "ttlSeconds=60"), "asked again in the same instant it is the same"
        text, _, signature = url.rpartition("/")[2].partition(".")
        for bad in (f"{text}A.{signature}", f"{text}.{signature[::-1]}", text, "", ".", "ä.ö", "x" * 2_000):
            refused = await door.get(f"{ORIGIN}/vault/files/{bad}")
            assert (refused.status, refused.code) == (404, "not_found"), bad
        door.api.clock.advance(60 * SECOND)
        assert (await door.get(url)).status == 404
        assert (await door.get(await door.url(first), method="POST")).status == 405


async def test_what_is_lost_or_deleted_is_told(tmp_path: Path, database_image: bytes) -> None:
    async with open_door(tmp_path, database_image) as door:
        lost, deleted = await door.document(b"lost"), await door.document(b"deleted")
        urls = [await door.url(each) for each in (lost, deleted)]
        door.blobs.remove(hashlib.sha256(b"lost").hexdigest())
        await door.post(f"/vault/documents/{deleted}", method="DELETE")
        assert [(await door.get(url)).status for url in urls] == [410, 404]
        gone = await door.api("GET", f"/vault/documents/{lost}/download")
        assert (gone.status, gone.code) == (410, "gone")
        pending = await door.post("/vault/documents", name="x")
        document_id = pending["document"]["id"]
        for method, path in (("GET", "download"), ("POST", "temporal-link")):
            values = {"json": {"permanent": True}} if method == "POST" else {}
            refused = await door.api(method, f"/vault/documents/{document_id}/{path}", **values)
            assert (refused.status, refused.code) == (409, "not_uploaded")


async def test_who_read_is_noted(tmp_path: Path, database_image: bytes) -> None:
    async with open_door(tmp_path, database_image) as door:
        first, second = await door.document(b"1"), await door.document(b"2")
        for each in (second, first):
            await door.get(await door.url(each))
            door.api.clock.advance(SECOND)
        await door.get(await door.url(second), (b"range", b"bytes=1-"))  # goes on with what it read before
        recent = (await door.api("GET", "/vault/documents/recent")).json()["data"]
    assert [one["id"] for one in recent] == [first, second]


async def test_an_upload_that_is_refused_leaves_nothing(tmp_path: Path, database_image: bytes) -> None:
    async with open_door(tmp_path, database_image) as door:
        made = await door.post("/vault/documents", name="a.bin")
        small = await door.post("/vault/documents", name="b.bin", sizeBytes=4)
        url, four = made["upload"]["url"], small["upload"]["url"]
        unread = Body(b"x")
        long = [(b"content-length", b"%d" % (MAX_BYTES + 1))]
        assert (await door.put(url, unread, *long)).code == "payload_too_large"
        assert unread.read == 0, "told before it is read"
        assert (await door.put(url, Body(*[bytes(1_000_000)] * 4))).code == "payload_too_large"
        assert (await door.put(four, Body(b"12345"))).code == "payload_too_large"
        assert (await door.put(four, Body(b"123"))).code == "checksum_mismatch"
        assert (await door.put(url, Body(b"half", broken_off=True))).code == "invalid_request"
        form = (b"content-type", b"multipart/form-data; boundary=x")
        assert (await door.put(url, Body(b"x"), form)).code == "unsupported_media_type"
        assert (await door.put(url, Body(b"x"), (b"content-encoding", b"gzip"))).code == "unsupported_media_type"
        assert (await door.put(url, Body(b"x"), method="POST")).status == 405
        for bad in ("gwd_upl_x", "", "x" * 500):
            assert (await door.put(f"{ORIGIN}/vault/uploads/{bad}", Body(b"x"))).code == "not_found"
        assert [path for path in door.kept() if path.parent.name == "drafts"] == []
        assert (await door.put(url, Body(b"whole"))).status == 200, "the address was good all the time"
        assert (await door.put(url, Body(b"again"))).code == "not_found"


async def test_pages_of_allowed_origins_may_send(tmp_path: Path, database_image: bytes) -> None:
    async with open_door(tmp_path, database_image) as door:
        url = (await door.post("/vault/documents", name="a"))["upload"]["url"]
        asked = (*NOBODY, (b"access-control-request-method", b"PUT"))
        preflight = await door.put(url, Body(b""), *asked, method="OPTIONS")
        sent = await door.put(url, Body(b"x"), *NOBODY)
    assert (preflight.status, preflight["access-control-allow-methods"]) == (204, "PUT, PATCH, HEAD, DELETE")
    assert sent["access-control-allow-origin"] == "https://app.example.com"


async def test_a_disk_that_is_full_keeps_the_upload_open(
    tmp_path: Path, database_image: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_door(tmp_path, database_image) as door:
        url = (await door.post("/vault/documents", name="a"))["upload"]["url"]
        monkeypatch.setattr("gatewayd.vault_files.receiving.free_bytes", lambda folder: 1_000)
        refused = await door.put(url, Body(b"x"))
        assert (refused.status, refused["retry-after"]) == (503, "5")
        monkeypatch.undo()
        assert (await door.put(url, Body(b"x"))).status == 200


async def test_a_link_gives_the_bytes_until_it_ends(tmp_path: Path, database_image: bytes) -> None:
    async with open_door(tmp_path, database_image) as door:
        document_id = await door.document()
        ends = await door.link(document_id, expiresInSeconds=60)
        twice = await door.link(document_id, permanent=True, maxDownloads=2)
        revoked = await door.link(document_id, permanent=True)
        assert [(await door.get(url)).body for url in (ends, twice, revoked)] == [b"0123456789"] * 3
        assert (await door.get(ends, method="HEAD")).status == 200
        assert (await door.get(twice)).status == 200
        assert (await door.get(twice)).status == 404, "it was for two"
        newest, *_ = (await door.api("GET", f"/vault/documents/{document_id}/links")).json()["data"]
        assert (newest["downloads"], newest["hasPassword"], "token" in newest) == (1, False, False)
        revoke = f"/vault/links/{newest['id']}/revoke"
        stale = await door.api("POST", revoke, json={"expectedVersion": newest["version"] + 1})
        assert (stale.status, stale.code) == (409, "version_conflict")
        assert (await door.get(revoked)).status == 200
        ended = await door.api("POST", revoke, json={"expectedVersion": newest["version"]})
        assert ended.json()["version"] == newest["version"] + 1
        assert (await door.get(revoked)).status == 404
        door.api.clock.advance(60 * SECOND)
        assert (await door.get(ends)).status == 404
        for bad in ("gwd_lnk_x", "", "x" * 500):
            assert (await door.get(f"{ORIGIN}/l/{bad}")).status == 404


async def test_a_link_behind_a_password(tmp_path: Path, database_image: bytes) -> None:
    async with open_door(tmp_path, database_image) as door:
        url = await door.link(await door.document(), permanent=True, password="sesame", maxDownloads=1)
        page = await door.get(url)
        assert page["content-type"] == "text/html; charset=utf-8"
        assert b"0123456789" not in page.body
        assert b'<label for="password">Password</label>' in page.body
        wrong = await door.get(url, method="POST", body=b"password=open")
        assert (wrong.status, b"That is not the password." in wrong.body) == (403, True)
        for bad in (b"", b"passwort=x", b"\xff", b"x" * 10_000):
            assert (await door.get(url, method="POST", body=bad)).status in (400, 413)
        right = await door.get(url, method="POST", body=b"password=sesame")
        assert right.status == 303
        assert (await door.get(ORIGIN + right["location"])).body == b"0123456789"
        assert (await door.get(url)).status == 404, "it was for one"
        assert (await door.get(ORIGIN + right["location"])).status == 404, "and what its password opened, too"


async def test_what_a_password_opened_ends_with_the_link(tmp_path: Path, database_image: bytes) -> None:
    async with open_door(tmp_path, database_image) as door:
        document_id = await door.document()
        url = await door.link(document_id, permanent=True, password="sesame")
        opened = ORIGIN + (await door.get(url, method="POST", body=b"password=sesame"))["location"]
        assert (await door.get(opened)).body == b"0123456789"
        (link,) = (await door.api("GET", f"/vault/documents/{document_id}/links")).json()["data"]
        await door.post(f"/vault/links/{link['id']}/revoke")
        assert [(await door.get(each)).status for each in (opened, url)] == [404, 404]


@pytest.mark.parametrize("again", [b"bytes=1-", b"bytes=9-", b"bytes=-9", b"bytes=0-", b"bytes=0-0", b""])
async def test_a_download_is_counted_from_whichever_byte_it_begins(
    tmp_path: Path, database_image: bytes, again: bytes
) -> None:
    """Of a link for one download that was read to its end nothing is left, but what it is without bytes."""
    async with open_door(tmp_path, database_image) as door:
        url = await door.link(await door.document(), permanent=True, maxDownloads=1)
        assert (await door.get(url, method="HEAD")).status == 200
        assert (await door.get(url)).status == 200
        assert (await door.get(url, (b"range", again))).status == 404
        assert (await door.get(url, method="HEAD")).status == 404


async def test_a_download_that_begins_at_the_second_byte_is_counted(tmp_path: Path, database_image: bytes) -> None:
    async with open_door(tmp_path, database_image) as door:
        url = await door.link(await door.document(), permanent=True, maxDownloads=1)
        assert (await door.get(url, (b"range", b"bytes=1-"))).body == b"123456789"
        assert (await door.get(url, (b"range", b"bytes=1-"))).status == 404
        assert (await door.get(url, (b"range", b"bytes=0-0"))).status == 404, "it begins another one"


async def test_parts_of_one_download_are_counted_once(tmp_path: Path, database_image: bytes) -> None:
    async with open_door(tmp_path, database_image) as door:
        document_id = await door.document()
        url = await door.link(document_id, permanent=True, maxDownloads=1)
        parts = [await door.get(url, (b"range", each)) for each in (b"bytes=0-3", b"bytes=4-6", b"bytes=7-")]
        assert b"".join(part.body for part in parts) == b"0123456789"
        assert (await door.get(url, (b"range", b"bytes=9-"))).status == 404, "all of it was given"
        (link,) = (await door.api("GET", f"/vault/documents/{document_id}/links")).json()["data"]
        assert link["downloads"] == 1


async def test_passwords_are_not_guessed(tmp_path: Path, database_image: bytes) -> None:
    async with open_door(tmp_path, database_image) as door:
        url = await door.link(await door.document(), permanent=True, password="sesame")
        for _ in range(10):
            assert (await door.get(url, method="POST", body=b"password=open")).status == 403
        assert (await door.get(url, method="POST", body=b"password=sesame")).status == 429
        door.api.clock.advance(MINUTE)
        assert (await door.get(url, method="POST", body=b"password=open")).status == 403
        door.api.clock.advance(MINUTE)
        assert (await door.get(url, method="POST", body=b"password=sesame")).status == 429, "twice as long now"
        door.api.clock.advance(MINUTE)
        assert (await door.get(url, method="POST", body=b"password=sesame")).status == 303


async def test_an_address_is_held_to_the_rate_of_a_credential(tmp_path: Path, database_image: bytes) -> None:
    async with open_door(tmp_path, database_image) as door:
        document_id = await door.document()
        first, second = [await door.link(document_id, permanent=True) for _ in range(2)]
        download = await door.api("GET", f"/vault/documents/{document_id}/download")
        door.limits.change(2, 64)
        for url in (first, second, download.json()["url"]):
            replies = [await door.get(url) for _ in range(3)]
            assert [reply.status for reply in replies] == [200, 200, 429]
            assert replies[-1].code == "rate_limited"
            assert 0 < int(replies[-1]["retry-after"]) <= 31
        assert door.limits.running == 0


async def test_where_links_are_switched_off_there_are_none(tmp_path: Path, database_image: bytes) -> None:
    async with open_door(tmp_path, database_image, gives_links=False) as door:
        path = f"/vault/documents/{await door.document()}/temporal-link"
        refused = await door.api("POST", path, json={"permanent": True})
        assert (refused.status, refused.code) == (403, "public_links_disabled")


@pytest.mark.parametrize("values", [{}, {"permanent": True, "expiresInSeconds": 60}, {"permanent": False}])
async def test_a_link_says_how_long_it_lasts(tmp_path: Path, database_image: bytes, values: dict[str, object]) -> None:
    async with open_door(tmp_path, database_image) as door:
        path = f"/vault/documents/{await door.document()}/temporal-link"
        refused = await door.api("POST", path, json=values)
    assert (refused.status, refused.json()["errors"][0]["path"]) == (422, "expiresInSeconds")


async def test_a_variant_that_there_is_not(tmp_path: Path, database_image: bytes) -> None:
    async with open_door(tmp_path, database_image) as door:
        document_id = await door.document(b"no picture")
        asked = await door.api("GET", f"/vault/documents/{document_id}/download", query="variant=thumbnail")
        values = {"permanent": True, "variant": "thumbnail"}
        linked = await door.api("POST", f"/vault/documents/{document_id}/temporal-link", json=values)
    for refused in (asked, linked):
        assert (refused.status, refused.json()["errors"][0]["path"]) == (422, "variant")


@pytest.mark.parametrize(
    ("variant", "name", "media_type", "body"),
    [
        ("text", "scan.old.txt", "text/plain; charset=utf-8", "caf\u00e9".encode()),
        ("thumbnail", "scan.old.webp", "image/webp", b"RIFF" + "caf\u00e9".encode()),
        ("searchable_pdf", "scan.old.pdf", "application/pdf", b"%PDF-" + "caf\u00e9".encode()),
    ],
)
async def test_variants_are_given_as_what_they_are(
    tmp_path: Path, database_image: bytes, variant: str, name: str, media_type: str, body: bytes
) -> None:
    async with open_door(tmp_path, database_image) as door:
        document_id = await door.document("caf\u00e9".encode(), name="scan.old.eml")
        await door.parsed(document_id)
        asked = await door.api("GET", f"/vault/documents/{document_id}/download", query=f"variant={variant}")
        told = asked.json()
        got = await door.get(told["url"], (b"range", b"bytes=0-"))
        link = await door.link(document_id, permanent=True, variant=variant)
        given = await door.get(link)
        await door.post(f"/vault/documents/{document_id}", method="DELETE")
        assert [(await door.get(url)).status for url in (told["url"], link)] == [404, 404]
    assert (told["fileName"], told["sizeBytes"]) == (name, len(body))
    assert told["sha256"] == hashlib.sha256(body).hexdigest()
    assert (got.status, got.body, got["content-type"], got["etag"]) == (206, body, media_type, f'"{told["sha256"]}"')
    assert got["content-disposition"] == f'attachment; filename="{name}"'
    assert (given.status, given.body, given["content-disposition"]) == (200, body, f'inline; filename="{name}"')


async def test_a_picture_is_seen_where_the_document_names_it(tmp_path: Path, database_image: bytes) -> None:
    async with open_door(tmp_path, database_image) as door:
        document_id = await door.document(b"one")
        address = (await door.parsed(document_id))["thumbnailUrl"]
        got, head = await door.get(address), await door.get(address, method="HEAD")
        known = await door.get(address, (b"if-none-match", got["etag"].encode()))
        assert (got.status, got.body, got["content-type"]) == (200, b"RIFFone", "image/webp")
        assert got["cache-control"] == "private, max-age=3600"
        assert (head.status, head.body, known.status) == (200, b"", 304)
        assert (await door.get(address, method="POST")).status == 405
        for bad in (
            address[:-6] + "x.webp",
            address.replace("1-320", "2-320"),
            address.replace("doc_", "doc_0"),
            "x/1",
        ):
            refused = await door.get(f"/vault/thumbnails/{bad.removeprefix('/vault/thumbnails/')}")
            assert (refused.status, refused.code) == (404, "not_found"), bad
        wider = await door.post(f"/vault/documents/{document_id}/cache-thumbnail", width=640)
        assert wider["document"]["thumbnailUrl"] == wider["thumbnailUrl"]
        assert [(await door.get(each)).status for each in (address, wider["thumbnailUrl"])] == [404, 200]
        await door.post(f"/vault/documents/{document_id}/thumbnail", method="PATCH", thumbnailUrl=None)
        assert (await door.get(wider["thumbnailUrl"])).status == 404, "whoever clears it ends the address"
        again = await door.post(f"/vault/documents/{document_id}/cache-thumbnail", width=640)
        assert (await door.get(wider["thumbnailUrl"])).status == 404
        await door.post(f"/vault/documents/{document_id}", method="DELETE")
        assert (await door.get(again["thumbnailUrl"])).status == 404


async def test_reading_goes_on_where_nothing_can_be_noted(
    tmp_path: Path, database_image: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_door(tmp_path, database_image) as door:
        url = await door.url(await door.document())

        async def refuse(*given: object) -> None:
            raise StoreFailure("the disk is full")

        monkeypatch.setattr(type(door.api.store), "write", refuse)
        assert (await door.get(url)).status == 200


async def test_people_whose_address_leads_to_nothing_are_told_in_words(tmp_path: Path, database_image: bytes) -> None:
    async with open_door(tmp_path, database_image) as door:
        for path in ("/l/gwd_lnk_x", "/vault/files/x.y"):
            told = await door.get(ORIGIN + path, (b"accept", b"text/html,application/xhtml+xml,*/*;q=0.8"))
            assert (told.status, told["content-type"]) == (404, "text/html; charset=utf-8")
            assert b"<h1>There is nothing here</h1>" in told.body
            assert told["cache-control"] == "no-store"
            assert (await door.get(ORIGIN + path, (b"accept", b"*/*"))).code == "not_found"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("..", 'attachment; filename=".."'),
        ("a;b=c, d.txt", 'attachment; filename="a;b=c, d.txt"'),
        ("100%.txt", "attachment; filename=\"100_.txt\"; filename*=UTF-8''100%25.txt"),
        ("back\\slash", "attachment; filename=\"back_slash\"; filename*=UTF-8''back%5Cslash"),
        ("invoice\u202efdp.exe", 'attachment; filename="invoice_fdp.exe"'),
        ("資料.pdf", "attachment; filename=\"__.pdf\"; filename*=UTF-8''%E8%B3%87%E6%96%99.pdf"),
    ],
)
async def test_odd_names(tmp_path: Path, database_image: bytes, name: str, said: str) -> None:
    """Also those of folders on the machine, and of before some were refused."""
    async with open_door(tmp_path, database_image) as door:
        document_id = await door.document(name="plain.txt")
        rename = "UPDATE vault_documents SET name = :name WHERE id = :id"
        await door.api.store.write(lambda tx: tx.run(rename, name=name, id=document_id))
        assert (await door.get(await door.url(document_id)))["content-disposition"] == said


async def test_what_has_no_bytes_or_no_picture_is_not_drawn(tmp_path: Path, database_image: bytes) -> None:
    async with open_door(tmp_path, database_image) as door:

        async def drawn(document_id: str) -> tuple[int, str]:
            reply = await door.api("POST", f"/vault/documents/{document_id}/cache-thumbnail", json={"width": 640})
            return reply.status, reply.code

        pending = (await door.post("/vault/documents", name="a.pdf"))["document"]["id"]
        assert await drawn(pending) == (409, "not_uploaded")
        text = await door.document(b"no picture")
        assert await drawn(text) == (422, "no_thumbnail_for_type")
        lost = await door.document(b"lost")
        await door.parsed(lost)
        door.blobs.remove(hashlib.sha256(b"lost").hexdigest())
        assert await drawn(lost) == (410, "gone")
