"""A field counts when a test gives it, by any door; one that none gives is named at the end of a whole run."""

from collections.abc import Iterator
from pathlib import Path

import httpx
import msgspec
import pytest

from gatewayd.areas import crm
from gatewayd.areas.accounting.clients.shapes import UpdateClient
from gatewayd.areas.crm.leads import CreateLead, ListLeads, create_lead, list_leads
from tests.support import given_fields
from tests.support.api import open_api
from tests.support.given_fields import Field
from tests.support.outcomes import OPERATIONS
from tests.support.store import MemoryStore, make_caller

SOURCE: Field = ("crm.createLead", "source")
EXTERNAL_ID: Field = ("crm.createLead", "externalId")


@pytest.fixture(autouse=True)
def given() -> Iterator[set[Field]]:
    """Nothing was given when a test begins; what was given before is put back, without what is given here."""
    before = set(given_fields.GIVEN)
    given_fields.GIVEN.clear()
    yield given_fields.GIVEN
    given_fields.GIVEN.clear()
    given_fields.GIVEN.update(before)


def test_what_a_handler_is_given_in_a_write(store: MemoryStore, given: set[Field]) -> None:
    org_id = store.org()
    store.write(lambda tx: create_lead(tx, make_caller(org_id), CreateLead(source="web")), org_id)
    assert given == {SOURCE}
    store.write(lambda tx: create_lead(tx, make_caller(org_id), CreateLead(source="web", external_id="x")), org_id)
    assert given == {SOURCE, EXTERNAL_ID}


def test_what_a_handler_is_given_in_a_read(store: MemoryStore, given: set[Field]) -> None:
    org_id = store.org()
    store.read(lambda tx: list_leads(tx, make_caller(org_id), ListLeads(limit=7)), org_id)
    assert given == {("crm.listLeads", "limit")}


def test_a_field_that_is_given_what_stands_there_anyway_is_not_given(store: MemoryStore, given: set[Field]) -> None:
    org_id = store.org()
    store.read(lambda tx: list_leads(tx, make_caller(org_id), ListLeads(limit=ListLeads().limit)), org_id)
    assert given == set()


def test_null_is_given_where_a_field_may_be_left_out() -> None:
    assert list(given_fields.given_in(UpdateClient(client_id="cli_1"))) == ["clientId"]
    assert list(given_fields.given_in(UpdateClient(client_id="cli_1", email=None))) == ["clientId", "email"]


async def test_what_the_api_is_sent(tmp_path: Path, database_image: bytes, given: set[Field]) -> None:
    async with open_api(tmp_path, database_image, crm.AREA.operations) as api:
        await api("POST", "/crm/createLead", json={"source": "web", "externalId": "x"})
        await api("GET", "/crm/listLeads", query={"limit": 7})
    assert given == {SOURCE, EXTERNAL_ID, ("crm.listLeads", "limit")}


def test_what_a_daemon_is_sent(given: set[Field]) -> None:
    given_fields.note_sent(httpx.Request("POST", "http://127.0.0.1:9/api/rpc/crm/createLead", json={"source": "web"}))
    given_fields.note_sent(httpx.Request("GET", "http://127.0.0.1:9/clients/cli_1"))
    assert given == {SOURCE, ("accounting.getClient", "clientId")}


@pytest.mark.parametrize("body", [b"{", b'{"source": 7}', b'{"source": "web", "colour": "red"}'])
def test_what_is_no_request_is_passed_over(body: bytes, given: set[Field]) -> None:
    given_fields.note_request("POST", "/crm/createLead", "", body)
    given_fields.note_request("POST", "/nowhere", "", body)
    assert given == set()


@pytest.mark.parametrize(
    ("test", "counts"),
    [
        ("tests/contract/test_operations.py::test_each (call)", False),
        ("tests/clients/test_schemathesis.py::test_each (call)", False),
        ("tests/contract/test_imports.py::test_each (setup)", False),
        ("tests/contract/test_imports.py::test_each (call)", True),
        ("tests/areas/crm/test_leads.py::test_each (setup)", True),
        ("", False),
    ],
)
def test_what_derived_tests_give_does_not_count(
    test: str, counts: bool, given: set[Field], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not test or Path(test.partition(":")[0]).is_file()
    monkeypatch.setenv("PYTEST_CURRENT_TEST", test)
    given_fields.note("crm.createLead", CreateLead(source="web"))
    assert (given == {SOURCE}) == counts


def test_fields_of_structs_inside_have_names_of_their_own() -> None:
    operation = OPERATIONS["accounting.createInvoice"]
    assert (operation.id, "lines.discountPercent") in given_fields.FIELDS
    request = msgspec.convert(operation.example, operation.request)
    assert "lines.discountPercent" in set(given_fields.given_in(request))


def test_a_field_that_no_test_gives_is_named(given: set[Field], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(given_fields, "UNNAMED", {EXTERNAL_ID: "for a reason"})
    given.update(given_fields.FIELDS - {SOURCE, EXTERNAL_ID})
    assert given_fields.faults() == ["no test gives crm.createLead source"]
    given.update([SOURCE, EXTERNAL_ID])
    assert given_fields.faults() == ["a test gives crm.createLead externalId: take it off UNNAMED"]


def test_what_is_unnamed_is_a_field_and_has_a_reason() -> None:
    assert given_fields.UNNAMED.keys() <= given_fields.FIELDS
    assert all(given_fields.UNNAMED.values())
