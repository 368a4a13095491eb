"""What bank lines that nobody allocated are in the way of (domain model B2 and B9)."""

from tests.areas.businesses.trades import LETS
from tests.areas.periods.bank import account, line, name_account
from tests.areas.periods.desk import Desk, Json


def left(desk: Desk, period: Json) -> tuple[bool, int, str | None]:
    checklist = desk.ask("periods.get", f"id={period['id']}")["checklist"]
    (check,) = [check for check in checklist if check["code"] == "bank_lines_allocated"]
    return check["done"], check["count"], check["detail"]


def test_lines_within_the_period_are_in_the_way(desk: Desk) -> None:
    company = desk.vat_company()
    current = account(desk, company)
    first, *_ = desk.periods("type=vat_period")
    assert (first["startDate"], first["endDate"]) == ("2025-04-01", "2025-06-30")
    line(desk, current, "2025-03-31", 1000)
    line(desk, current, "2025-07-01", 1000)
    line(desk, current, "2025-05-01", 1000, 1000)
    line(desk, current, "2025-05-01", 1000, status="pending")
    assert left(desk, first) == (True, 0, None)
    found = line(desk, current, "2025-04-01", -1000, -400)
    line(desk, current, "2025-06-30", 1000)
    assert left(desk, first) == (False, 2, found)
    problem = desk.refused("periods.close", id=first["id"])
    assert [check["code"] for check in problem.extra["checklist"]] == ["bank_lines_allocated"]
    assert desk.do("periods.close", id=first["id"], force=True, reason="Paid back")["status"] == "closed"


def test_lines_of_others_are_not(desk: Desk) -> None:
    """Of another entity, another organization, and of a person's own account."""
    company, stranger = desk.vat_company(), Desk(desk.store)
    first, *_ = desk.periods("type=vat_period")
    line(desk, account(desk, desk.person), "2025-05-01", 1000)
    line(desk, account(desk, company, usage="personal"), "2025-05-01", 1000)
    line(stranger, account(stranger, company), "2025-05-01", 1000)
    assert left(desk, first) == (True, 0, None)


def test_a_quarter_looks_at_the_accounts_of_its_business(desk: Desk) -> None:
    trade, lets = desk.create(), desk.create(**LETS)
    quarter, other = (desk.periods(f"businessId={one['id']}&taxYear=2026-27")[0] for one in (trade, lets))
    found = line(desk, account(desk, desk.person, f'["{trade["id"]}"]'), "2026-05-01", 1000)
    assert left(desk, quarter) == (False, 1, found)
    assert left(desk, other) == (True, 0, None)
    shared = line(desk, account(desk, desk.person), "2026-05-01", 1000)
    assert left(desk, quarter)[1] == 2
    assert left(desk, other) == (False, 1, shared)


def test_an_account_that_a_business_names_is_its_own(desk: Desk) -> None:
    """Of that one, and of its entity as a whole, whosever it is said to be; nobody else's line is in its way."""
    trade, other = desk.create(), desk.create()
    quarter, others = (desk.periods(f"businessId={one['id']}&taxYear=2026-27")[0] for one in (trade, other))
    (year,) = desk.periods("type=tax_year&taxYear=2026-27")
    current = account(desk, desk.person)
    found = line(desk, current, "2026-05-01", 1000)
    assert left(desk, others) == (False, 1, found)
    name_account(desk, trade, current)
    assert left(desk, quarter) == (False, 1, found)
    assert left(desk, others) == (True, 0, None)
    assert left(desk, year) == (False, 1, found)
    assert desk.move(other["id"], "dormant")["status"] == "dormant"
    assert desk.refused("businesses.setStatus", id=trade["id"], status="dormant").code == "invalid_state"


def test_a_personal_account_that_a_business_names_counts(desk: Desk) -> None:
    trade = desk.create()
    (year,) = desk.periods("type=tax_year&taxYear=2026-27")
    quarter = desk.periods(f"businessId={trade['id']}&taxYear=2026-27")[0]
    private = account(desk, desk.person, usage="personal")
    found = line(desk, private, "2026-05-01", 1000)
    assert left(desk, year) == left(desk, quarter) == (True, 0, None)
    name_account(desk, trade, private)
    assert left(desk, year) == left(desk, quarter) == (False, 1, found)


def test_income_that_is_not_allocated_refuses_dormancy(desk: Desk) -> None:
    trade = desk.create()
    current = account(desk, desk.person)
    line(desk, current, "2026-04-05", 1000)  # of the tax year before
    line(desk, current, "2026-05-01", -1000)
    assert desk.move(trade["id"], "dormant")["status"] == "dormant"
    desk.move(trade["id"], "active")
    found = line(desk, current, "2026-05-01", 1000)
    problem = desk.refused("businesses.setStatus", id=trade["id"], status="dormant")
    assert (problem.code, problem.extra["currentState"]) == ("invalid_state", "active")
    assert found in problem.message
    assert desk.move(trade["id"], "ceased", "2026-10-31")["status"] == "ceased"
