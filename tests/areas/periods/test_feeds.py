"""Calendar feeds: made, listed and revoked, and what they say of whom."""

from typing import get_args

import pytest

from gatewayd.areas.periods import feed_content, icalendar
from gatewayd.areas.periods.icalendar import Deadline
from gatewayd.clock import DAY
from gatewayd.identity import audit
from gatewayd.identity.keys import calendar_feeds
from gatewayd.ledger.calendar.forecast import ObligationKind
from gatewayd.ledger.calendar.titles import TITLES
from gatewayd.ledger.obligations.confirmations import Confirmed
from gatewayd.store import ReadTx
from tests.areas.periods.desk import Desk, Json

ORIGIN = "http://127.0.0.1:8080/calendar/"


def token_of(feed: Json) -> str:
    url: str = feed["url"]
    assert url.startswith(ORIGIN)
    assert url.endswith(".ics")
    return url.removeprefix(ORIGIN).removesuffix(".ics")


def read(desk: Desk, token: str) -> list[Deadline] | None:
    """What the address of that token answers; None where there is nothing."""

    def look(tx: ReadTx) -> list[Deadline] | None:
        feed = calendar_feeds.find(tx, token)
        return None if feed is None else feed_content.deadlines(tx, feed)

    return desk.store.read(look)


def test_a_feed_has_an_address_that_is_shown_once(desk: Desk) -> None:
    made = desk.do("obligations.createFeed", name="Phone")
    token = token_of(made)
    assert len(token.removeprefix("gwd_cal_")) == 43  # 256 bits as base64url
    (listed,) = desk.ask("obligations.listFeeds")["data"]
    assert listed == {name: value for name, value in made.items() if name != "url"}
    assert (listed["name"], listed["revokedAt"], listed["legalEntityId"]) == ("Phone", None, None)
    stored = desk.store.read(lambda tx: tx.row("SELECT * FROM calendar_feeds WHERE org_id = :org_id"), desk.org_id)
    assert token not in repr(stored)
    assert token_of(desk.do("obligations.createFeed")) != token


def test_a_feed_is_found_by_the_callers_own_identifier(desk: Desk) -> None:
    made = desk.do("obligations.createFeed", externalId="phone-1")
    assert made["externalId"] == "phone-1"
    desk.do("obligations.createFeed")
    assert [feed["id"] for feed in desk.ask("obligations.listFeeds", "externalId=phone-1")["data"]] == [made["id"]]
    refused = desk.refused("obligations.createFeed", externalId="phone-1")
    assert (refused.code, refused.extra["existingId"]) == ("already_exists", made["id"])


def test_a_feed_ends_when_it_is_revoked(desk: Desk) -> None:
    made = desk.do("obligations.createFeed")
    assert read(desk, token_of(made)) == []
    refused = desk.refused("obligations.revokeFeed", id=made["id"], expectedVersion=made["version"] + 1)
    assert refused.code == "version_conflict"
    ended = desk.do("obligations.revokeFeed", id=made["id"], expectedVersion=made["version"])
    assert (ended["id"], ended["revokedAt"]) == (made["id"], "2026-11-20T09:30:00.000Z")
    assert read(desk, token_of(made)) is None
    assert desk.refused("obligations.revokeFeed", id=made["id"]).code == "invalid_state"
    acts = desk.store.read(audit.list_entries, desk.org_id)
    assert [(act.action, act.subject) for act in acts] == [("feed.revoked", made["id"]), ("feed.created", made["id"])]


def test_an_organization_has_some_feeds_and_no_more(desk: Desk) -> None:
    made = [desk.do("obligations.createFeed") for _ in range(calendar_feeds.MAX_PER_ORGANIZATION)]
    assert desk.refused("obligations.createFeed").code == "limit_reached"
    desk.do("obligations.revokeFeed", id=made[0]["id"])
    desk.do("obligations.createFeed")


def test_another_organizations_feed_and_entity_are_not_there(desk: Desk) -> None:
    stranger = Desk(desk.store)
    made = desk.do("obligations.createFeed")
    assert stranger.refused("obligations.revokeFeed", id=made["id"]).code == "not_found"
    assert stranger.ask("obligations.listFeeds")["data"] == []
    refused = stranger.refused("obligations.createFeed", legalEntityId=desk.person)
    assert [error.code for error in refused.errors] == ["unknown_reference"]


@pytest.mark.parametrize("token", ["", "x", "gwd_cal_" + 43 * "A", "'; --", "\udcff"])
def test_an_unknown_token_opens_nothing(desk: Desk, token: str) -> None:
    desk.do("obligations.createFeed")
    assert read(desk, token) is None


def test_it_names_what_is_due_and_when_and_nothing_of_the_authoritys(desk: Desk) -> None:
    company = desk.vat_company()
    said = Confirmed("vat_return", None, "2026-07-01", "2026-09-30", "2026-11-09", False, period_key="26A3")
    desk.confirm(company, said)
    found = read(desk, token_of(desk.do("obligations.createFeed")))
    assert found is not None
    one = next(deadline for deadline in found if deadline.summary.startswith("VAT return") and deadline.is_certain)
    assert (one.day.isoformat(), one.summary) == ("2026-11-09", "VAT return (Oak Ltd)")
    assert one.description == "For 1 July 2026 to 30 September 2026.\nConfirmed."
    text = icalendar.render("x", found, 14).decode().replace("\r\n ", "")
    for secret in ("26A3", "980780684", "01234567"):
        assert secret not in text


def test_a_deadline_keeps_its_uid_through_its_changes(desk: Desk) -> None:
    made = desk.do("obligations.create", legalEntityId=desk.person, name="Insurance", dueDate="2027-01-05")
    token = token_of(desk.do("obligations.createFeed"))
    (before,) = read(desk, token) or []
    desk.later()
    desk.do("obligations.fulfil", id=made["id"])
    (after,) = read(desk, token) or []
    assert before.uid == after.uid == f"{made['id']}@gatewayd"
    assert (before.summary, after.summary) == ("Insurance (Ash Brown)", "Done: Insurance (Ash Brown)")
    assert (before.sequence, after.sequence, after.is_done) == (0, 1, True)
    assert after.changed > before.changed


def test_it_is_of_one_entity_where_it_was_made_so(desk: Desk) -> None:
    other = desk.entity(name="Elm")
    for owner in (desk.person, other):
        desk.do("obligations.create", legalEntityId=owner, name="Insurance", dueDate="2027-01-05")
    found = read(desk, token_of(desk.do("obligations.createFeed", legalEntityId=other)))
    assert [one.summary for one in found or []] == ["Insurance (Elm)"]
    assert len(read(desk, token_of(desk.do("obligations.createFeed"))) or []) == 2


def test_what_is_not_required_is_left_out_and_what_was_long_ago(desk: Desk) -> None:
    gone = desk.do("obligations.create", legalEntityId=desk.person, name="Gone", dueDate="2027-01-05")
    desk.do("obligations.dismiss", id=gone["id"], reason="Exempt")
    desk.do("obligations.create", legalEntityId=desk.person, name="Old", dueDate="2025-11-19")  # 366 days before
    token = token_of(desk.do("obligations.createFeed"))
    assert [one.summary for one in read(desk, token) or []] == ["Old (Ash Brown)"]
    desk.store.clock.advance(DAY)
    assert read(desk, token) == []


def test_it_ends_somewhere_however_much_is_due(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feed_content, "DEADLINES_MAX", 3)
    for day in (4, 3, 2, 1):
        desk.do("obligations.create", legalEntityId=desk.person, name=f"No {day}", dueDate=f"2027-01-0{day}")
    found = read(desk, token_of(desk.do("obligations.createFeed")))
    assert [one.day.day for one in found or []] == [1, 2, 3]


def test_every_kind_has_a_title() -> None:
    assert TITLES.keys() == set(get_args(ObligationKind))


def test_a_feed_is_read_by_its_id_without_its_address(desk: Desk) -> None:
    made = desk.do("obligations.createFeed", name="Phone")
    answer = desk.ask("obligations.getFeed", f"id={made['id']}")
    assert answer == {name: value for name, value in made.items() if name != "url"}
    ended = desk.do("obligations.revokeFeed", id=made["id"])
    assert desk.ask("obligations.getFeed", f"id={made['id']}") == ended


def test_the_feeds_of_a_legal_entity_are_listed(desk: Desk) -> None:
    desk.do("obligations.createFeed", name="All")
    theirs = desk.do("obligations.createFeed", name="Theirs", legalEntityId=desk.person)
    (listed,) = desk.ask("obligations.listFeeds", f"legalEntityId={desk.person}")["data"]
    assert listed["id"] == theirs["id"]
