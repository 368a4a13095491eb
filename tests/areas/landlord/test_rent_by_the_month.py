"""Rent that the law has by the month: what is told of it, new rents, arrears, and books of before it was known."""

import pytest

from gatewayd.areas.landlord.dashboard import tenancies_live
from gatewayd.areas.landlord.rents import arrears
from tests.areas.accounting.books import Json
from tests.areas.landlord.landlords import Landlord, codes
from tests.areas.landlord.older_books import migrated_from

QUARTERLY = {
    "type": "assured_shorthold",
    "startDate": "2025-02-01",
    "rentAmount": "1650.00",
    "rentFrequency": "quarterly",
}
_AS_AGREED = """
UPDATE tenancies SET rent_total = 1, last_rent = 165000, last_rent_from = '2025-02-01' WHERE id = :id
"""
_PAID = "UPDATE rents_received SET unpaid_from = '2026-10-01' WHERE tenancy_id = :id"


def test_it_is_told_until_a_rent_by_the_month_is_entered(landlord: Landlord) -> None:
    made = landlord.let(**QUARTERLY)
    [warning] = made["warnings"]
    assert warning["code"] == "rent_period_ended"
    assert "from 2026-05-01 on 563.97 is due a month" in warning["message"]
    assert "the 1650.00 of the 89 days before / 89 x 30.42" in warning["message"]
    known = landlord.change(made, rent={"fromDate": "2026-05-01", "amount": "563.97"})
    assert (known["warnings"], known["rentAmount"], known["rentFrequency"]) == ([], "563.97", "monthly")
    assert [(one["amount"], one["frequency"]) for one in known["rentHistory"]] == [
        ("1650.00", "quarterly"),
        ("563.97", "monthly"),
    ]
    assert known["agreedRent"] == {"amount": "1650.00", "frequency": "quarterly", "dueDay": 1, "quarterDays": None}


def test_before_the_law_changes_it_is_as_agreed_and_nothing_is_told(landlord: Landlord) -> None:
    landlord.at("2026-04-30")
    made = landlord.let(**{**QUARTERLY, "startDate": "2026-01-01"})
    assert (made["rentAmount"], made["rentFrequency"], made["warnings"]) == ("1650.00", "quarterly", [])
    assert (made["agreedRent"], made["monthlySinceDate"]) == (None, None)
    landlord.at("2026-05-01")  # the quarter runs on
    [served] = landlord.walk("listTenancies", "")
    assert (served["rentAmount"], served["rentFrequency"], served["agreedRent"]) == ("1650.00", "quarterly", None)
    assert (served["monthlySinceDate"], codes(served)) == ("2026-07-01", ["rent_period_ended"])
    landlord.at("2026-07-01")
    [served] = landlord.walk("listTenancies", "")
    assert (served["rentAmount"], served["rentFrequency"]) == ("551.57", "monthly")


@pytest.mark.parametrize(
    ("amount", "expected"),
    [
        ("563.97", []),  # no rise
        ("550.00", []),
        ("563.98", ["rent_notice_missing"]),  # Housing Act 1988 s13(4A)
        ("1650.00", ["rent_notice_missing"]),  # of a month, and not of a quarter
    ],
)
def test_a_rise_is_one_over_the_rent_of_a_month(landlord: Landlord, amount: str, expected: list[str]) -> None:
    made = landlord.let(**QUARTERLY)
    assert codes(landlord.change(made, rent={"fromDate": "2026-11-01", "amount": amount})) == expected
    within = landlord.change(made, rent={"fromDate": "2026-11-02", "amount": "9999.00"})
    assert "rent_within_period" in codes(within)  # its periods begin on the first of each month


def test_arrears_are_of_what_is_due_by_law(landlord: Landlord) -> None:
    made = landlord.let(**QUARTERLY)
    # five quarters until 30 April 2026, then seven months until November
    due = 5 * 1_650_00 + 7 * 563_97
    assert made["arrears"] == f"{due // 100}.{due % 100:02}"
    paid = landlord.post("recordRent", tenancyId=made["id"], date="2026-05-01", amount="8813.97")
    assert paid["arrears"] == "3383.82"
    [owing] = landlord.store.read(lambda tx: arrears.of_all(tx, "2026-11-20"), landlord.org_id)
    assert (owing.arrears, owing.oldest_due) == (3_383_82, "2026-06-01")


def test_another_type_or_start_is_counted_anew(landlord: Landlord) -> None:
    made = landlord.let(**QUARTERLY)
    let = landlord.change(made, type="company_let")
    assert (let["rentAmount"], let["rentFrequency"], let["agreedRent"]) == ("1650.00", "quarterly", None)
    assert (let["monthlySinceDate"], let["warnings"]) == (None, [])


# -- books of before


def older(landlord: Landlord, *made: Json) -> Landlord:
    """The same lets, after an upgrade from a program that went on counting quarters."""
    changes = [(sql, {"id": one["id"]}) for sql in (_AS_AGREED, _PAID) for one in made]
    after = Landlord.__new__(Landlord)
    after.__dict__ = {**landlord.__dict__, "store": migrated_from(landlord.store, "count_rent_by_the_month", changes)}
    return after


@pytest.mark.parametrize("end", [None, "2026-09-30"])
def test_what_was_counted_as_it_was_agreed_is_counted_anew(landlord: Landlord, end: str | None) -> None:
    house = landlord.house()
    made = landlord.let(house, **QUARTERLY, endedDate=end)
    after = older(landlord, made)
    months = 7 if end is None else 5
    [owing] = after.store.read(lambda tx: arrears.of_all(tx, "2026-11-20"), after.org_id)
    assert (owing.tenancy_id, owing.arrears) == (made["id"], 5 * 1_650_00 + months * 563_97)
    live = after.store.read(lambda tx: tenancies_live.read(tx, "2026-09-30", {house}), after.org_id)
    assert [(one.rent, one.frequency) for one in live] == [(563_97, "monthly")]
    # a payment works out what is kept, and nothing else changes
    after.post("recordRent", tenancyId=made["id"], date="2026-11-02", amount="1650.00")
    [owing] = after.store.read(lambda tx: arrears.of_all(tx, "2026-11-20"), after.org_id)
    assert (owing.arrears, owing.oldest_due) == (4 * 1_650_00 + months * 563_97, "2025-05-01")
    after.store.close()
