"""What is kept rendered equals what the typed columns give, whatever a business holds."""

import datetime
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gatewayd.areas.businesses.rows import BUSINESSES
from gatewayd.areas.businesses.shapes import Latency, TaxSync
from gatewayd.clock import Instant
from tests.areas.businesses.trades import Firm
from tests.areas.legal_entities.test_rendering import ADDRESS, DATES, or_null
from tests.support.store import MemoryStore

TEXT = st.text(
    st.characters(codec="utf-8", exclude_characters="\0", exclude_categories=("Cf",)), min_size=1, max_size=35
)
NAMES = TEXT.map(lambda text: f"x{text}x")  # what has a pattern may not end in a new line
PAST = st.dates(datetime.date(1970, 1, 1), datetime.date(2026, 11, 20)).map(str)
FIELDS = {
    "type": st.sampled_from(["self_employment", "foreign_property", "company_trade", "other"]),
    "name": NAMES,
    "tradingName": or_null(TEXT),
    "tradingType": or_null(TEXT),
    "commencementDate": or_null(DATES),
    "accountingBasis": st.sampled_from(["cash", "accruals"]),
    "quarterlyPeriodType": st.sampled_from(["standard", "calendar"]),
    "usesConsolidatedExpenses": st.booleans(),
    "address": or_null(ADDRESS),
    "currency": st.sampled_from(["GBP", "JPY"]),
    "bankAccountIds": st.just([]),
    "ownerSharePercent": st.sampled_from(["100", "33.330", "0.000000000001"]),
}
LATENCIES = st.builds(
    Latency,
    end_date=PAST,
    tax_year1=TEXT,
    indicator1=st.sampled_from(["A", "Q"]),
    tax_year2=TEXT,
    indicator2=st.sampled_from(["A", "Q"]),
)
RECORDS = st.builds(
    TaxSync,
    status=st.sampled_from(["never", "in_sync", "differs", "failed", "not_found"]),
    synced_at=or_null(st.integers(0, 1 << 50).map(Instant)),
    error=or_null(TEXT),
    latency=or_null(LATENCIES),
    year_of_migration=or_null(st.just("2026")),
)
SAID = st.fixed_dictionaries(
    {}, optional={"cessation_date": or_null(DATES), "trading_type": or_null(TEXT), "tax_business_id": st.none()}
)


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    creation=st.fixed_dictionaries(FIELDS),
    change=st.fixed_dictionaries({}, optional=FIELDS),
    record=RECORDS,
    said=SAID,
    reason=or_null(TEXT),
)
def test_rendering_again_gives_the_same_bytes(
    store: MemoryStore,
    creation: dict[str, Any],
    change: dict[str, Any],
    record: TaxSync,
    said: dict[str, Any],
    reason: str | None,
) -> None:
    firm = Firm(store)
    made = firm.create(**creation)
    _expect_same(firm, made)
    _expect_same(firm, firm.update(made["id"], **change))
    assert firm.take_over(made["id"], record, **said) == firm.row(made["id"])
    _expect_same(firm, firm.archive(made["id"], reason=reason))


def _expect_same(firm: Firm, answered: dict[str, Any]) -> None:
    business_id = answered["id"]
    assert (business_id, False) in firm.store.read(lambda tx: BUSINESSES.stale(tx, "", 500), firm.org_id)
    assert firm.get(business_id) == answered
