"""The sandbox authority's businesses of a person (domain model §D1): Business Details 2.0, list and retrieve.

By the published description of July 2026 (hmrc/business-details-api 322cd36), which no longer tells an accounting type.
The ids are the published ones, so that two people share them, as they do in the authority's own sandbox; STATEFUL alone
has ids of each person's own. What a business is called and when it began follows from the number and the id.
"""

import datetime
from collections.abc import Mapping
from typing import Final

from gatewayd.sandbox_authority.itsa import TYPES
from gatewayd.sandbox_authority.rules import (
    Call,
    Document,
    derived_number,
    error,
    is_business_id,
    known_scenario,
    nino_error,
    not_found,
    refuse,
    tax_year,
    tax_year_on,
)

TRADE: Final = "self-employment"
UNSPECIFIED: Final = "property-unspecified"
_LETTERS: Final[Mapping[str, str]] = {**TYPES, UNSPECIFIED: "A"}
_LISTS: Final[Mapping[str, tuple[str, ...]]] = {
    "": (TRADE,),
    "PROPERTY": ("uk-property",),
    "FOREIGN_PROPERTY": ("foreign-property",),
    "BUSINESS_AND_PROPERTY": tuple(TYPES),
    "UNSPECIFIED": (UNSPECIFIED,),
}
STATEFUL: Final = "STATEFUL"
DYNAMIC: Final = "DYNAMIC"
LIST_SCENARIOS: Final = frozenset(_LISTS.keys() - {""} | {"NOT_FOUND", STATEFUL})
RETRIEVE_SCENARIOS: Final = frozenset({"PROPERTY", "FOREIGN_PROPERTY", "UNSPECIFIED", "NOT_FOUND", DYNAMIC, STATEFUL})

_TRADES: Final = (
    *(("Plastering", "Acme Plastering"), ("Joinery", "Oak & Son Joinery"), ("Bookkeeping", "Fenn Bookkeeping")),
    *(("Garden design", "Moss Gardens"), ("Photography", "Lark Pictures"), ("Music teaching", "Elm Road Music")),
)
_STREETS: Final = ("Acme Rd.", "Mill Lane", "Church Street", "Station Road")
_TOWNS: Final = (
    ("Leeds", "West Yorkshire", "LS1 4DY"),
    ("Bath", "Somerset", "BA1 1LZ"),
    ("York", "Yorkshire", "YO1 7HH"),
)


def list_businesses(call: Call) -> Document:
    """GET /individuals/business/details/{nino}/list."""
    refuse(nino_error(call))
    known_scenario(call, LIST_SCENARIOS)
    if call.scenario == "NOT_FOUND":
        raise not_found()
    nino = call.parameters["nino"]
    rows = [
        {"typeOfBusiness": kind, "businessId": business, **_trade(kind, nino, business)}
        for business, kind in _known(call).items()
    ]
    return {"listOfBusinesses": rows}


def retrieve_business(call: Call) -> Document:
    """GET /individuals/business/details/{nino}/{businessId}: of the businesses that the scenario knows."""
    business, nino = call.parameters["businessId"], call.parameters["nino"]
    wrong = [] if is_business_id(business) else [error("FORMAT_BUSINESS_ID", "The provided businessId is invalid")]
    refuse(nino_error(call) + wrong)
    known_scenario(call, RETRIEVE_SCENARIOS)
    kind = _known(call).get(business)
    if kind is None:
        raise not_found()
    year = tax_year_on(call.today)
    began = _began(nino, business)
    return {
        "businessId": business,
        "typeOfBusiness": kind,
        **_trade(kind, nino, business),
        "yearOfMigration": str(max(2022, tax_year_on(began))),
        "firstAccountingPeriodStartDate": began.isoformat(),
        "firstAccountingPeriodEndDate": datetime.date(tax_year_on(began) + 1, 4, 5).isoformat(),
        **_latency(began, call.today),
        "accountingPeriods": [{"start": f"{year}-04-06", "end": f"{year + 1}-04-05"}],
        "quarterlyTypeChoice": {"quarterlyPeriodType": "standard", "taxYearOfChoice": tax_year(year)},
        "commencementDate": began.isoformat(),
        **_address(kind, nino, business),
    }


def _known(call: Call) -> dict[str, str]:
    """The type of each business that the person has under the scenario, by its id."""
    nino = call.parameters["nino"]
    if call.scenario == STATEFUL:  # Chosen: nothing is kept; who they are says what they have
        kinds = [TRADE, *(kind for kind in TYPES if kind != TRADE and derived_number(2, "source", kind, nino))]
        return {_own_id(kind, nino): kind for kind in kinds}
    kinds = [*_LETTERS] if call.scenario == DYNAMIC else [*_LISTS.get(call.scenario, ())]
    return {f"X{_LETTERS[kind]}IS12345678901": kind for kind in kinds}


def _own_id(kind: str, nino: str) -> str:
    return f"X{_LETTERS[kind]}IS{derived_number(10**11, 'business', kind, nino):011d}"


def _trade(kind: str, nino: str, business: str) -> Document:
    if kind != TRADE:
        return {}
    trading_type, name = _TRADES[derived_number(len(_TRADES), "trade", nino, business)]
    return {"tradingType": trading_type, "tradingName": name}


def _began(nino: str, business: str) -> datetime.date:
    """Some day from 6 April 2015 to 5 April 2023."""
    return datetime.date(2015, 4, 6) + datetime.timedelta(days=derived_number(2_922, "began", nino, business))


def _latency(began: datetime.date, today: datetime.date) -> Document:
    """The first two tax years of a source, in which it may report once a year; nothing where they are long over."""
    first = tax_year_on(began)
    if tax_year_on(today) - first > 5:
        return {}
    details = {
        "latencyEndDate": datetime.date(first + 2, 4, 5).isoformat(),
        "taxYear1": tax_year(first),
        "latencyIndicator1": "A",
        "taxYear2": tax_year(first + 1),
        "latencyIndicator2": "Q",
    }
    return {"latencyDetails": details}


def _address(kind: str, nino: str, business: str) -> Document:
    """Of a trade alone: a property business has none at the authority."""
    if kind != TRADE:
        return {}
    street = _STREETS[derived_number(len(_STREETS), "street", nino, business)]
    town, county, postcode = _TOWNS[derived_number(len(_TOWNS), "town", nino, business)]
    return {
        "businessAddressLineOne": f"{derived_number(98, 'number', nino, business) + 1} {street}",
        "businessAddressLineTwo": town,
        "businessAddressLineThree": county,
        "businessAddressPostcode": postcode,
        "businessAddressCountryCode": "GB",
    }
