"""The sandbox authority's account of a person (domain model §D1).

Self Assessment Accounts 4.0, balance and transactions, by its published description of August 2026.
"""

import datetime
from collections.abc import Mapping
from decimal import Decimal
from typing import Final

from gatewayd.sandbox_authority.rules import (
    Call,
    Document,
    date_of,
    error,
    known_scenario,
    nino_error,
    not_found,
    refuse,
    tax_year,
    tax_year_on,
)

MAX_BALANCE_DAYS: Final = 732
BALANCE_SCENARIOS: Final = frozenset({"NOT_FOUND"})


def balance(call: Call) -> Document:
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
    return {"balanceDetails": details}


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
