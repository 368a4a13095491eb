"""Facts about what is let may be entered late, also of a closed day: no figure of the period follows (Domain B9)."""

from collections.abc import Callable

import pytest

from gatewayd.errors import Problem
from gatewayd.ledger.calendar import period_locks
from tests.areas.accounting.books import Json
from tests.areas.landlord.premises import Premises

YEAR = ("2025-04-06", "2026-04-05")
INSIDE = "2025-06-01"


def figures(premises: Premises, house: str) -> list[Json]:
    """What a closed year was closed with: the account of the property and of the person."""
    account = premises.one("propertyPnl", f"id={house}&taxYear=2025-26")
    return [account, premises.one("getFinanceCostRelief", f"legalEntityId={premises.entity_id}&taxYear=2025-26")]


def valued(premises: Premises, house: str) -> None:
    body = {"valuationDate": INSIDE, "amount": "310000.00", "method": "agent"}
    premises.post("createPropertyValuation", propertyId=house, **body)


def let(premises: Premises, house: str) -> None:
    tenant = premises.post("createTenant", kind="person", name="Rosa Hart")["id"]
    terms = {"startDate": INSIDE, "rentAmount": "900.00", "rentFrequency": "monthly"}
    premises.post("createTenancy", propertyId=house, tenantIds=[tenant], **terms)


def bought(premises: Premises, house: str) -> None:
    body = {"name": "Mill", "type": "house", "acquisitionDate": INSIDE, "purchasePrice": "90000.00"}
    premises.post("createProperty", businessId=premises.business_id, **body)


def borrowed(premises: Premises, house: str) -> None:
    premises.mortgage(house, startDate=INSIDE)


@pytest.mark.parametrize(
    ("enter", "field", "before", "after"),
    [
        (valued, "portfolioValue", "0.00", "310000.00"),
        (let, "letUnitCount", 1, 2),
        (bought, "propertyCount", 2, 3),
        (borrowed, "mortgageBalance", "0.00", "150000.00"),
    ],
)
def test_a_closed_day_shows_what_is_known_of_it_by_now(
    premises: Premises, enter: Callable[[Premises, str], None], field: str, before: object, after: object
) -> None:
    house, other = premises.property(), premises.property()
    tenancy = premises.tenancy(house, start_date="2025-05-01", rent_due_day=1)
    premises.post("recordRent", tenancyId=tenancy, date=INSIDE, amount="900.00")
    premises.store.write(lambda tx: period_locks.close(tx, premises.entity_id, *YEAR), premises.org_id)
    closed, dashboard = figures(premises, house), f"businessId={premises.business_id}&asOfDate=2026-04-05"
    assert closed[0]["totals"]["grossIncome"] == "900.00"
    assert premises.one("getDashboardSummary", dashboard)[field] == before
    enter(premises, other)
    assert premises.one("getDashboardSummary", dashboard)[field] == after
    assert figures(premises, house) == closed
    with pytest.raises(Problem) as caught:  # money does not go in
        premises.post("recordRent", tenancyId=tenancy, date="2025-07-01", amount="900.00")
    assert caught.value.code == "period_closed"
