"""Whether an entity is registered for VAT on the days of a closed period stays as it was (Domain A1, C1)."""

from typing import Any

import pytest

from gatewayd.ledger.calendar import period_locks
from tests.areas.businesses.trades import Firm as Trades
from tests.areas.legal_entities.entities import PERSON, VRN, Firm, refuses
from tests.support.store import MemoryStore

Json = dict[str, Any]
_CLOSED = ("2026-01-01", "2026-03-31")
REGISTERED: Json = {"status": "registered", "effectiveDate": "2025-01-01", "scheme": "standard"}
FLAT: Json = {**REGISTERED, "scheme": "flat_rate", "flatRatePercent": "10"}
LEFT: Json = {**REGISTERED, "status": "deregistered"}
NOBODY: Json = {"status": "not_registered"}


def closed(firm: Firm, vat: Json) -> str:
    """An entity with a closed period."""
    entity_id = str(firm.create(**PERSON, vatNumber=VRN, vat=vat)["id"])
    firm.store.write(lambda tx: period_locks.close(tx, entity_id, *_CLOSED), firm.org_id)
    return entity_id


@pytest.mark.parametrize(
    ("vat", "other", "day"),
    [
        (NOBODY, REGISTERED, "2026-01-01"),
        (REGISTERED, NOBODY, "2026-01-01"),
        (REGISTERED, {**REGISTERED, "effectiveDate": "2026-01-02"}, "2026-01-01"),
        (NOBODY, {**REGISTERED, "effectiveDate": "2026-03-31"}, "2026-03-31"),
        (REGISTERED, {**LEFT, "deregistrationDate": "2026-03-31"}, "2026-03-31"),
        ({**LEFT, "deregistrationDate": "2026-02-01"}, {**LEFT, "deregistrationDate": "2026-03-01"}, "2026-02-01"),
        (REGISTERED, FLAT, "2026-01-01"),
        (REGISTERED, {**FLAT, "flatRateStartDate": "2026-03-01"}, "2026-03-01"),
    ],
)
def test_what_would_change_a_closed_day_is_refused(firm: Firm, vat: Json, other: Json, day: str) -> None:
    entity_id = closed(firm, vat)
    before = firm.get(entity_id)
    problem = refuses(firm.update, entity_id, vat=other)
    assert firm.get(entity_id) == before
    assert (problem.code, problem.extra["currentState"]) == ("invalid_state", "closed")
    assert f"that holds {day} is closed" in problem.message


def test_what_a_business_has_closed_counts_too(store: MemoryStore) -> None:
    trades = Trades(store)
    business_id = trades.create()["id"]
    firm = Firm(store)
    firm.org_id, firm.caller = trades.org_id, trades.caller
    store.write(lambda tx: period_locks.close(tx, trades.person, *_CLOSED, business_id), firm.org_id)
    assert refuses(firm.update, trades.person, vatNumber=VRN, vat=REGISTERED).code == "invalid_state"


@pytest.mark.parametrize(
    ("vat", "other"),
    [
        (NOBODY, {**REGISTERED, "effectiveDate": "2026-04-01"}),
        (REGISTERED, {**REGISTERED, "effectiveDate": "2026-01-01"}),
        (REGISTERED, {**LEFT, "deregistrationDate": "2026-04-01"}),
        (REGISTERED, {**FLAT, "flatRateStartDate": "2026-04-01"}),
        (REGISTERED, {**REGISTERED, "scheme": "cash"}),
        (FLAT, REGISTERED),
        (FLAT, {**FLAT, "flatRatePercent": "12"}),
    ],
)
def test_what_changes_no_closed_day_is_taken(firm: Firm, vat: Json, other: Json) -> None:
    assert firm.update(closed(firm, vat), vat=other)["vat"]["scheme"] == other["scheme"]


def test_an_open_day_is_nobodys_business(firm: Firm) -> None:
    made = firm.create(**PERSON, vatNumber=VRN, vat=NOBODY)
    firm.store.write(lambda tx: period_locks.begin_closing(tx, made["id"], *_CLOSED), firm.org_id)
    assert firm.update(made["id"], vat=REGISTERED)["vat"]["status"] == "registered"
