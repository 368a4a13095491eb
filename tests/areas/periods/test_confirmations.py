"""What the authority says, merged over what the calendar predicts (domain model B9 and C7)."""

import pytest

from gatewayd.clock import MINUTE
from gatewayd.errors import Problem
from gatewayd.ledger.obligations import confirmations
from gatewayd.ledger.obligations.confirmations import Confirmed
from gatewayd.ledger.obligations.obligations import Penalty
from gatewayd.money import Money
from tests.areas.periods.desk import Desk, Json

RETURN = Confirmed(
    kind="vat_return",
    business_id=None,
    period_start_date="2026-07-01",
    period_end_date="2026-09-30",
    due_date="2026-11-09",
    is_fulfilled=False,
    period_key="26A3",
)


def event_types(desk: Desk, obligation_id: str) -> list[str]:
    return [event["type"] for event in desk.ask("obligations.get", f"id={obligation_id}")["events"]]


def vat_return(desk: Desk, end: str = "2026-09-30") -> Json:
    return next(one for one in desk.obligations("kind=vat_return") if one["periodEndDate"] == end)


def test_the_authoritys_row_takes_the_place_of_the_predicted_one(desk: Desk) -> None:
    company = desk.vat_company()
    predicted = vat_return(desk)
    desk.confirm(company, RETURN)
    confirmed = vat_return(desk)
    assert confirmed["id"] == predicted["id"]
    assert (confirmed["source"], confirmed["confidence"]) == ("tax_authority", "confirmed")
    assert (confirmed["dueDate"], confirmed["predictedDueDate"]) == ("2026-11-09", "2026-11-07")
    assert (confirmed["periodKey"], confirmed["status"]) == ("26A3", "overdue")
    assert confirmed["lastCheckedAt"] == "2026-11-20T09:30:00.000Z"
    assert event_types(desk, confirmed["id"]) == ["confirmed", "due_date_changed"]
    period = desk.ask("periods.get", f"id={confirmed['periodId']}")
    assert period["filingDueDate"] == "2026-11-09"


def test_what_is_confirmed_stays_through_every_refresh(desk: Desk) -> None:
    company = desk.vat_company()
    desk.confirm(company, RETURN)
    before = desk.obligations(), desk.periods()
    desk.refresh(company)
    assert (desk.obligations(), desk.periods()) == before
    desk.change_entity(company, vat={"status": "not_registered"})
    (left,) = desk.obligations("kind=vat_return")
    assert (left["dueDate"], left["predictedDueDate"], left["status"]) == ("2026-11-09", "2026-11-07", "overdue")


def test_the_same_said_again_makes_no_new_version(desk: Desk) -> None:
    company = desk.vat_company()
    desk.confirm(company, RETURN)
    before = vat_return(desk)
    desk.later()
    desk.confirm(company, RETURN)
    after = vat_return(desk)
    assert after["version"] == before["version"]
    assert after["lastCheckedAt"] == "2026-11-21T09:30:00.000Z"
    assert event_types(desk, after["id"]) == ["confirmed", "due_date_changed"]


def test_one_that_nobody_predicted_is_there_with_its_period(desk: Desk) -> None:
    """Of before the horizon, and of an entity whose stagger is not known."""
    company = desk.vat_company(staggerGroup=None)
    assert desk.obligations("kind=vat_return") == []
    desk.confirm(company, RETURN._replace(is_fulfilled=True, received_date="2026-11-05"))
    (found,) = desk.obligations("kind=vat_return")
    assert (found["status"], found["receivedDate"]) == ("fulfilled", "2026-11-05")
    assert (found["dueDate"], found["predictedDueDate"]) == ("2026-11-09", "2026-11-07")
    (period,) = desk.periods("type=vat_period")
    assert (period["label"], period["id"]) == ("VAT 09/26", found["periodId"])
    assert event_types(desk, found["id"]) == ["confirmed", "fulfilled"]


def test_periods_of_the_authority_go_before_those_that_overlap_them(desk: Desk) -> None:
    """The books have stagger 1, and the authority says: March to May, June to August."""
    company = desk.vat_company()
    spring = RETURN._replace(period_start_date="2026-03-01", period_end_date="2026-05-31", due_date="2026-07-07")
    summer = RETURN._replace(period_start_date="2026-06-01", period_end_date="2026-08-31", due_date="2026-10-07")
    desk.confirm(company, spring, summer)
    ends = [period["endDate"] for period in desk.periods("type=vat_period&fromDate=2026-01-01&toDate=2026-12-31")]
    assert ends == ["2026-05-31", "2026-08-31", "2026-12-31"]
    assert [(end, due) for end, due, _ in desk.due("kind=vat_payment")][:2] == [
        ("2026-05-31", "2026-07-07"),
        ("2026-08-31", "2026-10-07"),
    ]


def test_the_authority_may_have_the_other_type_of_quarters(desk: Desk) -> None:
    trade = desk.create()
    update = Confirmed("itsa_quarterly_update", trade["id"], "2026-04-01", "2026-06-30", "2026-08-07", False)
    later = update._replace(period_end_date="2026-09-30", due_date="2026-11-07")
    desk.confirm(desk.person, update, later)
    found = desk.due(f"businessId={trade['id']}&dueDateTo=2027-06-01")
    assert [end for end, _, _ in found] == ["2026-06-30", "2026-09-30", "2027-01-05", "2027-04-05"]


def test_an_update_meets_those_of_the_earlier_quarters(desk: Desk) -> None:
    trade = desk.create()
    other = desk.create(name="Thatching")
    second = Confirmed(
        "itsa_quarterly_update", trade["id"], "2026-04-06", "2026-10-05", "2026-11-07", True, "2026-11-06"
    )
    desk.confirm(desk.person, second)
    assert desk.due(f"businessId={trade['id']}&dueDateTo=2027-06-01") == [
        ("2026-07-05", "2026-08-07", "fulfilled"),
        ("2026-10-05", "2026-11-07", "fulfilled"),
        ("2027-01-05", "2027-02-07", "open"),
        ("2027-04-05", "2027-05-07", "open"),
    ]
    assert {status for _, _, status in desk.due(f"businessId={other['id']}&dueDateTo=2026-12-01")} == {"overdue"}


def test_an_update_meets_earlier_quarters_whatever_is_said_of_them(desk: Desk) -> None:
    """However often, and in whatever order it is said."""
    trade = desk.create()
    q1 = Confirmed("itsa_quarterly_update", trade["id"], "2026-04-06", "2026-07-05", "2026-08-07", False)
    q2 = q1._replace(period_end_date="2026-10-05", due_date="2026-11-07", is_fulfilled=True, received_date="2026-11-06")
    desk.confirm(desk.person, q1, q2)
    first, second, *_ = desk.obligations(f"businessId={trade['id']}")
    assert (first["status"], first["receivedDate"], second["status"]) == ("fulfilled", "2026-11-06", "fulfilled")
    desk.later()
    desk.confirm(desk.person, q2, q1)
    again, *_ = desk.obligations(f"businessId={trade['id']}")
    assert (again["status"], again["version"]) == ("fulfilled", first["version"])


def test_what_was_met_here_is_open_again_where_the_authority_has_nothing(desk: Desk) -> None:
    """After the hour that it may take to mark what it was sent."""
    company = desk.vat_company()
    met = vat_return(desk)
    desk.do("obligations.fulfil", id=met["id"])
    desk.store.clock.advance(59 * MINUTE)
    desk.confirm(company, RETURN)
    assert vat_return(desk)["status"] == "fulfilled"
    desk.store.clock.advance(2 * MINUTE)
    desk.confirm(company, RETURN)
    assert (vat_return(desk)["status"], vat_return(desk)["receivedDate"]) == ("overdue", None)
    assert event_types(desk, met["id"])[-1] == "reopened"


def test_what_was_dismissed_is_required_where_the_authority_says_so(desk: Desk) -> None:
    company = desk.vat_company()
    gone = vat_return(desk)
    desk.do("obligations.dismiss", id=gone["id"], reason="Exempt")
    desk.confirm(company, RETURN)
    assert vat_return(desk)["status"] == "overdue"
    assert event_types(desk, gone["id"])[-1] == "required"


def test_amounts_and_penalties_are_shown(desk: Desk) -> None:
    company = desk.vat_company()
    penalty = Penalty(points=2, regime_threshold=4, amount="200.00")
    desk.confirm(company, RETURN._replace(amount_due=Money.of("1234.50", "GBP"), penalty=penalty))
    found = vat_return(desk)
    assert (found["amountDue"], found["currency"]) == ("1234.50", "GBP")
    assert found["penalty"] == {"points": 2, "regimeThreshold": 4, "amount": "200.00"}


def test_both_payments_on_account_are_kept_apart(desk: Desk) -> None:
    desk.create()
    first = Confirmed("payment_on_account", None, "2026-04-06", "2027-04-05", "2027-01-31", False)
    desk.confirm(desk.person, first, first._replace(due_date="2027-07-31"))
    assert [due for _, due, _ in desk.due("kind=payment_on_account")] == ["2027-01-31", "2027-07-31"]


@pytest.mark.parametrize("operation", ["obligations.fulfil", "obligations.dismiss", "obligations.reopen"])
def test_of_a_confirmed_one_the_authority_says_what_became_of_it(desk: Desk, operation: str) -> None:
    company = desk.vat_company()
    desk.confirm(company, RETURN)
    values = {"reason": "Mine"} if operation != "obligations.fulfil" else {}
    assert desk.refused(operation, id=vat_return(desk)["id"], **values).code == "invalid_state"


def test_another_organizations_entity_is_not_confirmed(desk: Desk) -> None:
    stranger = Desk(desk.store)
    with pytest.raises(Problem) as refused:
        desk.store.write(lambda tx: confirmations.confirm(tx, stranger.person, [RETURN]), desk.org_id)
    assert refused.value.code == "not_found"
