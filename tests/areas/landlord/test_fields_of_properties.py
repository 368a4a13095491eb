"""What a property is said to be is kept as it was said, changed, and taken away again."""

import pytest

from gatewayd.errors import Problem
from tests.areas.accounting.books import fields_of
from tests.areas.landlord.lettings import Lettings

DETAILS = {
    "leaseExpiryDate": ("2099-03-24", "2124-12-25"),
    "localAuthority": ("Bristol City Council", "Leeds City Council"),
    "councilTaxBand": ("C", "I"),
}


@pytest.mark.parametrize("name", DETAILS)
def test_a_detail_is_kept_changed_and_taken_away(lettings: Lettings, name: str) -> None:
    first, second = DETAILS[name]
    made = lettings.property(tenure="leasehold", **{name: first})
    assert lettings.one("getProperty", f"id={made['id']}")[name] == first
    changed = lettings.post("updateProperty", id=made["id"], **{name: second})
    assert changed == {**made, name: second, "version": 2, "updatedAt": changed["updatedAt"]}
    assert lettings.post("updateProperty", id=made["id"], **{name: None})[name] is None
    assert lettings.property()[name] is None


def test_a_council_tax_band_is_a_letter(lettings: Lettings) -> None:
    with pytest.raises(Problem) as caught:
        lettings.property(councilTaxBand="J")
    assert fields_of(caught.value) == [("councilTaxBand", "invalid_format")]
