"""The obligations that people see: lists, their state on a day, and what is said of one."""

from typing import Any

import pytest

from gatewayd.clock import from_wire
from gatewayd.errors import Problem
from gatewayd.ledger.obligations.confirmations import Confirmed
from tests.areas.periods.desk import Desk, Json

OWN: Json = {"name": "Insurance renewal", "dueDate": "2027-03-01"}


def make(desk: Desk, **values: object) -> Json:
    return desk.do("obligations.create", **{"legalEntityId": desk.person, **OWN, **values})


def first(desk: Desk) -> Json:
    return desk.one("kind=itsa_quarterly_update")


@pytest.mark.parametrize(
    ("now", "status", "left"),
    [
        ("2026-08-07T12:00:00Z", "open", 0),
        ("2026-08-07T22:59:59Z", "open", 0),
        ("2026-08-07T23:30:00Z", "overdue", -1),  # 8 August in London
        ("2026-08-08T12:00:00Z", "overdue", -1),
        ("2026-08-01T12:00:00Z", "open", 6),
    ],
)
def test_the_state_on_a_day(desk: Desk, now: str, status: str, left: int) -> None:
    """Domain model C7."""
    desk.create()
    desk.store.clock.advance(from_wire(now) - desk.store.now())
    found = first(desk)
    assert (found["dueDate"], found["status"], found["daysUntilDue"]) == ("2026-08-07", status, left)
    assert desk.ask("obligations.get", f"id={found['id']}")["status"] == status
    assert (found["id"] in {one["id"] for one in desk.obligations("status=overdue")}) == (status == "overdue")
    assert (found["id"] in {one["id"] for one in desk.obligations("status=open")}) == (status == "open")


def test_the_list_is_in_the_order_of_due_dates(desk: Desk) -> None:
    desk.create()
    desk.vat_company()
    dates = [one["dueDate"] for one in desk.obligations("limit=7")]
    assert dates == sorted(dates)
    assert len(dates) > 40


def test_filters(desk: Desk) -> None:
    trade = desk.create()
    company = desk.vat_company()
    everything = desk.obligations()

    def of(**values: object) -> list[str]:
        return [one["id"] for one in everything if all(one[name] == value for name, value in values.items())]

    def ids(query: str) -> list[str]:
        return [one["id"] for one in desk.obligations(query)]

    assert ids(f"legalEntityId={company}") == of(legalEntityId=company)
    assert ids(f"businessId={trade['id']}") == of(businessId=trade["id"])
    assert ids("kind=vat_return") == of(kind="vat_return")
    assert set(ids("kind=vat_return&kind=vat_payment")) == {*of(kind="vat_return"), *of(kind="vat_payment")}
    period = desk.periods("type=vat_period")[-1]
    assert sorted(ids(f"periodId={period['id']}")) == sorted(period["obligationIds"])
    assert ids("source=tax_authority") == []
    assert ids("source=local") == of()
    due = [one["id"] for one in everything if "2026-11-07" <= one["dueDate"] <= "2027-02-07"]
    assert ids("dueDateFrom=2026-11-07&dueDateTo=2027-02-07") == due
    assert ids("externalId=none") == []


@pytest.mark.parametrize(
    "wanted",
    [
        {"open"},
        {"overdue"},
        {"open", "overdue"},
        {"fulfilled"},
        {"not_required"},
        {"fulfilled", "overdue"},
        {"fulfilled", "open"},
        {"fulfilled", "open", "overdue", "not_required"},
    ],
    ids=lambda wanted: " ".join(sorted(wanted)),
)
def test_states_are_filtered_as_they_are_shown(desk: Desk, wanted: set[str]) -> None:
    desk.create()
    desk.do("obligations.fulfil", id=first(desk)["id"])
    desk.do("obligations.dismiss", id=desk.obligations("status=open")[0]["id"], reason="Exempt")
    every = desk.obligations("status=open&status=overdue&status=fulfilled&status=not_required")
    assert {one["status"] for one in every} == {"open", "overdue", "fulfilled", "not_required"}
    found = desk.obligations("&".join(f"status={status}" for status in sorted(wanted)))
    assert found == [one for one in every if one["status"] in wanted]


def test_what_is_not_required_is_listed_when_it_is_asked_for(desk: Desk) -> None:
    made = make(desk)
    desk.do("obligations.dismiss", id=made["id"], reason="Sold")
    assert desk.obligations() == []
    assert [one["id"] for one in desk.obligations("status=not_required")] == [made["id"]]
    assert [one["id"] for one in desk.obligations("updatedSince=2026-01-01T00:00:00Z")] == [made["id"]]


def test_another_organizations_are_not_seen(desk: Desk) -> None:
    desk.create()
    stranger = Desk(desk.store)
    assert stranger.obligations() == []
    with pytest.raises(Problem) as refused:
        stranger.ask("obligations.get", f"id={first(desk)['id']}")
    assert refused.value.code == "not_found"
    for operation in ("obligations.fulfil", "obligations.reopen", "obligations.dismiss"):
        values = {} if operation == "obligations.fulfil" else {"reason": "Mine"}
        assert stranger.refused(operation, id=first(desk)["id"], **values).code == "not_found"


# -- met


def test_one_is_met(desk: Desk) -> None:
    desk.create()
    found = first(desk)
    done = desk.do("obligations.fulfil", id=found["id"], receivedDate="2026-08-05", expectedVersion=1)
    assert (done["status"], done["receivedDate"], done["version"]) == ("fulfilled", "2026-08-05", 2)
    assert done["fulfilledAt"] == "2026-11-20T09:30:00.000Z"
    (event,) = desk.ask("obligations.get", f"id={found['id']}")["events"]
    assert event == {
        "type": "fulfilled",
        "at": "2026-11-20T09:30:00.000Z",
        "by": "usr_00000000000000000000000000",
        "detail": "2026-08-05",
    }


def test_an_update_meets_those_before_it_of_its_source_and_year(desk: Desk) -> None:
    trade, other = desk.create(), desk.create(name="Thatching")
    third = desk.obligations(f"businessId={trade['id']}")[2]
    desk.do("obligations.fulfil", id=third["id"], receivedDate="2026-11-20")
    assert [status for _, _, status in desk.due(f"businessId={trade['id']}")] == ["fulfilled"] * 3 + ["open"] * 5
    assert {status for _, _, status in desk.due(f"businessId={other['id']}")} == {"open", "overdue"}
    assert first(desk)["receivedDate"] == "2026-11-20"
    noted = desk.ask("obligations.get", f"id={first(desk)['id']}")["events"]
    assert [(one["type"], one["detail"]) for one in noted][-1] == ("fulfilled", "with the update to 2027-01-05")


def test_what_is_no_update_meets_no_update(desk: Desk) -> None:
    trade = desk.create()
    before = desk.due(f"businessId={trade['id']}")
    of = {"legalEntityId": desk.person, "businessId": trade["id"], "name": "Permit", "dueDate": "2026-12-31"}
    made = desk.do("obligations.create", **of, periodStartDate="2026-04-06", periodEndDate="2027-04-05")
    desk.do("obligations.fulfil", id=made["id"])
    assert [one for one in desk.due(f"businessId={trade['id']}") if one in before] == before


def test_which_updates_are_met_is_no_matter_of_due_dates(desk: Desk) -> None:
    """The authority has the last one due before all others."""
    trade = desk.create()
    last = Confirmed("itsa_quarterly_update", trade["id"], "2026-04-06", "2027-04-05", "2026-08-01", False)
    desk.confirm(desk.person, last)
    second = next(one for one in desk.obligations(f"businessId={trade['id']}") if one["periodEndDate"] == "2026-10-05")
    desk.do("obligations.fulfil", id=second["id"])
    met = [one["periodEndDate"] for one in desk.obligations(f"businessId={trade['id']}&status=fulfilled")]
    assert met == ["2026-07-05", "2026-10-05"]


def test_a_business_whose_period_begins_today_has_what_is_open(desk: Desk) -> None:
    trade = desk.create(commencementDate="2026-11-20")
    with pytest.raises(Problem) as caught:
        desk.archive(trade["id"], force=False)
    assert caught.value.code == "invalid_state"
    tomorrow = desk.create(name="Thatching", commencementDate="2026-11-21")
    assert desk.archive(tomorrow["id"], force=False)["status"] == "archived"


def test_what_a_person_says_meets_none_that_the_authority_confirmed(desk: Desk) -> None:
    trade = desk.create()
    first_id, second, third, *_ = (one["id"] for one in desk.obligations(f"businessId={trade['id']}"))
    said = Confirmed("itsa_quarterly_update", trade["id"], "2026-04-06", "2026-07-05", "2026-08-07", False)
    desk.confirm(desk.person, said)
    desk.do("obligations.fulfil", id=third)
    states = [desk.ask("obligations.get", f"id={one}")["status"] for one in (first_id, second)]
    assert states == ["overdue", "fulfilled"]


def test_an_update_of_the_next_year_meets_none_of_this_one(desk: Desk) -> None:
    trade = desk.create(quarterlyPeriodType="calendar")
    fifth = desk.obligations(f"businessId={trade['id']}")[4]
    assert fifth["periodEndDate"] == "2027-06-30"
    desk.do("obligations.fulfil", id=fifth["id"])
    statuses = [status for _, _, status in desk.due(f"businessId={trade['id']}")]
    assert statuses == ["overdue", "overdue", "open", "open", "fulfilled", "open", "open", "open"]


def test_what_was_met_stays_so_whatever_changes(desk: Desk) -> None:
    company = desk.vat_company()
    met = desk.one("kind=vat_return")
    done = desk.do("obligations.fulfil", id=met["id"])
    desk.change_entity(company, vat={"status": "not_registered"})
    assert desk.obligations("kind=vat_return") == [done]
    assert [period["id"] for period in desk.periods("type=vat_period")] == [done["periodId"]]


def test_what_is_met_is_not_met_again(desk: Desk) -> None:
    made = make(desk)
    desk.do("obligations.fulfil", id=made["id"])
    problem = desk.refused("obligations.fulfil", id=made["id"])
    assert (problem.code, problem.extra) == (
        "invalid_state",
        {"currentState": "fulfilled", "allowedStates": ["open"]},
    )


def test_nothing_is_received_tomorrow(desk: Desk) -> None:
    made = make(desk)
    problem = desk.refused("obligations.fulfil", id=made["id"], receivedDate="2026-11-21")
    assert [(error.path, error.code) for error in problem.errors] == [("receivedDate", "out_of_range")]


@pytest.mark.parametrize("operation", ["obligations.fulfil", "obligations.dismiss", "obligations.reopen"])
def test_another_version_is_refused(desk: Desk, operation: str) -> None:
    made = make(desk)
    values: Json = {} if operation == "obligations.fulfil" else {"reason": "So"}
    assert desk.refused(operation, id=made["id"], expectedVersion=7, **values).code == "version_conflict"


# -- taken back, and not required


@pytest.mark.parametrize("move", ["obligations.fulfil", "obligations.dismiss"])
def test_one_is_open_again(desk: Desk, move: str) -> None:
    desk.create()
    id_ = first(desk)["id"]
    desk.do(move, id=id_, **({"reason": "Exempt"} if move == "obligations.dismiss" else {}))
    again = desk.do("obligations.reopen", id=id_, reason="It bounced")
    assert (again["status"], again["receivedDate"], again["fulfilledAt"]) == ("overdue", None, None)
    events = desk.ask("obligations.get", f"id={id_}")["events"]
    assert (events[-1]["type"], events[-1]["detail"]) == ("reopened", "It bounced")


def test_what_is_open_is_not_opened(desk: Desk) -> None:
    assert desk.refused("obligations.reopen", id=make(desk)["id"]).code == "invalid_state"


def test_what_does_not_apply_is_not_opened(desk: Desk) -> None:
    company = desk.vat_company()
    gone = desk.one("kind=vat_return")
    desk.change_entity(company, vat={"status": "not_registered"})
    assert desk.refused("obligations.reopen", id=gone["id"]).code == "invalid_state"


def test_what_a_person_dismissed_stays_so_through_every_refresh(desk: Desk) -> None:
    desk.create()
    id_ = first(desk)["id"]
    desk.do("obligations.dismiss", id=id_, reason="The income is below the threshold")
    desk.refresh()
    assert desk.ask("obligations.get", f"id={id_}")["status"] == "not_required"
    assert desk.refused("obligations.dismiss", id=id_, reason="Again").code == "invalid_state"


def test_the_updates_of_a_whole_year_are_dismissed_at_once(desk: Desk) -> None:
    """Of a source and year; what was met stays, and so does what the authority confirmed."""
    trade, other = desk.create(), desk.create(name="Thatching")
    met, second, third, *_ = desk.obligations(f"businessId={trade['id']}")
    desk.do("obligations.fulfil", id=met["id"])
    said = Confirmed("itsa_quarterly_update", trade["id"], "2026-04-06", "2027-01-05", third["dueDate"], False)
    desk.confirm(desk.person, said)
    desk.do("obligations.dismiss", id=second["id"], reason="The income is below the threshold", wholeYear=True)
    left = [(end, status) for end, _, status in desk.due(f"businessId={trade['id']}&dueDateTo=2027-06-01")]
    assert left == [("2026-07-05", "fulfilled"), ("2027-01-05", "open")]
    assert len(desk.obligations(f"businessId={trade['id']}&dueDateFrom=2027-06-01")) == 4
    assert len(desk.obligations(f"businessId={other['id']}")) == 8


# -- entered


def test_one_of_ones_own(desk: Desk) -> None:
    made = make(desk, amountDue="240.00", externalId="insurance-27")
    assert made["kind"] == "custom"
    assert (made["name"], made["dueDate"], made["amountDue"]) == ("Insurance renewal", "2027-03-01", "240.00")
    assert (made["periodStartDate"], made["periodEndDate"], made["predictedDueDate"]) == (
        "2027-03-01",
        "2027-03-01",
        None,
    )
    assert (made["status"], made["daysUntilDue"], made["source"]) == ("open", 101, "local")
    desk.refresh()
    assert desk.obligations("externalId=insurance-27") == [made]
    assert make(desk)["id"] != made["id"]  # two alike are two


def test_an_external_id_is_taken_once(desk: Desk) -> None:
    made = make(desk, externalId="a")
    problem = desk.refused("obligations.create", legalEntityId=desk.person, externalId="a", **OWN)
    assert (problem.code, problem.extra["existingId"]) == ("already_exists", made["id"])


def test_payments_on_account_are_entered_by_who_makes_them(desk: Desk) -> None:
    desk.create()
    payment: Json = {"kind": "payment_on_account", "name": None, "periodEndDate": "2027-04-05"}
    made = make(desk, **payment, dueDate="2027-01-31", amountDue="1500.00")
    assert (made["periodStartDate"], made["predictedDueDate"]) == ("2026-04-06", "2027-01-31")
    assert desk.ask("periods.get", f"id={made['periodId']}")["label"] == "2026-27"
    make(desk, **payment, dueDate="2027-07-31")
    problem = desk.refused("obligations.create", legalEntityId=desk.person, **payment, dueDate="2027-01-31")
    assert (problem.code, problem.extra["existingId"]) == ("already_exists", made["id"])


@pytest.mark.parametrize(
    ("values", "fault"),
    [
        ({"name": None}, ("name", "required")),
        ({"legalEntityId": "ent_x"}, ("legalEntityId", "unknown_reference")),
        ({"businessId": "biz_x"}, ("businessId", "unknown_reference")),
        ({"periodStartDate": "2027-04-01", "periodEndDate": "2027-03-01"}, ("periodEndDate", "date_order")),
        ({"amountDue": "1.005"}, ("amountDue", "invalid_decimal")),
        ({"kind": "payment_on_account", "dueDate": "2027-01-31"}, ("periodEndDate", "conflict")),
        (
            {"kind": "payment_on_account", "periodEndDate": "2027-04-05", "dueDate": "2027-01-30"},
            ("dueDate", "conflict"),
        ),
    ],
)
def test_what_is_wrong_is_named(desk: Desk, values: dict[str, Any], fault: tuple[str, str]) -> None:
    problem = desk.refused("obligations.create", **{"legalEntityId": desk.person, **OWN, **values})
    assert (problem.code, [(error.path, error.code) for error in problem.errors]) == ("validation_failed", [fault])


def test_nothing_is_entered_for_an_archived_entity(desk: Desk) -> None:
    desk.do("legalEntity.archive", id=desk.person)
    problem = desk.refused("obligations.create", legalEntityId=desk.person, **OWN)
    assert [(error.path, error.code) for error in problem.errors] == [("legalEntityId", "conflict")]
