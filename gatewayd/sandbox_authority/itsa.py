"""The sandbox authority's Income Tax status and obligations (domain model §D1, §D4).

Self Assessment Individual Details 2.0 and Obligations 3.0, by their published descriptions of May and July 2026.
Validation comes first, then the scenario. Dates follow the tax year that is asked for, and London's day where none is.
"""

import datetime
from collections.abc import Mapping
from typing import Final, NamedTuple

from gatewayd.clock import months_later
from gatewayd.sandbox_authority.rules import (
    AuthorityFault,
    Call,
    Document,
    date_of,
    derived_number,
    error,
    fault,
    insolvent,
    is_business_id,
    known_scenario,
    nino_error,
    not_found,
    refuse,
    tax_year,
    tax_year_error,
    tax_year_on,
    year_of,
)

CUMULATIVE_FROM: Final = 2025  # §0.1, finding 2: from 2025-26 every period starts with the year
SEVENTH_FROM: Final = 2026  # §0.1, finding 1: due on the 7th from 2026-27, before that on the 5th
FIRST_OBLIGATION_DAY: Final = datetime.date(2018, 4, 6)
LAST_OBLIGATION_DAY: Final = datetime.date(2099, 12, 31)  # what the authority's service takes
FIRST_DECLARATION: Final = 2017
DECLARATIONS_BACK: Final = 4  # years before the present one
MAX_DAYS: Final = 366
OPEN_QUARTER: Final = 3  # of the scenario CUMULATIVE, as published: the last
RECEIVED_BEFORE: Final = datetime.timedelta(days=6)  # Chosen: as in the published example

TYPES: Final[Mapping[str, str]] = {"self-employment": "B", "uk-property": "P", "foreign-property": "F"}
"""The types of business, with the letter of their ids in the sandbox."""

STATUS_SCENARIOS: Final = frozenset({"NOT_FOUND", "NOT_ENROLLED", "STATEFUL"})
_STATUSES: Final = ("MTD Mandated", "MTD Voluntary", "Annual", "Digitally Exempt", "Dormant", "No Status")
_NUMBERED: Final[Mapping[str, str]] = {"OPEN": "3", "FULFILLED": "2", "DYNAMIC": "1"}  # the last digit of their ids
OBLIGATION_SCENARIOS: Final = frozenset(
    _NUMBERED.keys() | {"INSOLVENT_TRADER", "NOT_FOUND", "NO_OBLIGATIONS_FOUND", "CUMULATIVE"}
)
DECLARATION_SCENARIOS: Final = frozenset({"MULTIPLE", "INSOLVENT_TRADER", "NOT_FOUND", "DYNAMIC"})


# -- status


def itsa_status(call: Call) -> Document:
    """GET /individuals/person/itsa-status/{nino}/{taxYear}."""
    year_text = call.parameters.get("taxYear", "")
    errors = nino_error(call) + tax_year_error(year_text)
    for name, code in (("futureYears", "FORMAT_FUTURE_YEARS"), ("history", "FORMAT_HISTORY")):
        if call.parameters.get(name, "false") not in ("true", "false"):
            errors.append(error(code, f"The provided {name} value should be true or false"))
    refuse(errors)
    known_scenario(call, STATUS_SCENARIOS)
    if call.scenario == "NOT_FOUND":
        raise not_found()
    if call.scenario == "NOT_ENROLLED":
        raise fault(403, "CLIENT_NOT_MTD_ENROLLED", "The client does not have an active MTD enrolment.")
    first = last = year_of(year_text) or 0
    if call.parameters.get("futureYears") == "true":
        last = max(first, tax_year_on(call.today) + 1)  # Chosen: until the year after the present one
    years = range(first, last + 1)
    return {"itsaStatuses": [_status_of(call, year) for year in years]}


def _status_of(call: Call, year: int) -> Document:
    """The status of one year. # Chosen: mandated from 2026-27; STATEFUL, as nothing is kept, one derived."""
    status = "MTD Mandated" if year >= SEVENTH_FROM else "MTD Voluntary"
    if call.scenario == "STATEFUL":
        status = _STATUSES[derived_number(len(_STATUSES), "status", call.parameters["nino"], year)]
    details = [_status_detail(year, "05", status, "Sign up - return available")]
    if call.parameters.get("history") == "true":
        details.insert(0, _status_detail(year, "02", "No Status", "Sign up - no return available"))
    return {"taxYear": tax_year(year), "itsaStatusDetails": details}


def _status_detail(year: int, month: str, status: str, reason: str) -> Document:
    return {
        "submittedOn": f"{year - 1}-{month}-23T12:29:27.566Z",
        "status": status,
        "statusReason": reason,
        "businessIncome2YearsPrior": 52340.5,
    }


# -- obligations of businesses


class _Span(NamedTuple):
    """The dates asked for, both or none."""

    first: datetime.date | None
    last: datetime.date | None

    def holds(self, day: datetime.date) -> bool:
        return (self.first is None or self.first <= day) and (self.last is None or day <= self.last)


def income_and_expenditure(call: Call) -> Document:
    """GET /obligations/details/{nino}/income-and-expenditure: for every business, or those asked for."""
    query = call.parameters
    span, errors = _span_of(query)
    refuse(nino_error(call) + _business_errors(query) + errors + _status_errors(query))
    known_scenario(call, OBLIGATION_SCENARIOS)
    _refuse_obligations(call)
    listed = []
    for kind in [query["typeOfBusiness"]] if "typeOfBusiness" in query else TYPES:
        business = _business_of(kind, call)
        rows = [row for row in _rows(call, span) if query.get("status") in (None, row["status"])]
        if rows:
            listed.append({"typeOfBusiness": kind, "businessId": business, "obligationDetails": rows})
    if not listed:
        raise _no_obligations()
    return {"obligations": listed}


def _refuse_obligations(call: Call) -> None:
    if call.scenario == "INSOLVENT_TRADER":
        raise insolvent(400)
    if call.scenario == "NOT_FOUND":
        raise not_found()
    if call.scenario == "NO_OBLIGATIONS_FOUND":
        raise _no_obligations()


def _no_obligations() -> AuthorityFault:
    return fault(404, "NO_OBLIGATIONS_FOUND", "No obligations found using this filter")


def _business_errors(query: Mapping[str, str]) -> list[Document]:
    errors, kind, business = [], query.get("typeOfBusiness"), query.get("businessId")
    if kind is not None and kind not in TYPES:
        errors.append(error("FORMAT_TYPE_OF_BUSINESS", "The provided typeOfBusiness field is invalid"))
    if business is not None and not is_business_id(business):
        errors.append(error("FORMAT_BUSINESS_ID", "The provided businessId is invalid"))
    if business is not None and kind is None:
        message = "The type of business query parameter must be provided when an incomeSourceId is supplied"
        errors.append(error("MISSING_TYPE_OF_BUSINESS", message))
    return errors


def _status_errors(query: Mapping[str, str]) -> list[Document]:
    known = query.get("status") in (None, "open", "fulfilled")
    return [] if known else [error("FORMAT_STATUS", "The provided status is invalid")]


def _span_of(query: Mapping[str, str]) -> tuple[_Span, list[Document]]:
    """The dates asked for and what is wrong with them."""
    since, until = query.get("fromDate"), query.get("toDate")
    first, last = date_of(since), date_of(until)
    errors = []
    if since is None and until is not None:
        errors.append(error("MISSING_FROM_DATE", "The From date parameter is missing"))
    if until is None and since is not None:
        errors.append(error("MISSING_TO_DATE", "The To date parameter is missing"))
    if since is not None and first is None:
        errors.append(error("FORMAT_FROM_DATE", "The provided fromDate is invalid"))
    if until is not None and (last is None or last > LAST_OBLIGATION_DAY):
        errors.append(error("FORMAT_TO_DATE", "The provided toDate is invalid"))
    if first is not None and first < FIRST_OBLIGATION_DAY:
        errors.append(error("RULE_FROM_DATE_NOT_SUPPORTED", "The specified From date is not supported as too early"))
    if first is not None and last is not None and last < first:
        errors.append(error("RANGE_TO_DATE_BEFORE_FROM_DATE", "The To date must be after the From date"))
    elif first is not None and last is not None and not 0 < (last - first).days <= MAX_DAYS:
        errors.append(error("RULE_DATE_RANGE_INVALID", "The specified date range is invalid"))
    return _Span(first, last), errors


def _business_of(kind: str, call: Call) -> str:
    """The id of a business: the one asked for, where the scenario has it.

    OPEN, FULFILLED and DYNAMIC each know one business of each type; the others answer for any id.
    """
    number = _NUMBERED.get(call.scenario)
    own = f"X{TYPES[kind]}IS1234567890{number or '1'}"
    business_id = call.parameters.get("businessId", own)
    if number is not None and business_id != own:
        raise not_found()
    return business_id


def _rows(call: Call, span: _Span) -> list[Document]:
    if call.scenario == "DYNAMIC":
        return [_dynamic_row(call, span)]
    first = tax_year_on(span.first or call.today)
    last = tax_year_on(span.last or call.today)
    quarters = [(index, row) for year in range(first, last + 1) for index, row in enumerate(_quarters(call, year))]
    return [_row(call, index, *dates) for index, dates in quarters if span.holds(dates[1])]


def _quarters(call: Call, year: int) -> list[tuple[datetime.date, datetime.date, datetime.date]]:
    """Start, end and due date of the standard quarters of a tax year (domain model §C6)."""
    ends = [datetime.date(year, 7, 5), datetime.date(year, 10, 5)]
    ends += [datetime.date(year + 1, 1, 5), datetime.date(year + 1, 4, 5)]
    starts = [datetime.date(year, 4, 6)] * len(ends)
    if year < CUMULATIVE_FROM and call.scenario != "CUMULATIVE":
        starts = [starts[0], *[end + datetime.timedelta(days=1) for end in ends[:-1]]]
    day = 7 if year >= SEVENTH_FROM else 5
    dues = [end.replace(month=end.month + 1, day=day) for end in ends]
    return list(zip(starts, ends, dues, strict=True))


def _row(call: Call, index: int, start: datetime.date, end: datetime.date, due: datetime.date) -> Document:
    """One obligation. # Chosen: without a scenario, what was due before today has been fulfilled."""
    met = {"OPEN": False, "FULFILLED": True, "CUMULATIVE": index < OPEN_QUARTER}.get(call.scenario, due < call.today)
    return _obligation_row(start, end, due, received=due - RECEIVED_BEFORE if met else None)


def _obligation_row(
    start: datetime.date, end: datetime.date, due: datetime.date, *, received: datetime.date | None
) -> Document:
    """An obligation in the authority's words; `received` None: it is open."""
    row: dict[str, object] = {
        "periodStartDate": start.isoformat(),
        "periodEndDate": end.isoformat(),
        "dueDate": due.isoformat(),
        "status": "open" if received is None else "fulfilled",
    }
    if received is not None:
        row["receivedDate"] = received.isoformat()
    return row


def _dynamic_row(call: Call, span: _Span) -> Document:
    """The obligation of exactly the dates and the status asked for; it is due a month after it ends."""
    start = span.first or datetime.date(tax_year_on(call.today), 4, 6)
    end = span.last or datetime.date(tax_year_on(call.today) + 1, 4, 5)
    met = call.parameters.get("status") == "fulfilled"
    return _obligation_row(start, end, months_later(end, 1), received=end if met else None)


# -- the final declaration


def crystallisation(call: Call) -> Document:
    """GET /obligations/details/{nino}/crystallisation: the final declaration of a tax year, or of the last ones.

    Of one year it is open, as documented; of a year before others, or for DYNAMIC, fulfilled. # Chosen: where no year
    is named, what was due before today has been fulfilled.
    """
    text, status = call.parameters.get("taxYear"), call.parameters.get("status")
    errors = [] if text is None else tax_year_error(text, FIRST_DECLARATION)
    refuse(nino_error(call) + errors + _status_errors(call.parameters))
    known_scenario(call, DECLARATION_SCENARIOS)
    _refuse_obligations(call)
    named_year = None if text is None else year_of(text)
    last = tax_year_on(call.today) if named_year is None else named_year
    several = named_year is None or call.scenario == "MULTIPLE"
    rows = []
    for year in range(max(FIRST_DECLARATION, last - DECLARATIONS_BACK) if several else last, last + 1):
        passed = _declaration_due(year) < call.today if named_year is None else year < last
        rows.append(_declaration(year, met=passed or call.scenario == "DYNAMIC"))
    wanted = [row for row in rows if status in (None, row["status"])]
    if not wanted:
        raise _no_obligations()
    return {"obligations": wanted}


def _declaration_due(year: int) -> datetime.date:
    """When the final declaration of a tax year is due: on the 31 January after it ends (§C6)."""
    return datetime.date(year + 2, 1, 31)


def _declaration(year: int, *, met: bool) -> Document:
    due = _declaration_due(year)
    start, end = datetime.date(year, 4, 6), datetime.date(year + 1, 4, 5)
    return _obligation_row(start, end, due, received=due - RECEIVED_BEFORE if met else None)
