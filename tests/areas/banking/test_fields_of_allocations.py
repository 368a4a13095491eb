"""Each field of an allocation: of many at once, of one that is changed, and of a balance that is stated."""

import pytest

from gatewayd.errors import Problem
from tests.areas.accounting.books import fields_of
from tests.areas.banking.conftest import Trading
from tests.areas.banking.test_lets import Letting
from tests.areas.vault.cabinet import Cabinet
from tests.ledger.lets import insert_property, insert_unit
from tests.support.store import MemoryStore

RENT = {"category": "periodAmount"}
COST = {"category": "adminCosts"}


@pytest.fixture
def letting(store: MemoryStore) -> Letting:
    return Letting(store)


def only(trading: Trading, line: str) -> dict[str, object]:
    (found,) = trading.get("listAllocations", f"bankTransactionId={line}")[0]
    return found


@pytest.mark.parametrize("name", ["propertyId", "unitId", "tenancyId"])
def test_many_are_of_the_place_that_is_named(letting: Letting, name: str) -> None:
    place = {"propertyId": letting.house, "unitId": letting.room, "tenancyId": letting.tenancy}[name]
    lines = [letting.rent(), letting.rent()]
    letting.post("allocateMany", bankTransactionIds=lines, parts=[{**RENT, name: place}])
    for line in lines:
        found = only(letting, line)
        assert (found[name], found["propertyId"], found["businessId"]) == (place, letting.house, letting.lets)


def test_many_are_of_the_business_that_is_named(letting: Letting) -> None:
    line = letting.line(letting.current, -4000)
    other = letting.business(letting.owner)
    letting.post("allocateMany", bankTransactionIds=[line], parts=[{**COST, "businessId": other}])
    assert only(letting, line)["businessId"] == other


def test_many_are_disallowable_or_money_back(trading: Trading) -> None:
    cost, back = trading.line(trading.current, -4000), trading.line(trading.current, 1500)
    trading.post("allocateMany", bankTransactionIds=[cost], parts=[{**COST, "allowable": False}])
    assert only(trading, cost)["disallowableAmount"] == "40.00"
    trading.post("allocateMany", bankTransactionIds=[back], parts=[{**COST, "direction": "in"}])
    assert (only(trading, back)["direction"], only(trading, back)["amount"]) == ("in", "15.00")


def test_a_part_is_of_a_unit(letting: Letting) -> None:
    made = letting.part(letting.rent(), **RENT, unitId=letting.room)
    assert (made["unitId"], made["propertyId"], made["businessId"]) == (letting.room, letting.house, letting.lets)


def test_an_allocation_moves_to_another_place(letting: Letting) -> None:
    other = letting.write(lambda tx: insert_property(tx, letting.lets))
    room = letting.write(lambda tx: insert_unit(tx, other))
    made = letting.part(letting.rent(), **RENT, propertyId=letting.house)
    moved = letting.post("updateAllocation", allocationId=made["id"], propertyId=other)
    assert (moved["propertyId"], moved["unitId"]) == (other, None)
    inside = letting.post("updateAllocation", allocationId=made["id"], unitId=room)
    assert (inside["propertyId"], inside["unitId"]) == (other, room)
    with pytest.raises(Problem) as caught:
        letting.post("updateAllocation", allocationId=made["id"], propertyId=letting.house)
    assert fields_of(caught.value)[0][1] == "conflict"


def test_an_allocation_moves_to_another_business(trading: Trading) -> None:
    made = trading.part(trading.line(trading.current, -4000))
    other = trading.business(trading.owner)
    assert trading.post("updateAllocation", allocationId=made["id"], businessId=other)["businessId"] == other
    with pytest.raises(Problem) as caught:
        trading.post("updateAllocation", allocationId=made["id"], businessId="biz_1")
    assert fields_of(caught.value)[0][1] == "unknown_reference"


def test_a_balance_keeps_its_note(trading: Trading) -> None:
    said = {"accountId": trading.current, "date": "2026-03-31", "balance": "880.00"}
    assert trading.post("stateBalance", **said, note="From the paper statement")["note"] == "From the paper statement"


def test_what_was_entered_in_another_currency_is_at_the_rate_it_is_changed_to(trading: Trading) -> None:
    part = {**COST, "businessId": trading.trade, "direction": "out", "amount": "100.00", "description": "Taxi"}
    entered = trading.post("allocate", parts=[{**part, "fxRate": "0.85"}], date="2026-11-02", currency="EUR")
    (made,) = entered["allocations"]
    assert made["fxRate"] == "0.85"
    assert trading.post("updateAllocation", allocationId=made["id"], fxRate="0.84")["fxRate"] == "0.84"
    with pytest.raises(Problem) as caught:
        trading.post("updateAllocation", allocationId=made["id"], fxRate="0")
    assert fields_of(caught.value) == [("fxRate", "out_of_range")]


def test_the_documents_that_an_allocation_names(trading: Trading) -> None:
    cabinet = Cabinet(trading.store, "Another Ltd")
    cabinet.org_id, cabinet.caller = trading.org_id, trading.caller
    first, second = (cabinet.document(f"{name}.pdf", name.encode())["id"] for name in ("a", "b"))
    made = trading.part(trading.line(trading.current, -4000), documentIds=[first])
    assert made["documentIds"] == [first]
    changed = trading.post("updateAllocation", allocationId=made["id"], documentIds=[second, first])
    assert changed["documentIds"] == [second, first]
    assert trading.post("updateAllocation", allocationId=made["id"], documentIds=[])["documentIds"] == []
    with pytest.raises(Problem) as caught:
        trading.post("updateAllocation", allocationId=made["id"], documentIds=["doc_1"])
    assert fields_of(caught.value) == [("documentIds[0]", "unknown_reference")]
