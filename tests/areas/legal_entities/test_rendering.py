"""What is kept rendered equals what the typed columns give, whatever an entity holds."""

import datetime
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gatewayd.areas.legal_entities.rows import LEGAL_ENTITIES
from tests.areas.legal_entities.entities import NINO, UTR, VRN, Firm
from tests.support.store import MemoryStore

TEXT = st.text(
    st.characters(codec="utf-8", exclude_characters="\0", exclude_categories=("Cf",)), min_size=1, max_size=40
)
DATES = st.dates(datetime.date(1970, 1, 1), datetime.date(2100, 1, 1)).map(str)


def or_null(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.none() | values


VAT = {
    "effectiveDate": or_null(DATES),
    "returnFrequency": or_null(st.sampled_from(["monthly", "quarterly", "annual"])),
    "staggerGroup": or_null(st.integers(1, 3)),
    "periodEndMonth": or_null(st.integers(1, 12)),
}
FLAT_RATE = {
    "flatRateCategory": or_null(st.sampled_from(["001", "055", "999"])),
    "flatRatePercent": or_null(st.sampled_from(["0", "7.5", "16.50"])),
    "flatRateStartDate": or_null(DATES),
}
ADDRESS = st.fixed_dictionaries(
    {
        "line1": TEXT.filter(lambda text: text.strip() and text[-1] != "\n"),
        "countryCode": st.sampled_from(["GB", "IE"]),
    },
    optional={"line2": or_null(TEXT), "town": TEXT},
)
FIELDS = {
    "name": TEXT,
    "legalName": or_null(TEXT),
    "externalId": or_null(TEXT),
    "companyNumber": st.sampled_from(["1234567", "SC123456"]),
    "utr": or_null(st.just(UTR)),
    "vatNumber": st.just(VRN),
    "accountingYearEnd": st.fixed_dictionaries({"month": st.integers(1, 12), "day": st.integers(1, 28)}),
    "baseCurrency": st.sampled_from(["GBP", "JPY"]),
    "countryCode": st.sampled_from(["GB", "FR"]),
    "taxResidency": or_null(st.sampled_from(["england_ni", "scotland", "wales", "non_uk"])),
    "address": or_null(ADDRESS),
    "email": or_null(st.just("a@b.example")),
    "phone": or_null(TEXT.map(lambda text: text[:32])),
    "website": or_null(TEXT),
    "cis": st.fixed_dictionaries(
        {"contractor": st.booleans(), "subcontractor": st.just(True)},
        optional={"verifiedRate": or_null(st.sampled_from([0, 20, 30]))},
    ),
}


@st.composite
def vats(draw: st.DrawFn) -> dict[str, Any]:
    """VAT registrations that keep the rules."""
    scheme = draw(or_null(st.sampled_from(["standard", "cash", "flat_rate", "annual"])))
    status = draw(st.sampled_from(["not_registered", "registered", "pending"]))
    more = draw(st.fixed_dictionaries({}, optional={**VAT, **(FLAT_RATE if scheme == "flat_rate" else {})}))
    return {"status": status, "scheme": scheme, **more}


@st.composite
def entities(draw: st.DrawFn) -> dict[str, Any]:
    """Whole entities that keep the rules: every field is there, so that one can follow another by an update."""
    kind = draw(st.sampled_from(["individual", "sole_trader", "trust", "limited_company"]))
    nino = draw(or_null(st.just(NINO))) if kind in ("individual", "sole_trader") else None
    return {"type": kind, "nino": nino, "vat": draw(vats()), **draw(st.fixed_dictionaries(FIELDS))}


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(creation=entities(), change=entities())
def test_rendering_again_gives_the_same_bytes(
    store: MemoryStore, creation: dict[str, Any], change: dict[str, Any]
) -> None:
    firm = Firm(store)
    made = firm.create(**creation)
    _expect_same(firm, made)
    _expect_same(firm, firm.update(made["id"], **change))


def _expect_same(firm: Firm, answered: dict[str, Any]) -> None:
    entity_id = answered["id"]
    assert (entity_id, False) in firm.store.read(lambda tx: LEGAL_ENTITIES.stale(tx, "", 500), firm.org_id)
    assert firm.get(entity_id) == answered
