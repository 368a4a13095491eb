"""The address of a business is kept whole, and replaced whole."""

import pytest

from tests.areas.businesses.trades import Firm

ADDRESS = {
    "line1": "12 Oak Street",
    "line2": "Clifton",
    "town": "Bristol",
    "county": "Avon",
    "postcode": "BS1 4QA",
    "countryCode": "GB",
}


@pytest.mark.parametrize("name", ["county", "line2"])
def test_an_address_is_kept_and_changed(firm: Firm, name: str) -> None:
    made = firm.create(address=ADDRESS)
    assert made["address"] == ADDRESS
    changed = firm.update(made["id"], address={**ADDRESS, name: "Other"})
    assert changed["address"] == {**ADDRESS, name: "Other"}
    assert firm.get(made["id"])["address"] == changed["address"]
