"""Closing and reopening of periods, and what that locks (domain model B9)."""

from typing import Any

import pytest

from gatewayd.areas.accounting import AREA as ACCOUNTING
from gatewayd.areas.accounting.invoices import moves
from gatewayd.errors import Problem
from gatewayd.ledger.calendar import period_locks
from gatewayd.ledger.obligations.confirmations import Confirmed
from tests.areas.businesses.trades import LETS
from tests.areas.periods.desk import Desk, Json

_ROWS = {row.id: row for row in ACCOUNTING.operations}


OTHER_MONTHS = {"status": "registered", "effectiveDate": "2024-05-01", "scheme": "standard", "staggerGroup": 2}


def periods(desk: Desk, query: str = "type=vat_period") -> list[Json]:
    return desk.periods(query)


def close(desk: Desk, period: Json, **values: object) -> Json:
    return desk.do("periods.close", id=period["id"], **values)


def close_all(desk: Desk, until: str, query: str = "type=vat_period") -> Json:
    """Close what ends by a day; answers the last."""
    found = [close(desk, period) for period in periods(desk, query) if period["endDate"] <= until]
    return found[-1]


def is_closed(desk: Desk, entity: str, date: str, business_id: str | None = None) -> bool:
    return desk.store.read(lambda tx: period_locks.is_closed(tx, entity, date, business_id), desk.org_id)


def invoice(desk: Desk, entity: str, date: str, **values: object) -> Json:
    body: dict[str, Any] = {
        "clientId": desk.run_row(_ROWS["accounting.createClient"], {"name": f"Client {next(desk.numbers)}"})["id"],
        "legalEntityId": entity,
        "issueDate": date,
        "lines": [{"description": "Work", "unitPrice": "100.00", "vatCode": "outside_scope"}],
        **values,
    }
    return desk.run_row(_ROWS["accounting.createInvoice"], body)


def pay(desk: Desk, invoice_id: str, date: str) -> Json:
    body = {"invoiceId": invoice_id, "amount": "10.00", "date": date}
    return desk.run_row(_ROWS["accounting.recordPayment"], body)


def codes(checklist: list[Json]) -> dict[str, bool]:
    return {check["code"]: check["done"] for check in checklist}


def test_a_period_is_closed_and_locked(desk: Desk) -> None:
    company = desk.vat_company()
    period = close_all(desk, "2025-06-30")
    assert (period["status"], period["lockedThroughDate"]) == ("closed", "2025-06-30")
    assert (period["closedAt"], period["closedBy"]) == ("2026-11-20T09:30:00.000Z", "usr_00000000000000000000000000")
    assert period["forcedReason"] is None
    assert is_closed(desk, company, "2025-06-30")
    assert not is_closed(desk, company, "2025-07-01")


def test_earlier_periods_are_closed_first(desk: Desk) -> None:
    desk.vat_company()
    first, second, *_ = periods(desk)
    problem = desk.refused("periods.close", id=second["id"])
    assert (problem.code, problem.extra["currentState"]) == ("invalid_state", "open")
    assert problem.extra["checklist"] == [
        {"code": "earlier_periods_closed", "done": False, "count": 1, "detail": first["id"], "name": first["label"]}
    ]
    assert not is_closed(desk, second["legalEntityId"], second["endDate"])
    close(desk, first)
    close(desk, second)


def test_a_period_that_is_not_over_is_not_closed(desk: Desk) -> None:
    desk.vat_company()
    close_all(desk, "2026-09-30")
    present = next(period for period in periods(desk) if period["endDate"] == "2026-12-31")
    problem = desk.refused("periods.close", id=present["id"])
    assert codes(problem.extra["checklist"]) == {"period_ended": False}


def test_a_draft_inside_is_in_the_way(desk: Desk) -> None:
    company = desk.vat_company()
    draft = invoice(desk, company, "2025-05-10")
    first, *_ = periods(desk)
    problem = desk.refused("periods.close", id=first["id"])
    assert problem.extra["checklist"] == [
        {"code": "no_draft_invoices", "done": False, "count": 1, "detail": draft["id"], "name": "Client 1"}
    ]
    desk.store.write(lambda tx: moves.delete_draft(tx, draft["id"]), desk.org_id)
    assert close(desk, first)["status"] == "closed"


def test_a_draft_that_names_no_business_is_of_the_only_one(desk: Desk) -> None:
    """And of none on the days on which there are several."""
    trade = desk.create(commencementDate="2024-05-01")
    desk.create(**LETS, commencementDate="2026-07-01")
    inside = invoice(desk, desk.person, "2026-06-30")
    invoice(desk, desk.person, "2026-07-01")
    quarter = periods(desk, f"businessId={trade['id']}&type=itsa_quarter&fromDate=2026-06-30&toDate=2026-06-30")[0]
    checklist = desk.ask("periods.get", f"id={quarter['id']}")["checklist"]
    found = next(check for check in checklist if check["code"] == "no_draft_invoices")
    assert (found["done"], found["count"], found["detail"], found["name"]) == (False, 1, inside["id"], "Client 1")


def test_the_checklist_is_shown(desk: Desk) -> None:
    desk.vat_company()
    first, *_ = periods(desk)
    checklist = desk.ask("periods.get", f"id={first['id']}")["checklist"]
    assert codes(checklist)["period_ended"]
    assert codes(checklist)["earlier_periods_closed"]
    assert codes(checklist)["no_draft_invoices"]


def test_it_is_closed_by_force_with_a_reason(desk: Desk) -> None:
    company = desk.vat_company()
    _, second, *_ = periods(desk)
    problem = desk.refused("periods.close", id=second["id"], force=True)
    assert [(error.path, error.code) for error in problem.errors] == [("reason", "required")]
    done = close(desk, second, force=True, reason="Kept elsewhere until now")
    assert (done["status"], done["forcedReason"]) == ("closed", "Kept elsewhere until now")
    assert is_closed(desk, company, second["endDate"])


def test_closing_is_begun_for_others_to_see(desk: Desk) -> None:
    company = desk.vat_company()
    first, *_ = periods(desk)
    begun = close(desk, first, begin=True)
    assert (begun["status"], begun["closedAt"]) == ("closing", None)
    assert not is_closed(desk, company, first["endDate"])
    assert desk.refused("periods.close", id=first["id"], begin=True).code == "invalid_state"
    assert [period["id"] for period in periods(desk, "status=closing")] == [first["id"]]
    assert close(desk, first)["status"] == "closed"


def test_closing_is_left_off(desk: Desk) -> None:
    desk.vat_company()
    first, *_ = periods(desk)
    close(desk, first, begin=True)
    again = desk.do("periods.reopen", id=first["id"], reason="Not yet")
    assert (again["status"], again["reopenedCount"]) == ("open", 0)


def test_a_closed_period_is_not_closed_again(desk: Desk) -> None:
    desk.vat_company()
    period = close_all(desk, "2025-06-30")
    problem = desk.refused("periods.close", id=period["id"], force=True, reason="Again")
    assert (problem.code, problem.extra) == (
        "invalid_state",
        {"currentState": "closed", "allowedStates": ["open", "closing"]},
    )


@pytest.mark.parametrize("operation", ["periods.close", "periods.reopen"])
def test_another_version_is_refused(desk: Desk, operation: str) -> None:
    desk.vat_company()
    first, *_ = periods(desk)
    values = {"reason": "So"} if operation == "periods.reopen" else {}
    assert desk.refused(operation, id=first["id"], expectedVersion=7, **values).code == "version_conflict"


def test_what_applies_no_more_is_not_closed(desk: Desk) -> None:
    company = desk.vat_company()
    first, *_ = periods(desk)
    desk.change_entity(company, vat={"status": "not_registered"})
    assert desk.refused("periods.close", id=first["id"]).code == "invalid_state"


def test_a_closed_period_stays_through_every_change(desk: Desk) -> None:
    company = desk.vat_company()
    done = close_all(desk, "2025-06-30")
    desk.change_entity(company, vat=OTHER_MONTHS)
    assert done in periods(desk)
    others = [one["endDate"] for one in periods(desk) if one["status"] == "open"]
    assert others[:3] == ["2025-04-30", "2025-07-31", "2025-10-31"]


def test_the_days_of_a_closed_period_stay_and_those_of_an_open_one_follow(desk: Desk) -> None:
    """Or a reopening would not find its lock."""
    trade = desk.create()
    query = f"businessId={trade['id']}&type=itsa_quarter"
    closed = close_all(desk, "2026-07-05", query)
    desk.update(trade["id"], commencementDate="2026-05-01")
    first, second, *_ = periods(desk, f"{query}&taxYear=2026-27")
    assert (first["id"], first["startDate"], second["startDate"]) == (closed["id"], "2026-04-06", "2026-05-01")
    again = desk.do("periods.reopen", id=first["id"], reason="So")
    assert (again["status"], again["startDate"]) == ("open", "2026-05-01")
    assert not is_closed(desk, desk.person, "2026-05-10", trade["id"])


def test_a_period_that_applies_no_more_goes_when_it_is_reopened(desk: Desk) -> None:
    company = desk.vat_company()
    done = close_all(desk, "2025-06-30")
    desk.change_entity(company, vat=OTHER_MONTHS)
    again = desk.do("periods.reopen", id=done["id"], reason="So")
    assert (again["status"], again["archivedAt"]) == ("open", "2026-11-20T09:30:00.000Z")
    assert not is_closed(desk, company, "2025-06-30")


def test_another_organizations_period_is_not_there(desk: Desk) -> None:
    desk.vat_company()
    stranger = Desk(desk.store)
    first, *_ = periods(desk)
    assert stranger.periods() == []
    assert stranger.refused("periods.close", id=first["id"]).code == "not_found"
    assert stranger.refused("periods.reopen", id=first["id"], reason="Mine").code == "not_found"
    with pytest.raises(Problem):
        stranger.ask("periods.get", f"id={first['id']}")


# -- reopened


def test_an_administrator_reopens_it(desk: Desk) -> None:
    company = desk.vat_company()
    period = close_all(desk, "2025-09-30")
    desk.role = "member"
    assert desk.refused("periods.reopen", id=period["id"], reason="An invoice was forgotten").code == "forbidden"
    desk.role = "admin"
    again = desk.do("periods.reopen", id=period["id"], reason="An invoice was forgotten")
    assert (again["status"], again["reopenedCount"], again["reopenedReason"]) == ("open", 1, "An invoice was forgotten")
    assert (again["closedAt"], again["closedBy"], again["lockedThroughDate"]) == (None, None, None)
    assert not is_closed(desk, company, "2025-09-30")
    assert is_closed(desk, company, "2025-06-30")
    assert close(desk, again)["reopenedCount"] == 1


def test_the_last_that_was_closed_is_the_first_to_be_reopened(desk: Desk) -> None:
    desk.vat_company()
    close_all(desk, "2025-09-30")
    first, second, *_ = periods(desk, "type=vat_period&status=closed")[-2:]
    problem = desk.refused("periods.reopen", id=first["id"], reason="So")
    assert problem.code == "invalid_state"
    assert second["id"] in problem.message


def test_what_the_authority_has_a_return_for_stays_closed(desk: Desk) -> None:
    company = desk.vat_company()
    period = close_all(desk, "2025-06-30")
    said = Confirmed("vat_return", None, period["startDate"], period["endDate"], "2025-08-07", True, "2025-08-01")
    desk.confirm(company, said)
    problem = desk.refused("periods.reopen", id=period["id"], reason="So")
    assert (problem.code, problem.extra) == ("invalid_state", {"currentState": "closed", "allowedStates": []})
    assert is_closed(desk, company, period["endDate"])


def test_an_open_period_is_not_reopened(desk: Desk) -> None:
    desk.vat_company()
    first, *_ = periods(desk)
    assert desk.refused("periods.reopen", id=first["id"], reason="So").code == "invalid_state"


def test_two_periods_of_the_same_days_share_a_lock(desk: Desk) -> None:
    """A financial year, and the VAT year of annual accounting."""
    company = desk.vat_company(scheme="annual", staggerGroup=None, periodEndMonth=3)
    query = "toDate=2026-03-31&fromDate=2026-03-31"
    year, vat_year = [close(desk, period, force=True, reason="So") for period in periods(desk, query)]
    assert (year["startDate"], year["endDate"]) == (vat_year["startDate"], vat_year["endDate"])
    desk.do("periods.reopen", id=vat_year["id"], reason="So")
    assert is_closed(desk, company, "2026-03-31")
    desk.do("periods.reopen", id=year["id"], reason="So")
    assert not is_closed(desk, company, "2026-03-31")


# -- what a lock refuses (decision 0019)


def test_a_quarter_locks_its_business_alone(desk: Desk) -> None:
    trade, lets = desk.create(), desk.create(**LETS)
    close_all(desk, "2026-10-05", f"businessId={trade['id']}&type=itsa_quarter")
    assert is_closed(desk, desk.person, "2026-10-05", trade["id"])
    assert not is_closed(desk, desk.person, "2026-10-05", lets["id"])
    assert not is_closed(desk, desk.person, "2026-10-05")
    with pytest.raises(Problem) as refused:
        invoice(desk, desk.person, "2026-10-01", businessId=trade["id"], status="issued")
    assert (refused.value.code, refused.value.extra) == ("period_closed", {"date": "2026-10-01", "state": "closed"})
    assert invoice(desk, desk.person, "2026-10-01", businessId=lets["id"], status="issued")["status"] == "issued"


def test_a_tax_year_locks_all_that_the_person_has(desk: Desk) -> None:
    trade = desk.create()
    close_all(desk, "2026-04-05", "type=tax_year")
    assert is_closed(desk, desk.person, "2026-04-05", trade["id"])
    with pytest.raises(Problem) as refused:
        invoice(desk, desk.person, "2026-04-01", businessId=trade["id"], status="issued")
    assert refused.value.code == "period_closed"


@pytest.mark.parametrize(
    ("end", "which"), [("2026-10-05", "businessId={id}&type=itsa_quarter"), ("2026-04-05", "type=tax_year")]
)
def test_what_names_no_business_counts_in_the_only_one(desk: Desk, end: str, which: str) -> None:
    trade = desk.create()
    close_all(desk, end, which.format(id=trade["id"]))
    with pytest.raises(Problem) as refused:
        invoice(desk, desk.person, end, status="issued")
    assert refused.value.code == "period_closed"
    desk.create(**LETS)
    assert invoice(desk, desk.person, "2026-10-06", status="issued")["status"] == "issued"


@pytest.mark.parametrize("names", [True, False])
def test_a_credit_note_counts_where_its_invoice_does(desk: Desk, names: bool) -> None:
    """It names no business itself. Its invoice does, for there were two; or there was only one."""
    trade = desk.create(commencementDate="2024-05-01")
    named = {"businessId": trade["id"]} if names else {}
    sold = invoice(desk, desk.person, "2026-06-01", status="issued", **named)
    desk.create(**LETS, commencementDate="2024-05-01" if names else "2026-07-01")
    close_all(desk, "2026-10-05", f"businessId={trade['id']}&type=itsa_quarter")
    credit = {"clientId": sold["clientId"], "kind": "credit_note", "creditsInvoiceId": sold["id"], "lines": None}
    with pytest.raises(Problem) as refused:
        invoice(desk, desk.person, "2026-10-05", **credit, status="issued")
    assert refused.value.code == "period_closed"
    assert invoice(desk, desk.person, "2026-10-06", **credit, supplyDate="2026-10-06", status="issued")["number"]


def test_the_basis_of_another_business_may_change(desk: Desk) -> None:
    trade, lets = desk.create(), desk.create(**LETS)
    close_all(desk, "2025-07-05", f"businessId={trade['id']}&type=itsa_quarter")
    assert desk.refused("businesses.update", id=trade["id"], accountingBasis="accruals").code == "invalid_state"
    assert desk.update(lets["id"], accountingBasis="accruals")["accountingBasis"] == "accruals"
    assert desk.refused("legalEntity.updateLegalEntity", id=desk.person, baseCurrency="EUR").code == "invalid_state"


def test_no_payment_is_recorded_or_taken_back_in_a_closed_period(desk: Desk) -> None:
    company = desk.vat_company()
    issued = invoice(desk, company, "2026-10-10", status="issued")
    before = invoice(desk, company, "2025-04-10", status="issued")
    pay(desk, before["id"], "2025-05-10")
    close_all(desk, "2025-09-30")
    with pytest.raises(Problem) as refused:
        pay(desk, issued["id"], "2025-09-30")
    assert refused.value.code == "period_closed"
    with pytest.raises(Problem) as refused:
        desk.run_row(_ROWS["accounting.removePayment"], {"invoiceId": before["id"], "position": 1})
    assert refused.value.code == "period_closed"
    assert pay(desk, issued["id"], "2025-10-01")["paidTotal"] == "10.00"


# -- totals


def test_what_was_invoiced_in_a_period(desk: Desk) -> None:
    company = desk.vat_company()
    line = {"description": "Work", "unitPrice": "100.00", "vatCode": "standard"}
    address = {"line1": "12 Oak Street", "countryCode": "GB"}
    desk.change_entity(company, address=address)
    issued = invoice(desk, company, "2025-05-10", status="issued", lines=[line])
    invoice(desk, company, "2025-05-11", status="issued", lines=[{**line, "unitPrice": "0.50"}])
    invoice(desk, company, "2025-05-11", lines=[line])
    invoice(desk, company, "2025-07-01", status="issued", lines=[line])
    credit = {
        "clientId": issued["clientId"],
        "kind": "credit_note",
        "creditsInvoiceId": issued["id"],
        "status": "issued",
    }
    invoice(desk, company, "2025-05-12", **credit, lines=[{**line, "unitPrice": "40.00"}])
    first, *_ = periods(desk)
    assert desk.ask("periods.get", f"id={first['id']}")["totals"]["invoiced"] == [
        {"currency": "GBP", "count": 3, "net": "60.50", "vat": "12.10", "gross": "72.60"}
    ]


# -- the list


def test_the_list_is_in_the_order_of_the_days(desk: Desk) -> None:
    desk.create()
    desk.vat_company()
    ends = [period["endDate"] for period in desk.periods("limit=7")]
    assert ends == sorted(ends)
    assert len(ends) > 30


def test_filters(desk: Desk) -> None:
    trade, company = desk.create(), desk.vat_company()
    everything = desk.periods()

    def ids(query: str) -> set[str]:
        return {period["id"] for period in desk.periods(query)}

    def of(**values: object) -> set[str]:
        return {one["id"] for one in everything if all(one[name] == value for name, value in values.items())}

    assert ids(f"legalEntityId={company}") == of(legalEntityId=company)
    assert ids(f"businessId={trade['id']}") == of(businessId=trade["id"])
    assert ids("type=vat_period&type=tax_year") == of(type="vat_period") | of(type="tax_year")
    assert ids("taxYear=2026-27") == of(taxYear="2026-27")
    assert ids("status=open") == of()
    assert ids("status=closed&status=closing") == set()
    inside = {one["id"] for one in everything if one["endDate"] >= "2026-07-01" and one["startDate"] <= "2026-07-31"}
    assert ids("fromDate=2026-07-01&toDate=2026-07-31") == inside
