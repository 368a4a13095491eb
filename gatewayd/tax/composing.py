"""The two operations that the authority has no endpoint for, composed of those it has (domain model §D1).

A part that the authority refuses or does not find is told in the answer, where the answer tells of its parts. Else the
refusal is the answer to the whole, as is what concerns every part alike, such as an authorisation that has ended. A
test scenario goes to those parts that document it (§D4); one that none of them documents is refused.
"""

import datetime
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, Final, NoReturn

import msgspec

from gatewayd.clock import Instant, london_date, to_wire
from gatewayd.contract.wire import encode
from gatewayd.errors import Problem, invalid_field
from gatewayd.http1.response import Response
from gatewayd.ledger.tax_calendar import bounds, is_tax_year, tax_year, tax_year_of
from gatewayd.sandbox_authority import accounts, calculations, itsa
from gatewayd.sandbox_authority.rules import unknown_scenario
from gatewayd.tax import shapes
from gatewayd.tax.mapping import ENDPOINTS, Endpoint, Target, authority_target

LIST_TAX_YEARS: Final = "selfAssessment.listTaxYears"
FILING_SUMMARY: Final = "selfAssessment.getFilingSummary"
YEARS_BACK: Final = 4  # §D1: as far back as obligations of final declarations go by default

STATUS: Final = "itsaStatus"
QUARTERLY: Final = "itsaObligations"
FINAL: Final = "finalDeclaration"
CALCULATIONS: Final = "itsaCalculations"
BALANCE: Final = "balance"
PARTS: Final[Mapping[str, Endpoint]] = {
    STATUS: ENDPOINTS["itsaStatus.get"],
    QUARTERLY: ENDPOINTS["itsaObligations.list"],
    FINAL: ENDPOINTS["itsaObligations.list:final_declaration"],
    CALCULATIONS: ENDPOINTS["itsaCalculations.list"],
    BALANCE: ENDPOINTS["accounts.balance"],
}
"""What is asked for, by the name that an answer tells it by."""
PARTS_OF: Final[Mapping[str, Collection[str]]] = {
    LIST_TAX_YEARS: (STATUS, QUARTERLY, FINAL),
    FILING_SUMMARY: tuple(PARTS),
}
SCENARIOS: Final[Mapping[str, Collection[str]]] = {
    STATUS: itsa.STATUS_SCENARIOS,
    QUARTERLY: itsa.OBLIGATION_SCENARIOS,
    FINAL: itsa.DECLARATION_SCENARIOS,
    CALCULATIONS: calculations.LIST_SCENARIOS,
    BALANCE: accounts.BALANCE_SCENARIOS,
}
"""The test scenarios that each part documents."""
OLD_LIABILITY: Final = "totalIncomeTaxAndNicsDue"  # what the list calls `liabilityAmount` up to 2022-23
_JSON: Final = (b"Content-Type", b"application/json")

Object = dict[str, Any]
Ask = Callable[[Target, str], Awaitable[Response]]


@dataclass(frozen=True, slots=True)
class Part:
    """What the authority said to one question; `document` is empty where it has nothing to say."""

    summary: shapes.SummaryPart
    document: Object

    def rows(self, name: str) -> list[Object]:
        """The objects of a list in the document; none where it is not there."""
        return _rows(self.document, name)


class _RefusedError(Exception):
    """The authority's refusal of a part that the answer cannot do without."""

    def __init__(self, response: Response) -> None:
        super().__init__(response.status)
        self.response = response


@dataclass(frozen=True, slots=True)
class Composition:
    """What an answer is composed from: the parameters with the taxpayer's number, the time, a way to the authority.

    `scenario` is empty where no test scenario was named.
    """

    values: Mapping[str, str]
    now: Instant
    scenario: str
    ask: Ask

    @property
    def today(self) -> str:
        return london_date(self.now)

    async def part(self, name: str, more: Mapping[str, str], *, fatal: bool = False) -> Part:
        """Ask one question. Raises `Problem` for what concerns every part; where `fatal`, for a failure of this too."""
        target = authority_target(PARTS[name], {"nino": self.values["nino"], **more})
        try:
            response = await self.ask(target, self.scenario if self.scenario in SCENARIOS[name] else "")
        except Problem as problem:
            if fatal or problem.code != "tax_upstream_error":
                raise
            return self._part_of(name, "failed")
        document = _object(response)
        if response.status == 200 and document:
            return self._part_of(name, "ok", document)
        if response.status == 404:
            return self._part_of(name, "not_found")
        if fatal:
            _refuse(response, document)
        return self._part_of(name, "failed")

    def _part_of(self, name: str, status: str, document: Object | None = None) -> Part:
        return Part(shapes.SummaryPart(source=name, status=status, fetched_at=to_wire(self.now)), document or {})


def _refuse(response: Response, document: Object) -> NoReturn:
    """Raise what ends the whole: the authority's own refusal, or a `Problem` where it failed."""
    if 400 <= response.status < 500:
        raise _RefusedError(response)
    upstream = {"status": response.status, "code": _text(document, "code")}
    raise Problem("tax_upstream_error", "A part of the answer was refused.", extra={"upstream": upstream})


async def compose(operation_id: str, composition: Composition) -> Response:
    """The answer to a composed operation, or the authority's refusal of a part of it. Raises `Problem`."""
    scenario = composition.scenario
    if scenario and not any(scenario in SCENARIOS[part] for part in PARTS_OF[operation_id]):
        refusal = unknown_scenario()
        return Response(refusal.status, [_JSON], encode(refusal.document))
    try:
        answer = await (_tax_years(composition) if operation_id == LIST_TAX_YEARS else _summary(composition))
    except _RefusedError as refused:
        return refused.response
    return Response(200, [_JSON], encode(answer))


# -- selfAssessment.listTaxYears


async def _tax_years(composition: Composition) -> shapes.TaxYears:
    current = int(tax_year_of(composition.today)[:4])
    years = [tax_year(first) for first in range(current - YEARS_BACK, current + 1)]
    final = await composition.part(FINAL, {}, fatal=True)
    statuses = await composition.part(STATUS, {"taxYear": years[0], "futureYears": "true"}, fatal=True)
    standing = {year["taxYear"]: _standing(year) for year in statuses.rows("itsaStatuses") if _has_year(year)}
    declared = {tax_year_of(row["periodEndDate"]): row for row in _periods(final.rows("obligations"))}
    listed = []
    for year in years:
        first, last = bounds(year)
        quarterly = await composition.part(QUARTERLY, {"fromDate": first, "toDate": last}, fatal=True)
        rows = [row for business in quarterly.rows("obligations") for row in _rows(business, "obligationDetails")]
        listed.append(
            shapes.TaxYear(
                tax_year=year,
                start_date=first,
                end_date=last,
                itsa_status=standing.get(year),
                quarterly=_counts(rows, composition.today),
                final_declaration=_declaration(declared[year]) if year in declared else None,
            )
        )
    return shapes.TaxYears(tax_years=listed)


def _standing(year: Object) -> str | None:
    details = year.get("itsaStatusDetails")
    newest = details[-1] if isinstance(details, list) and details else {}
    return _text(newest, "status")


def _periods(rows: list[Object]) -> list[Object]:
    """Those whose period can be told."""
    return [row for row in rows if _is_day(row.get("periodEndDate"))]


def _counts(rows: list[Object], today: str) -> shapes.QuarterlyCounts:
    waiting = [row for row in rows if _is_open(row)]
    overdue = [row for row in waiting if _is_day(row.get("dueDate")) and row["dueDate"] < today]
    return shapes.QuarterlyCounts(
        open=len(waiting) - len(overdue), fulfilled=len(rows) - len(waiting), overdue=len(overdue)
    )


def _declaration(row: Object) -> shapes.FinalDeclaration:
    return shapes.FinalDeclaration(
        due_date=_text(row, "dueDate"), status=_text(row, "status"), received_date=_text(row, "receivedDate")
    )


# -- selfAssessment.getFilingSummary


async def _summary(composition: Composition) -> shapes.FilingSummary:
    year = composition.values.get("taxYear")
    if not year:
        raise invalid_field("taxYear", "required", "Name the tax year.")
    if not is_tax_year(year):
        raise invalid_field("taxYear", "invalid_format", "Expected a tax year such as 2026-27.")
    first, last = bounds(year)
    status = await composition.part(STATUS, {"taxYear": year})
    quarterly = await composition.part(QUARTERLY, {"fromDate": first, "toDate": last})
    final = await composition.part(FINAL, {"taxYear": year})
    calculations = await composition.part(CALCULATIONS, {"taxYear": year})
    balance = await composition.part(BALANCE, {"onlyOpenItems": "true"})
    mine = next((row for row in status.rows("itsaStatuses") if row.get("taxYear") == year), {})
    return shapes.FilingSummary(
        tax_year=year,
        itsa_status=_standing(mine),
        obligations=_obligations(quarterly.rows("obligations"), final.rows("obligations")),
        latest_calculation=_latest(calculations.rows("calculations")),
        balance=_balance(balance),
        parts=[part.summary for part in (status, quarterly, final, calculations, balance)],
    )


def _obligations(businesses: list[Object], declarations: list[Object]) -> list[shapes.SummaryObligation]:
    """Those of the businesses, then the final declaration, which belongs to none."""
    rows = [(row, business) for business in businesses for row in _rows(business, "obligationDetails")]
    return [_obligation(row, business) for row, business in [*rows, *((row, {}) for row in declarations)]]


def _obligation(row: Object, business: Object) -> shapes.SummaryObligation:
    return shapes.SummaryObligation(
        type_of_business=_text(business, "typeOfBusiness"),
        business_id=_text(business, "businessId"),
        period_start_date=_text(row, "periodStartDate"),
        period_end_date=_text(row, "periodEndDate"),
        due_date=_text(row, "dueDate"),
        status=_text(row, "status"),
        received_date=_text(row, "receivedDate"),
    )


def _latest(rows: list[Object]) -> shapes.LatestCalculation | None:
    named = [row for row in rows if isinstance(row.get("calculationId"), str)]
    if not named:
        return None
    newest = max(named, key=lambda row: str(row.get("calculationTimestamp", "")))
    return shapes.LatestCalculation(
        id=newest["calculationId"],
        type=_text(newest, "calculationType"),
        timestamp=_text(newest, "calculationTimestamp"),
        liability_amount=_first_number(newest, "liabilityAmount", OLD_LIABILITY),
    )


def _balance(part: Part) -> shapes.Balance | None:
    details = part.document.get("balanceDetails")
    if not isinstance(details, dict):
        return None
    return shapes.Balance(
        payable=_number(details, "payableAmount"),
        overdue=_number(details, "overdueAmount"),
        next_due=_text(details, "payableDueDate"),
    )


# -- reading what the authority said


def _object(response: Response) -> Object:
    try:
        return msgspec.json.decode(response.body, type=Object)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return {}


def _rows(document: Object, name: str) -> list[Object]:
    found = document.get(name)
    return [row for row in found if isinstance(row, dict)] if isinstance(found, list) else []


def _is_open(row: Object) -> bool:
    return str(row.get("status", "")).lower() in ("open", "o")


def _has_year(year: Object) -> bool:
    return isinstance(year.get("taxYear"), str) and is_tax_year(year["taxYear"])


def _is_day(value: object) -> bool:
    try:
        return isinstance(value, str) and len(value) == 10 and bool(datetime.date.fromisoformat(value))
    except ValueError:
        return False


def _text(document: Object, name: str) -> str | None:
    value = document.get(name)
    return value if isinstance(value, str) else None


def _number(document: Object, name: str) -> float | None:
    value = document.get(name)
    return float(value) if isinstance(value, int | float) else None


def _first_number(document: Object, *names: str) -> float | None:
    found = (_number(document, name) for name in names)
    return next((number for number in found if number is not None), None)
