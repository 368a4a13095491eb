"""What was owed on days of a closed period stays, whatever the lender says later (Domain B4, B9)."""

import pytest

from gatewayd.errors import Problem
from gatewayd.ledger.calendar import period_locks
from tests.areas.accounting.books import Json
from tests.areas.landlord.premises import Premises

YEAR = ("2025-04-06", "2026-04-05")


@pytest.fixture
def repaid(premises: Premises) -> Json:
    """200,000.00 at 6 %, 1,500.00 a month, from 15 December 2025 on."""
    terms = {"type": "repayment", "originalAmount": "200000.00", "monthlyPayment": "1500.00"}
    return premises.mortgage(startDate="2025-12-15", **terms)


def close(premises: Premises, business_id: str | None = None) -> None:
    premises.store.write(lambda tx: period_locks.close(tx, premises.entity_id, *YEAR, business_id), premises.org_id)


def owed(premises: Premises, day: str) -> str:
    found: str = premises.one("getDashboardSummary", f"asOfDate={day}")["mortgageBalance"]
    return found


def told(premises: Premises, mortgage: Json, amount: str | None, day: str) -> Json:
    return premises.post("updateMortgage", id=mortgage["id"], currentBalance=amount, balanceDate=day)


def test_the_first_balance_reaches_back_where_nothing_is_closed(premises: Premises, repaid: Json) -> None:
    # 500.00, 502.50 and 505.01 are repaid by 15 March (Domain B4)
    assert owed(premises, "2026-04-05") == "198492.49"
    made = told(premises, repaid, "190000.00", "2026-10-31")
    assert made["balanceHistory"] == [{"date": "2026-10-31", "amount": "190000.00", "reachesBack": True}]
    assert owed(premises, "2026-04-05") < "198000.00"


@pytest.mark.parametrize("of_business", [False, True])
def test_the_first_balance_leaves_a_closed_period_alone(premises: Premises, repaid: Json, of_business: bool) -> None:
    close(premises, premises.business_id if of_business else None)
    made = told(premises, repaid, "190000.00", "2026-10-31")
    assert made["balanceHistory"] == [{"date": "2026-10-31", "amount": "190000.00", "reachesBack": False}]
    assert (made["currentBalance"], made["estimatedBalance"]) == ("190000.00", "189450.00")
    assert [owed(premises, day) for day in ("2026-01-15", "2026-02-28", "2026-04-05")] == [
        "199500.00",
        "198997.50",
        "198492.49",
    ]
    assert owed(premises, "2026-10-31") == "190000.00"
    earlier = told(premises, repaid, "195000.00", "2026-06-30")
    assert [one["reachesBack"] for one in earlier["balanceHistory"]] == [False, False]
    assert owed(premises, "2026-04-05") == "198492.49"
    told(premises, repaid, None, "2026-06-30")
    assert told(premises, repaid, None, "2026-10-31")["balanceHistory"] == []
    assert owed(premises, "2026-04-05") == "198492.49"


@pytest.mark.parametrize(
    "change",
    [
        {"currentBalance": "190000.00", "balanceDate": "2026-03-31"},
        {"originalAmount": "210000.00"},
        {"startDate": "2025-11-15"},
        {"interestRate": "7", "startDate": "2025-12-15", "rateFromDate": "2025-12-15"},
        {"monthlyPayment": "1600.00"},
        {"redeemedDate": "2026-03-31"},
    ],
)
def test_what_would_move_a_closed_day_is_refused(premises: Premises, repaid: Json, change: dict[str, str]) -> None:
    close(premises)
    with pytest.raises(Problem) as caught:
        premises.post("updateMortgage", id=repaid["id"], **change)
    assert caught.value.code == "period_closed"
    assert owed(premises, "2026-04-05") == "198492.49"


def test_what_comes_after_the_closed_period_may_change(premises: Premises, repaid: Json) -> None:
    close(premises)
    for change in ({"interestRate": "7", "rateFromDate": "2026-05-01"}, {"redeemedDate": "2026-11-01"}):
        premises.post("updateMortgage", id=repaid["id"], **change)
    assert (owed(premises, "2026-04-05"), owed(premises, "2026-11-01")) == ("198492.49", "0.00")


def test_another_business_closes_nothing_of_this_one(premises: Premises, repaid: Json) -> None:
    other = premises.unregistered_entity(type="individual")
    premises.store.write(lambda tx: period_locks.close(tx, other, *YEAR), premises.org_id)
    made = told(premises, repaid, "190000.00", "2026-10-31")
    assert made["balanceHistory"][0]["reachesBack"] is True
