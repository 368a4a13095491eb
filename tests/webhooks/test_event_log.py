"""The log of events, events.list: its order, what a cursor stands for, waiting, who turns kinds on; and events.get."""

from collections.abc import AsyncIterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest
import trio
import trio.testing

from gatewayd import events
from gatewayd.catalogue import AREAS
from gatewayd.clock import DAY, SECOND
from gatewayd.events import EVENT_KINDS
from gatewayd.store import Store
from gatewayd.webhooks.feeds import event_log
from gatewayd.webhooks.feeds.event_log import FOLLOWED, FOLLOWERS_MAX, LOOKED_AT, EventLog
from tests.support.api import TestedApi, Tuning, open_api
from tests.support.store import START

RETENTION = 90 * DAY
LEAD = {"source": "website", "status": "new"}
CRM = next(area for area in AREAS if area.name == "crm").operations


class _Late:
    """The log of a store that is opened after it is named."""

    store: Store | None = None

    async def page(self, org_id: str, request: event_log.ListEvents) -> event_log.EventPage:
        assert self.store is not None
        return await EventLog(self.store, RETENTION).page(org_id, request)


@pytest.fixture
async def api(tmp_path: Path, database_image: bytes) -> AsyncIterator[TestedApi]:
    log = _Late()
    tuning = Tuning(deps=SimpleNamespace(event_log=log))
    async with open_api(tmp_path, database_image, [*event_log.OPERATIONS, *CRM], tuning) as api:
        log.store = api.store
        yield api


async def listed(api: TestedApi, token: str = "good", **query: object) -> dict[str, Any]:
    reply = await api("GET", "/api/rpc/events", query=query, token=token)
    assert reply.status == 200, reply.body
    page: dict[str, Any] = msgspec.json.decode(reply.body)
    return page


async def refused(api: TestedApi, **query: object) -> dict[str, Any]:
    reply = await api("GET", "/api/rpc/events", query=query)
    assert reply.status >= 400
    problem: dict[str, Any] = msgspec.json.decode(reply.body)
    return problem


async def lead(api: TestedApi, number: int, org_id: str = "org_a") -> str:
    data = {**LEAD, "lead_id": f"lead_{number}"}
    return await api.store.write(lambda tx: events.append(tx, "lead.created", data), org_id)


async def test_what_is_recorded_is_read_in_its_order_and_once(api: TestedApi) -> None:
    begun = await listed(api)
    assert begun["data"] == []
    assert begun["nextCursor"] is None
    ids = [await lead(api, number) for number in range(5)]
    page = await listed(api, cursor=begun["resumeCursor"], limit=2)
    assert [event["id"] for event in page["data"]] == ids[:2]
    assert page["nextCursor"] == page["resumeCursor"]
    rest = await listed(api, cursor=page["nextCursor"])
    assert [event["id"] for event in rest["data"]] == ids[2:]
    assert rest["nextCursor"] is None
    assert rest["data"][0]["data"] == {**LEAD, "lead_id": "lead_2"}
    assert (await listed(api, cursor=rest["resumeCursor"]))["data"] == []


async def test_the_order_is_that_of_the_commits_also_where_the_clock_was_set_back(api: TestedApi) -> None:
    begun = await listed(api)
    first = await lead(api, 1)
    api.clock.advance(-60 * SECOND)
    second = await lead(api, 2)
    assert second < first  # ids follow the clock
    page = await listed(api, cursor=begun["resumeCursor"])
    assert [event["id"] for event in page["data"]] == [first, second]
    assert sorted(page["data"], key=lambda event: str(event["sequence"])) == page["data"]


async def test_since_begins_with_what_is_there(api: TestedApi) -> None:
    await lead(api, 1)
    api.clock.advance(60 * SECOND)
    second = await lead(api, 2)
    page = await listed(api, since="2026-11-20T09:30:30Z")
    assert [event["id"] for event in page["data"]] == [second]


async def test_a_caller_waits_for_the_next_event(api: TestedApi) -> None:
    begun = await listed(api, event="lead.*")
    with trio.fail_after(20):
        async with trio.open_nursery() as nursery:
            found: list[dict[str, Any]] = []

            async def wait() -> None:
                found.append(await listed(api, event="lead.*", cursor=begun["resumeCursor"], waitSeconds=20))

            nursery.start_soon(wait)
            await trio.testing.wait_all_tasks_blocked()
            assert found == []
            event_id = await lead(api, 1)
    assert [event["id"] for event in found[0]["data"]] == [event_id]


async def test_reading_a_kind_turns_it_on(api: TestedApi) -> None:
    made = await api("POST", "/api/rpc/crm/createOpportunity", json={"name": "Roof", "pipelineId": "p", "stage": "new"})
    begun = await listed(api, event="opportunity.*", since="2026-01-01T00:00:00Z")
    assert made.status == 200
    assert begun["data"] == []
    await api("POST", "/api/rpc/crm/createOpportunity", json={"name": "Wall", "pipelineId": "p", "stage": "new"})
    page = await listed(api, event="opportunity.*", cursor=begun["resumeCursor"])
    assert [event["event"] for event in page["data"]] == ["opportunity.created"]
    assert page["recordedSince"] == begun["recordedSince"] == "2026-11-20T09:30:00.000Z"


async def test_a_cursor_that_was_not_used_for_thirty_days_has_expired(api: TestedApi) -> None:
    begun = await listed(api, event="opportunity.*")
    api.clock.advance(FOLLOWED - DAY)
    again = await listed(api, event="opportunity.*", cursor=begun["resumeCursor"])  # and followed for 30 days more
    api.clock.advance(FOLLOWED - SECOND)
    assert (await listed(api, event="opportunity.*", cursor=again["resumeCursor"]))["data"] == []
    api.clock.advance(FOLLOWED + SECOND)
    problem = await refused(api, event="opportunity.*", cursor=again["resumeCursor"])
    assert (problem["status"], problem["code"]) == (410, "cursor_expired")


async def test_a_cursor_behind_events_that_are_no_longer_kept_has_expired(api: TestedApi) -> None:
    await lead(api, 1)
    begun = await listed(api)
    for _ in range(4):  # each renews what is recorded
        api.clock.advance(FOLLOWED - DAY)
        await listed(api)
    problem = await refused(api, cursor=begun["resumeCursor"])
    assert (problem["status"], problem["code"]) == (410, "cursor_expired")


async def test_a_cursor_belongs_to_its_kinds(api: TestedApi) -> None:
    begun = await listed(api, event="lead.*")
    assert (await refused(api, event="client.*", cursor=begun["resumeCursor"]))["code"] == "invalid_cursor"


async def test_events_of_other_kinds_are_passed_over(api: TestedApi) -> None:
    begun = await listed(api, event="client.created")

    def many(tx: Any) -> None:
        for number in range(LOOKED_AT):
            events.append(tx, "lead.created", {**LEAD, "lead_id": f"lead_{number}"})

    await api.store.write(many, "org_a")
    page = await listed(api, event="client.created", cursor=begun["resumeCursor"])
    assert page["data"] == []
    assert page["nextCursor"] is not None
    assert (await listed(api, event="client.created", cursor=page["nextCursor"]))["nextCursor"] is None


async def test_an_unknown_kind_is_named_with_the_one_that_was_meant(api: TestedApi) -> None:
    problem = await refused(api, event="invoices.*")
    assert problem["errors"][0]["code"] == "unknown_event"
    assert problem["errors"][0]["path"] == "event[0]"
    assert "Did you mean invoice.*" in problem["errors"][0]["message"]


async def test_an_organization_reads_so_many_sets_of_kinds(api: TestedApi) -> None:
    for kind in list(EVENT_KINDS)[:FOLLOWERS_MAX]:
        await listed(api, event=kind)
    problem = await refused(api, event=list(EVENT_KINDS)[FOLLOWERS_MAX])
    assert problem["code"] == "limit_reached"


async def test_another_organization_sees_none_of_it(api: TestedApi) -> None:
    await api.org("org_b", "other")
    begun = await listed(api, token="other")
    event_id = await lead(api, 1)
    assert (await listed(api, token="other", cursor=begun["resumeCursor"]))["data"] == []
    assert (await api("GET", f"/api/rpc/events/{event_id}", token="other")).status == 404


async def test_an_event_is_got_by_its_id(api: TestedApi) -> None:
    event_id = await lead(api, 1)
    reply = await api("GET", f"/api/rpc/events/{event_id}")
    found = msgspec.json.decode(reply.body)
    recorded, _, of = found.pop("sequence").partition("-")
    assert (int(recorded) >= START, of) == (True, event_id)  # PostgreSQL has each commit later than the one before
    assert found == {
        "id": event_id,
        "event": "lead.created",
        "data": {**LEAD, "lead_id": "lead_1"},
        "createdAt": "2026-11-20T09:30:00.000Z",
    }


async def test_the_kinds_are_listed_with_what_they_mean_and_their_patterns(api: TestedApi) -> None:
    reply = await api("GET", "/api/rpc/events/kinds")
    kinds = {kind["event"]: kind for kind in msgspec.json.decode(reply.body)["data"]}
    assert kinds.keys() == EVENT_KINDS.keys()
    paid = kinds["invoice.paid"]
    assert paid["patterns"] == ["*", "invoice.*", "accounting.*"]
    assert paid["sent"]
    assert paid["dataSchema"]["required"] == list(paid["sample"])
    assert paid["dataSchema"]["properties"]["client_id"]["description"] == "To whom it is made out."
    for kind in kinds.values():
        members = kind["dataSchema"]["properties"]
        assert members.keys() == kind["sample"].keys()
        assert all(member["description"] for member in members.values()), kind["event"]
    assert not kinds["form.submitted"]["sent"]
