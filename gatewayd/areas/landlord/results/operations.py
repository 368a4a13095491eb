"""Profit and loss of properties (Spec §4, Domain A4 and C2): its operation."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from gatewayd.areas.landlord.results import counting, figures, subjects
from gatewayd.areas.landlord.results.counting import Counted
from gatewayd.areas.landlord.results.figures import Part
from gatewayd.areas.landlord.results.shapes import (
    GetPropertyPnl,
    MortgageInterest,
    PropertyAccount,
    PropertyPnl,
    PropertyStatement,
    PropertyTotals,
    RestOfBusiness,
    Share,
)
from gatewayd.areas.landlord.results.subjects import Subjects
from gatewayd.contract.caller import Caller
from gatewayd.contract.operation import Operation
from gatewayd.ledger.allocating import lets
from gatewayd.ledger.allocating.lets import LetMortgage
from gatewayd.ledger.calendar import report_ranges
from gatewayd.ledger.dates import date_ranges
from gatewayd.ledger.dates.date_ranges import DateRange
from gatewayd.ledger.loans import instalments_met, loans
from gatewayd.ledger.results import rents_accrued, report_notices, report_rendering, report_rows
from gatewayd.ledger.results.allocated_money import Evidence
from gatewayd.ledger.results.report_shapes import PnlWarning, RentDebtors
from gatewayd.ledger.taxpayers import quarter_choices
from gatewayd.money import Money, canonical
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
    report_rows.key_of(request)
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
        **_members(together, account.currency),
        mortgage_interest=_mortgage_interest(counted),
        rent_debtors=_rent_debtors(tx, found, whole),
        properties=[_account(one, share) for one in counted if several],
        not_of_any_property=[
            _rest(source.business.id, counting.rest_of(tx, source, whole, share), account.currency)
            for source in found.sources.values()
            if several
        ],
        evidence=report_rendering.evidence(_evidence(counted), account.currency),
        buckets=[_statement(counted, share, part, account.currency) for part in buckets if request.group_by != "total"],
        previous=_previous(tx, request, found, whole),
        explanation=report_rows.explain(tx, request, *(one.result for one in counted)) if request.explain else None,
        warnings=[*_told(tx, found, counted, rest=several)],
    )


def _rent_debtors(tx: ReadTx, found: Subjects, whole: DateRange) -> RentDebtors | None:
    if found.first.basis != "accruals":
        return None
    each = [
        rents_accrued.debtors(tx, source.account, whole, {let.id for let in found.of(source)})
        for source in found.sources.values()
    ]
    together = rents_accrued.RentDebtors(*map(sum, zip(*each, strict=True)))
    return report_rendering.rent_debtors(together, found.first.currency)


def _previous(tx: ReadTx, request: GetPropertyPnl, found: Subjects, whole: DateRange) -> PropertyStatement | None:
    """The account of the days before, on the same basis."""
    if request.compare == "none":
        return None
    before = (date_ranges.year_before if request.compare == "previous_year" else date_ranges.period_before)(whole)
    return _statement(counting.count(tx, found, before), request.share, before, found.first.currency)


def _members(part: Part, currency: str) -> dict[str, Any]:
    """Lines and totals of an account, by the names that responses have for them."""
    found = figures.of_part(part)._asdict()
    return {
        "income": report_rendering.lines(part.statement.income, currency),
        "expenses": report_rendering.expenses(part.statement.expenses, currency),
        "memoranda": report_rendering.lines(part.statement.memoranda, currency),
        "totals": PropertyTotals(**{name: Money(amount, currency) for name, amount in found.items()}),
    }


def _statement(counted: Iterable[Counted], share: Share, days: DateRange, currency: str) -> PropertyStatement:
    """The account of some days of all properties."""
    part = figures.together(one.part(share, days) for one in counted)
    return PropertyStatement(from_date=days.first, to_date=days.last, **_members(part, currency))


def _account(one: Counted, share: Share) -> PropertyAccount:
    """The account of one of several properties."""
    currency = one.result.account.currency
    return PropertyAccount(
        property_id=one.let.id,
        business_id=one.let.business_id,
        owner_share_percent=canonical(one.shares.on(one.result.whole.last)),
        **_members(one.part(share, one.result.whole), currency),
        mortgage_interest=_mortgage_interest([one]),
    )


def _rest(business_id: str, part: Part, currency: str) -> RestOfBusiness:
    """What a business has that names no property of it."""
    return RestOfBusiness(business_id=business_id, **_members(part, currency))


def _mortgage_interest(counted: Iterable[Counted]) -> list[MortgageInterest]:
    """The interest on each mortgage, by where it comes from."""
    return [
        MortgageInterest(
            mortgage_id=mortgage_id, interest_source=source, interest=Money(amount, one.result.account.currency)
        )
        for one in counted
        for (mortgage_id, source), amount in sorted(one.financing.interest.items())
    ]


def _evidence(counted: Iterable[Counted]) -> Evidence:
    """How far the expenses of all are documented."""
    whole = Evidence()
    for one in counted:
        found = one.result.evidence
        whole.add(found.expenses, found.documented, found.missing)
    return whole


def _told(tx: ReadTx, subjects: Subjects, counted: Sequence[Counted], *, rest: bool) -> Iterator[PnlWarning]:
    """The warnings about each business, and about each property. `rest`: what names no property is told too."""
    for source in subjects.sources.values():
        result = next(one.result for one in counted if one.source is source)
        yield from report_notices.of_choices(result, source.business.accounting_basis)
        if rest:
            yield from report_notices.of_invoices(tx, result)
    for one in counted:
        yield from _of_loans(tx, one)
        yield from _of_deducted(one)


def _of_loans(tx: ReadTx, one: Counted) -> Iterator[PnlWarning]:
    """Chosen: a loan that is repaid has both interest and capital in any days in which it was paid."""
    interest = {mortgage_id for mortgage_id, _ in one.financing.interest}
    capital = {repaid.mortgage_id for repaid in one.financing.repaid}
    for mortgage in lets.mortgages_of(tx, one.let.id):
        if mortgage.id in capital - interest:
            yield PnlWarning(
                code="capital_without_interest",
                message=f"Of the mortgage {mortgage.id} capital was repaid in these days, and no interest paid: was it"
                " part of the payment? A `loan_payment` is split into both.",
            )
        if mortgage.id in interest - capital and mortgage.type != "interest_only":
            yield PnlWarning(
                code="interest_without_capital",
                message=f"Of the mortgage {mortgage.id}, which is repaid, only interest was paid in these days: was it"
                " the whole payment? A `loan_payment` is split into both.",
            )
        yield from _of_payments(tx, one, mortgage)
    if one.financing.without_rate:
        yield PnlWarning(
            code="capital_without_rate",
            message=f"{one.financing.without_rate} repayments of loans on {one.let.id} are in another currency and have"
            " no rate of exchange: they are no part of the capital repaid.",
        )


def _of_payments(tx: ReadTx, one: Counted, mortgage: LetMortgage) -> Iterator[PnlWarning]:
    """What payments of a loan came to that its terms do not explain."""
    count = one.financing.unexplained.get(mortgage.id, 0)
    if count:
        yield PnlWarning(
            code="loan_payment_over",
            message=f"Of {count} payments of the mortgage {mortgage.id} a part is more than was due, and kept as"
            " `other`: say whether it was interest, loan_capital or something else, or correct the rate.",
        )
    loan = None if mortgage.type != "interest_only" else loans.find(tx, mortgage.id)
    days = [repaid.date for repaid in one.financing.repaid if repaid.mortgage_id == mortgage.id and repaid.amount > 0]
    if loan is not None and not all(instalments_met.repays_more(loan, day) for day in days):
        yield PnlWarning(
            code="interest_only_repaid",
            message=f"The mortgage {mortgage.id} is interest-only, and capital of it was repaid before its end: was it"
            " interest? A `loan_payment` that is allocated anew takes the oldest instalment that is not met.",
        )


def _of_deducted(one: Counted) -> Iterator[PnlWarning]:
    deducted = sum(line.amount for line in one.result.statement().expenses if line.category == "financialCosts")
    if deducted and one.let.restricts_finance_costs(one.source.owner, one.result.whole.last):
        yield PnlWarning(
            code="finance_costs_deducted",
            message=f"The property {one.let.id} is a dwelling that no company lets, and financialCosts are deducted:"
            " what loans for it cost is residentialFinancialCost.",
        )


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
