"""`gatewayd period` and `gatewayd obligation`: on a store in a file, at the time that it is."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from gatewayd.areas.businesses.operations import create_business
from gatewayd.areas.businesses.shapes import CreateBusiness
from gatewayd.areas.legal_entities.operations import create_legal_entity
from gatewayd.areas.legal_entities.shapes import CreateLegalEntity
from gatewayd.cli.context import Context
from gatewayd.clock import SystemClock
from gatewayd.store import WriteTx
from tests.cli.conftest import Run
from tests.support.store import make_caller

Json = dict[str, Any]


@pytest.fixture
def entity_id(config_file: Path, org_id: str) -> str:
    """A person with a trade."""
    caller = make_caller(org_id)

    def make(tx: WriteTx) -> str:
        person = create_legal_entity(tx, caller, CreateLegalEntity(name="Ash", type="sole_trader"))
        body = {"legalEntityId": person.id, "type": "self_employment", "name": "Joinery"}
        create_business(tx, caller, msgspec.convert(body, CreateBusiness))
        return person.id

    return Context(str(config_file), {}, SystemClock()).write(make, org_id)


@pytest.fixture
def listed(run: Run, org_id: str, entity_id: str) -> Callable[..., list[Json]]:
    """`listed("period", ...)`: the list as JSON."""

    def of(group: str, *words: str) -> list[Json]:
        found: list[Json] = run(group, "list", "--org", org_id, "--entity", entity_id, *words, "--json").document
        return found

    return of


def test_a_period_is_closed_and_reopened(run: Run, listed: Callable[..., list[Json]]) -> None:
    first, *_ = listed("period")
    assert run("period", "close", first["id"], "--json").document["status"] == "closed"
    assert [one["id"] for one in listed("period", "--status", "closed")] == [first["id"]]
    again = run("period", "reopen", first["id"], "--reason", "Forgotten").document
    assert (again["status"], again["reopenedReason"]) == ("open", "Forgotten")


def test_why_a_period_is_not_closed_is_told(run: Run, listed: Callable[..., list[Json]]) -> None:
    _, second, *_ = [one for one in listed("period") if one["type"] == "itsa_quarter"]
    refused = run("period", "close", second["id"])
    assert refused.code == 1
    assert "earlier_periods_closed" in refused.err
    assert run("period", "close", second["id"], "--begin", "--json").document["status"] == "closing"
    forced = run("period", "close", second["id"], "--force", "--reason", "Kept elsewhere", "--json")
    assert forced.document["forcedReason"] == "Kept elsewhere"


def test_an_obligation_is_met(run: Run, listed: Callable[..., list[Json]]) -> None:
    first, *_ = listed("obligation")
    met = run("obligation", "fulfil", first["id"], "--date", "2026-08-01", "--json").document
    assert (met["status"], met["receivedDate"]) == ("fulfilled", "2026-08-01")
    again = run("obligation", "fulfil", first["id"])
    assert (again.code, "fulfilled already" in again.err) == (1, True)


def test_the_lists_are_tables_for_people(run: Run, org_id: str, listed: Callable[..., list[Json]]) -> None:
    for group in ("period", "obligation"):
        first, *_ = listed(group)
        table = run(group, "list", "--org", org_id, "--limit", "2")
        assert table.code == 0
        assert first["id"] in table.out


def test_what_does_not_exist_is_told(run: Run, entity_id: str) -> None:
    for words in (("period", "close", "per_x"), ("period", "reopen", "per_x"), ("obligation", "fulfil", "obl_x")):
        refused = run(*words)
        assert refused.code == 1
        assert "There is no such" in refused.err
