"""The two operations that the authority has no endpoint for, composed of those it has (domain model §D1)."""

import datetime
from collections.abc import Collection, Mapping
from typing import Final

import msgspec

from gatewayd.contract.wire import encode
from gatewayd.errors import invalid_field
from gatewayd.http1.response import Response
from gatewayd.ledger.dates.tax_calendar import bounds, is_tax_year, tax_year, tax_year_of
from gatewayd.sandbox_authority.rules import unknown_scenario
from gatewayd.tax.forwarding import shapes
from gatewayd.tax.forwarding.composition import (
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
    Question,
    RefusedError,
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
    final, statuses, *quarterly = await composition.parts(
        [
            Question(FINAL, {}),
            Question(STATUS, {"taxYear": years[0], "futureYears": "true"}),
            *(_of_quarters(year) for year in years),
        ],
        until_refused=True,  # Chosen: who is refused what is due has no tax years, each of them empty
    )
    standing = {year["taxYear"]: _standing(year) for year in statuses.rows("itsaStatuses") if _has_year(year)}
    declared = {tax_year_of(row["periodEndDate"]): row for row in _periods(final.rows("obligations"))}
    listed = [
        shapes.TaxYear(
            tax_year=year,
            start_date=bounds(year)[0],
            end_date=bounds(year)[1],
            itsa_status=standing.get(year),
            quarterly=_counts(part, composition.today),
            final_declaration=_declaration(declared[year]) if year in declared else None,
        )
        for year, part in zip(years, quarterly, strict=True)
    ]
    of_years = zip((None, None, *years), (final, statuses, *quarterly), strict=True)
    return shapes.TaxYears(tax_years=listed, parts=[_tax_years_part(part, year) for year, part in of_years])


def _of_quarters(year: str) -> Question:
    first, last = bounds(year)
    return Question(QUARTERLY, {"fromDate": first, "toDate": last})


def _tax_years_part(part: Part, year: str | None) -> shapes.TaxYearsPart:
    return shapes.TaxYearsPart(tax_year=year, **msgspec.structs.asdict(part.summary))


def _standing(year: Object) -> str | None:
    details = year.get("itsaStatusDetails")
    newest = details[-1] if isinstance(details, list) and details else {}
    return text(newest, "status")


def _periods(rows: list[Object]) -> list[Object]:
    """Those whose period can be told."""
    return [row for row in rows if _is_day(row.get("periodEndDate"))]


def _counts(part: Part, today: str) -> shapes.QuarterlyCounts | None:
    if part.failure is not None:
        return None
    rows = [row for business in part.rows("obligations") for row in rows_of(business, "obligationDetails")]
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
        raise invalid_field("taxYear", "required", "This parameter is required: expected a tax year, such as 2026-27.")
    if not is_tax_year(year):
        raise invalid_field("taxYear", "invalid_format", "Expected a tax year, such as 2026-27.")
    all_parts = await composition.parts(
        [
            Question(STATUS, {"taxYear": year}),
            _of_quarters(year),
            Question(FINAL, {"taxYear": year}),
            Question(CALCULATIONS, {"taxYear": year}),
            Question(BALANCE, {"onlyOpenItems": "true"}),
        ]
    )
    parts = {part.summary.source: part for part in all_parts}
    mine = next((row for row in parts[STATUS].rows("itsaStatuses") if row.get("taxYear") == year), {})
    return shapes.FilingSummary(
        tax_year=year,
        itsa_status=_standing(mine),
        obligations=_obligations(parts[QUARTERLY].rows("obligations"), parts[FINAL].rows("obligations")),
        latest_calculation=_latest(parts[CALCULATIONS].rows("calculations")),
        balance=_balance(parts[BALANCE]),
        parts=[part.summary for part in all_parts],
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
    numbers = (_number(document, name) for name in names)
    return next((number for number in numbers if number is not None), None)
