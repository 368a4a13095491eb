"""Rules and proposals for money of what is let: the property says whose it is."""

from typing import Any

import pytest

from gatewayd.areas.businesses.operations import create_business
from gatewayd.areas.businesses.shapes import CreateBusiness
from tests.areas.accounting.books import fields_of
from tests.areas.banking.conftest import Trading
from tests.areas.banking.test_allocations import refused
from tests.areas.banking.test_proposals import proposed
from tests.areas.banking.test_rules import apply, rule
from tests.ledger.lets import insert_property, insert_tenancy, insert_unit
from tests.support.store import MemoryStore

RENT: dict[str, Any] = {"category": "periodAmount"}
TENANT = {"text": "rent"}


class Letting(Trading):
    """The same with a property business, whose tenant pays into the account that names the trade."""

    def __init__(self, store: MemoryStore) -> None:
        super().__init__(store)
        request = CreateBusiness(legal_entity_id=self.owner, type="uk_property", name="Lets")
        self.lets = self.write(lambda tx: create_business(tx, self.caller, request)).id
        self.house = self.write(lambda tx: insert_property(tx, self.lets))
        self.room = self.write(lambda tx: insert_unit(tx, self.house))
        self.tenancy = self.write(lambda tx: insert_tenancy(tx, self.house, unit_id=self.room))

    def rent(self) -> str:
        return self.line(self.current, 900_00, description="RENT MAY", match_key="tenant")


@pytest.fixture
def letting(store: MemoryStore) -> Letting:
    return Letting(store)


def test_a_rule_that_names_a_tenancy_needs_no_business(letting: Letting) -> None:
    rule(letting, TENANT, outcome={**RENT, "tenancyId": letting.tenancy})
    line = letting.rent()
    found, *_ = proposed(letting, line)
    names = ("businessId", "propertyId", "unitId", "tenancyId")
    whose = [letting.lets, letting.house, letting.room, letting.tenancy]
    assert (found["kind"], [found["allocation"][name] for name in names]) == ("rule", whose)
    (applied,) = apply(letting)
    assert [applied["allocation"][name] for name in names] == whose


def test_a_proposal_that_was_taken_is_proposed_again_with_all_names(letting: Letting) -> None:
    letting.part(letting.rent(), **RENT, tenancyId=letting.tenancy)
    (found,) = [one for one in proposed(letting, letting.rent()) if one["kind"] == "history"]
    assert (found["kind"], found["allocation"]["businessId"]) == ("history", letting.lets)
    assert (found["allocation"]["unitId"], found["allocation"]["tenancyId"]) == (letting.room, letting.tenancy)


def test_nothing_is_proposed_for_an_archived_property(letting: Letting) -> None:
    rule(letting, TENANT, outcome={**RENT, "propertyId": letting.house})
    sql = "UPDATE properties SET status = 'archived', archived_at = :now WHERE org_id = :org_id AND id = :id"
    letting.write(lambda tx: tx.run(sql, id=letting.house))
    assert proposed(letting, letting.rent()) == []
    (applied,) = apply(letting)
    assert applied["allocation"] is None
    assert "The property is archived: bring it back first, or choose another." in applied["refusal"]


def test_the_names_of_a_rule_go_together(letting: Letting) -> None:
    other = letting.write(lambda tx: insert_property(tx, letting.lets))
    gone = letting.write(lambda tx: insert_property(tx, letting.lets, status="archived", archived_at=1))

    def errors(**outcome: object) -> list[tuple[str, str]]:
        body = {"name": "Rent", "conditions": TENANT, "outcome": {**RENT, **outcome}, "mode": "propose"}
        return fields_of(refused(letting.post, "createRule", **body))

    assert errors(propertyId=other, unitId=letting.room) == [("outcome.unitId", "conflict")]
    assert ("outcome.propertyId", "conflict") in errors(propertyId=letting.house, businessId=letting.trade)
    assert errors(propertyId=gone) == [("outcome.propertyId", "conflict")]
    assert errors(tenancyId="tcy_x") == [("outcome.tenancyId", "unknown_reference")]
    assert errors(propertyId=letting.house, category="turnover") == [("outcome.category", "conflict")]


def test_what_replaces_a_domestic_item_is_bought(letting: Letting) -> None:
    """ITTOIA 2005 s. 311A: it is told beside the account, and VAT of it is VAT of a purchase all the same."""
    replaced = {"category": "costOfReplacingDomesticItems", "propertyId": letting.house}
    line, other = (letting.line(letting.current, -120_00) for _ in range(2))
    letting.part(line, vatCode="postponed_import_standard", **replaced)
    problem = refused(letting.part, other, vatCode="export_goods_zero", **replaced)
    assert fields_of(problem) == [("parts[0].vatCode", "conflict")]
