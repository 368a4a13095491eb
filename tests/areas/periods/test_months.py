"""Periods of type `month` (domain model B9): of every entity, for those who ask."""

from gatewayd.ledger.calendar import period_locks
from tests.areas.periods.desk import Desk


def test_months_are_listed_for_those_who_ask(desk: Desk) -> None:
    """Today is 20 November 2026: the calendar goes from the tax year before to the next."""
    company = desk.company()
    months = desk.periods(f"type=month&legalEntityId={company}")
    assert [months[0][name] for name in ("label", "startDate", "endDate")] == ["2025-04", "2025-04-01", "2025-04-30"]
    assert (months[-1]["label"], len(months)) == ("2028-04", 37)
    assert [one["endDate"] for one in months if one["label"] == "2028-02"] == ["2028-02-29"]
    assert {(one["filingDueDate"], one["taxYear"], one["businessId"], one["status"]) for one in months} == {
        (None, None, None, "open")
    }
    assert {one["obligationIds"] == [] for one in months} == {True}
    assert desk.ask("periods.get", f"id={months[0]['id']}")["totals"]["profitAndLoss"] == []


def test_months_flood_nobody(desk: Desk) -> None:
    desk.vat_company()
    assert "month" not in {one["type"] for one in desk.periods()}
    assert "month" not in {one["type"] for one in desk.periods("updatedSince=2020-01-01T00:00:00Z")}
    assert "month" not in {one["type"] for one in desk.periods("includeArchived=true")}
    assert {one["type"] for one in desk.periods("type=month,vat_period")} == {"month", "vat_period"}


def test_months_are_closed_in_turn_and_lock_their_days(desk: Desk) -> None:
    company = desk.company()
    first, second, *_ = desk.periods(f"type=month&legalEntityId={company}")
    refused = desk.refused("periods.close", id=second["id"])
    assert [check["code"] for check in refused.extra["checklist"]] == ["earlier_periods_closed"]
    desk.do("periods.close", id=first["id"])
    desk.do("periods.close", id=second["id"])

    def is_closed(date: str) -> bool:
        return desk.store.read(lambda tx: period_locks.is_closed(tx, company, date), desk.org_id)

    assert [is_closed(date) for date in ("2025-03-31", "2025-04-01", "2025-05-31", "2025-06-01")] == [
        False,
        True,
        True,
        False,
    ]
    assert desk.refused("periods.reopen", id=first["id"], reason="Forgotten").code == "invalid_state"
    desk.do("periods.reopen", id=second["id"], reason="Forgotten")
    assert not is_closed("2025-05-31")


def test_a_monthly_vat_period_shares_the_lock_of_its_month(desk: Desk) -> None:
    company = desk.company(
        vatNumber="GB980780684",
        vat={
            "status": "registered",
            "effectiveDate": "2024-05-01",
            "scheme": "standard",
            "returnFrequency": "monthly",
        },
    )
    month = desk.periods(f"type=month&legalEntityId={company}")[0]
    vat = next(one for one in desk.periods("type=vat_period") if one["endDate"] == month["endDate"])
    for one in (month, vat):
        desk.do("periods.close", id=one["id"], force=True, reason="For the test")
    desk.do("periods.reopen", id=vat["id"], reason="Forgotten")
    locked = desk.store.read(lambda tx: period_locks.is_closed(tx, company, month["endDate"]), desk.org_id)
    assert locked  # the month is closed still


def test_months_stay_when_a_business_changes_and_go_with_the_entity(desk: Desk) -> None:
    trade = desk.create()
    before = desk.periods(f"type=month&legalEntityId={desk.person}")
    desk.do("businesses.update", id=trade["id"], commencementDate="2025-01-01")
    assert desk.periods(f"type=month&legalEntityId={desk.person}") == before
    assert len(before) == 37
    desk.do("businesses.archive", id=trade["id"], force=True)
    desk.do("legalEntity.archive", id=desk.person)
    assert desk.periods(f"type=month&legalEntityId={desk.person}") == []
