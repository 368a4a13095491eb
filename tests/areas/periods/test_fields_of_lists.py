"""Years and feeds are listed page by page; feeds by what changed too."""

from gatewayd.clock import DAY
from tests.areas.periods.desk import Desk, Json


def pages(desk: Desk, operation: str, query: str = "") -> list[Json]:
    """All of a list, two on a page."""
    found: list[Json] = []
    cursor = ""
    while True:
        page = desk.ask(operation, f"limit=2{query}{cursor}")
        assert 1 <= len(page["data"]) <= 2
        found += page["data"]
        if page["nextCursor"] is None:
            return found
        cursor = f"&cursor={page['nextCursor']}"


def test_tax_years_come_page_by_page(desk: Desk) -> None:
    whole = desk.ask("legalEntity.listTaxYears", f"id={desk.person}")
    assert (len(whole["data"]), whole["nextCursor"]) == (10, None)
    assert pages(desk, "legalEntity.listTaxYears", f"&id={desk.person}") == whole["data"]


def test_vat_years_come_page_by_page(desk: Desk) -> None:
    company = desk.vat_company()
    for year in range(2024, 2029):
        desk.do("legalEntity.setVatYear", id=company, endDate=f"{year}-09-30", liability="2400000.00")
    whole = desk.ask("legalEntity.listVatYears", f"id={company}")["data"]
    assert len(whole) >= 5
    assert pages(desk, "legalEntity.listVatYears", f"&id={company}") == whole


def test_feeds_come_page_by_page_and_by_what_changed(desk: Desk) -> None:
    made = [desk.do("obligations.createFeed", name=f"Feed {n}")["id"] for n in range(3)]
    assert [one["id"] for one in pages(desk, "obligations.listFeeds")] == made[::-1]
    since = "updatedSince=2026-11-21T00:00:00Z"
    assert desk.ask("obligations.listFeeds", since)["data"] == []
    desk.store.clock.advance(DAY)
    ended = desk.do("obligations.revokeFeed", id=made[0])
    assert [one["id"] for one in desk.ask("obligations.listFeeds", since)["data"]] == [ended["id"]]
