"""What the law continues past its term: rent, occupancy, arrears, calendars; and what an upgrade makes of it."""

import pytest

from gatewayd.areas.landlord.rents import arrears
from gatewayd.areas.periods import feed_content
from gatewayd.ledger.allocating import rents_received
from tests.areas.accounting.books import Json
from tests.areas.landlord.landlords import Landlord, codes
from tests.areas.landlord.older_books import migrated_from
from tests.support.store import MemoryStore

WALES = {"jurisdiction": "wales"}
_OF_TERM = "UPDATE tenancies SET last_day = term_end_date, rent_total = :total WHERE id = :id"
_PAID = "UPDATE rents_received SET unpaid_from = NULL WHERE tenancy_id = :id"


def only(landlord: Landlord, name: str, query: str = "") -> Json:
    [one] = landlord.walk(name, query)
    return one


def test_rent_goes_on_being_due_and_what_comes_for_it_pays_it(landlord: Landlord) -> None:
    """Renting Homes (Wales) Act 2016 s184(2) and (4): the rental periods are as they were under the fixed term."""
    house = landlord.house(**WALES)
    unit = landlord.unit(house)
    made = landlord.let(house, unitId=unit, startDate="2026-06-01", endDate="2026-08-31", rentAmount="800.00")
    assert codes(made) == ["term_over"]
    dues = landlord.walk("listRentsDue", f"tenancyId={made['id']}&toDate=2026-11-30")
    assert [(one["dueDate"], one["amount"]) for one in dues] == [
        (f"2026-{month:02}-01", "800.00") for month in range(6, 12)
    ]
    assert made["arrears"] == "4800.00"
    assert only(landlord, "listPropertyUnits")["occupancy"] == "let"
    recorded = landlord.post("recordRent", tenancyId=made["id"], date="2026-11-02", amount="4800.00")
    assert (recorded["arrears"], recorded["credit"]) == ("0.00", "0.00")
    left = landlord.change(made, endedDate="2026-10-15")
    # October is due for 15 days of 31, and November not at all (Domain C3)
    assert (left["arrears"], left["credit"]) == ("0.00", "1212.90")
    assert only(landlord, "listPropertyUnits")["occupancy"] == "vacant"


def test_calendars_have_the_end_of_the_term_and_say_that_it_is_no_more(landlord: Landlord) -> None:
    landlord.let(landlord.house(**WALES), endDate="2027-01-31")
    landlord.let(type="company_let", endDate="2027-01-30")
    found = landlord.store.read(lambda tx: feed_content.ends_since(tx, "2026-11-20", None, 10), landlord.org_id)
    assert [(end.day, bool(end.continues)) for end in found] == [("2027-01-30", False), ("2027-01-31", True)]


# -- books of before


def older(landlord: Landlord, *made: Json) -> Landlord:
    """The same lets, after an upgrade from a program to which the end of each term was that of the tenancy."""
    changes = [(_OF_TERM, {"id": one["id"], "total": 100_00}) for one in made]
    changes += [(_PAID, {"id": one["id"]}) for one in made]
    after = Landlord.__new__(Landlord)
    after.__dict__ = {**landlord.__dict__, "store": migrated_from(landlord.store, "continue_tenancies", changes)}
    return after


@pytest.mark.parametrize("type_", ["assured_shorthold", "occupation_contract", "commercial_lease", "company_let"])
def test_what_had_ended_by_its_term_before_the_upgrade_has_ended(landlord: Landlord, type_: str) -> None:
    house = landlord.house(jurisdiction="wales" if type_ == "occupation_contract" else "england")
    made = landlord.let(house, type=type_, startDate="2019-06-01", endDate="2020-05-31")
    after = older(landlord, made)
    served = only(after, "listTenancies")
    assert (served["endDate"], served["status"], served["warnings"]) == ("2020-05-31", "ended", [])
    assert served["endedDate"] == (None if type_ == "company_let" else "2020-05-31")
    assert only(after, "listTenants")["status"] == "past"
    after.store.close()


@pytest.mark.parametrize("type_", ["occupation_contract", "commercial_lease", "company_let"])
def test_a_term_that_runs_at_the_upgrade_ends_no_more_than_the_law_says(landlord: Landlord, type_: str) -> None:
    house = landlord.house(jurisdiction="wales" if type_ == "occupation_contract" else "england")
    unit = landlord.unit(house)
    made = landlord.let(house, unitId=unit, type=type_, startDate="2026-11-01", endDate="2098-10-31")
    after = older(landlord, made)
    served = only(after, "listTenancies")
    assert (served["termEndDate"], served["endedDate"], served["status"]) == ("2098-10-31", None, "active")
    assert served["endDate"] == ("2098-10-31" if type_ == "company_let" else None)
    # what is kept beside it is true as well: until when it is let, and who owes
    kept = "SELECT let_until FROM property_units UNION ALL SELECT lets_until FROM tenants"
    until = "2098-10-31" if type_ == "company_let" else "9999-12-31"
    assert [row[0] for row in after.store.read(lambda tx: tx.rows(kept), after.org_id)] == [until, until]
    if type_ != "company_let":
        owing = after.store.read(lambda tx: arrears.of_all(tx, "2026-11-20"), after.org_id)
        assert [(one.tenancy_id, one.arrears, one.oldest_due) for one in owing] == [(made["id"], 950_00, "2026-11-01")]
        stale = after.store.read(lambda tx: rents_received.stale(tx, "", 10), after.org_id)
        assert stale == [(made["id"], False)]
    after.store.close()


def test_older_books_without_a_term_stay_as_they_are(landlord: Landlord, store: MemoryStore) -> None:
    made = landlord.let()
    after = migrated_from(store, "continue_tenancies", [])
    rows = [one.connection.execute("SELECT * FROM tenancies").fetchall() for one in (store, after)]
    assert rows[0] == rows[1]
    assert made["endDate"] is None
    after.close()
