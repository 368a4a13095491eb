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
from gatewayd.contract.holding import Days, HeldBy
from gatewayd.contract.operation import Operation
from gatewayd.ledger.allocating import lets
from gatewayd.ledger.allocating.lets import LetMortgage
from gatewayd.ledger.calendar import report_ranges
from gatewayd.ledger.dates import date_ranges
from gatewayd.ledger.dates.date_ranges import DateRange
from gatewayd.ledger.loans import amortising, loans
from gatewayd.ledger.results import rents_accrued, reports
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
    reports.key_of(request)
    selection = subjects.of_request(tx, request)
    account, share = selection.first, request.share
    all_days = report_ranges.range_of(tx, request, *(source.business for source in selection.sources.values()))
    business = next(iter(selection.sources.values())).business  # Chosen: the quarters of the first
    buckets = date_ranges.buckets(all_days, request.group_by, quarter_choices.of_business(tx, business.id).type_in)
    counted = counting.count(tx, selection, all_days, buckets)
    several = request.property_ids is not None
    together = figures.together(property_.part(share, all_days) for property_ in counted)
    return PropertyPnl(
        property_ids=[let.id for let in selection.properties],
        from_date=all_days.first,
        to_date=all_days.last,
        basis=account.basis,
        currency=account.currency,
        share=share,
        **_account_members(together, account.currency),
        mortgage_interest=_mortgage_interest(counted),
        rent_debtors=_rent_debtors(tx, selection, all_days),
        properties=[_property_account(property_, share) for property_ in counted if several],
        not_of_any_property=[
            _rest_account(source.business.id, counting.rest_of(tx, source, all_days, share), account.currency)
            for source in selection.sources.values()
            if several
        ],
        evidence=reports.evidence(_evidence(counted), account.currency),
        buckets=[_statement(counted, share, part, account.currency) for part in buckets if request.group_by != "total"],
        previous=_previous_statement(tx, request, selection, all_days),
        explanation=reports.explain(tx, request, *(property_.result for property_ in counted))
        if request.explain
        else None,
        warnings=[*_account_warnings(tx, selection, counted, rest=several)],
    )


def _rent_debtors(tx: ReadTx, selection: Subjects, all_days: DateRange) -> RentDebtors | None:
    if selection.first.basis != "accruals":
        return None
    each = [
        rents_accrued.debtors(tx, source.account, all_days, {let.id for let in selection.of(source)})
        for source in selection.sources.values()
    ]
    together = rents_accrued.RentDebtors(*map(sum, zip(*each, strict=True)))
    return reports.rent_debtors(together, selection.first.currency)


def _previous_statement(
    tx: ReadTx, request: GetPropertyPnl, selection: Subjects, all_days: DateRange
) -> PropertyStatement | None:
    """The account of the days before, on the same basis."""
    if request.compare == "none":
        return None
    before = (date_ranges.year_before if request.compare == "previous_year" else date_ranges.period_before)(all_days)
    return _statement(counting.count(tx, selection, before), request.share, before, selection.first.currency)


def _account_members(part: Part, currency: str) -> dict[str, Any]:
    """Lines and totals of an account, by the names that responses have for them."""
    sums = figures.of_part(part)._asdict()
    return {
        "income": reports.lines(part.statement.income, currency),
        "expenses": reports.expenses(part.statement.expenses, currency),
        "memoranda": reports.lines(part.statement.memoranda, currency),
        "totals": PropertyTotals(**{name: Money(amount, currency) for name, amount in sums.items()}),
    }


def _statement(counted: Iterable[Counted], share: Share, days: DateRange, currency: str) -> PropertyStatement:
    """The account of some days of all properties."""
    part = figures.together(property_.part(share, days) for property_ in counted)
    return PropertyStatement(from_date=days.first, to_date=days.last, **_account_members(part, currency))


def _property_account(property_: Counted, share: Share) -> PropertyAccount:
    """The account of one of several properties."""
    currency = property_.result.account.currency
    return PropertyAccount(
        property_id=property_.let.id,
        business_id=property_.let.business_id,
        owner_share_percent=canonical(property_.shares.on(property_.result.date_range.last)),
        **_account_members(property_.part(share, property_.result.date_range), currency),
        mortgage_interest=_mortgage_interest([property_]),
    )


def _rest_account(business_id: str, part: Part, currency: str) -> RestOfBusiness:
    """What a business has that names no property of it."""
    return RestOfBusiness(business_id=business_id, **_account_members(part, currency))


def _mortgage_interest(counted: Iterable[Counted]) -> list[MortgageInterest]:
    """The interest on each mortgage, by where it comes from."""
    return [
        MortgageInterest(
            mortgage_id=mortgage_id, interest_source=source, interest=Money(amount, property_.result.account.currency)
        )
        for property_ in counted
        for (mortgage_id, source), amount in sorted(property_.financing.interest.items())
    ]


def _evidence(counted: Iterable[Counted]) -> Evidence:
    """How far the expenses of all are documented."""
    together = Evidence()
    for property_ in counted:
        own = property_.result.evidence
        together.add(own.expenses, own.documented, own.missing)
    return together


def _account_warnings(
    tx: ReadTx, subjects: Subjects, counted: Sequence[Counted], *, rest: bool
) -> Iterator[PnlWarning]:
    """The warnings about each business, and about each property. `rest`: what names no property is told too."""
    for source in subjects.sources.values():
        result = next(property_.result for property_ in counted if property_.source is source)
        yield from reports.of_choices(result, source.business.accounting_basis)
        if rest:
            yield from reports.of_invoices(tx, result)
    for property_ in counted:
        yield from _of_loans(tx, property_)
        yield from _of_deducted(property_)


def _of_loans(tx: ReadTx, property_: Counted) -> Iterator[PnlWarning]:
    """Chosen: a loan that is repaid has both interest and capital in any days in which it was paid."""
    interest = {mortgage_id for mortgage_id, _ in property_.financing.interest}
    capital = {repaid.mortgage_id for repaid in property_.financing.repaid}
    for mortgage in lets.mortgages_of(tx, property_.let.id):
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
        yield from _of_payments(tx, property_, mortgage)
    if property_.financing.without_rate:
        yield PnlWarning(
            code="capital_without_rate",
            message=f"{property_.financing.without_rate} repayments of loans on {property_.let.id} are in another"
            " currency and have no rate of exchange: they are no part of the capital repaid.",
        )


def _of_payments(tx: ReadTx, property_: Counted, mortgage: LetMortgage) -> Iterator[PnlWarning]:
    """What payments of a loan came to that its terms do not explain."""
    count = property_.financing.unexplained.get(mortgage.id, 0)
    if count:
        yield PnlWarning(
            code="loan_payment_over",
            message=f"Of {count} payments of the mortgage {mortgage.id} a part is more than was due, and kept as"
            " `other`: say whether it was interest, loan_capital or something else, or correct the rate.",
        )
    loan = None if mortgage.type != "interest_only" else loans.find(tx, mortgage.id)
    days = [
        repaid.date for repaid in property_.financing.repaid if repaid.mortgage_id == mortgage.id and repaid.amount > 0
    ]
    if loan is not None and not all(amortising.repays_more(loan, day) for day in days):
        yield PnlWarning(
            code="interest_only_repaid",
            message=f"The mortgage {mortgage.id} is interest-only, and capital of it was repaid before its end: was it"
            " interest? A `loan_payment` that is allocated anew takes the oldest instalment that is not met.",
        )


def _of_deducted(property_: Counted) -> Iterator[PnlWarning]:
    deducted = sum(line.amount for line in property_.result.statement().expenses if line.category == "financialCosts")
    if deducted and property_.let.restricts_finance_costs(property_.source.owner, property_.result.date_range.last):
        yield PnlWarning(
            code="finance_costs_deducted",
            message=f"The property {property_.let.id} is a dwelling that no company lets, and financialCosts are"
            " deducted: what loans for it cost is residentialFinancialCost.",
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
        held=HeldBy(
            leads={"id": "property", "property_ids": "property", "period_id": "period"},
            days=Days(sums=True, tax_year="tax_year", refused=("period_id", "compare")),
        ),
        errors=("currency_mismatch", "date_order", "range_too_long"),
        long=True,
        example={"id": "prop_01k0000000000000000000000b", "taxYear": "2026-27", "groupBy": "quarter"},
    ),
)
