"""The pages of invoices, and by them what holds for forms whose fields stand in rows."""

from tests.console.reading import Document, fields_of
from tests.console.test_home import do
from tests.console.test_webhooks import flashes
from tests.console.visiting import ISSUER, Answer, Browser, Site

PAGE = "/sales/invoices"
NEW = f"{PAGE}/new"


async def client(site: Site, name: str = "Hazel & <Sons>", org_id: str = "") -> str:
    return str((await do(site, "accounting.createClient", org_id, name=name, allowDuplicate=True))["id"])


async def press(browser: Browser, page: Document, button: str, **values: str) -> Answer:
    """Send the form by one of the buttons that its rows have."""
    action = next(
        form.attributes["action"] for form in page.root.all("form") if form.attributes["action"].startswith(PAGE)
    )
    sent = [(name, text) for name, text in fields_of(page.form(action)) if name not in values]
    assert any(each.attributes.get("value") == button for each in page.root.all("button")), button
    return await browser.post(action, [*sent, *values.items(), ("rows", button)], Origin=ISSUER)


def row(number: int, description: str, price: str, **more: str) -> dict[str, str]:
    values = {"description": description, "unitPrice": price, **more}
    return {f"lines.{number}.{name}": text for name, text in values.items()}


def rows(page: Document) -> list[str]:
    """What each line is called, in the form."""
    return [each.text for each in page.root.all("legend") if each.text.startswith("Line ")]


def value(page: Document, name: str) -> str:
    (found,) = (each for each in page.root.all("input", "textarea") if each.attributes.get("name") == name)
    return found.text if found.tag == "textarea" else found.attributes.get("value", "")


def focused(page: Document) -> list[str]:
    found = (each for each in page.root.all() if "autofocus" in each.attributes)
    return [each.attributes.get("id") or each.attributes.get("value", "") for each in found]


async def test_lines_come_and_go_without_anything_being_written(site: Site) -> None:
    browser = await site.signed_in()
    client_id = await client(site)
    one = await browser.open(NEW)
    assert rows(one) == ["Line 1"]
    two = await press(browser, one, "add lines", clientId=client_id, **row(0, "Oak <door>", "12.50"))
    assert (two.status, rows(two.page)) == (200, ["Line 1", "Line 2"])
    assert value(two.page, "lines.0.description") == "Oak <door>"
    assert focused(two.page) == ["lines.1.description"], "one goes on in the new line"
    assert value(two.page, "key") == value(one, "key"), "it is the same form"
    three = await press(browser, two.page, "add lines", **row(1, "Elm", "1"))
    assert rows(three.page) == ["Line 1", "Line 2", "Line 3"]
    fewer = await press(browser, three.page, "remove lines 0", **row(2, "Ash", "2"))
    assert rows(fewer.page) == ["Line 1", "Line 2"]
    assert [value(fewer.page, f"lines.{number}.description") for number in (0, 1)] == ["Elm", "Ash"]
    assert focused(fewer.page) == ["add lines"]
    for number in ("0", "0"):
        fewer = await press(browser, fewer.page, f"remove lines {number}")
    assert rows(fewer.page) == ["Line 1"], "a form has a line to begin with"
    assert "Here stands what your clients are asked to pay." in (await browser.open(PAGE)).text
    assert not flashes(fewer.page)


async def test_what_enter_presses_sends_the_form(site: Site) -> None:
    browser = await site.signed_in()
    form = (await browser.open(NEW)).form(NEW)
    first = next(each for each in form.all("button"))
    assert "name" not in first.attributes
    assert first.text == "Create draft"


async def test_an_error_stands_at_its_field_in_its_line(site: Site) -> None:
    browser = await site.signed_in()
    client_id = await client(site)
    lines = {**row(0, "Door", "10"), **row(2, "", ""), **row(4, "Sill", "a lot"), **row(7, "Paint", "3")}
    form = await browser.open(NEW)
    wrong = await browser.submit(form, NEW, clientId=client_id, **lines)
    assert wrong.status == 422
    assert rows(wrong.page) == ["Line 1", "Line 2", "Line 3"], "a line in which nothing stands is none"
    marked = [each.attributes["id"] for each in wrong.page.root.all("input") if "aria-invalid" in each.attributes]
    assert marked == ["lines.1.unitPrice"]
    assert value(wrong.page, "lines.2.description") == "Paint"
    right = await browser.submit(wrong.page, NEW, **{"lines.1.unitPrice": "20", "lines.1.quantity": "2"})
    page = (await browser.follow(right)).page
    assert flashes(page) == ["The draft was created."]
    assert [text in page.text for text in ("Hazel & <Sons>", "£53.00", "Sill")] == [True] * 3


async def test_an_invoice_without_lines_is_asked_for_them(site: Site) -> None:
    browser = await site.signed_in()
    wrong = await browser.submit(await browser.open(NEW), NEW, clientId=await client(site))
    assert (wrong.status, rows(wrong.page)) == (422, ["Line 1"])
    assert next(each for each in wrong.page.root.all("p") if each.attributes.get("id") == "lines-error").text


async def test_more_lines_than_there_may_be_are_refused_with_words(site: Site) -> None:
    browser = await site.signed_in()
    form = await browser.open(NEW)
    many = {name: text for number in range(200) for name, text in row(number, "Oak", "1").items()}
    answer = await press(browser, form, "add lines", **many)
    assert (answer.status, len(rows(answer.page))) == (200, 200)
    assert "There may be 200 at most." in answer.page.text
    one_more = await browser.submit(form, NEW, clientId=await client(site), **many, **row(200, "Oak", "1"))
    assert one_more.status == 422
    assert next(each for each in one_more.page.root.all("p") if each.attributes.get("id") == "lines-error").text


async def test_two_sendings_of_one_form_make_one_invoice(site: Site) -> None:
    browser = await site.signed_in()
    form = await browser.open(NEW)
    sent = {"clientId": await client(site), **row(0, "Oak", "1")}
    first, second = [await browser.submit(form, NEW, **sent) for _ in range(2)]
    assert first.location == second.location
    assert len([link for link in (await browser.open(PAGE)).links() if "/inv_" in link]) == 1
    changed = await browser.submit(form, NEW, **{**sent, **row(0, "Oak", "2")})
    assert (changed.status, "was sent before" in changed.page.text) == (409, True)


async def draft(site: Site, browser: Browser, **more: str) -> str:
    """The address of a new draft."""
    form = await browser.open(NEW)
    return (await browser.submit(form, NEW, clientId=await client(site), **row(0, "Oak", "100"), **more)).location


async def test_a_draft_is_changed_with_what_the_form_does_not_show(site: Site) -> None:
    browser = await site.signed_in()
    lines = [{"description": "Work", "unitPrice": "10", "cisLabour": True, "category": "turnover"}]
    made = await do(site, "accounting.createInvoice", clientId=await client(site), lines=lines, notes="Thank you")
    address = f"{PAGE}/{made['id']}"
    page = await browser.open(f"{address}/change")
    assert value(page, "lines.0.unitPrice").startswith("10")
    assert value(page, "notes") == "Thank you"
    answer = await browser.submit(page, f"{address}/change", notes="", **{"lines.0.unitPrice": "11"})
    assert flashes((await browser.follow(answer)).page) == ["The draft was changed."]
    (line,) = (await do(site, "accounting.getInvoice", invoiceId=made["id"]))["lines"]  # type: ignore[attr-defined]
    assert (line["cisLabour"], line["category"], line["net"]) == (True, "turnover", "11.00")
    stale = await browser.submit(page, f"{address}/change", reference="Late")
    assert stale.status == 409


async def test_a_draft_is_issued_paid_and_another_voided(site: Site) -> None:
    browser = await site.signed_in()
    address = await draft(site, browser)
    question = await browser.open(f"{address}/issue")
    assert question.heading == "Issue the draft for Hazel & <Sons>?"
    issued = await browser.follow(await browser.submit(question, f"{address}/issue"))
    assert flashes(issued.page)[0] == "INV-000001 was issued."
    assert issued.page.heading == "INV-000001"
    assert f"{address}/change" not in issued.page.links()
    form = await browser.open(f"{address}/payment")
    paid = await browser.follow(await browser.submit(form, f"{address}/payment", amount="40", method="cash"))
    assert [text in paid.page.text for text in ("Part paid", "£60.00", "cash")] == [True] * 3
    other = await draft(site, browser)
    await browser.submit(await browser.open(f"{other}/issue"), f"{other}/issue")
    form = await browser.open(f"{other}/void")
    assert form.heading == "Void INV-000002?"
    assert (await browser.submit(form, f"{other}/void", reason=" ")).status == 422
    void = await browser.follow(await browser.submit(form, f"{other}/void", reason="Sent <twice>"))
    assert "Voided: Sent <twice>" in void.page.text
    again = await browser.submit(form, f"{other}/void", reason="Sent <twice>")
    assert again.status == 303, "sent again, it is done once"


async def test_a_draft_is_deleted(site: Site) -> None:
    browser = await site.signed_in()
    address = await draft(site, browser)
    question = await browser.open(f"{address}/delete")
    gone = await browser.follow(await browser.submit(question, f"{address}/delete"))
    assert flashes(gone.page) == ["The draft was deleted."]
    assert (await browser.get(address)).status == 404


async def test_the_list_names_clients_and_is_narrowed(site: Site) -> None:
    browser = await site.signed_in()
    await draft(site, browser)
    ash = await client(site, "Ash")
    lines = [{"description": "Oak", "unitPrice": "10"}]
    sale = {"clientId": ash, "lines": lines, "status": "issued", "issueDate": "2026-01-01", "dueDate": "2026-01-02"}
    await do(site, "accounting.createInvoice", **sale)
    page = await browser.open(PAGE)
    assert [text in page.text for text in ("Hazel & <Sons>", "Draft", "Ash", "Overdue")] == [True] * 4
    assert ash not in page.text
    narrowed = await browser.open(f"{PAGE}?clientId={ash}&status=overdue&q=")
    assert len([link for link in narrowed.links() if "/inv_" in link]) == 1
    assert (await browser.get(f"{PAGE}?issueDateFrom=yesterday")).status == 422


async def test_many_invoices_are_paged_in_small_pages(site: Site) -> None:
    browser = await site.signed_in()
    hazel, lines = await client(site, "Hazel " * 20), [{"description": "Oak", "unitPrice": "10"}]
    for number in range(51):
        sale = {"clientId": hazel, "lines": lines, "reference": f"Site {number}"}
        await do(site, "accounting.createInvoice", **sale)
    first = await browser.get(PAGE)
    assert len(first.body) < 40_000
    (following,) = [link for link in first.page.links() if "cursor=" in link]
    second = await browser.open(following)
    assert [len([link for link in page.links() if "/inv_" in link]) for page in (first.page, second)] == [50, 1]


async def test_those_of_another_organization_are_not_there(site: Site) -> None:
    address = await draft(site, await site.signed_in())
    await site.add_org("Elsewhere", await site.add_user("eve@example.com"))
    stranger = await site.signed_in(email="eve@example.com")
    token = (await stranger.open(NEW)).token
    assert (await stranger.get(address)).status == 404
    for page in ("change", "payment", "void", "issue", "delete"):
        assert (await stranger.get(f"{address}/{page}")).status == 404
        for mine in ({"csrf": token}, {"csrf": token, "organization": site.org_id}):
            assert (await stranger.post(f"{address}/{page}", {**mine, "reason": "Mine"})).status == 404
