"""`gatewayd property`, `tenancy` and `rent`: on a store in a file, at the time that it is."""

from pathlib import Path
from typing import Any, NamedTuple

import pytest

from gatewayd.areas import landlord
from gatewayd.areas.businesses.operations import create_business
from gatewayd.areas.businesses.shapes import CreateBusiness
from gatewayd.areas.legal_entities.operations import create_legal_entity
from gatewayd.areas.legal_entities.shapes import CreateLegalEntity
from gatewayd.cli.context import Context
from gatewayd.cli.run_operation import operation_of, run_operation
from gatewayd.clock import SystemClock
from tests.cli.conftest import Run
from tests.support.store import make_caller


class Let(NamedTuple):
    business_id: str
    property_id: str
    tenancy_id: str


@pytest.fixture
def let(config_file: Path, org_id: str) -> Let:
    """A house that is let for 12,000.00 a year from 6 April 2020 on, for one year."""
    context, caller = Context(str(config_file), {}, SystemClock()), make_caller(org_id)
    person = CreateLegalEntity(name="Ash", type="individual")
    entity_id = context.write(lambda tx: create_legal_entity(tx, caller, person), org_id).id
    lets = CreateBusiness(legal_entity_id=entity_id, type="uk_property", name="Lets")
    business_id = context.write(lambda tx: create_business(tx, caller, lets), org_id).id

    def do(operation: str, /, **values: Any) -> str:
        return str(run_operation(context, operation_of(landlord.AREA, f"landlord.{operation}"), org_id, values)["id"])

    house = do("createProperty", businessId=business_id, name="4 Elm Row", type="house")
    tenant = do("createTenant", kind="person", name="R. Thorn")
    days = {"startDate": "2020-04-06", "endedDate": "2021-04-05"}
    terms = {**days, "rentAmount": "12000.00", "rentFrequency": "annually"}
    return Let(business_id, house, do("createTenancy", propertyId=house, tenantIds=[tenant], **terms))


def test_properties_and_tenancies_are_listed(run: Run, org_id: str, let: Let) -> None:
    (house,) = run("property", "list", "--org", org_id, "--business", let.business_id, "--json").document
    assert (house["id"], house["name"]) == (let.property_id, "4 Elm Row")
    assert run("property", "list", "--org", org_id, "--status", "sold", "--json").document == []
    header, line = run("tenancy", "list", "--org", org_id, "--property", let.property_id).out.splitlines()
    assert header.split("\t")[:5] == ["id", "property", "status", "start", "end"]
    of = [let.tenancy_id, let.property_id, "ended", "2020-04-06", "2021-04-05"]
    assert line.split("\t") == [*of, "12000.00", "annually", "GBP", "12000.00"]
    assert run("tenancy", "list", "--org", org_id, "--status", "active", "--json").document == []


def test_rent_is_recorded_and_what_is_due_says_so(run: Run, org_id: str, let: Let) -> None:
    ran = run("rent", "record", let.tenancy_id, "7000.00", "--date", "2020-05-01", "--method", "cheque", "--json")
    assert (ran.document["arrears"], ran.document["allocation"]["description"]) == ("5000.00", "Rent by cheque")
    late = ("rent", "due", "--org", org_id, "--tenancy", let.tenancy_id, "--status", "part_paid", "--status", "late")
    (due,) = run(*late, "--json").document
    assert (due["dueDate"], due["amount"], due["outstanding"]) == ("2020-04-06", "12000.00", "5000.00")
    header, line = run("rent", "due", "--org", org_id, "--business", let.business_id).out.splitlines()
    assert (len(header.split("\t")), line.split("\t")[1:5]) == (8, ["2020-04-06", "12000.00", "7000.00", "5000.00"])
    ahead = run("rent", "record", let.tenancy_id, "5100.00", "--date", "2020-06-01").document
    assert (ahead["arrears"], ahead["credit"]) == ("0.00", "100.00")
    assert run(*late, "--json").document == []
    refused = run("rent", "record", let.tenancy_id, "0.00")
    assert (refused.code, refused.out) == (1, "")
