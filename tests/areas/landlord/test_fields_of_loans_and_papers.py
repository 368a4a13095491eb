"""What a mortgage or a certificate is changed to, one field at a time."""

import pytest

from gatewayd.errors import Problem
from tests.areas.accounting.books import fields_of
from tests.areas.changes import expect_change
from tests.areas.landlord.premises import Premises

MORTGAGE: dict[str, object] = {
    "type": "repayment",
    "ercUntilDate": "2028-01-31",
    "ercPercent": "2.5",
    "businessPurposePercent": "60",
}
CERTIFICATE: dict[str, object] = {
    "issuerRegistration": "NICEIC 512345",
    "remedialDueDate": "2026-10-08",
    "servedDate": "2026-09-12",
}


@pytest.mark.parametrize("name", MORTGAGE)
def test_a_field_of_a_mortgage_changes(premises: Premises, name: str) -> None:
    made = premises.mortgage(premises.property(), ercUntilDate="2027-01-31", ercPercent="1")
    assert made[name] != MORTGAGE[name]
    changed = premises.post("updateMortgage", id=made["id"], **{name: MORTGAGE[name]})
    assert (changed[name], changed["version"]) == (MORTGAGE[name], made["version"] + 1)
    (listed,) = premises.walk("listMortgages", f"propertyId={made['propertyId']}")
    assert listed[name] == MORTGAGE[name]


def test_what_a_mortgage_that_is_changed_costs_is_of_the_business_in_part(premises: Premises) -> None:
    made = premises.mortgage(premises.property())
    with pytest.raises(Problem) as caught:
        premises.post("updateMortgage", id=made["id"], businessPurposePercent="100.01")
    assert fields_of(caught.value)[0][0] == "businessPurposePercent"


@pytest.mark.parametrize("name", CERTIFICATE)
def test_a_field_of_a_certificate_changes_alone(premises: Premises, name: str) -> None:
    made = premises.certificate(premises.property(), "eicr", "2026-09-10", result="unsatisfactory")
    changed = premises.post("updateCertificate", id=made["id"], **{name: CERTIFICATE[name]})
    expect_change(made, changed, **{name: CERTIFICATE[name]})
    assert premises.post("updateCertificate", id=made["id"], **{name: None})["version"] == 3


@pytest.mark.parametrize("name", ["remedialDueDate", "servedDate"])
def test_what_follows_a_certificate_is_not_before_it(premises: Premises, name: str) -> None:
    made = premises.certificate(premises.property(), "eicr", "2026-09-10")
    with pytest.raises(Problem) as caught:
        premises.post("updateCertificate", id=made["id"], **{name: "2026-09-09"})
    assert fields_of(caught.value) == [(name, "date_order")]
