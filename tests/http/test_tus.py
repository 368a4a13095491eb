"""Uploads in parts, by the protocol tus 1.0: what is told counts after a kill, and nothing counts twice."""

import base64
import hashlib
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import trio

from gatewayd.areas.vault.documents import usage
from gatewayd.clock import DAY
from gatewayd.http.vault_uploads import PART_BYTES
from gatewayd.ledger.credits import booking
from gatewayd.ledger.credits.shapes import PlanLimits
from gatewayd.store import StoreFailure
from gatewayd.store.settings import Bucket
from gatewayd.vault_files.receiving import ORGANIZATION_AT_ONCE
from tests.http.vault_door import MAX_BYTES, ORIGIN, Door, open_door
from tests.support import purses
from tests.support.api import Body
from tests.support.objects import ObjectServer

CONTENT = bytes(range(256)) * 4_000
HALF = 500_000
Files = Path | Bucket | None


@pytest.fixture(params=["alone", "shared", "bucket"])
def files(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Files:
    """All of it holds also where another daemon may take the next part."""
    if request.param == "bucket":
        server: ObjectServer = request.getfixturevalue("object_server")
        return server.bucket(tmp_path_factory.mktemp("bucket"))
    return None if request.param == "alone" else tmp_path_factory.mktemp("share")


async def made(door: Door, **values: object) -> tuple[str, str]:
    """The id of a new document, and its upload URL."""
    found = await door.post("/vault/documents", name="a.bin", **values)
    return found["document"]["id"], found["upload"]["url"]


async def confirmed(door: Door, document_id: str) -> dict[str, Any]:
    return await door.post(f"/vault/documents/{document_id}/confirm-upload")


def sha1_of(content: bytes) -> str:
    return "sha1 " + base64.b64encode(hashlib.sha1(content).digest()).decode()


async def test_parts_make_a_whole(tmp_path: Path, database_image: bytes, files: Files) -> None:
    async with open_door(tmp_path, database_image, files=files) as door:
        document_id, url = await made(door, sizeBytes=len(CONTENT))
        at_first = await door.tus("HEAD", url)
        assert (at_first.status, at_first["upload-offset"], at_first["upload-length"]) == (200, "0", str(len(CONTENT)))
        assert (at_first["cache-control"], at_first["tus-resumable"]) == ("no-store", "1.0.0")
        first = await door.tus("PATCH", url, Body(CONTENT[:100], b"", CONTENT[100:HALF]), upload_offset=0)
        assert (first.status, first["upload-offset"], first.body) == (204, str(HALF), b"")
        assert first["upload-expires"].endswith(" GMT")
        last = await door.tus("PATCH", url, CONTENT[HALF:], upload_offset=HALF)
        assert (last.status, last["upload-offset"]) == (204, str(len(CONTENT)))
        row = await confirmed(door, document_id)
        assert (row["sizeBytes"], row["sha256"]) == (len(CONTENT), hashlib.sha256(CONTENT).hexdigest())
        assert (await door.get(await door.url(document_id))).body == CONTENT
        after = await door.tus("HEAD", url)
        assert (after["upload-offset"], after["upload-length"]) == (str(len(CONTENT)),) * 2, "an answer may get lost"
        assert door.partials.list_names() == []


async def test_what_came_outlasts_a_kill(tmp_path: Path, database_image: bytes, files: Files) -> None:
    async with open_door(tmp_path, database_image, files=files) as door:
        document_id, url = await made(door, sizeBytes=len(CONTENT))
        cut = await door.tus("PATCH", url, Body(CONTENT[:HALF], broken_off=True), upload_offset=0)
        assert cut.code == "invalid_request"
        assert door.partials.size(document_id) == HALF, "every byte that came counts, however few"
        door.restart()
        assert (await door.tus("HEAD", url))["upload-offset"] == str(HALF)
        await door.tus("PATCH", url, CONTENT[HALF:], upload_offset=HALF)
        row = await confirmed(door, document_id)
    assert row["sha256"] == hashlib.sha256(CONTENT).hexdigest()


async def test_a_kill_behind_the_last_byte_is_made_up_for(tmp_path: Path, database_image: bytes, files: Files) -> None:
    """All has come, and the row does not say so."""
    async with open_door(tmp_path, database_image, files=files) as door:
        document_id, url = await made(door, sizeBytes=4)
        with door.partials.open(document_id) as partial:
            partial.write(b"1234")
        missing = await door.api("POST", f"/vault/documents/{document_id}/confirm-upload")
        assert missing.code == "upload_missing"
        assert (await door.tus("HEAD", url))["upload-offset"] == "4"
        assert (await confirmed(door, document_id))["sizeBytes"] == 4


async def test_a_length_may_be_told_later(tmp_path: Path, database_image: bytes, files: Files) -> None:
    async with open_door(tmp_path, database_image, files=files) as door:
        document_id, url = await made(door)
        head = await door.tus("HEAD", url)
        assert (head["upload-defer-length"], "upload-length" in head) == ("1", False)
        await door.tus("PATCH", url, b"1234", upload_offset=0)
        for bad in (3, MAX_BYTES + 1):
            refused = await door.tus("PATCH", url, b"", upload_offset=4, upload_length=bad)
            assert refused.status in (400, 413)
        told = await door.tus("PATCH", url, b"56", upload_offset=4, upload_length=8)
        assert told["upload-offset"] == "6"
        other = await door.tus("PATCH", url, b"7", upload_offset=6, upload_length=9)
        assert other.code == "invalid_request"
        assert (await door.tus("HEAD", url))["upload-length"] == "8"
        await door.tus("PATCH", url, b"78", upload_offset=6)
        assert (await confirmed(door, document_id))["sha256"] == hashlib.sha256(b"12345678").hexdigest()


async def test_an_empty_upload(tmp_path: Path, database_image: bytes, files: Files) -> None:
    async with open_door(tmp_path, database_image, files=files) as door:
        document_id, url = await made(door)
        assert (await door.tus("PATCH", url, b"", upload_offset=0, upload_length=0)).status == 204
        assert (await confirmed(door, document_id))["sizeBytes"] == 0


async def test_a_part_begins_where_the_upload_stands(tmp_path: Path, database_image: bytes, files: Files) -> None:
    async with open_door(tmp_path, database_image, files=files) as door:
        _, url = await made(door, sizeBytes=10)
        await door.tus("PATCH", url, b"1234", upload_offset=0)
        unread = Body(b"x")
        refused = await door.tus("PATCH", url, unread, upload_offset=0)
        assert (refused.code, refused.json()["offset"], unread.read) == ("upload_offset_mismatch", 4, 0)
        assert (await door.tus("PATCH", url, b"1234567", upload_offset=4)).code == "payload_too_large"
        await door.tus("PATCH", url, b"567890", upload_offset=4)
        again = await door.tus("PATCH", url, b"", upload_offset=10)
        assert (again.status, again["upload-offset"]) == (204, "10"), "nothing is appended to what is whole"
        assert (await door.tus("PATCH", url, b"x", upload_offset=9)).code == "upload_offset_mismatch"


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"tus_resumable": "0.2.2"}, "tus_version_not_supported"),
        ({"content_type": "application/octet-stream"}, "unsupported_media_type"),
        ({"upload_offset": "-1"}, "invalid_request"),
        ({"upload_offset": "1e3"}, "invalid_request"),
        ({"upload_offset": "9" * 18}, "upload_offset_mismatch"),
        ({"upload_offset": "9" * 19}, "invalid_request"),  # SQLite's numbers end within these
        ({"upload_length": "many"}, "invalid_request"),
        ({"upload_checksum": "crc32 AAAA"}, "invalid_request"),
        ({"upload_checksum": "sha1 !"}, "invalid_request"),
        ({"upload_checksum": "sha1 EfbEfkwXEF!2ILCSWhVNLa5xZmyE="}, "invalid_request"),
        ({"upload_checksum": "sha1 é"}, "invalid_request"),
        ({"upload_checksum": "sha1"}, "invalid_request"),
        ({"content_encoding": "gzip"}, "unsupported_media_type"),
    ],
)
async def test_what_is_no_part(
    tmp_path: Path, database_image: bytes, files: Files, fields: dict[str, object], code: str
) -> None:
    async with open_door(tmp_path, database_image, files=files) as door:
        _, url = await made(door, sizeBytes=10)
        body = Body(b"x")
        refused = await door.tus("PATCH", url, body, **{"upload_offset": 0, **fields})
        assert (refused.code, body.read) == (code, 0)
        assert refused["tus-resumable"] == "1.0.0"
        assert (await door.tus("PATCH", f"{ORIGIN}/vault/uploads/gwd_upl_x", b"x", upload_offset=0)).status == 404


async def test_what_a_request_of_tus_has_to_say(tmp_path: Path, database_image: bytes, files: Files) -> None:
    """Core protocol: the version with each, but for a HEAD that a person sends; and where a part begins."""
    offset, kind = (b"upload-offset", b"0"), (b"content-type", b"application/offset+octet-stream")
    async with open_door(tmp_path, database_image, files=files) as door:
        _, url = await made(door, sizeBytes=10)
        assert (await door.put(url, Body(b""), method="HEAD")).status == 200
        versions = [await door.put(url, Body(b"x"), offset, kind, method=method) for method in ("PATCH", "DELETE")]
        assert [(reply.status, reply["tus-version"]) for reply in versions] == [(412, "1.0.0")] * 2
        begun = await door.put(url, Body(b"x"), kind, (b"tus-resumable", b"1.0.0"), method="PATCH")
        assert (begun.status, begun.code) == (400, "invalid_request")
        assert (await door.tus("HEAD", url))["upload-offset"] == "0"


async def test_a_part_that_is_not_what_its_checksum_says_does_not_count(
    tmp_path: Path, database_image: bytes, files: Files
) -> None:
    async with open_door(tmp_path, database_image, files=files) as door:
        document_id, url = await made(door, sizeBytes=8)
        right = await door.tus("PATCH", url, b"1234", upload_offset=0, upload_checksum=sha1_of(b"1234"))
        assert right.status == 204
        wrong = await door.tus("PATCH", url, b"5578", upload_offset=4, upload_checksum=sha1_of(b"5678"))
        assert (wrong.status, wrong.code) == (460, "part_checksum_mismatch")
        assert (await door.tus("HEAD", url))["upload-offset"] == "4"
        cut = Body(b"56", broken_off=True)
        await door.tus("PATCH", url, cut, upload_offset=4, upload_checksum=sha1_of(b"5678"))
        assert (await door.tus("HEAD", url))["upload-offset"] == "4", "nobody knows whether it was right"
        with door.partials.open(document_id) as killed:
            killed.doubt()
            killed.write(b"55")
        door.restart()
        assert (await door.tus("HEAD", url))["upload-offset"] == "4"
        await door.tus("PATCH", url, b"5678", upload_offset=4, upload_checksum=sha1_of(b"5678"))
        assert (await confirmed(door, document_id))["sha256"] == hashlib.sha256(b"12345678").hexdigest()
        assert list(door.partials.folder.iterdir()) == []


async def test_other_bytes_than_were_meant_begin_anew(tmp_path: Path, database_image: bytes, files: Files) -> None:
    async with open_door(tmp_path, database_image, files=files) as door:
        document_id, url = await made(door, sizeBytes=4, sha256=hashlib.sha256(b"1234").hexdigest())
        assert (await door.tus("PATCH", url, b"4321", upload_offset=0)).code == "checksum_mismatch"
        assert (await door.tus("HEAD", url))["upload-offset"] == "0"
        await door.tus("PATCH", url, b"1234", upload_offset=0)
        assert (await confirmed(door, document_id))["sizeBytes"] == 4


async def test_a_client_that_comes_back_ends_its_earlier_request(
    tmp_path: Path, database_image: bytes, files: Files
) -> None:
    """The connection before hangs half open, as it does where a network went away."""
    async with open_door(tmp_path, database_image, files=files) as door:
        document_id, url = await made(door, sizeBytes=len(CONTENT))
        hanging, replies = _Hanging(CONTENT[:PART_BYTES]), []

        async def first() -> None:
            replies.append(await door.tus("PATCH", url, hanging, upload_offset=0))

        async with trio.open_nursery() as nursery:
            nursery.start_soon(first)
            await hanging.waits.wait()
            assert (await door.tus("HEAD", url))["upload-offset"] == str(PART_BYTES)
            await door.tus("PATCH", url, CONTENT[PART_BYTES:], upload_offset=PART_BYTES)
        assert replies[0].code == "upload_offset_mismatch"
        assert (await confirmed(door, document_id))["sha256"] == hashlib.sha256(CONTENT).hexdigest()


async def test_a_part_that_is_too_slow_ends_and_what_came_stays(
    tmp_path: Path, database_image: bytes, files: Files, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gatewayd.http1.bodies.GRACE_SECONDS", 0.0)

    class Slow(Body):
        async def receive(self) -> dict[str, Any]:
            await trio.sleep(0.01)  # ten bytes of the least rate
            return await super().receive()

    async with open_door(tmp_path, database_image, files=files) as door:
        document_id, url = await made(door, sizeBytes=8)
        refused = await door.tus("PATCH", url, Slow(b"1234", b"5678"), upload_offset=0)
        assert (refused.status, refused.code, refused["connection"]) == (408, "request_timeout", "close")
        assert (await door.tus("HEAD", url))["upload-offset"] == "4"
        whole = await door.put(url, Slow(b"1234", b"5678"))
        assert (whole.status, whole.code) == (408, "request_timeout")
        assert (await door.tus("PATCH", url, b"5678", upload_offset=4)).status == 204
        assert (await confirmed(door, document_id))["sizeBytes"] == 8
        assert door.receiving.shares.count.held == {}


async def test_an_organization_has_its_share_of_uploads(
    tmp_path: Path, database_image: bytes, files: Files, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gatewayd.vault_files.receiving.WAIT_SECONDS", 0.05)
    async with open_door(tmp_path, database_image, files=files) as door:
        door.restart()
        hanging = [_Hanging(CONTENT[:PART_BYTES]) for _ in range(ORGANIZATION_AT_ONCE)]
        urls = [(await made(door, sizeBytes=len(CONTENT)))[1] for _ in range(ORGANIZATION_AT_ONCE + 1)]
        async with trio.open_nursery() as nursery:
            for body, url in zip(hanging, urls, strict=False):
                nursery.start_soon(partial(door.tus, "PATCH", url, body, upload_offset=0))
            for body in hanging:
                await body.waits.wait()
            for method, fields in (("PATCH", {"upload_offset": 0}), ("PUT", {})):
                refused = await door.tus(method, urls[-1], b"1", **fields)
                assert (refused.status, refused.code, refused["retry-after"]) == (429, "rate_limited", "5")
            again = await door.tus("PATCH", urls[0], CONTENT[PART_BYTES:], upload_offset=PART_BYTES)
            assert again.status == 204, "in the place of the request that it ends"
            nursery.cancel_scope.cancel()
        assert door.receiving.shares.count.held == {}


class _Hanging(Body):
    """A body of which a part comes, and then nothing."""

    def __init__(self, part: bytes) -> None:
        super().__init__(part, broken_off=True)
        self.waits = trio.Event()

    async def receive(self) -> dict[str, Any]:
        if self.read:
            self.waits.set()
            await trio.sleep_forever()
        return await super().receive()


async def test_an_upload_can_be_given_up(tmp_path: Path, database_image: bytes, files: Files) -> None:
    async with open_door(tmp_path, database_image, files=files) as door:
        document_id, url = await made(door, sizeBytes=8)
        await door.tus("PATCH", url, b"1234", upload_offset=0)
        assert (await door.tus("DELETE", url)).status == 204
        for method in ("HEAD", "PATCH", "DELETE", "PUT"):
            assert (await door.tus(method, url, b"", upload_offset=4)).status == 404, method
        assert door.partials.list_names() == []
        document = (await door.api("GET", f"/vault/documents/{document_id}")).json()
        assert document["status"] == "upload_expired"


async def test_what_came_of_an_upload_that_is_over_is_swept(tmp_path: Path, database_image: bytes) -> None:
    async with open_door(tmp_path, database_image) as door:
        (expired, old), (awaited, _), (whole, other) = await made(door), await made(door), await made(door)
        for each, url in ((expired, old), (whole, other)):
            await door.tus("PATCH", url, b"12", upload_offset=0)
            assert each in door.partials.list_names()
        await door.put(other, Body(b"1234"))
        assert whole not in door.partials.list_names(), "it was made otherwise"
        with door.partials.open("doc_unknown") as nobodys:
            nobodys.write(b"1")
        await door.receiving.keep_house()
        assert door.partials.list_names() == [expired]
        door.api.clock.advance(DAY)
        _, young = await made(door)
        await door.tus("PATCH", young, b"1", upload_offset=0)
        await door.receiving.keep_house()
        assert (await door.tus("HEAD", old)).status == 404
        assert len(door.partials.list_names()) == 1
        assert awaited not in door.partials.list_names()


async def test_a_full_disk_keeps_what_came(
    tmp_path: Path, database_image: bytes, files: Files, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_door(tmp_path, database_image, files=files) as door:
        document_id, url = await made(door, sizeBytes=8)
        await door.tus("PATCH", url, b"1234", upload_offset=0)
        monkeypatch.setattr("gatewayd.vault_files.receiving.free_bytes", lambda folder: 1_000)
        refused = await door.tus("PATCH", url, b"5678", upload_offset=4)
        assert (refused.status, refused["retry-after"]) == (503, "5")
        monkeypatch.undo()
        monkeypatch.setattr(type(door.partials), "adopt", _refuse)
        assert (await door.tus("PATCH", url, b"5678", upload_offset=4)).status == 503
        assert (await door.tus("HEAD", url)).status == 503
        monkeypatch.undo()
        assert (await door.tus("HEAD", url))["upload-offset"] == "8"
        assert (await confirmed(door, document_id))["sizeBytes"] == 8


def _refuse(*given: object) -> None:
    raise StoreFailure("the disk is full")


async def test_what_the_server_can_do_and_for_whom(tmp_path: Path, database_image: bytes, files: Files) -> None:
    async with open_door(tmp_path, database_image, files=files) as door:
        _, url = await made(door, sizeBytes=8)
        origin, asked = "https://app.example.com", "tus-resumable, upload-offset"
        told = await door.tus(
            "OPTIONS",
            url,
            origin=origin,
            access_control_request_method="PATCH",
            access_control_request_headers=asked,
        )
        assert (told["tus-version"], told["tus-max-size"]) == ("1.0.0", str(MAX_BYTES))
        assert {"checksum", "termination", "expiration"} <= set(told["tus-extension"].split(","))
        allowed = told["access-control-allow-headers"].split(", ")
        assert {"tus-resumable", "upload-offset", "upload-length", "upload-checksum"} <= set(allowed)
        media_type = "application/offset+octet-stream"
        override = {"x_http_method_override": "PATCH", "content_type": media_type}
        sent = await door.tus("POST", url, b"12", origin=origin, upload_offset=0, **override)
        assert (sent.status, sent["upload-offset"]) == (204, "2")
        assert "upload-offset" in sent["access-control-expose-headers"]


async def test_a_quota_of_the_organization(tmp_path: Path, database_image: bytes, files: Files) -> None:
    async with open_door(tmp_path, database_image, files=files) as door:
        door.restart(organization_bytes=10)
        (_, first), (second_id, second), (_, third) = await made(door), await made(door), await made(door)
        assert (await door.put(first, Body(b"123456"))).status == 200
        refused = await door.put(second, Body(b"12345"))
        assert (refused.code, refused.json()["quotaBytes"]) == ("payload_too_large", 10)
        early = await door.tus("PATCH", third, b"1", upload_offset=0, upload_length=5)
        assert early.code == "payload_too_large"
        assert (await door.put(second, Body(b"1234"))).status == 200
        assert (await confirmed(door, second_id))["sizeBytes"] == 4


async def test_a_plan_allows_so_many_documents_and_bytes(tmp_path: Path, database_image: bytes, files: Files) -> None:
    """The lower of its bytes and the instance's counts; who got a smaller plan keeps what is there."""
    limits = PlanLimits(documents=2, storage_bytes=8)
    async with open_door(tmp_path, database_image, files=files) as door:
        door.restart(organization_bytes=10)
        urls = [(await made(door))[1] for _ in range(4)]
        assert (await door.put(urls[0], Body(b"123456"))).status == 200
        await door.api.store.write(lambda tx: purses.put_on_plan(tx, limits=limits, soft_limit=True), "org_a")
        large = await door.put(urls[1], Body(b"123"))
        assert (large.status, large.code, large.json()["quotaBytes"]) == (413, "payload_too_large", 8)
        assert (await door.put(urls[1], Body(b"12"))).status == 200
        one_more = await door.put(urls[2], Body(b""))
        assert (one_more.status, one_more.code) == (409, "limit_reached")
        early = await door.tus("PATCH", urls[2], b"1", upload_offset=0, upload_length=0)
        assert early.code == "limit_reached"
        record = await door.api("POST", "/vault/documents", json={"name": "a.txt"})
        assert (record.status, record.code) == (409, "limit_reached")
        smaller = PlanLimits(documents=0, storage_bytes=0)
        await door.api.store.write(lambda tx: purses.put_on_plan(tx, limits=smaller), "org_a")
        kept = await door.api.store.read(usage.of_organization, "org_a")
        assert kept == (2, 8)
        await door.api.store.write(lambda tx: booking.change_plan(tx, None), "org_a")
        assert (await door.put(urls[2], Body(b"12"))).status == 200
