"""Obligations that follow from a resource of another area, and what people say of them."""

import pytest

from gatewayd.ledger.obligations import resource_obligations
from gatewayd.ledger.obligations.resource_obligations import Following
from tests.areas.periods.desk import Desk, Json

RESOURCE = "cert_01k0000000000000000000000a"


def settle(desk: Desk, **values: object) -> Json | None:
    """The obligation after the resource was settled."""
    following = Following(
        kind="certificate_renewal",
        name="Gas safety, 12 Oak Street",
        legal_entity_id=desk.person,
        business_id=None,
        start="2026-05-01",
        end="2027-04-30",
        due="2027-04-30",
    )._replace(**values)
    desk.store.write(lambda tx: resource_obligations.settle(tx, RESOURCE, following), desk.org_id)
    return shown(desk)


def drop(desk: Desk) -> None:
    desk.store.write(lambda tx: resource_obligations.settle(tx, RESOURCE, None), desk.org_id)


def shown(desk: Desk) -> Json | None:
    found = desk.obligations("kind=certificate_renewal&status=open,overdue,fulfilled,not_required")
    assert len(found) <= 1, "one resource, one obligation"
    return found[0] if found else None


def state(desk: Desk) -> tuple[str, str]:
    found = shown(desk)
    assert found is not None
    return found["status"], found["dueDate"]


def events(desk: Desk) -> list[str]:
    found = shown(desk)
    assert found is not None
    return [event["type"] for event in desk.ask("obligations.get", f"id={found['id']}")["events"]]


def test_it_is_due_when_the_resource_says(desk: Desk) -> None:
    made = settle(desk)
    assert made is not None
    assert (made["name"], made["status"], made["dueDate"]) == ("Gas safety, 12 Oak Street", "open", "2027-04-30")
    assert (made["source"], made["confidence"]) == ("local", "confirmed")
    again = settle(desk)
    assert again == made, "nothing changed, and no version was spent"


def test_another_date_moves_it(desk: Desk) -> None:
    settle(desk)
    settle(desk, end="2027-05-31", due="2027-05-31")
    assert (state(desk), events(desk)) == (("open", "2027-05-31"), ["due_date_changed"])


def test_what_the_resource_shows_as_met_is_met_and_comes_back(desk: Desk) -> None:
    settle(desk)
    met = settle(desk, met_on="2027-04-02")
    assert met is not None
    assert (met["status"], met["receivedDate"]) == ("fulfilled", "2027-04-02")
    back = settle(desk)
    assert back is not None
    assert (back["status"], back["receivedDate"], back["fulfilledAt"]) == ("open", None, None)
    assert events(desk) == ["fulfilled", "reopened"]


def test_what_was_met_before_it_was_known_is_none(desk: Desk) -> None:
    assert settle(desk, met_on="2026-10-01") is None


def test_a_resource_that_is_gone_asks_for_nothing(desk: Desk) -> None:
    drop(desk)
    assert shown(desk) is None
    settle(desk)
    drop(desk)
    drop(desk)
    assert (state(desk)[0], events(desk)) == ("not_required", ["not_required"])
    settle(desk)
    assert (state(desk)[0], events(desk)) == ("open", ["not_required", "required"])


@pytest.mark.parametrize(
    ("operation", "said"), [("obligations.fulfil", "fulfilled"), ("obligations.dismiss", "not_required")]
)
def test_what_a_person_said_stands_until_the_date_moves(desk: Desk, operation: str, said: str) -> None:
    made = settle(desk)
    assert made is not None
    desk.do(operation, id=made["id"], **({} if said == "fulfilled" else {"reason": "The house is empty"}))
    settle(desk, name="Gas safety, Oak Cottage")
    assert state(desk) == (said, "2027-04-30")
    settle(desk, end="2028-04-30", due="2028-04-30")
    assert state(desk) == ("open", "2028-04-30")
    drop(desk)
    assert state(desk)[0] == "not_required"


def test_the_calendar_leaves_them_alone(desk: Desk) -> None:
    made = settle(desk)
    desk.refresh()
    desk.create()
    assert shown(desk) == made
