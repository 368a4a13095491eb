"""A form of an operation that takes a file: the file is given to it, and what is refused stands in the form."""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gatewayd.console.browser import see
from gatewayd.console.operations.calls import Operations
from gatewayd.console.operations.pages import FormPage, OperationPages, Page
from gatewayd.console.operations.sent_files import SentFiles
from gatewayd.console.pages import add_page
from gatewayd.contract.caller import Caller
from gatewayd.contract.received_file import ReceivedFile
from gatewayd.errors import invalid_field
from gatewayd.performing.admission import Gate
from gatewayd.performing.file_places import FilePlaces
from gatewayd.performing.performer import Performer
from gatewayd.performing.rate_limits import RateLimits
from tests.console.visiting import FILE_MOST, Site, open_site
from tests.support.rows import CATALOGUE

PAGE = "/books/statement"
ACCOUNT = "acc_01k0000000000000000000000a"
FORM = FormPage(
    operation="banking.importStatement",
    title="Import a statement",
    button="Import",
    back="/",
    names=("accountId", "format", "preview", "fromDate"),
)


class Importing:
    """Says what it was given."""

    def __init__(self) -> None:
        self.given: list[tuple[str, object, bytes]] = []

    async def handler(self, deps: object, caller: Caller, request: Any, file: ReceivedFile) -> object:
        content = file.path.read_bytes()
        if content == b"?":
            raise invalid_field("file", "unreadable_file", "It is no statement.")
        self.given.append((caller.kind, request, content))
        return {"id": "imp_1"}


@pytest.fixture
def importing() -> Importing:
    return Importing()


@pytest.fixture
async def site(database_image: bytes, tmp_path: Path, importing: Importing) -> AsyncIterator[Site]:
    async with open_site(tmp_path, database_image) as opened:
        places = FilePlaces(folder=tmp_path / "incoming", max_bytes={"banking": FILE_MOST})
        row = next(each for each in CATALOGUE.operations if each.id == FORM.operation)
        rows = [replace(row, handler=importing.handler)]
        operations = Operations(opened.store, Performer(opened.store), Gate(RateLimits(0, 100)), rows)
        form = OperationPages(operations, opened.clock, SentFiles(places, opened.log)).form_of(FORM)

        async def then(answer: Any) -> Page:
            return see(f"/search?q={answer['id']}")

        async def send() -> Page:
            return await form.submit(then)

        add_page(opened.app, "GET", PAGE, form.show)
        add_page(opened.app, "POST", PAGE, send, takes_file=True)
        yield opened


async def test_an_operation_is_given_the_file_and_what_was_entered(site: Site, importing: Importing) -> None:
    browser = await site.signed_in()
    page = await browser.open(PAGE)
    assert "Up to 1 MB." in page.text
    page.field_named("Account").attributes["value"] = ACCOUNT
    page.field_named("From date").attributes["value"] = "2026-11-01"
    for _ in range(2):
        answer = await browser.send_file(page, PAGE, "november.ofx", b"OFX")
        assert answer.location == "/search?q=imp_1"
    ((kind, request, content),) = importing.given
    assert (kind, content) == ("person", b"OFX")
    said = (request.account_id, request.file_name, request.format, str(request.from_date), request.preview)
    assert said == (ACCOUNT, "november.ofx", "auto", "2026-11-01", False)
    assert not list((site.directory / "incoming").iterdir())


async def test_what_is_refused_stands_in_the_form(site: Site, importing: Importing) -> None:
    browser = await site.signed_in()
    page = await browser.open(PAGE)
    nothing = await browser.send_file(page, PAGE, "", b"")
    assert (nothing.status, nothing.page.field_named("File").attributes["aria-invalid"]) == (422, "true")
    plain = await browser.submit(page, PAGE, accountId=ACCOUNT)
    assert (plain.status, "Choose a file." in plain.page.text) == (422, True)
    page.field_named("Account").attributes["value"] = ACCOUNT
    unreadable = await browser.send_file(page, PAGE, "november.ofx", b"?")
    assert (unreadable.status, "It is no statement." in unreadable.page.text) == (422, True)
    assert unreadable.page.field_named("File").attributes["aria-invalid"] == "true"
    assert unreadable.page.field_named("Account").attributes["value"] == ACCOUNT
    large = await browser.send_file(page, PAGE, "november.ofx", b"x" * (FILE_MOST + 1))
    assert (large.status, large.page.problem) == (413, "A file may have 1 MB at most.")
    assert importing.given == []
    assert not list((site.directory / "incoming").iterdir())


async def test_a_row_that_takes_a_file_takes_it_after_the_right_token_alone(site: Site, importing: Importing) -> None:
    browser = await site.signed_in()
    page = await browser.open(PAGE)
    (token,) = (each for each in page.root.all("input") if each.attributes.get("name") == "csrf")
    token.attributes["value"] = "x"
    assert (await browser.send_file(page, PAGE, "november.ofx", b"OFX")).status == 403
    assert importing.given == []
