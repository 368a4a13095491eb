"""Whole addresses of legal entities, and the trade sector of the flat rate."""

import pytest

from tests.areas.legal_entities.entities import COMPANY, VRN, Firm, refusal, refuses

ADDRESS = {
    "line1": "12 Oak Street",
    "line2": "Clifton",
    "town": "Bristol",
    "county": "Avon",
    "postcode": "BS1 4QA",
    "countryCode": "GB",
}
FLAT = {"status": "registered", "effectiveDate": "2024-05-01", "scheme": "flat_rate", "flatRatePercent": "12"}


@pytest.mark.parametrize("name", ["county", "postcode", "town"])
def test_an_address_is_kept_whole(firm: Firm, name: str) -> None:
    made = firm.create(**COMPANY, address=ADDRESS)
    assert made["address"] == ADDRESS
    assert firm.get(made["id"])["address"] == ADDRESS
    changed = firm.update(made["id"], address={**ADDRESS, name: "Other"})
    assert changed["address"] == {**ADDRESS, name: "Other"}


def test_the_sector_of_the_flat_rate_is_changed(firm: Firm) -> None:
    made = firm.create(**COMPANY, vatNumber=VRN, vat={**FLAT, "flatRateCategory": "004"})
    assert made["vat"]["flatRateCategory"] == "004"
    changed = firm.update(made["id"], vat={**FLAT, "flatRateCategory": "021"})
    assert changed["vat"] == {**made["vat"], "flatRateCategory": "021"}
    problem = refuses(firm.update, made["id"], vat={**FLAT, "scheme": "standard", "flatRateCategory": "021"})
    assert refusal(problem)[0] == "validation_failed"
    assert "vat.flatRateCategory" in [path for path, _ in refusal(problem)[1]]
