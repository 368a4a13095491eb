"""Lists of lets by what the rows are: types, kinds, methods, and the document that shows one."""

import pytest

from tests.areas.landlord.premises import Premises
from tests.areas.landlord.test_plans import plan_of
from tests.areas.vault.cabinet import Cabinet
from tests.support.store import MemoryStore


def found(premises: Premises, operation: str, query: str) -> list[str]:
    """The ids of a list, which are the same page by page and to who follows changes."""
    ids = [row["id"] for row in premises.walk(operation, f"{query}&limit=1")]
    changed = premises.walk(operation, f"{query}&updatedSince=1970-01-01T00:00:00Z&limit=1")
    assert {row["id"] for row in changed} == set(ids)
    return ids


def test_properties_by_type_and_jurisdiction(premises: Premises) -> None:
    house, flat = premises.property(), premises.property(type="flat", jurisdiction="wales")
    assert found(premises, "listProperties", "type=flat") == [flat]
    assert found(premises, "listProperties", "type=house&jurisdiction=england") == [house]
    assert found(premises, "listProperties", "jurisdiction=wales") == [flat]
    assert found(premises, "listProperties", "jurisdiction=scotland") == []


def test_units_by_type(premises: Premises) -> None:
    house = premises.property()
    room = premises.unit(house)
    flat = premises.post("createPropertyUnit", propertyId=house, name="Flat 1", type="flat")["id"]
    assert found(premises, "listPropertyUnits", "type=room") == [room]
    assert found(premises, "listPropertyUnits", "type=flat&status=vacant") == [flat]
    assert found(premises, "listPropertyUnits", "type=parking") == []


def test_tenants_by_kind(premises: Premises) -> None:
    person = premises.post("createTenant", kind="person", name="Rosa Hart")["id"]
    company = premises.post("createTenant", kind="company", companyName="Hart Ltd")["id"]
    assert found(premises, "listTenants", "kind=person") == [person]
    assert found(premises, "listTenants", "kind=company") == [company]
    assert found(premises, "listTenants", "kind=company&status=current") == []


def test_mortgages_by_type_and_by_the_type_of_their_rate(premises: Premises) -> None:
    fixed = premises.mortgage(rateType="fixed", rateEndDate="2026-12-31")["id"]
    repaid = premises.mortgage(type="repayment", rateType="tracker", termMonths=240)["id"]
    assert found(premises, "listMortgages", "type=interest_only") == [fixed]
    assert found(premises, "listMortgages", "type=repayment") == [repaid]
    assert found(premises, "listMortgages", "rateType=tracker") == [repaid]
    assert found(premises, "listMortgages", "rateType=fixed&type=repayment") == []
    assert found(premises, "listMortgages", "rateType=fixed&rateEndDateBefore=2027-01-01") == [fixed]


def test_valuations_by_method_and_document(premises: Premises, store: MemoryStore) -> None:
    house = premises.property()
    cabinet = Cabinet(store)
    cabinet.org_id, cabinet.caller = premises.org_id, premises.caller
    document = cabinet.document()["id"]
    shown = {"propertyId": house, "amount": "210000.00"}
    by_agent = premises.post("createPropertyValuation", **shown, valuationDate="2026-05-01", method="agent")["id"]
    by_surveyor = premises.post(
        "createPropertyValuation", **shown, valuationDate="2026-06-01", method="surveyor", documentId=document
    )["id"]
    assert found(premises, "listPropertyValuations", "method=agent") == [by_agent]
    assert found(premises, "listPropertyValuations", "method=surveyor&fromDate=2026-06-01") == [by_surveyor]
    assert found(premises, "listPropertyValuations", f"documentId={document}") == [by_surveyor]
    assert found(premises, "listPropertyValuations", f"documentId={document}&method=agent") == []
    assert found(premises, "listPropertyValuations", "documentId=doc_01k0000000000000000000000x") == []
    assert found(Premises(store), "listPropertyValuations", f"documentId={document}") == []


@pytest.mark.parametrize(
    ("operation", "query"),
    [
        ("listProperties", "type=flat"),
        ("listProperties", "jurisdiction=wales"),
        ("listPropertyUnits", "type=flat"),
        ("listTenants", "kind=company"),
        ("listMortgages", "type=repayment"),
        ("listMortgages", "rateType=fixed&rateEndDateBefore=2027-01-01"),
        ("listPropertyValuations", "method=agent"),
        ("listPropertyValuations", "documentId=doc_1"),
    ],
)
def test_a_page_is_read_in_the_order_of_the_list(premises: Premises, operation: str, query: str) -> None:
    plan = plan_of(premises, operation, query)
    assert not [step for step in plan if "TEMP B-TREE FOR ORDER" in step or step.startswith("SCAN")], plan
    assert not [step for step in plan if step.endswith("(org_id=?)")], plan
