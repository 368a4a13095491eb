"""Bank statements that are missing or do not add up are in the way of closing (domain model B9)."""

import pytest

from gatewayd.areas.banking.statements.coverage import GetCoverage, get_coverage
from gatewayd.contract.scopes import ALL_SCOPES as FULL_ACCESS
from gatewayd.ledger.imports import bank_statements
from tests.areas.businesses.trades import LETS
from tests.areas.periods.bank import NOT_KEPT, account, line, statement
from tests.areas.periods.desk import Desk, Json
from tests.support.store import make_caller

GAP = '{"fromDate":"2025-04-03","toDate":"2025-06-29","gaps":[{"fromDate":"2025-05-01","toDate":"2025-05-10"}]}'


def check(desk: Desk, period: Json, code: str) -> tuple[bool, int, str | None]:
    checklist = desk.ask("periods.get", f"id={period['id']}")["checklist"]
    (found,) = [check for check in checklist if check["code"] == code]
    return found["done"], found["count"], found["detail"]


def quarter(desk: Desk) -> Json:
    """April to June 2025."""
    first, *_ = desk.periods("type=vat_period")
    assert (first["startDate"], first["endDate"]) == ("2025-04-01", "2025-06-30")
    return first


def test_days_without_a_statement_are_in_the_way(desk: Desk) -> None:
    """1 and 2 April, 1 to 10 May, and 30 June."""
    company = desk.vat_company()
    first = quarter(desk)
    assert check(desk, first, "missing_statements") == (True, 0, None)
    kept, gaps = account(desk, company), account(desk, company, coverage=GAP)
    assert kept < gaps
    assert check(desk, first, "missing_statements") == (False, 13, f"{gaps} 2025-04-01")
    problem = desk.refused("periods.close", id=first["id"])
    assert [one["code"] for one in problem.extra["checklist"]] == ["missing_statements"]
    assert desk.do("periods.close", id=first["id"], force=True, reason="The bank lost them")["status"] == "closed"


def test_an_account_without_statements_misses_every_day(desk: Desk) -> None:
    current = account(desk, desk.vat_company(), coverage=NOT_KEPT)
    assert check(desk, quarter(desk), "missing_statements") == (False, 91, f"{current} 2025-04-01")


def test_days_to_come_are_not_missing(desk: Desk) -> None:
    """Today is 20 November 2026: the quarter has 51 days up to it, and the next one none."""
    current = account(desk, desk.vat_company(), coverage=NOT_KEPT)
    present, coming, *_ = [one for one in desk.periods("type=vat_period") if one["endDate"] >= "2026-12-31"]
    assert check(desk, present, "missing_statements") == (False, 51, f"{current} 2026-10-01")
    assert check(desk, coming, "missing_statements") == (True, 0, None)


def test_an_account_that_is_closed_has_no_more_statements(desk: Desk) -> None:
    company = desk.vat_company()
    account(desk, company, coverage=NOT_KEPT, status="closed")
    ended = account(desk, company, coverage=GAP, status="closed")
    assert check(desk, quarter(desk), "missing_statements") == (False, 12, f"{ended} 2025-04-01")


def test_statements_of_others_are_not_missing(desk: Desk) -> None:
    company, stranger = desk.vat_company(), Desk(desk.store)
    account(desk, desk.person, coverage=NOT_KEPT)
    account(desk, company, coverage=NOT_KEPT, usage="personal")
    account(stranger, company, coverage=NOT_KEPT)
    assert check(desk, quarter(desk), "missing_statements") == (True, 0, None)


def test_a_quarter_looks_at_the_statements_of_its_business(desk: Desk) -> None:
    trade, lets = desk.create(), desk.create(**LETS)
    own, other = (desk.periods(f"businessId={one['id']}&taxYear=2025-26")[0] for one in (trade, lets))
    current = account(desk, desk.person, f'["{trade["id"]}"]', coverage=NOT_KEPT)
    statement(desk, current, (own["startDate"], own["endDate"]), (0, 100))
    assert check(desk, own, "missing_statements")[2] == f"{current} {own['startDate']}"
    assert check(desk, own, "statement_balance") == (False, 1, current)
    assert check(desk, other, "missing_statements") == (True, 0, None)
    assert check(desk, other, "statement_balance") == (True, 0, None)


def test_lines_have_to_come_to_the_closing_balance(desk: Desk) -> None:
    """100.00 and 25.00 in, 5.00 out, is 120.00; what comes after the statement is not asked about."""
    current, first = account(desk, desk.vat_company()), quarter(desk)
    statement(desk, current, ("2025-03-01", "2025-03-31"), (100_00, 125_00))
    statement(desk, current, ("2025-04-01", "2025-06-30"), (125_00, 120_00))
    line(desk, current, "2025-03-10", 25_00, 25_00)
    line(desk, current, "2025-07-01", 9_00, 9_00)
    assert check(desk, first, "statement_balance") == (False, 1, current)
    problem = desk.refused("periods.close", id=first["id"])
    assert [one["code"] for one in problem.extra["checklist"]] == ["statement_balance"]
    line(desk, current, "2025-06-30", -5_00, -5_00)
    assert check(desk, first, "statement_balance") == (True, 0, None)
    line(desk, current, "2025-06-30", -5_00, status="pending")
    assert desk.do("periods.close", id=first["id"])["status"] == "closed"


@pytest.mark.parametrize(
    ("days", "count"),
    [
        (("2025-03-01", "2025-03-31"), 0),
        (("2025-03-15", "2025-04-01"), 1),
        (("2025-06-30", "2025-07-15"), 1),
        (("2025-07-01", "2025-07-31"), 0),
    ],
)
def test_a_statement_with_days_inside_has_to_add_up(desk: Desk, days: tuple[str, str], count: int) -> None:
    """Its lines are here as it says; what it says is wrong."""
    current, first = account(desk, desk.vat_company()), quarter(desk)
    line(desk, current, days[0], 50_00, 50_00)
    statement(desk, current, days, (0, 50_00), balanced=0)
    assert check(desk, first, "statement_balance") == (count == 0, count, current if count else None)


def test_a_statement_that_was_undone_does_not_count(desk: Desk) -> None:
    current, first = account(desk, desk.vat_company()), quarter(desk)
    statement(desk, current, ("2025-04-01", "2025-06-30"), (0, 50_00), balanced=0, applied=0)
    assert check(desk, first, "statement_balance") == (True, 0, None)


def test_lines_are_added_up_from_an_index_alone(desk: Desk) -> None:
    values = {"org_id": "a", "account_id": "a", "first": "2026-01-01", "last": "2026-12-31"}
    plan = desk.store.connection.execute(f"EXPLAIN QUERY PLAN {bank_statements._SUM}", values).fetchall()
    assert plan[0][3].startswith("SEARCH bank_transactions USING COVERING INDEX bank_transactions_by_date")


def unsafe(desk: Desk, account_id: str, scopes: frozenset[str] = FULL_ACCESS) -> list[tuple[str, int, str]] | None:
    """The labels of the periods that an account makes unsafe to close, with its days missing."""
    caller, request = make_caller(desk.org_id, scopes=scopes), GetCoverage(account_id=account_id)
    found = desk.store.read(lambda tx: get_coverage(tx, caller, request), desk.org_id).unsafe_periods
    return None if found is None else [(one.label, one.missing_days, str(one.first_missing)) for one in found]


def test_the_map_of_statements_names_the_periods_that_are_unsafe(desk: Desk) -> None:
    """Those whose checklist counts days as missing, 1 to 10 May 2025: month, quarter and year, while they are open."""
    company = desk.vat_company()
    lost = '{"fromDate":"2020-01-01","toDate":"2029-12-31","gaps":[{"fromDate":"2025-05-01","toDate":"2025-05-10"}]}'
    current = account(desk, company, coverage=lost)
    month, year = ("2025-05", 10, "2025-05-01"), ("Year to 2026-03-31", 10, "2025-05-01")
    assert unsafe(desk, current) == [month, ("VAT 06/25", 10, "2025-05-01"), year]
    assert unsafe(desk, current, frozenset({"banking:read"})) is None
    assert unsafe(desk, account(desk, company)) == []
    desk.do("periods.close", id=quarter(desk)["id"], force=True, reason="The bank lost them")
    assert unsafe(desk, current) == [month, year]


def test_an_account_makes_periods_of_its_businesses_unsafe(desk: Desk) -> None:
    """Up to today, 20 November 2026; and no quarter of another business."""
    _, lets = desk.create(), desk.create(**LETS)
    current = account(desk, desk.person, f'["{lets["id"]}"]', coverage=NOT_KEPT)
    request = GetCoverage(account_id=current)
    found = desk.store.read(lambda tx: get_coverage(tx, make_caller(desk.org_id), request), desk.org_id).unsafe_periods
    assert found is not None
    assert {one.business_id for one in found} == {None, lets["id"]}
    assert {one.legal_entity_id for one in found} == {desk.person}
    (third,) = [one for one in found if one.label == "2026-27 Q3"]
    assert (str(third.first_missing), third.missing_days) == ("2026-04-06", 229)
    assert not [one for one in found if str(one.from_date) > "2026-11-20"]
