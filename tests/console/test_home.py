"""The first page tells what is open and due of the organization that it is of, and what a new one has not done."""

import msgspec

from gatewayd.clock import DAY
from gatewayd.console.books.tiles import NEW_DAYS
from gatewayd.identity.people import suspensions
from gatewayd.performing.performer import Performer
from tests.console.reading import Document
from tests.console.visiting import Site
from tests.support.rows import CATALOGUE
from tests.support.store import make_caller

ROWS = {row.id: row for row in CATALOGUE.operations}
LINE = {"description": "<b>Joinery</b>", "quantity": "1", "unitPrice": "100.00"}


def tiles(page: Document) -> dict[str, str]:
    """Title and figure of each."""
    found = {}
    for card in page.root.all("section"):
        if "tile" in card.attributes.get("class", "").split():
            heading, figure = next(card.all("h2")).text, next(card.all("p")).text
            found[heading] = figure
    return found


def steps(page: Document) -> dict[str, bool]:
    """What a new firm does first, and whether it did."""
    items = [item for listed in page.root.all("ol") for item in listed.all("li")]
    return {item.text.removesuffix(" (done)"): item.text.endswith("(done)") for item in items}


async def do(site: Site, operation: str, org_id: str = "", **values: object) -> dict[str, object]:
    row = ROWS[operation]
    caller = make_caller(org_id or site.org_id, user_id=site.user_id)
    request = msgspec.convert(values, row.request)
    return msgspec.json.decode(await Performer(site.store).perform(row, caller, request))  # type: ignore[arg-type,no-any-return]


async def invoice(site: Site, due: str, org_id: str = "", **more: object) -> None:
    entity = await do(site, "legalEntity.createLegalEntity", org_id, name="Oak", type="sole_trader")
    client = await do(site, "accounting.createClient", org_id, name="Hazel & Co", allowDuplicate=True)
    sale = {"legalEntityId": entity["id"], "clientId": client["id"], "lines": [LINE], "status": "issued", **more}
    await do(site, "accounting.createInvoice", org_id, dueDate=due, issueDate="2026-10-01", **sale)


async def test_a_new_firm_is_told_what_to_do_first(site: Site) -> None:
    browser = await site.signed_in()
    todo = steps(await browser.open("/"))
    assert len(todo) == 5
    assert not any(todo.values())
    await invoice(site, "2026-12-24")
    assert [label for label, done in steps(await browser.open("/")).items() if done] == [
        "Say for whom you keep books: a legal entity",
        "Add a client",
        "Issue an invoice",
    ]
    site.clock.advance((NEW_DAYS + 1) * DAY)
    assert steps(await (await site.signed_in()).open("/")) == {}


async def test_what_is_owed_is_summed_by_currency_and_late_is_apart(site: Site) -> None:
    browser = await site.signed_in()
    assert tiles(await browser.open("/")) == {}
    await invoice(site, "2026-12-24")
    await invoice(site, "2026-11-19")
    page = await browser.open("/")
    told = tiles(page)
    assert told["Open invoices"] == "1 £100.00"
    assert told["Overdue invoices"] == "1 £100.00"
    assert next(iter(told)) == "Overdue invoices"
    assert "Hazel & Co" in page.text
    late = await browser.open(next(href for href in page.links() if href.endswith("?status=overdue")))
    assert late.heading == "Invoices"
    assert "19 Nov 2026" in late.text
    assert "24 Dec 2026" not in late.text


async def test_it_is_of_the_chosen_organization_alone(site: Site) -> None:
    other = await site.add_org("Elm", site.user_id)
    await invoice(site, "2026-12-24", other)
    browser = await site.signed_in()
    assert tiles(await browser.open("/")) == {}
    token = (await browser.open("/account")).token
    await browser.post("/organization", {"csrf": token, "id": other})
    assert "Open invoices" in tiles(await browser.open("/"))


async def test_of_a_suspended_one_it_says_that_alone(site: Site) -> None:
    await invoice(site, "2026-12-24")
    await site.store.write(lambda tx: suspensions.suspend(tx, site.org_id, "Bills <unpaid>.", "operator"))
    page = await (await site.signed_in()).open("/")
    assert tiles(page) == {}
    assert "Oak & Son is suspended by whoever runs this server: Bills <unpaid>." in page.text


async def test_who_belongs_nowhere_sees_a_page_too(site: Site) -> None:
    await site.add_user("new@example.com")
    page = await (await site.signed_in(email="new@example.com")).open("/")
    assert tiles(page) == {}
    assert "You belong to none yet." in page.text
