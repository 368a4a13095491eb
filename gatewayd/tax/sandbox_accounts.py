"""The sandbox authority's account and businesses of a person (domain model §D1).

Self Assessment Accounts 4.0, balance and transactions; Business Details 2.0, list and retrieve; by their published
descriptions of July and August 2026.
"""

import datetime
from collections.abc import Mapping
from decimal import Decimal
from typing import Final

from gatewayd.tax.sandbox_itsa import TYPES
from gatewayd.tax.sandbox_rules import (
    Call,
    Document,
    Reply,
    date_of,
    error,
    is_business_id,
    known_scenario,
    nino_error,
    not_found,
    refuse,
    tax_year,
    tax_year_on,
)

MAX_BALANCE_DAYS: Final = 732
BALANCE_SCENARIOS: Final = frozenset({"NOT_FOUND"})

UNSPECIFIED: Final = "property-unspecified"
_LETTERS: Final[Mapping[str, str]] = {**TYPES, UNSPECIFIED: "A"}
_LISTS: Final[Mapping[str, tuple[str, ...]]] = {
    "": ("self-employment",),
    "STATEFUL": ("self-employment",),  # Chosen: nothing is kept, so that it is the same as without
    "PROPERTY": ("uk-property",),
    "FOREIGN_PROPERTY": ("foreign-property",),
    "BUSINESS_AND_PROPERTY": tuple(TYPES),
    "UNSPECIFIED": (UNSPECIFIED,),
}
LIST_SCENARIOS: Final = frozenset(_LISTS.keys() - {""} | {"NOT_FOUND"})
RETRIEVE_SCENARIOS: Final = frozenset({"PROPERTY", "FOREIGN_PROPERTY", "UNSPECIFIED", "NOT_FOUND"}) | {
    "DYNAMIC",
    "STATEFUL",
}


def balance(call: Call) -> Reply:
    """GET /accounts/self-assessment/{nino}/balance-and-transactions."""
    refuse(nino_error(call) + _balance_errors(call.parameters))
    known_scenario(call, BALANCE_SCENARIOS)
    if call.scenario == "NOT_FOUND":
        raise not_found()
    ended = tax_year_on(call.today) - 1
    due = datetime.date(ended + 2, 1, 31)
    details = {
        "payableAmount": Decimal("1250.40"),
        "payableDueDate": due.isoformat(),
        "pendingChargeDueAmount": Decimal("625.20"),
        "pendingChargeDueDate": due.replace(month=7).isoformat(),
        "overdueAmount": Decimal("0.00"),
        "bcdBalancePerYear": [{"taxYear": tax_year(ended), "bcdAmount": Decimal("1250.40")}],
        "totalBalance": Decimal("1875.60"),
    }
    return Reply(200, {"balanceDetails": details})


def _balance_errors(query: Mapping[str, str]) -> list[Document]:
    since, until = query.get("fromDate"), query.get("toDate")
    first, last = date_of(since), date_of(until)
    errors = []
    if since is None and until is not None:
        errors.append(error("MISSING_FROM_DATE", "The From date parameter is missing"))
    if until is None and since is not None:
        errors.append(error("MISSING_TO_DATE", "The To date parameter is missing."))
    if since is not None and first is None:
        errors.append(error("FORMAT_FROM_DATE", "The format of the fromDate is not valid."))
    if until is not None and last is None:
        errors.append(error("FORMAT_TO_DATE", "The format of toDate is not valid."))
    if first is not None and last is not None and last < first:
        errors.append(error("RANGE_TO_DATE_BEFORE_FROM_DATE", "The To date must be after the From date."))
    elif first is not None and last is not None and (last - first).days > MAX_BALANCE_DAYS:
        errors.append(error("RULE_INVALID_DATE_RANGE", "The provided date range is not valid."))
    return errors


def list_businesses(call: Call) -> Reply:
    """GET /individuals/business/details/{nino}/list."""
    refuse(nino_error(call))
    known_scenario(call, LIST_SCENARIOS)
    if call.scenario == "NOT_FOUND":
        raise not_found()
    rows = [{"typeOfBusiness": kind, "businessId": _id_of(kind), **_trade(kind)} for kind in _LISTS[call.scenario]]
    return Reply(200, {"listOfBusinesses": rows})


def retrieve_business(call: Call) -> Reply:
    """GET /individuals/business/details/{nino}/{businessId}: of the businesses that the scenario knows."""
    business = call.parameters["businessId"]
    wrong = [] if is_business_id(business) else [error("FORMAT_BUSINESS_ID", "The provided businessId is invalid")]
    refuse(nino_error(call) + wrong)
    known_scenario(call, RETRIEVE_SCENARIOS)
    known = {"NOT_FOUND": (), "DYNAMIC": tuple(_LETTERS)}.get(call.scenario) or _LISTS.get(call.scenario, ())
    kind = next((kind for kind in known if _id_of(kind) == business), None)
    if kind is None:
        raise not_found()
    year = tax_year_on(call.today)
    period = {"start": f"{year}-04-06", "end": f"{year + 1}-04-05"}
    choice = {"quarterlyPeriodType": "standard", "taxYearOfChoice": tax_year(year)}
    document = {"businessId": business, "typeOfBusiness": kind, **_trade(kind), "accountingPeriods": [period]}
    return Reply(200, {**document, "quarterlyTypeChoice": choice, "commencementDate": "2020-04-06"})


def _id_of(kind: str) -> str:
    return f"X{_LETTERS[kind]}IS12345678901"


def _trade(kind: str) -> Document:
    return {"tradingType": "Plastering", "tradingName": "Sandbox Trader"} if kind == "self-employment" else {}
