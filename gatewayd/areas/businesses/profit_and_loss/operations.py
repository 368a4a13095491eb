"""Profit and loss of a business (Spec §4, Domain A2 and C1): its operation."""

from typing import NamedTuple

from gatewayd.areas.businesses.profit_and_loss import rendering
from gatewayd.areas.businesses.profit_and_loss.rendering import Form, Joint
from gatewayd.areas.businesses.profit_and_loss.shapes import BusinessPnl, GetBusinessPnl, PnlStatement
from gatewayd.areas.businesses.rows import BUSINESSES
from gatewayd.areas.businesses.shapes import BusinessRow
from gatewayd.contract.caller import Caller
from gatewayd.contract.holding import Days, HeldBy
from gatewayd.contract.operation import Operation
from gatewayd.ledger.allocating import bank_lines
from gatewayd.ledger.allocating.categories import PROPERTY_TYPES
from gatewayd.ledger.calendar import report_ranges
from gatewayd.ledger.dates import date_ranges
from gatewayd.ledger.dates.date_ranges import DateRange
from gatewayd.ledger.results import owner_shares, rents_accrued, reports, results
from gatewayd.ledger.results.owner_shares import OwnerShares
from gatewayd.ledger.results.report_shapes import Compare, RentDebtors
from gatewayd.ledger.results.results import Result
from gatewayd.ledger.taxpayers import quarter_choices
from gatewayd.store import ReadTx


def get_business_pnl(tx: ReadTx, caller: Caller, request: GetBusinessPnl) -> BusinessPnl:
    """Get the profit and loss account of a business.

    Over a tax year, a period, or from one day to another, of 24 months at most. It is made of what was allocated to the
    business and of its invoices: on cash basis by what was paid, on accruals by supply date and date of the bill, and
    by the day on which rents of tenancies fall due. `basis` is by default the business's own. Where VAT is registered,
    figures are net of it. `groupBy` adds the months, or the quarters of the type that the business has in each tax
    year, and `compare` the period or the year before.

    With `explain` the rows behind the figures come with it, in pages of `limit` and for one `category` where that is
    given: they add up to the lines.
    """
    reports.key_of(request)
    row = BUSINESSES.get(tx, request.id)
    days = report_ranges.range_of(tx, request, row)
    account = rendering.account_of(tx, row, request.basis)
    buckets = date_ranges.buckets(days, request.group_by, quarter_choices.of_business(tx, row.id).type_in)
    owned = owned_by(tx, row)
    result = results.compute(tx, account, days, [*buckets, *owned.spans(days)])
    left = bank_lines.unallocated_money(tx, row.legal_entity_id, row.id, days)
    form, forbidding_year = form_of(tx, row, result, owned)
    shown = rendering.members(rendering.statement_of(result, form), account.currency)
    return BusinessPnl(
        business_id=row.id,
        from_date=days.first,
        to_date=days.last,
        basis=account.basis,
        currency=account.currency,
        **shown,
        owner_share=rendering.owner_share(result, form),
        rent_debtors=_rent_debtors(tx, result),
        unallocated=rendering.unallocated(left, account.currency),
        evidence=reports.evidence(result.evidence, account.currency),
        buckets=[rendering.statement(result, form, part) for part in buckets if request.group_by != "total"],
        previous=_previous(tx, row, form, result, request.compare),
        explanation=reports.explain(tx, request, result) if request.explain else None,
        warnings=[
            *reports.of_choices(result, row.accounting_basis, forbidding_year),
            *reports.of_invoices(tx, result),
        ],
    )


class Owned(NamedTuple):
    """The owner's shares of a business, and of properties that have shares of their own."""

    shares: OwnerShares
    joint: dict[str | None, OwnerShares]

    def spans(self, days: DateRange) -> list[DateRange]:
        """The range in parts in which no share changes."""
        return [span for shares in (self.shares, *self.joint.values()) for span in shares.spans(days)]


def owned_by(tx: ReadTx, row: BusinessRow) -> Owned:
    """Whose a business is: only property is owned jointly."""
    shares = owner_shares.of_business(tx, row.id, row.owner_share_percent)
    is_property = row.type in PROPERTY_TYPES
    return Owned(shares, owner_shares.of_properties(tx, row.id, row.owner_share_percent) if is_property else {})


def form_of(tx: ReadTx, row: BusinessRow, result: Result, owned: Owned) -> tuple[Form, str | None]:
    """How a result is shown, and the tax year whose turnover forbids the one figure that the business uses."""
    days = result.date_range
    parts = results.compute_parts(tx, result.account, days, owned.joint, owned.spans(days), result.beside)
    joint = [Joint(shares, part) for shares, part in zip(owned.joint.values(), parts, strict=True)]
    forbidding_year = results.above_consolidated_limit(result) if row.uses_consolidated_expenses else None
    consolidated = row.uses_consolidated_expenses and forbidding_year is None
    return Form(consolidated, owned.shares, joint), forbidding_year


def _rent_debtors(tx: ReadTx, result: Result) -> RentDebtors | None:
    account = result.account
    if account.basis != "accruals":
        return None
    return reports.rent_debtors(rents_accrued.debtors(tx, account, result.date_range), account.currency)


def _previous(tx: ReadTx, row: BusinessRow, form: Form, result: Result, compare: Compare) -> PnlStatement | None:
    """The account of the days before, on the same basis."""
    if compare == "none":
        return None
    shift = date_ranges.year_before if compare == "previous_year" else date_ranges.period_before
    before = results.compute(tx, result.account, shift(result.date_range))
    form, _ = form_of(tx, row, before, Owned(form.shares, {}))
    return rendering.statement(before, form, before.date_range)


OPERATIONS = (
    Operation(
        id="businesses.businessPnl",
        kind="read",
        method="GET",
        path="/businesses/businessPnl",
        scopes=("accounting:read",),
        request=GetBusinessPnl,
        response=BusinessPnl,
        handler=get_business_pnl,
        held=HeldBy(
            leads={"id": "business", "period_id": "period"},
            days=Days(sums=True, tax_year="tax_year", refused=("period_id", "compare")),
        ),
        errors=("currency_mismatch", "date_order", "range_too_long"),
        long=True,
        example={
            "id": "biz_01k0000000000000000000000a",
            "fromDate": "2026-11-01",
            "toDate": "2026-11-30",
            "groupBy": "month",
        },
    ),
)
