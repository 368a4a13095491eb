"""Tenants of a tenancy from a day to a day: who was replaced is found, and kept as long as any former tenant."""

import pytest

from gatewayd.errors import Problem
from tests.areas.accounting.books import Json, fields_of
from tests.areas.landlord.landlords import Landlord, codes

START = "2024-01-01"


def spans(tenancy: Json) -> list[tuple[str, str, str | None]]:
    return [(one["tenantId"], one["fromDate"], one["toDate"]) for one in tenancy["tenants"]]


def listed(landlord: Landlord, query: str) -> set[str]:
    return {one["id"] for one in landlord.walk("listTenants", query)}


def status(landlord: Landlord, tenant: str) -> str:
    return next(str(one["status"]) for one in landlord.walk("listTenants", "") if one["id"] == tenant)


def test_a_replaced_tenant_stays_a_tenant_up_to_the_day_before(landlord: Landlord) -> None:
    """Today is 20 November 2026."""
    house, rosa, tom, ann = landlord.house(), *(landlord.tenant(name) for name in ("Rosa Hart", "Tom Lee", "Ann May"))
    let = landlord.let(house, startDate=START, tenantIds=[rosa, tom])
    assert spans(let) == [(rosa, START, None), (tom, START, None)]
    changed = landlord.change(let, tenantIds=[ann, rosa], tenantsFromDate="2026-03-01")
    assert changed["tenantIds"] == [ann, rosa]
    assert spans(changed) == [(ann, "2026-03-01", None), (rosa, START, None), (tom, START, "2026-02-28")]
    assert "tenants_day_supposed" not in codes(changed)
    for place in (f"tenancyId={let['id']}", f"propertyId={house}"):
        assert listed(landlord, place) == {rosa, tom, ann}
        assert listed(landlord, f"{place}&includeFormer=false") == {rosa, ann}
    assert [one["id"] for one in landlord.walk("listTenancies", f"tenantId={tom}")] == [let["id"]]
    assert (status(landlord, tom), status(landlord, ann)) == ("past", "current")
    assert listed(landlord, "status=current") == {rosa, ann}
    assert listed(landlord, "status=past") == {tom}


def test_a_replaced_tenant_is_kept_for_six_years_from_the_last_day_as_one(landlord: Landlord) -> None:
    tom = landlord.tenant("Tom Lee")
    let = landlord.let(startDate=START, tenantIds=[tom])
    landlord.change(let, tenantIds=[landlord.tenant()], tenantsFromDate="2026-03-01")
    for day in ("2026-11-20", "2032-02-28"):  # six years after 28 February 2026, to the day
        landlord.at(day)
        with pytest.raises(Problem) as caught:
            landlord.post("eraseTenant", id=tom)
        assert caught.value.code == "invalid_state"
        assert "until 2032-02-28" in caught.value.message
    landlord.at("2032-02-29")
    assert landlord.post("eraseTenant", id=tom)["name"] == "Erased tenant"
    [found] = landlord.walk("listTenancies", f"tenantId={tom}")
    assert found["tenants"][1]["tenantId"] == tom


def test_the_last_of_all_tenancies_counts(landlord: Landlord) -> None:
    """Replaced in one in 2019, and a tenant of another until the end of 2020: kept until the end of 2026."""
    tom, other = landlord.tenant("Tom Lee"), landlord.tenant()
    first = landlord.let(startDate="2018-01-01", tenantIds=[tom])
    landlord.change(first, tenantIds=[other], tenantsFromDate="2019-06-01")
    landlord.let(startDate="2020-01-01", endedDate="2020-12-31", tenantIds=[tom])
    with pytest.raises(Problem) as caught:
        landlord.post("eraseTenant", id=tom)
    assert "until 2026-12-31" in caught.value.message
    landlord.at("2027-01-01")
    landlord.post("eraseTenant", id=tom)


def test_who_left_after_the_tenancy_ended_left_with_it(landlord: Landlord) -> None:
    tom = landlord.tenant("Tom Lee")
    let = landlord.let(startDate="2018-01-01", tenantIds=[tom], type="other")
    landlord.change(let, tenantIds=[landlord.tenant()], tenantsFromDate="2020-12-01")
    landlord.change(let, endDate="2020-12-15")
    with pytest.raises(Problem) as caught:
        landlord.change(let, endDate="2020-11-15")
    assert fields_of(caught.value) == [("endDate", "date_order")]
    landlord.at("2026-11-30")
    with pytest.raises(Problem):
        landlord.post("eraseTenant", id=tom)
    landlord.at("2026-12-01")
    landlord.post("eraseTenant", id=tom)


def test_without_a_day_they_are_tenants_from_today_on_and_that_is_told(landlord: Landlord) -> None:
    tom, ann = landlord.tenant("Tom Lee"), landlord.tenant("Ann May")
    let = landlord.let(startDate=START, tenantIds=[tom])
    changed = landlord.change(let, tenantIds=[ann])
    assert spans(changed) == [(ann, "2026-11-20", None), (tom, START, "2026-11-19")]
    assert "tenants_day_supposed" in codes(changed)
    corrected = landlord.change(let, tenantIds=[ann], tenantsFromDate="2026-05-01")
    assert spans(corrected) == [(ann, "2026-05-01", None), (tom, START, "2026-04-30")]


def test_who_comes_back_was_away(landlord: Landlord) -> None:
    tom, ann = landlord.tenant("Tom Lee"), landlord.tenant("Ann May")
    let = landlord.let(startDate=START, tenantIds=[tom, ann])
    landlord.change(let, tenantIds=[ann], tenantsFromDate="2024-06-01")
    back = landlord.change(let, tenantIds=[ann, tom], tenantsFromDate="2025-01-01")
    assert spans(back) == [(ann, START, None), (tom, "2025-01-01", None), (tom, START, "2024-05-31")]
    assert status(landlord, tom) == "current"
    never_away = landlord.change(let, tenantIds=[ann, tom], tenantsFromDate="2024-06-01")
    assert spans(never_away) == [(ann, START, None), (tom, START, None)]


def test_the_first_day_puts_right_who_was_entered_wrongly(landlord: Landlord) -> None:
    wrong, right = landlord.tenant("Tom Lee"), landlord.tenant("Ann May")
    let = landlord.let(startDate=START, tenantIds=[wrong])
    changed = landlord.change(let, tenantIds=[right], tenantsFromDate=START)
    assert spans(changed) == [(right, START, None)]
    assert listed(landlord, f"tenancyId={let['id']}") == {right}
    assert landlord.post("eraseTenant", id=wrong)["name"] == "Erased tenant"


def test_before_it_begins_and_in_another_order_nobody_is_replaced(landlord: Landlord) -> None:
    tom, ann = landlord.tenant("Tom Lee"), landlord.tenant("Ann May")
    soon = landlord.let(startDate="2026-12-01", tenantIds=[tom])
    assert spans(landlord.change(soon, tenantIds=[ann])) == [(ann, "2026-12-01", None)]
    assert status(landlord, tom) == "prospective"
    let = landlord.let(startDate=START, tenantIds=[tom, ann])
    turned = landlord.change(let, tenantIds=[ann, tom])
    assert spans(turned) == [(ann, START, None), (tom, START, None)]
    assert "tenants_day_supposed" not in codes(turned)


def test_another_first_day_is_that_of_those_who_were_there_from_the_start(landlord: Landlord) -> None:
    tom, ann = landlord.tenant("Tom Lee"), landlord.tenant("Ann May")
    let = landlord.let(startDate=START, tenantIds=[tom])
    landlord.change(let, tenantIds=[ann], tenantsFromDate="2025-01-01")
    moved = landlord.change(let, startDate="2023-12-01")
    assert spans(moved) == [(ann, "2025-01-01", None), (tom, "2023-12-01", "2024-12-31")]
    with pytest.raises(Problem) as caught:
        landlord.change(let, startDate="2025-02-01")
    assert fields_of(caught.value) == [("startDate", "date_order")]


@pytest.mark.parametrize(
    ("fields", "wrong"),
    [
        ({"tenantsFromDate": "2023-12-31"}, ("tenantsFromDate", "out_of_range")),
        ({"tenantsFromDate": "2026-11-21"}, ("tenantsFromDate", "out_of_range")),
        ({"tenantsFromDate": "2026-11-01", "tenantIds": None}, ("tenantIds", "required")),
    ],
)
def test_a_day_that_does_not_fit_is_refused(landlord: Landlord, fields: Json, wrong: tuple[str, str]) -> None:
    let = landlord.let(startDate=START)
    body = {"tenantIds": [landlord.tenant()], **fields}
    given = {name: value for name, value in body.items() if value is not None}
    with pytest.raises(Problem) as caught:
        landlord.change(let, **given)
    assert fields_of(caught.value) == [wrong]


def test_of_a_tenancy_that_has_ended_the_day_is_asked_for(landlord: Landlord) -> None:
    tom, ann = landlord.tenant("Tom Lee"), landlord.tenant("Ann May")
    let = landlord.let(startDate="2024-01-01", endedDate="2025-12-31", tenantIds=[tom])
    with pytest.raises(Problem) as caught:
        landlord.change(let, tenantIds=[ann])
    assert fields_of(caught.value) == [("tenantsFromDate", "required")]
    changed = landlord.change(let, tenantIds=[ann], tenantsFromDate="2025-07-01")
    assert spans(changed) == [(ann, "2025-07-01", None), (tom, "2024-01-01", "2025-06-30")]
