"""The list: its orders, filters and pages."""

import pytest

from gatewayd.clock import SECOND, to_wire
from tests.areas.businesses.trades import LETS, Firm
from tests.areas.legal_entities.entities import refuses


def test_newest_come_first_and_filters_narrow(firm: Firm) -> None:
    company = firm.company()
    firm.create(name="a")
    firm.create(name="b", type="company_trade", legalEntityId=company)
    firm.create(name="c", type="uk_property", legalEntityId=company)
    assert firm.names() == ["c", "b", "a"]
    assert firm.names(f"legalEntityId={company}") == ["c", "b"]
    assert firm.names("type=self_employment") == ["a"]
    assert firm.names(f"type=self_employment&legalEntityId={company}") == []
    assert firm.names("legalEntityId=ent_none") == []
    assert firm.names("type=property_unspecified") == []
    firm.adopt(type="property_unspecified")
    assert firm.names("type=property_unspecified") == ["Property"]


def test_found_by_external_id(firm: Firm) -> None:
    firm.create(name="a", externalId="x")
    firm.create(name="b", externalId="y")
    assert firm.names("externalId=x") == ["a"]
    assert firm.names("externalId=z") == []


def test_the_status_is_that_of_today(firm: Firm) -> None:
    begun, coming = firm.create(commencementDate="2026-11-20")["id"], firm.create(commencementDate="2026-11-21")["id"]
    undated, resting, over, gone = (firm.create()["id"] for _ in range(4))
    firm.move(resting, "dormant")
    firm.move(over, "ceased", "2026-11-01")
    firm.move(gone, "dormant")
    firm.archive(gone)
    expected = {
        "active": [undated, begun],
        "pending": [coming],
        "dormant": [resting],
        "ceased": [over],
        "archived": [gone],
    }
    for status, ids in expected.items():
        for more in ("", "&includeArchived=true"):
            assert firm.ids(f"status={status}{more}") == ids, status
        assert {business["status"] for business in firm.page(f"status={status}")["data"]} == {status}
    assert len(firm.ids()) == 5
    assert len(firm.ids("includeArchived=true")) == 6
    firm.later()
    assert firm.ids("status=active") == [undated, coming, begun]
    assert firm.ids("status=pending") == []


@pytest.mark.parametrize("sync", [False, True])
@pytest.mark.parametrize("filtered", [False, True])
def test_a_walk_meets_every_row_once(firm: Firm, sync: bool, filtered: bool) -> None:
    made = []
    for number in range(57):
        made.append(firm.create(commencementDate="2020-01-01" if number % 2 else None)["id"])
        firm.store.clock.advance(SECOND * (number % 2))  # some share their instant
    query = "limit=10"
    query += "&updatedSince=2026-11-20T00:00:00Z" if sync else ""
    query += f"&status=active&type=self_employment&legalEntityId={firm.person}" if filtered else ""
    page = firm.page(query)
    walked = [business["id"] for business in page["data"]]
    while page["nextCursor"] is not None:
        page = firm.page(f"{query}&cursor={page['nextCursor']}")
        assert len(page["data"]) <= 10
        walked += [business["id"] for business in page["data"]]
    assert walked == (made if sync else made[::-1])


def test_a_cursor_belongs_to_its_filters(firm: Firm) -> None:
    for _ in range(3):
        firm.create()
    cursor = firm.page("limit=1")["nextCursor"]
    assert refuses(firm.page, f"limit=1&cursor={cursor}&type=other").code == "invalid_cursor"


def test_updated_since_follows_changes(firm: Firm) -> None:
    first, second, third = firm.create(name="a")["id"], firm.create(name="b")["id"], firm.create(name="c")["id"]
    firm.later()
    since = to_wire(firm.store.now())
    assert firm.ids(f"updatedSince={since}") == []
    firm.update(third, tradingName="x")
    firm.later()
    firm.move(first, "dormant")
    firm.later()
    firm.archive(second)
    assert firm.ids(f"updatedSince={since}") == [third, first, second]  # who follows changes learns of the end too


def test_lists_hold_nothing_of_another_organization(firm: Firm) -> None:
    others = Firm(firm.store)
    others.create(**LETS)
    assert firm.page() == {"data": [], "nextCursor": None}
    assert firm.ids(f"legalEntityId={others.person}") == []
