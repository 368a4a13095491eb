"""The pages of clients, and by them what holds for every kind of thing whose pages are a list, a form and an end."""

from tests.console.reading import Document
from tests.console.test_webhooks import flashes
from tests.console.visiting import Browser, Site

PAGE = "/sales/clients"


async def add(browser: Browser, name: str, **more: str) -> str:
    """The address of a new client."""
    form = await browser.open(f"{PAGE}/new")
    page = await browser.follow(await browser.submit(form, f"{PAGE}/new", name=name, **more))
    assert flashes(page.page) == [f"{name} was added."]
    return next(link for link in page.page.links() if "/cli_" in link)


def count(page: Document) -> int:
    return len([link for link in page.links() if "/cli_" in link])


async def test_a_client_is_added_found_changed_and_archived(site: Site) -> None:
    browser = await site.signed_in()
    assert "Here stand those whom you write invoices to." in (await browser.open(PAGE)).text
    name = "Hazel & <Sons>"
    address = await add(browser, name, paymentTermsDays="14", **{"billingAddress.line1": "1 Elm Row"})
    page = await browser.open(address)
    assert page.heading == name
    assert page.field_named("Days to pay").attributes["value"] == "14"
    assert page.field_named("Line 1").attributes["value"] == "1 Elm Row"
    changed = await browser.submit(page, address, email="hazel@example.com", paymentTermsDays="")
    assert flashes((await browser.follow(changed)).page) == [f"{name} was changed."]
    assert (await browser.open(address)).field_named("Email").attributes["value"] == "hazel@example.com"
    question = await browser.open(f"{address}/end")
    assert question.heading == f"Archive {name}?"
    gone = await browser.follow(await browser.submit(question, f"{address}/end"))
    assert flashes(gone.page) == [f"{name} was archived."]
    assert name not in gone.page.text.replace(f"{name} was archived.", "")


async def test_an_address_that_is_begun_needs_its_first_line(site: Site) -> None:
    browser = await site.signed_in()
    form = await browser.open(f"{PAGE}/new")
    answer = await browser.submit(form, f"{PAGE}/new", name="Hazel", **{"billingAddress.town": "Leeds"})
    assert answer.status == 422
    assert answer.page.field_named("Line 1").attributes["aria-invalid"] == "true"
    assert answer.page.field_named("Town").attributes["value"] == "Leeds"


async def test_many_clients_are_paged_and_narrowed(site: Site) -> None:
    browser = await site.signed_in()
    for number in range(51):
        form = await browser.open(f"{PAGE}/new")
        await browser.submit(form, f"{PAGE}/new", name=f"Client {number:02}")
    first = await browser.open(PAGE)
    (following,) = [link for link in first.links() if "cursor=" in link]
    second = await browser.open(following)
    assert [count(first), count(second)] == [50, 1]
    assert PAGE in second.links(), "back to the first"
    narrowed = await browser.open(f"{PAGE}?q=client+07&status=")
    assert count(narrowed) == 1
    assert narrowed.field_named("Name").attributes["value"] == "client 07"


async def test_one_of_another_organization_is_not_there(site: Site) -> None:
    address = await add(await site.signed_in(), "Hazel")
    await site.add_org("Elsewhere", await site.add_user("eve@example.com"))
    stranger = await site.signed_in(email="eve@example.com")
    token = (await stranger.open(f"{PAGE}/new")).token
    for path in (address, f"{address}/end"):
        assert (await stranger.get(path)).status == 404
        assert (await stranger.post(path, {"csrf": token, "name": "Mine now"})).status == 404
        mine = {"csrf": token, "name": "Mine now", "organization": site.org_id}
        assert (await stranger.post(path, mine)).status == 404


async def test_a_legal_entity_is_kept_by_the_same_pages(site: Site) -> None:
    browser = await site.signed_in()
    form = await browser.open("/books/entities/new")
    wrong = await browser.submit(
        form, "/books/entities/new", name="Oak Ltd", type="limited_company", companyNumber="not a number"
    )
    assert wrong.status == 422
    assert wrong.page.field_named("Company number").attributes["aria-invalid"] == "true"
    right = await browser.submit(wrong.page, "/books/entities/new", companyNumber="01234567", type="limited_company")
    page = await browser.follow(right)
    assert flashes(page.page) == ["Oak Ltd was added."]
    address = next(link for link in page.page.links() if "/ent_" in link)
    one = await browser.open(address)
    assert one.field_named("Company number").attributes["value"] == "01234567"
    assert (await browser.submit(one, address, email="post@oak.example", type="limited_company")).status == 303
