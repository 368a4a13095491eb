"""Searching everything: what a person may see of the organization that the page is of, and nothing else."""

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace

import msgspec
import pytest

from gatewayd.areas.accounting.clients.operations import create_client
from gatewayd.areas.accounting.clients.shapes import CreateClient
from gatewayd.areas.vault.search import SearchDocuments, SearchedDocuments
from gatewayd.console.books.search import SHOWN, SOURCES, Source
from gatewayd.console.operations.lists import listed
from gatewayd.money import MICRO
from gatewayd.store import WriteTx
from tests.console.reading import Document
from tests.console.visiting import Site, open_site
from tests.contract.rows import OPERATIONS
from tests.support import purses
from tests.support.store import make_caller
from tests.support.wire import read_as

PAGE = "/search"
EXAMPLE = json.loads(Path(__file__).parents[2].joinpath("docs", "openapi.json").read_text("utf-8"))["paths"][
    "/vault/search"
]["post"]["responses"]["200"]


@dataclass
class Shelf:
    """Stands for the engine that searches in documents, of which it finds two, or none."""

    asked: list[SearchDocuments] = field(default_factory=list)
    finds: bool = False

    async def __call__(self, org_id: str, request: SearchDocuments) -> SearchedDocuments:
        self.asked.append(request)
        example = EXAMPLE["content"]["application/json"]["examples"]["example"]["value"]
        answer = read_as(json.dumps(example).encode(), SearchedDocuments)
        return answer if self.finds else msgspec.structs.replace(answer, data=[])


@pytest.fixture
def shelf() -> Shelf:
    return Shelf()


@pytest.fixture
async def site(database_image: bytes, tmp_path: Path, shelf: Shelf) -> AsyncIterator[Site]:
    async with open_site(
        tmp_path, database_image, deps=SimpleNamespace(search=SimpleNamespace(search=shelf))
    ) as opened:
        yield opened


async def client(site: Site, name: str, org_id: str) -> None:
    def work(tx: WriteTx) -> None:
        create_client(tx, make_caller(org_id), CreateClient(name=name))

    await site.store.write(work, org_id)


def found(page: Document) -> dict[str, list[str]]:
    """The names that stand under each heading."""
    titles = [each.text for each in page.root.all("h2")]
    tables = [
        [each.text for each in table.all("th") if each.attributes["scope"] == "row"] for table in page.root.all("table")
    ]
    return dict(zip(titles, tables, strict=True))


async def test_what_holds_the_words_is_found_in_ones_own_organization(site: Site) -> None:
    elm = await site.add_org("Elm", site.user_id)
    strange = await site.add_org("Not hers", await site.add_user("bob@example.com"))
    await client(site, "Birch <b>Ltd</b>", site.org_id)
    await client(site, "Silver Birch", elm)
    await client(site, "Birch of others", strange)
    browser = await site.signed_in()
    assert found(await browser.open(f"{PAGE}?q=bIRCH")) == {"Clients": ["Birch <b>Ltd</b>"]}
    assert found(await browser.open(f"{PAGE}?q=birch&organization={elm}")) == {"Clients": ["Silver Birch"]}
    assert (await browser.get(f"{PAGE}?q=birch&organization={strange}")).status == 404


async def test_of_much_the_first_are_shown(site: Site) -> None:
    for number in range(SHOWN + 1):
        await client(site, f"Birch {number}", site.org_id)
    page = await (await site.signed_in()).open(f"{PAGE}?q=birch")
    assert len(found(page)["Clients"]) == SHOWN
    assert f"There are more: these are the first {SHOWN}." in page.text


@pytest.mark.parametrize(
    ("q", "said"),
    [
        ("", ""),
        ("x", "Type at least 2 letters."),
        ("%22%3E%3Cb%3E", 'Nothing holds “"><b>”.'),
        ("%25_", "Nothing holds “%_”."),
    ],
)
async def test_little_and_strange_words_find_nothing(site: Site, q: str, said: str) -> None:
    await client(site, "Birch", site.org_id)
    page = await (await site.signed_in()).open(f"{PAGE}?q={q}")
    assert found(page) == {}
    assert said in page.text
    assert ("Nothing" in page.text) is said.startswith("Nothing")


async def test_longer_words_than_the_box_takes_are_refused(site: Site) -> None:
    assert (await (await site.signed_in()).get(f"{PAGE}?q={'x' * 201}")).status == 400


async def test_documents_are_found_by_their_words(site: Site, shelf: Shelf) -> None:
    shelf.finds = True
    page = await (await site.signed_in()).open(f"{PAGE}?q=ash")
    assert found(page) == {"Documents": ["NH-20417.pdf", "ash-ironmongers-1107.pdf"]}
    assert "12 boards of quarter-sawn ash" in page.text
    assert [(each.q, each.mode, each.limit) for each in shelf.asked] == [("ash", "text", SHOWN + 1)]


async def test_what_costs_is_said_where_it_costs(site: Site, shelf: Shelf) -> None:
    browser = await site.signed_in()
    assert "costs credits" not in (await browser.open(PAGE)).text
    await site.store.write(lambda tx: purses.put_on_plan(tx), site.org_id)
    await site.store.write(lambda tx: purses.grant(tx, MICRO), site.org_id)
    assert "Look in documents too, which costs credits" in (await browser.open(f"{PAGE}?q=ash")).text
    assert shelf.asked == []
    await browser.open(f"{PAGE}?q=ash&documents=yes")
    assert [each.q for each in shelf.asked] == ["ash"]


async def test_the_box_is_on_the_pages_of_who_belongs_somewhere(site: Site) -> None:
    browser = await site.signed_in()
    assert (await browser.open("/account")).has_form(PAGE)
    await site.add_user("bob@example.com")
    stranger = await site.signed_in("bob@example.com")
    assert not (await stranger.open("/account")).has_form(PAGE)
    assert (await stranger.get(f"{PAGE}?q=birch")).status == 404
    assert (await site.browser().get(PAGE)).location.startswith("/sign-in?")


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.title)
def test_every_source_is_an_operation_with_these_columns(source: Source) -> None:
    (row,) = [each for each in OPERATIONS if each.id == source.operation]
    assert "q" in row.request.__struct_fields__
    shape = listed(row.response, source.title, source.columns)
    assert [member.name for member in shape.members] == list(source.columns)
