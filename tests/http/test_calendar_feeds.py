"""The door of calendar feeds: what an address answers, and that nothing tells a revoked one from an unknown one."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from icalendar import Calendar
from trio.testing import MockClock

from gatewayd.areas import legal_entities, periods
from gatewayd.areas.periods import feed_content
from gatewayd.areas.periods.icalendar import Deadline
from gatewayd.clock import DAY
from gatewayd.daemon.doors import CALENDARS
from gatewayd.http.calendar_feeds import COST, FeedContent, calendar_app
from gatewayd.http1.asgi import App
from gatewayd.identity.keys.calendar_feeds import OpenFeed
from gatewayd.performing.rate_limits import RateLimits
from gatewayd.store import OverBudget, ReadTx, Store
from tests.http.test_health import ask
from tests.support.api import Fields, Reply, TestedApi, open_api
from tests.support.rows import served

ALARM_DAYS = 21


class Door:
    """The door, and an organization with one deadline and a feed."""

    def __init__(self, api: TestedApi, app: App, feed: dict[str, str]) -> None:
        self.api, self.app, self.feed = api, app, feed
        self.path = feed["url"].removeprefix("http://127.0.0.1:8080")

    async def __call__(self, path: str | None = None, method: str = "GET", headers: Fields = ()) -> Reply:
        return await ask(self.app, method, path or self.path, *headers)


@asynccontextmanager
async def open_door(
    tmp_path: Path, image: bytes, per_minute: int = 0, content: FeedContent[Any] = CALENDARS
) -> AsyncIterator[Door]:
    async with open_api(tmp_path, image, served(legal_entities.AREA, periods.AREA)) as api:
        entity = await api("POST", "/legalEntity/createLegalEntity", json={"name": "Oak", "type": "sole_trader"})
        values = {"legalEntityId": entity.json()["id"], "name": "Insurance", "dueDate": "2027-01-05"}
        assert (await api("POST", "/obligations/create", json=values)).status == 200
        made = await api("POST", "/obligations/feeds/create", json={"name": "Phone"})
        assert made.status == 200, made.body
        app = calendar_app(api.store, RateLimits(per_minute, 64), content, ALARM_DAYS)
        yield Door(api, app, made.json())


async def test_an_address_answers_a_calendar(tmp_path: Path, database_image: bytes) -> None:
    async with open_door(tmp_path, database_image) as door:
        reply = await door()
        head = await door(method="HEAD")
    assert reply.status == 200
    assert reply["content-type"] == "text/calendar; charset=utf-8"
    assert reply["cache-control"] == "private, no-cache"
    assert reply["referrer-policy"] == "no-referrer"
    calendar = Calendar.from_ical(reply.body)
    (event,) = calendar.walk("VEVENT")
    assert (str(calendar["NAME"]), str(event["SUMMARY"])) == ("Phone", "Insurance (Oak)")
    assert event.walk("VALARM")[0]["TRIGGER"].to_ical() == b"-P20DT15H"  # 21 days before, at nine
    assert (head.status, head.body, head["etag"]) == (200, b"", reply["etag"])


async def test_what_is_the_same_is_not_sent_again(tmp_path: Path, database_image: bytes) -> None:
    async with open_door(tmp_path, database_image) as door:
        tag = (await door())["etag"].encode()
        for asked in (tag, b"W/" + tag, b'"other", ' + tag, b"*"):
            same = await door(headers=[(b"if-none-match", asked)])
            assert (same.status, same.body, same["etag"]) == (304, b"", tag.decode())
        assert (await door(headers=[(b"if-none-match", b'"other"')])).status == 200
        obligation = (await door.api("GET", "/obligations/list")).json()["data"][0]["id"]
        assert (await door.api("POST", "/obligations/fulfil", json={"id": obligation})).status == 200
        changed = await door(headers=[(b"if-none-match", tag)])
    assert changed.status == 200
    assert b"Done: Insurance" in changed.body


async def test_an_address_is_held_to_the_rate_of_a_credential(
    tmp_path: Path, database_image: bytes, mock_clock: MockClock
) -> None:
    async with open_door(tmp_path, database_image, per_minute=2 * COST) as door:
        statuses = [(await door()).status for _ in range(3)]
        refused = await door()
        assert (statuses, refused.status, refused.code) == ([200, 200, 429], 429, "rate_limited")
        other = await door.api("POST", "/obligations/feeds/create", json={"name": "Office"})
        path = other.json()["url"].removeprefix("http://127.0.0.1:8080")
        assert (await door(path)).status == 200
        mock_clock.jump(int(refused["retry-after"]))
        assert (await door()).status == 200


async def test_what_is_asked_again_is_not_worked_out_again(tmp_path: Path, database_image: bytes) -> None:
    asked: list[str] = []

    def deadlines(tx: ReadTx, feed: OpenFeed) -> list[Deadline]:
        asked.append(feed.id)
        return feed_content.deadlines(tx, feed)

    async with open_door(tmp_path, database_image, content=replace(CALENDARS, read=deadlines)) as door:
        first = await door()
        again = await door(headers=[(b"if-none-match", first["etag"].encode())])
        assert (again.status, len(asked)) == (304, 1)
        obligation = (await door.api("GET", "/obligations/list")).json()["data"][0]["id"]
        assert (await door.api("POST", "/obligations/fulfil", json={"id": obligation})).status == 200
        assert b"Done: Insurance" in (await door()).body
        assert len(asked) == 2
        door.api.clock.advance(DAY)
        assert (await door()).status == 200
        assert len(asked) == 3, "another day"


async def test_a_feed_is_given_also_where_the_look_is_long(
    tmp_path: Path, database_image: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_door(tmp_path, database_image) as door:
        expected = (await door()).body

        def too_long(self: Store, work: object, org_id: str | None) -> None:
            raise OverBudget("the read is too long for the event loop")

        monkeypatch.setattr(Store, "read_now", too_long)
        assert (await door()).body == expected
        assert (await door("/calendar/gwd_cal_x.ics")).status == 404


async def test_unknown_and_revoked_addresses_are_answered_alike(tmp_path: Path, database_image: bytes) -> None:
    async with open_door(tmp_path, database_image) as door:
        unknown = [
            await door(path)
            for path in (
                "/calendar/gwd_cal_x.ics",
                "/calendar/.ics",
                "/calendar/",
                door.path.removesuffix(".ics"),
                door.path + "/more.ics",
                door.path.upper(),
                f"/calendar/{1000 * 'x'}.ics",
            )
        ]
        revoked = await door.api("POST", "/obligations/feeds/revoke", json={"id": door.feed["id"]})
        assert revoked.status == 200
        replies = [*unknown, await door()]
    assert {(reply.status, reply.code) for reply in replies} == {(404, "not_found")}
    bodies = [{name: value for name, value in reply.json().items() if name != "requestId"} for reply in replies]
    assert bodies[1:] == bodies[:-1]
    assert len({tuple(name for name, _ in reply.headers) for reply in replies}) == 1


async def test_nothing_can_be_written_there(tmp_path: Path, database_image: bytes) -> None:
    async with open_door(tmp_path, database_image) as door:
        reply = await door(method="POST")
    assert (reply.status, reply["allow"]) == (405, "GET, HEAD")
