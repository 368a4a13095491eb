"""Profit and loss of properties (Spec §4, Domain A4 and C2): its operation."""

from gatewayd.areas.landlord.results import counting, figures, notices, rendering, subjects
from gatewayd.areas.landlord.results.shapes import GetPropertyPnl, PropertyPnl, PropertyStatement
from gatewayd.areas.landlord.results.subjects import Subjects
from gatewayd.contract.caller import Caller
from gatewayd.contract.operation import Operation
from gatewayd.ledger.calendar import report_ranges
from gatewayd.ledger.dates import date_ranges
from gatewayd.ledger.dates.date_ranges import DateRange
from gatewayd.ledger.results import rents_accrued, reports
from gatewayd.ledger.results.report_shapes import RentDebtors
from gatewayd.ledger.taxpayers import quarter_choices
from gatewayd.store import ReadTx


def get_property_pnl(tx: ReadTx, caller: Caller, request: GetPropertyPnl) -> PropertyPnl:
    """Get the profit and loss account of a property, or of several.

    Over a tax year, a period, or from one day to another, of 24 months at most, it is made of what names the property:
    allocations, and lines of invoices. Interest on loans for dwellings that no company lets is no expense but
    `residentialFinancialCost`, which is relieved (`landlord.getFinanceCostRelief`); capital that is repaid is no part
    of the result, and of the cash flow alone. `share` `owner` answers the part of the legal entity.

    `basis` is by default the business's own, `groupBy` adds months or quarters, `compare` the period or the year
    before, and `explain` the rows behind the figures, in pages of `limit` and for one `category` where that is given.
    """
    reports.key_of(request)
    found = subjects.of_request(tx, request)
    account, share = found.first, request.share
    whole = report_ranges.range_of(tx, request, *(source.business for source in found.sources.values()))
    business = next(iter(found.sources.values())).business  # Chosen: the quarters of the first
    buckets = date_ranges.buckets(whole, request.group_by, quarter_choices.of_business(tx, business.id).type_in)
    counted = counting.count(tx, found, whole, buckets)
    several = request.property_ids is not None
    together = figures.together(one.part(share, whole) for one in counted)
    return PropertyPnl(
        property_ids=[let.id for let in found.properties],
        from_date=whole.first,
        to_date=whole.last,
        basis=account.basis,
        currency=account.currency,
        share=share,
        **rendering.members(together, account.currency),
        mortgage_interest=rendering.mortgage_interest(counted),
        rent_debtors=_rent_debtors(tx, found, whole),
        properties=[rendering.account(one, share) for one in counted if several],
        not_of_any_property=[
            rendering.rest(source.business.id, counting.rest_of(tx, source, whole, share), account.currency)
            for source in found.sources.values()
            if several
        ],
        evidence=reports.evidence(rendering.evidence(counted), account.currency),
        buckets=[
            rendering.statement(counted, share, part, account.currency)
            for part in buckets
            if request.group_by != "total"
        ],
        previous=_previous(tx, request, found, whole),
        explanation=reports.explain(tx, request, *(one.result for one in counted)) if request.explain else None,
        warnings=[*notices.of_accounts(tx, found, counted, rest=several)],
    )


def _rent_debtors(tx: ReadTx, found: Subjects, whole: DateRange) -> RentDebtors | None:
    if found.first.basis != "accruals":
        return None
    each = [
        rents_accrued.debtors(tx, source.account, whole, {let.id for let in found.of(source)})
        for source in found.sources.values()
    ]
    together = rents_accrued.RentDebtors(*map(sum, zip(*each, strict=True)))
    return reports.rent_debtors(together, found.first.currency)


def _previous(tx: ReadTx, request: GetPropertyPnl, found: Subjects, whole: DateRange) -> PropertyStatement | None:
    """The account of the days before, on the same basis."""
    if request.compare == "none":
        return None
    before = (date_ranges.year_before if request.compare == "previous_year" else date_ranges.period_before)(whole)
    return rendering.statement(counting.count(tx, found, before), request.share, before, found.first.currency)


OPERATIONS = (
    Operation(
        id="landlord.propertyPnl",
        kind="read",
        method="GET",
        path="/landlord/propertyPnl",
        scopes=("accounting:read",),
        request=GetPropertyPnl,
        response=PropertyPnl,
        handler=get_property_pnl,
        errors=("currency_mismatch", "date_order", "range_too_long"),
        long=True,
        example={"id": "prop_01k0000000000000000000000a", "taxYear": "2026-27", "groupBy": "quarter"},
    ),
)
