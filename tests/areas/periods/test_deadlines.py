"""What is told of deadlines: once that they come near, once that they have passed, in the transaction that marks it."""

import datetime
from collections import Counter
from typing import Any

import msgspec
import pytest

from gatewayd.clock import DAY, HOUR, MINUTE, Instant, from_wire, london_date
from gatewayd.ledger.obligations import obligations, schedule
from gatewayd.ledger.obligations.confirmations import Confirmed
from gatewayd.store import ReadTx, WriteTx
from tests.areas.periods.desk import Desk
from tests.support.subscribing import subscribe

DAYS = 14
SOON, OVERDUE = "obligation.due_soon", "obligation.overdue"
RETURN = Confirmed("vat_return", None, "2026-10-01", "2026-12-31", "2027-02-07", False)
Told = tuple[str, dict[str, Any]]


def move_to(desk: Desk, text: str) -> None:
    desk.store.clock.advance(from_wire(text) - desk.store.now())


def tell(desk: Desk, days: int = DAYS) -> list[Told]:
    """What is told now, as the daemon does it."""
    before = len(told(desk))
    rounds = 0
    while not desk.store.read(lambda tx: obligations.is_silent(tx, days)):
        desk.store.write(lambda tx: obligations.tell_some(tx, days))
        rounds += 1
        assert rounds < 50
    return told(desk)[before:]


def told(desk: Desk) -> list[Told]:
    sql = "SELECT kind, data FROM events WHERE org_id = :org_id ORDER BY id"
    return [(kind, msgspec.json.decode(data)) for kind, data in desk.store.read(lambda tx: tx.rows(sql), desk.org_id)]


def due(desk: Desk, day: str, **values: object) -> str:
    """An obligation of the person's own, due on a day."""
    made = desk.do("obligations.create", legalEntityId=desk.person, name="Insurance", dueDate=day, **values)
    return str(made["id"])


def kinds(found: list[Told]) -> list[str]:
    return [kind for kind, _ in found]


def test_it_is_told_when_the_day_comes_near_and_when_it_has_passed(desk: Desk) -> None:
    made = due(desk, "2026-12-05")  # in fifteen days
    assert tell(desk) == []
    desk.later()
    ((kind, data),) = tell(desk)
    assert kind == SOON
    assert data == {
        "obligation_id": made,
        "kind": "custom",
        "legal_entity_id": desk.person,
        "business_id": None,
        "period_start_date": "2026-12-05",
        "period_end_date": "2026-12-05",
        "due_date": "2026-12-05",
        "days_until_due": 14,
        "confidence": "confirmed",
    }
    assert tell(desk) == []
    move_to(desk, "2026-12-05T23:59:59Z")
    assert tell(desk) == []
    move_to(desk, "2026-12-06T00:00:00Z")
    assert [(kind, data["days_until_due"]) for kind, data in tell(desk)] == [(OVERDUE, -1)]
    move_to(desk, "2027-12-06T00:00:00Z")
    assert tell(desk) == []


def test_midnight_is_londons(desk: Desk) -> None:
    """Domain C7: 23:30 UTC on 7 August is the 8th in London already."""
    move_to(desk, "2026-08-01T12:00:00Z")
    due(desk, "2026-08-07")
    assert kinds(tell(desk)) == [SOON]
    move_to(desk, "2026-08-07T22:59:59Z")
    assert tell(desk) == []
    move_to(desk, "2026-08-07T23:30:00Z")
    assert kinds(tell(desk)) == [OVERDUE]


def test_a_year_of_days_tells_of_each_due_date_twice_and_no_more(desk: Desk) -> None:
    """With a trade and a company, an hour after each midnight and at noon, through both changes of the clocks."""
    desk.create()
    desk.vat_company()
    tell(desk)
    first = len(told(desk))
    start = london_date(desk.store.now())
    seen: list[tuple[str, str, str]] = []  # kind, day, due date
    move_to(desk, "2026-11-20T23:30:00Z")
    for _ in range(365 * 2):
        desk.store.clock.advance(12 * HOUR)
        desk.store.write(schedule.refresh_some)
        today = london_date(desk.store.now())
        seen += [(kind, today, data["due_date"]) for kind, data in tell(desk)]
    counts = Counter((kind, data["obligation_id"], data["due_date"]) for kind, data in told(desk))
    assert set(counts.values()) == {1}
    day = datetime.date.fromisoformat
    for kind, today, of in seen:
        assert (day(of) - day(today)).days == (DAYS if kind == SOON else -1), (kind, today, of)
    passed = {
        one["id"]
        for one in desk.obligations("status=open&status=overdue")
        if start <= one["dueDate"] < london_date(desk.store.now())
    }
    assert {data["obligation_id"] for kind, data in told(desk) if kind == OVERDUE} == passed
    assert len(passed) > 12
    assert len(seen) == len(told(desk)) - first


def test_what_was_due_before_the_entity_came_is_no_news(desk: Desk) -> None:
    """A whole tax year of obligations is made with a business: only what comes near is told."""
    desk.create()
    assert desk.obligations("status=overdue") != []
    assert OVERDUE not in kinds(tell(desk))
    desk.store.clock.advance(DAY)
    assert OVERDUE not in kinds(tell(desk))


def test_what_was_due_on_the_day_it_came_is_told_on_the_next(desk: Desk) -> None:
    due(desk, "2026-11-20")
    assert kinds(tell(desk)) == [SOON]
    desk.later()
    assert kinds(tell(desk)) == [OVERDUE]


def test_another_due_date_is_told_of_anew(desk: Desk) -> None:
    company = desk.vat_company()
    desk.confirm(company, RETURN)
    move_to(desk, "2027-01-30T12:00:00Z")
    of = [data["due_date"] for kind, data in tell(desk) if kind == SOON and data["kind"] == "vat_return"]
    assert of == ["2027-02-07"]
    desk.confirm(company, RETURN._replace(due_date="2027-02-12"))
    of = [data["due_date"] for kind, data in tell(desk) if kind == SOON and data["kind"] == "vat_return"]
    assert of == ["2027-02-12"]
    move_to(desk, "2027-02-12T12:00:00Z")
    assert [data for kind, data in tell(desk) if kind == OVERDUE and data["kind"] == "vat_return"] == []
    desk.store.clock.advance(DAY)
    overdue = [data["due_date"] for kind, data in tell(desk) if kind == OVERDUE and data["kind"] == "vat_return"]
    assert overdue == ["2027-02-12"]


def test_a_date_that_is_put_right_once_it_has_passed_is_no_news(desk: Desk) -> None:
    company = desk.vat_company()
    desk.confirm(company, RETURN)
    move_to(desk, "2027-03-01T12:00:00Z")
    assert OVERDUE in kinds(tell(desk))
    desk.confirm(company, RETURN._replace(due_date="2027-02-09"))
    assert tell(desk) == []


def test_a_date_that_is_put_right_twice_is_no_news_either(desk: Desk) -> None:
    """Once before it has passed, and once after."""
    company = desk.vat_company()
    desk.confirm(company, RETURN)
    move_to(desk, "2027-01-20T12:00:00Z")
    desk.confirm(company, RETURN._replace(due_date="2027-02-12"))
    tell(desk)
    move_to(desk, "2027-03-01T12:00:00Z")
    tell(desk)
    desk.confirm(company, RETURN._replace(due_date="2027-02-09"))
    assert tell(desk) == []


def test_a_date_that_is_put_right_silences_no_other(desk: Desk) -> None:
    """Neither another obligation of the organization, nor one whose other news is younger than its due date."""
    company = desk.vat_company()
    desk.confirm(company, RETURN)
    other = due(desk, "2027-02-20")
    move_to(desk, "2027-03-01T12:00:00Z")
    desk.confirm(company, RETURN._replace(due_date="2027-02-09"))
    desk.do("obligations.dismiss", id=other, reason="A mistake")
    desk.do("obligations.reopen", id=other, reason="It was none")
    found = [data["obligation_id"] for kind, data in tell(desk) if kind == OVERDUE]
    assert other in found
    assert not [data for kind, data in told(desk) if kind == OVERDUE and data["due_date"] == "2027-02-09"]


@pytest.mark.parametrize("operation", ["fulfil", "dismiss"])
def test_what_is_met_or_not_required_is_not_told(desk: Desk, operation: str) -> None:
    made = due(desk, "2026-11-25")
    desk.do(f"obligations.{operation}", id=made, **({"reason": "Exempt"} if operation == "dismiss" else {}))
    desk.store.clock.advance(30 * DAY)
    assert tell(desk) == []


def test_what_is_reopened_is_not_told_again(desk: Desk) -> None:
    made = due(desk, "2026-11-25")
    assert kinds(tell(desk)) == [SOON]
    desk.do("obligations.fulfil", id=made)
    desk.do("obligations.reopen", id=made)
    assert tell(desk) == []


def test_a_machine_that_slept_tells_what_has_passed_alone(desk: Desk) -> None:
    due(desk, "2026-12-25")
    desk.store.clock.advance(60 * DAY)
    assert kinds(tell(desk)) == [OVERDUE]


def test_nothing_is_told_of_an_archived_entity(desk: Desk) -> None:
    due(desk, "2026-11-25")
    desk.do("legalEntity.archive", id=desk.person, force=True)
    assert tell(desk) == []


def test_the_mark_and_the_event_are_one_transaction(desk: Desk) -> None:
    """Killed before the commit nothing has happened, and it is told the next time; then never again."""
    due(desk, "2026-11-25")

    def tell_and_die(tx: WriteTx) -> None:
        obligations.tell_some(tx, DAYS)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        desk.store.write(tell_and_die)
    assert told(desk) == []
    assert kinds(tell(desk)) == [SOON]
    desk.store.write(lambda tx: obligations.tell_some(tx, DAYS))
    assert len(told(desk)) == 1


def test_it_makes_no_new_version(desk: Desk) -> None:
    made = due(desk, "2026-11-25")
    before = desk.ask("obligations.get", f"id={made}")
    tell(desk)
    assert desk.ask("obligations.get", f"id={made}") == before


def test_each_organization_is_told_of_its_own(desk: Desk) -> None:
    other = Desk(desk.store)
    for each in (desk, other):
        due(each, "2026-11-25")
        subscribe(each.store, each.org_id, "https://a.example/", SOON)
    tell(desk)
    count = "SELECT count(id) FROM deliveries WHERE org_id = :org_id"
    for each in (desk, other):
        assert [data["legal_entity_id"] for _, data in told(each)] == [each.person]
        assert each.store.read(lambda tx: tx.value(count), each.org_id) == 1


def test_many_are_told_in_several_transactions(desk: Desk) -> None:
    for _ in range(obligations.TOLD_AT_ONCE + 1):
        due(desk, "2026-11-25")
    desk.store.write(lambda tx: obligations.tell_some(tx, DAYS))
    assert len(told(desk)) == obligations.TOLD_AT_ONCE
    assert len(tell(desk)) == 1


def test_whether_there_is_news_is_read_off_an_index(desk: Desk) -> None:
    def plan(tx: ReadTx) -> str:
        values = {"today": tx.today, "until": tx.today, "count": 1}
        statements = (obligations._SELECT_TO_COME_ANY_ORG, obligations._SELECT_PASSED_ANY_ORG)
        return " ".join(str(row) for sql in statements for row in tx.rows(f"EXPLAIN QUERY PLAN {sql}", **values))

    found = desk.store.read(plan)
    assert "obligations_to_come (due_date>? AND due_date<?)" in found
    assert "obligations_passed (due_date<?)" in found
    assert "TEMP B-TREE" not in found


def test_instants_are_london_days_in_the_hour_that_is_there_twice(desk: Desk) -> None:
    """On 25 October 2026 the clocks go back: the day has 25 hours, and passes once."""
    move_to(desk, "2026-10-20T12:00:00Z")
    due(desk, "2026-10-25")
    tell(desk)
    found: list[tuple[Instant, str]] = []
    move_to(desk, "2026-10-24T22:00:00Z")
    for _ in range(4 * 30):
        found += [(desk.store.now(), kind) for kind, _ in tell(desk)]
        desk.store.clock.advance(15 * MINUTE)
    assert found == [(from_wire("2026-10-26T00:00:00Z"), OVERDUE)]
