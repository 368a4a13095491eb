"""Twelve tenancies of the four nations, over 1 May 2026: what they are, what is due, and what is told of them.

What is expected is from the Acts: the Housing Act 1988 (HA), its section 4A as the Renters' Rights Act 2025 (RRA)
inserted it and Schedule 6 of that Act applies it to tenancies from before, and what is named beside each. Today is
20 November 2026.
"""

from typing import Any, NamedTuple

import pytest

from gatewayd.areas.landlord.dashboard import tenancies_live
from tests.areas.landlord.landlords import Landlord, codes

FROM_APRIL_TO_SEPTEMBER = "fromDate=2026-04-01&toDate=2026-09-30"


class Expected(NamedTuple):
    """The state and last day today, the warnings, the rent in force, since when by law, and what fell due."""

    status: str
    end: str | None
    warnings: list[str]
    rent: str
    monthly_since: str | None
    dues: dict[str, str]


def each_month(first: int, day: int, amount: str) -> dict[str, str]:
    return {f"2026-{month:02}-{day:02}": amount for month in range(first, 10)}


TWELVE: dict[str, tuple[dict[str, Any], Expected]] = {
    # A period would have begun on 1 May: RRA Sch. 6 para. 2(b)(i). The one before had 89 days: 1,650 / 89 x 30.42.
    "England, by the quarter from 1 May": (
        {"type": "assured_shorthold", "startDate": "2025-02-01", "rentFrequency": "quarterly"},
        Expected("active", None, ["rent_period_ended"], "563.97 monthly", "2026-05-01", each_month(5, 1, "563.97")),
    ),
    # 1 May lies in one that runs to 30 June, of 91 days: para. 2(b)(ii) and (c). 1,650 / 91 x 30.42.
    "England, by the quarter from 1 April": (
        {"type": "assured_shorthold", "startDate": "2026-01-01", "rentFrequency": "quarterly"},
        Expected(
            *("active", None, ["rent_period_ended"], "551.57 monthly", "2026-07-01"),
            {"2026-04-01": "1650.00", **each_month(7, 1, "551.57")},
        ),
    ),
    # The year that was paid in advance runs to its end; the term is of no effect (HA s4A(1)). 11,400 / 365 x 30.42.
    "England, by the year, in a term": (
        {
            "type": "assured_shorthold",
            "startDate": "2025-09-01",
            "endDate": "2026-08-31",
            "rentFrequency": "annually",
            "rentAmount": "11400.00",
        },
        Expected(
            *("active", None, ["fixed_term_not_allowed", "rent_period_ended"], "950.10 monthly", "2026-09-01"),
            {"2026-09-01": "950.10"},
        ),
    ),
    # Assured, and never a shorthold: HA s4A is of both. 25 March to 24 June are 92 days: 1,650 / 92 x 30.42.
    "England, assured from before": (
        {"type": "assured_periodic", "startDate": "2020-03-25", "rentFrequency": "quarterly"},
        Expected(
            *("active", None, ["rent_period_ended"], "545.58 monthly", "2026-06-25"),
            each_month(6, 25, "545.58"),
        ),
    ),
    # The term was over before: a statutory periodic tenancy went on (HA s5(2)), whose months are allowed (s4A(3)(b)).
    "England, by the month, past its term": (
        {"type": "assured_shorthold", "startDate": "2025-01-01", "endDate": "2025-12-31", "rentAmount": "950.00"},
        Expected("active", None, ["term_over"], "950.00 monthly", None, each_month(4, 1, "950.00")),
    ),
    # 28 days are allowed (HA s4A(3)(a)).
    "England, by four weeks": (
        {"type": "assured_shorthold", "startDate": "2026-03-02", "rentFrequency": "four_weekly"},
        Expected(
            *("active", None, [], "1650.00 four_weekly", None),
            {f"2026-{day}": "1650.00" for day in ("04-27", "05-25", "06-22", "07-20", "08-17", "09-14")},
        ),
    ),
    # Its tenant is no individual, so that it is not assured (HA s1(1)(a)): it ends with its term, by the quarter.
    "England, to a company": (
        {"type": "company_let", "startDate": "2025-10-01", "endDate": "2026-09-30", "rentFrequency": "quarterly"},
        Expected(
            *("ended", "2026-09-30", [], "1650.00 quarterly", None),
            {"2026-04-01": "1650.00", "2026-07-01": "1650.00"},
        ),
    ),
    # Landlord and Tenant Act 1954 s24(1): it does not come to an end with its term.
    "England, a shop": (
        {"type": "commercial_lease", "startDate": "2021-06-24", "endDate": "2026-06-23", "rentFrequency": "quarterly"},
        Expected(
            "active", None, ["term_over"], "1650.00 quarterly", None, {"2026-06-24": "1650.00", "2026-09-24": "1650.00"}
        ),
    ),
    # A licence, or not assured beside a resident landlord (HA Sch. 1 para. 10): nothing continues it.
    "England, a lodger": (
        {"type": "lodger", "startDate": "2026-01-01", "endDate": "2026-06-30", "rentAmount": "500.00"},
        Expected(
            "ended", "2026-06-30", [], "500.00 monthly", None, {f"2026-0{month}-01": "500.00" for month in (4, 5, 6)}
        ),
    ),
    # Renting Homes (Wales) Act 2016 s184(2), with the rental periods that it had (s184(4)); HA s4A is not of Wales.
    "Wales": (
        {"startDate": "2025-07-01", "endDate": "2026-06-30", "rentFrequency": "quarterly"},
        Expected(
            *("active", None, ["term_over"], "1650.00 quarterly", None),
            {"2026-04-01": "1650.00", "2026-07-01": "1650.00"},
        ),
    ),
    # Private Housing (Tenancies) (Scotland) Act 2016 s44: it ends as Part 5 of that Act says alone.
    "Scotland": (
        {"startDate": "2025-07-01", "endDate": "2026-06-30", "rentFrequency": "quarterly"},
        Expected(
            *("active", None, ["fixed_term_not_allowed"], "1650.00 quarterly", None),
            {"2026-04-01": "1650.00", "2026-07-01": "1650.00"},
        ),
    ),
    # Common law: who stays past the term and pays is a tenant from one rent to the next.
    "Northern Ireland": (
        {"startDate": "2025-06-01", "endDate": "2026-05-31", "rentFrequency": "annually", "rentAmount": "9000.00"},
        Expected("active", None, ["term_over"], "9000.00 annually", None, {"2026-06-01": "9000.00"}),
    ),
}


@pytest.mark.parametrize("name", TWELVE)
def test_twelve_tenancies_over_the_first_of_may(landlord: Landlord, name: str) -> None:
    fields, expected = TWELVE[name]
    jurisdiction = name.partition(",")[0].lower().replace(" ", "_")
    house = landlord.house(jurisdiction=jurisdiction)
    made = landlord.let(house, **{"rentAmount": "1650.00", "rentFrequency": "monthly", **fields})
    dues = landlord.walk("listRentsDue", f"tenancyId={made['id']}&{FROM_APRIL_TO_SEPTEMBER}")
    assert expected == Expected(
        *(made["status"], made["endDate"], codes(made), f"{made['rentAmount']} {made['rentFrequency']}"),
        *(made["monthlySinceDate"], {one["dueDate"]: one["amount"] for one in dues}),
    )
    [served] = landlord.walk("listTenancies", f"propertyId={house}")
    assert {**served, "warnings": []} == {**made, "warnings": []}
    # the dashboard's roll has the same rent
    live = landlord.store.read(lambda tx: tenancies_live.read(tx, "2026-11-20", {house}), landlord.org_id)
    roll = [f"{one.rent // 100}.{one.rent % 100:02} {one.frequency}" for one in live]
    assert roll == ([] if expected.status == "ended" else [expected.rent])


@pytest.mark.parametrize("name", [name for name, (_, expected) in TWELVE.items() if expected.monthly_since])
def test_what_was_agreed_is_shown_beside_what_the_law_made_of_it(landlord: Landlord, name: str) -> None:
    fields, expected = TWELVE[name]
    made = landlord.let(**{"rentAmount": "1650.00", **fields})
    amount, frequency = fields.get("rentAmount", "1650.00"), fields["rentFrequency"]
    day = int(fields["startDate"][-2:])
    assert made["agreedRent"] == {"amount": amount, "frequency": frequency, "dueDay": day, "quarterDays": None}
    assert [(one["amount"], one["frequency"]) for one in made["rentHistory"]] == [(amount, frequency)]
    assert made["rentDueDay"] == int(str(expected.monthly_since)[-2:])
