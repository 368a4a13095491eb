"""What belongs to a property, read by its id: what the list shows of it, whatever became of it."""

import pytest

from gatewayd.errors import Problem
from tests.areas.landlord.landlords import Landlord
from tests.areas.landlord.lettings import Lettings
from tests.areas.landlord.premises import Premises
from tests.support.store import MemoryStore


def test_a_tenant_is_read_erased_or_not(landlord: Landlord) -> None:
    made = landlord.post("createTenant", kind="person", name="Rosa Hart")
    assert landlord.one("getTenant", f"id={made['id']}") == made
    erased = landlord.post("eraseTenant", id=made["id"])
    assert landlord.one("getTenant", f"id={made['id']}") == erased


def test_a_tenancy_is_read_as_it_is_today_called_off_or_not(landlord: Landlord) -> None:
    made = landlord.let(startDate="2027-01-01")
    assert landlord.one("getTenancy", f"id={made['id']}")["status"] == "upcoming"
    landlord.post("updateTenancy", id=made["id"], cancelled=True)
    answer = landlord.one("getTenancy", f"id={made['id']}")
    assert answer["status"] == "cancelled"
    assert landlord.walk("listTenancies", "status=cancelled") == [answer]


def test_a_unit_is_read_archived_or_not(lettings: Lettings) -> None:
    home = lettings.property()
    flat = lettings.unit(home["id"])
    assert lettings.one("getPropertyUnit", f"id={flat['id']}") == flat
    lettings.tenancy(home["id"])
    assert lettings.one("getPropertyUnit", f"id={flat['id']}")["occupancy"] == "let"
    attic = lettings.unit(home["id"], "Attic")
    archived = lettings.post("updatePropertyUnit", id=attic["id"], archived=True)
    assert lettings.one("getPropertyUnit", f"id={attic['id']}") == archived
    assert archived["archivedAt"] is not None


def test_a_mortgage_is_read_redeemed_or_not(premises: Premises) -> None:
    made = premises.mortgage(premises.property())
    assert premises.one("getMortgage", f"id={made['id']}") == made
    redeemed = premises.post("updateMortgage", id=made["id"], redeemedDate="2026-11-01")
    assert premises.one("getMortgage", f"id={made['id']}") == redeemed
    assert redeemed["status"] == "redeemed"


def test_a_certificate_is_read_superseded_or_not(premises: Premises) -> None:
    home = premises.property()
    record = {"propertyId": home, "type": "gas_safety"}
    former = premises.post("createCertificate", **record, issuedDate="2025-03-10")
    assert premises.one("getCertificate", f"id={former['id']}") == former
    latter = premises.post("createCertificate", **record, issuedDate="2026-03-10")
    assert premises.one("getCertificate", f"id={latter['id']}") == latter
    answer = premises.one("getCertificate", f"id={former['id']}")
    assert (answer["status"], answer["supersededById"]) == ("superseded", latter["id"])


def test_a_valuation_is_read(lettings: Lettings) -> None:
    made = lettings.valuation(lettings.property()["id"], "2026-11-20", "262500")
    assert lettings.one("getPropertyValuation", f"id={made['id']}") == made


@pytest.mark.parametrize(
    "operation",
    ["getTenant", "getTenancy", "getPropertyUnit", "getMortgage", "getCertificate", "getPropertyValuation"],
)
def test_what_another_organization_has_is_not_there(store: MemoryStore, operation: str) -> None:
    landlord, premises, lettings = Landlord(store), Premises(store), Lettings(store)
    home = lettings.property()["id"]
    certificate = {"propertyId": home, "type": "epc", "issuedDate": "2026-03-10"}
    ids = {
        "getTenant": landlord.tenant(),
        "getTenancy": landlord.let()["id"],
        "getPropertyUnit": lettings.unit(home)["id"],
        "getMortgage": premises.mortgage(premises.property())["id"],
        "getCertificate": lettings.post("createCertificate", **certificate)["id"],
        "getPropertyValuation": lettings.valuation(home, "2026-11-20", "1")["id"],
    }
    with pytest.raises(Problem, match="not_found"):
        Landlord(store).one(operation, f"id={ids[operation]}")
