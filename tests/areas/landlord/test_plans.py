"""Pages of mortgages and certificates are read from an index in the order of the list, however many there are."""

from typing import Any

import pytest

from gatewayd.store import ReadTx
from tests.areas.landlord.premises import Premises

INDEXES = {
    "listMortgages": {
        "": "mortgages_by_id",
        "propertyId=prop_1": "mortgages_of_property",
        "status=redeemed": "mortgages_redeemed",
        "rateEndDateBefore=2027-01-01": "mortgages_by_rate_end",
        "updatedSince=2026-01-01T00:00:00Z": "mortgages_by_change",
    },
    "listCertificates": {
        "": "certificates_by_id",
        "includeSuperseded=true": "certificates_by_id",
        "propertyId=prop_1": "certificates_of_property_by_id",
        "propertyId=prop_1&includeSuperseded=true": "certificates_of_property_by_id",
        "propertyId=prop_1&status=valid": "certificates_of_property_by_expiry",
        "unitId=unit_1": "certificates_of_property_by_id",
        "unitId=unit_1&status=expired": "certificates_of_property_by_expiry",
        "tenancyId=tcy_1": "certificates_of_property_by_id",
        "type=epc": "certificates_by_type",
        "status=superseded": "certificates_superseded",
        "status=valid": "certificates_by_expiry",
        "status=expiring": "certificates_by_expiry",
        "status=expired": "certificates_by_expiry",
        "expiryDateBefore=2027-01-01": "certificates_by_expiry",
        "updatedSince=2026-01-01T00:00:00Z": "certificates_by_change",
        "status=missing": "properties_lacking",
    },
}
REQUIREMENTS = ("SCAN r", "SCAN CONSTANT ROW")
"""A table of some lines, which is gone through for each property."""


def plan_of(premises: Premises, operation: str, query: str) -> list[str]:
    plans: list[str] = []

    class Explaining(ReadTx):
        def each(self, sql: str, /, **values: object) -> Any:
            plans.extend(row[3] for row in super().rows(f"EXPLAIN QUERY PLAN {sql}", **values))
            return super().each(sql, **values)

    def explain(tx: ReadTx) -> None:
        explaining = object.__new__(Explaining)
        explaining.__dict__.update(tx.__dict__)
        row = premises.operations[operation]
        request: Any = premises.decoders[operation].query(query)
        row.handler(explaining, premises.caller, request)

    premises.read(explain)
    return plans


@pytest.mark.parametrize(
    ("operation", "query"), [(operation, query) for operation, queries in INDEXES.items() for query in queries]
)
def test_a_page_walks_the_index_of_its_order(premises: Premises, operation: str, query: str) -> None:
    plans = plan_of(premises, operation, query)
    assert not [step for step in plans if "TEMP B-TREE" in step], plans
    assert not [step for step in plans if step.startswith("SCAN") and not step.startswith(REQUIREMENTS)], plans
    index = INDEXES[operation][query]
    assert f" USING INDEX {index} " in next(step for step in plans if step.startswith("SEARCH")), plans
