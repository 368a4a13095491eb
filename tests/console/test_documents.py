"""The pages of documents, and by them what holds for forms with a file."""

import hashlib
from collections.abc import AsyncIterator
from contextlib import aclosing
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import msgspec
import pytest
import trio
from werkzeug.exceptions import BadRequest

from gatewayd.console.components import words
from gatewayd.console.file_forms import FIELD_BYTES, PART_BYTES, PARTS_MAX, FormWithFile
from gatewayd.identity.sign_in import sessions
from gatewayd.performing.performer import Performer, encoded
from gatewayd.store import StoreFailure
from gatewayd.store.files.at_place import blobs_at
from gatewayd.store.files.incoming_files import IncomingFile
from gatewayd.vault_files.engine import VaultFiles
from tests.console.test_webhooks import flashes
from tests.console.visiting import (
    BOUNDARY,
    FILE_MOST,
    ISSUER,
    SECONDS,
    Browser,
    Site,
    form_with_file,
    open_site,
)
from tests.support.engines import Engines
from tests.support.rows import CATALOGUE
from tests.support.scopes import request_of, scope_of
from tests.support.store import make_caller

PAGE = "/documents"
NAME = 'Hazel & <Sons> "receipt".pdf'
CONTENT = b"\r\n--" + BOUNDARY.encode() + b"x\r\n\r\n" + bytes(range(256)) * 40 + b"\r\n--"
"""Nearly an end of the form, now and then."""


@pytest.fixture
async def site(database_image: bytes, tmp_path: Path) -> AsyncIterator[Site]:
    """The pages with an engine that gives documents out."""
    engines = Engines()
    async with open_site(tmp_path, database_image, deps=engines) as opened:
        made_files: Any = None
        engines.vault_files = VaultFiles(
            opened.store, blobs_at(opened.store.place), ISSUER, made_files, gives_links=True
        )
        yield opened


async def add(browser: Browser, name: str = NAME, content: bytes = CONTENT) -> str:
    """The address of a new document."""
    return (await browser.send_file(await browser.open(PAGE), PAGE, name, content)).location


async def documents(site: Site, **asked: object) -> list[dict[str, Any]]:
    answer: Any = await do_read(site, **asked)
    return list(answer["data"])


async def do_read(site: Site, **asked: object) -> object:
    row = next(each for each in CATALOGUE.operations if each.id == "vault.listDocuments")
    caller, request = make_caller(site.org_id, user_id=site.user_id), msgspec.convert(asked, row.request)
    return msgspec.json.decode(encoded(await Performer(site.store).perform(row, caller, request)))


def left(site: Site) -> list[str]:
    """What lies among the files on their way, and among the bytes of documents."""
    blobs = blobs_at(site.store.place).folder
    kept = [path.name for path in blobs.rglob("*") if path.is_file()]
    return [*(path.name for path in (site.directory / "incoming").iterdir()), *kept]


async def test_a_file_becomes_a_document(site: Site) -> None:
    browser = await site.signed_in()
    assert "Here stand invoices, receipts, contracts" in (await browser.open(PAGE)).text
    address = await add(browser)
    page = await browser.open(address)
    assert flashes(page) == [f"{NAME} is kept."]
    assert page.heading == NAME
    assert [text in page.text for text in ("PDF", words.size(len(CONTENT)), "Uploaded")] == [True] * 3
    (one,) = await documents(site)
    assert (one["status"], one["sizeBytes"]) == ("uploaded", len(CONTENT))
    assert one["sha256"] == hashlib.sha256(CONTENT).hexdigest()
    assert one["createdBy"] == site.user_id
    assert not list((site.directory / "incoming").iterdir())
    listed = await browser.open(PAGE)
    assert (address in listed.links(), NAME in listed.text) == (True, True)
    given = await browser.get(f"{address}/download")
    assert urlsplit(given.location).path.startswith("/vault/files/")


async def test_two_sendings_of_one_form_make_one_document(site: Site) -> None:
    browser = await site.signed_in()
    page = await browser.open(PAGE)
    found = []

    async def send() -> None:
        found.append((await browser.send_file(page, PAGE, NAME, CONTENT)).location)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(send)
        nursery.start_soon(send)
    await send()
    assert len(set(found)) == 1
    assert len(await documents(site)) == 1
    other = await browser.send_file(page, PAGE, NAME, b"other")
    assert other.status == 409


async def test_a_script_is_told_where_it_leads(site: Site) -> None:
    """It would follow a redirect, and what is said on the page would be said to it alone."""
    browser = await site.signed_in()
    answer = await browser.send_file(await browser.open(PAGE), PAGE, NAME, CONTENT, {"X_Upload": "yes"})
    assert (answer.status, answer.body) == (200, b"")
    assert flashes(await browser.open(answer.headers["Location"])) == [f"{NAME} is kept."]


@pytest.mark.parametrize("name", ["", "  ", "scans/"])
async def test_without_a_file_one_is_asked_for(site: Site, name: str) -> None:
    browser = await site.signed_in()
    answer = await browser.send_file(await browser.open(PAGE), PAGE, name, b"")
    assert answer.location == PAGE
    page = await browser.open(PAGE)
    assert flashes(page) == ["Choose a file first."]
    plain = await browser.submit(page, PAGE)
    assert flashes((await browser.follow(plain)).page) == ["Choose a file first."]


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("/home/ann/a.pdf", "a.pdf"),
        ("../../etc/passwd", "passwd"),
        ("a\tb\x7f.txt", "a b .txt"),
        (f"{'é' * 300}.pdf", f"{'é' * 251}.pdf"),
    ],
)
async def test_a_name_is_that_of_the_file_alone(site: Site, given: str, kept: str) -> None:
    await add(await site.signed_in(), given)
    assert [each["name"] for each in await documents(site)] == [kept]


async def test_a_document_has_a_star_another_name_and_goes_to_the_trash_and_back(site: Site) -> None:
    browser = await site.signed_in()
    address = await add(browser)
    answer = await browser.submit(await browser.open(address), f"{address}/star")
    starred = (await browser.follow(answer)).page
    assert "With a star" in starred.text
    assert address in (await browser.open(f"{PAGE}?starred=true")).links()
    await browser.submit(starred, f"{address}/star")
    assert address not in (await browser.open(f"{PAGE}?starred=true")).links()
    form = await browser.open(f"{address}/change")
    await browser.submit(form, f"{address}/change", name="Receipt", documentDate="2026-11-01")
    page = await browser.open(address)
    assert (page.heading, "1 Nov 2026" in page.text) == ("Receipt", True)
    question = await browser.open(f"{address}/trash")
    assert question.heading == "Move Receipt to the trash?"
    gone = await browser.follow(await browser.submit(question, f"{address}/trash"))
    assert address not in gone.page.links()
    assert address in (await browser.open(f"{PAGE}?status=deleted")).links()
    there = await browser.open(address)
    back = await browser.follow(await browser.submit(there, f"{address}/restore"))
    assert flashes(back.page) == ["The document is back."]


async def test_those_of_another_organization_are_not_there(site: Site) -> None:
    address = await add(await site.signed_in())
    await site.add_org("Elsewhere", await site.add_user("eve@example.com"))
    stranger = await site.signed_in(email="eve@example.com")
    token = (await stranger.open(PAGE)).token
    for page in ("", "/download", "/change", "/trash"):
        assert (await stranger.get(f"{address}{page}")).status == 404
    for page in ("change", "trash"):
        assert (await stranger.post(f"{address}/{page}", {"csrf": token, "name": "Mine"})).status == 404
    for page in ("star", "restore"):
        answer = await stranger.post(f"{address}/{page}", {"csrf": token, "starred": "true"})
        assert (await stranger.get(answer.location)).status == 404
    body = form_with_file([("csrf", token), ("organization", site.org_id)], NAME, CONTENT)
    assert (await stranger.post_parts(PAGE, body, Origin=ISSUER)).status == 404
    (one,) = await documents(site)
    assert (one["starred"], one["name"]) == (False, NAME)


# -- what is refused, and leaves nothing


async def test_a_form_without_its_token_keeps_nothing(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    browser = await site.signed_in()
    token = (await browser.open(PAGE)).token
    begun = watch(monkeypatch)
    forms = [form_with_file([("csrf", each)], NAME, CONTENT) for each in ("", "x", sessions.csrf_token("x"))]
    behind = form_with_file([], NAME, CONTENT).replace(
        f"\r\n--{BOUNDARY}--".encode(),
        f'\r\n--{BOUNDARY}\r\nContent-Disposition: form-data; name="csrf"\r\n\r\n{token}\r\n--{BOUNDARY}--'.encode(),
    )
    for body in (*forms, form_with_file([], NAME, CONTENT), behind):
        answer = await browser.post_parts(PAGE, body, Origin=ISSUER)
        assert (answer.status, answer.page.heading) == (403, "Nothing was done")
    good = form_with_file([("csrf", token)], NAME, CONTENT)
    for elsewhere in ({"Origin": "https://evil.example"}, {"Sec_Fetch_Site": "cross-site"}):
        assert (await browser.post_parts(PAGE, good, **elsewhere)).status == 403
    assert (await site.browser().post_parts(PAGE, good, Origin=ISSUER)).location.startswith("/sign-in?next=")
    assert (begun, left(site), await documents(site)) == ([], [], [])


def watch(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The files that are begun from now on."""
    begun: list[Path] = []

    class Watched(IncomingFile):
        def __init__(self, folder: Path) -> None:
            begun.append(folder)
            super().__init__(folder)

    monkeypatch.setattr("gatewayd.performing.file_places.IncomingFile", Watched)
    return begun


@pytest.mark.parametrize("path", ["/sign-in", "/sales/clients/new", "/documents/x/star"])
async def test_other_pages_take_no_file(site: Site, path: str) -> None:
    browser = await site.signed_in()
    token = (await browser.open(PAGE)).token
    answer = await browser.post_parts(path, form_with_file([("csrf", token)], NAME, CONTENT), Origin=ISSUER)
    assert (answer.status, left(site)) == (415, [])


async def test_a_file_that_is_too_large_is_refused_with_words(site: Site) -> None:
    browser = await site.signed_in()
    page = await browser.open(PAGE)
    await add(browser, "most", b"x" * FILE_MOST)
    answer = await browser.send_file(page, PAGE, NAME, b"x" * (FILE_MOST + 1))
    assert answer.status == 413
    assert "A file may have 1 MB at most." in answer.page.text
    declared = await browser.send_file(page, PAGE, NAME, b"x", {"Content_Length": str(3 * FILE_MOST)})
    assert declared.status == 413
    assert len(left(site)) == 1
    assert len(await documents(site)) == 1


async def test_a_disk_that_is_full_is_said_and_leaves_nothing(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    browser = await site.signed_in()
    page = await browser.open(PAGE)

    def refuse(*values: object) -> None:
        raise StoreFailure("the disk has no room for the file at /secret")

    for broken in ("incoming_files.IncomingFile.write", "blobs.BlobDraft.write"):
        with monkeypatch.context() as patch:
            patch.setattr(f"gatewayd.store.files.{broken}", refuse)
            answer = await browser.send_file(page, PAGE, NAME, CONTENT)
        assert answer.status == 503
        assert "The server cannot keep files now. Nothing was kept." in answer.page.text
        assert "secret" not in answer.page.text
        ((event, _),) = site.log.errors
        assert event == "file_not_kept"
        site.log.errors.clear()
        assert (left(site), await documents(site)) == ([], [])


@pytest.mark.parametrize(
    "cut",
    [
        lambda body: body[: body.index(b"\r\n\r\n")],
        lambda body: body[: len(body) // 2],
        lambda body: body.removesuffix(f"--{BOUNDARY}--\r\n".encode()),
        lambda body: body.replace(f"\r\n--{BOUNDARY}--\r\n".encode(), b"") + b"\r\n--" + BOUNDARY.encode() + b"\r\n",
        lambda body: body.replace(b"Content-Disposition", b"Disposition"),
    ],
)
async def test_half_a_form_leaves_nothing(site: Site, cut: Any) -> None:
    browser = await site.signed_in()
    token = (await browser.open(PAGE)).token
    body = cut(form_with_file([("csrf", token)], NAME, CONTENT))
    answer = await browser.post_parts(PAGE, body, Origin=ISSUER)
    assert answer.status in (400, 403)
    assert (left(site), await documents(site)) == ([], [])


async def test_what_comes_behind_the_file_is_refused(site: Site) -> None:
    browser = await site.signed_in()
    token = (await browser.open(PAGE)).token
    one = form_with_file([("csrf", token)], NAME, CONTENT)
    two = one.removesuffix(f"--{BOUNDARY}--\r\n".encode()) + form_with_file([], "b.pdf", b"b")
    assert (await browser.post_parts(PAGE, two, Origin=ISSUER)).status == 400
    assert (left(site), await documents(site)) == ([], [])


@pytest.mark.parametrize(
    "fields",
    [
        [("a", "x" * (FIELD_BYTES + 1))],
        [(f"a{number}", "") for number in range(PARTS_MAX + 1)],
        [("a" * (FIELD_BYTES + PART_BYTES), "")],
    ],
)
async def test_fields_have_limits_of_their_own(site: Site, fields: list[tuple[str, str]]) -> None:
    browser = await site.signed_in()
    token = (await browser.open(PAGE)).token
    answer = await browser.post_parts(PAGE, form_with_file([*fields, ("csrf", token)], NAME, b""), Origin=ISSUER)
    assert (answer.status, left(site)) == (413, [])


@pytest.mark.parametrize("hangs", [False, True])
async def test_who_breaks_off_or_hangs_leaves_nothing(site: Site, *, hangs: bool) -> None:
    """The server ends the request of who hangs."""
    browser = await site.signed_in()
    token = (await browser.open(PAGE)).token
    body = form_with_file([("csrf", token)], NAME, CONTENT * 100)
    cookies = "; ".join(f"{name}={value}" for name, value in browser.cookies.items())
    kind = f"multipart/form-data; boundary={BOUNDARY}"
    headers = [("content-type", kind), ("origin", ISSUER), ("cookie", cookies), ("host", "books.example")]
    request = request_of("POST", PAGE, headers=[(name.encode(), value.encode()) for name, value in headers])
    sent = iter([{"type": "http.request", "body": body[: len(body) // 2], "more_body": True}])
    begun: list[bool] = []

    async def receive() -> dict[str, object]:
        message: dict[str, object] | None = next(sent, None)
        if message is not None:
            return message
        begun.append(bool(list((site.directory / "incoming").iterdir())))
        if hangs:
            ending.cancel()
            await trio.sleep_forever()
        return {"type": "http.disconnect"}

    async def send(message: dict[str, object]) -> None:
        await trio.lowlevel.checkpoint()

    with trio.fail_after(SECONDS), trio.CancelScope() as ending:
        await site.app({**scope_of(request), "scheme": "https"}, receive, send)
    assert (begun[0], left(site), await documents(site)) == (True, [], [])


# -- the form, as it comes


async def read(body: bytes, step: int) -> tuple[dict[str, str], str, bytes]:
    """Fields, name and bytes of a form that comes in parts of `step` bytes."""

    async def source() -> Any:
        for start in range(0, len(body), step):
            yield bytearray(body[start : start + step])

    async with aclosing(source()) as parts:
        form = FormWithFile(parts, BOUNDARY.encode(), 0)
        fields = await form.fields()
        content = b"".join([bytes(part) async for part in form.file()])
    return fields.to_dict(), form.file_name, content


@pytest.mark.parametrize("step", [1, 2, 3, 7, 64, 1000, 1 << 20])
async def test_a_form_is_the_same_however_it_is_cut(step: int) -> None:
    content = CONTENT[:600]
    body = form_with_file([("csrf", "t"), ("a", "é\r\nx")], NAME, content)
    assert await read(body, step) == ({"csrf": "t", "a": "é\r\nx"}, NAME, content)


async def test_bytes_that_are_no_text_are_no_field() -> None:
    body = form_with_file([("a", "x")], NAME, b"").replace(b"\r\n\r\nx\r\n", b"\r\n\r\n\xff\r\n")
    with pytest.raises(BadRequest):
        await read(body, 64)
