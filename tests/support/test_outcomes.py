"""An outcome counts when it was seen, wherever that is; one that no row declares fails the test that sees it."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from gatewayd.areas import crm
from gatewayd.areas.crm.leads import CreateLead, create_lead
from gatewayd.contract.caller import Caller
from gatewayd.errors import Problem, invalid_field
from gatewayd.store import WriteTx
from tests.contract.description import ROWS
from tests.support import outcomes
from tests.support.api import open_api
from tests.support.outcomes import Outcome
from tests.support.store import MemoryStore, make_caller

LEAD: Outcome = ("crm.createLead", "already_exists")
UNDECLARED = "crm.createLead answers number_taken, which its row does not declare"
REQUEST = CreateLead(source="web", external_id="x")


@pytest.fixture(autouse=True)
def seen() -> Iterator[set[Outcome]]:
    """Nothing was seen when a test begins; what was seen before is put back."""
    before = set(outcomes.SEEN)
    outcomes.SEEN.clear()
    yield outcomes.SEEN
    outcomes.SEEN.clear()
    outcomes.SEEN.update(before)


class Refusing:
    """Stands in for a transaction in which everything is refused."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem

    def __getattr__(self, name: str) -> object:
        raise self._problem


def test_what_a_handler_raises_in_a_write(store: MemoryStore, seen: set[Outcome]) -> None:
    org_id = store.org()
    store.write(lambda tx: create_lead(tx, make_caller(org_id), REQUEST), org_id)
    assert seen == set()
    with pytest.raises(Problem):
        store.write(lambda tx: create_lead(tx, make_caller(org_id), REQUEST), org_id)
    assert seen == {LEAD}


def test_what_a_handler_raises_in_a_read_with_the_codes_of_its_fields(store: MemoryStore, seen: set[Outcome]) -> None:
    problem = invalid_field("name", "invalid_format", "no")
    with pytest.raises(Problem):
        store.read(lambda tx: create_lead(Refusing(problem), make_caller("org_1"), REQUEST))
    assert seen == {("crm.createLead", "validation_failed"), ("crm.createLead", "invalid_format")}


def test_what_is_raised_beside_a_handler_is_nobodys(store: MemoryStore, seen: set[Outcome]) -> None:
    with pytest.raises(Problem):
        store.write(lambda tx: Refusing(Problem("number_taken", "no")).anything)
    assert seen == set()


def test_a_handler_that_raises_what_its_row_does_not_declare_fails_the_test(store: MemoryStore) -> None:
    refusing = Refusing(Problem("number_taken", "no"))
    with pytest.raises(AssertionError, match=UNDECLARED):
        store.write(lambda tx: create_lead(refusing, make_caller("org_1"), REQUEST))


async def test_what_the_api_answers(tmp_path: Path, database_image: bytes, seen: set[Outcome]) -> None:
    async with open_api(tmp_path, database_image, crm.AREA.operations) as api:
        for _ in range(2):
            await api("POST", "/crm/createLead", json={"source": "web", "externalId": "x"})
    assert seen == {LEAD}


async def test_an_answer_that_the_row_does_not_declare_fails_the_test(tmp_path: Path, database_image: bytes) -> None:
    def refuse(tx: WriteTx, caller: Caller, request: CreateLead) -> None:
        raise Problem("number_taken", "no")

    rows = [replace(row, handler=refuse) for row in crm.AREA.operations if row.id == "crm.createLead"]
    async with open_api(tmp_path, database_image, rows) as api:
        with pytest.raises(AssertionError, match=UNDECLARED):
            await api("POST", "/crm/createLead", json={"source": "web"})


@pytest.mark.parametrize("path", ["/crm/createLead", "/api/rpc/crm/createLead"])
def test_what_a_daemon_answers(path: str, seen: set[Outcome]) -> None:
    request = httpx.Request("POST", f"http://127.0.0.1:9{path}")
    headers = {"content-type": "application/problem+json"}
    outcomes.note_response(httpx.Response(409, headers=headers, json={"code": "already_exists"}, request=request))
    assert seen == {LEAD}
    with pytest.raises(AssertionError, match=UNDECLARED):
        outcomes.note_response(httpx.Response(409, headers=headers, json={"code": "number_taken"}, request=request))


def test_every_address_is_that_of_its_row() -> None:
    ids = {(method, path): id_ for method, path, id_ in outcomes.addresses()}
    assert (
        ids["GET", "/webhooks/deliveries/:deliveryId"] == ids["GET", "/webhooks/getDelivery"] == "webhooks.getDelivery"
    )
    assert {(row.method, row.path) for row in ROWS.values()} <= ids.keys()
