"""The pages of webhooks, and by them what holds for every page of an operation: forms, lists and questions."""

from gatewayd.identity.people import suspensions
from tests.console.reading import Document
from tests.console.visiting import Answer, Browser, Site

PAGE = "/developers/webhooks"
URL = "https://hooks.example.com/<b>oak</b>?x=1&y=2"


async def create(browser: Browser, url: str = URL, *events: str) -> Answer:
    page = await browser.open(f"{PAGE}/new")
    return await browser.submit(page, f"{PAGE}/new", url=url, events=list(events or ["lead.created"]))


async def made(browser: Browser) -> str:
    """The address of a new subscription."""
    return next(link for link in (await create(browser)).page.links() if "/wsub_" in link)


def flashes(page: Document) -> list[str]:
    return [each.text for each in page.root.all("p") if "flash" in each.attributes.get("class", "")]


async def count(site: Site) -> int:
    found = "SELECT count(*) FROM webhook_subscriptions WHERE org_id = :org_id"
    return int(await site.store.read(lambda tx: tx.value(found), site.org_id))


async def test_a_subscription_is_made_and_its_secret_shown_once(site: Site) -> None:
    browser = await site.signed_in()
    empty = await browser.open(PAGE)
    assert "No program is told of anything yet." in empty.text
    form = await browser.open(f"{PAGE}/new")
    assert "Create subscription" in form.buttons()
    answer = await browser.submit(form, f"{PAGE}/new", url=URL, events=["lead.created", "invoice.paid"])
    assert answer.status == 200
    assert "whsec_" in answer.page.text
    again = await browser.submit(form, f"{PAGE}/new", url=URL, events=["lead.created", "invoice.paid"])
    assert again.page.text == answer.page.text, "sent twice, it is done once, and a reload loses no secret"
    listed = await browser.open(PAGE)
    assert listed.text.count(URL) == 1
    shown = (await browser.open(next(each for each in listed.links() if "/wsub_" in each))).text
    secret = next(each.text for each in answer.page.root.all("code"))
    assert secret.startswith("whsec_")
    assert secret not in shown
    assert secret[:10] in shown, "how it begins tells which one it is"


async def test_what_is_wrong_stands_at_its_field_and_nothing_that_was_entered_is_lost(site: Site) -> None:
    browser = await site.signed_in()
    answer = await create(browser, "http://hooks.example.com/", "lead.created")
    assert answer.status == 422
    url = answer.page.field_named("URL")
    assert url.attributes["value"] == "http://hooks.example.com/"
    assert url.attributes["aria-invalid"] == "true"
    assert "Nothing was saved." in answer.page.problem
    (ticked,) = [each for each in answer.page.root.all("input") if "checked" in each.attributes]
    assert ticked.attributes["value"] == "lead.created"
    none = await browser.post(f"{PAGE}/new", {"csrf": answer.page.token, "url": "https://hooks.example.com/"})
    assert none.status == 422, "no event is ticked"
    strange = {"csrf": answer.page.token, "url": "https://hooks.example.com/", "events": "no.such", "key": "x" * 300}
    assert (await browser.post(f"{PAGE}/new", strange)).status in (400, 422)
    assert await count(site) == 0


async def test_a_form_of_before_that_is_changed_and_sent_again_asks_once_more(site: Site) -> None:
    browser = await site.signed_in()
    form = await browser.open(f"{PAGE}/new")
    assert (await browser.submit(form, f"{PAGE}/new", url=URL, events="lead.created")).status == 200
    other = await browser.submit(form, f"{PAGE}/new", url=URL + "&z", events="lead.created")
    assert other.status == 409
    assert "This form was sent before" in other.page.problem
    assert (await browser.submit(other.page, f"{PAGE}/new", url=URL + "&z", events="lead.created")).status == 200
    assert await count(site) == 2


async def test_changing_says_so_and_notices_that_somebody_else_was_faster(site: Site) -> None:
    browser, other = await site.signed_in(), await site.signed_in()
    here = await made(browser)
    mine, theirs = await browser.open(f"{here}/change"), await other.open(f"{here}/change")
    assert mine.field_named("URL").attributes["value"] == URL
    answer = await browser.submit(mine, f"{here}/change", url="https://new.example.com/")
    page = await browser.follow(answer)
    assert flashes(page.page) == ["The subscription was changed."]
    assert flashes((await browser.get(here)).page) == [], "it is said once"
    assert page.page.heading == "https://new.example.com/"
    late = await other.submit(theirs, f"{here}/change", url="https://late.example.com/")
    assert late.status == 409
    assert (await browser.open(here)).heading == "https://new.example.com/"


async def test_switching_off_and_on(site: Site) -> None:
    browser = await site.signed_in()
    here = await made(browser)
    form = await browser.open(f"{here}/change")
    sent = {"csrf": form.token, "url": URL, "events": "lead.created", "expectedVersion": "1"}
    assert (await browser.post(f"{here}/change", sent)).location == here, "the box is not ticked"
    page = await browser.open(here)
    assert "Nothing is sent: somebody switched it off." in page.text
    assert not page.has_form(f"{here}/test")
    assert (await browser.submit(await browser.open(f"{here}/change"), f"{here}/change", enabled="true")).status == 303
    assert (await browser.open(here)).has_form(f"{here}/test")


async def test_a_test_event_is_sent_once_and_its_delivery_shown(site: Site) -> None:
    browser = await site.signed_in()
    here = await made(browser)
    page = await browser.open(here)
    for _ in range(2):  # the same form
        assert (await browser.submit(page, f"{here}/test")).location == here
    page = await browser.open(here)
    assert len([link for link in page.links() if "/wdlv_" in link]) == 1
    delivery = await browser.open(next(link for link in page.links() if "/wdlv_" in link))
    assert delivery.heading == "lead.created"
    assert '"event": "lead.created"' in delivery.text
    assert "curl --json" in delivery.text
    assert not any("Resend" in button for button in delivery.buttons()), "it is under way"
    address = next(link for link in page.links() if "/wdlv_" in link)
    refused = await browser.post(f"{address}/resend", {"csrf": page.token, "organization": site.org_id})
    assert "still being sent" in flashes((await browser.follow(refused)).page)[0]
    narrowed = await browser.open(f"{here}?status=exhausted&event=")
    assert "Nothing here." in narrowed.text
    assert (await browser.get(f"{here}?cursor=nonsense")).status == 400


async def test_a_new_secret_and_the_end_are_asked_for_first(site: Site) -> None:
    browser = await site.signed_in()
    here = await made(browser)
    question = await browser.open(f"{here}/rotate")
    assert "24 hours" in question.text
    answer = await browser.submit(question, f"{here}/rotate")
    assert "whsec_" in answer.page.text
    again = await browser.submit(question, f"{here}/rotate")
    assert again.page.text == answer.page.text, "one rotation, and the same secret"
    question = await browser.open(f"{here}/remove")
    assert question.heading == f"Remove the subscription of {URL}?"
    assert await count(site) == 1
    page = await browser.follow(await browser.submit(question, f"{here}/remove"))
    assert flashes(page.page) == ["The subscription was removed."]
    assert await count(site) == 0
    assert (await browser.get(here)).status == 404


async def test_recovering_counts_what_was_sent_again(site: Site) -> None:
    browser = await site.signed_in()
    here = await made(browser)
    form = await browser.open(f"{here}/recover")
    answer = await browser.submit(form, f"{here}/recover", since="2026-11-01T09:00")
    assert flashes((await browser.follow(answer)).page) == ["0 of 0 events are sent again."]
    nothing = await browser.submit(form, f"{here}/recover", since="")
    assert nothing.page.field_named("From").attributes["aria-invalid"] == "true"


async def test_a_form_is_done_for_the_organization_that_it_was_made_for(site: Site) -> None:
    other = await site.add_org("Elm", site.user_id)
    browser = await site.signed_in()
    form = await browser.open(f"{PAGE}/new")
    token = form.token
    assert (await browser.post("/organization", {"csrf": token, "id": other})).status == 303
    assert (await browser.submit(form, f"{PAGE}/new", url=URL, events="lead.created")).status == 200
    assert await count(site) == 1
    assert "No program is told of anything yet." in (await browser.open(PAGE)).text, "the other has none"


async def test_nobody_sees_or_does_anything_of_another_organization(site: Site) -> None:
    browser = await site.signed_in()
    here = await made(browser)
    stranger_id = await site.add_user("eve@example.com")
    await site.add_org("Elsewhere", stranger_id)
    stranger = await site.signed_in(email="eve@example.com")
    for path in (here, f"{here}/change", f"{here}/rotate", f"{here}/remove", f"{here}/recover"):
        assert (await stranger.get(path)).status == 404, path
    token = (await stranger.open(f"{PAGE}/new")).token
    for path in ("change", "rotate", "remove", "recover", "test"):
        form = {"csrf": token, "organization": site.org_id, "url": URL, "events": "*", "since": "2026-11-01T09:00"}
        assert (await stranger.post(f"{here}/{path}", form)).status == 404, path
    assert await count(site) == 1


async def test_who_belongs_nowhere_or_whose_organization_is_suspended_is_told(site: Site) -> None:
    browser = await site.signed_in()
    await site.add_user("new@example.com")
    newcomer = await site.signed_in(email="new@example.com")
    assert (await newcomer.get(PAGE)).status == 404
    await site.store.write(lambda tx: suspensions.suspend(tx, site.org_id, "unpaid", "operator"))
    assert (await browser.get(PAGE)).status == 403
    assert (await browser.get("/")).status == 200
