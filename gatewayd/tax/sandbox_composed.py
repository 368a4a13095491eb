"""The sandbox's answers to the two operations that the authority itself has not (domain model §D1, §D4).

They are put together from the sandbox's own operations. # Chosen: a test scenario goes to every part that documents
it, the others answer as without one; a scenario that no part documents is refused.
"""

import datetime
from collections.abc import Mapping
from decimal import Decimal
from typing import Final, NamedTuple, TypeVar

import msgspec

from gatewayd.clock import Instant, to_wire
from gatewayd.tax import sandbox_accounts, sandbox_calculations, sandbox_itsa
from gatewayd.tax.sandbox_rules import (
    AuthorityFault,
    Call,
    Document,
    Operation,
    Reply,
    error,
    known_scenario,
    nino_error,
    refuse,
    tax_year,
    tax_year_error,
    tax_year_on,
    year_of,
)

YEARS_BACK: Final = 4
NOT_FOUND: Final = 404

T = TypeVar("T")


class _Status(msgspec.Struct):
    status: str


class _StatusYear(msgspec.Struct, rename="camel"):
    itsa_status_details: list[_Status]


class _Statuses(msgspec.Struct, rename="camel"):
    itsa_statuses: list[_StatusYear]


class _Row(msgspec.Struct, rename="camel"):
    period_start_date: str
    period_end_date: str
    due_date: str
    status: str
    received_date: str | None = None


class _Business(msgspec.Struct, rename="camel"):
    type_of_business: str
    business_id: str
    obligation_details: list[_Row]


class _Businesses(msgspec.Struct):
    obligations: list[_Business]


class _Declarations(msgspec.Struct):
    obligations: list[_Row]


class _Calculation(msgspec.Struct, rename="camel"):
    calculation_id: str
    calculation_type: str
    calculation_timestamp: str
    liability_amount: Decimal | None = None
    total_income_tax_and_nics_due: Decimal | None = None  # until 2022-23


class _Calculations(msgspec.Struct):
    calculations: list[_Calculation]


class _BalanceDetails(msgspec.Struct, rename="camel"):
    payable_amount: Decimal
    overdue_amount: Decimal
    payable_due_date: str


class _Balance(msgspec.Struct, rename="camel"):
    balance_details: _BalanceDetails


class _Part(NamedTuple):
    """One operation that is asked, with the scenarios it documents."""

    source: str
    operation: Operation
    scenarios: frozenset[str]


_STATUS: Final = _Part("itsaStatus", sandbox_itsa.itsa_status, sandbox_itsa.STATUS_SCENARIOS)
_QUARTERLY: Final = _Part("itsaObligations", sandbox_itsa.income_and_expenditure, sandbox_itsa.OBLIGATION_SCENARIOS)
_DECLARATION: Final = _Part("finalDeclaration", sandbox_itsa.crystallisation, sandbox_itsa.DECLARATION_SCENARIOS)
_CALCULATION: Final = _Part(
    "itsaCalculations", sandbox_calculations.list_calculations, sandbox_calculations.LIST_SCENARIOS
)
_BALANCE: Final = _Part("balance", sandbox_accounts.balance, sandbox_accounts.BALANCE_SCENARIOS)
TAX_YEAR_SCENARIOS: Final = _STATUS.scenarios | _QUARTERLY.scenarios | _DECLARATION.scenarios
SUMMARY_SCENARIOS: Final = TAX_YEAR_SCENARIOS | _CALCULATION.scenarios | _BALANCE.scenarios


class _Inquiry:
    """Asks parts about one person, and remembers how each went: `ok`, `not_found` or `failed`."""

    def __init__(self, call: Call) -> None:
        self._call = call
        self.parts: list[Document] = []

    def ask(self, part: _Part, shape: type[T], parameters: Mapping[str, str]) -> T | None:
        """What a part answers; None where it refuses."""
        call = self._call
        asked = Call(
            parameters={"nino": call.parameters["nino"], **parameters},
            scenario=call.scenario if call.scenario in part.scenarios else "",
            body=b"",
            today=call.today,
            now=call.now,
        )
        answer, status = None, "ok"
        try:
            answer = msgspec.convert(part.operation(asked).document, shape)
        except AuthorityFault as refused:
            status = "not_found" if refused.reply.status == NOT_FOUND else "failed"
        self.parts.append({"source": part.source, "status": status, "fetchedAt": to_wire(Instant(call.now))})
        return answer


def list_tax_years(call: Call) -> Reply:
    """`selfAssessment.listTaxYears`: from four years back to the present one."""
    refuse(nino_error(call))
    known_scenario(call, TAX_YEAR_SCENARIOS)
    present = tax_year_on(call.today)
    inquiry = _Inquiry(call)
    found = inquiry.ask(_DECLARATION, _Declarations, {})
    declared = {} if found is None else {row.period_end_date: row for row in found.obligations}
    years = range(present - YEARS_BACK, present + 1)
    return Reply(200, {"taxYears": [_tax_year(inquiry, year, call.today, declared) for year in years]})


def _tax_year(inquiry: _Inquiry, year: int, today: datetime.date, declared: Mapping[str, _Row]) -> Document:
    """`declared` are the final declarations by the end of their years."""
    dates = _dates(year, "startDate", "endDate")
    rows = [row for business in _businesses(inquiry, year) for row in business.obligation_details]
    states = [_state(row, today) for row in rows]
    declaration = declared.get(dates["endDate"])
    told = None
    if declaration is not None:
        told = {
            "dueDate": declaration.due_date,
            "status": declaration.status,
            "receivedDate": declaration.received_date,
        }
    return {
        "taxYear": tax_year(year),
        **dates,
        "itsaStatus": _itsa_status(inquiry, year),
        "quarterly": {state: states.count(state) for state in ("open", "fulfilled", "overdue")},
        "finalDeclaration": told,
    }


def _dates(year: int, first: str, last: str) -> dict[str, str]:
    return {first: f"{year}-04-06", last: f"{year + 1}-04-05"}


def _state(row: _Row, today: datetime.date) -> str:
    overdue = row.status == "open" and row.due_date < today.isoformat()
    return "overdue" if overdue else row.status


def _itsa_status(inquiry: _Inquiry, year: int) -> str | None:
    found = inquiry.ask(_STATUS, _Statuses, {"taxYear": tax_year(year)})
    return None if found is None else found.itsa_statuses[0].itsa_status_details[-1].status


def _businesses(inquiry: _Inquiry, year: int) -> list[_Business]:
    found = inquiry.ask(_QUARTERLY, _Businesses, _dates(year, "fromDate", "toDate"))
    return [] if found is None else found.obligations


def _declaration(inquiry: _Inquiry, year: int) -> _Row | None:
    found = inquiry.ask(_DECLARATION, _Declarations, {"taxYear": tax_year(year)})
    return None if found is None else found.obligations[-1]


def filing_summary(call: Call) -> Reply:
    """`selfAssessment.getFilingSummary`: of one tax year; a part that fails is told, and is not fatal."""
    text = call.parameters.get("taxYear", "")
    missing = [error("MISSING_TAX_YEAR", "The taxYear parameter is missing")] if not text else tax_year_error(text)
    refuse(nino_error(call) + missing)
    known_scenario(call, SUMMARY_SCENARIOS)
    year, inquiry = year_of(text) or 0, _Inquiry(call)
    document = {
        "taxYear": text,
        "itsaStatus": _itsa_status(inquiry, year),
        "obligations": _summary_rows(inquiry, year),
        "latestCalculation": _latest(inquiry, text),
        "balance": _balance(inquiry),
    }
    return Reply(200, {**document, "parts": inquiry.parts})


def _summary_rows(inquiry: _Inquiry, year: int) -> list[Document]:
    """The obligations of the businesses, then the final declaration, which belongs to none."""
    rows = [
        _summary_row(row, business.type_of_business, business.business_id)
        for business in _businesses(inquiry, year)
        for row in business.obligation_details
    ]
    declaration = _declaration(inquiry, year)
    return rows if declaration is None else [*rows, _summary_row(declaration, None, None)]


def _summary_row(row: _Row, kind: str | None, business: str | None) -> Document:
    return {
        "typeOfBusiness": kind,
        "businessId": business,
        "periodStartDate": row.period_start_date,
        "periodEndDate": row.period_end_date,
        "dueDate": row.due_date,
        "status": row.status,
        "receivedDate": row.received_date,
    }


def _latest(inquiry: _Inquiry, text: str) -> Document | None:
    found = inquiry.ask(_CALCULATION, _Calculations, {"taxYear": text})
    if found is None:
        return None
    latest = max(found.calculations, key=_timestamp)
    return {
        "id": latest.calculation_id,
        "type": latest.calculation_type,
        "timestamp": latest.calculation_timestamp,
        "liabilityAmount": latest.total_income_tax_and_nics_due
        if latest.liability_amount is None
        else latest.liability_amount,
    }


def _timestamp(calculation: _Calculation) -> str:
    return calculation.calculation_timestamp


def _balance(inquiry: _Inquiry) -> Document | None:
    found = inquiry.ask(_BALANCE, _Balance, {})
    if found is None:
        return None
    details = found.balance_details
    return {
        "payable": details.payable_amount,
        "overdue": details.overdue_amount,
        "nextDue": details.payable_due_date,
    }
