"""Which business of ours is which source of the authority's, and where they differ."""

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatewayd.areas.businesses.rows import NEVER_SYNCED
from gatewayd.areas.businesses.shapes import BusinessRow
from gatewayd.contract.wire import Address
from gatewayd.tax.sync.business_details import ListedSource, Source, differences, match_sources
from tests.support.store import START

TYPES = ("self_employment", "uk_property", "foreign_property")


def ours(id_: str, type_: str = "self_employment", known: str | None = None, **values: Any) -> BusinessRow:
    columns = {
        **dict.fromkeys(BusinessRow.__struct_fields__),
        "id": id_,
        "legal_entity_id": "ent_1",
        "type": type_,
        "name": id_,
        "status": "active",
        "accounting_basis": "cash",
        "quarterly_period_type": "standard",
        "uses_consolidated_expenses": False,
        "currency": "GBP",
        "bank_account_ids": [],
        "owner_share_percent": "100",
        "tax_business_id": known,
        "tax_sync": NEVER_SYNCED,
        "created_at": START,
        "updated_at": START,
        "version": 1,
        **values,
    }
    return BusinessRow(**columns)


def theirs(**listed: tuple[Any, str | None]) -> dict[str, ListedSource]:
    """Sources by their id: a type, and a trading name."""
    return {id_: ListedSource(id_, type_, name) for id_, (type_, name) in listed.items()}


def pairs(businesses: list[BusinessRow], listed: Mapping[str, ListedSource]) -> dict[str, str]:
    return {tax_business_id: row.id for tax_business_id, row in match_sources(businesses, listed).items()}


def test_the_authoritys_id_goes_before_all() -> None:
    rows = [ours("a", "uk_property", "X1"), ours("b"), ours("old", known="X2", archived_at=START)]
    listed = theirs(X1=("self_employment", None), X2=("self_employment", None), X3=("self_employment", None))
    assert pairs(rows, listed) == {"X1": "a", "X2": "old", "X3": "b"}


def test_one_of_a_kind_on_both_sides_is_the_same() -> None:
    listed = theirs(X1=("self_employment", "Oak"), X2=("uk_property", None))
    assert pairs([ours("a"), ours("b", "uk_property"), ours("c", "foreign_property")], listed) == {"X1": "a", "X2": "b"}


@pytest.mark.parametrize("count", [(2, 1), (1, 2), (2, 2), (0, 1), (1, 0)])
def test_of_several_of_a_kind_none_is_told_by_it(count: tuple[int, int]) -> None:
    rows = [ours(f"a{number}") for number in range(count[0])]
    listed = theirs(**{f"X{number}": ("self_employment", None) for number in range(count[1])})
    assert pairs(rows, listed) == {}


def test_of_several_of_a_kind_the_name_tells() -> None:
    """What is then left may be one of a kind."""
    rows = [ours("a", trading_name="OAK Joinery"), ours("b", name="Elm"), ours("c", "uk_property", name="Oak Joinery")]
    listed = theirs(X1=("self_employment", "Other"), X2=("self_employment", "Oak joinery"))
    assert pairs(rows, listed) == {"X2": "a", "X1": "b"}
    twice = [*rows, ours("d", trading_name="Oak Joinery")]
    assert pairs(twice, theirs(X2=("self_employment", "Oak Joinery"))) == {}


def test_what_is_archived_or_another_source_is_not_matched_by_its_kind() -> None:
    rows = [ours("a", archived_at=START), ours("b", known="X9")]
    assert pairs(rows, theirs(X1=("self_employment", None))) == {}


ROWS = st.lists(
    st.tuples(st.sampled_from(TYPES), st.sampled_from([None, "X1", "X2", "X9"]), st.sampled_from(["Oak", "Elm"])),
    max_size=6,
)
LISTS = st.dictionaries(
    st.sampled_from(["X1", "X2", "X3", "X4"]), st.tuples(st.sampled_from(TYPES), st.sampled_from([None, "Oak", "Elm"]))
)


@given(ROWS, LISTS)
def test_a_business_is_one_source_and_of_its_kind(
    made: list[tuple[str, str | None, str]], listed_: dict[str, tuple[str, str | None]]
) -> None:
    known: set[str] = set()
    rows = []
    for number, (type_, tax_business_id, name) in enumerate(made):
        told = tax_business_id if tax_business_id not in known else None
        known.update([told] if told else [])
        rows.append(ours(f"b{number}", type_, told, name=name))
    listed = theirs(**listed_)
    found = match_sources(rows, listed)
    assert len({row.id for row in found.values()}) == len(found)
    for tax_business_id, row in found.items():
        assert row.tax_business_id == tax_business_id or (
            row.tax_business_id is None and row.type == listed[tax_business_id].type
        )
    assert all(row.tax_business_id not in listed or found[row.tax_business_id] == row for row in rows)
    assert pairs(rows[::-1], dict(reversed(listed.items()))) == {key: row.id for key, row in found.items()}


# -- differences


def said(**values: Any) -> Source:
    return Source({"tax_business_id": "X1", **values}, None, None)


def test_what_is_the_same_is_no_difference() -> None:
    address = Address(line1="1 Elm", country_code="GB")
    row = ours("a", known="X1", trading_name="Oak", address=address)
    assert differences(row, said(type="self_employment", trading_name="Oak", address=address)) == []


def test_each_field_that_differs_is_told_in_the_authoritys_order() -> None:
    found = differences(ours("a"), said(type="uk_property", trading_name="Oak", accounting_basis="cash"))
    assert [tuple(one) for one in found] == [
        ("tax_business_id", None, "X1"),
        ("type", "self_employment", "uk_property"),
        ("trading_name", None, "Oak"),
    ]


def test_a_business_that_is_not_kept_differs_in_everything() -> None:
    assert [tuple(one) for one in differences(None, said(type="uk_property"))] == [
        ("tax_business_id", None, "X1"),
        ("type", None, "uk_property"),
    ]


def test_a_cessation_that_is_not_known_there_is_a_difference() -> None:
    row = ours("a", known="X1", status="ceased", cessation_date="2026-10-31")
    assert [tuple(one) for one in differences(row, said())] == [("cessation_date", "2026-10-31", None)]
    assert differences(row, said(cessation_date="2026-10-31")) == []


@pytest.mark.parametrize(("type_", "count"), [("uk_property", 0), ("foreign_property", 0), ("self_employment", 1)])
def test_property_of_which_it_is_not_said_where_it_is(type_: str, count: int) -> None:
    assert len(differences(ours("a", type_, "X1"), said(type="property_unspecified"))) == count
