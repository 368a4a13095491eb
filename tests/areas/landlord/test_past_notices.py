"""A landlord's notice on a home ends nothing: the tenancy goes on, and rent is due, until somebody has left.

It is 20 November 2026. What an upgrade makes of notices of before stands here too.
"""

import pytest

from gatewayd.areas.banking.proposals import rents
from gatewayd.areas.landlord.rents import arrears
from gatewayd.areas.periods import feed_content
from gatewayd.errors import Problem
from gatewayd.ledger.allocating import rents_received
from gatewayd.ledger.calendar import period_locks
from tests.areas.accounting.books import Json
from tests.areas.landlord.landlords import Landlord, codes
from tests.areas.landlord.older_books import migrated_from
from tests.areas.landlord.test_continued_tenancies import only
from tests.areas.landlord.test_dashboard import Estate
from tests.areas.landlord.test_reminders import tell
from tests.areas.landlord.test_rents_on_accruals import Company
from tests.support.store import MemoryStore

NOTICE = {"noticeServedDate": "2026-08-01", "noticeBy": "landlord", "noticeExpiryDate": "2026-09-30"}
_OF_NOTICE = "UPDATE tenancies SET last_day = notice_expiry_date, rent_total = :total WHERE id = :id"
_PAID = "UPDATE rents_received SET unpaid_from = NULL WHERE tenancy_id = :id"


def test_rent_is_due_and_the_unit_let_until_somebody_has_left(landlord: Landlord) -> None:
    """Housing Act 1988 s5(1): of an assured tenancy nothing but a court's order or the tenant makes an end."""
    house = landlord.house()
    unit = landlord.unit(house)
    made = landlord.let(house, unitId=unit, startDate="2025-01-01", rentAmount="800.00")
    given = {"noticeServedDate": "2026-06-20", "noticeExpiryDate": "2026-10-20", "noticeKind": "section_8"}
    changed = landlord.change(made, **given, noticeGrounds=["1A"])
    assert (changed["status"], changed["endDate"], changed["endedDate"]) == ("notice", None, None)
    assert codes(changed) == ["notice_proceedings_by", "notice_expired"]
    dues = landlord.walk("listRentsDue", f"tenancyId={made['id']}&fromDate=2026-10-01&toDate=2026-12-31")
    assert [(one["dueDate"], one["amount"]) for one in dues] == [
        ("2026-10-01", "800.00"),
        ("2026-11-01", "800.00"),
        ("2026-12-01", "800.00"),
    ]
    assert changed["arrears"] == "18400.00"  # 23 months
    assert only(landlord, "listPropertyUnits")["occupancy"] == "ending"
    assert only(landlord, "listPropertyUnits", "status=ending")["id"] == unit
    assert [one.tenancy_id for one in landlord.store.read(rents.tenancies, landlord.org_id)] == [made["id"]]
    assert only(landlord, "listTenants")["status"] == "current"
    with pytest.raises(Problem) as caught:
        landlord.post("eraseTenant", id=made["tenantIds"][0])
    assert caught.value.code == "invalid_state"
    # who lets it anew has to say first that they left
    with pytest.raises(Problem) as caught:
        landlord.let(house, unitId=unit, startDate="2026-11-01")
    assert caught.value.code == "overlapping_tenancy"
    assert "goes on past its notice (2026-10-20) until `endedDate` is given" in str(caught.value)
    left = landlord.change(made, endedDate="2026-11-15")
    assert (left["status"], left["endDate"], left["warnings"]) == ("ended", "2026-11-15", [])
    assert left["arrears"] == "18000.00"  # 22 months, and November for 15 days of 30
    assert only(landlord, "listPropertyUnits")["occupancy"] == "vacant"
    assert landlord.walk("listTenancies", "status=notice") == []
    again = landlord.let(house, unitId=unit, startDate="2026-11-16")
    assert again["status"] == "active"


@pytest.mark.parametrize(
    ("jurisdiction", "type_", "goes_on"),
    [
        ("england", "assured_periodic", True),
        ("england", "regulated", True),
        ("wales", "occupation_contract", True),
        ("scotland", "private_residential_tenancy", True),
        ("northern_ireland", "private_tenancy_ni", True),
        ("england", "lodger", False),
        ("england", "company_let", False),
        ("england", "commercial_lease", False),
        ("england", "other", False),
    ],
)
def test_what_a_landlords_notice_ends(landlord: Landlord, jurisdiction: str, type_: str, goes_on: bool) -> None:
    made = landlord.let(landlord.house(jurisdiction=jurisdiction), type=type_, startDate="2026-06-01")
    by_landlord = landlord.change(made, **NOTICE)
    assert (by_landlord["status"], by_landlord["endDate"]) == (("notice", None) if goes_on else ("ended", "2026-09-30"))
    assert ("notice_expired" in codes(by_landlord)) is goes_on
    by_nobody = landlord.change(made, noticeBy=None)
    assert by_nobody["status"] == by_landlord["status"]
    by_tenant = landlord.change(made, noticeBy="tenant")
    assert (by_tenant["status"], by_tenant["endDate"], codes(by_tenant)) == ("ended", "2026-09-30", [])


def test_a_term_that_is_over_is_not_told_beside_a_notice(landlord: Landlord) -> None:
    made = landlord.let(landlord.house(jurisdiction="wales"), endDate="2026-10-31")
    assert codes(made) == ["term_over"]
    noticed = landlord.change(made, **{**NOTICE, "noticeExpiryDate": "2027-03-31"}, noticeKind="section_186")
    assert codes(noticed) == []
    landlord.at("2027-03-31")
    assert codes(only(landlord, "listTenancies")) == []
    landlord.at("2027-04-01")
    assert codes(only(landlord, "listTenancies")) == ["notice_expired"]
    assert codes(landlord.change(made, noticeServedDate=None)) == ["term_over"]  # they stay


def test_an_end_that_was_agreed_is_not_taken_back_by_a_notice_that_ends_nothing(landlord: Landlord) -> None:
    made = landlord.let(startDate="2025-01-01")
    landlord.change(made, endedDate="2027-01-15")
    assert landlord.change(made, **NOTICE)["endDate"] == "2027-01-15"
    assert landlord.change(made, noticeExpiryDate="2026-10-31")["endDate"] == "2027-01-15"
    # the tenant's does end it: another day of it goes before what was said earlier
    assert landlord.change(made, noticeBy="tenant", noticeExpiryDate="2026-12-31")["endDate"] == "2026-12-31"


def test_the_dashboard_tells_of_notices_that_have_expired(store: MemoryStore) -> None:
    estate = Estate(store)
    tenancy = estate.let(estate.house(), "900.00", "monthly", start="2026-01-01")
    estate.post("updateTenancy", id=tenancy["id"], **NOTICE)
    for day, told in (("2026-09-30", []), ("2026-10-01", ["notice_expired"])):
        found = estate.dashboard(f"businessId={estate.business_id}&asOfDate={day}")
        assert [one["code"] for one in found["warnings"] if one["code"] == "notice_expired"] == told
        assert (found["tenanciesUnderNotice"], found["activeTenancies"], found["letUnitCount"]) == (1, 1, 1)
        assert found["monthlyRentRoll"] == "900.00"
    estate.post("updateTenancy", id=tenancy["id"], endedDate="2026-10-10")
    found = estate.dashboard(f"businessId={estate.business_id}&asOfDate=2026-10-11")
    assert (found["tenanciesUnderNotice"], [one["code"] for one in found["warnings"]]) == (0, ["unvalued"])


def test_that_a_notice_expires_is_told_and_that_the_tenancy_continues(store: MemoryStore) -> None:
    estate = Estate(store)
    tenancy = estate.let(estate.house(name="9 Mill Lane"), "900.00", "monthly", start="2026-11-20")
    notice = {"noticeServedDate": "2026-11-20", "noticeKind": "section_8", "noticeGrounds": ["2"]}
    estate.post("updateTenancy", id=tenancy["id"], **notice, noticeExpiryDate="2027-03-20")
    assert "tenancy.ending" not in [kind for kind, _ in tell(estate, "2027-01-18")]
    [data] = [data for kind, data in tell(estate, "2027-01-19") if kind == "tenancy.ending"]
    assert (data["end_date"], data["days_until_end"], data["notice_by"], data["continues"]) == (
        "2027-03-20",
        60,
        "landlord",
        True,
    )
    [end] = estate.store.read(lambda tx: feed_content.ends_since(tx, "2027-01-19", None, 10), estate.org_id)
    assert (end.day, bool(end.continues), bool(end.noticed)) == ("2027-03-20", True, True)
    shown = feed_content._end(end, "2027-01-19")
    assert shown.summary.startswith("Notice on a tenancy expires: 9 Mill Lane")
    assert shown.description == "By notice of the landlord. The tenancy goes on until somebody leaves."


def test_a_notice_moves_no_rent_of_a_closed_period(store: MemoryStore) -> None:
    """A landlord's notice moves nothing, whatever it says; whose it is, and when they left, does."""
    company = Company(store)

    def change(**fields: object) -> Json:
        return company.post("updateTenancy", id=company.tenancy, **fields)

    change(noticeServedDate="2026-09-05", noticeBy="tenant", noticeExpiryDate="2026-10-05")
    company.store.write(
        lambda tx: period_locks.close(tx, company.owner, "2026-10-01", "2026-10-31") and None, company.org_id
    )
    for fields in ({"noticeBy": "landlord"}, {"noticeServedDate": None}, {"endedDate": "2026-10-20"}):
        with pytest.raises(Problem) as caught:
            change(**fields)
        assert caught.value.code == "period_closed"
    assert change(notes="Went to Leeds")["endDate"] == "2026-10-05"


def test_a_notice_of_the_landlord_within_a_closed_period_is_taken(store: MemoryStore) -> None:
    company = Company(store)
    company.store.write(
        lambda tx: period_locks.close(tx, company.owner, "2026-10-01", "2026-10-31") and None, company.org_id
    )
    notice = {"noticeServedDate": "2026-09-05", "noticeBy": "landlord", "noticeExpiryDate": "2026-10-05"}
    assert company.post("updateTenancy", id=company.tenancy, **notice)["status"] == "notice"
    with pytest.raises(Problem) as caught:
        company.post("updateTenancy", id=company.tenancy, endedDate="2026-10-05")
    assert caught.value.code == "period_closed"


# -- books of before


def older(landlord: Landlord, *made: Json) -> Landlord:
    """The same lets, after an upgrade from a program to which each notice was the end."""
    changes = [(_OF_NOTICE, {"id": one["id"], "total": 100_00}) for one in made]
    changes += [(_PAID, {"id": one["id"]}) for one in made]
    after = Landlord.__new__(Landlord)
    after.__dict__ = {**landlord.__dict__, "store": migrated_from(landlord.store, "go_on_past_notices", changes)}
    return after


def kept(landlord: Landlord) -> list[str]:
    """Until when, as it is stored beside them, the only unit is let and the only tenant has a tenancy."""
    sql = "SELECT let_until FROM property_units UNION ALL SELECT lets_until FROM tenants"
    return [row[0] for row in landlord.store.read(lambda tx: tx.rows(sql), landlord.org_id)]


@pytest.mark.parametrize("by", ["landlord", "tenant", None])
def test_what_had_ended_by_a_notice_before_the_upgrade_has_ended(landlord: Landlord, by: str | None) -> None:
    made = landlord.let(startDate="2019-06-01", type="assured_shorthold")
    landlord.change(made, noticeServedDate="2020-01-05", noticeBy=by, noticeExpiryDate="2020-03-31")
    after = older(landlord, made)
    served = only(after, "listTenancies")
    assert (served["endDate"], served["status"], served["warnings"]) == ("2020-03-31", "ended", [])
    assert served["endedDate"] == (None if by == "tenant" else "2020-03-31")
    assert (served["noticeKind"], served["noticeGrounds"]) == (None, [])
    assert only(after, "listTenants")["status"] == "past"
    after.store.close()


@pytest.mark.parametrize(
    ("by", "type_", "ends"),
    [
        ("landlord", "assured_periodic", False),
        (None, "assured_periodic", False),
        ("tenant", "assured_periodic", True),
        ("landlord", "lodger", True),
        (None, "commercial_lease", True),
    ],
)
def test_a_notice_that_runs_at_the_upgrade_ends_no_more_than_the_law_says(
    landlord: Landlord, by: str | None, type_: str, ends: bool
) -> None:
    house = landlord.house()
    unit = landlord.unit(house)
    made = landlord.let(house, unitId=unit, type=type_, startDate="2026-11-01")
    landlord.change(made, noticeServedDate="2026-11-02", noticeBy=by, noticeExpiryDate="2098-10-31")
    after = older(landlord, made)
    served = only(after, "listTenancies", "status=notice")
    assert (served["endDate"], served["endedDate"]) == ("2098-10-31" if ends else None, None)
    if type_ == "assured_periodic" and not ends:
        assert codes(served) == ["notice_kind_missing" if by else "notice_by_missing"]
    until = "2098-10-31" if ends else "9999-12-31"
    assert kept(after) == [until, until]
    if not ends:
        owing = after.store.read(lambda tx: arrears.of_all(tx, "2026-11-20"), after.org_id)
        assert [(one.tenancy_id, one.arrears, one.oldest_due) for one in owing] == [(made["id"], 950_00, "2026-11-01")]
        assert after.store.read(lambda tx: rents_received.stale(tx, "", 10), after.org_id) == [(made["id"], False)]
    after.store.close()


def test_who_was_replaced_before_a_notice_stays_so_at_the_upgrade(landlord: Landlord) -> None:
    rosa, tom = landlord.tenant(), landlord.tenant("Tom Hart")
    made = landlord.let(startDate="2026-06-01", tenantIds=[rosa])
    landlord.change(made, tenantIds=[tom], tenantsFromDate="2026-10-01")
    landlord.change(made, noticeServedDate="2026-11-02", noticeBy="landlord", noticeExpiryDate="2098-10-31")
    before = kept(landlord)
    after = older(landlord, made)
    assert kept(after) == before == ["2026-09-30", "9999-12-31"]
    after.store.close()
