"""The page of usage, and what the overview says of credits."""

from gatewayd.clock import DAY
from gatewayd.console.developers.usage import DAYS
from gatewayd.ledger.credits import charging
from gatewayd.ledger.credits.charging import Charge
from gatewayd.money import MICRO, Credits
from gatewayd.store import WriteTx
from tests.console.visiting import Site
from tests.support import purses

PAGE = "/developers/usage"


async def use(site: Site, operation: str, amount: int) -> None:
    def work(tx: WriteTx) -> None:
        charging.charge(tx, Charge(operation=operation, amount=amount, operation_id=tx.new_id("op")))

    await site.store.write(work, site.org_id)


async def meter(site: Site, amount: int, **of_plan: object) -> None:
    await site.store.write(lambda tx: purses.put_on_plan(tx, **of_plan), site.org_id)
    if amount:
        await site.store.write(lambda tx: purses.grant(tx, amount), site.org_id)


async def test_nobody_is_told_of_credits_where_nothing_is_metered(site: Site) -> None:
    browser = await site.signed_in()
    overview = await browser.open("/")
    assert "redit" not in overview.text
    page = await browser.open(PAGE)
    assert "Nothing is metered: this organization has no plan" in page.text
    assert list(page.root.all("svg", "table")) == []


async def test_usage_is_shown_by_day_and_by_operation(site: Site) -> None:
    await meter(site, 100 * MICRO)
    await use(site, "tax.forward", 2_500_000)
    site.clock.advance(2 * DAY)
    await use(site, "tax.forward", 5_000_000)
    await use(site, "vault.parse", 1)
    page = await (await site.signed_in()).open(PAGE)
    assert page.heading == "Usage"
    for shown in ("92.499999 credits", "Credits: 7.500001", "at most 5.000001 in a day", "Charged requests: 3"):
        assert shown in page.text, shown
    credits_chart, requests_chart = page.root.all("svg")
    assert [bar.text for bar in credits_chart.all("rect")] == ["20 Nov 2026: 2.5", "22 Nov 2026: 5.000001"]
    assert [bar.text for bar in requests_chart.all("rect")] == ["20 Nov 2026: 1", "22 Nov 2026: 2"]
    credits_by_day, requests_by_day, operations = (
        [[cell.text for cell in row.all("th", "td")] for row in table.all("tr")] for table in page.root.all("table")
    )
    assert operations == [
        ["Operation", "Requests", "Credits"],
        ["tax.forward", "2", "7.5"],
        ["vault.parse", "1", "0.000001"],
    ]
    assert (len(credits_by_day), len(requests_by_day)) == (1 + DAYS, 1 + DAYS)
    assert credits_by_day[-3:] == [["20 Nov 2026", "2.5"], ["21 Nov 2026", "0"], ["22 Nov 2026", "5.000001"]]
    assert requests_by_day[-3:] == [["20 Nov 2026", "1"], ["21 Nov 2026", "0"], ["22 Nov 2026", "2"]]


async def test_what_is_older_than_thirty_days_is_not_shown(site: Site) -> None:
    await meter(site, 10 * MICRO)
    await use(site, "tax.forward", MICRO)
    site.clock.advance(29 * DAY)
    assert "tax.forward" in (await (await site.signed_in()).open(PAGE)).text
    site.clock.advance(DAY)
    page = await (await site.signed_in()).open(PAGE)
    assert "tax.forward" not in page.text
    assert "Nothing that costs credits was done." in page.text


async def test_who_has_little_left_is_told(site: Site) -> None:
    await meter(site, 0, included_credits=Credits(20 * MICRO), name="Small")
    browser = await site.signed_in()
    for shown in ("20 credits", "Small, with 20 credits a month", "Expiring"):
        assert shown in (await browser.open(PAGE)).text
    assert "Oak & Son: 20 left." in (await browser.open("/")).text
    await use(site, "tax.forward", 19 * MICRO)
    page = await browser.open(PAGE)
    assert "Few credits are left. What costs more than is left is refused" in page.text
    assert "or the next month begins" in page.text
    overview = await browser.open("/")
    assert "Oak & Son: 1 left, which is little." in overview.text
    assert f"{PAGE}?organization={site.org_id}" in overview.links()
    await use(site, "tax.forward", MICRO)
    assert "No credits are left." in (await browser.open(PAGE)).text


async def test_who_is_only_counted_is_not_told_of_refusals(site: Site) -> None:
    await meter(site, 0, soft_limit=True)
    await use(site, "tax.forward", MICRO)
    page = await (await site.signed_in()).open(PAGE)
    assert "-1 credits" in page.text
    assert "Requests are done all the same, and counted." in page.text


async def test_each_organization_has_its_own_and_others_are_not_shown(site: Site) -> None:
    await meter(site, 7 * MICRO)
    browser = await site.signed_in()
    second = await site.add_org("Fern", site.user_id)
    stranger = await site.add_org("Larch", await site.add_user("bob@example.com"))
    page = await browser.open(f"{PAGE}?organization={second}")
    assert "Nothing is metered" in page.text
    await browser.submit(page, "/organization", id=site.org_id)
    assert "7 credits" in (await browser.open(PAGE)).text
    for other in (stranger, "org_none"):
        assert (await browser.get(f"{PAGE}?organization={other}")).status == 404


async def test_it_is_for_who_is_signed_in(site: Site) -> None:
    assert (await site.browser().get(PAGE)).location.startswith("/sign-in?")
    await site.add_user("bob@example.com")
    browser = site.browser()
    await browser.sign_in(email="bob@example.com")
    assert "You belong to no organization yet." in (await browser.open(PAGE)).text
