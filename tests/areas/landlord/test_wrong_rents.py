"""Rents that were entered wrongly, and are taken out of a tenancy's history. It is 20 November 2026."""

import pytest

from gatewayd.errors import Problem
from gatewayd.ledger.calendar import period_locks
from tests.areas.accounting.books import Json, fields_of
from tests.areas.landlord.landlords import Landlord, codes
from tests.areas.landlord.test_rents_on_accruals import Company
from tests.support.store import MemoryStore


def starts(tenancy: Json) -> list[tuple[str, str]]:
    return [(one["fromDate"], one["amount"]) for one in tenancy["rentHistory"]]


def test_a_wrong_rent_is_taken_out_and_arrears_are_counted_anew(landlord: Landlord) -> None:
    """950.00 is due on the 1st of June to November: 5,700.00; 50.00 more since September are 150.00."""
    tenancy = landlord.let(type="other")
    raised = landlord.change(tenancy, rent={"fromDate": "2026-09-01", "amount": "1000.00"})
    assert (raised["arrears"], raised["rentAmount"]) == ("5850.00", "1000.00")
    landlord.change(tenancy, rent={"fromDate": "2027-01-01", "amount": "1100.00"})
    changed = landlord.change(tenancy, rent={"fromDate": "2026-09-01", "amount": None})
    assert (changed["arrears"], changed["rentAmount"]) == ("5700.00", "950.00")
    assert starts(changed) == [("2026-06-01", "950.00"), ("2027-01-01", "1100.00")]
    landlord.at("2027-01-01")
    assert landlord.walk("listTenancies", "")[0]["arrears"] == "7750.00"  # 950.00 in December, 1,100.00 in January


def test_a_rise_that_is_taken_out_has_no_warnings_any_more(landlord: Landlord) -> None:
    tenancy = landlord.let()
    assert landlord.change(tenancy, rent={"fromDate": "2027-06-01", "amount": "1000.00"})["warnings"] != []
    assert landlord.change(tenancy, rent={"fromDate": "2027-06-01", "amount": None})["warnings"] == []


def test_the_rent_by_law_is_due_again_where_the_monthly_one_is_taken_out(landlord: Landlord) -> None:
    """1,650.00 for the 89 days from 1 February to 30 April is 1,650.00 / 89 x 30.42 = 563.97 a month from May on."""
    tenancy = landlord.let(startDate="2026-02-01", rentAmount="1650.00", rentFrequency="quarterly")
    entered = landlord.change(tenancy, rent={"fromDate": "2026-05-01", "amount": "560.00"})
    assert (entered["rentAmount"], codes(entered)) == ("560.00", [])
    changed = landlord.change(tenancy, rent={"fromDate": "2026-05-01", "amount": None})
    assert (changed["rentAmount"], codes(changed)) == ("563.97", ["rent_period_ended"])


@pytest.mark.parametrize(
    ("rent", "wrong"),
    [
        ({"fromDate": "2026-06-01", "amount": None}, ("rent.fromDate", "conflict")),
        ({"fromDate": "2026-09-02", "amount": None}, ("rent.fromDate", "unknown_reference")),
        ({"fromDate": "2026-09-01", "amount": None, "notice": {"form": "Form 4A"}}, ("rent.notice", "conflict")),
        ({"fromDate": "2026-09-01"}, ("rent.amount", "required")),
    ],
)
def test_what_cannot_be_taken_out_is_refused(landlord: Landlord, rent: Json, wrong: tuple[str, str]) -> None:
    tenancy = landlord.let(type="other")
    raised = landlord.change(tenancy, rent={"fromDate": "2026-09-01", "amount": "1000.00"})
    with pytest.raises(Problem) as caught:
        landlord.change(tenancy, rent=rent)
    assert fields_of(caught.value) == [wrong]
    assert starts(landlord.walk("listTenancies", "")[0]) == starts(raised)


def test_a_rent_of_a_closed_period_stays(store: MemoryStore) -> None:
    company = Company(store)
    company.post("updateTenancy", id=company.tenancy, rent={"fromDate": "2026-10-01", "amount": "1100.00"})
    company.store.write(
        lambda tx: period_locks.close(tx, company.owner, "2026-10-01", "2026-10-31") and None, company.org_id
    )
    with pytest.raises(Problem) as caught:
        company.post("updateTenancy", id=company.tenancy, rent={"fromDate": "2026-10-01", "amount": None})
    assert caught.value.code == "period_closed"
