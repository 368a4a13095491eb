"""What the engine above says in the tax authority's name: `adopt` and `take_over`."""

from typing import Any

import pytest
from msgspec.structs import replace

from gatewayd.areas.businesses import rows
from gatewayd.areas.businesses.rows import BUSINESSES, NEVER_SYNCED
from gatewayd.areas.businesses.shapes import Latency, TaxSync
from gatewayd.clock import to_wire
from gatewayd.contract.wire import Address
from tests.areas.businesses.trades import LETS, OTHER_TAX_ID, TAX_ID, Firm
from tests.areas.legal_entities.entities import refuses
from tests.support.store import START

LATENCY = Latency(end_date="2027-04-05", tax_year1="2025-26", indicator1="A", tax_year2="2026-27", indicator2="Q")
RECORD = TaxSync(status="in_sync", synced_at=START, error=None, latency=LATENCY, year_of_migration="2026")
SHOWN = {
    "status": "in_sync",
    "syncedAt": to_wire(START),
    "error": None,
    "latency": {
        "endDate": "2027-04-05",
        "taxYear1": "2025-26",
        "indicator1": "A",
        "taxYear2": "2026-27",
        "indicator2": "Q",
    },
    "yearOfMigration": "2026",
}


def test_an_adopted_business_is_as_the_authority_says(firm: Firm) -> None:
    row = firm.adopt(
        record=RECORD,
        trading_name="Oak & Son",
        trading_type="Carpentry",
        accounting_basis="accruals",
        commencement_date="2020-04-06",
        quarterly_period_type="calendar",
        quarterly_period_tax_year="2025-26",
        address=Address(line1="12 Oak Street", country_code="GB"),
    )
    shown = firm.get(row.id)
    assert (shown["legalEntityId"], shown["taxBusinessId"], shown["status"]) == (firm.person, TAX_ID, "active")
    assert (shown["name"], shown["tradingName"], shown["tradingType"]) == ("Oak & Son", "Oak & Son", "Carpentry")
    assert (shown["accountingBasis"], shown["commencementDate"]) == ("accruals", "2020-04-06")
    assert (shown["quarterlyPeriodType"], shown["quarterlyPeriodTaxYear"]) == ("calendar", "2025-26")
    assert shown["address"]["line1"] == "12 Oak Street"
    assert shown["taxSync"] == SHOWN
    assert shown["version"] == 1


@pytest.mark.parametrize(
    ("values", "name"),
    [
        ({"type": "uk_property"}, "UK property"),
        ({"type": "self_employment"}, "Self-employment"),
        ({"type": "self_employment", "trading_name": "Oak"}, "Oak"),
        ({"type": "self_employment", "trading_name": "Oak", "name": "Ash"}, "Ash"),
        ({"type": "other"}, "Business"),
    ],
)
def test_an_adopted_business_has_a_name(firm: Firm, values: dict[str, Any], name: str) -> None:
    row = firm.adopt(**values)
    assert (row.name, row.accounting_basis, row.tax_sync.status) == (name, "cash", "never")


@pytest.mark.parametrize(("date", "status"), [(None, "active"), ("2026-11-20", "ceased"), ("2026-11-21", "active")])
def test_an_adopted_business_has_ceased_where_its_last_day_has_come(firm: Firm, date: object, status: str) -> None:
    row = firm.adopt(cessation_date=date)
    assert (row.status, row.cessation_date) == (status, None if date is None else str(date))


def test_adopting_refuses_what_is_there(firm: Firm) -> None:
    first = firm.adopt()
    problem = refuses(firm.adopt)
    assert (problem.code, problem.extra) == ("already_exists", {"existingId": first.id, "field": "taxBusinessId"})
    assert firm.adopt(firm.company()).tax_business_id == TAX_ID  # of another: the authority's sandbox has ids for all
    lets = firm.create(**LETS)["id"]
    problem = refuses(firm.adopt, type="uk_property", tax_business_id=OTHER_TAX_ID)
    assert (problem.code, problem.extra) == ("already_exists", {"existingId": lets, "field": "type"})
    assert Firm(firm.store).adopt().tax_business_id == TAX_ID
    assert refuses(firm.adopt, Firm(firm.store).person).code == "not_found"


def test_what_the_authority_says_is_taken_over(firm: Firm) -> None:
    made = firm.create()
    firm.later()
    row = firm.take_over(
        made["id"], RECORD, tax_business_id=TAX_ID, trading_type="Plastering", commencement_date="2020-04-06"
    )
    shown = firm.get(made["id"])
    said = {"taxBusinessId": TAX_ID, "tradingType": "Plastering", "commencementDate": "2020-04-06"}
    assert shown == {**made, **said, "taxSync": SHOWN, "version": 2, "updatedAt": to_wire(firm.store.now())}
    assert row == firm.row(made["id"])


def test_a_record_alone_leaves_the_version_and_is_followed(firm: Firm) -> None:
    made = firm.create(tradingType="Plastering")
    firm.later()
    since = to_wire(firm.store.now())
    failed = replace(NEVER_SYNCED, status="failed", synced_at=firm.store.now(), error="tax_upstream_error")
    firm.take_over(made["id"], failed, trading_type="Plastering")  # as it is
    shown = firm.get(made["id"])
    record = {"status": "failed", "syncedAt": since, "error": "tax_upstream_error", "latency": None}
    assert shown == {**made, "taxSync": {**record, "yearOfMigration": None}, "updatedAt": since}
    assert firm.ids(f"updatedSince={since}") == [made["id"]]
    assert firm.update(made["id"], expectedVersion=1, name="New")["taxSync"]["status"] == "failed"


def test_a_cessation_moves_the_state_and_its_withdrawal_back(firm: Firm) -> None:
    made = firm.create()["id"]
    firm.move(made, "dormant")
    assert firm.take_over(made, RECORD, cessation_date="2026-11-21").status == "dormant"
    assert firm.take_over(made, RECORD, cessation_date="2026-11-01").status == "ceased"
    assert firm.get(made)["status"] == "ceased"
    assert firm.take_over(made, RECORD, cessation_date=None).status == "active"
    assert firm.get(made)["cessationDate"] is None


def test_a_cessation_to_come_does_not_stand_in_the_way(firm: Firm) -> None:
    made = firm.adopt(cessation_date="2026-12-31").id
    assert firm.update(made, name="New")["cessationDate"] == "2026-12-31"
    assert firm.move(made, "dormant")["cessationDate"] == "2026-12-31"
    assert firm.move(made, "ceased", "2026-11-20")["cessationDate"] == "2026-11-20"


def test_an_archived_business_stays_archived(firm: Firm) -> None:
    made = firm.create()["id"]
    firm.archive(made)
    firm.take_over(made, RECORD, trading_type="Plastering")
    shown = firm.get(made)
    assert (shown["status"], shown["tradingType"], shown["taxSync"]) == ("archived", "Plastering", SHOWN)


def test_closed_books_keep_their_basis(firm: Firm) -> None:
    made = firm.create()
    row = firm.row(made["id"])
    assert not firm.store.read(lambda tx: rows.is_basis_fixed(tx, row), firm.org_id)
    firm.close_a_period()
    assert firm.store.read(lambda tx: rows.is_basis_fixed(tx, row), firm.org_id)
    assert refuses(firm.take_over, made["id"], RECORD, accounting_basis="accruals").code == "invalid_state"
    assert firm.get(made["id"]) == made
    assert firm.take_over(made["id"], RECORD, accounting_basis="cash").version == 1


def test_taking_over_refuses_what_cannot_be(firm: Firm) -> None:
    first, second = firm.adopt(), firm.create()["id"]
    problem = refuses(firm.take_over, second, RECORD, tax_business_id=TAX_ID)
    assert (problem.code, problem.extra) == ("already_exists", {"existingId": first.id, "field": "taxBusinessId"})
    assert refuses(firm.take_over, Firm(firm.store).create()["id"], RECORD).code == "not_found"
    with pytest.raises(ValueError, match="external_id, version"):
        firm.take_over(second, RECORD, version=9, external_id="x")
    with pytest.raises(ValueError, match="currency"):
        firm.adopt(currency="EUR", tax_business_id=OTHER_TAX_ID)


def test_all_of_an_entity_are_found_together(firm: Firm) -> None:
    first, second = firm.create()["id"], firm.adopt().id
    firm.archive(first)
    firm.create(legalEntityId=firm.company(), type="company_trade")
    others = Firm(firm.store)
    found = firm.store.read(lambda tx: rows.of_entity(tx, firm.person), firm.org_id)
    assert [row.id for row in found] == [first, second]
    assert found == [firm.row(first), firm.row(second)]
    assert others.store.read(lambda tx: rows.of_entity(tx, firm.person), others.org_id) == []
    assert others.store.read(lambda tx: BUSINESSES.find(tx, first), others.org_id) is None
