"""Allocations that name a property, or a unit, a tenancy or a mortgage of it: what follows, and what does not fit."""

from typing import Any, NamedTuple

import pytest
from msgspec.structs import replace

from gatewayd.errors import Problem
from gatewayd.ledger.allocating import allocations
from gatewayd.ledger.allocating.allocation_shapes import Allocation, Entry, Part
from tests.areas.accounting.books import fields_of
from tests.areas.businesses.ledger_books import LedgerBooks
from tests.ledger.lets import insert_mortgage, insert_property, insert_tenancy, insert_unit
from tests.support.store import MemoryStore


class Lets(NamedTuple):
    """A property business of a person, with a house of two rooms, and another house."""

    books: LedgerBooks
    owner: str
    business: str
    house: str
    room: str
    other_room: str
    tenancy: str
    whole_tenancy: str
    mortgage: str
    other_house: str
    other_mortgage: str

    def property(self, business: str | None = None, **fields: Any) -> str:
        return self.books.write(lambda tx: insert_property(tx, business or self.business, **fields))

    def mortgage_on(self, house: str, **fields: Any) -> str:
        return self.books.write(lambda tx: insert_mortgage(tx, house, **fields))

    def enter(self, category: Any = "periodAmount", date: str = "2026-11-02", **names: Any) -> Allocation:
        part = Part(category=category, direction="in", amount=100_00, description="Entry", **names)
        (row,) = self.books.write(lambda tx: allocations.enter(tx, [part], Entry(date, "GBP")))
        return row

    def refused(self, category: Any = "periodAmount", **names: Any) -> list[tuple[str, str]]:
        with pytest.raises(Problem) as caught:
            self.enter(category, **names)
        return fields_of(caught.value)


@pytest.fixture
def lets(store: MemoryStore) -> Lets:
    books = LedgerBooks(store)
    owner = books.unregistered_entity()
    business = books.trade(owner, type="uk_property", name="Lets")
    house, other_house = (books.write(lambda tx: insert_property(tx, business)) for _ in range(2))
    rooms = [books.write(lambda tx, n=name: insert_unit(tx, house, name=n)) for name in ("Room 1", "Room 2")]
    tenancies = [books.write(lambda tx, u=unit: insert_tenancy(tx, house, unit_id=u)) for unit in (rooms[0], None)]
    mortgages = [books.write(lambda tx, h=one: insert_mortgage(tx, h)) for one in (house, other_house)]
    return Lets(books, owner, business, house, *rooms, *tenancies, mortgages[0], other_house, mortgages[1])


# -- what follows from what is named


@pytest.mark.parametrize("name", ["room", "tenancy", "whole_tenancy", "mortgage"])
def test_property_and_business_follow_from_what_belongs_to_it(lets: Lets, name: str) -> None:
    field = {"room": "unit_id", "mortgage": "mortgage_id"}.get(name, "tenancy_id")
    row = lets.enter(**{field: getattr(lets, name)})
    assert (row.property_id, row.business_id, row.legal_entity_id) == (lets.house, lets.business, lets.owner)


def test_the_unit_follows_from_its_tenancy(lets: Lets) -> None:
    assert lets.enter(tenancy_id=lets.tenancy).unit_id == lets.room
    assert lets.enter(tenancy_id=lets.whole_tenancy).unit_id is None
    assert lets.enter(tenancy_id=lets.whole_tenancy, unit_id=lets.other_room).unit_id == lets.other_room


def test_the_business_of_a_property_goes_before_the_one_that_the_account_names(lets: Lets) -> None:
    trade = lets.books.business(lets.owner)
    line = lets.books.line(lets.books.account(lets.owner, trade), 900_00)
    (row,) = lets.books.allocate(line, Part("periodAmount", property_id=lets.house))
    assert (row.business_id, row.property_id) == (lets.business, lets.house)


def test_what_is_no_income_or_expense_has_the_business_of_its_property_too(lets: Lets) -> None:
    line = lets.books.line(lets.books.account(lets.owner), 500_00)
    (row,) = lets.books.allocate(line, Part("not_pnl", "deposit", tenancy_id=lets.tenancy))
    assert (row.business_id, row.property_id, row.unit_id) == (lets.business, lets.house, lets.room)


# -- what does not fit


def test_a_business_has_its_own_properties_alone(lets: Lets) -> None:
    abroad = lets.books.trade(lets.owner, type="foreign_property", name="Abroad")
    assert lets.refused(business_id=abroad, property_id=lets.house) == [("parts[0].propertyId", "conflict")]
    assert lets.refused(business_id=abroad, tenancy_id=lets.tenancy) == [("parts[0].propertyId", "conflict")]


def test_unit_tenancy_and_mortgage_are_of_the_property(lets: Lets) -> None:
    for field, id_ in (("unitId", lets.room), ("tenancyId", lets.tenancy), ("mortgageId", lets.mortgage)):
        name = {"unitId": "unit_id", "tenancyId": "tenancy_id", "mortgageId": "mortgage_id"}[field]
        errors = lets.refused(property_id=lets.other_house, **{name: id_})
        assert (f"parts[0].{field}", "conflict") in errors
    assert lets.refused(unit_id=lets.room, mortgage_id=lets.other_mortgage) == [("parts[0].mortgageId", "conflict")]
    assert lets.enter(property_id=lets.house, unit_id=lets.room, mortgage_id=lets.mortgage).unit_id == lets.room


def test_a_tenancy_of_a_unit_is_of_no_other(lets: Lets) -> None:
    assert lets.refused(unit_id=lets.other_room, tenancy_id=lets.tenancy) == [("parts[0].tenancyId", "conflict")]


@pytest.mark.parametrize("field", ["propertyId", "unitId", "tenancyId", "mortgageId"])
def test_what_is_unknown_or_another_organizations_is_an_unknown_reference(
    lets: Lets, store: MemoryStore, field: str
) -> None:
    name = field.removesuffix("Id") + "_id"
    foreign = LedgerBooks(store)
    business = foreign.trade(foreign.unregistered_entity(), type="uk_property", name="Lets")
    house = foreign.write(lambda tx: insert_property(tx, business))
    theirs = {
        "propertyId": house,
        "unitId": foreign.write(lambda tx: insert_unit(tx, house)),
        "tenancyId": foreign.write(lambda tx: insert_tenancy(tx, house)),
        "mortgageId": foreign.write(lambda tx: insert_mortgage(tx, house)),
    }[field]
    for id_ in (theirs, "xyz_1"):
        errors = lets.refused(business_id=lets.business, **{name: id_})
        assert errors == [(f"parts[0].{field}", "unknown_reference")]


def test_an_archived_property_takes_nothing_new_and_keeps_what_it_has(lets: Lets) -> None:
    row = lets.enter(property_id=lets.house)
    sql = "UPDATE properties SET status = 'archived', archived_at = :now WHERE org_id = :org_id AND id = :id"
    lets.books.write(lambda tx: tx.run(sql, id=lets.house))
    assert lets.refused(property_id=lets.house) == [("parts[0].propertyId", "conflict")]
    changed = lets.books.write(lambda tx: allocations.change(tx, row, replace(row, description="Rent of May")))
    assert changed.property_id == lets.house


# -- changes


def changed(lets: Lets, row: Allocation, **fields: Any) -> Allocation:
    return lets.books.write(lambda tx: allocations.change(tx, row, replace(row, **fields)))


def test_a_change_is_looked_at_as_what_is_new(lets: Lets) -> None:
    row = lets.enter(business_id=lets.business)
    row = changed(lets, row, tenancy_id=lets.tenancy)
    assert (row.property_id, row.unit_id) == (lets.house, lets.room)
    with pytest.raises(Problem) as caught:
        changed(lets, row, property_id=lets.other_house)
    assert fields_of(caught.value) == [("unitId", "conflict"), ("tenancyId", "conflict")]
    row = changed(lets, row, property_id=lets.other_house, unit_id=None, tenancy_id=None)
    assert row.property_id == lets.other_house
    assert changed(lets, row, property_id=None).property_id is None


def test_property_and_unit_are_those_of_the_tenancy_for_as_long_as_it_is_named(lets: Lets) -> None:
    row = changed(lets, lets.enter(tenancy_id=lets.tenancy), property_id=None, unit_id=None)
    assert (row.property_id, row.unit_id) == (lets.house, lets.room)


# -- interest on mortgages


def test_interest_on_a_dwelling_of_a_person_is_relieved_and_not_deducted(lets: Lets) -> None:
    assert lets.refused("financialCosts", mortgage_id=lets.mortgage) == [("parts[0].category", "conflict")]
    assert lets.enter("residentialFinancialCost", mortgage_id=lets.mortgage).mortgage_id == lets.mortgage


def test_who_does_not_name_the_mortgage_may_know_better(lets: Lets) -> None:
    assert lets.enter("financialCosts", property_id=lets.house).category == "financialCosts"
    assert lets.enter("residentialFinancialCost", property_id=lets.house).category == "residentialFinancialCost"


@pytest.mark.parametrize(
    ("use", "type_", "date", "category"),
    [
        ("residential_let", "house", "2026-11-02", "residentialFinancialCost"),
        ("rent_a_room", "house", "2026-11-02", "residentialFinancialCost"),
        ("mixed", "mixed_use", "2026-11-02", "residentialFinancialCost"),
        ("vacant", "flat", "2026-11-02", "residentialFinancialCost"),
        ("vacant", "commercial", "2026-11-02", "financialCosts"),
        ("own_use", "garage", "2026-11-02", "financialCosts"),
        ("commercial_let", "house", "2026-11-02", "financialCosts"),
        ("holiday_let", "house", "2025-04-05", "financialCosts"),
        ("holiday_let", "house", "2025-04-06", "residentialFinancialCost"),
    ],
)
def test_the_line_of_interest_goes_by_what_is_let_and_when(
    lets: Lets, use: str, type_: str, date: str, category: str
) -> None:
    mortgage = lets.mortgage_on(lets.property(use=use, type=type_))
    other = {"residentialFinancialCost": "financialCosts"}.get(category, "residentialFinancialCost")
    assert lets.refused(other, date=date, mortgage_id=mortgage) == [("parts[0].category", "conflict")]
    assert lets.enter(category, date=date, mortgage_id=mortgage).category == category


def test_a_company_deducts_its_interest(lets: Lets) -> None:
    company = lets.books.unregistered_entity(name="Lets Ltd", type="limited_company", companyNumber="01234567")
    mortgage = lets.mortgage_on(lets.property(lets.books.trade(company, type="uk_property", name="Lets")))
    assert lets.refused("residentialFinancialCost", mortgage_id=mortgage) == [("parts[0].category", "conflict")]
    assert lets.enter("financialCosts", mortgage_id=mortgage).category == "financialCosts"


def test_a_use_that_changed_since_is_not_held_against_what_was_allocated(lets: Lets) -> None:
    row = lets.enter("residentialFinancialCost", mortgage_id=lets.mortgage)
    sql = "UPDATE properties SET use = 'commercial_let' WHERE org_id = :org_id AND id = :id"
    lets.books.write(lambda tx: tx.run(sql, id=lets.house))
    assert changed(lets, row, description="Interest").category == "residentialFinancialCost"
    with pytest.raises(Problem) as caught:
        changed(lets, changed(lets, row, category="other"), category="residentialFinancialCost")
    assert fields_of(caught.value) == [("category", "conflict")]


@pytest.mark.parametrize(
    ("use", "wrong", "message"),
    [
        ("residential_let", "financialCosts", "is relieved and not deducted: it is residentialFinancialCost."),
        ("commercial_let", "residentialFinancialCost", "is deducted: it is financialCosts."),
    ],
)
def test_a_wrong_line_is_told_the_right_one(lets: Lets, use: str, wrong: Any, message: str) -> None:
    mortgage = lets.mortgage_on(lets.property(use=use, type="house"))
    with pytest.raises(Problem) as caught:
        lets.enter(wrong, mortgage_id=mortgage)
    assert [error.message for error in caught.value.errors] == [f"Interest on this mortgage {message}"]
