"""The two operations that the authority has no endpoint for, composed of those it has (domain model §D1)."""

import datetime
from collections.abc import Collection, Mapping
from typing import Final

from gatewayd.contract.wire import encode
from gatewayd.errors import invalid_field
from gatewayd.http1.response import Response
from gatewayd.ledger.tax_calendar import bounds, is_tax_year, tax_year, tax_year_of
from gatewayd.sandbox_authority.rules import unknown_scenario
from gatewayd.tax import shapes
from gatewayd.tax.composition import (
    BALANCE,
    CALCULATIONS,
    FINAL,
    PARTS,
    QUARTERLY,
    SCENARIOS,
    STATUS,
    Composition,
    Object,
    Part,
    RefusedError,
    refuse,
    rows_of,
    text,
)

LIST_TAX_YEARS: Final = "selfAssessment.listTaxYears"
FILING_SUMMARY: Final = "selfAssessment.getFilingSummary"
YEARS_BACK: Final = 4  # §D1: as far back as obligations of final declarations go by default
PARTS_OF: Final[Mapping[str, Collection[str]]] = {
    LIST_TAX_YEARS: (STATUS, QUARTERLY, FINAL),
    FILING_SUMMARY: tuple(PARTS),
}
OLD_LIABILITY: Final = "totalIncomeTaxAndNicsDue"  # what the list calls `liabilityAmount` up to 2022-23
_JSON: Final = (b"Content-Type", b"application/json")


async def compose(operation_id: str, composition: Composition) -> Response:
    """The answer to a composed operation, or the authority's refusal of a part of it. Raises `Problem`."""
    scenario = composition.scenario
    if scenario and not any(scenario in SCENARIOS[part] for part in PARTS_OF[operation_id]):
        refusal = unknown_scenario()
        return Response(refusal.status, [_JSON], encode(refusal.document))
    try:
        answer = await (_tax_years(composition) if operation_id == LIST_TAX_YEARS else _summary(composition))
    except RefusedError as refused:
        return refused.response
    return Response(200, [_JSON], encode(answer))


# -- selfAssessment.listTaxYears


async def _tax_years(composition: Composition) -> shapes.TaxYears:
    current = int(tax_year_of(composition.today)[:4])
    years = [tax_year(first) for first in range(current - YEARS_BACK, current + 1)]
    final = await composition.needed(FINAL, {})
    statuses = await composition.needed(STATUS, {"taxYear": years[0], "futureYears": "true"})
    standing = {year["taxYear"]: _standing(year) for year in statuses.rows("itsaStatuses") if _has_year(year)}
    declared = {tax_year_of(row["periodEndDate"]): row for row in _periods(final.rows("obligations"))}
    listed = []
    for year in years:
        first, last = bounds(year)
        quarterly = await composition.needed(QUARTERLY, {"fromDate": first, "toDate": last})
        rows = [row for business in quarterly.rows("obligations") for row in rows_of(business, "obligationDetails")]
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
    return text(newest, "status")


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
        due_date=text(row, "dueDate"), status=text(row, "status"), received_date=text(row, "receivedDate")
    )


# -- selfAssessment.getFilingSummary


async def _summary(composition: Composition) -> shapes.FilingSummary:
    year = composition.values.get("taxYear")
    if not year:
        raise invalid_field("taxYear", "required", "Name the tax year.")
    if not is_tax_year(year):
        raise invalid_field("taxYear", "invalid_format", "Expected a tax year such as 2026-27.")
    first, last = bounds(year)
    questions = {
        STATUS: {"taxYear": year},
        QUARTERLY: {"fromDate": first, "toDate": last},
        FINAL: {"taxYear": year},
        CALCULATIONS: {"taxYear": year},
        BALANCE: {"onlyOpenItems": "true"},
    }
    # Chosen: each may take an equal share of what is left, so that one which hangs leaves the others theirs
    parts = {
        name: await composition.part(name, questions[name], len(questions) - i) for i, name in enumerate(questions)
    }
    refuse(parts.values())
    mine = next((row for row in parts[STATUS].rows("itsaStatuses") if row.get("taxYear") == year), {})
    return shapes.FilingSummary(
        tax_year=year,
        itsa_status=_standing(mine),
        obligations=_obligations(parts[QUARTERLY].rows("obligations"), parts[FINAL].rows("obligations")),
        latest_calculation=_latest(parts[CALCULATIONS].rows("calculations")),
        balance=_balance(parts[BALANCE]),
        parts=[part.summary for part in parts.values()],
    )


def _obligations(businesses: list[Object], declarations: list[Object]) -> list[shapes.SummaryObligation]:
    """Those of the businesses, then the final declaration, which belongs to none."""
    rows = [(row, business) for business in businesses for row in rows_of(business, "obligationDetails")]
    return [_obligation(row, business) for row, business in [*rows, *((row, {}) for row in declarations)]]


def _obligation(row: Object, business: Object) -> shapes.SummaryObligation:
    return shapes.SummaryObligation(
        type_of_business=text(business, "typeOfBusiness"),
        business_id=text(business, "businessId"),
        period_start_date=text(row, "periodStartDate"),
        period_end_date=text(row, "periodEndDate"),
        due_date=text(row, "dueDate"),
        status=text(row, "status"),
        received_date=text(row, "receivedDate"),
    )


def _latest(rows: list[Object]) -> shapes.LatestCalculation | None:
    named = [row for row in rows if isinstance(row.get("calculationId"), str)]
    if not named:
        return None
    newest = max(named, key=lambda row: str(row.get("calculationTimestamp", "")))
    return shapes.LatestCalculation(
        id=newest["calculationId"],
        type=text(newest, "calculationType"),
        timestamp=text(newest, "calculationTimestamp"),
        liability_amount=_first_number(newest, "liabilityAmount", OLD_LIABILITY),
    )


def _balance(part: Part) -> shapes.Balance | None:
    details = part.document.get("balanceDetails")
    if not isinstance(details, dict):
        return None
    return shapes.Balance(
        payable=_number(details, "payableAmount"),
        overdue=_number(details, "overdueAmount"),
        next_due=text(details, "payableDueDate"),
    )


# -- reading what the authority said


def _is_open(row: Object) -> bool:
    return str(row.get("status", "")).lower() in ("open", "o")


def _has_year(year: Object) -> bool:
    return isinstance(year.get("taxYear"), str) and is_tax_year(year["taxYear"])


def _is_day(value: object) -> bool:
    try:
        return isinstance(value, str) and len(value) == 10 and bool(datetime.date.fromisoformat(value))
    except ValueError:
        return False


def _number(document: Object, name: str) -> float | None:
    value = document.get(name)
    return float(value) if isinstance(value, int | float) else None


def _first_number(document: Object, *names: str) -> float | None:
    found = (_number(document, name) for name in names)
    return next((number for number in found if number is not None), None)
