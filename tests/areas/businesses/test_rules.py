"""setStatus: the table of domain model B2, move by move."""

from collections.abc import Callable

import pytest

from gatewayd.areas.businesses import rules
from tests.areas.businesses.trades import LETS, Firm, Json, refusal
from tests.areas.legal_entities.entities import refuses

LAST_DAY = "2026-11-01"


def pending(firm: Firm) -> Json:
    return firm.create(commencementDate="2026-11-21")


def active(firm: Firm) -> Json:
    return firm.create(commencementDate="2026-11-20")


def dormant(firm: Firm) -> Json:
    return firm.move(firm.create()["id"], "dormant")


def ceased(firm: Firm) -> Json:
    return firm.move(firm.create()["id"], "ceased", LAST_DAY)


MAKERS: dict[str, Callable[[Firm], Json]] = {
    "pending": pending,
    "active": active,
    "dormant": dormant,
    "ceased": ceased,
}
each_state = pytest.mark.parametrize("start", MAKERS)


@each_state
@pytest.mark.parametrize("goal", MAKERS)
def test_each_move_is_in_the_table_or_refused(firm: Firm, start: str, goal: str) -> None:
    made = MAKERS[start](firm)
    assert made["status"] == start
    date = "2026-11-20" if goal == "ceased" else None
    allowed = {"pending": [], "active": ["dormant", "ceased"], "dormant": ["active", "ceased"], "ceased": ["active"]}
    if goal in allowed[start]:
        moved = firm.move(made["id"], goal, date)
        assert (moved["status"], moved["cessationDate"], moved["version"]) == (goal, date, made["version"] + 1)
        assert firm.get(made["id"]) == moved
    else:
        problem = refuses(firm.move, made["id"], goal, date)
        assert problem.code == "invalid_state"
        assert problem.extra == {"currentState": start, "allowedStates": allowed[start]}
        assert firm.get(made["id"]) == made


def test_archived_is_no_state_to_set(firm: Firm) -> None:
    assert refusal(refuses(firm.move, firm.create()["id"], "archived"))[1] == [("status", "invalid_enum")]


@each_state
def test_an_archived_business_comes_back_as_it_was(firm: Firm, start: str) -> None:
    made = MAKERS[start](firm)
    firm.archive(made["id"], reason="By mistake")
    for other in MAKERS.keys() - {start}:
        problem = refuses(firm.move, made["id"], other)
        assert problem.extra == {"currentState": "archived", "allowedStates": [start]}
    back = firm.move(made["id"], start)
    assert back == {**made, "version": made["version"] + 2}


def test_what_was_pending_comes_back_active_once_it_has_begun(firm: Firm) -> None:
    made = pending(firm)
    firm.archive(made["id"])
    firm.later(1)
    assert refuses(firm.move, made["id"], "pending").extra["allowedStates"] == ["active"]
    assert firm.move(made["id"], "active")["status"] == "active"


def test_an_archived_business_that_ceased_keeps_its_last_day(firm: Firm) -> None:
    made = ceased(firm)
    firm.archive(made["id"])
    firm.on("2030-01-01")  # no matter how long ago
    assert refusal(refuses(firm.move, made["id"], "ceased", "2026-11-02"))[1] == [("effectiveDate", "conflict")]
    assert firm.move(made["id"], "ceased", LAST_DAY)["cessationDate"] == LAST_DAY


def test_a_pending_business_is_active_on_its_day_in_london_without_a_write(firm: Firm) -> None:
    firm.on("2027-05-31")
    made = firm.create(commencementDate="2027-06-02")
    firm.store.clock.advance(11 * 3_600_000_000)  # 23:00Z on 31 May is 00:00 on 1 June in London
    assert firm.get(made["id"])["status"] == "pending"
    firm.later(1)  # and 2 June a day later
    now_active = firm.get(made["id"])
    assert now_active == {**made, "status": "active"}
    assert firm.page("status=active")["data"] == [now_active]
    assert firm.move(made["id"], "dormant")["status"] == "dormant"


def test_a_date_that_is_moved_makes_pending_of_active_and_back(firm: Firm) -> None:
    made = active(firm)
    assert firm.update(made["id"], commencementDate="2026-12-01")["status"] == "pending"
    assert firm.update(made["id"], commencementDate=None)["status"] == "active"


# -- to cease


def test_a_last_day_is_needed_and_in_its_place(firm: Firm) -> None:
    made = firm.create(commencementDate="2026-11-10")
    for date, code in ((None, "required"), ("2026-11-09", "date_order"), ("2026-11-21", "out_of_range")):
        assert refusal(refuses(firm.move, made["id"], "ceased", date)) == (
            "validation_failed",
            [("effectiveDate", code)],
        )
    assert firm.get(made["id"]) == made
    assert firm.move(made["id"], "ceased", "2026-11-10")["cessationDate"] == "2026-11-10"


def test_a_last_day_is_for_a_cessation_alone(firm: Firm) -> None:
    made = firm.create()
    assert refusal(refuses(firm.move, made["id"], "dormant", LAST_DAY))[1] == [("effectiveDate", "conflict")]


def test_the_last_day_can_be_corrected(firm: Firm) -> None:
    made = firm.move(firm.create(commencementDate="2026-05-01")["id"], "ceased", LAST_DAY)
    assert firm.update(made["id"], cessationDate="2026-10-31")["cessationDate"] == "2026-10-31"
    for date, fault in (
        (None, ("cessationDate", "required")),
        ("2026-04-30", ("cessationDate", "date_order")),
        ("2026-11-21", ("cessationDate", "out_of_range")),
    ):
        assert refusal(refuses(firm.update, made["id"], cessationDate=date))[1] == [fault]
    assert refusal(refuses(firm.update, made["id"], commencementDate="2026-11-02"))[1] == [
        ("commencementDate", "date_order")
    ]
    assert refusal(refuses(firm.update, made["id"], commencementDate="2026-12-02"))[1] == [
        ("commencementDate", "out_of_range"),
        ("commencementDate", "date_order"),
    ]
    running = firm.create()
    assert refusal(refuses(firm.update, running["id"], cessationDate=LAST_DAY))[1] == [("cessationDate", "conflict")]


def test_what_is_dormant_has_begun(firm: Firm) -> None:
    made = dormant(firm)
    problem = refuses(firm.update, made["id"], commencementDate="2026-11-21")
    assert refusal(problem)[1] == [("commencementDate", "out_of_range")]
    assert firm.update(made["id"], commencementDate="2026-11-20")["status"] == "dormant"


# -- to begin again


@pytest.mark.parametrize(
    ("last_day", "today", "comes_back"),
    [
        ("2026-11-01", "2027-04-05", True),
        ("2026-11-01", "2027-04-06", False),
        ("2026-04-06", "2027-04-05", True),
        ("2026-04-05", "2026-11-20", False),
    ],
)
def test_a_business_comes_back_within_the_tax_year(firm: Firm, last_day: str, today: str, comes_back: bool) -> None:
    made = firm.move(firm.create()["id"], "ceased", last_day)
    firm.on(today)
    if comes_back:
        back = firm.move(made["id"], "active")
        assert (back["status"], back["cessationDate"]) == ("active", None)
    else:
        problem = refuses(firm.move, made["id"], "active")
        assert (problem.code, problem.extra) == ("invalid_state", {"currentState": "ceased", "allowedStates": []})


@pytest.mark.parametrize("back", ["from the archive", "from having ceased"])
def test_a_second_uk_property_business_does_not_come_back(firm: Firm, back: str) -> None:
    first = firm.create(**LETS)["id"]
    firm.archive(first) if back == "from the archive" else firm.move(first, "ceased", LAST_DAY)
    second = firm.create(**LETS)["id"]
    problem = refuses(firm.move, first, "active")
    assert (problem.code, problem.extra) == ("already_exists", {"existingId": second, "field": "type"})
    firm.archive(second)
    assert firm.move(first, "active")["status"] == "active"


def test_the_table_names_states_alone() -> None:
    assert all(set(goals) < rules.MOVES.keys() for goals in rules.MOVES.values())
